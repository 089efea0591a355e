import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise.distribution_checks import Constant, chi_square, log_ratios

from discreet.errors import BadInput
from discreet.noise.randomness import SeededSource
from discreet.noise.threshold import FirstAbove
from discreet.privacy.loss import Approximate

WIDE = settings(derandomize=True, database=None, deadline=None, max_examples=100)
Distribution = np.ndarray[Any, Any]


def tail(k: Distribution, scale: float) -> Distribution:
    """P(Z >= k)."""
    a = np.exp(-1 / scale)
    return np.asarray(np.where(k > 0, a ** np.maximum(k, 0) / (1 + a), 1 - a ** np.maximum(1 - k, 0) / (1 + a)))


def distribution(scores: tuple[int, ...], threshold: int, bar: float, each: float) -> Distribution:
    """P(index): sum over the noisy threshold."""
    y = np.arange(int(-60 * bar), int(60 * bar) + 1)
    chance = np.tanh(1 / (2 * bar)) * np.exp(-np.abs(y) / bar)
    found = []
    for score in scores:
        reaches = tail(threshold + y - score, each)
        found.append((chance * reaches).sum())
        chance = chance * (1 - reaches)
    return np.array([*found, chance.sum()])


def worst(epsilon: float, bar: float, each: float, sensitivity: int = 1) -> float:
    """The largest log ratio between neighbours of a small world."""
    distributions = {
        scores: distribution(scores, 3, bar, each) for scores in itertools.product(range(0, 7, sensitivity), repeat=3)
    }
    return max(
        float(np.abs(log_ratios(distributions[mine], distributions[other])).max())
        for mine, other in itertools.product(distributions, repeat=2)
        if max(abs(a - b) for a, b in zip(mine, other, strict=True)) <= sensitivity
    )


@pytest.mark.claim("threshold.1")
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.5, 1), (1.0, 1), (2.0, 1), (1.0, 2)])
def test_above_threshold_in_a_small_world(epsilon: float, sensitivity: int) -> None:
    bar, each = (float(s) for s in FirstAbove((0,), 3, sensitivity, Approximate(epsilon, 0))._scales())
    seen = worst(epsilon, bar, each, sensitivity)
    assert 0.5 * epsilon < seen <= epsilon * (1 + 1e-6)


@pytest.mark.claim("threshold.1")
def test_the_broken_variants_are_caught() -> None:
    assert worst(1.0, 2.0, 4.0) <= 1.0
    assert worst(1.0, 1.0, 2.0) > 1.0  # half of all the noise
    assert worst(1.0, 2.0, 1.0) > 1.0  # a quarter of the scores' noise
    assert worst(1.0, 2.0, 0.02) > 1.0  # no noise on the scores


@pytest.mark.claim("threshold.1")
def test_the_scales_are_two_and_four_times_the_rounded_up_sensitivity() -> None:
    for sensitivity, epsilon, bar in ((1, 1, 2), (Fraction(3, 2), Fraction(1, 2), 8), (Fraction(1, 9), 1, 2)):
        scales = FirstAbove((0,), 0, sensitivity, Approximate(epsilon, 0))._scales()
        assert scales == (Fraction(bar), Fraction(2 * bar))


@pytest.mark.claim("threshold.1")
@pytest.mark.parametrize(("scores", "threshold"), [((0, 2, 4), 3), ((-9, 1), 0), ((5,), 5)])
def test_above_threshold_has_its_distribution(scores: tuple[int, ...], threshold: int) -> None:
    source, request = SeededSource(13), FirstAbove(scores, threshold, 1, Approximate(1, 0))
    drawn = Counter(request.answer(source) for _ in range(3000))
    counts = [drawn[i] for i in range(len(scores) + 1)]
    assert chi_square(counts, distribution(scores, threshold, 2.0, 4.0)) > 1e-6
    assert chi_square(counts, distribution(scores, threshold + 2, 2.0, 4.0)) < 1e-6


@pytest.mark.claim("threshold.1")
def test_the_first_that_reaches_is_returned_and_all_noise_is_drawn() -> None:
    drawn: list[int] = []

    class Counting(Constant):
        def laplace(self, size: int, scale: Fraction) -> Any:
            drawn.append(size)
            return super().laplace(size, scale)

    for scores, index in (((5, 0, 5), 0), ((4, 5, 9), 1), ((0, 0, 0), 3)):
        drawn.clear()
        assert FirstAbove(scores, 5, 1, Approximate(1, 0)).answer(Counting(7)) == index
        assert drawn == [1, 3]


@pytest.mark.claim("threshold.1")
@WIDE
@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6), st.integers(-(2**70), 2**70))
def test_any_scores_are_answered(scores: list[int], threshold: int) -> None:
    for epsilon in (1e-9, 1.0, 1e6):
        index = FirstAbove(tuple(scores), threshold, 1, Approximate(epsilon, 0)).answer(SeededSource(1))
        assert 0 <= index <= len(scores)


@pytest.mark.claim("threshold.1")
def test_numpy_scores_at_the_end_of_an_int64_do_not_wrap() -> None:
    scores = tuple(np.array([2**63 - 1, -(2**63)]))
    assert FirstAbove(scores, np.int64(0), 1, Approximate(1, 0)).answer(Constant(2**40)) == 0  # type: ignore[arg-type]
    assert FirstAbove(scores[1:], 0, 1, Approximate(1, 0)).answer(Constant(-(2**40))) == 1


@pytest.mark.parametrize(
    ("scores", "threshold", "sensitivity", "cost"),
    [
        ((), 0, 1, Approximate(1, 0)),
        ((0.5,), 0, 1, Approximate(1, 0)),
        ((1,), 0.5, 1, Approximate(1, 0)),
        ((1,), True, 1, Approximate(1, 0)),
        ((1,), 0, 0, Approximate(1, 0)),
        ((1,), 0, 1, Approximate(1, 1e-6)),
        ((1,), 0, 1, Approximate(0, 0)),
        ((1,), 0, 2**50, Approximate(1, 0)),
    ],
)
def test_refusals(scores: Any, threshold: Any, sensitivity: Any, cost: Any) -> None:
    with pytest.raises(BadInput):
        FirstAbove(scores, threshold, sensitivity, cost)


@pytest.mark.claim("threshold.1")
def test_objections() -> None:
    def ask(scores: tuple[int, ...], threshold: int = 5, sensitivity: int = 1, epsilon: int = 1) -> FirstAbove:
        return FirstAbove(scores, threshold, sensitivity, Approximate(epsilon, 0))

    mine = ask((1, 2))
    assert mine.objection(ask((2, 1))) is None
    assert "claimed 1" in str(mine.objection(ask((1, 4))))
    for other in (ask((1, 2), threshold=6), ask((1, 2), sensitivity=2), ask((1, 2), epsilon=2), ask((1, 2, 3))):
        assert "parameters" in str(mine.objection(other))
    assert mine.loss == Approximate(1, 0)
