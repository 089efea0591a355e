"""Maximum likelihood for six distributions on many blocks at once, in closed form or by Newton's steps.

Claims
    [likelihood_kernels.1] Each row that `fast_rows` returns is a function of that block's records alone: what is summed
          is summed within the block, and every step is taken entry by entry, as often for one block as for all.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.subsample.partition import Blocks
from discreet.subsample.run_block import Correct

Floats = npt.NDArray[np.float64]
STEPS: Final = 12  # of Newton, for every block
CACHED: Final = 1 << 17  # numbers in a batch: they stay in the cache
LARGEST_JACKKNIFE: Final = (
    400  # records in a block up to which a distribution without sufficient statistics leaves each one out
)


def gamma_places(means: Floats) -> Floats:
    """log shape and log scale from the means of x and of log x: log k - digamma(k) is the logarithm of their gap."""
    from scipy.special import digamma, polygamma

    gap = np.log(means[0]) - means[1]
    gap = np.where(gap > 1e-12, gap, np.nan)
    place = np.log((3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap))
    for _ in range(STEPS):
        shape = np.exp(place)
        place = place - (place - digamma(shape) - gap) / (1 - shape * polygamma(1, shape))
    return np.array([place, np.log(means[0]) - place])


def exponential_places(means: Floats) -> Floats:
    """log scale."""
    return np.log(means[:1])


def normal_places(means: Floats) -> Floats:
    """Place and log scale, from the means of x and of its square about the block's middle."""
    return np.array([means[0], np.log(np.maximum(means[1] - means[0] ** 2, 0.0)) / 2])


def beta_places(means: Floats) -> Floats:
    """log a and log b from the means of log x and of log(1 - x)."""
    from scipy.special import digamma, polygamma

    first, second = np.exp(means[0]), np.exp(means[1])
    rest = 2 * np.maximum(1 - first - second, 1e-12)
    place = np.log(np.array([0.5 + first / rest, 0.5 + second / rest]))
    for _ in range(2 * STEPS):
        a, b = np.exp(place)
        both, curve = digamma(a + b), polygamma(1, a + b)
        off = np.array([digamma(a) - both - means[0], digamma(b) - both - means[1]])
        aa, bb, ab, ba = a * (polygamma(1, a) - curve), b * (polygamma(1, b) - curve), -b * curve, -a * curve
        below = aa * bb - ab * ba
        step = np.array([bb * off[0] - ab * off[1], aa * off[1] - ba * off[0]]) / below
        place = np.asarray(place - np.clip(step, -1.0, 1.0))
    return np.asarray(place)


def weibull_places(x: Floats) -> Floats:
    """log shape and log scale of each row of a table: the shape by its profile equation."""
    logs = np.log(x)
    top = logs.max(axis=-1, keepdims=True)
    down = logs - top
    middle = down.mean(axis=-1)
    place = np.log(math.pi / math.sqrt(6) / down.std(axis=-1))
    for _ in range(STEPS):
        shape = np.exp(place)
        weights = np.exp(shape[..., None] * down)
        total = weights.sum(axis=-1)
        first, second = (weights * down).sum(axis=-1) / total, (weights * down**2).sum(axis=-1) / total
        off, slope = first - 1 / shape - middle, second - first**2 + 1 / shape**2
        place = place - np.clip(off / (slope * shape), -1.0, 1.0)
    shape = np.exp(place)
    return np.array([place, top[..., 0] + np.log(np.exp(shape[..., None] * down).mean(axis=-1)) / shape])


