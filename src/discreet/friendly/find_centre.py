"""A point near most of the rows, wherever they are: no bounds, no guess of the centre.

Releases
    A point, the standard deviation of the noise on each of its coordinates, and a lower bound on the number of rows it
    is the mean of; or nothing but that there are too few.
Promise
    [find_centre.1] REPLACE: the losses `test` and `mean`, and an event of probability `miss`, which is
          Composed((test, mean, Approximate(0, miss))).
    [find_centre.2] ADD_OR_REMOVE: the same.
    [find_centre.3] A radius of 0: the row that is repeated leaves without noise, and `mean` is not spent.
    [find_centre.4] `match_line` and `match_certified` give what `match_core` gives on all pairs, bit for bit: all that
          is proven of it holds of them.
Why
    Let S survive MatchCore, M pairs dropped, and let primes mark the neighbouring table. By [core.4] survivors are
    within a radius r of each other, exactly ([core.8]). Given the shuffle, or the key, the rows looked at are
    neighbours too ([core.1], [sample.1]); n is their number.
    [find_centre.1] Let b = min(M, M') and n - 2b >= 3: then the mean of the survivors moves by at most 2r / (n - 2b).
    By [core.6] either S = I + {p} and S' = I + {q} are as many; some t in I is a friend of both, so |p - q| <= 2r, over
    n - 2b rows. Or, say, S = S' + {p, q}; p and q are friends of all of S', so within r of its mean m', and the mean of
    S, n - 2b rows, lies ((p - m') + (q - m')) / (n - 2b) from m'. In both cases the larger set has 3 rows, so all are
    valid. `test` blurs M, of sensitivity 1 by [core.6]. A margin is added ([average.6]) and the sum rounded
    down to a whole number B: so B >= M >= b but for an event of probability `miss`. B is a function of what was
    released; where n - 2B is below `least`, all ends there. For each B >= b the noise on the mean is that of `mean` at
    2r / (n - 2B), which is not below its sensitivity. So for any set E of outcomes (B, point), and G those with B >= b,
    P(E) <= miss + P(E and G), and of E and G only compositions of `test` and `mean` are asked: P(E and G) <= e^eps P'(E
    and G) + delta(eps). The event is one of the outcome alone, so `miss` is not multiplied by e^eps.
    [find_centre.2] By [core.5] |S| moves by 1, and S = S' + {z} has a mean within r / |S| of that of S' if |S| >= 2.
    `test` pays for the noisy number of rows, which sets the rate of the sample, with mu^2/16, and for |S| with no more
    than 15 mu^2/16. A margin is taken off the noisy |S| and the rest rounded up to B: B <= max(|S|, |S'|) but for the
    event.
    [find_centre.3] Friends are equal rows. In the proof of [find_centre.1] the means of S and S' are the same row: the
    shift is 0.
    [find_centre.4] Along a line: sort the values; the strangers of x are those below x - r and those above x + r, a
    beginning and an end of the sorted list, and a tree holds the least free place of every stretch. A free earlier row
    is never found: had it been a stranger, it would have been matched when its turn came. Certificate: points within
    half a radius of any whole centre are friends, exactly: |p - q| <= |p - c| + |q - c|. Only pairs with a point
    outside of that ball need be compared.
Needs
    n a few times 2 z / mu, z the normal quantile of `miss` and mu that of `test`; rows within about 2^28 radii of 0
    (the less, the more rows, columns and mu: `Lattice`); a radius that hardly any pair of well-behaved rows exceeds.
    The certificate's run time depends on how many points lie outside of the ball, and one row can move its centre. Use
    it for batch work, or where answers leave at fixed times: never where somebody can time single answers.
Accuracy
    The noise on each coordinate has standard deviation 2r / (survivors mu), under ADD_OR_REMOVE half of that. A third
    of the rows may lie anywhere. Rows that agree, and are a minority, are not found.
    n d + b n d steps for b points outside, instead of n^2 d.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 for the plan: filter, count, average. The filter is core.py's.
"""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.friendly.average import SLACK, Centre, Lattice, check_costs, margin, noisy_count
from discreet.friendly.core import UNITS, Apart, Core, Points, Unlike, check_radius, match_core, middle, shuffled
from discreet.friendly.sample import Places
from discreet.noise.distributions import compiled
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Floats, Rows, matrix, take

__all__ = ["MOST", "SLACK", "Centre", "find_centre"]

