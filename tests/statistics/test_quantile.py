"""The ladder for quantiles."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import audit
from discreet.accounting.compose import epsilon, implies
from discreet.audit.distinguish import proportion_bounds
from discreet.audit.replay import exceeds
from discreet.audit.worlds import Pair, neighbours_of, small
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, atoms
from discreet.privacy.mechanism import by_group
from discreet.privacy.release import Provenance, Release
from discreet.statistics import ranks
from discreet.statistics.quantile import Quantile
from discreet.statistics.quantile_cells import Candidates, ceil_to, floor_to, middle, nearest_to
from discreet.statistics.rank_cells import RankCells

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
BOTH = list(Neighbours)
FEW = (0.0, 1.0, math.inf, math.nan)
ODD = (0.0, -5e-324, 1e300, -math.inf, math.nan, None, "a", 2**200, True, 1j)
MAX = float(np.finfo(float).max)
Floats = npt.NDArray[np.float64]

# three records are enough for these
INTERVAL = Quantile(0.5, 200.0, confidence=0.5)
BOUNDED = Quantile(0.5, 20.0, bounds=(-1.0, 3.0), confidence=0.5)
SURE = Quantile(0.5, 400.0, confidence=0.5, guaranteed=True)
SEVERAL = Quantile((0.6, 0.4), 400.0, bounds=(-5.0, 5.0), confidence=0.2, granularity=0.5)


# --- privacy ---


@pytest.mark.claim("quantile.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("q", [0.5, 0.9, (0.3, 0.7)])
def test_points_on_every_small_pair(q: Any, relation: Neighbours) -> None:
    mechanism = Quantile(q, 300.0, confidence=None, missing=1.5, neighbours=relation)
    audit.check(mechanism, small(FEW, 3, relation), hostile_values=False).require()
    bounded = Quantile(q, 1.0, bounds=(0.0, 2.0), confidence=None, neighbours=relation)
    audit.check(bounded, neighbours_of((0.0, 1.0, 1.0), ODD, relation), hostile_values=False).require()
    for rounded in (replace(mechanism, granularity=0.5), replace(bounded, granularity=0.5)):
        pairs = neighbours_of((0.0, 1.0, 1.75), ODD, relation)
        audit.check(rounded, list(pairs)[::2], hostile_values=False).require()


@pytest.mark.claim("quantile.2")
@pytest.mark.parametrize("mechanism", [INTERVAL, BOUNDED, SURE, SEVERAL])
def test_intervals_on_every_small_pair(mechanism: Quantile) -> None:
    assert mechanism.release([0.0, 1.0, 2.0], Seeded(0)).refusal is None
    audit.check(mechanism, small(FEW[1:], 3, REPLACE), hostile_values=False).require()
    audit.check(mechanism, list(neighbours_of((0.0, 1.0), ODD, REPLACE))[::2], hostile_values=False).require()


@pytest.mark.claim("quantile.3")
@pytest.mark.parametrize("mechanism", [INTERVAL, BOUNDED, SURE, SEVERAL])
def test_intervals_on_every_small_pair_where_n_is_private(mechanism: Quantile) -> None:
    private = replace(mechanism, epsilon=3 * mechanism.epsilon, neighbours=ADD)
    answered = private.release([0.0, 1.0, 2.0, 3.0, 4.0], Seeded(0))
    assert answered.refusal is None
    audit.check(private, small(FEW[1:], 3, ADD), hostile_values=False).require()
    audit.check(private, neighbours_of((0.0, 1.0, 1.0, 2.0, 3.0), ODD, ADD), hostile_values=False).require()


@pytest.mark.claim("quantile.2")
@pytest.mark.claim("quantile.3")
@pytest.mark.parametrize("relation", BOTH)
@settings(derandomize=True, database=None, max_examples=25)
@given(
    rows=st.lists(
        st.one_of(
            st.sampled_from([0.0, 1e6, 1e12, 1e12 + 1, -1e300, 5e-324, math.nan, math.inf]),
            st.floats(width=64, allow_nan=True, allow_infinity=True),
        ),
        min_size=30,
        max_size=60,
    ),
    value=st.floats(width=64, allow_nan=True, allow_infinity=True),
    q=st.sampled_from([0.5, 0.3, (0.4, 0.6)]),
    sure=st.booleans(),
)
def test_wide_tables_are_replayed_within_their_sensitivities(
    relation: Neighbours, rows: list[float], value: float, q: Any, sure: bool
) -> None:
    mechanism = Quantile(q, 60.0, guaranteed=sure, neighbours=relation)
    neighbour = [value, *rows[1:]] if relation is REPLACE else [*rows, value]
    assert "by chance" in (mechanism.release(rows, Seeded(0)).refusal or "by chance")  # ends may be that far out
    for pair in (Pair(rows, neighbour), Pair(neighbour, rows)):
        assert not audit.replay(mechanism, pair)


@pytest.mark.claim("quantile.3")
@pytest.mark.claim("quantile.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("slot", "factor"), [("low_move", Fraction(4, 5)), ("high_move", Fraction(1, 2))])
def test_a_smaller_sensitivity_is_caught(
    slot: str, factor: Fraction, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = ranks.RankAims.ends

    def greedy(self: ranks.RankAims, q: Fraction, band: tuple[int, int]) -> ranks.Aim:
        aim = honest(self, q, band)
        return replace(aim, **{slot: getattr(aim, slot) * factor})

    monkeypatch.setattr(ranks.RankAims, "ends", greedy)
    pairs = list(neighbours_of(tuple(map(float, range(8))), (0.5, 3.5, 9.5), relation))
    verdict = audit.check(replace(INTERVAL, neighbours=relation), pairs, hostile_values=False)
    assert "a score moved by" in str(verdict)


@pytest.mark.claim("quantile.3")
def test_aiming_by_the_true_size_is_caught() -> None:
    class Mechanism:
        """Reads the number of rows where it may not."""

        inner = replace(BOUNDED, epsilon=90.0, neighbours=ADD)
        guarantee, loss = inner.guarantee, inner.loss

        def release(self, rows: Any, rng: Any) -> Release[Any]:
            aim = self.inner._aims.ends(Fraction(1, 2), (len(rows), len(rows)))
            requests = ((aim.low * len(rows), aim.low_move), (aim.high * len(rows), aim.high_move))
            drawn = Candidates((-1.0, 3.0), 0.0, Fraction(0), 0, None).ends(np.array(rows), requests, Choice(9), rng)
            return Release(self.guarantee, Provenance("Mechanism", {}, rng.secure), drawn)

    pairs = list(neighbours_of(tuple(map(float, range(8))), (0.5, 3.5), ADD))
    assert "depend on the data" in str(audit.check(Mechanism(), pairs, hostile_values=False))


@pytest.mark.claim("quantile.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(
    "options",
    [
        {"confidence": None},
        {},
        {"bounds": (0.0, 1.0)},
        {"guaranteed": True},
        {"q": (0.25, 0.5, 0.75)},
        {"q": (0.1, 0.9), "confidence": None},
    ],
)
def test_the_loss_lists_the_draws_and_makes_the_guarantee(options: dict[str, Any], relation: Neighbours) -> None:
    mechanism = replace(Quantile(0.5, 7, neighbours=relation), **options)
    assert implies(mechanism.loss, mechanism.guarantee)
    assert epsilon(mechanism.loss, 0.0) == pytest.approx(7)
    rows = np.random.default_rng(1).normal(3, 1, size=800)
    assert audit.drawn(mechanism, rows) == mechanism.loss
    m = len(mechanism.q) if isinstance(mechanism.q, tuple) else 1
    choices = [atom for atom in atoms(mechanism.loss) if isinstance(atom, Choice)]
    searched = mechanism.confidence is not None and not mechanism.guaranteed
    assert len(choices) == m * (1 if mechanism.confidence is None else 2) + searched * (1 + (mechanism.bounds is None))
    count = [Approximate(Fraction(7, 10), 0)] if relation is ADD else []
    assert [atom for atom in atoms(mechanism.loss) if not isinstance(atom, Choice)] == count
    assert epsilon(mechanism.loss, 1e-6) <= 7 + 1e-9  # bounded range: several choices compose better


@pytest.mark.claim("quantile.6")
def test_a_refusal_draws_nothing_where_n_is_public_and_within_the_loss_where_it_is_not() -> None:
    class Closed(Seeded):
        def draw(self, request: Any) -> Any:
            raise AssertionError("drawn")

    assert Quantile(0.5, 0.1).release([1.0] * 50, Closed(0)).refusal is not None
    private = Quantile(0.5, 0.1, neighbours=ADD)
    assert private.release([1.0] * 50, Seeded(0)).refusal is not None
    assert audit.drawn(private, [1.0] * 50) == Approximate(Fraction(1, 100), 0)
    assert exceeds(audit.drawn(private, [1.0] * 50), private.loss) is None


@pytest.mark.study
@pytest.mark.claim("quantile.1")
@pytest.mark.parametrize(
    ("mechanism", "x", "y"),
    [
        (Quantile(0.5, 1.0, bounds=(0.0, 1.0), confidence=None), [0.5, 0.0], [0.5, 1.0]),
        (Quantile(0.5, 1.0, bounds=(0.0, 1.0), confidence=None, neighbours=ADD), [0.5], [0.5, 0.0]),
    ],
)
def test_outputs_do_not_tell_more_than_epsilon(mechanism: Quantile, x: list[float], y: list[float]) -> None:
    told = audit.distinguish(mechanism, x, y, runs=1400, seed=1, feature=lambda release: round(release.value, 1))
    assert not told.violated
    assert told.epsilon > 0.05


# --- coverage ---


def covered(
    mechanism: Quantile, draw: Callable[[Any], Floats], truth: float, runs: int, seed: int
) -> tuple[audit.Coverage, list[Release[Any]]]:
    """Fresh data for each run."""
    seen: list[Release[Any]] = []

    def one(run: int) -> tuple[Release[Any], float]:
        rows = draw(np.random.default_rng([seed, run]))
        seen.append(mechanism.release(rows, Seeded(run)))
        return seen[-1], truth

    return audit.coverage(one, runs=runs), seen


def order_statistics(size: int, q: float) -> tuple[int, int]:
    """The interval without privacy: the l-th and u-th of the sample, equal tails."""
    from scipy.stats import binom

    low = max(k for k in range(1, size) if binom.cdf(k - 1, size, q) <= 0.025)
    high = min(k for k in range(1, size + 1) if binom.sf(k - 1, size, q) <= 0.025)
    return low, high


DISTRIBUTIONS: dict[str, tuple[Callable[[Any, int], Floats], float]] = {
    "normal": (lambda g, n: g.normal(size=n), 0.0),
    "lognormal": (lambda g, n: g.lognormal(10, 1, size=n), math.exp(10)),
    "t2": (lambda g, n: g.standard_t(2, size=n), 0.0),
    "uniform": (lambda g, n: 1e4 + g.random(n), 1e4 + 0.5),
}


@pytest.mark.claim("quantile.4")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize(("size", "runs", "wide"), [(200, 120, 1.45), (2000, 40, 1.08)])
def test_the_interval_covers_and_is_hardly_wider_than_without_privacy(
    name: str, size: int, runs: int, wide: float
) -> None:
    """Fixed seeds. Coverage fails by chance less than once in 10^7 if it is 0.95, and the widths are medians."""
    draw, truth = DISTRIBUTIONS[name]
    mechanism = Quantile(0.5, 1.0, granularity=0)
    seen, releases = covered(mechanism, lambda g: draw(g, size), truth, runs, seed=21)
    assert seen.holds
    assert seen.share >= 0.9
    low, high = order_statistics(size, 0.5)
    plain = [np.sort(draw(np.random.default_rng([21, run]), size)) for run in range(runs)]
    widths = [release.interval().high - release.interval().low for release in releases]
    assert np.median(widths) <= wide * np.median([rows[high - 1] - rows[low - 1] for rows in plain])


ELSEWHERE: tuple[tuple[Quantile, Callable[[Any], Floats], float], ...] = (
    (Quantile(0.5, 2.0, neighbours=ADD), lambda g: g.normal(0.05, 1, size=150), 0.05),
    (Quantile(0.5, 1.0, bounds=(-10.0, 10.0)), lambda g: g.normal(size=200), 0.0),
    (Quantile(0.9, 2.0), lambda g: g.exponential(size=1000), math.log(10)),
    (Quantile(0.25, 4.0, confidence=0.95), lambda g: g.normal(1e6, 1e3, size=400), 1e6 - 674.4897501960817),
    (Quantile(0.5, 8.0), lambda g: g.normal(1e6, 1e3, size=60), 1e6),
)


@pytest.mark.claim("quantile.4")
@pytest.mark.parametrize(("mechanism", "distribution", "truth"), ELSEWHERE)
def test_coverage_elsewhere(mechanism: Quantile, distribution: Callable[[Any], Floats], truth: float) -> None:
    seen, _ = covered(mechanism, distribution, truth, 80, seed=26)
    assert seen.holds
    assert seen.share >= 0.9


@pytest.mark.study
@pytest.mark.parametrize(
    ("mechanism", "distribution", "truth"),
    [
        *ELSEWHERE,
        *(
            (Quantile(0.5, 1.0, granularity=0), lambda g, draw=draw, size=size: draw(g, size), truth)
            for draw, truth in DISTRIBUTIONS.values()
            for size in (200, 2000)
        ),
    ],
)
def test_coverage_by_many_runs(mechanism: Quantile, distribution: Callable[[Any], Floats], truth: float) -> None:
    """Other seeds than those of the tests above; 0.93 is three standard errors below 0.95."""
    seen, _ = covered(mechanism, distribution, truth, 1000, seed=31)
    assert seen.share >= 0.93, str(seen)


@pytest.mark.claim("quantile.4")
@pytest.mark.parametrize(("mean", "unit"), [(3.0, 1.0), (0.3, 1.0), (50.0, 1.0), (4.0, 0.1)])
def test_rounded_data_with_their_granularity(mean: float, unit: float) -> None:
    """The declared whole-number type is refused without it; with it the interval is on the safe side."""
    truth = unit * next(k for k in itertools.count() if poisson(mean, k) >= 0.5)
    mechanism = Quantile(0.5, 1.0, granularity=unit)
    seen, releases = covered(mechanism, lambda g: unit * g.poisson(mean, size=300), truth, 80, seed=23)
    assert seen.share >= 0.95
    for release in releases[:20]:
        for end in (release.interval().low, release.interval().high, release.value):
            assert end == float(round(Fraction(end) / Fraction(str(unit))) * Fraction(str(unit)))


def poisson(mean: float, k: int) -> float:
    return math.fsum(math.exp(-mean) * mean**j / math.factorial(j) for j in range(k + 1))


@pytest.mark.claim("quantile.5")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(
    ("distribution", "truth"),
    [
        (lambda g: np.where(g.random(900) < 0.55, -1e-300, 10 ** g.uniform(-200, 200, size=900)), -1e-300),
        (lambda g: g.integers(0, 2, size=900) * 1.0, 0.0),
        (lambda g: np.where(g.random(900) < 0.48, g.normal(-1e9, 1e-3, size=900), g.random(900)), 0.02 / 0.52),
    ],
)
def test_the_guaranteed_interval_covers_whatever_the_distribution(
    distribution: Callable[[Any], Floats], truth: float, relation: Neighbours
) -> None:
    mechanism = Quantile(0.5, 1.0, guaranteed=True, neighbours=relation)
    seen, _ = covered(mechanism, distribution, truth, 15, seed=24)
    assert seen.hits >= seen.runs - 1  # by their seeds; for the fair coin the bound is nearly tight


@pytest.mark.claim("quantile.5")
def test_the_guarantee_holds_where_it_is_nearly_tight() -> None:
    """Two cells, K = 2: the bound is of the order of the miss."""
    mechanism = Quantile(0.5, 1.0, bounds=(0.0, 1.0), confidence=0.8, granularity=1.0, guaranteed=True)
    assert RankCells.of(mechanism.bounds, mechanism.granularity).size == 2
    hits = 0
    for run in range(300):
        rows = (np.random.default_rng([25, run]).random(60) < 0.5) * 1.0
        interval = mechanism.release(rows, Seeded(run)).interval(0.8)
        hits += bool(interval.low <= 0.0 <= interval.high)
    assert hits >= 0.8 * 300


@pytest.mark.claim("quantile.5")
@pytest.mark.parametrize("relation", BOTH)
def test_guaranteed_ends_are_wider_but_not_wild(relation: Neighbours) -> None:
    rows = np.random.default_rng(4).lognormal(3, 1, size=4000)
    sure = Quantile(0.5, 1.0, guaranteed=True, neighbours=relation).release(rows, Seeded(1)).interval()
    bounded = (
        Quantile(0.5, 1.0, bounds=(0.0, 1e4), guaranteed=True, neighbours=relation).release(rows, Seeded(1)).interval()
    )
    plain = Quantile(0.5, 1.0, neighbours=relation).release(rows, Seeded(1)).interval()
    for wide in (sure, bounded):
        assert 1.2 < (wide.high - wide.low) / (plain.high - plain.low) < 4
    assert sure.low < plain.low < plain.high < sure.high


# --- refusals ---


@pytest.mark.claim("quantile.6")
@pytest.mark.parametrize(
    "mechanism", [Quantile(0.5, 0.5), Quantile(0.99, 1.0), Quantile((0.5, 0.001), 3.0, bounds=(0.0, 1.0))]
)
def test_a_refusal_is_the_same_for_all_data_of_a_size(mechanism: Quantile) -> None:
    words = {
        mechanism.release(rows, Seeded(seed)).refusal
        for seed, rows in enumerate([[0.0] * 150, list(map(float, range(150))), [math.nan] * 150, [1e300] * 150])
    }
    assert len(words) == 1
    (refusal,) = words
    assert refusal is not None
    assert "n * epsilon is" in refusal
    assert "is needed" in refusal
    assert ("bounds=(low, high)" in refusal) == (mechanism.bounds is None and mechanism.q == 0.5)  # there they would do
    release = mechanism.release([0.0] * 150, Seeded(0))
    with pytest.raises(Refused, match="too few"):
        _ = release.value
    with pytest.raises(Refused, match="too few"):
        release.interval()
    assert release.guarantee == mechanism.guarantee
    assert "refused" in str(release)


@pytest.mark.claim("quantile.6")
@pytest.mark.parametrize(
    "mechanism",
    [
        Quantile(0.5, 1.0),
        Quantile(0.5, 1.0, confidence=None),
        Quantile(0.05, 0.5),
        Quantile((0.25, 0.5, 0.75), 1.0),
        Quantile(0.5, 0.01, bounds=(0.0, 1.0)),
        Quantile(0.9, 1.0, guaranteed=True),
        Quantile(0.5, 1.0, bounds=(0.0, 1.0), confidence=0.999, guaranteed=True),
    ],
)
def test_what_is_said_to_be_needed_is_enough_and_not_far_too_much(mechanism: Quantile) -> None:
    def refused(size: int) -> bool:
        return mechanism.release(np.zeros(size), Seeded(0)).refusal is not None

    needed = max(mechanism._aims.needed(side, Fraction(1)) for q in mechanism._shares for side in (q, 1 - q))
    assert not refused(needed)
    assert refused(needed // 3)


@pytest.mark.claim("quantile.6")
def test_sizes_at_which_a_median_is_answered() -> None:
    """As the documentation says."""
    assert Quantile(0.5, 1.0, confidence=None).release(np.zeros(67), Seeded(0)).refusal is not None
    assert Quantile(0.5, 1.0, confidence=None).release(np.zeros(68), Seeded(0)).refusal is None
    assert Quantile(0.5, 1.0).release(np.zeros(213), Seeded(0)).refusal is not None
    assert Quantile(0.5, 1.0).release(np.zeros(214), Seeded(0)).refusal is None
    assert Quantile(0.5, 0.01, bounds=(0.0, 1.0), confidence=None).release([0.5], Seeded(0)).refusal is None


@pytest.mark.claim("quantile.6")
def test_types_decide_nothing_in_the_mechanism() -> None:
    whole = np.random.default_rng(1).normal(40, 9, size=400).astype(int)
    columns: list[Any] = [pa.array(whole), whole, whole.astype(float), whole.tolist(), whole.astype(object)]
    seen = {str(Quantile(0.5, 1.0).release(column, Seeded(1)).interval()) for column in columns}
    assert len(seen) == 1


# --- what is released ---


def test_the_interval_is_the_declared_one() -> None:
    rows = np.random.default_rng(1).normal(size=500)
    release = Quantile(0.5, 1.0, confidence=0.9).release(rows, Seeded(1))
    interval = release.interval(0.5)
    assert interval == release.interval(0.9)
    assert (interval.confidence, interval.population) == (0.9, True)
    assert release.value == (interval.low + interval.high) / 2
    with pytest.raises(Refused, match=r"declare confidence=0\.95 before"):
        release.interval()
    assert "90% confidence interval for the population's median" in str(release)
    assert "middle" in str(release)
    assert release.to_dict()["interval"]["confidence"] == 0.9
    with pytest.raises(Refused):
        Quantile(0.5, 1.0, confidence=None).release(rows, Seeded(1)).interval()
    longer = Quantile(0.5, 1.0, confidence=0.99).release(rows, Seeded(1)).interval(0.95)
    assert longer.confidence == 0.99


def test_the_error_bar_is_split_into_sampling_and_privacy() -> None:
    rows = np.random.default_rng(1).normal(7, 2, size=4000)
    spread = Quantile(0.5, 1.0).release(rows, Seeded(1)).spread
    assert spread is not None
    assert spread.sampling == pytest.approx(2 * math.sqrt(math.pi / 2 / 4000), rel=0.25)
    rate = Fraction(13, 16) / 4
    assert spread.privacy / spread.sampling == pytest.approx(1 / float(rate) / math.sqrt(1000))
    private = Quantile(0.5, 1.0, neighbours=ADD).release(rows, Seeded(1)).spread
    assert private is not None
    assert private.sampling == pytest.approx(2 * math.sqrt(math.pi / 2 / 4000), rel=0.25)
    assert private.privacy < spread.privacy


@pytest.mark.parametrize("relation", BOTH)
def test_several_quantiles_have_the_shape_of_q(relation: Neighbours) -> None:
    rows = np.random.default_rng(1).normal(7, 2, size=9000)
    release = Quantile([0.75, 0.25, 0.5], 3.0, neighbours=relation).release(rows, Seeded(1))
    interval = release.interval()
    assert release.value.shape == interval.low.shape == interval.high.shape == (3,)
    assert (interval.low < release.value).all()
    assert (release.value < interval.high).all()
    assert release.value == pytest.approx(np.quantile(rows, [0.75, 0.25, 0.5]), abs=0.2)
    assert "one by one" in str(release)
    one = Quantile((0.5,), 1.0, neighbours=relation).release(rows, Seeded(1))
    assert one.value.shape == (1,)
    assert isinstance(Quantile(0.5, 1.0, neighbours=relation).release(rows, Seeded(1)).value, float)
    release.to_json()


@pytest.mark.parametrize("relation", BOTH)
def test_points_come_in_the_order_of_their_q(relation: Neighbours) -> None:
    rows = np.random.default_rng(1).normal(size=30)
    for seed in range(10):
        mechanism = Quantile((0.6, 0.4, 0.5), 0.3, bounds=(-9.0, 9.0), confidence=None, neighbours=relation)
        sixty, forty, fifty = mechanism.release(rows, Seeded(seed)).value
        assert forty <= fifty <= sixty


@pytest.mark.claim("quantile.1")
def test_a_huge_epsilon_gives_the_sample_quantile() -> None:
    rows = [5.0, 1.0, 3.0, 2.0, 4.0]
    for relation in BOTH:
        exact_median = Quantile(0.5, 1e6, confidence=None, neighbours=relation).release(rows, Seeded(1))
        assert exact_median.value == 3.0
        assert Quantile(0.9, 1e6, confidence=None, neighbours=relation).release(rows, Seeded(1)).value == 5.0


def test_missing_entries_count_as_declared_and_everything_is_clamped() -> None:
    rows = [math.nan] * 60 + [None] * 60 + [7.0] * 40
    at = Quantile(0.5, 50.0, bounds=(0.0, 10.0), confidence=None, missing=4.0).release(rows, Seeded(1)).value
    assert at == 4.0
    assert Quantile(0.5, 50.0, bounds=(5.0, 10.0), confidence=None).release(rows, Seeded(1)).value == 5.0  # 0, clamped
    assert Quantile(0.5, 50.0, bounds=(5.0, 10.0), confidence=None, missing=99).release(rows, Seeded(1)).value == 10.0
    assert Quantile(0.5, 50.0, bounds=(0.0, 10.0), missing=4.0).release(rows, Seeded(1)).interval().low <= 4.0
    sure = Quantile(0.5, 50.0, bounds=(0.0, 10.0), missing=4.0, guaranteed=True).release(rows, Seeded(1)).interval()
    assert sure.low <= 4.0 <= sure.high


@pytest.mark.parametrize("rows", [[], [math.nan], [1e308] * 500, [-MAX, MAX] * 300, [5e-324] * 400, [0.0] * 400])
@pytest.mark.parametrize("relation", BOTH)
def test_odd_tables_end_in_a_release(rows: list[float], relation: Neighbours) -> None:
    if not rows and relation is REPLACE:
        with pytest.raises(BadInput, match="empty"):
            Quantile(0.5, 1.0).release(rows, Seeded(1))
        return
    for options in ({}, {"confidence": None}, {"guaranteed": True}, {"granularity": 0.1}, {"bounds": (-MAX, MAX)}):
        release = Quantile(0.5, 2.0, neighbours=relation, **options).release(rows, Seeded(1))
        assert release.refusal is not None or math.isfinite(release.value)
        release.to_json()
        str(release)


def test_nothing_tells_a_private_size() -> None:
    release = Quantile(0.5, 1.0, confidence=None, neighbours=ADD).release([1.0] * 77, Seeded(1))
    assert "77" not in release.to_json()
    assert release.provenance.parameters["rows"] is None


@pytest.mark.claim("quantile.6")
def test_few_points_of_a_private_number_are_refused_and_not_far_off() -> None:
    """Without a count, 38% of these were off by a factor of 10 or more."""
    people = np.random.default_rng(4)
    for seed in range(30):
        rows = np.exp(people.normal(size=1000))
        assert "by a noisy count" in str(
            Quantile(0.99, 1.0, confidence=None, neighbours=ADD).release(rows, Seeded(seed))
        )
        many = np.exp(people.normal(size=5000))
        found = Quantile(0.99, 1.0, confidence=None, neighbours=ADD).release(many, Seeded(seed)).value
        assert 0.4 < found / np.quantile(many, 0.99) < 2.5
    assert Quantile(0.99, 1.0, bounds=(0, 100), confidence=None, neighbours=ADD).release([1.0], Seeded(0)).value >= 0


@pytest.mark.claim("quantile.6")
@pytest.mark.parametrize("options", [{}, {"confidence": None}, {"bounds": (0.0, 1.0)}])
def test_a_lucky_count_answers_few_who_are_too_few(options: dict[str, Any]) -> None:
    """Those who are one too few are answered when the noise is 3 scales or more."""
    mechanism = Quantile(0.5, 1.0, neighbours=ADD, **options)
    plan, q = mechanism._aims, (Fraction(1, 2),)
    size = next(n for n in range(2, 400) if plan.too_few(plan.aims(q, (n, n)), n, 1.0, n) is None)
    answered = sum(mechanism.release(np.zeros(size - 1), Seeded(seed)).refusal is None for seed in range(300))
    assert proportion_bounds(answered, 300, 1e-7)[0] <= 0.025


def test_data_around_0_do_not_draw_the_ends_to_0() -> None:
    """With the scale-free prior most ends are 0 for all purposes (1e-30, say), and coverage is 0.74."""
    rows = np.random.default_rng(6).normal(size=400)
    for seed in range(20):
        interval = Quantile(0.5, 1.0).release(rows, Seeded(seed)).interval()
        assert max(abs(interval.low), abs(interval.high)) > 1e-3


# --- rounding ---


@pytest.mark.claim("quantile.4")
@settings(derandomize=True, database=None, max_examples=200)
@given(
    value=st.floats(allow_nan=False, allow_infinity=False),
    unit=st.sampled_from([1.0, 0.1, 0.25, 7, 1e-5, 1e12, Fraction(1, 3)]),
)
def test_rounding_outwards_is_exact(value: float, unit: Any) -> None:
    low, high, near = floor_to(value, unit), ceil_to(value, unit), nearest_to(value, unit)
    assert low <= value <= high
    assert low <= near <= high
    if abs(value) < 1e15:
        step = Fraction(str(unit))
        assert Fraction(value) - Fraction(low) < step * Fraction(1000001, 1000000)
        assert Fraction(high) - Fraction(value) < step * Fraction(1000001, 1000000)
        assert float(round(Fraction(low) / step) * step) == low


@pytest.mark.claim("quantile.4")
def test_a_multiple_as_floats_write_it_stays_where_it_is() -> None:
    for times in range(-300, 300):
        value = float(Fraction(times, 10))
        assert floor_to(value, 0.1) == ceil_to(value, 0.1) == nearest_to(value, 0.1) == value
    assert math.copysign(1, ceil_to(-0.01, 0.1)) == 1
    assert (floor_to(MAX, 1e300), ceil_to(MAX, 1e300), floor_to(-MAX, 1e300)) == (MAX, MAX, -MAX)


@pytest.mark.claim("quantile.6")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_an_end_far_beyond_the_data_is_named_and_gives_no_value(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ends stay what was drawn: the interval holds what it says, and tells nothing on that side."""
    rows, wild = np.random.default_rng(0).normal(size=4_000), [(-1.0, -0.5), (1.25, 1e150), (1.5, 2.0)]
    drawn = iter(wild)
    monkeypatch.setattr(Candidates, "ends", lambda *_: next(drawn))
    release = Quantile((0.25, 0.9, 0.95), 2.0, neighbours=relation).release(rows, Seeded(1))
    assert list(release.value) == [-0.75, 1.25, 1.75]
    assert list(release.interval().high) == [-0.5, 1e150, 2.0]
    assert [note[:47] for note in release.provenance.notes][-1] == "at q = 0.9 an end was drawn far beyond nine ten"
    drawn = iter([(0.0, 2.0)])
    release = Quantile(0.1, 2.0, bounds=(0.0, 4.0), neighbours=relation).release(np.abs(rows), Seeded(1))
    assert (release.value, "far beyond" in str(release.provenance.notes)) == (1.0, False)  # no scale was looked for
    drawn = iter([(1.2, 2.0)])
    release = Quantile(0.9, 2.0, neighbours=relation).release(rows, Seeded(1))
    assert (release.value, "far beyond" in str(release.provenance.notes)) == (1.6, False)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (1.0, 3.0, 2.0),
        (-1.0, 3.0, 1.0),
        (-1e9, 1e-9, -5e8),
        (1e-2, 1e4, 10.0),
        (-1e4, -1e-2, -10.0),
        (0.0, 1e4, 5e3),
        (-MAX, MAX, 0.0),
        (MAX / 2, MAX, 0.75 * MAX),
        (1e-300, 1e300, 1.0),
    ],
)
def test_the_middle(low: float, high: float, wanted: float) -> None:
    assert middle(low, high, 4.0) == pytest.approx(wanted)
    assert low <= middle(low, high, 4.0) <= high
    assert low <= middle(low, high, math.inf) <= high