@dataclass(frozen=True, slots=True, kw_only=True)
class FastDistribution:
    """A distribution whose estimate is a function of means (`statistics` and `solve`), or of the rows (`rowwise`)."""

    solve: Callable[[Floats], Floats] | None = None
    statistics: tuple[Callable[[Floats], Floats], ...] = ()
    before: Callable[[Floats], Floats] | None = None  # what the records become first
    centred: bool = False  # statistics about the block's own mean, which the first parameter gets back
    order: tuple[int, ...] = (0, 1)
    rowwise: Callable[[Floats], Floats] | None = None

    def places(self, x: Floats, jackknife: bool) -> Floats:
        """Linked parameters of each row of x, one row each."""
        x = x if self.before is None else self.before(x)
        if self.rowwise is not None:
            return self._by_rows(x, jackknife)
        assert self.solve is not None
        size = x.shape[1]
        middle = x.mean(axis=1, keepdims=True) if self.centred else np.zeros((len(x), 1))
        seen = np.array([one(x - middle) for one in self.statistics])
        total = seen.sum(axis=2)
        found = self.solve(total / size)
        if jackknife:
            without = self.solve((total[:, :, None] - seen) / (size - 1))  # (m - 1) / m of the spread is left
            found = size * found - (size - 1) * without.mean(axis=2)
        if self.centred:
            found[0] += middle[:, 0]
        return found[list(self.order[: len(found)])].T

    def _by_rows(self, x: Floats, jackknife: bool) -> Floats:
        assert self.rowwise is not None
        found = self.rowwise(x)
        if jackknife:
            size = x.shape[1]
            kept = ~np.eye(size, dtype=bool)
            without = [
                self.rowwise(np.broadcast_to(row, (size, size))[kept].reshape(size, size - 1)).mean(axis=1) for row in x
            ]
            found = size * found - (size - 1) * np.array(without).T
        return found.T


def same(x: Floats) -> Floats:
    """The record itself."""
    return x


def log_rest(x: Floats) -> Floats:
    """log(1 - x)."""
    return np.asarray(np.log1p(-x))


FAST: Final[dict[tuple[str, tuple[str, ...]], FastDistribution]] = {  # by scipy's name and the free parameters
    ("gamma", ("a", "scale")): FastDistribution(solve=gamma_places, statistics=(same, np.log)),
    ("expon", ("scale",)): FastDistribution(solve=exponential_places, statistics=(same,)),
    ("norm", ("loc", "scale")): FastDistribution(solve=normal_places, statistics=(same, np.square), centred=True),
    ("lognorm", ("s", "scale")): FastDistribution(
        solve=normal_places, statistics=(same, np.square), before=np.log, centred=True, order=(1, 0)
    ),
    ("beta", ("a", "b")): FastDistribution(solve=beta_places, statistics=(np.log, log_rest)),
    ("weibull_min", ("c", "scale")): FastDistribution(rowwise=weibull_places),
}


@dataclass(frozen=True, slots=True)
class FastLikelihood:
    """The fast path of subsample/aggregate.py for such a distribution."""

    distribution: FastDistribution
    width: int
    _: KW_ONLY
    name: str = "all blocks at once"
    likelihood: bool = False
    closed: bool = True

    def rows(self, blocks: Blocks, correct: Correct, first: int = 0, last: int | None = None) -> Floats:
        """The rows of the blocks from `first` up to `last`, corrected as asked for."""
        edges = blocks.edges[2 * first : 2 * (blocks.count if last is None else last) + 1]
        x = np.asarray(blocks.table.x, dtype=np.float64).reshape(-1)
        whole = fast_rows(self.distribution, x, edges[::2], self.width, correct == "jackknife")
        if correct == "half":
            halves = fast_rows(self.distribution, x, edges, self.width, False)
            with np.errstate(all="ignore"):
                whole = 2 * whole - (halves[0::2] + halves[1::2]) / 2
        whole[~np.isfinite(whole).all(axis=1)] = np.nan
        return whole


def batches(edges: npt.NDArray[np.int64], width: int) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring blocks of one size, no larger than the cache likes."""
    sizes = np.diff(edges)
    first = 0
    while first < len(sizes):
        most = max(1, CACHED // max(1, int(sizes[first]) * width))
        last = first + 1
        while last < len(sizes) and last - first < most and sizes[last] == sizes[first]:
            last += 1
        yield first, last
        first = last


def fast_rows(distribution: FastDistribution, x: Floats, edges: Any, width: int, jackknife: bool) -> Floats:
    """Linked parameters of each block, NaN where there are none. [likelihood_kernels.1]"""
    found = np.full((len(edges) - 1, width), np.nan)
    with np.errstate(all="ignore"):
        for first, last in batches(edges, 8 if jackknife else 1):
            start, stop, count = int(edges[first]), int(edges[last]), last - first
            size = (stop - start) // count
            if size > 2:
                found[first:last] = distribution.places(
                    x[start:stop].reshape(count, size), jackknife
                )  # [likelihood_kernels.1]
    found[~np.isfinite(found).all(axis=1)] = np.nan
    return found