MOST: Final = 4096  # rows that are compared with each other
SHARE: Final = Fraction(1, 10)  # of the rows that must survive by default
FEW: Final = 10  # that must survive where their number is private
SIZE: Final = Fraction(1, 16)  # of what `test` pays, for the private number of rows


def find_centre(
    rows: Floats | Rows,
    radius: float,
    *,
    test: Gaussian,
    mean: Gaussian,
    miss: float,
    neighbours: Neighbours,
    rng: Randomness,
    least: int | None = None,
    most: int = MOST,
    certified: bool = False,
) -> Centre | None:
    """The noisy mean of rows within `radius` of each other, among `most` of them; None if too few agree.

    It costs `compose(test, mean, Approximate(0, miss))`; both noises must allow for a slack of SLACK. `least` is how
    many must agree. `certified` skips comparisons that need not be made, see Needs for when that is wise.
    """
    table = check_table(rows, radius)
    check_costs(test, mean, miss)
    check_least(least, neighbours)
    looked, size = choose_rows(table, test, neighbours, rng, most)
    top = max(1, most if size is None else size)
    units = Fraction((1 if size is None else 2) * UNITS)
    lattice = Lattice.for_mean(table.width, units / top, mean.mu)
    points = Points.of(looked, radius, lattice.reach) if radius else None
    core = match_core(Unlike(looked)) if points is None else _matched(points, certified=certified)
    count = survivors_at_least(core, test, miss, size, rng)
    if count < fewest(least, size):
        return None
    if points is None:
        return Centre(_common(looked, core), 0.0, count)  # [find_centre.3]
    kept = points.steps[core.survivors[points.valid[core.survivors]]]
    found = lattice.blurred(
        lattice.mean(kept), units / min(count, top), radius=radius, cost=mean, rng=rng
    )  # [find_centre.1], [find_centre.2]
    return Centre(found.point, found.deviation, count)


def choose_rows(
    table: Rows, test: Gaussian, neighbours: Neighbours, rng: Randomness, most: int = MOST
) -> tuple[Floats, int | None]:
    """The rows that are looked at, in order, and how many they are where that is public."""
    if neighbours.size_is_public:
        chosen = shuffled(table.size, most, rng)
        return take(table, chosen), len(chosen)
    noisy = noisy_count(table.size, halves(test).part("size", Gaussian), rng)  # [find_centre.2]
    return Places(table, rng).below(most / max(noisy, Fraction(1))), None


def halves(test: Gaussian) -> Allocation:
    """What the test pays for a private number of rows and for that of the survivors. [find_centre.2]"""
    return Allocation("gdp", exact(test.mu), exact(test.slack) / 2, 2).split(size=Share(SIZE), survivors=Share())


def survivors_at_least(core: Core, test: Gaussian, miss: float, size: int | None, rng: Randomness) -> int:
    """A lower bound on the survivors, here or on the neighbouring table, that fails with probability `miss`."""
    if size is not None:
        dropped = math.floor(noisy_count(core.pairs, test, rng) + margin(test.mu, miss))  # [find_centre.1]
        return size - 2 * max(0, dropped)
    rest = halves(test).part("survivors", Gaussian)
    return math.ceil(noisy_count(len(core.survivors), rest, rng) - margin(rest.mu, miss))  # [find_centre.2]


def fewest(least: int | None, size: int | None) -> int:
    """How many must survive."""
    if least is not None:
        return least
    return FEW if size is None else max(3, math.ceil(size * SHARE))


def check_least(least: object, neighbours: Neighbours) -> None:
    """So few that their mean can move without limit are refused. [find_centre.1], [find_centre.2]"""
    bound = 3 if neighbours.size_is_public else 2
    if least is not None and (not isinstance(least, int) or least < bound):
        raise BadInput(f"least is {least!r}; give a whole number, {bound} or more: so many rows must agree")


def check_table(rows: Floats | Rows, radius: object) -> Rows:
    """A table, by its shape alone; the number of rows may be private and is not told."""
    check_radius(radius)
    if isinstance(rows, np.ndarray) and rows.ndim != 2:
        raise BadInput(f"the rows have {rows.ndim} dimensions; give a table of rows and columns")
    table = matrix(rows)
    if table.width > 2**20:
        raise BadInput(f"the rows have {table.width} columns; give at most 2^20")
    return table


