"""Gram matrices: frames, exact sums, the sensitivity of every small pair, noise as declared."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.additive import Blur
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stages import gram
from discreet.stages.gram import (
    BESIDE,
    BITS,
    DIAGONAL,
    ENTRY,
    Frame,
    Shape,
    blocks,
    first_moments,
    fitting_bits,
    gram_cost,
    gram_sensitivity,
    lengths,
    longest,
    moments,
    noisy_gram,
    noisy_sum,
    steps_of,
    sum_cost,
    sum_sensitivity,
)
from discreet.statistics.free_covariance import Fourths
from discreet.tables.streams import Stream

SHAPES: tuple[Shape, ...] = ("clip", "taper", "sphere")
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
VALUES = (0.0, 1.0, -1.0, 2.0, 0.7071, 1e-9, 1e6, -1e300, math.inf, -math.inf, math.nan)
SMALL = np.array(list(product(VALUES, repeat=2)))


def frames() -> list[Frame]:
    rng = np.random.default_rng(3)
    return [
        Frame.of(np.ones(2), np.eye(2)),
        Frame.of(np.array([1e-3, 7.0]), rng.normal(size=(2, 2)), np.array([1.0, -2.0])),
    ]


def square(weighted: bool, left: Any, right: Any, less: Any = ((0, 0), (0, 0))) -> int:
    """The squared distance of two rows' Gram matrices, of the weighted upper triangle or in Frobenius norm."""
    moved = [[a * b - c * d for b, d in zip(left, right, strict=True)] for a, c in zip(left, right, strict=True)]
    moved = [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(moved, less, strict=True)]
    size = len(moved)
    if not weighted:
        return sum(entry * entry for row in moved for entry in row)
    return sum((DIAGONAL if i == j else BESIDE) ** 2 * moved[i][j] ** 2 for i in range(size) for j in range(i, size))


