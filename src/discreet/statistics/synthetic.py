"""A synthetic table: noisy counts of columns and of pairs of columns, and rows drawn from the tree that they make.

Releases
    The categories of columns for which neither categories nor edges are listed, as an open histogram finds them; noisy
    counts of every column, "none of these" among them; which pairs of columns are measured; noisy counts of these. The
    model is the tree of these pairs with counts that agree, and rows are drawn from it.
Promise
    [synthetic.1] Pure epsilon where delta is 0; else (epsilon, delta). Under both relations.
    [synthetic.2] Refusals, the pairs that may be chosen and the number of draws read public numbers and what was
          released before.
    [synthetic.3] With at least the stated probability the interval holds, all at once, the number of rows, the counts
          of all columns and those of all measured pairs in this table. Of anything else there is no interval.
    [synthetic.4] Rows are drawn from what was released and a public seed.
Why
    [synthetic.1] Each column's bins are a fixed function of one entry ([histogram.4]), so a person is in one cell of
    each table of counts: d tables move by at most s d in L1 and by sqrt(s d) in L2, s = 1 if a person is added or
    removed and 2 if one is replaced. The counts of all columns are one draw; those of the k pairs that were chosen
    another, whose sensitivity is fixed by what was released before: [additive.1], [additive.2]. The gain of a pair is
    the L1 distance of its counts from fixed ones, those of independent columns by the released counts, rounded: one
    person moves it by at most s; what is taken off it is public. So each choice is [choose.3]. All parts together:
    [allocation.1], [allocation.2]; a draw that is not made costs nothing. Where categories are to be found, that has
    1/4 of epsilon and half of delta, in equal parts ([open_histogram.1]), and the rest has the rest.
    [synthetic.2] As `release` and `_chosen` read.
    [synthetic.3] A share of the allowed error for each sort of count, by their number: the union bound. Noises of one
    sort are independent: [histogram.3]. The number of rows is public, or the sum of the m counts of the column that has
    fewest: the sum of m noises by [crosstab.3] or of variance m times as large, with half a unit for each that was
    rounded. Which tables there are was released before their noise was drawn. An interval is widened where the count
    that is shown, after all counts were made to agree, is outside.
    [synthetic.4] `to_frame` of the value sees nothing else.
Needs
    2 to 50 columns, at most 100,000 cells. Columns without listed categories or edges need delta above 0.
Accuracy
    Noise of standard deviation 1.4 s d / (epsilon / 4) on a count of a column and 1.4 s k / (7 epsilon / 12) on one of
    a pair; with a delta sqrt(s d) / mu, at mu a half of the whole's, and sqrt(s k) / mu at 0.76 of it.
Source
    McKenna, Miklau and Sheldon 2021 (MST), and McKenna, Mullins, Sheldon and Miklau 2022 (AIM), whose gain less the
    expected noise we take; here a pair that is not worth its noise is left out, and there are intervals.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, meant
from discreet.noise.additive import Grid, slack
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, Reads, statistic
from discreet.privacy.exact import Number, exact, root_above, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import SyntheticTable
from discreet.statistics.crosstab import shared
from discreet.statistics.histogram import MOST_PEOPLE, Bins, Categories, Edges
from discreet.statistics.marginal_spread import MarginalSpread, Noise
from discreet.statistics.open_histogram import OpenHistogram
from discreet.statistics.tree_fit import Pair, counts_of, fitted, rooted
from discreet.tables.entries import by_name, public_size
from discreet.tables.streams import Numbers, added, each, fold
from discreet.worlds.assumptions import About, Expected, World

FOUND: Final = Fraction(1, 4)  # of epsilon, for all categories that are to be found; of delta half
ALONE, CHOICES = Fraction(1, 4), Fraction(1, 6)  # of the rest; pairs have what these leave
COLUMNS: Final = 50
MOST: Final = 100_000  # cells
STRONGEST: Final = 16  # the largest mu: noise of 2^26 steps or more
SLACK: Final = slack(MOST, 2**26)
ENOUGH: Final = 1e-9  # a delta of which the slack takes little
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A model of a table of categories; of a column whose bins are None the categories are found.

    >>> from discreet.noise.randomness import Seeded
    >>> yes = Categories.of(["no", "yes"])
    >>> table = Synthetic((yes, yes), 5.0, names=("smokes", "coughs"))
    >>> seen = table.release([("no", "no"), ("yes", "yes")] * 500, Seeded(1))
    >>> seen.value.measured, bool(490 < seen.value.marginal("smokes", "coughs")["no", "no"] < 510)
    ([('smokes', 'coughs')], True)
    """

    sides: tuple[Bins | None, ...]
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    names: tuple[str, ...]
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if not 2 <= len(self.sides) <= COLUMNS:
            raise BadInput(f"there are {len(self.sides)} columns; a synthetic table has 2 to {COLUMNS}")
        if self.finding and not self.delta:
            unlisted = [one for one, side in zip(self.names, self.sides, strict=True) if side is None]
            raise BadInput(
                f"the categories of {' and '.join(unlisted)} are to be found, which needs delta above 0, say 1e-6; or "
                "list them, levels={'sex': ['F', 'M']}, or for numbers edges={'age': [0, 20, 40, 60, 80]}"
            )
        if sum(len(side) + 1 for side in self.sides if side is not None) > MOST:
            raise BadInput(f"the columns would have more than {MOST} categories; list fewer")
        self.finder()
        try:
            self.stages  # noqa: B018  a budget too small for them is refused here
        except BadInput:
            if not 0 < self.delta < ENOUGH:
                raise
            zero = "" if self.finding else ", or delta=0 for pure epsilon"
            raise BadInput(
                f"delta is {show(self.delta)}, of which the noise of a synthetic table takes more than there is; give "
                f"delta={ENOUGH:g} or more{zero}"
            ) from None

    guarantee = promised

    @property
    def finding(self) -> int:
        """Of how many columns the categories are to be found."""
        return sum(side is None for side in self.sides)

    @property
    def loss(self) -> Loss:
        """Categories, columns, choices and pairs. [synthetic.1]"""
        if self.finding or not self.delta:
            return Approximate(self.epsilon, self.delta)  # [synthetic.1]
        return self.stages.loss

    @property
    def stages(self) -> Allocation:
        """What is left when categories are found: for columns, for choices, for pairs. [synthetic.1]"""
        epsilon, delta = exact(self.epsilon), exact(self.delta)
        if self.finding:
            epsilon, delta = epsilon * (1 - FOUND), delta / 2  # [synthetic.1]
        whole = Allocation.of(epsilon, delta, slack=SLACK, draws=2, lower=True, strongest=STRONGEST)
        choices = Share(CHOICES, Choice, times=len(self.sides) - 1)
        return whole.split(columns=Share(ALONE), choices=choices, pairs=Share())  # [synthetic.1]

    def finder(self) -> OpenHistogram | None:
        """Finds the categories of one column. [synthetic.1]"""
        if not self.finding:
            return None
        epsilon, delta = exact(self.epsilon) * FOUND / self.finding, exact(self.delta) / 2 / self.finding
        return OpenHistogram(epsilon, delta, self.neighbours, self.unit)  # [synthetic.1]

    def check(self, size: int | None) -> None:
        """Refuse so few people that no category could be found. [synthetic.2]"""
        if (finder := self.finder()) is not None:
            finder.check(size)

    @property
    def moved(self) -> int:
        """In how many places one person moves a table of counts: s. [synthetic.1]"""
        return 2 if self.neighbours is Neighbours.REPLACE else 1  # [synthetic.1]

    def noise(self, part: str, tables: int) -> Noise:
        """The distribution of the noise on each count of so many tables."""
        match self.stages.noise(part):
            case Laplace(epsilon):
                return LaplaceDistribution(laplace_scale(self.moved * tables, epsilon))
            case Gaussian(mu):
                return GaussianDistribution(float(root_above(self.moved * tables) / exact(mu)))

    def release(self, rows: Any, rng: Randomness) -> Release[SyntheticTable]:
        """The model and the interval of its counts, or a refusal."""
        if isinstance(rows, Mapping) and len(rows) == 1:
            (rows,) = rows.values()  # an array, whose columns have no names of their own
        rows = by_name(rows, *map(str, range(len(self.sides))))
        size, stages = public_size(rows, self.neighbours), self.stages
        shown = {"columns": self.names, "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        blank: Release[SyntheticTable] = Release(
            self.guarantee, Provenance("Synthetic", shown, rng.secure), name="synthetic table"
        )
        if refusal := refusal_of(self, size):  # [synthetic.2]
            return replace(blank, refusal=refusal)
        sides = [
            shared(self.finder(), each(partial(_column, place=place), rows, object), rng) if side is None else side
            for place, side in enumerate(self.sides)  # [synthetic.1]
        ]
        empty = [one for one, side in zip(self.names, sides, strict=True) if not len(side)]
        if empty or sum(len(side) + 1 for side in sides) > MOST:  # [synthetic.2]
            many = f"the columns have more than {MOST} categories; list fewer"
            few = (
                f"no category of {' or '.join(empty)} is common enough; list them (levels=), give edges= for numbers, "
                "or ask for a larger epsilon"
            )
            return replace(blank, refusal=few if empty else many)
        codes = each(partial(_coded, sides=sides), rows, np.int64)  # [synthetic.1]
        shapes = [len(side) + 1 for side in sides]
        ones = self._blurred(fold(partial(_alone, shapes=shapes), added, codes), "columns", rng)
        fewest = int(np.argmin(shapes))
        total = float(max(0, int(ones[fewest].sum())) if size is None else size)
        pairs = rooted(self._chosen(codes, shapes, [counts_of(one, total) for one in ones], rng), len(sides))
        both = self._blurred(_crossed(codes, shapes, pairs), "pairs", rng)
        alone, paired = self.noise("columns", len(sides)), self.noise("pairs", max(1, len(pairs)))
        margins, tables = fitted(ones, pairs, both, total, (alone.sd**2, paired.sd**2))
        model = SyntheticTable(
            self.names, tuple(tuple(side.names) for side in sides), tuple(pairs), _row(total, margins, tables)
        )  # [synthetic.4]
        spread = MarginalSpread(model, _row(total, ones, both), alone, paired, shapes[fewest], size)  # [synthetic.3]
        noted = replace(blank.provenance, notes=(model.warning,))
        return replace(blank, answer=model, spread=spread, provenance=noted)

    def _blurred(self, tables: Sequence[Integers], part: str, rng: Randomness) -> list[Integers]:
        """Tables of counts, each person in one cell of each, with noise; one draw for all of them. [synthetic.1]"""
        if not tables:
            return []
        moved, cost = self.moved * len(tables), self.stages.noise(part)  # [synthetic.1]
        counts = np.concatenate([np.minimum(table, MOST_PEOPLE).ravel() for table in tables])
        if isinstance(cost, Laplace):
            noisy = rng.blur(counts, sensitivity=moved, cost=cost)  # [synthetic.1]
        else:
            length = root_above(moved)
            grid = Grid(min(0, Grid.for_sigma(length / exact(cost.mu), MOST_PEOPLE).exponent))
            one = grid.steps(1)  # whole people are whole steps
            blurred = rng.blur(counts * one, sensitivity=length * one, cost=cost)  # [synthetic.1]
            noisy = np.rint(grid.value(blurred)).astype(np.int64)
        parts = np.split(noisy, np.cumsum([table.size for table in tables])[:-1])
        return [np.reshape(part, table.shape) for part, table in zip(parts, tables, strict=True)]

    def _chosen(self, codes: Numbers, shapes: Sequence[int], margins: Sequence[Any], rng: Randomness) -> list[Pair]:
        """Pairs that make no circle, the next by its gain over independence less its noise, until none is worth it.
        [synthetic.1], [synthetic.2]"""
        total, most = float(margins[0].sum()), MOST // (len(shapes) - 1)
        pairs = [(a, b) for a, b in combinations(range(len(shapes)), 2) if shapes[a] * shapes[b] <= most]
        expected = math.sqrt(2 / math.pi) * self.noise("pairs", len(shapes) - 1).sd
        scores = []
        for (a, b), counts in zip(pairs, _crossed(codes, shapes, pairs), strict=True):
            alike = np.rint(np.outer(margins[a], margins[b]) / max(total, 1.0)).astype(np.int64)
            gain = int(np.abs(counts - alike).sum())  # [synthetic.1]
            scores.append(math.ceil(expected * shapes[a] * shapes[b]) - gain)
        chosen: list[Pair] = []
        tree = list(range(len(shapes)))  # which columns hang together
        for cost in self.stages.all("choices", Choice):
            apart = [at for at, (a, b) in enumerate(pairs) if tree[a] != tree[b]]
            if not apart:
                break
            place = rng.choose([*(scores[at] for at in apart), 0], sensitivity=self.moved, cost=cost)  # [synthetic.1]
            if place == len(apart):
                break
            chosen.append(pairs[apart[place]])
            a, b = (tree[one] for one in chosen[-1])
            tree = [a if one == b else one for one in tree]
        return chosen


