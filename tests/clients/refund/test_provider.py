"""The stand-in payment provider, in virtual time."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from clients.refund.provider import Cancelled, KeyReused, Payment, Provider, ProviderError, key_of
from simrt.world import World

T = TypeVar("T")

VISA, MASTERCARD = "4242", "8812"
PAID = Payment("R-4417:4242", "R-4417", VISA, 3200)


def run(main: Coroutine[Any, Any, T], seed: int = 0) -> T:
    return World(seed=seed).run(main)


def now() -> float:
    return asyncio.get_running_loop().time()


def test_a_payment_takes_four_seconds() -> None:
    async def main() -> None:
        provider = Provider()
        assert await provider.submit("R-4417", VISA, 3200) == PAID
        assert now() == 4.0
        assert provider.payments == provider.paid == [PAID]

    run(main())


def test_a_key_that_was_answered_gets_the_same_answer_at_once() -> None:
    async def main() -> None:
        provider = Provider()
        first = await provider.submit("R-4417", VISA, 3200)
        assert await provider.submit("R-4417", VISA, 3200) is first
        assert now() == 4.0
        assert provider.payments == [PAID]

    run(main())


def test_a_key_that_is_under_way_is_waited_for() -> None:
    async def main() -> None:
        provider = Provider()
        submit = provider.submit("R-4417", VISA, 3200)
        first, again = await asyncio.gather(submit, _after(1, provider.submit("R-4417", VISA, 3200)))
        assert first == again == PAID
        assert now() == 4.0
        assert provider.payments == [PAID]

    run(main())


@pytest.mark.parametrize("wait_s", [1, 5])
def test_a_key_with_other_parameters_is_refused(wait_s: float) -> None:
    async def main() -> None:
        provider = Provider()
        first = asyncio.ensure_future(provider.submit("R-4417", VISA, 3200))
        await asyncio.sleep(wait_s)
        with pytest.raises(KeyReused, match="R-4417:4242 was used for 3200 cents to the card 4242"):
            await provider.submit("R-4417", VISA, 9900)
        with pytest.raises(KeyReused):
            await provider.submit("R-4417", MASTERCARD, 3200, key=key_of("R-4417", VISA))
        await first
        assert provider.payments == [PAID]

    run(main())


async def _after(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    await asyncio.sleep(seconds)
    return await work


def test_a_submission_under_way_is_cancelled_by_a_change_of_card() -> None:
    async def main() -> None:
        provider = Provider()
        first = asyncio.ensure_future(provider.submit("R-4417", VISA, 3200))
        await asyncio.sleep(1)
        assert await provider.cancel("R-4417", keep=MASTERCARD) == [VISA]
        with pytest.raises(Cancelled):
            await first
        await provider.submit("R-4417", MASTERCARD, 3200)
        assert [payment.card for payment in provider.payments] == [MASTERCARD]

    run(main())


def test_a_payment_that_was_made_is_reversed_by_a_change_of_card() -> None:
    async def main() -> None:
        provider = Provider()
        await provider.submit("R-4417", VISA, 3200)
        assert await provider.cancel("R-4417", keep=MASTERCARD) == [VISA]
        assert provider.paid == []
        assert provider.payments[0].reversed

    run(main())


def test_cancelling_keeps_the_card_and_other_refunds() -> None:
    async def main() -> None:
        provider = Provider()
        await provider.submit("R-4417", VISA, 3200)
        await provider.submit("R-4418", MASTERCARD, 100)
        assert await provider.cancel("R-4417", keep=VISA) == []
        assert len(provider.paid) == 2

    run(main())


def test_a_card_can_be_changed_back() -> None:
    async def main() -> None:
        provider = Provider()
        first = asyncio.ensure_future(provider.submit("R-4417", VISA, 3200))
        for card in (MASTERCARD, VISA):
            await asyncio.sleep(1)
            await provider.cancel("R-4417", keep=card)
            last = asyncio.ensure_future(provider.submit("R-4417", card, 3200))
        await asyncio.wait([first, last])
        assert provider.payments == [PAID]

    run(main())


def test_a_failing_provider_pays_nothing_and_remembers_nothing() -> None:
    async def main() -> None:
        provider = Provider()
        provider.failing = True
        with pytest.raises(ProviderError, match="not available"):
            await provider.submit("R-4417", VISA, 3200)
        assert now() == 4.0
        assert provider.payments == []
        provider.failing = False
        await provider.submit("R-4417", VISA, 3200)
        assert provider.payments == [PAID]

    run(main())


def test_what_was_submitted_is_paid_though_nobody_waits_any_more() -> None:
    async def main() -> None:
        provider = Provider()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(provider.submit("R-4417", VISA, 3200), 1)
        await asyncio.sleep(4)
        assert provider.payments == [PAID]

    run(main())


def test_the_delay_is_spread_by_the_seed() -> None:
    async def main() -> float:
        await Provider(2.0, jitter_s=0.5).submit("R-4417", VISA, 3200)
        return now()

    delays = [run(main(), seed) for seed in (1, 2, 3)]
    assert len(set(delays)) == 3
    assert all(1.5 <= delay <= 2.5 for delay in delays)
    assert run(main(), 1) == delays[0]


def test_the_book_outlives_the_provider(tmp_path: Path) -> None:
    async def main() -> None:
        provider = Provider(book=tmp_path / "book")
        await provider.submit("R-4417", VISA, 3200)
        assert Provider(book=tmp_path / "book").payments == [PAID]
        await provider.cancel("R-4417", keep=MASTERCARD)
        await provider.submit("R-4417", MASTERCARD, 3200)
        assert [payment.card for payment in Provider(book=tmp_path / "book").paid] == [MASTERCARD]

    run(main())
