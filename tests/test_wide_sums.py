"""Sums over more rows than an int64 holds: none wraps around. The rows are few; what they add is made large instead."""

from typing import Any

import numpy as np
import pytest

from discreet._compiled import column_kernels as fast_clip
from discreet.friendly import taper
from discreet.friendly.average import CUT, Lattice, blurred
from discreet.hypotheses import rank_tests as groups
from discreet.hypotheses import signed_tests as signed
from discreet.models import assign, score
from discreet.models.features import Prepared
from discreet.noise.additive import ROOM, slack, summed, total, whole
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian, Laplace
from discreet.stages import clip as clipped
from discreet.stages import gram
from discreet.stages.gram import Frame
from discreet.stages.locate import COARSE, FADE, faded
from discreet.tables.matrix import matrix
from discreet.tables.streams import Stream


@pytest.mark.claim("additive.4")
def test_sums_of_many_parts_are_exact() -> None:
    parts = [np.array([2**60 - 1, -(2**60), 1]) for _ in range(37)]
    assert summed(parts, (3,), 2**60).tolist() == [37 * (2**60 - 1), -37 * 2**60, 37]
    assert summed([], (2, 2), 1).tolist() == [[0, 0], [0, 0]]
    assert total(np.full(37, 2**60), 2**60) == 37 * 2**60
    assert total(np.empty(0, dtype=np.int64), 1) == 0
    assert whole(summed(parts, (3,), 2**60)).tolist() == [ROOM, -ROOM, 37]


@pytest.mark.claim("gram.1")
def test_gram_sums_do_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "SUMMED", 2**60)
    monkeypatch.setattr(gram, "blocks", lambda rows, _size: iter(rows[:, None]))
    monkeypatch.setattr(gram, "steps_of", lambda *_: np.array([[2.0**30]]))
    found = gram.moments(np.zeros((16, 1)), Frame.of(np.ones(1), np.eye(1)), 1.0, "clip")
    assert (found.first.tolist(), found.second.tolist()) == ([2**34], [[2**64]])
    held = np.array([2**62]), np.array([[2**62]])  # as a part of the rows has them, in an int64
    monkeypatch.setattr(gram, "_sums", lambda *_, **__: held)
    pieces = [np.zeros((1, 1))] * 4
    there = Stream(8, lambda: iter(()), remote=lambda kernel, merge: merge(kernel(iter(pieces)), kernel(iter(pieces))))
    found = gram.moments(there, Frame.of(np.ones(1), np.eye(1)), 1.0, "clip")
    assert (found.first.tolist(), found.second.tolist()) == ([2**65], [[2**65]])


@pytest.mark.claim("clip.2")
def test_compiled_sums_do_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    def pretended(values: Any, *_: Any) -> tuple[int]:
        return ((len(values) * 2**26 + 2**63) % 2**64 - 2**63,)

    monkeypatch.setattr(fast_clip, "total_steps", pretended)
    monkeypatch.setattr(clipped, "compiled", lambda: True)
    endless = np.broadcast_to(np.ones(1), (2**40,))
    assert clipped.exact_sums(endless, 0.0, 1.0) == (2**66,)
    both = clipped._parted(2**66, 26, size=2**40, signed=False, cost=Laplace(1), rng=Seeded(1))
    assert both[0] == pytest.approx(2**62 / 2**26, rel=1)  # saturated, not an error


@pytest.mark.claim("score.1")
def test_second_moments_do_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "SUMMED", 2**60)
    monkeypatch.setattr(score, "BLOCK", 1)
    rows = Prepared(np.full((16, 1), 2.0**45), np.ones(16), np.zeros(16), 1.0)
    rows = Prepared(np.full((16, 1), 2.0**28), np.ones(16), np.zeros(16), 1.0)
    assert score.moments(rows, None, np.zeros(1)).tolist() == [[2**64]]


