"""What is drawn of a release, decided once from its value; and how matplotlib draws it.

`marks` gives a few kinds of marks, made of numbers and words alone. `draw` puts the first of them on axes; a report
draws all of them as SVG (report/svg.py).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.intervals import NamedNumber, Shown
from discreet.privacy.values import (
    ClassCoefficients,
    ClassCounts,
    Clusters,
    Coefficients,
    Comparison,
    Components,
    Counts,
    CrossCounts,
    Density,
    Distribution,
    Matrix,
    MultivariateNormal,
    Scalar,
    Shapes,
    Shares,
    StepCurve,
    SyntheticTable,
    TestResult,
    Vector,
    label,
)

FAINT: Final = 0.003  # of the highest step: lower ones at the ends are not drawn
DRAWN: Final = 4096  # steps
LEVEL: Final = 0.05
DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2})?\Z")  # as dates are shown
PARTS: Final = ("value", "low", "high")


@dataclass(frozen=True, slots=True)
class PointMarks:
    """Numbers with their intervals, on one scale or each on its own; `zero` says that 0 is on the scale.

    `dates`: the numbers are days since 1970, and the scale has dates.
    """

    rows: tuple[NamedNumber, ...]
    together: bool = True
    zero: bool = False
    dates: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Counts or shares from 0 up, with their intervals."""

    rows: tuple[NamedNumber, ...]
    what: str


@dataclass(frozen=True, slots=True)
class Line:
    """A curve through points, perhaps in a band; steps are a curve with two points at each edge."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    left_out: float = 0.0  # the share of the whole that lies in steps too low to be drawn
    what: str = "density"


@dataclass(frozen=True, slots=True)
class CellMarks:
    """A table of numbers, shaded by `share`.

    That is their size beside those of the diagonal, or by column: where they lie from its least to its greatest; or,
    of counts, their size beside the greatest; `summed` says that some are sums of the others, which stay pale.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[NamedNumber, ...], ...]
    by_column: bool = False
    summed: frozenset[tuple[int, int]] | None = None

    def share(self, row: int, column: int) -> float:
        """From -1 to 1."""
        value, middle = self.cells[row][column].value or 0.0, 0.0
        if self.summed is not None:
            places = [(at, one) for at in range(len(self.rows)) for one in range(len(self.columns))]
            known = [self.cells[at][one].value or 0.0 for at, one in places if (at, one) not in self.summed]
            size = 0.0 if (row, column) in self.summed else max(known, default=0.0)
        elif self.by_column or len(self.rows) != len(self.columns):
            known = [line[column].value or 0.0 for line in self.cells]
            middle, size = min(known) / 2 + max(known) / 2, max(known) / 2 - min(known) / 2
        else:
            own = [abs(self.cells[place][place].value or 0.0) for place in (row, column)]
            size = math.sqrt(own[0]) * math.sqrt(own[1])
        share = (value - middle) / size if size else 0.0
        return max(-1.0, min(1.0, share)) if math.isfinite(share) else 0.0


@dataclass(frozen=True, slots=True)
class Chance:
    """A p-value beside the level of 5%."""

    p: float


Mark = PointMarks | Bars | Line | CellMarks | Chance


def marks(shown: Shown) -> list[Mark]:
    """What is drawn, the most telling first; nothing of a refusal, a text, or a number without an interval."""
    rows, value = shown.drawn, shown.value
    match value:
        case Scalar():
            date = dated(shown)
            one = rows[0] if rows and rows[0].barred else date
            return [] if one is None else [PointMarks((replace(one, name=""),), dates=date is not None)]
        case Vector() | Components() | Comparison() if rows:
            one_scale = isinstance(value, Components) or (isinstance(value, Vector) and value.one_scale)
            chance = [Chance(value.p_value)] if isinstance(value, Comparison) else []
            return [PointMarks(rows, together=one_scale), *chance]
        case Coefficients() | ClassCoefficients() | Shapes() if rows:
            return [PointMarks(rows, zero=True)]
        case Counts() | ClassCounts() | SyntheticTable() if rows:
            return [Bars(_of_one_sort(value, rows), "count")]
        case Shares() if rows:
            return [Bars(rows, "share")]
        case Matrix() | CrossCounts():
            return [_counted(value, rows) if isinstance(value, CrossCounts) else _grid(*value.sides, rows)]
        case MultivariateNormal():
            many = len(value.columns)
            return [PointMarks(rows[:many], together=False), _grid(value.columns, value.columns, rows[many:])]
        case Clusters():
            names = [f"{at} (about {size:,.0f} rows)" for at, size in enumerate(value.sizes.tolist(), 1)]
            return [_grid(names, value.columns, rows, by_column=True)]
        case Density() | StepCurve() if len(value.heights) <= DRAWN:
            return _steps(value, rows) if isinstance(value, Density) else _stairs(value, rows)
        case Distribution() if value.curve is not None:
            x, y = value.curve
            return [Line(x.tolist(), y.tolist()), PointMarks(rows, together=False)]
        case Distribution() if rows:
            return [Bars(rows, "share")] if _shares(rows) else [PointMarks(rows, together=False)]
        case TestResult() if 0 <= value.p_value <= 1:
            return [*([PointMarks(rows)] if rows and rows[0].barred else []), Chance(value.p_value)]
    return []


