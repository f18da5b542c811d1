"""The command line: `simrt COMMAND`. One module a command; what a command needs is imported when it runs, so that
`simrt --help` answers at once.

A SimrtError becomes one line on stderr and exit status 1, wrong usage exit status 2, Ctrl-C 130; anything else is a
fault of simrt's own and shows its traceback.
"""

import io
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from simrt.cli.call import call_command
from simrt.cli.console import INTERRUPTED, complain
from simrt.cli.demo import demo_command
from simrt.cli.explore import explore_command
from simrt.cli.imports import import_command, recover_command
from simrt.cli.lint import lint_command
from simrt.cli.measure import measure_command
from simrt.cli.record import record_command
from simrt.cli.rule import rule_command
from simrt.cli.serve import serve_command
from simrt.cli.show import show_command
from simrt.cli.sweep import sweep_command
from simrt.cli.verify import verify_command
from simrt.errors import SimrtError


class Commands(TyperGroup):
    """All commands; the one place where an error turns into a message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except SimrtError as error:
            complain(str(error))
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=Commands,
    name="simrt",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"simrt {version('simrt')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Record one realtime voice call, replay it in virtual time with faults, and judge it by what the caller heard."""


app.command("demo")(demo_command)
app.command("record")(record_command)
app.command("serve")(serve_command)
app.command("call")(call_command)
app.command("measure")(measure_command)
app.command("lint")(lint_command)
app.command("rule")(rule_command)
app.command("sweep")(sweep_command)
app.command("explore")(explore_command)
app.command("show")(show_command)
app.command("import")(import_command)
app.command("recover")(recover_command)
app.command("verify")(verify_command)


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no dash is no reason to stop
    app()
