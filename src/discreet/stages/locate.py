"""Where the data are and how far they reach: a median, a median distance and a high distance, with no bounds.

Releases
    `middle`: a float64 near the median. `median_distance`: one near the median of |x - centre|. `far_distance`: one
    that about `beyond` records exceed. Each by the exponential mechanism over float64 (noise/choose_float.py).
Promise
    [locate.1] `middle` and `median_distance` are Choice(epsilon) under both relations: one record moves no score by
         more than 1 (REPLACE) or 1/2 (ADD_OR_REMOVE).
    [locate.2] `far_distance` is Choice(epsilon) under both relations: one record moves no score by more than 1.
Why
    Counts. Distances enter by their leading bits: a cell is a fixed function of one record and the centre. The number N
    of records beyond an edge of cells is the rounded sum of weights in [0, 1], one for each record, which fall with the
    edge; adding a record raises it by 0 or 1. The m = N - N' records between two edges are laid evenly over the floats
    there, the i-th at the share (2i + 1) / (2m). With one record more, each old place lies between two new ones, as
    (2i+1)/(2m+2) <= (2i+1)/(2m) <= (2i+3)/(2m+2) and rounding keeps order. So whether N, N' or both rise, the number
    beyond any t between rises by 0 or 1, as it does when a record joins in plain view.
    Windows. Only order statistics within `reach` of the target are handed on: counts are cut to that window, so the
    score |count - target| is cut at `reach`. Cutting at a fixed height is 1-Lipschitz. Where n is odd and private the
    window holds one more and the height is 1/2 more: the most that a record added may move it.
    [locate.1] With the target n/2, a record added moves count - target by -1/2 or +1/2; one replaced moves it by at
    most 1. The rows that `middle` reads when there are very many are chosen by position and by public numbers, and
    under REPLACE only. Then [choose_float.1].
    [locate.2] The number of records beyond t is at most 1 more or less, and the target is fixed. Then [choose_float.1].
Needs
    About 4 (L + 7) / epsilon records, L the nats of the prior: 3.5 for a place within a standard deviation of 0, 11 for
    one of a thousand, 5 for a scale; far_distance: a target of (2 / epsilon) (7 + 7) records or more.
Accuracy
    Rank errors are two-sided exponential of scale 2 D / epsilon. A cell is 1/64 (medians) or 1/4 (far) of its binade:
    ties and near-ties are spread that far, which is what lets the mechanism find them, as one float64 alone weighs
    e^-36 of its binade.
Source
    Smith 2011 (the exponential mechanism for quantiles); the cells, in place of random factors, are ours.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import ceil, log
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.errors import BadInput
from discreet.noise.choose_float import Prior, Staircase, uniform
from discreet.noise.distributions import compiled
from discreet.noise.order_statistics import order_statistics, ranked
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import LARGE, Floats
from discreet.tables.streams import CHANGED, Gather, Number, Numbers, Stream, fold, joined, sparse

LARGEST: Final = float(np.finfo(np.float64).max)
WIDEST: Final = 1e300
BEYOND: Final = 7 + log(1000)  # nats it takes a far distance not to overshoot: 7 of prior, and a chance of 1 in 1000
NATS: Final = 44  # scores of distances are cut where their weight is e^-44 of the best
ATOM_NATS: Final = 72  # those of places where even a single float, which may weigh e^-49, outweighs all the rest
GOLDEN: Final = 0x9E3779B9  # the golden ratio in units of 2^-32
ENOUGH: Final = 2**17  # rows that place a middle to a 290th of a standard deviation
LONG: Final = 2**25  # rows from which on a middle is looked for in a few runs of them
RUNS: Final = 16
FINE: Final = 6  # leading bits of the fraction that a cell keeps, for medians
COARSE: Final = 2  # and for a far distance
FADE: Final = 26  # binary digits of a fading record
BLOCK: Final = 1 << 20
FEW: Final = 1 << 14  # so few are rather sorted than counted in a table
Cells = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # occupied cells in order, and their records


def middle(
    values: Numbers,
    *,
    cost: Choice,
    neighbours: Neighbours,
    rng: Randomness,
    bounds: tuple[float, float] | None = None,
    prior: Prior | None = None,
) -> float:
    """A float64 near the median; missing counts as 0, or as the middle of public bounds. [locate.1]"""
    if neighbours.size_is_public:
        wanted = max(ENOUGH, ceil(4000 / exact(cost.epsilon)))
        far_apart = some_places if len(values) < LONG else some_runs
        values = taken(values, far_apart(len(values), wanted))  # [locate.1]
    low, high = bounds if bounds is not None else (-LARGEST, LARGEST)
    default = 0.0 if bounds is None else low / 2 + high / 2
    present = ranked(values, default)
    start, stop = _window(len(present), ATOM_NATS, cost, neighbours)
    stairs = Staircase(
        order_statistics(present, start, stop),
        Fraction(len(present), 2) - start,
        low=low,
        high=high,
        prior=prior if bounds is None else uniform(),
        default=default,
    )
    return rng.choose_float(stairs, sensitivity=moves(neighbours), cost=cost)  # [locate.1]


def some_places(size: int, wanted: int) -> slice | npt.NDArray[np.int64]:
    """About so many places of a public number of them, or all: one of each run of so many, in step with no period.

    Each place is there at most once, and which ones are depends on the two numbers alone. [locate.1]
    """
    run = size // wanted
    if run < 2:
        return slice(None)
    starts = np.arange(size // run)
    return starts * run + ((starts * GOLDEN & 0xFFFFFFFF) * run >> 32)


def some_runs(size: int, wanted: int) -> slice | npt.NDArray[np.int64]:
    """About so many places of a very large public number, in a few runs: most of a file need not be read for them.

    Each place is there at most once, and which ones are depends on the two numbers alone. [locate.1]
    """
    length = -(-wanted // RUNS)
    if length * RUNS * 2 > size:
        return slice(None)
    starts = (2 * np.arange(RUNS) + 1) * size // (2 * RUNS) - length // 2
    return np.add.outer(starts, np.arange(length)).ravel()


def taken(values: Numbers, places: slice | npt.NDArray[np.int64]) -> Floats:
    """The records at these places, which are in order, or all of them; a stream is read once, or where it is: there
    its pieces are measured first, and those records alone are sent."""
    if not isinstance(values, Stream):
        return values[places]
    if values.gather is not None and not isinstance(places, slice):
        return _sent(values.gather, len(values), places)
    if values.part is not None and not isinstance(places, slice):
        runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
        if len(runs) <= RUNS:
            return np.concatenate([values.part(int(run[0]), int(run[-1]) + 1) for run in runs])
    found, before = [np.empty(0)], 0
    for piece in values:
        if isinstance(places, slice):
            found.append(piece[places])
        else:
            first, last = np.searchsorted(places, (before, before + len(piece)))
            found.append(piece[places[first:last] - before])
        before += len(piece)
    return np.concatenate(found)


def _sent(gather: Gather, size: int, places: npt.NDArray[np.int64]) -> Floats:
    measured = gather(_measured)
    edges = np.cumsum([0, *(length for _, length in measured)])
    if edges[-1] != size:
        raise BadInput(CHANGED)
    cuts = np.searchsorted(places, edges)
    wanted = {
        number: places[first:last] - edge
        for (number, _), first, last, edge in zip(measured, cuts[:-1], cuts[1:], edges[:-1], strict=True)
        if first < last
    }
    return np.concatenate([np.empty(0), *gather(partial(_at, wanted))])


def _measured(number: Number, piece: Floats) -> tuple[Number, int]:
    return number, len(piece)


def _at(wanted: dict[Number, npt.NDArray[np.int64]], number: Number, piece: Floats) -> Floats:
    return np.asarray(piece[wanted[number]] if number in wanted else [], dtype=np.float64)


def median_distance(values: Numbers, *, centre: float, cost: Choice, neighbours: Neighbours, rng: Randomness) -> float:
    """A float64 near the median of |x - centre|; missing counts as at the centre. [locate.1]"""
    start, stop = _window(len(values), NATS, cost, neighbours)
    window = laid_out(cells(values, centre, FINE), FINE, start, stop)
    stairs = Staircase(window, Fraction(len(values), 2) - start, low=0.0, high=LARGEST)
    return rng.choose_float(stairs, sensitivity=moves(neighbours), cost=cost)  # [locate.1]


def far_distance(
    values: Numbers, *, centre: float, beyond: int, cost: Choice, rng: Randomness, least: float = 0.0
) -> float:
    """A float64 that about `beyond` of the distances |x - centre| exceed; missing counts as at the centre.

    Distances count as `least` or more, a public or released number: see `finest`. [locate.2]
    """
    wanted = beyond + ceil(2 * NATS / exact(cost.epsilon))
    found = faded(_raised(cells(values, centre, COARSE), _cell_of(np.array([least]), 0.0, 52 - COARSE)))
    window = laid_out(found, COARSE, max(0, len(values) - wanted), len(values))
    padded = np.concatenate([np.zeros(wanted - len(window)), window])  # always as many
    return rng.choose_float(
        Staircase(padded, wanted - beyond, low=0.0, high=LARGEST), sensitivity=1, cost=cost
    )  # [locate.2]


def finest(centre: float) -> float:
    """A distance that is next to nothing beside a centre. Records that all are at the centre seem to be this far away:
    at distance 0 itself, where the prior has next to no weight, they would be missed, and a scale be drawn by chance.
    """
    return abs(centre) * 2.0**-40 or 2.0**-24


def _raised(found: Cells, least: npt.NDArray[np.int64]) -> Cells:
    """Records in lower cells count as in this one: each by itself, whatever the others are. [locate.2]"""
    occupied, places = np.unique(np.maximum(found[0], least), return_inverse=True)
    counts = np.zeros(len(occupied), dtype=np.int64)
    np.add.at(counts, places, found[1])
    return occupied, counts


def faded(found: Cells) -> Cells:
    """The same number of records, some of them moved up: each fades out, to 2^(2 - 4L) at L coarse cells above its own.

    Where the data end abruptly, as truth values do, nothing but the prior tells a little beyond them from far beyond.
    With a tail, the ranks near the top spread over a share of a binade that does not shrink as the data grow.
    [locate.2]
    """
    counts = np.zeros(2047 << COARSE, dtype=np.int64)
    counts[found[0]] = found[1]
    at_least, parts = np.cumsum(counts[::-1])[::-1], np.zeros_like(counts)  # whole records, and 2^-FADE parts of them
    for lag in range(1, 8):  # whole records apart, as counts << FADE might wrap around
        below, few = counts[:-lag], 4 * lag - 2
        at_least[lag:] += below >> few
        parts[lag:] += (below & ((1 << few) - 1)) << (FADE - few)
    rounded = np.append(at_least + ((parts + (1 << (FADE - 1))) >> FADE), 0)  # at each cell's lower edge; then nothing
    return sparse(rounded[:-1] - rounded[1:])


def moves(neighbours: Neighbours) -> Fraction:
    """How far one record moves the score of a median. [locate.1]"""
    return Fraction(1) if neighbours is Neighbours.REPLACE else Fraction(1, 2)


def _window(size: int, nats: int, cost: Choice, neighbours: Neighbours) -> tuple[int, int]:
    """The ranks about the middle up to where weights are negligible."""
    reach = ceil(2 * nats * moves(neighbours) / exact(cost.epsilon))
    return max(0, size // 2 - reach), min(size, (size + 1) // 2 + reach)


def cells(values: Numbers, centre: float, fraction_bits: int, *, up: bool = False) -> Cells:
    """Which cells hold distances, in order, and how many: a cell is a binade in 2^fraction_bits parts.

    A cell has its lower end, or with `up` its upper end, and is numbered by it.
    """
    above, below = sided_cells(values, centre, fraction_bits, up=up)
    return joined(above, below)


def sided_cells(values: Numbers, centre: float, fraction_bits: int, *, up: bool = False) -> tuple[Cells, Cells]:
    """The same for records that are not below the centre, and for those below, in one pass."""
    shift, size = 52 - fraction_bits, (2047 << fraction_bits) + 1
    rest = (1 << shift) - 1 if up else 0
    if len(values) < FEW:
        occupied, times = np.unique(_cell_of(taken(values, slice(None)), centre, shift, rest, size), return_counts=True)
        found = occupied, times.astype(np.int64)
    else:
        large = len(values) >= LARGE and warm(len(values), "column_kernels")
        kernel = partial(_counted, centre=centre, shift=shift, rest=rest, size=size, large=large)
        found = fold(kernel, joined, values)
    middle = int(np.searchsorted(found[0], size))
    return (found[0][:middle], found[1][:middle]), (found[0][middle:] - size, found[1][middle:])


def _counted(given: Iterator[Floats], *, centre: float, shift: int, rest: int, size: int, large: bool) -> Cells:
    """A kernel: the occupied cells of some records, those of records below the centre behind the others."""
    fast, counts = large and compiled(), np.zeros((2, 2, size), dtype=np.int64)
    for piece in given:
        if fast:
            from discreet._compiled.column_kernels import count_cells

            count_cells(piece, centre, shift, rest, counts)
            continue
        for start in range(0, len(piece), BLOCK):
            places = _cell_of(piece[start : start + BLOCK], centre, shift, rest, size)
            counts[:, 0] += np.bincount(places, minlength=2 * size).reshape(2, size)
    return sparse(counts.sum(axis=1).ravel())


def _cell_of(values: Floats, centre: float, shift: int, rest: int = 0, below: int = 0) -> npt.NDArray[np.int64]:
    """The leading bits of each distance, with what is added to the rest, so much further on below the centre; missing
    counts as 0, infinite as the largest float."""
    with np.errstate(all="ignore"):
        away = values - centre
    distances = np.abs(away)
    known = np.minimum(np.where(np.isnan(distances), 0.0, distances), LARGEST)
    return (known.view(np.int64) + rest >> shift) + below * (away < 0)


def laid_out(found: Cells, fraction_bits: int, start: int, stop: int) -> Floats:
    """The distances of rank `start` up to `stop` when each cell's records are laid evenly over it, in order."""
    occupied, counts = found
    upto, ranks = np.cumsum(counts), np.arange(start, stop)
    place = np.searchsorted(upto, ranks, side="right")
    many = counts[place]
    share = (2 * (ranks - upto[place] + many) + 1) / (2 * many)  # both exact in float64, the quotient rounded once
    keys = (occupied[place] << (52 - fraction_bits)) + np.floor(np.ldexp(share, 52 - fraction_bits)).astype(np.int64)
    return keys.astype(np.int64).view(np.float64)
