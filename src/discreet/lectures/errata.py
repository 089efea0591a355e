"""What the lectures print and does not hold: each with a counterexample that runs.

Every function builds the printed thing on two small tables, and returns what was printed beside what is found. They are
calculations about made-up tables, never mechanisms: nothing here may touch a person's data.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from scipy.special import ndtr

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.lectures.finite import Ramp, basic_filter
from discreet.lectures.printed import PRINTED
from discreet.privacy.meaning import guess

Kind = Literal["privacy", "proof", "answer", "print"]
Run = Callable[[], tuple[float, float]]  # what is printed, and what is found
EPSILON: Final = 1.0
DELTA: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """One fault: where it stands, what is printed, what is right, and a counterexample."""

    name: str
    where: str
    kind: Kind  # whether privacy breaks, a proof has a gap, an answer is off, or only the print
    printed: str
    right: str
    finds: str  # what `run` returns beside the printed number
    run: Run
    ours: str  # where it is done rightly

    @property
    def unsafe(self) -> bool:
        """Whether privacy breaks if it is done as printed."""
        return self.kind == "privacy"

    @property
    def as_printed(self) -> Any:
        """The printed thing, to be attacked: an UNSAFE object with `release`; None where there is nothing to run."""
        return PRINTED.get(self.name)

    def __str__(self) -> str:
        claimed, found = self.run()
        return f"{self.name} ({self.where}): {self.printed}; {self.finds}: {found:.4g}, where {claimed:.4g} is printed"


def near(a: float, b: float, radius: float = 1.0) -> bool:
    """Friends within a distance."""
    return abs(a - b) <= radius


def moved(ramp: Ramp, size: int) -> Fraction:
    """How far the weights move, in all, when one of many equal rows is replaced by a row far away."""
    same, other = [0.0] * size, [9.0] + [0.0] * (size - 1)
    return sum(
        (abs(a - b) for a, b in zip(basic_filter(same, near, ramp), basic_filter(other, near, ramp), strict=True)),
        Fraction(0),
    )


def ramp_moves() -> tuple[float, float]:
    """Claim 3.9 with the printed ramp."""
    return 3.0, float(moved("printed", 100))


def averages_divided_by_n(place: float = 1_000_000.0, size: int = 1000) -> tuple[float, float]:
    """Claim 3: all rows in one place, one replaced by a row that is nobody's friend. d = 1, radius 10."""
    weight = float(Fraction(2 * (size - 1), size) - 1)  # of each of the others, when one has left
    return 1 / size, abs(place - place * weight * (size - 1) / size)


def sensitivity_of_the_average(size: int = 1000) -> tuple[float, float]:
    """Step 6: rows at 0, and one that goes from +r to -r, r = 10: all weights are 1 on both sides."""
    return 10 / size, 2 * 10 / size


def noise_of_the_average() -> tuple[float, float]:
    """Step 6: the delta at epsilon 1 of noise that is calibrated to half of the sensitivity."""
    return DELTA, gaussian_delta(EPSILON, 2 * gaussian(EPSILON, DELTA))


def noise_of_the_test() -> tuple[float, float]:
    """Step 3: noise of scale 1 / epsilon on a sum that moves by 3: the delta at epsilon 1, near the threshold."""
    low, high = math.exp(-1.5) / 2, 1 - math.exp(-1.5) / 2  # the threshold half-way between two sums 3 apart
    return 0.0, high - math.e**EPSILON * low


def budget_of_both_steps() -> tuple[float, float]:
    """Algorithm 2 spends epsilon on the test and epsilon on the average: the delta of the whole at epsilon 1.

    With noise of the right scale a sum at the threshold passes with probability 1/2, and one a whole sensitivity below
    with e^-epsilon / 2: passing has used up all of epsilon, and nothing is left for the average.
    """
    return DELTA, gaussian_delta(0.0, gaussian(EPSILON, DELTA)) / 2


def passed_without_weight(size: int = 40) -> tuple[float, float]:
    """The last claim: the chance to pass where no row has weight, with Lap(3 / epsilon) as in the proof."""
    threshold = size - 2 * math.log(1 / DELTA) / EPSILON
    return DELTA, math.exp(-threshold * EPSILON / 3) / 2