@pytest.mark.claim("gram.2")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bits", [8, BITS])
def test_every_pair_of_small_rows(shape: Shape, bits: int) -> None:
    """Sums are of rows: what one row can do is what two rows can differ by. In whole numbers of Python's."""
    most = longest(2, bits)
    for place, frame in enumerate(frames()):
        rows = [[int(entry) for entry in row] for row in steps_of(SMALL, frame, 1.0, shape, bits).T]
        assert all(a * a + b * b <= most**2 for a, b in rows)
        worst = {"frobenius": 0, "weighted": 0, "sum": 0}
        for left, right in product(rows, repeat=2):
            worst["frobenius"] = max(worst["frobenius"], square(False, left, right))
            worst["weighted"] = max(worst["weighted"], square(True, left, right))
            worst["sum"] = max(worst["sum"], sum((a - b) ** 2 for a, b in zip(left, right, strict=True)))
        assert worst["frobenius"] <= 2 * most**4
        assert worst["weighted"] <= gram_sensitivity(2, bits, REPLACE) ** 2
        assert worst["sum"] * 4**bits <= sum_sensitivity(2, bits, REPLACE) ** 2
        nothing = [0, 0]
        assert max(square(True, row, nothing) for row in rows) <= gram_sensitivity(2, bits, ADD) ** 2
        assert max(a * a + b * b for a, b in rows) * 4**bits <= sum_sensitivity(2, bits, ADD) ** 2
        for off in (1, most**2 // 9, most**2 // 2, 3 * most**2):
            unit = [[off, 0], [0, off]]
            largest = max(square(True, row, nothing, unit) for row in rows)
            assert largest <= gram_sensitivity(2, bits, ADD, off) ** 2
            if shape == "clip" and place == 0:
                assert largest > 0.95 * float(gram_sensitivity(2, bits, ADD, off)) ** 2
            assert gram_sensitivity(2, bits, REPLACE, off) == gram_sensitivity(2, bits, REPLACE)
            for columns in (1, 2, 9):
                assert 2 * gram_sensitivity(columns, bits, ADD, off) >= gram_sensitivity(columns, bits, ADD)
        if shape != "taper" and place == 0:  # and the claim is not idle
            assert worst["weighted"] > 0.95 * float(gram_sensitivity(2, bits, REPLACE)) ** 2


@pytest.mark.claim("gram.2")
def test_long_rows_of_many_columns() -> None:
    rng = np.random.default_rng(5)
    for size in (3, 30, 300):
        rows = rng.normal(size=(200, size)) * 10.0 ** rng.uniform(-8, 8, size=(200, 1))
        frame = Frame.of(np.ones(size), np.eye(size) + 0.1 * rng.normal(size=(size, size)))
        for shape in SHAPES:
            steps = steps_of(rows, frame, 2.0, shape).astype(np.int64)
            assert (steps * steps).sum(axis=0).max() <= longest(size, BITS) ** 2


@pytest.mark.claim("gram.1")
@pytest.mark.parametrize("shape", SHAPES)
def test_order_blocks_and_threads_change_nothing(shape: Shape) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9000, 6)) * 3
    rows[::97] = math.inf
    rows[5::501, 2] = math.nan
    frame = Frame.of(np.ones(6), rng.normal(size=(6, 6)), rng.normal(size=6))
    whole = moments(rows, frame, 2.5, shape)
    slow = steps_of(rows, frame, 2.5, shape).astype(np.int64)
    assert (whole.second == slow @ slow.T).all()  # integers, no linear algebra library
    assert (whole.first == slow.sum(axis=1)).all()
    shuffled = moments(np.asfortranarray(rows[rng.permutation(len(rows))]), frame, 2.5, shape)
    parts = [*np.array_split(rows, 7), rows[:0]][::-1]

    def remote(kernel: Any, merge: Any) -> Any:
        return reduce(merge, [kernel(iter(parts[:3])), kernel(iter(())), kernel(iter(parts[3:]))])

    there = Stream(len(rows), lambda: iter(parts), remote=remote)
    for other in (shuffled, moments(there, frame, 2.5, shape)):
        assert (other.second == whole.second).all()
        assert (other.first == whole.first).all()
    assert (first_moments(there, frame, 2.5, shape) == whole.first).all()
    assert (
        np.concatenate(list(lengths(there, frame))).tolist()
        == np.asarray(lengths(np.concatenate(parts), frame)).tolist()
    )


def test_shapes() -> None:
    frame, one = Frame.of(np.ones(2), np.eye(2)), 2.0**BITS
    rows = np.array([[0.5, 0.0], [1.5, 0.0], [0.0, 3.0], [math.inf, 0.0], [math.nan, 0.0], [0.0, 0.0]])
    expected: dict[str, Any] = {
        "clip": [[0.5, 0], [1, 0], [0, 1], [1, 0], [0, 0], [0, 0]],
        "taper": [[0.5, 0], [0.5, 0], [0, 0], [0, 0], [0, 0], [0, 0]],
        "sphere": [[1, 0], [1, 0], [0, 1], [1, 0], [0, 0], [0, 0]],
    }
    for shape in SHAPES:
        assert np.allclose(steps_of(rows, frame, 1.0, shape).T / one, expected[shape], atol=1e-4)
    with pytest.raises(BadInput, match="radius"):
        moments(rows, frame, 0.0, "clip")


