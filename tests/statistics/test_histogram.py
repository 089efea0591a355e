"""Histograms on public bins: how entries find their bin, and the noisy counts."""

import datetime
import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import audit, histogram
from discreet.accounting.compose import epsilon as epsilon_of
from discreet.accounting.compose import implies
from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.privacy.values import Counts, label
from discreet.statistics.histogram import Categories, Edges, Histogram, counts

BOTH = list(Neighbours)
LABELS = Categories.of(["a", "b"])


@pytest.mark.claim("histogram.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.study)])
def test_small_pairs_laplace(relation: Neighbours, step: int) -> None:
    """All pairs of up to three rows as a study; one in seven, over all of them, in each run."""
    audit.check(Histogram(LABELS, 1.0, neighbours=relation), audit.labels(relation, 3)[::step]).require()
    bins = Histogram(Edges.of([0, 1, 2]), 1.0, neighbours=relation)
    audit.check(bins, audit.numbers(relation, 3)[::step]).require()


@pytest.mark.claim("histogram.2")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_gaussian(relation: Neighbours) -> None:
    mechanism = Histogram(LABELS, 1.0, 1e-6, noise="gaussian", neighbours=relation)
    audit.check(mechanism, audit.labels(relation, 3)[:400]).require()


@pytest.mark.claim("histogram.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-5), (1e-4, 1e-6), (10.0, 1e-6)])
def test_gaussian_noise_is_calibrated_and_not_wasted(relation: Neighbours, epsilon: float, delta: float) -> None:
    mechanism = Histogram(LABELS, epsilon, delta, noise="gaussian", neighbours=relation)
    assert isinstance(mechanism.loss, Gaussian)
    assert implies(mechanism.loss, mechanism.guarantee)
    assert epsilon_of(mechanism.loss, delta) >= 0.999 * epsilon
    mechanism.release(["a"] * 1000, Seeded(1))


@pytest.mark.claim("histogram.1")
def test_the_lecture_scale_is_wrong_under_replace() -> None:
    """Scale 1/epsilon on counts that move by 2: the exact hockey stick at epsilon = 1 is 0.338, not 0."""
    a = math.exp(-1.0)
    ks = np.arange(-60, 61)
    distribution = (1 - a) / (1 + a) * a ** np.abs(ks)
    moved = np.concatenate([[0.0], distribution[:-1]])
    joint, other = np.outer(distribution, distribution), np.outer(moved, np.concatenate([distribution[1:], [0.0]]))
    assert np.maximum(joint - math.e * other, 0).sum() == pytest.approx(0.338, abs=1e-3)
    assert Histogram(LABELS, 1.0).sensitivity == 2
    assert Histogram(LABELS, 1.0, neighbours=Neighbours.ADD_OR_REMOVE).sensitivity == 1


@pytest.mark.study
@pytest.mark.claim("histogram.1")
def test_outputs_reach_most_of_epsilon_and_no_more() -> None:
    told = audit.distinguish(
        Histogram(LABELS, 1.0),
        ["a"] * 30 + ["b"] * 30,
        ["a"] * 29 + ["b"] * 31,
        runs=20_000,
        seed=3,
    )
    assert not told.violated
    assert told.epsilon > 0.6


@pytest.mark.claim("histogram.3")
def test_bands() -> None:
    assert LaplaceDistribution(laplace_scale(2, 1)).radius(0.95, 100) == 15
    rows, truth = ["a"] * 50 + ["b"] * 70 + ["c"] * 5, np.array([50, 70])
    for mechanism in (Histogram(LABELS, 0.5), Histogram(LABELS, 0.5, 1e-6, noise="gaussian")):
        seen = audit.coverage(lambda i, m=mechanism: (m.release(rows, Seeded(i)), truth), runs=400)  # type: ignore[misc]
        assert seen.holds, str(seen)
    from statistics import NormalDist

    each = 1 - 2 * NormalDist().cdf(-(GaussianDistribution(10.0).radius(0.95, 20) + 0.5) / 10)
    assert each**20 >= 0.95


@pytest.mark.claim("histogram.3")
@pytest.mark.parametrize(("epsilon", "bins"), [(0.1, 1), (1.0, 7), (2.0, 1000)])
def test_theorem_1_1_of_whole_numbers(epsilon: float, bins: int) -> None:
    """The lecture's bound is for continuous noise: in whole numbers it holds for more than t, not for t or more."""
    scale = laplace_scale(2, epsilon)
    a, noise = math.exp(-1 / float(scale)), LaplaceDistribution(scale)
    for t in (5, 20, 60):  # as if t = (2 / epsilon) ln(bins / miss), whole
        miss = bins * a**t
        or_more, more = (bins * 2 * a**end / (1 + a) for end in (t, t + 1))
        assert or_more > miss >= more
        if 1e-12 < miss < 0.5:
            assert noise.radius(1 - miss, bins) <= t
        if 1e-12 < or_more < 0.5:
            assert noise.radius(1 - or_more, bins) <= t  # its bound is t - 1, but for rounding


def test_what_it_shows() -> None:
    release = histogram(
        ["a", "b", "a", "zebra", None], epsilon=1e6, categories=["a", "b"], missing="keep", rng=Seeded(0)
    )
    assert release.value.bins == ("a", "b")
    assert release.value.counts.tolist() == [2, 1]
    assert release.value.other == 2
    assert release.value["a"] == 2
    assert release.value.shares.tolist() == [0.4, 0.2]
    with pytest.raises(BadInput, match="zebra"):
        release.value["zebra"]
    ages = histogram([5, 15, 15, 25, math.nan, 20], epsilon=1e6, edges=[0, 10, 20], missing="keep", rng=Seeded(0))
    assert ages.value.counts.tolist() == [1, 3]
    assert ages.value.other == 2
    assert str(ages).splitlines()[2].split()[:4] == ["0", "to", "10", "1"]
    assert '"counts"' in ages.to_json()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 0, "categories": ["a"]}, "epsilon"),
        ({"epsilon": 1, "delta": 0.02, "categories": ["a"]}, "delta"),
        ({"epsilon": 1, "delta": -1e-9, "categories": ["a"]}, "delta"),
        ({"epsilon": 1, "categories": ["a"], "edges": [0, 1]}, "two of categories, edges and width"),
        ({"epsilon": 1, "categories": "abc"}, "text"),
        ({"epsilon": 1, "categories": ["a"], "noise": "gaussian"}, "delta"),
        ({"epsilon": 1, "categories": ["a"], "noise": "cauchy"}, "noise"),
        ({"epsilon": 1, "delta": 1e-3, "noise": "gaussian"}, "noise"),
        ({"epsilon": 1, "categories": ["a"], "neighbours": "swap"}, "neighbours"),
        ({"epsilon": 1, "categories": ["a"], "unit": ""}, "unit"),
    ],
)
def test_bad_input(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        histogram(["a", "b"] * 5, **arguments)


def test_no_rows_are_refused_where_their_number_is_public() -> None:
    with pytest.raises(BadInput, match="empty"):
        histogram([], epsilon=1.0, categories=["a"], neighbours="replace", missing="keep")
    assert histogram([], epsilon=1.0, categories=["a"]).value.counts.size == 1


def test_a_large_delta_is_refused_by_the_public_size_or_the_public_ceiling() -> None:
    rows = ["a"] * 1000
    public: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}
    histogram(rows, epsilon=1.0, delta=1e-4, categories=["a"], noise="gaussian", **public)
    with pytest.raises(BadInput, match="outright"):
        histogram(rows, epsilon=1.0, delta=1.1e-4, categories=["a"], noise="gaussian", **public)
    with pytest.raises(BadInput, match="private here"):
        histogram(rows, epsilon=1.0, delta=2e-4, categories=["a"], noise="gaussian", neighbours="add_or_remove")


