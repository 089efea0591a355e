"""Where far values of data of any shape are limited, at a distance that is chosen privately, and their sums within it.

Releases
    Values are measured from a public or released centre c. A distance C near the median of |x - c|, for each of two
    samples, and the larger counts; the noisy number of people within S, 2.5 C or of two samples 3 C, and how many more
    of those beyond it are above c than below (of two samples the difference of that, in people of the smaller). Where
    both say that the tails are balanced, the limit is T = 3 C; elsewhere it is T = C 2^(k / 4), k = -16, ..., 240. For
    each sample the noisy sums of u = 3 (x - c) / 4 T, which is +-1 where |x - c| > T, and of (m - min(u^2, m)) / 2,
    with m = 1 for balanced tails and m = 9/16 for others, which few people are beyond. Where flags are looked for, the
    noisy number of values that are neither 0 nor 1; if it is within 5 scales of its noise, T is at least 1.
Promise
    [tail_limits.1] Pure: the epsilons of the stages that run sum to the same, with balanced tails and without, under
          both relations. In two samples who is in which is public under REPLACE, and hidden under ADD_OR_REMOVE.
    [tail_limits.2] For a distribution that is symmetric about c the mean of u is 0 wherever the limit is; so it is for
          a tail beyond T that falls by a factor e with each T / 3, and for a slightly skewed normal distribution with
          T = 2 standard deviations. Samples of one distribution have one mean of u.
    [tail_limits.3] Where clearly more people are far on one side, the mean of all values may lie to that side of the
          limited one by 3 scales of the noise on the sum of u: a test about it takes no such surplus for evidence.
          Released numbers say which.
    [tail_limits.4] The look for flags is pure too. If all values are 0 or 1 and c is between, then but for one look in
          300 all are within T: the mean of u is 0 where c is their mean, however few are 1.
Why
    [tail_limits.1] What the choice of T would have cost goes to the sums if tails are balanced, which released numbers
    decide. C is [locate.1]. A person is within S and counts 1 in the one number, or is beyond and counts at most 1,
    up or down, in the other: both together move by at most 1 in L1 for one who joins, and by 2 for one who is replaced.
    T is chosen by whole scores, 2 N - n (N people beyond the limit, n in all) plus a public number for each k: a person
    who joins moves N by 0 or 1 for each k and n by 1, so each score by exactly 1; one who is replaced moves it by at
    most 2. Then [choose.3]. u is a whole number of steps of 2^-26, a fixed function of one row, c and T, in [-1, 1];
    the other number is rounded down to whole steps. It is at most (1 - u^2) / 2 <= 1 - |u|, so that a row counts by at
    most 1 in both together: one that joins moves the sums by at most 1 in L1, one that is replaced by at most 2:
    [additive.1]. So the spread costs nothing more. A person is in one of two samples, whose sums are blurred together.
    [tail_limits.2] In an exponential tail the mean of x - c beyond T is T + T / 3: what u counts it as. To first order
    in the skewness g of a density f(x) (1 + g (x^3 - 3 x) / 6), f the normal one, the surplus beyond t is
    g (t^2 - 1) f(t) / 3 and its integral beyond T is g T f(T) / 3: T / (T^2 - 1) for each person, T / 3 for T = 2.
    [tail_limits.3] T leaves out people in proportion to the noise, so what a tail longer than an exponential one is
    undercounted by is a multiple of its scale: measured, 0.9 scales for a lognormal tail of log-deviation 1 and 1.3 for
    a Pareto tail of index 3, at n epsilon of 500 and of 1000. What is allowed, 3, is a constant; the side was released.
    The balance of one sample is looked for at 2.5 C, within the limit, because more of a longer tail is beyond that:
    7.5% of an exponential column, 6 scales of the noise on their number, of which 3 count as clear. Chance in the
    sample is allowed for by the root of all who seem to be beyond. With three twentieths of epsilon or more for it, the
    noise does not grow with n as a share n / 85 would, and a longer tail of 3% of people is seen once they are many.
    [tail_limits.4] A person is one of the others or is not: who joins or is replaced moves their number by at most 1:
    [additive.1]. Its epsilon is one of those that sum to epsilon; that T is at least a constant, if the released number
    says so, is post-processing. Of flags others are 0, so the number is noise alone, beyond 5 scales on one side once
    in 2 e^5 = 297 times; |x - c| < 1 <= T. Where some are others, T is chosen as it is elsewhere and raised to 1 at
    most: fewer people are beyond it, and the noise is that of values of 0 and 1. Half of all people are 5 scales.
Needs
    If more than half of the values are c itself a limit may not be found: a refusal. The balance is looked for where
    n epsilon is 340 or more (REPLACE: 680), in two samples 500 (1000) in the smaller; one sample is not tested below.
Accuracy
    Balanced tails: a reach of 4 C, 2.7 standard deviations of a normal column. Other tails: a limit e times as wide
    must save as many people as 2 nats are worth, 10 / epsilon (REPLACE: 16 / epsilon); so T leaves out about that
    many over h, the slope of log N over log T there. So N people in one place, r times as far as most others, may be
    left out if N epsilon is below 10 ln r + 15 (REPLACE: 16 ln r + 24), and then no bound on what the mean of all
    values is short of them holds: they may be anywhere. A mean that hangs on so few needs public bounds.
Source
    Huang, Liang and Yi 2021 for clips that weigh people against noise; the score without a target rank, the balance
    and what far values count as are ours.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import Refused
from discreet.hypotheses.null_distributions import Floats
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Moment, enough, fitting_bits, noise_size
from discreet.stages.locate import median_distance, moves
from discreet.tables.streams import Numbers, added, fold

PARTS: Final = 4  # of a binade: candidates for the limit
PLACES: Final = np.arange(-4 * PARTS, 60 * PARTS + 1)
LOW: Final = -3 * PARTS  # places from which on there is a limit: below it, nobody seems to be within any
STEEP: Final = 2.0  # nats that a limit e times as wide must save
GRAINS: Final = 64  # steps of a score
BEYOND: Final = Fraction(4, 3)  # what a value beyond the limit counts as, in limits
ROUNDED: Final = 2.0**-50  # of the centre: values closer to it are as good as at it
FINDS: Final = (1e-280, 1e280)  # distances that are neither nothing nor too large to be summed
SCALE, FAR = Fraction(1, 20), Fraction(1, 5)  # of epsilon
FAR_SEEN: Final = Fraction(1, 4)  # the same as FAR where a row is replaced
NEAR: Final = 3  # median distances within which balanced tails are limited: two standard deviations of a normal column
SEEN: Final = (2.5, 3.0)  # of one sample and of two: median distances beyond which the balance is looked for
# The same: n epsilon times the share for the balance. One exponential tail is then 6 scales of its noise.
BALANCE: Final = (85, 100)
LEAST_BALANCE: Final = Fraction(3, 20)  # of epsilon, however many people there are
EVEN: Final = 3.0  # scales of noise, and standard errors of the sample, by which balanced tails may seem to differ
LONGER: Final = 3.0  # scales of noise by which a longer tail may pull the mean of all values to its side
FLAGS: Final = 10  # n epsilon times the share for the look for flags: 5 scales of its noise are half of all people
FLAGS_SHARES: Final = Fraction(1, 100), Fraction(1, 20)  # of epsilon, at least and at most
OTHERS: Final = 5  # scales of noise that the number of values that are neither 0 nor 1 may seem to be
INSIDE: Final = 0.7  # of all people, who seem to be within SEEN where tails are balanced
LOCATED: Final = 50  # n epsilon with which a median is found under ADD_OR_REMOVE; four times as much under REPLACE
LOST: Final = (
    "no distance was found that most values stay within; if more than half of them are one number, "
    "give public bounds=(low, high)"
)


class Limits(NamedTuple):
    """Values count by their distance from the centre; one beyond the limit counts as `reach` away. Their squares count
    up to `most` of the squared reach. `below` and `above` are how far the mean of what is counted may be from that of
    all values, in scales of the noise on its sum."""

    centre: float
    limit: float
    reach: float
    most: Fraction = Fraction(1)
    below: float = 0.0
    above: float = 0.0


class Samples(NamedTuple):
    """The values of each sample, a public or noisy number of them, and where they are measured from."""

    parts: Sequence[Numbers]
    sizes: Sequence[int]
    centre: float
    neighbours: Neighbours


def limit_shares(
    sizes: Sequence[int], epsilon: Number, neighbours: Neighbours, balanced: bool, most: Fraction
) -> dict[str, Share | None]:
    """What the limit costs, for so many people by a public or a noisy number."""
    samples, balance, public = max(1, len(sizes)), None, neighbours.size_is_public
    scale = located(min(sizes, default=0), epsilon, neighbours, Fraction(1, 8 * samples) if public else SCALE)
    if sizes:
        nats = BALANCE[samples - 1] * moved_by_one(neighbours)
        balance = max(Fraction(nats, min(sizes)) / exact(epsilon), LEAST_BALANCE)
    return {
        "scale": Share(scale * samples, Choice, times=samples),
        "balance": None if balance is None or balance > most else Share(balance),
        "limit": None if balanced else Share(FAR_SEEN if public else FAR, Choice),
    }


def located(size: int, epsilon: Number, neighbours: Neighbours, most: Fraction) -> Fraction:
    """The share with which a median of so many is found; the most there is where nobody knows how many they are."""
    nats = LOCATED * moved_by_one(neighbours) ** 2
    return enough(nats, size, epsilon, SCALE if neighbours.size_is_public else SCALE / 2, most) if size else most


def flags_share(size: int, epsilon: Number) -> Share:
    """What the look for flags costs among so many people by a public or a noisy number. [tail_limits.4]"""
    return Share(enough(FLAGS, size, epsilon, *FLAGS_SHARES))


def limited_at(
    people: Samples, stages: Callable[[Sequence[int], bool], Allocation], rng: Randomness
) -> tuple[Limits, Allocation]:
    """Where values are limited, and what the sums then cost: close by, if tails are balanced. [tail_limits.1]"""
    given, centre, relation = stages(people.sizes, False), people.centre, people.neighbours
    cost = given.part("scale", Choice)
    found = [median_distance(part, centre=centre, cost=cost, neighbours=relation, rng=rng) for part in people.parts]
    near = min(max(*found, abs(centre) * ROUNDED, FINDS[0]), FINDS[1])  # [tail_limits.1]
    least = (
        1.0 if "flags" in given and seem_flags(people, given.part("flags", Laplace), rng) else 0.0
    )  # [tail_limits.4]
    if "balance" not in given:
        return limits_of(people, near, given, rng, least), given
    surplus, most_are_near = tails_seen(people, SEEN[len(people.parts) - 1] * near, given.part("balance", Laplace), rng)
    if not surplus and most_are_near:
        limit = max(NEAR * near, least)  # [tail_limits.4]
        return Limits(centre, limit, float(BEYOND) * limit), stages(people.sizes, True)  # [tail_limits.1]
    below, above = max(0.0, -LONGER * surplus), max(0.0, LONGER * surplus)  # [tail_limits.3]
    return limits_of(people, near, given, rng, least)._replace(below=below, above=above), given


def seem_flags(people: Samples, cost: Laplace, rng: Randomness) -> bool:
    """Whether all values may be 0 or 1, by a noisy number of those that are neither. [tail_limits.4]"""
    others = fold(_others, added, people.parts[0])
    noisy = rng.blur(others, sensitivity=1, cost=cost)  # [tail_limits.4]
    return bool(noisy * cost.epsilon <= OTHERS)


def _others(given: Iterator[Floats]) -> int:
    """A kernel: how many values are neither 0 nor 1; a missing one is neither."""
    return sum(int(np.count_nonzero((piece != 0) & (piece != 1))) for piece in given)


def tails_seen(people: Samples, limit: float, cost: Laplace, rng: Randomness) -> tuple[int, bool]:
    """Whether clearly more people are far above the centre than far below (1), fewer (-1) or neither (0), of two
    samples beyond what the other has; and whether most are near. [tail_limits.1]"""
    bits = fitting_bits(cost)
    moved = moved_by_one(people.neighbours) << bits  # [tail_limits.1]
    noisy = rng.blur(counted_tails(people, limit, bits), sensitivity=moved, cost=cost)  # [tail_limits.1]
    surplus, within = (int(one) / 2**bits for one in noisy)
    sampled = math.sqrt(max(sum(people.sizes) - within, 0.0))  # were each beyond it on either side by chance
    clear = abs(surplus) > EVEN * math.hypot(noise_size(moved, cost) / 2**bits, sampled)
    return int(np.sign(surplus)) * clear, within >= INSIDE * sum(people.sizes)


def counted_tails(people: Samples, limit: float, bits: int) -> Any:
    """The surplus of those far above, in people of the smaller sample, and how many are near; in steps.
    [tail_limits.1]"""
    surplus = within = 0
    for number, (part, size) in enumerate(zip(people.parts, people.sizes, strict=True)):
        below, above = fold(partial(_tails, low=people.centre - limit, high=people.centre + limit), added, part)
        weight = (min(people.sizes) << bits) // size  # at most 2^bits
        surplus += (above - below) * (-weight if number else weight)
        within += (len(part) - above - below) << bits
    return np.array([surplus, within], dtype=object)


def _tails(given: Iterator[Floats], *, low: float, high: float) -> tuple[int, int]:
    """A kernel: how many are below and above."""
    below = above = 0
    for piece in given:
        below += int(np.count_nonzero(piece < low))
        above += int(np.count_nonzero(piece > high))
    return below, above


def moved_by_one(neighbours: Neighbours) -> int:
    """How far one person moves what a row counts by at most 1 in, up or down. [tail_limits.1]"""
    return 2 if neighbours is Neighbours.REPLACE else 1


def limits_of(people: Samples, near: float, stages: Allocation, rng: Randomness, least: float = 0.0) -> Limits:
    """A limit that few people are beyond, as far as it is worth its noise, or a public `least` one; refused if there is
    none. [tail_limits.1]"""
    cost, moved = stages.part("limit", Choice), 2 * moves(people.neighbours)
    candidates = near * 2.0 ** (PLACES / PARTS)
    kernel = partial(_distances, centre=people.centre, candidates=candidates)
    within = np.cumsum(sum(fold(kernel, added, part) for part in people.parts))[:-1]
    price = np.rint(PLACES * float(STEEP * math.log(2) * 2 * moved * GRAINS / (PARTS * exact(cost.epsilon))))
    scores = GRAINS * (sum(map(len, people.parts)) - 2 * within) + price.astype(np.int64)  # 2 N - n, N = n - within
    chosen = rng.choose(scores, sensitivity=moved * GRAINS, cost=cost)  # [tail_limits.1]
    if PLACES[chosen] < LOW or near >= FINDS[1]:
        raise Refused(LOST)
    limit = max(float(candidates[chosen]), least)  # [tail_limits.4]
    return Limits(people.centre, limit, float(BEYOND) * limit, 1 / BEYOND**2)


def _distances(given: Iterator[Floats], *, centre: float, candidates: Floats) -> Any:
    """A kernel: how many are within each candidate, and not within one before."""
    found = np.zeros(len(candidates) + 1, dtype=np.int64)
    for piece in given:
        with np.errstate(all="ignore"):
            distances = np.nan_to_num(np.abs(piece - centre), nan=0.0, posinf=np.inf)
        found += np.bincount(np.searchsorted(candidates, distances), minlength=len(found))
    return found


def limited_sums(people: Samples, at: Limits, stages: Allocation, rng: Randomness) -> list[list[Moment]]:
    """The noisy sums of u and of its square in each sample, and their noise. [tail_limits.1]"""
    cost, count = stages.part("mean", Laplace), len(people.parts)
    bits = fitting_bits(cost)
    moved = moved_by_one(people.neighbours) << bits  # [tail_limits.1]
    steps = [fold(partial(_limited_sums, at=at, bits=bits), added, part) for part in people.parts]
    totals = np.array([both[kind] for kind in (0, 1) for both in steps], dtype=object)
    noisy = rng.blur(totals, sensitivity=moved, cost=cost)  # [tail_limits.1]
    noise, sums = noise_size(moved, cost) / 2**bits, [int(total) / 2**bits for total in noisy]
    counted = 1 / float(stages.part("size", Laplace).epsilon) if "size" in stages else 0.0
    return [
        [Moment(total, noise, 1.0) for total in sums[:count]],
        [
            Moment(float(at.most) * size - 2 * rest, math.hypot(float(at.most) * counted, 2 * noise), 1.0)
            for size, rest in zip(people.sizes, sums[count:], strict=True)
        ],
    ]


def _limited_sums(given: Iterator[Floats], *, at: Limits, bits: int) -> tuple[int, int]:
    """A kernel: the sums of both."""
    first = second = 0
    for piece in given:
        ones, rests = limited_steps(piece, at, bits)
        first, second = first + int(ones.sum()), second + int(rests.sum())
    return first, second


def limited_steps(values: Floats, at: Limits, bits: int) -> tuple[Any, Any]:
    """Each row's u and (m - min(u^2, m)) / 2 in whole steps; a missing value is at the centre. [tail_limits.1]"""
    one = 2**bits
    with np.errstate(all="ignore"):
        share = np.nan_to_num((values - at.centre) / at.limit, nan=0.0, posinf=2.0, neginf=-2.0)
    far = np.where(np.abs(share) > 1, np.sign(share), share * (at.limit / at.reach))  # [tail_limits.2]
    steps = np.rint(far * float(one)).astype(np.int64)
    most = int(at.most * one * one)
    return steps, (most - np.minimum(steps * steps, most)) // (2 * one)  # [tail_limits.1]


def limited(at: Limits) -> str:
    """Where values are limited, and what one outside counts as, for the first line: a test is about these."""
    low, high = (show(at.centre + sign * at.limit) for sign in (-1, 1))
    far = " or ".join(show(at.centre + sign * at.reach) for sign in (-1, 1))
    return f" of values limited to {low} to {high}" + (f" (one outside counts as {far})" if at.reach > at.limit else "")


def said(at: Limits) -> str:
    """The same in words."""
    further = f"; one outside counts as {show(at.reach)} from {show(at.centre)}" if at.reach > at.limit else ""
    return f"the test is about means{limited(at).partition(' (')[0]}{further}"
