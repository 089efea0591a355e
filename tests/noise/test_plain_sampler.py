"""Each sampler by every path of its draws, up to its first rejection; those it calls as draws that are proved."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.noise.distribution_checks import (
    Branch,
    GaussianDistribution,
    LaplaceDistribution,
    enumerate_distribution,
    uniform,
)

from discreet.noise import distributions as cks
from discreet.noise.randomness import SeededSource

SEVERAL = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(7, 3)]
REACH = 60


class Again(Exception):
    """A candidate was rejected: from here on everything is as at the start."""


def once(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The same draw; a second one says that the sampler began anew."""
    calls = []

    def first(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) > 1:
            raise Again
        return draw(*arguments)

    return first


def accepted(sampler: Callable[[Branch], Any], prune: float = 1e-12) -> tuple[dict[Any, float], float]:
    """The distribution of what is accepted at the first try, which is the distribution of what is accepted at all."""

    def attempt(branch: Branch) -> Any:
        try:
            return sampler(branch)
        except Again:
            return Again

    distribution, lost = enumerate_distribution(attempt, prune)
    again = distribution.pop(Again, 0.0)
    return {outcome: mass / (1 - again) for outcome, mass in distribution.items()}, lost / (1 - again)


def coin(branch: Branch) -> Callable[..., bool]:
    return lambda top, bottom, below: branch([-math.expm1(-top / bottom), math.exp(-top / bottom)]) == 1


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 5), Fraction(2, 3), Fraction(1), Fraction(5, 2)])
def test_bernoulli_exp_by_every_path(rate: Fraction) -> None:
    distribution, lost = enumerate_distribution(
        lambda branch: cks.bernoulli_exp(rate.numerator, rate.denominator, uniform(branch))
    )
    assert lost < 1e-3
    assert abs(distribution[True] - math.exp(-rate)) <= lost + 1e-12
    assert abs(distribution[False] + math.expm1(-rate)) <= lost + 1e-12


@pytest.mark.parametrize("scale", SEVERAL)
def test_geometric_by_every_path(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    def sampler(branch: Branch) -> int:
        monkeypatch.setattr(cks, "bernoulli_exp", coin(branch))
        return cks.plain_geometric(scale, once(uniform(branch)))

    distribution, lost = accepted(sampler)
    a = math.exp(-1 / scale)
    assert lost < 1e-9
    assert all(distribution.get(k, 0.0) == pytest.approx((1 - a) * a**k, abs=1e-9) for k in range(REACH))


@pytest.mark.claim("additive.1")
@pytest.mark.parametrize("scale", SEVERAL)
def test_laplace_by_every_path(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    a = math.exp(-1 / scale)

    def sampler(branch: Branch) -> int:
        monkeypatch.setattr(cks, "plain_geometric", once(lambda *_: branch([(1 - a) * a**k for k in range(REACH)])))
        return cks.plain_laplace(scale, uniform(branch))

    distribution, _ = accepted(sampler)
    exact = LaplaceDistribution(scale)
    assert all(distribution.get(k, 0.0) == pytest.approx(exact.at(k), abs=1e-9) for k in range(-REACH + 1, REACH))


@pytest.mark.claim("additive.2")
@pytest.mark.parametrize("sigma", [1, 2, 5])
def test_gaussian_by_every_path(sigma: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = LaplaceDistribution(sigma)

    def sampler(branch: Branch) -> int:
        draw = once(lambda scale, _: branch([wide.at(k) for k in range(-200, 201)]) - 200)
        monkeypatch.setattr(cks, "plain_laplace", draw)
        monkeypatch.setattr(cks, "bernoulli_exp", coin(branch))
        return cks.plain_gaussian(sigma, uniform(branch))

    distribution, _ = accepted(sampler)
    exact = GaussianDistribution(sigma)
    assert all(
        distribution.get(k, 0.0) == pytest.approx(exact.tail(k) - exact.tail(k + 1), abs=1e-9) for k in range(-50, 51)
    )


def test_extreme_scales_terminate() -> None:
    source = SeededSource(3)
    assert cks.plain_laplace(Fraction(1, 2**9), source.below) == 0
    assert all(abs(cks.plain_laplace(Fraction(2**50), source.below)) < 2**60 for _ in range(20))
    assert all(abs(cks.plain_gaussian(2**50, source.below)) < 2**60 for _ in range(20))
    assert not cks.bernoulli_exp(10**12, 1, source.below)