def survivors_for_odd_n() -> tuple[float, float]:
    """Claim 3.7 between neighbours: rows of positive weight in (0, 0, 10) and in (10, 0, 10), friends within 1."""
    tables = ([0.0, 0.0, 10.0], [10.0, 0.0, 10.0])
    kept = [[x for x, w in zip(rows, basic_filter(rows, near), strict=True) if w > 0] for rows in tables]
    return 2.0, max(abs(a - b) for a in kept[0] for b in kept[1])


def histogram_noise() -> tuple[float, float]:
    """Histogram slides: Lap(1 / epsilon) where one person is replaced: the log of the ratio of densities."""
    told, counts, others = (1, 0), (1, 0), (0, 1)
    far = [sum(abs(a - b) for a, b in zip(told, table, strict=True)) for table in (counts, others)]
    return EPSILON, EPSILON * (far[1] - far[0])


def median_of_estimates(far: float = 1e6) -> tuple[float, float]:
    """Section 2: the median of 2 k + 1 estimates, k at 0, k + 1 at `far`, one of which is replaced by 0."""
    before, after = sorted([0.0] * 10 + [far] * 11)[10], sorted([0.0] * 11 + [far] * 10)[10]
    return 0.0, abs(before - after)


def tuples_that_can_be_permuted() -> tuple[float, float]:
    """Example 3.5: (0, 1) and (1, 0), close within 1: both orders are allowed, and averages differ by the order."""
    first, second = (0.0, 1.0), (1.0, 0.0)
    averages = {
        tuple((a + b) / 2 for a, b in zip(first, order, strict=True))
        for order in (second, second[::-1])
        if all(abs(a - b) <= 1 for a, b in zip(first, order, strict=True))
    }
    return 1.0, float(len(averages))


def random_references(size: int = 2000, references: int = 100) -> tuple[float, float]:
    """Nearly linear time by counting friends among a few: how far weights move when a reference is replaced."""
    return 3.0, 1 + (size - 1) * 2 / references


def retained_at_random() -> tuple[float, float]:
    """Remark 3.6: rows kept with probability equal to their weight: the epsilon of an algorithm of epsilon 1."""
    return EPSILON, 3 * math.expm1(EPSILON)


def intervals_of_length_one(reach: int = 10) -> tuple[float, float]:
    """Section 2.1: how many unit intervals make up [-R, R]."""
    return 2 * reach - 2, 2 * reach


def lower_bound_of_packing(n_epsilon: float = 10.0, epsilon: float = 0.5) -> tuple[float, float]:
    """Theorem 2.6: epsilon^(-epsilon n) for e^(-epsilon n), a factor that must be below 1."""
    return epsilon**-n_epsilon, math.exp(-n_epsilon)


def somebody_is_shamed(people: int = 1000) -> tuple[float, float]:
    """Section 3.3: 1 - (1 - delta)^n, said to be about delta n, at delta = 10 / n."""
    delta = 10 / people
    return delta * people, 1 - (1 - delta) ** people


def group_of_two(epsilon: float = 1.0, delta: float = 0.01) -> tuple[float, float]:
    """Lemma 3.4 for approximate privacy: the delta of a group of two at 2 epsilon is not delta."""
    return delta, delta * math.expm1(2 * epsilon) / math.expm1(epsilon)


def bias_of_blocks(people: int = 10**6) -> tuple[float, float]:
    """The efficient estimator: with a bias of order k / n the blocks that noise allows leave a bias above the error."""
    blocks = 10 * math.sqrt(people)  # many times sqrt(n) / epsilon, so that the noise is small
    return 0.0, (blocks / people) * math.sqrt(people)  # in standard errors, 1 / sqrt(n)


def survivors_of_one_table() -> tuple[float, float]:
    """Lecture 3, soundness, in one column: friends within 10, and rows at -10, 0 and 10, all of positive weight."""
    rows = [-10.0, *[0.0] * 8, 10.0]
    kept = [x for x, w in zip(rows, basic_filter(rows, lambda a, b: near(a, b, 10.0)), strict=True) if w > 0]
    return 2.0, max(kept) - min(kept)