def test_counts_by_name() -> None:
    day = datetime.date(2020, 1, 1)
    tally = histogram([b"a", day, day, ("x", 1)], epsilon=1e6, categories=[b"a", day, ("x", 1)], rng=Seeded(0)).value
    assert (tally[b"a"], tally[day], tally[("x", 1)]) == (1, 2, 1)
    assert str(tally) == "b'a': 1, 2020-01-01: 2, x, 1: 1"
    ages = histogram([5, 15, 15], epsilon=1e6, edges=[0, 10, 20], rng=Seeded(0)).value
    assert ages[(0, 10)] == ages[(0.0, 10.0)] == 1
    with pytest.raises(BadInput, match="0 to 10"):
        ages[(0, 20)]


def test_labels_are_one_line() -> None:
    assert [label(one) for one in (None, "a", (0.0, 1.5), ("a", 1), 0, "")] == [
        "missing",
        "a",
        "0 to 1.5",
        "a, 1",
        "0",
        "",
    ]
    assert "\n" not in label("a\nepsilon 0")
    assert "\x1b" not in label("\x1b[2J")
    assert str(Counts((), np.empty(0, dtype=np.int64), threshold=14)) == "no bin reached the threshold of 14"


@pytest.mark.claim("histogram.4")
def test_every_odd_entry_is_in_exactly_one_bin() -> None:
    for bins in (Categories.of(["a", 1, True]), Edges.of([0, 1, 2])):
        found = counts(bins, [*HOSTILE, *THORNS])
        assert found.sum() == len(HOSTILE) + len(THORNS)
        assert len(found) == len(bins) + 1


@pytest.mark.claim("histogram.4")
@given(st.lists(st.floats()), st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6, unique=True))
def test_edges_by_their_definition(values: list[float], edges: list[float]) -> None:
    edges = sorted(edges)
    found = Edges.of(edges).indices(np.array(values, dtype=float))
    for value, index in zip(values, found.tolist(), strict=True):
        expected = len(edges) - 1
        for place in range(len(edges) - 1):
            last = place == len(edges) - 2
            if edges[place] <= value < edges[place + 1] or (last and value == edges[-1]):
                expected = place
        assert index == expected