def on_one_scale(shown: Shown) -> bool:
    """Whether one picture is enough: a difference and a ratio have no scale in common."""
    found = marks(shown)
    return bool(found) and not (isinstance(found[0], PointMarks) and not found[0].together)


def _of_one_sort(
    value: Counts | ClassCounts | SyntheticTable, rows: tuple[NamedNumber, ...]
) -> tuple[NamedNumber, ...]:
    """Those of classes, or of columns alone, where there are counts of several sorts."""
    if isinstance(value, SyntheticTable):
        return rows[value.alone]
    return rows[: len(value.classes)] if isinstance(value, ClassCounts) else rows


def dated(shown: Shown) -> NamedNumber | None:
    """A date and the ends of its interval as days since 1970; None of what is no date.

    >>> from discreet.privacy.intervals import Interval
    >>> ends = Interval("1970-01-10", "1970-01-12 12:00:00", confidence=0.95, about="a date", population=True)
    >>> found = dated(Shown("start", Scalar("1970-01-11"), (), ends))
    >>> found.value, found.low, found.high
    (10.0, 9.0, 11.5)
    """
    if shown.interval is None or not isinstance(shown.value, Scalar):
        return None
    texts = (shown.value.value, *shown.interval)
    if not all(isinstance(one, str) and DATE.match(one) for one in texts):
        return None
    value, low, high = (
        float((np.datetime64(one, "s") - np.datetime64(0, "s")) / np.timedelta64(1, "D")) for one in texts
    )
    return NamedNumber(shown.name, value, low, high)


def date_rows(groups: Sequence[tuple[Any, Shown]]) -> tuple[NamedNumber, ...] | None:
    """One date for each group, nothing of a refusal; None where a group has something else."""
    rows = [(key, shown, dated(shown)) for key, shown in groups]
    if not any(row for *_, row in rows) or any(row is None and shown.value is not None for _, shown, row in rows):
        return None
    return tuple(replace(row or NamedNumber("", None), name=label(key)) for key, _, row in rows)


def group_rows(groups: Sequence[tuple[Any, Shown]]) -> tuple[NamedNumber, ...] | None:
    """One number for each group, a p-value of a test, nothing of a refusal; None where a group has more."""
    rows = []
    for key, shown in groups:
        match shown.value:
            case None:
                rows.append(NamedNumber(label(key), None))
            case Scalar() | TestResult() if shown.numbers:
                rows.append(replace(shown.numbers[0], name=label(key)))
            case _:
                return None
    return tuple(rows)


def _shares(rows: Sequence[NamedNumber]) -> bool:
    return len(rows) > 1 and all(row.value is not None and 0 <= row.value <= 1 for row in rows)


def _grid(
    names: Sequence[str], across: Sequence[str], rows: Sequence[NamedNumber], *, by_column: bool = False
) -> CellMarks:
    wide = len(across)
    cells = tuple(tuple(rows[at * wide : (at + 1) * wide]) for at in range(len(names)))
    return CellMarks(tuple(names), tuple(across), cells, by_column)


def _counted(value: CrossCounts, rows: Sequence[NamedNumber]) -> CellMarks:
    """A heat map: the categories of the last column are across, those of the others down, their sums at the ends."""
    found = _grid(*value.grid, rows)
    high = np.ones([len(one) + 1 for one in value.levels], dtype=np.bool_)
    high[tuple(slice(0, -1) for _ in value.levels)] = False
    places = np.argwhere(high.reshape(len(found.rows), len(found.columns))).tolist()
    return replace(found, summed=frozenset((row, column) for row, column in places))


