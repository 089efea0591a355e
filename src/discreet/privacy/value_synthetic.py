"""The value of a synthetic table: counts of columns and of pairs of columns, and rows drawn from the tree they make."""

import itertools
from dataclasses import dataclass, field
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.value_arrays import Counts, Described, frame, label, listed
from discreet.privacy.value_tables import CrossCounts

NONE: Final = "none of these"  # what a category that is not listed is called
MOST_ROWS: Final = 10_000_000
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticTable(Described):
    """A model of a table: each pair is a column and one that depends on it; the others are independent given these.

    `cells` are how many rows there are, the counts of each column, "none of these" last, and those of each pair.
    `marginal` gives them by column; `to_frame` draws rows. A pair that was not measured has no count to give.

    >>> cells = np.array([8.0, 3, 5, 0, 4, 4, 0, 3, 0, 0, 1, 4, 0, 0, 0, 0])
    >>> table = SyntheticTable(("sex", "smokes"), (("F", "M"), ("no", "yes")), ((0, 1),), cells)
    >>> table.marginal("sex")["M"], table.marginal("smokes", "sex")["yes", "M"]
    (5, 4)
    >>> len(table.to_frame(rows=80))
    80
    """

    names: tuple[str, ...] = field(repr=False)
    levels: tuple[tuple[Any, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    cells: Any

    def __post_init__(self) -> None:
        used: set[int] = set()
        for pair in self.pairs:
            if len(pair) != 2 or not all(type(one) is int and 0 <= one < len(self.levels) for one in pair):
                raise BadInput("a pair of a synthetic table is two places of columns")
            if pair[0] == pair[1] or pair[1] in used:
                raise BadInput("the pairs of a synthetic table must make trees, each column behind the one before it")
            used |= set(pair)
        if len(self.names) != len(self.levels) or np.size(self.cells) != sum(self._sizes):
            raise BadInput("a synthetic table needs a name and levels for each column, and a number for each count")

    @property
    def _shapes(self) -> list[tuple[int, ...]]:
        sizes = [len(one) + 1 for one in self.levels]
        return [(), *((one,) for one in sizes), *((sizes[a], sizes[b]) for a, b in self.pairs)]

    @property
    def _sizes(self) -> list[int]:
        return [int(np.prod(shape)) for shape in self._shapes]

    @property
    def _tables(self) -> list[npt.NDArray[Any]]:
        """The number of rows, the counts of each column, and those of each pair."""
        parts = np.split(np.ravel(self.cells), np.cumsum(self._sizes)[:-1])
        return [np.reshape(part, shape) for part, shape in zip(parts, self._shapes, strict=True)]

    @property
    def columns(self) -> list[str]:
        """What the columns are called."""
        return list(self.names)

    @property
    def measured(self) -> list[tuple[str, str]]:
        """The pairs of columns whose counts were measured."""
        return [(self.names[a], self.names[b]) for a, b in self.pairs]

    @property
    def alone(self) -> slice:
        """Where the counts of single columns are among the numbers."""
        return slice(1, 1 + sum(len(one) + 1 for one in self.levels))

    def __len__(self) -> int:
        return max(0, round(float(np.nan_to_num(self._tables[0]))))

    def _entries(self) -> list[tuple[str, Any]]:
        sides = [
            [f"{name} {label(one)}" for one in (*side, NONE)]
            for name, side in zip(self.names, self.levels, strict=True)
        ]
        both = [map(", ".join, itertools.product(sides[a], sides[b])) for a, b in self.pairs]
        return list(zip(itertools.chain(["rows"], *sides, *both), np.ravel(self.cells).tolist(), strict=True))

    @overload
    def marginal(self, name: str) -> Counts: ...
    @overload
    def marginal(self, name: str, other: str) -> CrossCounts: ...
    def marginal(self, name: str, other: str | None = None) -> Counts | CrossCounts:
        """The counts of one column, or of two that were measured together; of others there is no interval."""
        for one in (name,) if other is None else (name, other):
            if one not in self.names:
                raise BadInput(f"there is no column {one!r}; name one or two of {', '.join(self.names)}")
        tables, a = self._tables, self.names.index(name)
        if other is None:
            return Counts(self.levels[a], tables[1 + a][:-1], other=tables[1 + a][-1].item())
        b = self.names.index(other)
        for place, pair in enumerate(self.pairs, start=1 + len(self.names)):
            if {a, b} == {*pair}:
                inner = tables[place] if pair == (a, b) else tables[place].T
                whole = np.block([[inner, tables[1 + a][:, None]], [tables[1 + b][None, :], tables[0].reshape(1, 1)]])
                return CrossCounts((name, other), ((*self.levels[a], NONE), (*self.levels[b], NONE)), whole.ravel())
        pairs = ", ".join(f"{one} with {two}" for one, two in self.measured) or "none"
        raise BadInput(
            f"{name} with {other} was not measured, so their counts have no interval; measured were {pairs}. Ask "
            "discreet.crosstab for this pair"
        )

    def with_cells(self, cells: Any) -> "MarginalCounts":
        """Other numbers in the same places: the ends of an interval."""
        return MarginalCounts(self.names, self.levels, self.pairs, np.ravel(cells))

    @property
    def warning(self) -> str:
        """What the rows do not say."""
        rest = len(self.names) * (len(self.names) - 1) // 2 - len(self.pairs)
        pairs = "a pair" if rest == 1 else f"{rest} pairs"
        missed = f", {pairs} of columns that {'was' if rest == 1 else 'were'} not measured among it," if rest else ""
        return (
            "Synthetic rows. The counts of marginal(...) have an interval; anything else that is computed from such "
            f"rows{missed} has no error bar"
        )

    def to_frame(self, rows: int | None = None, *, seed: int = 0) -> Any:
        """Rows drawn from the model, as many as it counts unless `rows` says: a pandas data frame with a warning.

        The seed is public: to draw costs nothing and hides nobody. Counts in the rows are those of the model, rounded
        up or down; numbers lie anywhere in their bin; None stands for what is in no category.
        """
        made = frame(self.drawn(rows, seed=seed))
        made.attrs["warning"] = self.warning
        return made

    def drawn(self, rows: int | None = None, *, seed: int = 0) -> dict[str, npt.NDArray[Any]]:
        """The same rows as columns by name, without pandas."""
        many = len(self) if rows is None else rows
        for what, given, most in (("rows", many, MOST_ROWS), ("seed", seed, 2**63)):
            if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= most:
                raise BadInput(f"{what} is {given!r}; give a whole number from 0 to {most}")
        generator = np.random.Generator(np.random.Philox(seed))  # noqa: TID251  public coins, not noise
        codes = self._codes(many, generator)
        return {name: _entries_of(self.levels[at], codes[at], generator) for at, name in enumerate(self.names)}

    def _codes(self, many: int, generator: Any) -> dict[int, Integers]:
        """The place of each row's category in each column: first columns that depend on none, then down the trees."""
        tables = [np.maximum(np.nan_to_num(table), 0.0) for table in self._tables]
        children = {child for _, child in self.pairs}
        found = {at: _dealt(many, tables[1 + at], generator) for at in range(len(self.names)) if at not in children}
        for place, (parent, child) in enumerate(self.pairs):
            both, codes = tables[1 + len(self.names) + place], np.zeros(many, dtype=np.int64)
            for level, counts in enumerate(both):
                here = np.flatnonzero(found[parent] == level)
                codes[here] = _dealt(len(here), counts if counts.sum() > 0 else tables[1 + child], generator)
            found[child] = codes
        return found

    def __str__(self) -> str:
        pairs = listed([f"{a} with {b}" for a, b in self.measured[:4]], len(self.pairs), "pairs")
        size = f"about {len(self):,} rows and {len(self.names)} columns"
        return f"a synthetic table of {size}; measured together: {pairs or 'none'}"


class MarginalCounts(SyntheticTable):
    """Numbers in the places of a synthetic table's counts: no rows can be drawn from the ends of an interval."""

    __slots__ = ()

    def to_frame(self, rows: int | None = None, *, seed: int = 0) -> Any:  # noqa: ARG002  as of the table
        """The numbers by name."""
        return frame(self.table())


def _dealt(many: int, counts: Floats, generator: Any) -> Integers:
    """So many places in the proportion of the counts, each as often as it should be, rounded up or down; shuffled."""
    whole = float(counts.sum())
    wanted = many * (counts / whole if whole > 0 else np.full(len(counts), 1 / len(counts)))
    upto = np.concatenate([[0.0], np.cumsum(wanted)])
    upto[-1] = many
    drawn = np.diff(np.ceil(upto - generator.random()).astype(np.int64))  # systematic: a point in every unit
    found: Integers = generator.permutation(np.repeat(np.arange(len(counts)), drawn))
    return found


def _entries_of(side: tuple[Any, ...], codes: Integers, generator: Any) -> npt.NDArray[Any]:
    """The categories of these places; of bins numbers in them."""
    bins = [isinstance(one, tuple) and len(one) == 2 and all(isinstance(end, float) for end in one) for one in side]
    if side and all(bins):
        ends = np.array([*side, (np.nan, np.nan)])
        low, high = ends[codes].T
        return np.asarray(low + generator.random(len(codes)) * (high - low))
    entries = np.empty(len(side) + 1, dtype=object)
    for place, one in enumerate(side):  # a category may be a list
        entries[place] = one
    return entries[codes]
