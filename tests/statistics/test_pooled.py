"""Several groups at once: who is pooled, what it costs, and what the intervals cover."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.replayed import compared

import discreet
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Wrapped, by_group
from discreet.privacy.release import Groups, Release
from discreet.statistics.mean import RankClippedMean
from discreet.statistics.pooled import parted
from discreet.statistics.sum import Sum
from discreet.statistics.variance import Variance, standard_deviation

ADD = Neighbours.ADD_OR_REMOVE
HOSTILE = [0.0, 5.0, -1e300, 5e-324, math.inf, -math.inf, math.nan, 1e12]
MAKE: dict[str, Callable[[float], Any]] = {
    "mean": lambda epsilon: RankClippedMean(epsilon, ADD),
    "sum": lambda epsilon: Sum(epsilon, neighbours=ADD),
    "variance": lambda epsilon: Variance(epsilon, neighbours=ADD),
    "std": lambda epsilon: Wrapped(Variance(epsilon, neighbours=ADD), after=standard_deviation),
}


def crowds(*sizes: int, spread: float = 1.0, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return [rng.normal(spread * place, 1.0, size) for place, size in enumerate(sizes)]


def asked(mechanism: Any, parts: list[Any]) -> Callable[[Any], Groups]:
    def answer(door: Any) -> Groups:
        found = tuple(enumerate(by_group(mechanism, parts, door)))
        return Groups("group", mechanism.guarantee, releases=found, name="by group")

    return answer


@pytest.mark.claim("pooled.1", "pooled.2")
@pytest.mark.parametrize("name", list(MAKE))
def test_one_person_more_costs_epsilon_whichever_group_they_are_in(name: str) -> None:
    """Three small groups and a large one; whatever moved is paid for by one epsilon, and each draw moves as claimed.
    One person more and the second small group would be large, if people were counted without noise."""
    mechanism, base, answered = MAKE[name](6.0), crowds(40, 66, 50, 200), 0
    for place in range(4):
        for run, value in enumerate(HOSTILE):
            other = [np.append(part, value) if at == place else part for at, part in enumerate(base)]
            sides = (base, other) if run % 2 else (other, base)
            one, two = (asked(mechanism, parts) for parts in sides)
            judged = compared(one, two, run, paid=Guarantee(6.0, 0.0, ADD))
            assert judged.objections == [], (place, value)
            answered += judged.answered
    assert answered == 4 * len(HOSTILE)


@pytest.mark.claim("pooled.1")
@pytest.mark.parametrize("name", list(MAKE))
def test_somebody_in_two_groups_would_cost_more(name: str) -> None:
    """A planted fault: the replay must see that this is not what was paid for."""
    base = crowds(40, 45, 50)
    other = [np.append(part, 3.0) if at < 2 else part for at, part in enumerate(base)]
    mechanism = MAKE[name](6.0)
    judged = compared(asked(mechanism, base), asked(mechanism, other), 1, paid=Guarantee(6.0, 0.0, ADD))
    assert judged.objections


@pytest.mark.claim("pooled.1")
def test_people_who_are_replaced_are_two_steps_for_which_a_session_pays() -> None:
    table = {"g": ["a", "b", "c"] * 60, "x": np.random.default_rng(0).normal(size=180)}
    with discreet.open(table, budget=99.0, ledger=":memory:", neighbours="replace") as session:
        question = session.prepare("mean", "x", epsilon=12.0, groupby="g", keys=["a", "b", "c"])
    assert question.price.halved
    assert question.price.mechanism == RankClippedMean(6, ADD, "row")
    with pytest.raises(BadInput, match="added or removed"):
        RankClippedMean(6.0, Neighbours.REPLACE).by_group(crowds(50, 50), Seeded(0))


@pytest.mark.claim("pooled.2")
@pytest.mark.parametrize("name", list(MAKE))
def test_groups_with_many_people_are_answered_as_if_there_were_no_others(name: str) -> None:
    mechanism, parts = MAKE[name](1.0), crowds(900, 900)
    both: list[Release[Any]] = by_group(mechanism, parts, Seeded(3))
    assert not any("the range was found" in str(release) for release in both)
    pooled = by_group(mechanism, [*parts, *crowds(200, 200)], Seeded(3))
    assert ["the range was found on about" in str(release) for release in pooled] == [False, False, True, True]
    cost = mechanism.stages(None) if name == "mean" else None
    if cost is not None:  # one small group has nobody to share with
        found = parted([*parts, parts[0][:100]], 1.0, cost["size"], ADD, Seeded(0))
        assert found.few == ()


@pytest.mark.claim("pooled.2", "pooled.3")
def test_a_group_with_too_few_people_is_refused_alone() -> None:
    parts = [*crowds(250, 250, 250, 250), np.ones(3)]
    for name in ("mean", "variance", "std"):
        *others, few = by_group(MAKE[name](1.0), parts, Seeded(2))
        assert all(release.refusal is None for release in others)
        assert "too few" in str(few.refusal)
    assert all("n * epsilon" in str(one.refusal) for one in by_group(MAKE["mean"](1.0), crowds(30, 30), Seeded(0)))
    assert by_group(MAKE["mean"](1.0), [], Seeded(0)) == []
    nobody = by_group(MAKE["mean"](1.0), [np.empty(0)] * 3, Seeded(0))
    assert all(release.refusal is not None for release in nobody)


@pytest.mark.claim("pooled.2")
@pytest.mark.parametrize("name", list(MAKE))
def test_many_groups_of_nobody_are_nobody(name: str) -> None:
    """Noise on a thousand counts adds up to hundreds of people. 4 of 10 runs may be answered, each with a chance of
    0.0014: more, once in 10^11."""
    told = [by_group(MAKE[name](1.0), [np.empty(0)] * 1000, Seeded(run))[0].refusal for run in range(10)]
    assert sum(refusal is None for refusal in told) <= 4
    assert any("they may be nobody" in str(refusal) for refusal in told)  # the runs are seeded
    found = parted([np.empty(0)] * 1000, 1.0, Laplace(0.06), ADD, Seeded(1))
    assert found.size < 5 * found.off * math.sqrt(1000)
    assert found.off == pytest.approx(math.sqrt(2) / 0.06)


@pytest.mark.claim("pooled.2", "pooled.3")
def test_where_all_are_one_number_a_group_of_nobody_is_not_that_number() -> None:
    """A noisy number of nobody is 38 or more with a chance of 0.05: eight or more of ten, once in 10^8 or less."""
    releases = by_group(MAKE["mean"](1.0), [*[np.full(250, 20.0)] * 5, *[np.empty(0)] * 10], Seeded(1))
    assert [release.value for release in releases[:5]] == [20.0] * 5
    assert sum("too few" in str(release.refusal) for release in releases[5:]) >= 3


@pytest.mark.claim("pooled.2")
@pytest.mark.parametrize("name", list(MAKE))
@pytest.mark.parametrize("scale", [1e305, 1e200, 1e-200, 5e-324])
def test_no_scale_of_the_values_raises(name: str, scale: float) -> None:
    parts = [part * scale for part in crowds(200, 200, 200)]
    for release in by_group(MAKE[name](1.0), parts, Seeded(0)):
        assert release.refusal is not None or math.isfinite(release.interval().low)


@pytest.mark.claim("pooled.3")
def test_a_constant_is_itself_in_every_group() -> None:
    releases = by_group(MAKE["mean"](1.0), [np.full(300, 20.0)] * 8, Seeded(1))
    assert [release.value for release in releases] == [20.0] * 8
    assert "after limiting values to between 20 and 20" in str(releases[0])


@pytest.mark.claim("pooled.3")
@pytest.mark.parametrize("name", ["mean", "variance", "std", "sum"])
def test_pooled_intervals_hold_what_their_first_line_says(name: str) -> None:
    """Ten groups of 250 at epsilon 1, 2 for variances. A true 0.95 fails once in a million, 0.87 hardly ever passes."""
    mechanism, held, many = MAKE[name](2.0 if name in ("variance", "std") else 1.0), 0, 0
    largest = crowds(*[200_000] * 10, spread=0.2, seed=99)
    for run in range(12):
        parts = crowds(*[150 if name in ("variance", "std") else 250] * 10, spread=0.2, seed=run)
        for place, release in enumerate(by_group(mechanism, parts, Seeded(run))):
            if release.refusal is not None or "the range was found" not in str(release):
                continue
            bar, spread = release.interval(), release.spread
            if name == "sum":
                target = float(np.clip(parts[place], *spread.ends).sum())  # type: ignore[union-attr]
            else:
                words = spread.target.removeprefix("after limiting values to between ").split(" and ")  # type: ignore[union-attr]
                low, high = (float(word.replace(",", "")) for word in words)
                limited = np.clip(largest[place], low, high)
                target = {"mean": limited.mean(), "variance": limited.var(), "std": limited.std()}[name]
                assert spread.target in str(release).splitlines()[0]  # type: ignore[union-attr]
            held, many = held + (bar.low <= target <= bar.high), many + 1
    assert many > 100
    assert held / many > 0.84