def _steps(value: Density, rows: Sequence[NamedNumber]) -> list[Mark]:
    """Steps in the band that holds for all bins at once; the first and the last that can be seen are the ends."""
    tall = np.nan_to_num(np.asarray(value.heights, dtype=float))
    top = float(tall.max(initial=0.0))
    if not 0 < top < 1e300:
        return []
    seen = np.flatnonzero(tall > FAINT * top)
    first, last = max(0, int(seen[0]) - 1), min(len(tall), int(seen[-1]) + 2)
    edges, mass = np.asarray(value.edges, dtype=float), tall * np.diff(value.edges)
    ends = [[getattr(row, end) for row in rows[first:last]] for end in ("low", "high")]
    barred = all(end is not None for line in ends for end in line)
    low, high = ([float(end) for end in line for _ in (0, 1)] if barred else () for line in ends)
    x = np.repeat(edges[first : last + 1], 2)[1:-1]
    left = max(0.0, float(mass.sum() - mass[first:last].sum()))
    return [Line(x.tolist(), np.repeat(tall[first:last], 2).tolist(), low, high, left)]


def _stairs(value: StepCurve, rows: Sequence[NamedNumber]) -> list[Mark]:
    """Steps in their band, from place to place; places without a number are not drawn."""
    known = [(place, row) for place, row in zip(value.at.tolist(), rows, strict=False) if row.value is not None]
    if len(known) < 2:
        return []
    x = [place for place, _ in known for _ in (0, 1)][1:]
    y, low, high = ([float(getattr(row, part) or 0.0) for _, row in known for _ in (0, 1)][:-1] for part in PARTS)
    found = Line(x, y, what="share of people")
    return [replace(found, low=low, high=high) if all(row.barred for _, row in known) else found]


INK, PALE, PRIVACY, LIGHT = "#1b5e8c", "#a9c4de", "#b04a00", "#d5dce3"  # as in report/style.py
DARK: Final = "#101010"  # on cells, whatever is around them
MOST_LABELS: Final = 30
MOST_DATES: Final = 12


def draw_groups(name: str, groups: Sequence[tuple[Any, Shown]], promise: Sequence[str], ax: Any) -> Any:
    """One number with its interval for each group; BadInput where a group has more."""
    dates = date_rows(groups)
    rows = dates or group_rows(groups)
    if rows is None:
        raise BadInput(f"{name} has no picture of all groups; draw each with groups[key].plot()")
    bar = next((shown.interval for _, shown in groups if shown.interval is not None), None)
    return draw(Shown(name, None, rows, bar), promise, ax, [PointMarks(rows, dates=dates is not None)])


def draw(shown: Shown, promise: Sequence[str], ax: Any, given: Sequence[Mark] = ()) -> Any:
    """Draw on `ax`, or on axes of its own; returns the axes."""
    found = given or marks(shown)
    if not found and isinstance(shown.value, Scalar) and shown.numbers:
        found = [PointMarks((replace(shown.numbers[0], name=""),))]
    if not found:
        raise BadInput(f"{shown.name} has no picture; draw its value as you see fit")
    try:
        import matplotlib.pyplot as plt
        from matplotlib import dates as calendar
    except ImportError:
        raise BadInput("plots need matplotlib; install it with: pip install 'discreet[plot]'") from None
    ax = plt.subplots(figsize=(7, 4), layout="constrained")[1] if ax is None else ax
    ax.set_title(shown.name, fontsize=10)
    match found[0]:
        case PointMarks(rows=rows, dates=dates):
            _points(ax, rows, shown)
            if dates:
                where = calendar.AutoDateLocator(minticks=3, maxticks=5)
                ax.xaxis.set_major_locator(where)
                ax.xaxis.set_major_formatter(calendar.AutoDateFormatter(where))
        case Bars() as bars:
            _bars(ax, bars, shown)
        case Line() as line:
            _line(ax, line, shown)
        case CellMarks() as grid:
            _cells(ax, grid)
        case Chance(p=p):
            ax.axvspan(1e-5, LEVEL, color=PRIVACY, alpha=0.1, linewidth=0, label="rejected at 5%")
            ax.plot(max(p, 1e-5), 0, "o", color=INK, label=f"p = {p:.3g}")
            ax.set_xscale("log")
            ax.set_xlim(1e-5, 1)
            ax.set_yticks([])
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="best", fontsize=8, frameon=False)
    words = [line.strip().split(":")[0].lower() for line in promise if not line.startswith("  note")]
    ax.set_xlabel("; ".join(words), loc="right", fontsize=7, color="#666666")
    return ax