def _matched(points: Points, *, certified: bool) -> Core:
    """The core of all pairs in order, by the shortest way: the ways give the same."""
    if points.steps.shape[1] == 1:
        return match_line(points)
    return match_certified(points) if certified else match_core(Apart(points))


def _common(rows: Floats, core: Core) -> Floats:
    """The row that all survivors equal."""
    finite = core.survivors[np.isfinite(rows[core.survivors]).all(axis=1)]
    return np.asarray(rows[finite[0]] + 0.0 if len(finite) else np.zeros(rows.shape[1]))


LARGEST: Final = 2**30  # comparisons that are kept in memory


def match_line(points: Points) -> Core:
    """MatchCore on points of one column. [find_centre.4]"""
    values, valid = points.steps[:, 0], points.valid
    places = np.flatnonzero(valid)
    order = places[np.argsort(values[places], kind="stable")]
    ordered = values[order]
    below = np.searchsorted(ordered, values - UNITS, side="left")  # so many lie below x - r
    above = np.searchsorted(ordered, values + UNITS, side="right")  # from here on they lie above x + r
    below[~valid], above[~valid] = len(order), len(order)  # an invalid row is a stranger to all
    rank = np.zeros(len(values), dtype=np.int64)
    rank[order] = np.arange(len(order))
    free = np.ones(len(values), dtype=np.bool_)
    loop: Any = walk
    if compiled():
        from discreet._compiled.model_kernels import walk_fast

        loop = walk_fast
    pairs = loop(below, above, rank, valid, order, free)
    return Core(int(pairs), np.flatnonzero(free))  # [find_centre.4]


def walk(below, above, rank, valid, order, free):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0917
    """Match each free row in turn with the first free stranger; returns how many times, `free` is changed in place."""
    size, leaves = len(free), 1
    while leaves < max(1, len(order)):
        leaves *= 2
    tree = np.full(2 * leaves, size)  # the least free place under each node
    for leaf in range(len(order)):
        tree[leaves + leaf] = order[leaf]
    for node in range(leaves - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    pairs, odd = 0, 0  # `odd`: the first invalid row that may be free
    for row in range(size):
        if not free[row]:
            continue
        free[row] = False
        while odd < size and (valid[odd] or not free[odd]):
            odd += 1
        first = odd
        low, high = leaves, leaves + below[row]  # the beginning of the list
        for _ in range(2):
            while low < high:
                if low & 1:
                    first = min(first, tree[low])
                    low += 1
                if high & 1:
                    high -= 1
                    first = min(first, tree[high])
                low, high = low >> 1, high >> 1
            low, high = leaves + above[row], 2 * leaves  # and its end
        if first == size:
            free[row] = True
            continue
        free[first] = False
        pairs += 1
        for gone in (row, first):
            if valid[gone]:
                node = leaves + rank[gone]
                tree[node] = size
                while node > 1:
                    node >>= 1
                    tree[node] = min(tree[2 * node], tree[2 * node + 1])
    return pairs


def match_certified(points: Points) -> Core:
    """MatchCore on points of any dimension, most of them in one ball. [find_centre.4]"""
    size = len(points)
    moved = np.minimum(np.abs(points.steps - middle(points)), UNITS)
    inside = points.valid & (np.einsum("ij,ij->i", moved, moved) <= (UNITS // 2) ** 2)  # [find_centre.4]
    outside, within = np.flatnonzero(~inside), np.flatnonzero(inside)
    if len(outside) * size > LARGEST:
        return match_core(Apart(points))
    apart = np.zeros((len(outside), size), dtype=np.bool_)
    if len(outside):
        found = Apart(points[np.concatenate([outside, within])]).block(0, len(outside))
        apart[:, outside], apart[:, within] = found[:, : len(outside)], found[:, len(outside) :]
    free, pairs = np.ones(size, dtype=np.bool_), 0
    index = np.full(size, -1)
    index[outside] = np.arange(len(outside))
    for row in np.flatnonzero(apart.any(axis=0) | ~inside).tolist():  # the others have no strangers
        if not free[row]:
            continue
        if index[row] >= 0:
            later = np.flatnonzero(apart[index[row], row + 1 :] & free[row + 1 :])
            first = row + 1 + int(later[0]) if len(later) else size
        else:
            later = outside[apart[:, row] & free[outside] & (outside > row)]
            first = int(later[0]) if len(later) else size
        if first < size:
            free[[row, first]] = False
            pairs += 1
    return Core(pairs, np.flatnonzero(free))
