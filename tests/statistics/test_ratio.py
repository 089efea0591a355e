"""The ladder for ratios and rates."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput, DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics import ratio as module
from discreet.statistics.ratio import Ratio

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
DRAW = np.random.default_rng(4)
CROWD: list[Any] = [(float(x), float(y)) for x, y in zip(DRAW.poisson(2, 90), DRAW.integers(1, 6, 90), strict=True)]
VALUES: tuple[Any, ...] = (
    *((0.0, 0.0), (3.0, 0.0), (0.0, 5.0), (1e300, 1e300), (math.inf, 1.0), (-math.inf, -math.inf)),
    *((math.nan, 1.0), (5e-324, -0.0), None, (1.0,), "ab", (None, "x")),
)
BOUNDS: tuple[Any, ...] = (
    *(None, ((0.0, 5.0), (0.0, 5.0)), ((-1.0, 2.0), (1.0, 3.0))),
    *((None, (0.0, 5.0)), ((0.0, 5.0), None)),
)


def world(relation: Neighbours) -> list[audit.Pair]:
    """Odd rows with a crowd beside them, enough for an answer."""
    if relation is REPLACE:
        return [audit.Pair([*CROWD, a], [*CROWD, b]) for a in VALUES for b in VALUES if a is not b][::14]
    return [audit.Pair(CROWD, [*CROWD, one]) for one in VALUES]


@pytest.mark.claim("ratio.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_one_person_moves_what_is_claimed(relation: Neighbours, bounds: Any) -> None:
    mechanism = Ratio(40.0, bounds=bounds, neighbours=relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert mechanism.release([*CROWD, (1.0, 1.0)], Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, (1.0, 1.0)]), mechanism.loss) is None


@pytest.mark.claim("ratio.1")
def test_squares_with_half_of_the_noise_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake."""
    true: Any = vars(module)["noisy_moment"]

    def dear(values: Any, *, cost: Any, **given: Any) -> Any:
        return true(values, cost=type(cost)(2 * cost.epsilon), **given)

    monkeypatch.setattr(module, "noisy_moment", dear)
    with pytest.raises(DiscreetError):
        audit.check(Ratio(40.0, bounds=BOUNDS[1]), world(ADD)[:3], hostile_values=False).require()


@pytest.mark.claim("ratio.1")
@pytest.mark.parametrize("relation", BOTH)
def test_the_parts_add_up_to_epsilon(relation: Neighbours) -> None:
    for bounds in BOUNDS:
        mechanism = Ratio(Fraction(70, 3), bounds=bounds, neighbours=relation)
        assert pure(mechanism.stages.loss) == (Fraction(70, 3), Fraction(0))
        assert pure(drawn(mechanism, CROWD)) == (Fraction(70, 3), Fraction(0))


@pytest.mark.claim("ratio.2")
def test_a_denominator_near_zero_is_refused() -> None:
    nothing = [(1.0, 0.0)] * 500
    recorder = Recorder(Seeded(0))
    found = Ratio(1.0, bounds=((0, 1), (0, 1))).release(nothing, recorder)
    assert "too near 0" in str(found.refusal)
    assert len(recorder.log) == 2  # both totals, and nothing after them
    recorder = Recorder(Seeded(0))
    assert "857 is needed" in str(Ratio(1.0, neighbours=REPLACE).release(CROWD, recorder).refusal)
    assert recorder.log == []


@pytest.mark.claim("ratio.2")
@pytest.mark.parametrize("relation", BOTH)
def test_units_change_nothing_however_large_or_small(relation: Neighbours) -> None:
    """Squares of such numbers are no floats: the error is in the data's units throughout."""
    rows = np.column_stack([DRAW.random(2000), 1 + DRAW.random(2000)])
    mechanism = Ratio(1.0, neighbours=relation)
    usual = mechanism.release(rows, Seeded(1))
    for up, down in ((2.0**700, 1.0), (2.0**-700, 1.0), (2.0**700, 2.0**700), (1.0, 2.0**600)):
        found = mechanism.release(rows * [up, down], Seeded(1))
        assert found.value * down / up == pytest.approx(usual.value, rel=0.2)
        low, high = found.interval().low * down / up, found.interval().high * down / up
        assert high - low == pytest.approx(usual.interval().high - usual.interval().low, rel=0.5)
    tiny = Ratio(1.0, bounds=((0, 1e99), (0, 1e-200)), neighbours=relation).release(rows * [1e99, 1e-200], Seeded(1))
    assert "beyond 1e250" in str(tiny.refusal)


