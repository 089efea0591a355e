import math
from fractions import Fraction
from itertools import combinations

import mpmath as mp
import pytest

from discreet.accounting.currency import amplified, fixed_size, poisson
from discreet.errors import BadInput
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Sampled


@pytest.mark.claim("currency.8")
@pytest.mark.claim("currency.9")
@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 0.1, 1.0, 20.0, 699.0, 701.0, 1e6])
@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.5, 1.0])
def test_the_formula_from_above(epsilon: float, rate: float) -> None:
    with mp.workdps(400):
        true = mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(epsilon)))
        found = amplified(epsilon, rate)
        ratio = mp.mpf(found.numerator) / found.denominator / true - 1
    assert -1e-16 <= ratio < 1e-11  # at rate 1 it is epsilon as written
    assert found <= Fraction(repr(epsilon))


Distribution = dict[tuple[int, ...], float]


def randomised_response(bits: tuple[int, ...], epsilon: float) -> Distribution:
    """The distribution of the number of ones kept, each entry randomised: a toy release that depends on the sample."""
    right = 1 / (1 + math.exp(-epsilon))
    distribution: Distribution = {(): 1.0}
    for bit in bits:
        distribution = {
            (*seen, out): mass * (right if out == bit else 1 - right)
            for seen, mass in distribution.items()
            for out in (0, 1)
        }
    return distribution


def largest_ratio(p: Distribution, q: Distribution) -> float:
    return max(abs(math.log(p[key] / q[key])) for key in p)


def mixture(distributions: list[tuple[float, Distribution]]) -> Distribution:
    total: Distribution = {}
    for weight, distribution in distributions:
        for key, mass in distribution.items():
            total[key] = total.get(key, 0.0) + weight * mass
    return total


@pytest.mark.claim("currency.9")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_sample_of_fixed_size_by_brute_force(epsilon: float) -> None:
    """m = 1 of n = 3, the drawn entry randomised: the log-ratio of the mixtures is the formula, exactly."""

    def distribution(table: tuple[int, ...]) -> Distribution:
        samples = list(combinations(table, 1))
        return mixture([(1 / len(samples), randomised_response(sample, epsilon)) for sample in samples])

    reached = largest_ratio(distribution((0, 0, 0)), distribution((1, 0, 0)))
    bound = float(fixed_size(epsilon, 0, Fraction(1, 3)).epsilon)
    assert reached == pytest.approx(bound, rel=1e-9)
    assert reached > math.log1p((math.exp(epsilon) - 1) / 4) * 1.001  # planted: a rate of 1/4 would be caught


@pytest.mark.claim("currency.8")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_a_poisson_sample_by_brute_force(epsilon: float, rate: float) -> None:
    """Without the person Q, with them (1 - q) Q + q Q1, where Q and Q1 are e^epsilon apart: both directions."""
    right = 1 / (1 + math.exp(-epsilon))
    without: Distribution = {(0,): right, (1,): 1 - right}
    present: Distribution = {(0,): 1 - right, (1,): right}
    joint = mixture([(1 - rate, without), (rate, present)])
    assert largest_ratio(joint, without) <= float(amplified(epsilon, rate)) * (1 + 1e-9)
    assert largest_ratio(joint, without) == pytest.approx(float(amplified(epsilon, rate)), rel=1e-9)


def test_values() -> None:
    assert poisson(Gaussian(1), 0.01, 100) == Sampled(Gaussian(1), 0.01, 100)
    assert fixed_size(1.0, 1e-6, 0.01).delta == Fraction(1, 10**8)
    assert isinstance(fixed_size(1.0, 1e-6, 0.01), Approximate)


def test_a_wrong_relation_raises() -> None:
    with pytest.raises(BadInput, match="ADD_OR_REMOVE"):
        poisson(Laplace(1), 0.1, neighbours=Neighbours.REPLACE)
    with pytest.raises(BadInput, match="REPLACE"):
        fixed_size(1.0, 0, 0.1, neighbours=Neighbours.ADD_OR_REMOVE)


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, math.nan, "x"])
def test_bad_rate(rate: float) -> None:
    with pytest.raises(BadInput, match="rate"):
        fixed_size(1.0, 0, rate)
    with pytest.raises(BadInput, match="rate"):
        poisson(Laplace(1), rate)