def _column(rows: Mapping[str, Any], *, place: int) -> Any:
    return list(rows.values())[place]


def _coded(rows: Mapping[str, Any], *, sides: Sequence[Bins]) -> Integers:
    """The bin of each entry. [synthetic.1]"""
    return np.column_stack([side.indices(values) for side, values in zip(sides, rows.values(), strict=True)])


def _alone(given: Iterator[Integers], *, shapes: Sequence[int]) -> tuple[Integers, ...]:
    """A kernel: how many there are in each bin of each column. [synthetic.1]"""
    found = [np.zeros(many, dtype=np.int64) for many in shapes]
    for codes in given:
        for place, many in enumerate(shapes):
            found[place] += np.bincount(codes[:, place], minlength=many)
    return tuple(found)


def _crossed(codes: Numbers, shapes: Sequence[int], pairs: Sequence[Pair]) -> tuple[Integers, ...]:
    """How many there are in each cell of two columns, for each pair. [synthetic.1]"""
    return fold(partial(_together, shapes=shapes, pairs=pairs), added, codes) if pairs else ()


def _together(given: Iterator[Integers], *, shapes: Sequence[int], pairs: Sequence[Pair]) -> tuple[Integers, ...]:
    found = [np.zeros((shapes[a], shapes[b]), dtype=np.int64) for a, b in pairs]
    for codes in given:
        for place, (a, b) in enumerate(pairs):
            cells = codes[:, a] * shapes[b] + codes[:, b]
            found[place] += np.bincount(cells, minlength=shapes[a] * shapes[b]).reshape(shapes[a], shapes[b])
    return tuple(found)


