"""`simrt rule`: the rules that calls are judged by."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from simrt.cli.console import console, print_json

if TYPE_CHECKING:
    from simrt.checks import Rule


def rule_command(
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="A rule's code or name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.")] = False,
) -> None:
    """List the rules, or explain one: what a listener notices, what the protocol says, how to mend it."""
    from simrt.checks import all_rules, find_rule

    if code is not None:
        known = find_rule(code)
        if as_json:
            print_json(_plain(known))
        else:
            _explain(known)
    elif as_json:
        print_json([_plain(known) for known in all_rules()])
    else:
        _list(all_rules())


def _plain(known: "Rule") -> dict[str, Any]:
    parts = ("code", "name", "summary", "harm", "explanation")
    return {part: getattr(known, part) for part in parts}


def _explain(known: "Rule") -> None:
    out = console()
    out.print(f"{known.code} {known.name}", style="bold")
    out.print(f"{known.summary}.\n", soft_wrap=True)
    out.print(known.explanation, soft_wrap=True)


def _list(them: "tuple[Rule, ...]") -> None:
    from simrt.checks.base import GROUPS

    out = console()
    width = max(len(known.name) for known in them)
    for group, title in GROUPS.items():
        mine = [known for known in them if known.code.startswith(group)]
        if mine:
            out.print(f"{group}  {title}", style="bold", soft_wrap=True)
        for known in mine:
            out.print(f"  {known.code}  {known.name:<{width}}  {known.summary}", soft_wrap=True)
