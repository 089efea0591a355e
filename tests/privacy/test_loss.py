import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.compose import delta as delta_of
from discreet.errors import BadInput
from discreet.privacy.loss import (
    Approximate,
    Choice,
    Composed,
    Gaussian,
    Laplace,
    Loss,
    Sampled,
    atoms,
    compose,
    for_group,
    group_delta,
    in_words,
    safe_exp,
    total,
)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, None, "1", True])
def test_sizes_must_be_positive(bad: Any) -> None:
    for kind in (Laplace, Gaussian, Choice):
        with pytest.raises(BadInput):
            kind(bad)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (math.nan, 0), (1, -1e-9), (1, 1.1), (1, math.nan)])
def test_bad_pairs(epsilon: float, delta: float) -> None:
    with pytest.raises(BadInput):
        Approximate(epsilon, delta)


def test_bad_samples_and_slack() -> None:
    for rate, times in ((0, 1), (1.1, 1), (0.5, 0), (0.5, 1.5), (math.nan, 1)):
        with pytest.raises(BadInput):
            Sampled(Laplace(1), rate, times)  # type: ignore[arg-type]
    for slack in (-1e-9, 1, math.nan):
        with pytest.raises(BadInput):
            Gaussian(1, slack)


def test_composition_is_flat() -> None:
    loss = compose(Laplace(1), Composed((Choice(2), Composed((Gaussian(3),)))))
    assert atoms(loss) == (Laplace(1), Choice(2), Gaussian(3))
    assert compose(Laplace(1)) == Laplace(1)
    assert compose() == Composed(())
    assert atoms(Sampled(Composed((Laplace(1), Laplace(1))), 0.5)) == (
        Sampled(Composed((Laplace(1), Laplace(1))), 0.5),
    )


def worst_power(level: float, epsilon: float, delta: float) -> float:
    """The power that (epsilon, delta) allows, reached by randomised response beside an event of probability delta."""
    return min(1.0, math.exp(epsilon) * level + delta, 1 - math.exp(-epsilon) * max(0.0, 1 - delta - level))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (0.5, 1e-6), (1.0, 1e-9), (0.0, 1e-3), (0.3, 0.0)])
def test_groups_by_walking_a_chain_of_randomised_responses(size: int, epsilon: float, delta: float) -> None:
    """From table to table the best test's level becomes its power, which is the level of the next step."""
    levels = np.concatenate([[0.0], np.geomspace(1e-12, 1, 4001)])
    powers = levels
    for _ in range(size):
        powers = np.array([worst_power(float(level), epsilon, delta) for level in powers])
    needed = float((powers - math.exp(size * epsilon) * levels).max())
    bound = group_delta(epsilon, delta, size)
    assert needed <= bound * (1 + 1e-9) + 1e-15
    assert needed == pytest.approx(bound, rel=1e-6, abs=1e-15)  # so a smaller delta would be wrong
    assert for_group(Approximate(epsilon, delta), size) == Approximate(size * Fraction(repr(epsilon)), bound)


def shifted(noise: str, mu: float, x: Any) -> Any:
    return np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi) if noise == "g" else np.exp(-np.abs(x - mu)) / 2


@pytest.mark.parametrize("size", [1, 2, 4])
def test_groups_of_additive_noise_by_quadrature(size: int) -> None:
    x = np.linspace(-40, 45, 850_001)
    for noise, loss in (("g", Gaussian(0.4)), ("l", Laplace(0.4))):
        group = for_group(loss, size)
        p, q = shifted(noise, 0.4 * size, x), shifted(noise, 0.0, x)
        for epsilon in (0.1, 0.5, 1.0):
            needed = float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0]))
            assert needed <= delta_of(group, epsilon) * (1 + 1e-5) + 1e-9
            assert noise == "l" or needed == pytest.approx(delta_of(group, epsilon), rel=1e-4)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_groups_in_a_sample_by_quadrature(size: int, rate: float) -> None:
    """The true distribution mixes over how many of the group are in; the group's loss assumes all or none."""
    x = np.linspace(-14, 18, 320_001)
    width, mu = x[1] - x[0], 0.7
    shares = [math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(size + 1)]
    present = sum(share * shifted("g", k * mu, x) for k, share in enumerate(shares))
    absent = shifted("g", 0.0, x)
    group = for_group(Sampled(Gaussian(mu), rate), size)
    assert group == Sampled(Gaussian(size * Fraction(7, 10)), 1 - (1 - Fraction(repr(rate))) ** size)
    for epsilon in (0.05, 0.3, 1.0):
        for p, q in ((present, absent), (absent, present)):
            needed = float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * width)
            assert needed <= delta_of(group, epsilon) * (1 + 1e-6) + 1e-12


def test_groups_of_the_rest() -> None:
    loss: Loss = Composed((Choice(0.1), Gaussian(0.2, 1e-18), Laplace(0.3)))
    parts = (Choice(Fraction(3, 10)), Gaussian(Fraction(3, 5), 1e-18), Laplace(Fraction(9, 10)))
    assert for_group(loss, 3) == Composed(parts)
    for size in (0, -1, 1.5):
        with pytest.raises(BadInput):
            for_group(loss, size)  # type: ignore[arg-type]


def test_group_delta_never_overflows() -> None:
    assert group_delta(1e6, 1e-6, 3) == 1
    assert group_delta(400, 1e-300, 2) <= 1
    assert group_delta(1, 0, 10**9) == 0


def test_words_and_sums() -> None:
    loss = Composed((Laplace(0.5), Sampled(Gaussian(1), 0.01, 3), Choice(1), Approximate(1, 1e-6)))
    words = in_words(loss)
    for word in ("Laplace noise, epsilon 0.5", "3 x", "rate 0.01", "a private choice", "delta 1e-06"):
        assert word in words
    assert in_words(Composed(())) == "nothing"
    assert total([0.1] * 10) == 1
    assert safe_exp(1e6) == math.inf
    assert safe_exp(0) == 1