@pytest.mark.claim("assign.2")
def test_cluster_sums_do_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    large = assign.Sums(np.array([1]), np.array([[2**60]]))
    monkeypatch.setattr(assign, "SUMMED", 2**60)
    monkeypatch.setattr(assign, "_sums", lambda *_, **__: large)
    rows = matrix([np.zeros((1, 1))] * 16)
    found = assign.cluster_sums(rows, assign.Ball(np.zeros(1), 1.0), np.zeros((1, 1)), 1, norm=2, centred=False)
    assert (found.counts.tolist(), found.sums.tolist()) == ([16], [[2**64]])
    held = np.array([[1, 2**62]])  # as a part of the rows has them, in an int64
    assert assign._merged(held, held).tolist() == [[2, 2**63]]


@pytest.mark.claim("taper.3")
def test_tapered_sums_do_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    large = np.array([2**62])
    monkeypatch.setattr(taper, "_sums", lambda *_: (large, large))
    found = taper.TaperSum(np.zeros(1), 1.0).add_all([np.zeros((1, 1))] * 4)
    assert found.merge(found).total.tolist() == [2**65]


@pytest.mark.claim("average.1")
def test_sums_beyond_an_int64_saturate() -> None:
    cost = Gaussian(1, slack(1, 2**36))
    for size in (2**62, 2**64, 2**80):
        noisy, _ = blurred(np.array([size], dtype=object), square=1, cost=cost, rng=Seeded(1))
        assert noisy[0] == pytest.approx(ROOM / 2**36, rel=1e-3)


@pytest.mark.claim("average.2")
def test_weighted_means_do_not_wrap() -> None:
    steps = np.array([[0], [CUT], [CUT], [CUT]])
    heavy = [2**42, 2**42, 2**42, 2**42]
    assert Lattice(2, 40).mean(steps, heavy).tolist() == [3 * CUT]


@pytest.mark.claim("locate.2")
@pytest.mark.parametrize("many", [1, 2**20, 2**40, 2**50])
def test_records_fade_alike_however_many(many: int) -> None:
    cells = (np.array([100, 103, 104]), np.array([many, 3, many + 1]))
    counts = {int(cell): int(count) for cell, count in zip(*cells, strict=True)}
    size = 2047 << COARSE
    beyond = [
        sum(count for cell, count in counts.items() if cell >= place) * 2**FADE
        + sum(counts.get(place - lag, 0) * 2 ** (FADE + 2 - 4 * lag) for lag in range(1, 8))
        for place in range(121)
    ]
    rounded = [(one + 2 ** (FADE - 1)) >> FADE for one in beyond]
    expected = {
        place: rounded[place] - rounded[place + 1] for place in range(120) if rounded[place] > rounded[place + 1]
    }
    found = faded(cells)
    assert dict(zip(found[0].tolist(), found[1].tolist(), strict=True)) == expected
    assert max(found[0]) < size


@pytest.mark.claim("rank_tests.2")
@pytest.mark.claim("signed_tests.2")
def test_rank_sums_add_pieces_that_an_int64_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(values: Any, most: int) -> int:
        seen.append(most)
        assert values.max(initial=0) <= most
        return total(values, most)

    for module in (groups, signed):
        monkeypatch.setattr(module, "total", watched)
    rng = np.random.default_rng(1)
    for sizes in ((1, 1), (3, 4, 5), (1, 7, 2, 2)):
        ranks = rng.permutation(sum(sizes)) + 1
        assert groups.exact_deviation(ranks, sizes) == groups.deviation(ranks[None, :], sizes)[0]
    values = rng.normal(size=50)
    expected = sum(rank for rank, place in enumerate(np.argsort(np.abs(values)), start=1) if values[place] > 0)
    assert signed.positive_ranks(values, np.zeros(50, dtype=bool), np.arange(50)) == expected
    assert groups.larger_pairs(np.array([3, 1, 2]), 1) == 2
    assert len(seen) == 2 + 3 + 4 + 2
