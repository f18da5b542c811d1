"""Hypothesis strategies for people who write `@given` themselves: `plans(cassette)` and `faults(cassette, name)`.

They need the extra `explore`; `simrt explore` does not.
"""

try:
    from simrt.explore.strategies import faults, plans
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "simrt.strategies needs Hypothesis, which is not installed: pip install 'simrt[explore]'", name="hypothesis"
    ) from None

__all__ = ["faults", "plans"]