# --- bad input ---


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"q": 0}, "q is 0"),
        ({"q": 1.0}, "between 0 and 1"),
        ({"q": -0.5}, "between 0 and 1"),
        ({"q": math.nan}, "between 0 and 1"),
        ({"q": "0.5"}, "between 0 and 1"),
        ({"q": None}, "between 0 and 1"),
        ({"q": True}, "between 0 and 1"),
        ({"q": ()}, "empty"),
        ({"q": []}, "empty"),
        ({"q": (0.5, 2.0)}, "q is 2.0"),
        ({"q": np.array([0.5, math.nan])}, "between 0 and 1"),
        ({"q": Fraction(1, 10**400)}, "between 0 and 1"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"bounds": (1.0, 0.0)}, "lower first"),
        ({"bounds": (1.0, 1.0)}, "lower first"),
        ({"bounds": (0.0, math.inf)}, "finite"),
        ({"bounds": (math.nan, 1.0)}, "finite"),
        ({"bounds": 5}, "two finite"),
        ({"bounds": (1, 2, 3)}, "two finite"),
        ({"bounds": "ab"}, "two finite"),
        ({"bounds": (0, 10**400)}, "two finite"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 95}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"granularity": False}, "granularity"),
        ({"granularity": -1}, "granularity"),
        ({"granularity": math.nan}, "granularity"),
        ({"granularity": math.inf}, "granularity"),
        ({"granularity": 1e305}, "granularity"),
        ({"granularity": "1"}, "granularity"),
        ({"granularity": 11, "bounds": (0, 10)}, "apart"),
        ({"missing": math.nan}, "missing"),
        ({"missing": math.inf}, "missing"),
        ({"missing": None}, "missing"),
        ({"guaranteed": True, "confidence": None}, "confidence"),
    ],
)
def test_bad_parameters_are_our_errors_before_any_draw(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Quantile(**{"q": 0.5, "epsilon": 1.0} | bad)


def test_bad_columns_are_our_errors() -> None:
    for rows in ("text", 5, np.zeros((3, 2)), {"a": 1}):
        with pytest.raises(BadInput):
            Quantile(0.5, 1.0).release(rows, Seeded(0))


def test_parameters_may_come_in_other_clothes() -> None:
    bounds: Any = np.array([0, 5])
    dressed = Quantile(np.array([0.25, 0.5]), Fraction(1), bounds=bounds, confidence=np.float64(0.9), granularity=1)
    assert dressed.q == (0.25, 0.5)
    assert dressed.bounds == (0.0, 5.0)
    assert hash(dressed) == hash(replace(dressed))
    rows = np.random.default_rng(1).integers(0, 6, size=900)
    release = dressed.release(rows, Seeded(1))
    assert set(release.interval(0.9).low) <= {0.0, 1.0, 2.0}
    release.to_json()


@pytest.mark.claim("quantile.4")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_a_value_that_many_share_is_found_between_bounds(relation: Neighbours) -> None:
    """Six in ten are 0, so the median is 0 but for a chance of 1e-12 in each of ten samples."""
    mechanism = Quantile(0.5, 4.0, bounds=(0, 1e5), confidence=0.95, granularity=1, neighbours=relation)
    for seed in range(10):
        people = np.random.default_rng(seed)
        costs = np.where(people.random(1000) < 0.6, 0.0, np.round(people.lognormal(7, 1, 1000)))
        interval = mechanism.release(costs, Seeded(seed)).interval()
        assert interval.low == 0 <= interval.high <= 1


def test_the_most_extreme_parameters_are_refused_in_words() -> None:
    for q, confidence in ((1e-17, 0.95), (1 - 1e-12, 0.95), (0.5, 1 - 2**-53)):
        with pytest.raises(BadInput, match="between"):
            Quantile(q, 1.0, confidence=confidence)


ORDINARY: dict[str, Callable[[Any], Floats]] = {
    "round(N(50.3, 10))": lambda g: np.rint(g.normal(50.3, 10, 2000)),
    "grades": lambda g: g.choice([1.0, 2, 3, 4, 5], 2000, p=[0.1, 0.2, 0.35, 0.25, 0.1]),
    "a rare flag": lambda g: (g.random(2000) < 0.05) * 1.0,
    "a constant": lambda g: np.full(2000, 7.0) + 0 * g.random(),
    "years of education": lambda g: g.choice([8.0, 10, 12, 14, 16, 18], 2000, p=[0.1, 0.1, 0.45, 0.1, 0.15, 0.1]),
    "logarithms of counts": lambda g: np.log1p(g.poisson(4, 2000)),
    "many zeros": lambda g: np.where(g.random(2000) < 0.6, 0.0, g.lognormal(3, 1, 2000)),
}


@pytest.mark.claim("quantile.4")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_columns_with_nothing_declared(name: str, relation: Neighbours) -> None:
    """Fixed seeds; of 24 intervals at 95% 4 would miss once in 50 times, and ties make misses rarer."""
    truth = np.quantile(np.concatenate([ORDINARY[name](np.random.default_rng([1, k])) for k in range(100)]), 0.5)
    hits, widths = 0, []
    for run in range(24):
        epsilon = 1.0 if run % 2 else 0.3
        rows = ORDINARY[name](np.random.default_rng([2, run]))
        interval = Quantile(0.5, epsilon, neighbours=relation).release(rows, Seeded(run)).interval()
        hits += bool(interval.low <= truth <= interval.high)
        widths.append(interval.high - interval.low)
    assert hits >= 22
    assert np.median(widths) <= 4


@pytest.mark.claim("quantile.4")
@pytest.mark.parametrize("granularity", [None, 100.0])
def test_wide_bounds_do_not_draw_far_quantiles_to_them(granularity: float | None) -> None:
    """Seven values, nobody in the upper four fifths: of 60 intervals at most 12 may miss, by chance below 1e-6."""
    values = np.repeat([2500.0, 7500, 15000, 35000, 75000, 125000, 200000], [160, 495, 770, 750, 270, 90, 76])
    mechanism = Quantile(0.99, 1.0, bounds=(0.0, 1e6), confidence=0.95, granularity=granularity)
    found = [mechanism.release(values, Seeded(seed)).interval(0.95) for seed in range(60)]
    assert sum(not (one.low <= 200_000 <= one.high) for one in found) <= 12
    assert sum(one.low > 200_000 for one in found) <= 3  # a draw beyond all records: e^-5 at most


@pytest.mark.claim("quantile.4")
def test_a_group_with_ties_is_held_beside_groups_without() -> None:
    """What values are rounded to is found within each group: half zeros in one, none in the others."""
    people = np.random.default_rng(3)
    test = Quantile(0.5, epsilon=1.0, neighbours=Neighbours.ADD_OR_REMOVE)
    held = []
    for run in range(40):
        zeros = np.where(people.random(250) < 0.55, 0.0, people.normal(40.0, 5.0, 250))
        parts = [zeros, *(people.normal(40.0 + place, 5.0, 250) for place in range(4))]
        bars = [one.interval() for one in by_group(test, parts, Seeded(run))]
        held.append([bar.low <= true <= bar.high for bar, true in zip(bars, (0, 40, 41, 42, 43), strict=True)])
        assert all(bar.high - bar.low < 100 for bar in bars)
    assert np.mean(held, axis=0).min() >= 0.85


@pytest.mark.claim("quantile.6")
def test_an_interval_with_both_ends_drawn_by_chance_is_refused() -> None:
    prices = 1.5 + np.arange(1537) ** 2 % 41 / 34  # values that many share, on no grid
    found = [Quantile(0.5, 0.15).release(prices, Seeded(seed)) for seed in range(60)]
    refused = [one.refusal for one in found if one.refusal is not None]
    assert refused
    assert all("both ends of the interval were drawn by chance" in why for why in refused)
    assert all(1.5 <= one.value <= 2.8 for one in found if one.refusal is None)