@pytest.mark.claim("gram.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_the_noise_is_what_was_paid_for(relation: Neighbours) -> None:
    """500 draws of three entries: a standard deviation off by 12% fails; by chance, at 6.5 sigma, hardly ever."""
    size, mu = 3, Fraction(1, 2)
    rows, frame = np.zeros((2, size)), Frame.of(np.ones(size), np.eye(size))
    cost, plain = gram_cost(mu, size, relation), sum_cost(mu, size, relation)
    door = Recorder(Seeded(1))
    grams, sums = [], []
    for _ in range(500):
        gram, noise = noisy_gram(rows, frame, 1.0, "clip", cost=cost, neighbours=relation, rng=door)
        total, spread = noisy_sum(rows, frame, 1.0, "clip", cost=plain, neighbours=relation, rng=door)
        grams.append(gram)
        sums.append(total)
    assert (np.array(grams) == np.array(grams).swapaxes(1, 2)).all()
    expected = (math.sqrt(2) if relation is REPLACE else 1.0) / float(mu)
    assert abs(noise / expected - 1) < 1e-3
    drawn = np.array(grams)
    assert abs(np.diagonal(drawn, axis1=1, axis2=2).std() / noise - 1) < 0.12
    beside = drawn[:, *np.triu_indices(size, 1)]
    assert abs(beside.std() / (noise * DIAGONAL / BESIDE) - 1) < 0.12
    assert abs(np.array(sums).std() / spread - 1) < 0.12
    assert DIAGONAL**2 * 2 >= BESIDE**2
    blurs = [request for request, _ in door.log if isinstance(request, Blur)]
    assert {request.loss for request in blurs} == {cost, plain}


@pytest.mark.claim("gram.2")
def test_a_number_is_taken_off_each_row_exactly() -> None:
    rows, frame, mu = np.random.default_rng(0).normal(size=(50, 2)), Frame.of(np.ones(2), np.eye(2)), Fraction(64)
    cost = gram_cost(mu, 2, ADD, less=True)

    def asked(less: float) -> tuple[Any, Any]:
        door = Recorder(Seeded(1))
        noisy_gram(rows, frame, 2.0, "clip", cost=cost, neighbours=ADD, rng=door, less=less)
        request: Any = door.log[0][0]
        return request.values, request.sensitivity

    (whole, most), (centred, moved) = asked(0.0), asked(0.3)
    taken = DIAGONAL * len(rows) * round(Fraction(3, 10) * 4**BITS)
    assert (np.asarray(whole) - np.asarray(centred)).tolist() == [taken, 0, taken]
    assert 0.5 * most < moved < 0.8 * most


def test_small_budgets_get_wider_steps() -> None:
    assert fitting_bits(Fraction(1, 2), 5) == BITS
    for mu in (Fraction(1, 10**5), Fraction(1, 10**6)):
        bits = fitting_bits(mu, 5)
        assert 8 <= bits < BITS
        assert 2**20 < gram_sensitivity(5, bits, REPLACE) / mu <= 2**50
        noisy_gram(
            np.zeros((1, 5)),
            Frame.of(np.ones(5), np.eye(5)),
            1.0,
            "clip",
            cost=gram_cost(mu, 5, REPLACE),
            neighbours=REPLACE,
            rng=Seeded(0),
        )


ODD = (0.0, 1.0, -2.5, 5e-324, 1e-300, 1e6, 1e300, math.inf, -math.inf, math.nan)


def frame_of(size: int, seed: int = 0, spread: float = 3.0) -> Frame:
    rng = np.random.default_rng(seed)
    units, turn = np.exp(spread * rng.normal(size=size)), rng.normal(size=(size, size))
    return Frame.of(units, turn, 10 * rng.normal(size=size))


@pytest.mark.claim("gram.4")
@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_the_product_is_exact(size: int) -> None:
    """Against whole numbers of Python's, with entries at their largest."""
    frame, rng = frame_of(size), np.random.default_rng(1)
    rows = frame.centre + rng.normal(size=(50, size)) / frame.per * 2.0 ** rng.integers(0, 40, size=(50, size))
    seen, lost = frame.turned(rows)
    assert lost is None
    entries = np.clip(np.rint((rows - frame.centre) * frame.per), -(2**ENTRY), 2**ENTRY)
    assert np.abs(entries).max() == 2**ENTRY
    for row, column in zip(entries.tolist(), seen.T.tolist(), strict=True):
        for turn, found in zip(frame.whole.tolist(), column, strict=True):
            assert sum(int(a) * int(b) for a, b in zip(turn, row, strict=True)) == int(found)
    most = int(np.abs(frame.whole).max()) * 2**ENTRY * size
    assert most <= 2**53


@pytest.mark.claim("gram.4")
@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(ODD), st.sampled_from(ODD)), min_size=1, max_size=9), st.integers(0, 3))
def test_a_row_does_not_see_the_others(rows: list[Any], seed: int) -> None:
    frame, table = frame_of(2, seed), np.array(rows)
    seen, lost = frame.turned(table)
    gone = np.zeros(len(table), dtype=bool) if lost is None else lost
    plain = frame.plain(table)
    for place, row in enumerate(table):
        alone, missing = frame.turned(row[None])
        assert (alone[:, 0] == seen[:, place]).all()
        assert (missing is not None and bool(missing[0])) == gone[place] == bool(np.isnan(row).any())
        assert np.array_equal(frame.plain(row[None])[0], plain[place], equal_nan=True)
    turned, _ = frame.turned(np.asfortranarray(table[::-1]))
    assert (turned[:, ::-1] == seen).all()