def _row(total: float, ones: Sequence[Any], both: Sequence[Any]) -> Any:
    """In the order of the model's counts, to a tenth."""
    return np.round(np.concatenate([np.ravel(part) for part in ([total], *ones, *both)]).astype(float), 1)


def _listed(X: Sequence[str], levels: Any, edges: Any) -> Iterator[Bins | None]:  # noqa: N803
    """The bins of each column, None where they are to be found."""
    for option, given in (("levels", levels), ("edges", edges)):
        if given is not None and not isinstance(given, Mapping):
            raise BadInput(
                f"{option} is {given!r:.60}; give a list for each column by its name, {option}={{'age': [...]}}"
            )
        if unknown := [str(one) for one in given or () if one not in X]:
            near = meant(unknown[0], X)
            raise BadInput(
                f"{option} has {unknown[0]!r}, which is none of the columns; {near}{'T' if near else 't'}hey are "
                f"{', '.join(X)}"
            )
    for one in X:
        if one in (levels or ()) and one in (edges or ()):
            raise BadInput(f"{one!r} has levels and edges; give one of them")
        yield (
            Categories.of(levels[one])
            if one in (levels or ())
            else Edges.of(edges[one])
            if one in (edges or ())
            else None
        )


def _finds(options: Mapping[str, Any], columns: Mapping[str, Columns | None]) -> bool:
    listed = [one for option in ("levels", "edges") for one in options.get(option) or ()]
    facts = columns.get("X")
    return facts is None or not set(facts.names) <= set(listed)


