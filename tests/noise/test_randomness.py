"""Secret noise cannot be seeded: each test here fails by chance with a probability below CHANCE."""

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.noise.distribution_checks import (
    CHANCE,
    GaussianDistribution,
    LaplaceDistribution,
    assert_distribution,
    chi_square,
    p_value,
)

from discreet.noise.distributions import BULK, compiled, drawn_scale
from discreet.noise.randomness import Secure, SystemSource, _by_opendp, _primitive
from discreet.privacy.loss import Laplace

FORKS = """
import os, sys
from fractions import Fraction
from discreet.noise.randomness import SystemSource
source = SystemSource()
draws = {
    "opendp laplace": lambda: source.laplace(8, Fraction(2**40)).tolist(),
    "opendp gaussian": lambda: source.gaussian(8, 2**40).tolist(),
    "words": lambda: source.words(4).tolist(),
    "secrets": lambda: [source.below(2**200)],
}
draw = draws[sys.argv[1]]
draw()  # whatever is kept between calls is there before the fork
lines = []
for _ in range(6):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, repr(draw()).encode())
        os._exit(0)
    os.close(write)
    lines.append(os.read(read, 65536).decode())
    os.waitpid(child, 0)
lines.append(repr(draw()))
print("\\n".join(lines))
"""


@pytest.mark.parametrize("engine", ["opendp laplace", "opendp gaussian", "words", "secrets"])
def test_forks_never_repeat(engine: str) -> None:
    """Six children of one process, and the process itself: no two see the same noise, nor one number of it."""
    run = subprocess.run([sys.executable, "-c", FORKS, engine], capture_output=True, text=True, check=True, timeout=120)
    lines = run.stdout.split("\n")[:-1]
    assert len(lines) == 7
    numbers = [int(number) for line in lines for number in line.strip("[]").split(",")]
    assert len(set(numbers)) == len(numbers)  # of 56 draws 2^40 wide two are equal with a chance below 1e-8


@pytest.mark.claim("additive.1")
@pytest.mark.parametrize("scale", [Fraction(2), drawn_scale(Fraction(10**9, 7))])
def test_opendp_draws_laplace_noise(scale: Fraction) -> None:
    assert_distribution(_by_opendp("laplace", 400_000, float(scale)), LaplaceDistribution(scale))


@pytest.mark.claim("additive.2")
def test_opendp_draws_gaussian_noise() -> None:
    assert_distribution(_by_opendp("gaussian", 250_000, 2.0**30 + 7), GaussianDistribution(2**30 + 7))


@pytest.mark.claim("additive.1")
@pytest.mark.parametrize("asked", [Fraction(1, 10), Fraction(1, 3), Fraction(10, 3), Fraction(2**40, 3)])
def test_opendp_is_asked_for_a_scale_that_is_not_below_the_one_paid_for(asked: Fraction) -> None:
    """And draws that very scale: OpenDP's own privacy map at one step is at most 1 / asked."""
    scale = drawn_scale(asked)
    epsilon = _primitive("laplace", float(scale)).map(d_in=1)
    assert Fraction(float(scale)) == scale >= asked
    assert epsilon <= float(1 / asked) * (1 + 1e-12)


def test_small_scales_by_cells() -> None:
    draws, distribution = _by_opendp("laplace", 30_000, 0.5), LaplaceDistribution(0.5)
    counts = [int((draws == k).sum()) for k in range(-4, 5)]
    cells = [*(distribution.at(k) for k in range(-4, 5)), 2 * distribution.tail(5)]
    assert chi_square([*counts, 30_000 - sum(counts)], cells) > CHANCE
    assert not _by_opendp("laplace", 1000, 2.0**-9).any()


def test_below_and_words_are_uniform() -> None:
    source = SystemSource()
    draws = [source.below(7) for _ in range(20_000)]
    assert chi_square([draws.count(i) for i in range(7)], [1 / 7] * 7) > CHANCE
    words = source.words(20_000)
    assert words.dtype == np.uint64
    for byte in range(8):
        cells = np.bincount((words >> np.uint64(8 * byte)).astype(np.uint8), minlength=256)
        assert chi_square(cells, [1 / 256] * 256) > CHANCE
    assert source.below(1) == 0


def test_nothing_is_drawn_for_no_places() -> None:
    source = SystemSource()
    assert source.laplace(0, Fraction(1)).tolist() == source.gaussian(0, 2**20).tolist() == []
    assert source.words(0).size == 0


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 2.0**53])
def test_a_scale_that_is_none_is_stopped_before_the_primitive(scale: float) -> None:
    with pytest.raises(AssertionError):
        _by_opendp("laplace", 1, scale)


def test_draws_differ_and_are_secret() -> None:
    assert SystemSource().secure is True
    zeros = np.zeros(20, int)
    one, two = (Secure().blur(zeros, sensitivity=2**40, cost=Laplace(1)) for _ in range(2))
    assert not set(one.tolist()) & set(two.tolist())


def test_the_distribution_test_itself_rejects_what_is_wrong() -> None:
    """Planted: a scale off by 3%, a sign that leans, a zero counted twice, rounded continuous noise."""
    generator = np.random.Generator(np.random.Philox(1))

    def laplace(scale: float) -> Any:
        one, two = (generator.geometric(-np.expm1(-1 / scale), 10**6) for _ in range(2))
        return one - two

    exact = laplace(2)
    assert p_value(exact, LaplaceDistribution(2.0)) > 1e-6
    wrong: dict[str, Any] = {
        "scale": laplace(2.06),
        "lean": np.where(generator.random(10**6) < 0.01, np.abs(exact), exact),
        "zero twice": np.where(generator.random(10**6) < 0.1, 0, exact),
        "rounded": np.rint(generator.laplace(0, 2, 10**6)).astype(np.int64),
    }
    assert {
        name: p_value(sample, LaplaceDistribution(2.0)) < CHANCE for name, sample in wrong.items()
    } == dict.fromkeys(wrong, True)


def test_a_compiler_that_does_not_load_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of values decides on the engine, and may be private: it must not decide on an error."""
    monkeypatch.setitem(sys.modules, "discreet.noise.bulk", None)
    compiled.cache_clear()
    try:
        assert not compiled()
        assert len(SystemSource().laplace(BULK, Fraction(2))) == BULK
    finally:
        compiled.cache_clear()