def weights_that_do_not_move(size: int = 10) -> tuple[float, float]:
    """Claim 2 compares weights, not rows: one row goes from +10 to -10, all weights stay 1, and the mean moves."""
    return 0.0, 20 / size


def blocks_by_position(size: int = 100, blocks: int = 10) -> tuple[float, float]:
    """How many of the blocks of n / k rows change when the first row is taken away."""
    rows = list(range(size))

    def cut(table: list[int]) -> list[tuple[int, ...]]:
        return [tuple(table[at : at + size // blocks]) for at in range(0, size, size // blocks)]

    return 1.0, float(sum(a != b for a, b in zip(cut(rows), cut(rows[1:]), strict=True)))


def rows_of_another_scale(sigma: float = 20.0) -> tuple[float, float]:
    """Step 1, in one column: the share of friends of a typical row, within 10, if rows have this standard deviation."""
    return 1.0, float(2 * ndtr(10 / (sigma * math.sqrt(2))) - 1)


def error_of_many_bins(size: int = 10**6, delta: float = 0.1) -> tuple[float, float]:
    """Theorem 1.2 at epsilon 1: of n bins with a row each the largest of their noises, Lap(2), is about 2 ln n."""
    return 2 * math.log(1 / delta), 2 * math.log(size)


def row_outside_the_domain(length: float = 100.0) -> tuple[float, float]:
    """Lloyd: the domain is assumed; a row (length, 0) that takes the place of 0 moves a sum by its length."""
    return 2.0, length


def statistic_without_bounds(value: float = 1000.0, size: int = 100) -> tuple[float, float]:
    """Exponential families, d = 1: the mean of x^2 when a 0 becomes this value, where 1 / n is printed."""
    return 1 / size, value**2 / size


def floats_that_tell(bits: int = 14) -> tuple[float, float]:
    """A Laplace draw in floats, of 2^bits uniform numbers: the share of what 1 + noise can be and 0 + noise cannot."""
    noise = {math.copysign(math.log((k + 1) / 2**bits), sign) for k in range(2**bits) for sign in (-1, 1)}
    shifted = {1.0 + one for one in noise}
    return 0.0, len(shifted - noise) / len(shifted)


def rate_of_the_density(size: int = 1000) -> tuple[float, float]:
    """Histogram slides: O(1 / (3 / n)), at n = 1000; what is meant is the cube root."""
    return 1 / (3 / size), size ** (-1 / 3)


def samples_that_no_method_saves(d: int = 10, alpha: float = 0.1, epsilon: float = 0.01) -> tuple[float, float]:
    """The lower bound of lecture 3, its second term d / alpha^2 once more: beside d / (alpha epsilon)."""
    return d / alpha**2, d / (alpha * epsilon)


def factor_of_the_coupling(alpha_n: float = 1.0, epsilon: float = 0.5) -> tuple[float, float]:
    """Lemma 2.7: epsilon^(10 alpha n), where group privacy gives e^(10 epsilon alpha n), a factor above 1."""
    return epsilon ** (10 * alpha_n), math.exp(10 * epsilon * alpha_n)


def epsilon_below_one_over_n(n_epsilon: float = 0.1) -> tuple[float, float]:
    """Section 3.1.3: data that follow a distribution are no exception: the best guess between all 0 and all 1."""
    return 1.0, guess(n_epsilon)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The delta of Gaussian noise whose deviation is the sensitivity over mu."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def erratum(name: str) -> Erratum:
    """The fault of this name.

    >>> print(erratum("ramp"))
    ramp (lecture 0, Algorithm 1, step 3): w = (c - n/2) / n; the weights move by: 51.49, where 3 is printed
    """
    for found in ERRATA:
        if found.name == name:
            return found
    raise BadInput(f"there is no erratum {name!r}; there are {', '.join(found.name for found in ERRATA)}")


def _of(name: str, where: str, kind: Kind, run: Run, words: tuple[str, str, str, str]) -> Erratum:
    printed, finds, right, ours = words
    return Erratum(name=name, where=where, kind=kind, printed=printed, right=right, finds=finds, run=run, ours=ours)


ERRATA: Final[tuple[Erratum, ...]] = (
    _of("ramp", "lecture 0, Algorithm 1, step 3", "privacy", ramp_moves, (
        "w = (c - n/2) / n", "the weights move by", "w = 2 c / n - 1, as in Figure 1",
        "[weights.3]")),
    _of("divided by n", "lecture 3, Algorithm 2, step 6", "privacy", averages_divided_by_n, (
        "the sum of w x over n moves by sqrt(d) / n", "it moves by",
        "divide by the sum of the weights", "[weights.4]")),
    _of("sensitivity", "lecture 3, Algorithm 2, step 6", "privacy", sensitivity_of_the_average, (
        "noise for a sensitivity of 10 sqrt(d) / n", "the average moves by",
        "at least 2 r / n, times what the weights can move", "[weights.4]")),
    _of("delta of the average", "lecture 3, Algorithm 2, step 6", "privacy", noise_of_the_average, (
        "(epsilon, delta) by the Gaussian mechanism", "the delta at epsilon 1 is",
        "calibrate to the sensitivity that is attained", "[weights.5]")),
    _of("scale of the test", "lecture 3, Algorithm 2, step 3", "privacy", noise_of_the_test, (
        "the sum of the weights plus Lap(1 / epsilon)", "the delta at epsilon 1 is",
        "the sum moves by up to 3: Lap(3 / epsilon), as the proof has it", "[weights.5]")),
    _of("epsilon twice", "lecture 3, Algorithm 2", "privacy", budget_of_both_steps, (
        "a test at epsilon and an average at epsilon are epsilon", "the delta at epsilon 1 is",
        "split epsilon between the two", "[average.6]")),
    _of("empty weights", "lecture 3, last slide", "proof", passed_without_weight, (
        "passes with all weights 0 with probability at most (1 -) delta", "at n = 40 it passes with probability",
        "the bound needs n of at least (2 + 3) ln(1 / delta) / epsilon", "[weights.5]")),
    _of("odd n", "lecture 0, Claim 3.7", "proof", survivors_for_odd_n, (
        "survivors have a common friend, within 2 r", "survivors of neighbouring tables are apart by",
        "count friends among the others, and survive with more than (n - 1) / 2", "[weights.2]")),
    _of("histogram", "lecture 1, histograms", "privacy", histogram_noise, (
        "Lap(1 / epsilon) on counts of sensitivity 2 is epsilon", "its epsilon is",
        "Lap(2 / epsilon) where a person is replaced, Lap(1 / epsilon) where one is added or removed",
        "statistics/histogram.py")),
    _of("median", "lecture 0, section 2", "privacy", median_of_estimates, (
        "the coordinatewise median plus Gaussian noise is private", "one block moves the median by",
        "clip to public bounds, or find the place privately", "subsample/")),
    _of("tuples", "lecture 0, Example 3.5", "proof", tuples_that_can_be_permuted, (
        "tuples of centres are friends if some order brings them close", "different averages of the same two tuples",
        "centres of one tuple must be more than 3 r apart", "friendly/tuples.py")),
    _of("linear time", "lecture 3, remarks", "answer", random_references, (
        "nearly linear time, weights still move by 3", "with 100 random references of 2,000 rows they move by",
        "compare a public sample with itself, or all rows with public references, with the larger constant",
        "[core.6]")),
    _of("random retention", "lecture 0, Remark 3.6", "proof", retained_at_random, (
        "keeping rows at random has essentially the same analysis", "an algorithm of epsilon 1 becomes",
        "3 (e^epsilon - 1)", "[weights.6]")),
    _of("bins", "lecture 4, section 2.1", "answer", intervals_of_length_one, (
        "[-R, R] is 2 R - 2 unit intervals", "it is", "2 R, and two tails for what lies beyond",
        "[normal_means.2]")),
    _of("packing", "lecture 4, Theorem 2.6", "print", lower_bound_of_packing, (
        "epsilon^(-epsilon n)", "what is meant is", "e^(-epsilon n)", "[floors.5]")),
    _of("name and shame", "lecture 2, section 3.3", "print", somebody_is_shamed, (
        "1 - (1 - delta)^n is about delta n", "at delta = 10 / n it is", "about 1 - e^(-delta n)",
        "audit/worlds.py")),
    _of("groups", "lecture 2, Lemma 3.4", "proof", group_of_two, (
        "a group of k has e^(k epsilon), and the same delta", "the delta of a group of two is",
        "delta (e^(k epsilon) - 1) / (e^epsilon - 1)", "privacy/loss.py")),
    _of("bias", "lecture 1, efficient estimators", "proof", bias_of_blocks, (
        "sample-and-aggregate of the MLE is efficient if epsilon n^(1/4) grows",
        "without a correction the bias is, in standard errors",
        "correct each block to a bias of order m^-2, and choose k between sqrt(n) / epsilon and n^(3/4)",
        "subsample/")),
    _of("soundness", "lecture 3, soundness", "proof", survivors_of_one_table, (
        "survivors are within 2 sqrt(d)", "in one column they are apart by", "20 sqrt(d), twice the radius",
        "[weights.2]")),
    _of("weights alone", "lecture 3, Claim 2", "proof", weights_that_do_not_move, (
        "the mean moves by the total variation of the weights", "with equal weights, n = 10, it moves by",
        "compare the weighted rows: the replaced row and its replacement are two atoms", "[weights.4]")),
    _of("blocks", "lecture 0, section 2", "privacy", blocks_by_position, (
        "blocks of n / k rows: one person changes one block", "where a row is removed, blocks that change:",
        "by position where rows are replaced, by a keyed hash of each person where they are added or removed",
        "[partition.1]")),
    _of("radius", "lecture 3, Algorithm 2, step 1", "answer", rows_of_another_scale, (
        "friends within 10 sqrt(d), for N(mu, Sigma)", "at a standard deviation of 20 the share of friends is",
        "the radius goes with the scale, which is found privately", "[radius.1]")),
    _of("many bins", "lecture 4, Theorem 1.2", "proof", error_of_many_bins, (
        "the largest error is of order log(1 / delta) / epsilon", "with a million bins and delta 0.1 it is about",
        "log(n / delta) / epsilon; the same if delta is at most 1 / n", "[open_histogram.3]")),
    _of("domain", "lecture 2, Algorithm 2", "privacy", row_outside_the_domain, (
        "sums have sensitivity 2, for rows of length 1", "a row of length 100 moves a sum by",
        "pull every row into the ball first", "[lloyd_steps.1]")),
    _of("exponential family", "lecture 1, approximately sufficient statistics", "privacy", statistic_without_bounds, (
        "noise d / (epsilon n) on the sufficient statistics", "the mean of x^2 of 100 rows moves by",
        "clip the statistics to a public or privately found range first", "[sufficient.1]")),
    _of("floats", "lectures 1, 2 and 4", "privacy", floats_that_tell, (
        "real-valued Laplace noise: nothing tells 0 from 1 for sure",
        "in floats, from 2^14 uniform numbers, the share of outputs that do is",
        "whole numbers on a public grid", "[additive.1]")),
    _of("distribution", "lecture 2, section 3.1.3", "proof", epsilon_below_one_over_n, (
        "epsilon << 1 / n may be useful if data follow a distribution", "the best guess at n epsilon 0.1 is right with",
        "it is useless for any data", "[meaning.9]")),
    _of("rate", "lecture 1, histograms", "print", rate_of_the_density, (
        "O(1 / (3 / n))", "what is meant is", "n^(-1/3)", "statistics/density.py")),
    _of("lower bound", "lecture 3, remarks", "print", samples_that_no_method_saves, (
        "d / alpha^2 twice", "what is meant is", "d / alpha^2 + d / (alpha epsilon) + log(1 / delta) / epsilon",
        "lectures/lower_bound.py")),
    _of("two points", "lecture 4, Lemma 2.7", "print", factor_of_the_coupling, (
        "epsilon^(10 alpha n)", "what is meant is", "e^(10 epsilon alpha n)", "[floors.1]")),
)  # fmt: skip