def _world(about: About) -> World:
    levels, edges = about.given.get("levels"), about.given.get("edges")
    if not levels and not edges:
        columns, many = about.whole("columns", 4, 2, COLUMNS), about.whole("bins", 4, 1, 1000)
        levels = about.given["levels"] = {f"x{place}": list(range(many)) for place in range(columns)}
        about.say(
            f"each of {columns} columns has {many} categories that share the rows alike, independent of the others"
        )
    middles = {one: [(low + high) / 2 for low, high in Edges.of(ends).names] for one, ends in (edges or {}).items()}
    entries = {one: list(side) for one, side in (levels or {}).items()} | middles
    cells = sum(len(side) + 1 for side in entries.values())

    def make(generator: Any, n: int) -> dict[str, Any]:
        return {"X": {one: [side[at] for at in generator.integers(len(side), size=n)] for one, side in entries.items()}}

    return World(
        make=make,
        measure="median of the largest error of any count of one column, against the counts in the table",
        closed=lambda release, _, confidence: Expected.noise(release.spread.alone, confidence, bins=cells),
    )


@statistic({"X": Reads("category", "several", streams=True)}, wants_delta=_finds, world=_world)
def synthetic(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    *,
    epsilon: Number,
    delta: Number = 0.0,
    levels: Mapping[str, Any] | None = None,
    edges: Mapping[str, Any] | None = None,
) -> Synthetic:
    """A synthetic table: rows like those of a table, and an interval for every count that they were made of.

    `levels` lists the public categories of columns, `edges` public edges of bins of numbers; the categories of other
    columns are found where enough people share them, which needs delta > 0. The counts of every column are measured,
    and those of the pairs that are worth their noise, at most one less than there are columns; which they are is chosen
    privately. `value.to_frame()` draws rows, `value.marginal("sex", "smokes")` gives counts, and `interval()` holds all
    of them at once. A pair that was not measured has no interval and no count. Noise is Gaussian with delta > 0.

    >>> import discreet
    >>> table = {"sex": ["F", "M"] * 500, "age": [k % 80 for k in range(1000)]}
    >>> known = {"levels": {"sex": ["F", "M"]}, "edges": {"age": [0, 20, 40, 60, 80]}}
    >>> r = discreet.synthetic(table, epsilon=2.0, **known, rng=discreet.Seeded(1))
    >>> low, high = r.interval()
    >>> low.marginal("sex")["F"] <= 500 <= high.marginal("sex")["F"]
    True
    """
    sides = tuple(_listed(X.names, levels, edges))
    return Synthetic(sides, epsilon, delta, names=X.names, neighbours=people.neighbours, unit=people.unit)
