"""Tests of means of any shape: what one row moves, where the limit falls, levels."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit, mean_test, two_means_test
from discreet.audit.replay import Recorder
from discreet.audit.worlds import Pair, neighbours_of
from discreet.errors import Refused
from discreet.hypotheses import tail_limits
from discreet.hypotheses.limited_tests import LimitedMeansTest, LimitedMeanTest
from discreet.noise.additive import Blur
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import atoms
from discreet.stages.locate import moves

ADD, REPLACE = Neighbours.ADD_OR_REMOVE, Neighbours.REPLACE
CROWD = [0.5 + index / 200 for index in range(120)]
VALUES = (1.0, 1e12, -math.inf, math.nan, "a")
PAIRS = [(index % 2, one) for index, one in enumerate(CROWD)]
PUBLIC: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}


def two(relation: Neighbours, epsilon: float, **options: Any) -> tuple[LimitedMeansTest, list[Any]]:
    """The test of two samples of a crowd, and neighbours of it."""
    if relation is ADD:
        rows = [PAIRS, *((*PAIRS, (group, value)) for group in (0, 1) for value in VALUES[:4])]
        return LimitedMeansTest(None, epsilon, **options), [Pair(rows[0], list(other)) for other in rows[1:]]
    changed = [[*CROWD[:place], value, *CROWD[place + 1 :]] for place in (0, 60) for value in VALUES[:4]]
    return LimitedMeansTest(60, epsilon, size=120, **options), [Pair(CROWD, other) for other in changed]


@pytest.mark.claim("limited_tests.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_one_sample_passes_the_audit(relation: Neighbours) -> None:
    world = list(neighbours_of(CROWD, VALUES[:4], relation))[:6]
    test = LimitedMeanTest(1.0, 20.0, neighbours=relation)
    audit.check(test, world, hostile_values=False).require()
    assert test.release(CROWD, Seeded(1)).refusal is None


@pytest.mark.claim("limited_tests.1")
@pytest.mark.parametrize("options", [{}, {"bounds": (0.0, 2.0)}])
@pytest.mark.parametrize("relation", list(Neighbours))
def test_two_samples_pass_the_audit(relation: Neighbours, options: dict[str, Any]) -> None:
    test, world = two(relation, 20.0, **options)
    audit.check(test, world, hostile_values=False).require()
    assert test.release(world[0].left, Seeded(1)).refusal is None


@pytest.mark.claim("limited_tests.1")
@pytest.mark.claim("tail_limits.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_unbalanced_tails_pass_the_audit(relation: Neighbours) -> None:
    """A crowd on one side: both branches are audited, as one row decides which is likely."""
    skewed = [1.01 + index / 20 for index in range(120)]
    world = list(neighbours_of(skewed, VALUES[:4], relation))[:6]
    audit.check(LimitedMeanTest(1.0, 20.0, neighbours=relation), world, hostile_values=False).require()
    rows = [(index % 2, 3 * value * (index % 2) or 1.0) for index, value in enumerate(skewed)]
    pairs = [Pair(rows, [*rows, (group, 1e12)]) for group in (0, 1)]
    audit.check(LimitedMeansTest(None, 20.0), pairs, hostile_values=False).require()


@pytest.mark.claim("tail_limits.1")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("mutant", ["wide steps", "scores by half", "heavy tails"])
def test_a_row_that_moves_more_than_is_claimed_is_found(
    monkeypatch: pytest.MonkeyPatch, relation: Neighbours, mutant: str
) -> None:
    """Planted mutants: a far value counts twice in a sum, or in the balance; scores are said to move half as far as
    they do."""
    if mutant == "wide steps":
        right = tail_limits.limited_steps
        monkeypatch.setattr(tail_limits, "limited_steps", lambda *given: tuple(2 * one for one in right(*given)))
    elif mutant == "heavy tails":
        counted = tail_limits.counted_tails
        monkeypatch.setattr(tail_limits, "counted_tails", lambda *given: 2 * counted(*given))
    else:
        monkeypatch.setattr(tail_limits, "EVEN", -1.0)  # the tails are never balanced
        monkeypatch.setattr(tail_limits, "moves", lambda relation: moves(relation) / 2)
    near, far = [*CROWD, 1.0 if mutant == "scores by half" else -1e12], [*CROWD, 1e12]
    pairs = [Pair(near if relation is REPLACE else CROWD, far)]
    assert not audit.check(LimitedMeanTest(1.0, 20.0, neighbours=relation), pairs, hostile_values=False).passed
    test, _ = two(relation, 20.0)
    pairs = [Pair(PAIRS, [*PAIRS, (0, 1e12)]) if relation is ADD else Pair(near[1:], far[1:])]
    assert not audit.check(test, pairs, hostile_values=False).passed


@pytest.mark.claim("limited_tests.1")
def test_a_private_number_of_people_refuses_by_its_noise_alone() -> None:
    """One person more brings the number to what is needed: 20 in all, or 6 in each sample. Noise decides."""
    few, many = [(index % 2, 1.0 + index / 10) for index in range(30)], [(1, 1.0 + index / 10) for index in range(30)]
    one, other = [value for _, value in few[:19]], [value for _, value in few[:20]]
    audit.check(LimitedMeanTest(1.0, 20.0, neighbours=ADD), [Pair(one, other)], hostile_values=False).require()
    for bounds in (None, (0.0, 4.0)):
        pairs = [Pair(few[:19], few[:20]), Pair(many + few[:10:2], many + few[:11:2])]
        audit.check(LimitedMeansTest(None, 20.0, bounds=bounds), pairs, hostile_values=False).require()


@pytest.mark.claim("limited_tests.1")
def test_the_claim_is_reached_and_all_is_charged() -> None:
    """From one side to the other a replaced row moves the sum by twice the reach; every epsilon is in the loss."""
    for place in (0, 3):
        asked = []
        for end in (0.0, 2.0):
            recorder = Recorder(Seeded(0))
            rows = [end if k == place else 1.0 for k in range(4)]
            LimitedMeansTest(2, 8.0, bounds=(0.0, 2.0)).release(rows, recorder)
            asked.append([request for request, _ in recorder.log if isinstance(request, Blur)])
        (mean,), (other,) = asked
        assert np.abs(mean.values - other.values).sum() == 2**27 == mean.sensitivity
    for test in (
        LimitedMeanTest(1.0, 2.0, neighbours=ADD),
        LimitedMeanTest(1.0, 2.0, size=500),
        LimitedMeansTest(None, 2.0),
        LimitedMeansTest(300, 2.0, size=500, bounds=(0.0, 1.0)),
    ):
        assert sum(part.epsilon for part in atoms(test.loss)) == 2  # type: ignore[union-attr, misc]


@pytest.mark.claim("limited_tests.2")
@pytest.mark.parametrize("relation", [pytest.param("replace", marks=pytest.mark.study), "add_or_remove"])
def test_the_level_holds(relation: str) -> None:
    """300 runs on whole numbers, on a skewed and on a heavy-tailed column: passed by less than 5 standard errors."""
    people, level = np.random.default_rng(3), 0.1
    shapes: tuple[Callable[[int], Any], ...] = (
        lambda n: people.poisson(3, n) - 3.0,
        lambda n: people.exponential(1, n) - 1,
        lambda n: people.standard_t(3, n),
    )
    ask: dict[str, Any] = {"epsilon": 2.0, "neighbours": relation, "missing": "keep"}
    for at, draw in enumerate(shapes):
        ones = [mean_test(draw(600) + 7, 7.0, rng=Seeded(run), **ask) for run in range(150)]
        twos = [two_means_test(draw(400), 2 * draw(500), rng=Seeded(run), **ask) for run in range(150)]
        for found in (ones, twos):
            assert np.mean([release.value.p_value <= level for release in found]) <= level + 5 * math.sqrt(
                0.09 / 150
            ), at


@pytest.mark.claim("limited_tests.2")
@pytest.mark.parametrize(
    ("share", "size", "relation"), [(0.02, 20_000, "add_or_remove"), (0.1, 800, "replace"), (0.1, 400, "add_or_remove")]
)
def test_the_mean_of_truth_values_is_not_rejected(share: float, size: int, relation: str) -> None:
    """60 runs, at least n epsilon that is answered, and few of very many: 3 expected, 14 once in 10^6."""
    people = np.random.default_rng(5)
    ask: dict[str, Any] = {"epsilon": 1.0, "neighbours": relation, "missing": "keep"}
    found = [mean_test((people.random(size) < share) * 1.0, share, rng=Seeded(run), **ask) for run in range(60)]
    assert sum(release.refusal is None and release.value.decide(0.05) for release in found) < 14
    assert sum(release.refusal is None for release in found) > 20


def test_a_balance_that_cannot_be_seen_is_refused_and_the_advice_works() -> None:
    """By the public number: 799 of 800 at epsilon 1; more rows, and a larger epsilon, are answered."""
    rows = [float(k % 80) for k in range(840)]
    with pytest.raises(
        Refused, match=r"needs at least 800. Please bring 840 rows, ask for epsilon=1\.1, or give public"
    ):
        LimitedMeanTest(30.0, 1.0).check(799)
    refused = mean_test(rows[:799], 30.0, epsilon=1.0, **PUBLIC)
    assert "at least 800" in str(refused.refusal)
    for many, epsilon in ((840, 1.0), (799, 1.1)):
        assert mean_test(rows[:many], 30.0, epsilon=epsilon, rng=Seeded(1), **PUBLIC).refusal is None
    LimitedMeansTest(200, 1.0).check(400)  # two samples hold theirs against each other


def test_power_without_a_search_for_the_place() -> None:
    """100 shifts by three standard errors, n = 1000, epsilon = 1: 82 expected, below 60 once in 10^6."""
    people = np.random.default_rng(4)
    found = [
        mean_test(people.normal(5 + 2 * 3 / 1000**0.5, 2, 1000), 5.0, epsilon=1.0, rng=Seeded(run))
        for run in range(100)
    ]
    assert np.mean([release.value.decide(0.05) for release in found]) > 0.6


def test_refusals_say_what_to_do() -> None:
    few = mean_test([1.0] * 30, 1.0, epsilon=0.5, rng=Seeded(1))
    assert "n * epsilon" in str(few.refusal)
    assert "smaller sample" in str(two_means_test([1.0, 2.0] * 20, [1.0] * 9000, epsilon=0.5, **PUBLIC).refusal)
    assert "has about" in str(two_means_test([1.0], [2.0], epsilon=1.0).refusal)
    with pytest.raises(Refused):
        LimitedMeansTest(5, 1.0).check(10)
    with pytest.raises(Refused):
        LimitedMeanTest(0.0, 1.0).check(10)
    LimitedMeansTest(5, 1.0).check(None)
    LimitedMeansTest(5, 1.0, bounds=(0.0, 1.0)).check(10)
    LimitedMeansTest(None, 1.0).check(10)
    assert "one number" in str(mean_test([1.0] * 1900 + [5.0] * 100, 1.0, epsilon=1.0, rng=Seeded(1)).refusal)


@pytest.mark.claim("limited_tests.2")
def test_in_a_session_too_the_first_line_says_where_the_limit_is() -> None:
    table = {"x": np.random.default_rng(4).exponential(1.0, 2000)}
    with discreet.open(table, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        found = session.mean_test("x", 1.0, epsilon=2.0)
        first = str(found).splitlines()[0]
        at = re.search(
            r"mean of values limited to (\S+) to (\S+) \(one outside counts as (\S+) or (\S+)\) is 1 \(two", first
        )
        assert at is not None
        assert first.startswith("mean test of x, test that the mean of values limited to ")
        low, high, least, most = map(float, at.groups())
        assert (least - 1, most - 1) == pytest.approx((4 / 3 * (low - 1), 4 / 3 * (high - 1)), rel=1e-3)