@pytest.mark.claim("histogram.4")
@pytest.mark.parametrize("listed", [["a", "b"], [1, 2, 3], [True, False], [1.5, 2.0], [None, "a"]])
def test_arrays_and_lists_agree(listed: list[Any]) -> None:
    bins = Categories.of(listed)
    entries = [*listed, *listed[:1]] * 3
    assert counts(bins, entries)[:-1].tolist() == [6, *([3] * (len(listed) - 1))]
    if None not in listed:
        assert counts(bins, np.array(entries)).tolist() == counts(bins, entries).tolist()


def test_categories_are_not_mixed_up() -> None:
    bins = Categories.of([1, "1", True, 1.5])
    assert counts(bins, [1, 1.0, "1", "1", True, True, True, 1.5, 2]).tolist() == [2, 2, 3, 1, 1]
    assert bins.names == (1, "1", True, 1.5)
    with pytest.raises(BadInput, match="more than once"):
        Categories.of([1, 1.0])


def test_bad_bins() -> None:
    for bad in ([], [1], [2, 1], [0, math.nan], [0, "1"], [0, 0, 1], [0, math.inf]):
        with pytest.raises(BadInput, match="edges"):
            Edges.of(bad)
    with pytest.raises(BadInput, match="empty"):
        Categories.of([])
    with pytest.raises(BadInput, match="more than once"):
        Categories.of(["a", "b", "a"])


@pytest.mark.claim("histogram.4")
@pytest.mark.parametrize(
    "edges",
    [
        *([0, 1], [0, 0.1, 0.2, 0.3, 1], [-5e-324, 0, 5e-324, 1e300], list(range(101)), [0, 1e-9, 1]),
        *([0, 5e-324], [-1.7e308, 0, 1.7e308], [*(10.0**k for k in range(-300, 300))]),  # no spacing in the floats
    ],
)
def test_the_compiled_pass_counts_the_same(edges: list[float]) -> None:
    from discreet._compiled.column_kernels import counts_between

    rng = np.random.default_rng(1)
    odd = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e300, 1.7e308, -1.7e308]
    around = [float(np.nextafter(edge, side)) for edge in edges for side in (-math.inf, math.inf)]
    spread = rng.uniform(-1, 2, 5000), rng.uniform(-10, 110, 5000), 10.0 ** rng.uniform(-320, 300, 5000)
    values = np.concatenate([odd, edges, around, *spread])
    bins = Edges.of(edges)
    plain = np.bincount(bins.indices(values), minlength=len(bins) + 1)
    assert counts_between(values, np.array(bins.edges)).tolist() == plain.tolist()


@pytest.mark.claim("histogram.4")
def test_minus_zero_is_zero_whoever_comes_first() -> None:
    for kind in (np.float32, np.float64, np.longdouble):
        for entries in ([0.0, -0.0, 0.0], [-0.0, 0.0, 0.0]):
            assert counts(Categories.of([0]), np.array(entries, dtype=kind)).tolist() == [3, 0]


def test_rows_that_can_be_read_only_once() -> None:
    assert counts(Edges.of([0, 1, 2]), (number for number in (0.5, 1.5, 1.7))).tolist() == [1, 2, 0]


def test_the_size_alone_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numba is missing or broken, large columns are counted without it."""
    monkeypatch.setattr("discreet.statistics.histogram.LARGE", 2)
    monkeypatch.setitem(sys.modules, "discreet._compiled.column_kernels", None)
    assert counts(Edges.of([0, 1, 2]), [0.5, 1.5, 1.7]).tolist() == [1, 2, 0]


def test_categories_keep_their_names() -> None:
    listed = [b"a", ("a", 1), datetime.date(2020, 1, 1), 1.0, None]
    bins = Categories.of(listed)
    assert bins.names == tuple(listed)
    assert counts(bins, [*listed, b"a"]).tolist() == [2, 1, 1, 1, 1, 0]
    assert Categories.of(np.array([1, 2])).names == (1, 2)


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_entries_that_numpy_makes_on_the_way_are_told_apart(unit: str) -> None:
    days = np.arange(300).astype("datetime64[D]").astype(f"datetime64[{unit}]")
    listed = Categories.of(list(days[::3]))
    assert listed.indices(days).tolist() == [k // 3 if k % 3 == 0 else 100 for k in range(300)]


def test_one_object_many_times_is_in_one_bin() -> None:
    one, other, strange = "a" * 40, ("b", 1), object()
    bins = Categories.of([one, other])
    rows = np.empty(9, dtype=object)
    rows[:] = [one, other, strange] * 3
    assert bins.indices(rows).tolist() == [0, 1, 2] * 3


def test_bins_that_are_no_list() -> None:
    for bad in (5, "abc", b"abc"):
        with pytest.raises(BadInput, match="categories"):
            Categories.of(bad)
        with pytest.raises(BadInput, match="edges"):
            Edges.of(bad)
    with pytest.raises(BadInput, match="as floats"):
        Edges.of([2**53, 2**53 + 1])
    with pytest.raises(BadInput, match="more than once"):
        Categories.of([*range(50_000), 7])  # and at once, however long the list