def test_there_and_back() -> None:
    frame = frame_of(4)
    rows = frame.centre + np.random.default_rng(2).normal(size=(20, 4)) * 2.0**20 / frame.per
    seen, _ = frame.turned(rows)
    assert np.allclose(seen * frame.step, frame.matrix @ (rows - frame.centre).T, atol=1e-4)
    assert np.allclose(frame.back(frame.matrix @ (rows[0] - frame.centre)), rows[0] - frame.centre)
    assert np.allclose(frame.matrix @ frame.back(np.eye(4)), np.eye(4))
    moved = frame.at(rows[0])
    assert (moved.turned(rows[:1])[0] == 0).all()
    assert np.allclose(frame.plain(rows), rows @ frame.matrix.T)


def test_blocks_are_all_rows() -> None:
    rows = np.arange(30_000.0).reshape(-1, 3)
    assert (np.concatenate(list(blocks(rows, 3))) == rows).all()
    assert max(len(part) for part in blocks(rows, 3)) <= 2**13


@pytest.mark.claim("gram.1")
@pytest.mark.claim("gram.4")
@pytest.mark.parametrize("led", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_passes_give_the_same_integers(shape: Shape, led: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of all sizes, missing ones among them, in a number that fills no block: compiled, and in plain numpy."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(1031, 5)) * 10.0 ** rng.uniform(-9, 9, size=(1031, 1))
    rows[::17, 2], rows[::19, 3], rows[::23, 0], rows[5] = math.nan, math.inf, -math.inf, 0.0
    size = 5 + led
    frame = Frame.of(10.0 ** rng.uniform(-2, 2, size), rng.normal(size=(size, size)), rng.normal(size=size), led=led)
    pairs = Fourths(Frame.of(np.ones(5), np.eye(5)))

    def passes() -> list[Any]:
        both = moments(rows, frame, 2.5, shape)
        first = [first_moments(rows, seen, 2.5, shape) for seen in (frame, pairs)]
        return [lengths(rows, frame), both.first, both.second, *first, lengths(rows, pairs)]

    plain = passes()
    monkeypatch.setattr(gram, "LARGE", 1)
    for mine, other in zip(passes(), plain, strict=True):
        assert (mine == other).all()
    assert plain[2].any()
    if led:  # as if the constant were a column
        whole, alone = np.column_stack([np.ones(len(rows)), rows]), replace(frame, led=False)
        assert (moments(whole, alone, 2.5, shape).second == plain[2]).all()


def test_rows_of_another_width_are_not_read_beyond_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "LARGE", 1)
    with pytest.raises(ValueError, match="shorter"):
        lengths(np.ones((300, 2)), Frame.of(np.ones(3), np.eye(3)))
