"""How an entry finds its bin."""

import datetime
import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput
from discreet.statistics.bins import Categories, Edges, counts


@pytest.mark.claim("bins.1")
def test_every_odd_entry_is_in_exactly_one_bin() -> None:
    for bins in (Categories.of(["a", 1, True]), Edges.of([0, 1, 2])):
        found = counts(bins, [*HOSTILE, *THORNS])
        assert found.sum() == len(HOSTILE) + len(THORNS)
        assert len(found) == len(bins) + 1


@pytest.mark.claim("bins.1")
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


@pytest.mark.claim("bins.1")
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


@pytest.mark.claim("bins.1")
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


@pytest.mark.claim("bins.1")
def test_minus_zero_is_zero_whoever_comes_first() -> None:
    for kind in (np.float32, np.float64, np.longdouble):
        for entries in ([0.0, -0.0, 0.0], [-0.0, 0.0, 0.0]):
            assert counts(Categories.of([0]), np.array(entries, dtype=kind)).tolist() == [3, 0]


def test_rows_that_can_be_read_only_once() -> None:
    assert counts(Edges.of([0, 1, 2]), (number for number in (0.5, 1.5, 1.7))).tolist() == [1, 2, 0]


def test_the_size_alone_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numba is missing or broken, large columns are counted without it."""
    monkeypatch.setattr("discreet.statistics.bins.LARGE", 2)
    monkeypatch.setitem(sys.modules, "discreet._compiled.column_kernels", None)
    assert counts(Edges.of([0, 1, 2]), [0.5, 1.5, 1.7]).tolist() == [1, 2, 0]


def test_categories_keep_their_names() -> None:
    listed = [b"a", ("a", 1), datetime.date(2020, 1, 1), 1.0, None]
    bins = Categories.of(listed)
    assert bins.names == tuple(listed)
    assert counts(bins, [*listed, b"a"]).tolist() == [2, 1, 1, 1, 1, 0]
    assert Categories.of(np.array([1, 2])).names == (1, 2)


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
