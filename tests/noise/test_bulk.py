"""The compiled sampler: each step as arithmetic, the distributions by counting, the stream of words in any pieces.

The words are seeded: a test that passes once passes always. Bounds are those that fresh words would break
with probability below 1e-9 (6.2 standard deviations for a mean).
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

bulk = pytest.importorskip("discreet.noise.bulk", exc_type=ImportError)

from tests.noise.distribution_checks import CHANCE, GaussianDistribution, LaplaceDistribution, p_value  # noqa: E402

WordArray = npt.NDArray[np.uint64]
Table = tuple[Fraction, list[Fraction], Fraction]
PICK_V = (Fraction(25, 64), [Fraction(i, 2) for i in range(8)], Fraction(4))
PICK_K = (Fraction(9, 16), [Fraction(i * i, 2) for i in range(3)], Fraction(9, 2))
MILLION = 10**6
SIGMAS = 6.2
LOW, TOP = 1, 2**64 - 1  # words that are kept by any uniform draw, as 0 and as n - 1
LARGEST = 2**52 - 1
SCALES = [(1, 0), (1, 1), (3, 1), (2, 0), (10, 0), (12345, 7), (1000, 0), (LARGEST, 12)]
SEVERAL = [1, 2, 3, 10, 1000, 2**30 + 7]


def seeded(seed: int) -> Callable[[int], WordArray]:
    generator = np.random.Generator(np.random.Philox(seed))
    return lambda count: np.frombuffer(generator.bytes(8 * count), dtype=np.uint64)


def in_pieces(stream: WordArray, pieces: Iterator[int]) -> Callable[[int], WordArray]:
    """The stream in pieces of the given sizes, whatever is asked for."""
    at = 0

    def words(count: int) -> WordArray:
        nonlocal at
        size = next(pieces)
        at += size
        assert at <= len(stream)
        return stream[at - size : at]

    return words


def run(step: Callable[..., Any], script: list[int] | WordArray, *arguments: int) -> tuple[Any, ...]:
    """What a compiled step makes of these words, and how many it read."""
    words = np.array(script, dtype=np.uint64)
    start = words.ctypes.data
    *result, at = step(*(np.uint64(n) for n in (start, start + 8 * len(words), *arguments)))
    return *(int(value) for value in result), (int(at) - start) // 8


class Reference:
    """The same construction in unbounded integers and fractions, straight from the papers."""

    def __init__(self, words: WordArray) -> None:
        self.words: Iterator[int] = iter(words.tolist())
        self.layouts = {table[2]: bulk._layout(*table) for table in (PICK_V, PICK_K)}

    def below(self, n: int) -> int:
        while True:
            high, low = divmod(next(self.words) * n, 2**64)
            if low >= 2**64 % n:
                return high

    def chain(self, step: Callable[[int], bool], n: int = 1) -> bool:
        while step(n):
            n += 1
        return n % 2 == 1

    def exp(self, a: int, d: int, n: int = 1) -> bool:
        return self.chain(lambda n: self.below(d * n) < a, n)

    def pick(self, table: Table) -> tuple[int, int] | None:
        _, rates, tail = table
        total, ends, sure, steps = self.layouts[tail]
        rounds = 0
        while True:
            drawn = self.below(total)
            i = sum(drawn >= end for end in ends)
            if i > len(rates):
                return None
            if drawn >= sure[i] and not self.exp(int(2 * [*rates, tail][i]), 2, steps[i]):
                return None
            if i < len(rates):
                return rounds, i
            rounds += 1

    def laplace(self, t: int, shift: int) -> int:
        while True:
            u, sign = divmod(self.below(2 * t), 2)
            if self.exp(u, 2 * t) and (picked := self.pick(PICK_V)):
                rounds, i = picked
                y = (u + t * (i + 8 * rounds)) >> (shift + 1)
                if y or not sign:
                    return -y if sign else y

    def gaussian(self, sigma: int) -> int:
        while True:
            if not (picked := self.pick(PICK_K)):
                continue
            rounds, k = picked
            for _ in range(rounds):
                if not all(self.exp(1, 1) for _ in range(3 * k)):
                    break
                k += 3
            else:
                j, sign = divmod(self.below(2 * sigma), 2)
                if self.chain(partial(self.both, j, sigma)) and all(self.exp(j, sigma) for _ in range(k)):
                    magnitude = k * sigma + j
                    if magnitude or not sign:
                        return -magnitude if sign else magnitude

    def both(self, j: int, sigma: int, n: int) -> bool:
        return self.below(sigma * n) < j and self.below(2 * sigma) < j


@pytest.mark.claim("bulk.1")
@pytest.mark.parametrize("n", [1, 2, 3, 10, 2**31 - 1, 2**32, 3 * 2**40 + 1, 2**53 - 2, 2**62 + 1, 2**63])
def test_every_value_of_a_uniform_draw_has_the_same_number_of_words(n: int) -> None:
    def kept(word: int) -> bool:
        return bool(run(bulk._below, [word, TOP], n)[1] == 1)

    for h in {0, 1 % n, n // 3, n // 2, n - 1}:
        first, last = -(-h * 2**64 // n), -(-(h + 1) * 2**64 // n) - 1  # the words that are mapped to h
        assert run(bulk._below, [last], n) == (h, 1)
        lost = last - first + 1 - 2**64 // n  # they are 0 or 1 too many
        assert lost in {0, 1}
        assert kept(first) == (not lost)
        assert kept(min(first + 1, last))
    assert kept(TOP)


@pytest.mark.claim("bulk.1")
@pytest.mark.parametrize("n", [3, 2**53 - 2, 2**62 + 1, 2**63])
def test_uniform_draws_are_high_halves(n: int) -> None:
    words = seeded(1)(500)
    reference, at = Reference(words), 0
    while at < 490:
        value, read = run(bulk._below, words[at:], n)
        assert value == reference.below(n)
        at += read


@pytest.mark.claim("bulk.2")
def test_a_chain_says_yes_if_it_breaks_at_an_odd_step() -> None:
    for steps in range(1, 12):
        assert run(bulk._chain, [LOW] * (steps - 1) + [TOP], 1, 2, 1) == (steps % 2, steps)
    assert run(bulk._chain, [LOW], 0, 7, 1) == (1, 1)  # exp(0)


@pytest.mark.claim("bulk.2")
@pytest.mark.parametrize(("a", "d"), [(1, 1), (1, 2), (2, 3), (1, 10), (LARGEST - 1, LARGEST)])
def test_a_chain_has_chance_exp(a: int, d: int) -> None:
    words, size, yes = seeded(2)(400_000), 50_000, 0
    at, end = words.ctypes.data, words.ctypes.data + words.nbytes
    arguments = [np.uint64(n) for n in (end, a, d, 1)]
    for _ in range(size):
        said, at = bulk._chain(np.uint64(at), *arguments)
        yes += said
    assert at < end
    chance = math.exp(-a / d)
    assert abs(yes - size * chance) < SIGMAS * math.sqrt(size * chance * (1 - chance))


def _bracket(g: Fraction, n: int) -> Fraction:
    """The chance that a chain entered at the odd step n says yes, to 1e-40."""
    reached = [Fraction(1)]
    while reached[-1] * 10**40 > 1:
        reached.append(reached[-1] * g / (n + len(reached) - 1))
    return sum(reached[::2], Fraction(0)) - sum(reached[1::2], Fraction(0))


@pytest.mark.claim("bulk.3")
@pytest.mark.parametrize("table", [PICK_V, PICK_K])
def test_sure_and_open_stretches_make_up_the_weights(table: Table) -> None:
    share, rates, tail = table
    total, ends, sure, steps = bulk._layout(*table)
    assert total <= 2**63
    assert ends[-1] < total  # something is refused
    begin = 0
    for i, g in enumerate([*rates, tail]):
        assert begin < sure[i] <= ends[i]
        assert steps[i] % 2 == 1
        assert steps[i] >= g
        weight = Fraction(sure[i] - begin, total) + Fraction(ends[i] - sure[i], total) * _bracket(g, steps[i])
        assert abs(weight - (share if i < len(rates) else 1) * _bracket(g, 1)) < Fraction(1, 10**35)
        begin = ends[i]


@pytest.mark.claim("bulk.3")
@pytest.mark.parametrize(("pick", "table"), [("_pick_v", PICK_V), ("_pick_k", PICK_K)])
def test_a_pick_by_every_stretch(pick: str, table: Table) -> None:
    total, ends, sure, _ = bulk._layout(*table)
    last = len(table[1])

    def word(cell: int) -> int:
        return int(-(-cell * 2**64 // total)) + 1

    def picked(*script: int) -> tuple[Any, ...]:
        return run(getattr(bulk, pick), list(script))

    for i in range(last):
        begin = ends[i - 1] if i else 0
        assert picked(word(begin)) == picked(word(sure[i] - 1)) == (1, 0, i, 1)
        for cell in {sure[i], ends[i] - 1} if sure[i] < ends[i] else {}:
            assert picked(word(cell), TOP) == (1, 0, i, 2)  # the chain fails at its first step, which is odd
            assert picked(word(cell), LOW, TOP) == (0, 0, i, 3)
            assert picked(word(cell), LOW, LOW, TOP) == (1, 0, i, 4)
    tail = word(ends[last - 1])
    assert picked(tail, word(0)) == picked(word(sure[last] - 1), word(0)) == (1, 1, 0, 2)
    assert picked(tail, tail, word(sure[0])) == (1, 2, 1, 3)
    assert picked(word(sure[last]), TOP, word(0)) == (1, 1, 0, 3)
    assert picked(word(sure[last]), LOW, TOP)[::3] == (0, 3)
    assert picked(word(ends[last]))[::3] == picked(TOP)[::3] == (0, 1)


def _assert_distribution(
    sample: npt.NDArray[np.int64], distribution: LaplaceDistribution | GaussianDistribution, cells: int
) -> None:
    assert sample.dtype == np.int64
    assert p_value(sample, distribution, cells) > CHANCE
    for factor in (0.97, 1.03):
        assert p_value(sample, distribution.wider(factor), cells) < CHANCE


@pytest.mark.claim("bulk.4")
@pytest.mark.parametrize(("numerator", "shift"), [*SCALES, (2**40 + 12345, 0), (LARGEST, 0)])
def test_the_laplace_distribution_and_no_other(numerator: int, shift: int) -> None:
    _assert_distribution(
        bulk.laplace(MILLION, numerator, shift, seeded(4)), LaplaceDistribution(numerator / 2**shift), 200
    )


@pytest.mark.claim("bulk.5")
@pytest.mark.parametrize("sigma", SEVERAL)
def test_the_gaussian_distribution_and_no_other(sigma: int) -> None:
    _assert_distribution(bulk.gaussian(MILLION, sigma, seeded(5)), GaussianDistribution(sigma), 200)


@pytest.mark.claim("bulk.5")
@pytest.mark.parametrize("sigma", [2**31 - 1, LARGEST])
def test_the_gaussian_distribution_of_a_large_scale(sigma: int) -> None:
    _assert_distribution(bulk.gaussian(MILLION, sigma, seeded(6)), GaussianDistribution(sigma), 40)


def _assert_moments(sample: npt.NDArray[np.int64], scale: float, variance: float, fourth: float) -> None:
    """Mean and mean square in units of the scale, against their true values; signs, near 0 and far out."""
    z = sample / scale
    size = len(z)
    assert abs(z.mean()) < SIGMAS * math.sqrt(variance / size)
    assert abs((z**2).mean() - variance) < SIGMAS * math.sqrt((fourth - variance**2) / size)
    near = np.abs(sample) <= np.median(np.abs(sample))
    for part in (near, ~near):
        above, below = (sample[part] > 0).sum(), (sample[part] < 0).sum()
        assert abs(above - below) <= SIGMAS * math.sqrt(above + below)


@pytest.mark.claim("bulk.4")
@pytest.mark.parametrize(("numerator", "shift"), SCALES)
def test_moments_and_signs_of_laplace(numerator: int, shift: int) -> None:
    scale = numerator / 2**shift
    k = np.arange(1, int(60 * min(scale, 1e5)) + 60) * max(1, scale / 1e5)  # a wide distribution, on a grid
    mass = np.exp(-k / scale)
    second, fourth = (2 * (mass * (k / scale) ** power).sum() / (1 + 2 * mass.sum()) for power in (2, 4))
    _assert_moments(bulk.laplace(MILLION, numerator, shift, seeded(7)), scale, second, fourth)


@pytest.mark.claim("bulk.5")
@pytest.mark.parametrize("sigma", SEVERAL)
def test_moments_and_signs_of_gaussian(sigma: int) -> None:
    k = np.arange(-12 * min(sigma, 1000), 12 * min(sigma, 1000) + 1) / min(sigma, 1000)
    mass = np.exp(-(k**2) / 2)
    second, fourth = ((mass * k**power).sum() / mass.sum() for power in (2, 4))
    _assert_moments(bulk.gaussian(MILLION, sigma, seeded(8)), sigma, second, fourth)


@pytest.mark.claim("bulk.6")
@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_the_pieces_in_which_words_come_do_not_matter(distribution: str) -> None:
    size = 1500
    stream = seeded(9)(MILLION)
    uneven = np.random.Generator(np.random.Philox(9)).integers(0, 30, MILLION).tolist()

    def draw(pieces: Iterator[int]) -> list[int]:
        words = in_pieces(stream, pieces)
        values = bulk.laplace(size, 12345, 7, words) if distribution == "laplace" else bulk.gaussian(size, 1000, words)
        return list(values.tolist())

    reference = Reference(stream)
    one = partial(reference.laplace, 12345, 7) if distribution == "laplace" else partial(reference.gaussian, 1000)
    expected = [one() for _ in range(size)]
    for pieces in (iter(lambda: 1, 0), iter(lambda: 7, 0), iter([MILLION]), iter(uneven)):
        assert draw(pieces) == expected


@pytest.mark.claim("bulk.6")
def test_nothing_is_kept_between_calls() -> None:
    def draws() -> list[int]:
        return [*bulk.laplace(300, 77, 0, seeded(10)).tolist(), *bulk.gaussian(300, 77, seeded(10)).tolist()]

    assert draws() == draws()
    longer, shorter = bulk.gaussian(3000, 77, seeded(10)), bulk.gaussian(300, 77, seeded(10))
    assert longer[:300].tolist() == shorter.tolist()


@pytest.mark.claim("bulk.6")
def test_an_attempt_returns_when_its_words_run_out() -> None:
    for n in (1, 2, 3, 2**53 - 2, 2**63):
        assert run(bulk._below, [], n) == (n - 1, 1)
    for script in ([], [LOW], [LOW] * 5, [LOW] * 200, seeded(11)(3)):
        assert run(bulk._laplace, script, 1, 40)[-1] > 0
        assert run(bulk._laplace, script, LARGEST, 0)[-1] > 0
        assert run(bulk._gaussian, script, LARGEST)[-1] > 0


@pytest.mark.claim("bulk.7")
@pytest.mark.parametrize(("numerator", "shift"), [*SCALES, (1, 40), (LARGEST, 40), (LARGEST, 0)])
def test_laplace_is_the_reference_in_unbounded_integers(numerator: int, shift: int) -> None:
    reference = Reference(seeded(12)(20_000))
    expected = [reference.laplace(numerator, shift) for _ in range(1000)]
    assert bulk.laplace(1000, numerator, shift, seeded(12)).tolist() == expected


@pytest.mark.claim("bulk.7")
@pytest.mark.parametrize("sigma", [*SEVERAL, 2**31 - 1, 2**51 + 1, LARGEST])
def test_gaussian_is_the_reference_in_unbounded_integers(sigma: int) -> None:
    reference = Reference(seeded(13)(40_000))
    expected = [reference.gaussian(sigma) for _ in range(1000)]
    assert bulk.gaussian(1000, sigma, seeded(13)).tolist() == expected


@pytest.mark.claim("bulk.7")
def test_no_float_is_compiled() -> None:
    from numba import njit

    kernel = njit(error_model="numpy")(bulk._fill.py_func)
    kernel(np.empty(0, np.int64), np.empty(0, np.uint64), True, np.uint64(1), np.uint64(0))
    (code,) = kernel.inspect_llvm().values()
    assert "i128" in code
    assert "double" not in code
    assert " float " not in code


def test_without_a_place_for_the_cache_it_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def njit(cache: bool = False, **options: object) -> Callable[[str], str]:
        asked.append(cache)
        if cache:
            raise RuntimeError("no locator available")
        return str.upper

    monkeypatch.setattr(bulk, "njit", njit)
    assert bulk._compiled("kernel") == "KERNEL"
    assert asked == [True, False]


def test_sizes() -> None:
    for size in (0, 1, 2, 7):
        for values in (bulk.laplace(size, 5, 1, seeded(14)), bulk.gaussian(size, 5, seeded(14))):
            assert values.shape == (size,)
            assert values.dtype == np.int64


WRONG = [(-1, 1, 0), (1, 0, 0), (1, 2**52, 0), (1, 1, -1), (1, 1, 41)]


@pytest.mark.parametrize(("size", "numerator", "shift"), WRONG)
def test_limits_of_laplace(size: int, numerator: int, shift: int) -> None:
    with pytest.raises(ValueError, match="it must be at least"):
        bulk.laplace(size, numerator, shift, seeded(15))


@pytest.mark.parametrize(("size", "sigma"), [(-1, 1), (1, 0), (1, -5), (1, 2**52)])
def test_limits_of_gaussian(size: int, sigma: int) -> None:
    with pytest.raises(ValueError, match="it must be at least"):
        bulk.gaussian(size, sigma, seeded(16))


def test_what_is_not_whole_is_refused() -> None:
    with pytest.raises(TypeError):
        bulk.gaussian(1, 1.5, seeded(17))
    with pytest.raises(TypeError):
        bulk.gaussian(1, 1, np.ones)