def _points(ax: Any, rows: Sequence[NamedNumber], shown: Shown) -> None:
    places = dict(zip(range(len(rows) - 1, -1, -1), rows, strict=True))
    named, thick = shown.interval.name if shown.interval is not None else "", "of it privacy (2 sd)"
    for place, row in places.items():
        if row.low is not None and row.high is not None:
            ax.hlines(place, row.low, row.high, color=PRIVACY if shown.is_noise else INK, linewidth=2, label=named)
            if row.privacy and row.value is not None and not shown.is_noise:
                left, right = max(row.value - 2 * row.privacy, row.low), min(row.value + 2 * row.privacy, row.high)
                ax.hlines(place, left, right, color=PRIVACY, linewidth=6, alpha=0.5, label=thick)
            named, thick = "", thick if not row.privacy else ""
            ax.plot(row.value, place, "o", color=INK, markersize=4)
        elif any(one.barred for one in rows):  # it could be anywhere: it is named, not placed
            said = "refused" if row.value is None else "no interval"
            ax.text(0.5, place, said, transform=ax.get_yaxis_transform(), ha="center", va="center", color="#666666")
        else:
            ax.plot(row.value, place, "o", color=INK, fillstyle="none")
    if isinstance(shown.value, Coefficients | ClassCoefficients):
        ax.axvline(0, color=LIGHT, linewidth=1, zorder=0)
    ax.set_yticks(list(places), [row.name for row in rows])
    ax.set_ylim(-0.8, len(rows) - 0.2)


def _bars(ax: Any, bars: Bars, shown: Shown) -> None:
    places, rows = np.arange(len(bars.rows)), bars.rows
    tall = np.array([row.value or 0.0 for row in rows])
    ax.bar(places, tall, color=PALE, edgecolor=INK, linewidth=0.8)
    if all(row.barred for row in rows):
        ends = np.array([(row.low, row.high) for row in rows], dtype=float).T
        reach = np.maximum([tall - ends[0], ends[1] - tall], 0)
        ax.errorbar(places, tall, yerr=reach, fmt="none", ecolor=PRIVACY, capsize=3)
    if len(rows) <= MOST_LABELS:
        names = [row.name for row in rows]
        if all(DATE.match(part) for name in names for part in name.split(" to ")):  # bins of dates: where they begin
            every = math.ceil(len(names) / MOST_DATES)
            names = [name.split(" to ")[0] if at % every == 0 else "" for at, name in enumerate(names)]
        turn = 0 if max(map(len, names), default=0) * len(names) < 60 else 35
        ax.set_xticks(places, names, rotation=turn, ha="right" if turn else "center")
    ax.set_ylabel(bars.what)
    if shown.interval is not None:
        each = ", all bars at once" if not isinstance(shown.value, Distribution) else ", each bar by itself"
        ax.set_title(f"{shown.name}\n{shown.interval.name}{each}", fontsize=10)


def _line(ax: Any, line: Line, shown: Shown) -> None:
    if line.low and shown.interval is not None:
        at_once = "all at once" if line.what != "density" else "all bins at once"
        each = at_once if "by itself" not in shown.interval.about else "each place by itself"
        called = f"{shown.interval.name}, {each}"
        ax.fill_between(line.x, line.low, line.high, color=PALE, linewidth=0, label=called)
    ax.plot(line.x, line.y, color=INK, linewidth=1.2)
    ax.set_ylim(bottom=0)
    ax.set_ylabel(line.what)
    if isinstance(shown.value, Distribution) and shown.interval is not None:
        ends = "; ".join(f"{row.name} {row.low:.4g} to {row.high:.4g}" for row in shown.numbers if row.barred)
        ax.set_title(f"{shown.name}\n{shown.interval.name}: {ends}", fontsize=10)


def _cells(ax: Any, grid: CellMarks) -> None:
    across, down = range(len(grid.columns)), range(len(grid.rows))
    shares = [[grid.share(row, column) for column in across] for row in down]
    ax.imshow(shares, vmin=-2.5, vmax=2.5, cmap="RdBu", aspect="auto")  # pale enough for the numbers on it
    if len(grid.columns) <= 12:
        for row, column in ((row, column) for row in down for column in across):
            said = grid.cells[row][column].told[0]
            ax.text(column, row, said, ha="center", va="center", fontsize=8, color=DARK)
    ax.set_xticks(list(across), grid.columns, rotation=35 if sum(map(len, grid.columns)) > 60 else 0)
    ax.set_yticks(list(down), grid.rows)
