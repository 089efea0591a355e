"""The ladder for families fitted by their sufficient statistics."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet import audit
from discreet.accounting.currency import pure
from discreet.audit.replay import drawn, exceeds
from discreet.audit.worlds import HOSTILE
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.family import FAMILIES, GAUSSIAN, Family
from discreet.statistics.sufficient import SufficientStatistics

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD: list[Any] = [float(x) for x in np.round(np.random.default_rng(4).gamma(2.0, 2.0, size=40), 1) + 0.1]
RAYLEIGH = Family(
    "rayleigh",
    ("scale",),
    distribution=lambda scale: stats.rayleigh(scale=scale),
    start=lambda median: (median / 1.1774,),
    statistics=(np.square,),
)


ALL = [FAMILIES["poisson"], FAMILIES["gamma"], GAUSSIAN, RAYLEIGH]
QUICK = [*ALL[:-1], pytest.param(RAYLEIGH, marks=pytest.mark.study)]


NORMAL: list[Any] = [float(x) for x in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=40), 1)]


def world(relation: Neighbours, step: int, crowd: list[Any] = CROWD) -> list[audit.Pair]:
    """Ordinary and odd rows with a crowd beside them, enough for an answer; 42 rows where their number is public."""
    small = [pair for pair in audit.numbers(relation, 2) if relation is ADD or len(pair.left) == 2][::step]
    for value in HOSTILE[5:14]:
        small.append(audit.Pair([2.0, 1.0], [2.0, value]) if relation is REPLACE else audit.Pair([2.0], [2.0, value]))
    return [audit.Pair(crowd + pair.left, crowd + pair.right) for pair in small]


@pytest.mark.claim("sufficient.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("family", QUICK, ids=lambda family: family.name)
def test_every_small_pair(relation: Neighbours, family: Family) -> None:
    size = 42 if relation is REPLACE else None
    mechanism = SufficientStatistics(family, 120.0, neighbours=relation, size=size)
    crowd = NORMAL if family is GAUSSIAN else CROWD
    audit.check(mechanism, world(relation, 60, crowd), hostile_values=False).require()
    answers = [mechanism.release([*crowd, 0.5, 1.0], Seeded(seed)) for seed in range(6)]
    assert any(one.refusal is None for one in answers)  # the world is one of answers
    few = SufficientStatistics(family, 4.0, neighbours=relation)
    audit.check(few, audit.numbers(relation, 2)[::8], hostile_values=False).require()  # refusals


@pytest.mark.claim("sufficient.1")
@pytest.mark.parametrize("relation", BOTH)
def test_limits_that_are_read_off_the_data_are_caught(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    def farthest(column: Any, *, centre: float, **_: Any) -> float:
        return float(np.nanmax(np.abs(np.clip(column, -1e9, 1e9) - centre)))

    monkeypatch.setattr("discreet.statistics.sufficient.far_distance", farthest)
    size = 42 if relation is REPLACE else None
    mechanism = SufficientStatistics(FAMILIES["gamma"], 40.0, neighbours=relation, size=size)
    assert not audit.check(mechanism, world(relation, 60), hostile_values=False).passed


@pytest.mark.claim("sufficient.1")
@pytest.mark.parametrize("size", [150, 1000, 10**6])
@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_the_stages_sum_to_epsilon(size: int, name: str) -> None:
    for relation, known in ((REPLACE, size), (ADD, None)):
        mechanism = SufficientStatistics(FAMILIES[name], 0.7, neighbours=relation, size=known)
        assert pure(mechanism.loss) == (Fraction(7, 10), Fraction(0))
    costs = SufficientStatistics(FAMILIES[name], 0.7).stages(size)
    assert pure(costs.loss) == (Fraction(7, 10), Fraction(0))


@pytest.mark.claim("sufficient.1")
@pytest.mark.parametrize("relation", BOTH)
def test_what_is_drawn_is_within_the_loss(relation: Neighbours) -> None:
    rows = np.random.default_rng(1).gamma(2.0, 3.0, 600)
    mechanism = SufficientStatistics(
        FAMILIES["gamma"], 2.0, neighbours=relation, size=600 if relation is REPLACE else None
    )
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("sufficient.2")
@pytest.mark.parametrize("relation", BOTH)
def test_too_few_rows_are_refused_by_public_numbers(relation: Neighbours) -> None:
    release = SufficientStatistics(FAMILIES["poisson"], 0.1, neighbours=relation).release([1, 2, 3], Seeded(1))
    assert release.refusal is not None
    assert "n * epsilon" in release.refusal
    with pytest.raises(Refused):
        release.interval()


@pytest.mark.claim("sufficient.3")
@pytest.mark.parametrize(
    ("name", "truth"), [("poisson", (0.2,)), ("poisson", (40.0,)), ("exponential", (5.0,)), ("gamma", (0.7, 2.0))]
)
def test_limits_leave_next_to_no_bias(name: str, truth: tuple[float, ...]) -> None:
    """Many records and a strong epsilon: within six standard errors, chance of failure below 1e-8."""
    family, size = FAMILIES[name], 200_000
    rows = family.distribution(*truth).rvs(size, random_state=np.random.default_rng(7))
    release = SufficientStatistics(family, 3.0).release(rows, Seeded(3))
    for place, name_of in enumerate(family.parameters):
        error = math.hypot(release.spread.sampling[name_of], release.spread.privacy[name_of])  # type: ignore[union-attr]
        assert abs(release.value[name_of] - truth[place]) < 6 * error
        assert error < 0.02 * truth[place]


Draw = Callable[[np.random.Generator], Any]
LOGNORMAL: Draw = lambda people: people.lognormal(0.0, 0.8, 2000)  # noqa: E731
CASES: list[tuple[Family, Draw, tuple[float, ...], Neighbours]] = [
    (FAMILIES["poisson"], lambda people: people.poisson(0.5, 1000), (0.5,), REPLACE),
    (FAMILIES["poisson"], lambda people: people.negative_binomial(2, 0.4, 2000), (3.0,), ADD),
    (FAMILIES["exponential"], LOGNORMAL, (math.exp(-0.32),), ADD),
    (FAMILIES["gamma"], lambda people: people.gamma(2.0, 3.0, 2000), (2.0, 3.0), REPLACE),
    (FAMILIES["gamma"], LOGNORMAL, (1.7102, 0.8052), ADD),
    (GAUSSIAN, lambda people: people.normal(300.0, 2.0, 2000), (300.0, 4.0), REPLACE),
    (GAUSSIAN, lambda people: people.exponential(3.0, 2000), (3.0, 9.0), ADD),
    (GAUSSIAN, lambda people: people.integers(1, 6, 2000), (3.0, 2.0), ADD),
]


@pytest.mark.claim("sufficient.4")
@pytest.mark.parametrize(("family", "draw", "truth", "relation"), CASES)
def test_intervals_hold_the_best_fit_whatever_the_distribution(
    family: Family, draw: Draw, truth: tuple[float, ...], relation: Neighbours
) -> None:
    """40 runs at 95%: fewer than 27 held has a chance below 1e-7. Truths are of the population, by its own moments."""
    people, held = np.random.default_rng(5), np.zeros(len(truth))
    for i in range(40):
        release = SufficientStatistics(family, 1.0, neighbours=relation).release(draw(people), Seeded(i))
        if release.refusal is not None:  # one limit in a thousand is far too wide
            held += 1
            continue
        ends = release.interval(0.95)
        assert "fit" in ends.about
        held += [ends.low[key] <= one <= ends.high[key] for key, one in zip(family.parameters, truth, strict=True)]
    assert (held >= 27).all()


@pytest.mark.claim("sufficient.5")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_normal_distributions_are_learnt(relation: Neighbours) -> None:
    hits = 0
    for seed in range(40):
        rows = np.random.default_rng(seed).normal(30.0, 3.0, size=3000)
        release = discreet.fit_normal(rows, epsilon=1.0, neighbours=relation, rng=Seeded(seed))
        if release.refusal is not None:
            continue
        box: Any = release.interval()
        hits += box.low.mean <= 30 <= box.high.mean and box.low.variance <= 9 <= box.high.variance
    assert hits >= 30  # 38 expected; fewer has a chance below 1e-5
    assert "total variation" in str(release)
    assert "after limiting values" in str(release).splitlines()[0]
    assert release.to_dict()["value"]["parameters"].keys() == {"mean", "variance"}


@pytest.mark.claim("sufficient.2")
@pytest.mark.parametrize(("place", "scale"), [(1e6, 1.0), (1.7e9, 3600.0), (1e12, 1.0)])
def test_data_far_from_zero_get_an_interval_that_holds_or_a_refusal(place: float, scale: float) -> None:
    """A median beside the data makes them all equally far: a variance next to nothing, which is refused."""
    people, missed = np.random.default_rng(6), 0
    for seed in range(25):
        rows = people.normal(place, scale, 1000)
        release = discreet.fit_normal(rows, epsilon=1.0, rng=Seeded(seed))
        if release.refusal is None:
            box: Any = release.interval()
            missed += not box.low.mean <= place <= box.high.mean
    assert missed <= 5


@pytest.mark.claim("sufficient.3")
def test_a_narrow_distribution_is_found() -> None:
    """Chance of failure below 1e-6."""
    rate = 2**23 + 2**17 * 10.3
    rows = np.rint(np.random.default_rng(3).normal(rate, math.sqrt(rate), 2000))
    release = SufficientStatistics(FAMILIES["poisson"], 1.0).release(rows, Seeded(1))
    ends = release.interval(0.95)
    assert ends.high.rate - ends.low.rate < math.sqrt(rate)
    assert abs(release.value.rate - rate) < 1.5 * math.sqrt(rate)


def test_functions_that_raise_at_a_released_number_are_a_refusal() -> None:
    def start(median: float) -> tuple[float]:
        if median > 50:
            raise KeyError(median)
        return (median,)

    odd = Family("odd", ("scale",), distribution=lambda scale: stats.expon(scale=scale), start=start)
    assert "rescale" in (SufficientStatistics(odd, 9.0).release(np.linspace(1e3, 1e4, 500), Seeded(1)).refusal or "")


def test_scales_do_not_matter() -> None:
    rows = np.random.default_rng(2).gamma(2.0, 1.0, 3000)
    for unit in (1e-9, 1.0, 1e9):
        value = SufficientStatistics(FAMILIES["gamma"], 1.0).release(rows * unit, Seeded(1)).value
        assert value.shape == pytest.approx(2.0, rel=0.2)
        assert value.scale == pytest.approx(unit, rel=0.2)


def test_a_family_that_is_none() -> None:
    with pytest.raises(BadInput, match="family is"):
        SufficientStatistics("poisson", 1.0)  # type: ignore[arg-type]


LARGE = (1e300, 7.0, math.inf)  # all beyond a beta distribution, whose release takes seconds: there together


@pytest.mark.parametrize(
    ("name", "values"),
    [(name, (value,)) for name in FAMILIES for value in (0.0, math.nan, -5.0, 1e-300)]
    + [(name, (value,)) for name in FAMILIES for value in LARGE if name != "beta"]
    + [("beta", LARGE)],
)
def test_no_data_raise(name: str, values: tuple[float, ...]) -> None:
    release = SufficientStatistics(FAMILIES[name], 1.0).release(np.resize(values, 500), Seeded(1))
    assert release.refusal or all(np.isfinite(list(release.value.values())))
    assert str(release)
