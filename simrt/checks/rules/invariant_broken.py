"""Something that must hold of your own store did not: an order refunded twice, a row that nobody was told of.

What a listener notices depends on the store; it is what they ring up about the next day. simrt knows nothing of it but
what you state: `run_call(…, invariants=[…])`, `judge(case, invariants=[…])`, or the `invariants` of a client's trial.
An invariant is a function of the call's result that returns messages; one marked `simrt.invariant.always` is asked
after each event of either side as well, and the finding then names the event after which it first failed.

To mend: read the message; the finding's time is when it first did not hold.
"""

from collections.abc import Iterator

import msgspec

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("EFF501", "invariant-broken", "An invariant of the user's own store does not hold", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """Each message of each invariant."""
    for broken in case.broken:
        message = f"{broken.invariant}: {broken.message}"
        made = found(round(broken.t_ms * 1000), message, connection=broken.connection, invariant=broken.invariant)
        yield msgspec.structs.replace(made, frame=broken.frame)
