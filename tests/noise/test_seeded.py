from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.noise.distribution_checks import GaussianDistribution, LaplaceDistribution, assert_distribution, chi_square

from discreet.errors import BadInput
from discreet.noise import distributions as sources
from discreet.noise.distributions import drawn_scale
from discreet.noise.randomness import Seeded, SeededSource
from discreet.privacy.loss import Choice, Laplace

MANY = 20_000


@pytest.fixture(autouse=True)
def _big_integers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled sampler has its own tests: here every draw is by the plain one."""
    monkeypatch.setattr(sources, "compiled", lambda: False)


@pytest.mark.claim("additive.1")
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(10), drawn_scale(Fraction(10**9, 7))])
def test_seeded_laplace_has_its_distribution(scale: Fraction) -> None:
    assert_distribution(SeededSource(31).laplace(MANY, scale), LaplaceDistribution(scale), wrong=0.12)


@pytest.mark.claim("additive.2")
@pytest.mark.parametrize("sigma", [3, 2**30 + 7])
def test_seeded_gaussian_has_its_distribution(sigma: int) -> None:
    assert_distribution(SeededSource(32).gaussian(MANY // 2, sigma), GaussianDistribution(sigma), wrong=0.12)


def test_a_seed_repeats_and_another_does_not() -> None:
    def run(seed: int) -> list[Any]:
        door = Seeded(seed)
        draws = [door.blur(np.zeros(5, int), sensitivity=1, cost=Laplace(0.01)).tolist()]
        draws += [door.choose([0, 1, 2], sensitivity=1, cost=Choice(1)), door.permutation(9).tolist()]
        return [*draws, door.below(10**30)]

    assert run(1) == run(1)
    assert len({str(run(seed)) for seed in range(10)}) == 10
    door = Seeded(1)
    assert door.below(10**30) != door.below(10**30)  # the stream moves on


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 255, 256, 257])
def test_below_is_uniform(bound: int) -> None:
    source = SeededSource(2)
    drawn = Counter(source.below(bound) for _ in range(2000))
    assert set(drawn) <= set(range(bound))
    assert chi_square([drawn[i] for i in range(bound)], [1 / bound] * bound) > 1e-6


def test_below_takes_any_bound() -> None:
    source = SeededSource(2)
    for bits in (63, 64, 65, 192, 1000):
        assert all(0 <= source.below((1 << bits) + 1) <= 1 << bits for _ in range(20))
        assert len({source.below(1 << bits) for _ in range(20)}) == 20


def test_nothing_seeded_is_secure() -> None:
    assert SeededSource(1).secure is False
    assert Seeded(1).secure is False
    assert repr(Seeded(12)) == "Seeded(12)"


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(BadInput, match="seed"):
        Seeded(seed)


def test_no_values_are_drawn_for_no_places() -> None:
    source = SeededSource(1)
    assert source.laplace(0, Fraction(1)).dtype == np.int64
    assert source.laplace(0, Fraction(1)).size == source.gaussian(0, 5).size == source.words(0).size == 0


def test_bytes_fetched_ahead_are_those_of_the_stream() -> None:
    source, stream = SeededSource(5), np.random.Generator(np.random.Philox(5))
    for count in (0, 1, 4, 5, 8, 31, 4096, 4097, 20_000, 3, 0, 64) * 3:
        assert source._bytes(count) == stream.bytes(count)