def test_what_is_declared_is_checked() -> None:
    for bounds in ((0, 1), [(0, 1), (-1, 1)], "ab", [(0, 1), (2, 1)]):
        with pytest.raises(BadInput, match="bounds"):
            Ratio(1.0, bounds=bounds)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="events"):
        Ratio(1.0, bounds=((-1, 1), (0, 1)), counts=True)
    with pytest.raises(BadInput, match="per is"):
        Ratio(1.0, per=0.0)


@pytest.mark.claim("ratio.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("bounds", [None, ((0, 8), (0, 5))], ids=str)
def test_the_interval_holds_the_populations_ratio(relation: Neighbours, bounds: Any) -> None:
    """Fails by chance less than once in 10^6: the truth is that of the ranges that the release names."""
    far = np.random.default_rng(9)
    y = far.integers(1, 5, 400_000)
    x = far.poisson(0.7 * y).astype(float)

    def run(seed: int) -> tuple[Any, float]:
        some = np.random.default_rng(seed).integers(len(x), size=2500)
        rows = np.column_stack([x[some], y[some]])
        release = Ratio(1.0, bounds=bounds, neighbours=relation).release(rows, Seeded(seed))
        ends = release.spread.above.ends, release.spread.below.ends  # type: ignore[union-attr]
        return release, float(np.clip(x, *ends[0]).sum() / np.clip(y, *ends[1]).sum())

    seen = audit.coverage(run, runs=60)
    assert seen.holds


@pytest.mark.claim("ratio.3")
@pytest.mark.parametrize("relation", BOTH)
def test_those_far_from_the_ratio_count_in_its_error(relation: Neighbours) -> None:
    """One in ten is near the corner of both ranges: nothing of its square is cut."""
    x, y = np.where(np.arange(4000) % 10 == 0, 8.0, 0.0), 1.0 + np.arange(4000) % 2
    found = Ratio(1000.0, bounds=((0, 8), (0, 2)), neighbours=relation).release(np.column_stack([x, y]), Seeded(1))
    error = math.sqrt(((x - x.sum() / y.sum() * y) ** 2).sum()) / y.sum()
    assert found.spread is not None
    assert found.spread.sampling == pytest.approx(error, rel=0.02)


def test_sessions_groups_and_words() -> None:
    draw = np.random.default_rng(0)
    people = {"falls": draw.poisson(0.3, 6000), "years": draw.integers(1, 4, 6000), "sex": ["F", "M"] * 3000}
    given: dict[str, Any] = {"epsilon": 8.0, "bounds": [(0, 5), (0, 3)], "per": 1000}
    with discreet.open(people, budget=50.0, ledger=":memory:", rng=Seeded(1)) as session:
        release = session.rate("falls", "years", **given)
        groups = session.rate("falls", "years", **given, groupby="sex", keys=["F", "M"])
    assert release.value == pytest.approx(150, rel=0.1)
    assert "rate per 1000 of falls to years, falls limited to [0, 5] and years limited to [0, 3]" in str(release)
    assert all(one.refusal is None for one in groups.values())
    assert release.interval(0.5).high - release.interval(0.5).low < release.interval().high - release.interval().low


def test_events_may_be_a_condition_or_an_entry() -> None:
    draw = np.random.default_rng(1)
    people = {"state": draw.choice(["alive", "dead", "lost"], 6000), "years": draw.integers(1, 4, 6000)}
    people["died"] = people["state"] == "dead"
    given: dict[str, Any] = {"epsilon": 8.0, "bounds": [(0, 1), (0, 3)]}
    with discreet.open(people, budget=50.0, ledger=":memory:", rng=Seeded(1)) as session:
        told = session.rate("state == 'dead'", "years", **given)
        equal = session.rate("state", "years", equals="dead", **given)
        with pytest.raises(BadInput, match="say which entries count, as in equals='yes'"):
            session.rate("state", "years", **given)
    plain = discreet.rate(people["died"], people["years"], **given, rng=Seeded(1))
    assert told.value == pytest.approx(plain.value, rel=0.02)
    assert equal.value == pytest.approx(plain.value, rel=0.02)
    assert told.interval().about == equal.interval().about
    assert "rate of state == 'dead' to years" in str(told)


@pytest.mark.parametrize("relation", BOTH)
def test_a_condition_that_few_meet_has_a_rate(relation: Neighbours) -> None:
    """It is 0 or 1: no range has to be found for it, which for few would be nothing."""
    table = {
        "state": [("dead" if k % 25 == 0 else "well") for k in range(12_000)],
        "years": [1.0 + k % 5 for k in range(12_000)],
    }
    for seed in range(5):
        with discreet.open(table, budget=9.0, ledger=":memory:", neighbours=relation, rng=Seeded(seed)) as session:
            found = session.rate("state == 'dead'", "years", epsilon=1.0, per=300)
        assert "limited to [0, 1] " in found.interval().about
        assert 3.2 < found.value < 4.8
