"""A stand-in for the carrier: it takes its time, and it has news of its own."""

import asyncio
from dataclasses import dataclass, field

DELAY_S = 5.0


class CarrierError(Exception):
    """The carrier does not answer."""


@dataclass(frozen=True)
class Report:
    """What the carrier says of an order. `after_s`: how long after somebody asked for it that comes about."""

    status: str
    facts: str
    after_s: float = DELAY_S


def _answers() -> dict[str, Report]:
    return {"4712": Report("in transit", "Order 4712 arrives on Friday.")}


def _news() -> dict[str, Report]:
    return {"4713": Report("delivered", "Order 4713 has just been delivered.", 6.4)}


@dataclass
class Carrier:
    """Knows orders by number. `answers` are to look_up, `news` come by themselves; `failing`: it never answers."""

    answers: dict[str, Report] = field(default_factory=_answers)
    news: dict[str, Report] = field(default_factory=_news)
    failing: bool = False

    async def look_up(self, number: str) -> Report:
        """Where an order is; CarrierError when the carrier does not say."""
        report = self.answers.get(number)
        await asyncio.sleep(DELAY_S if report is None else report.after_s)
        if report is None or self.failing:
            raise CarrierError(f"the carrier says nothing of order {number}")
        return report

    async def next_news(self, number: str) -> Report | None:
        """Wait for something to happen to an order; None at once if nothing will."""
        report = self.news.get(number)
        if report is not None:
            await asyncio.sleep(report.after_s)
        return report
