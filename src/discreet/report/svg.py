"""The marks of a picture as SVG and tables, without scripts.

Places are in parts of a hundred: a picture is as wide as its page, and its letters stay readable on a telephone.
"""

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from discreet.privacy.intervals import NamedNumber, Shown
from discreet.privacy.picture import LEVEL, Bars, CellMarks, Chance, Line, Mark, PointMarks, marks
from discreet.privacy.values import ClassCoefficients, Coefficients, Counts, Density, Distribution, StepCurve
from discreet.report.date_axis import DateAxis
from discreet.report.sentences import Axis, chance, in_brackets, number, spelled

UNFIT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
LONGEST: Final = 60  # letters of a label
ROW: Final = 26  # pixels
MOST, LINES, WIDEST = 30, 500, 24  # rows of a picture, rows of a table, columns of a matrix
DARKEST: Final = 38  # per cent of colour in a cell: the ink stays readable on it
WIDE, TALL = 960, 150  # of the inner drawing: 1 per cent is 10 across, and 2 per cent lie on either side


def text(thing: Any) -> str:
    """Anything as text of the page: escaped, and without what turns or breaks lines.

    >>> text("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return escape(UNFIT.sub("\ufffd", str(thing)), quote=True)


def drawn(shown: Shown, title: str, scale: Axis | None = None) -> str:
    """Every mark of a release, with what it means; nothing where there is nothing to draw."""
    return "".join(figured(mark, shown, title, scale) for mark in marks(shown))


def common(several: Sequence[Shown]) -> Axis | None:
    """One scale for the pictures of several answers beside each other; None where they have none in common."""
    found = [mark for shown in several for mark in marks(shown)]
    rows = [
        row
        for mark in found
        if isinstance(mark, Bars) or (isinstance(mark, PointMarks) and mark.together)
        for row in mark.rows[:MOST]
    ]
    if not rows or len({type(mark) for mark in found}) > 1:
        return None
    if any(isinstance(mark, PointMarks) and mark.dates for mark in found):
        return DateAxis.over(_ends(rows))
    return Axis.over(_ends(rows), zero=any(isinstance(mark, Bars) or getattr(mark, "zero", False) for mark in found))


def figured(mark: Mark, shown: Shown, title: str, scale: Axis | None = None) -> str:
    """One mark with its legend, on a scale of its own unless one is given."""
    match mark:
        case PointMarks(rows=(NamedNumber(name=""),) as rows, dates=dates):
            axis = scale or (DateAxis if dates else Axis).over(_ends(rows))
            told = f"{shown.told} {shown.range}" if dates else in_brackets(rows[0])
            return _alone(rows[0], axis, shown, title, told)
        case PointMarks(together=False, rows=rows):
            inside = "".join(_own_scale(row, shown) for row in rows[:MOST])
            return figure(inside, f"{legend(shown, rows)} Each has its own scale.{_cut(rows)}", title)
        case PointMarks(rows=rows) | Bars(rows=rows):
            axis = scale or Axis.over(_ends(rows[:MOST]), zero=isinstance(mark, Bars) or mark.zero)
            if axis is None:
                return ""
            inside = "".join(_one_scale(row, axis, shown, bar=isinstance(mark, Bars)) for row in rows[:MOST])
            thick = () if isinstance(mark, Bars) else rows
            return figure(inside + _foot(axis), f"{legend(shown, thick)}{_beside(shown)}{_cut(rows)}", title)
        case Line():
            return _curve(mark, shown, title)
        case CellMarks():
            return _grid(mark, shown, title)
        case Chance(p=p):
            return _chance(p, title)


def legend(shown: Shown, rows: Sequence[NamedNumber] = ()) -> str:
    """What the marks mean."""
    if shown.interval is None:
        return f"{shown.no_interval}." if shown.no_interval else "There is no interval."
    thick = any(row.privacy for row in rows) and not shown.is_noise
    more = "; thick: the part of it that is privacy (2 sd of the noise)" if thick else ""
    return f"Line: {shown.interval.name}{more}."


def picture(height: int, inside: str, *, title: str = "", told: str = "") -> str:
    """One drawing: with a title it is read out, without one the text beside it says the same."""
    if not title:
        return f'<svg height="{height}" aria-hidden="true">{inside}</svg>'
    said = f"<desc>{text(told)}</desc>" if told else ""
    return (
        f'<svg height="{height}" role="img" aria-label="{text(title)}"><title>{text(title)}</title>{said}{inside}</svg>'
    )


def figure(inside: str, caption: str, title: str) -> str:
    """A picture with its legend; nothing if it is empty."""
    told = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return f'<figure aria-label="{text(title)}">{inside}{told}</figure>' if inside else ""


def box(x1: float, x2: float, y: float, height: float, kind: str) -> str:
    """A filled box between two places."""
    left, right = sorted((x1, x2))
    return f'<rect x="{left:g}%" y="{y:g}" width="{max(0.15, right - left):.3f}%" height="{height:g}" class="{kind}"/>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> str:
    """A table whose first column is words, and the last too if it is called "remark"; the others are numbers."""
    listed, right = list(rows), ["" if not at or name == "remark" else ' class="n"' for at, name in enumerate(head)]
    top = "".join(f'<th scope="col"{side}>{text(name)}</th>' for name, side in zip(head, right, strict=True))
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>'
        + "".join(f"<td{side}>{text(cell)}</td>" for cell, side in zip(rest, right[1:], strict=True))
        + "</tr>"
        for first, *rest in listed[:LINES]
    )
    more = f'<p class="soft">{number(len(listed) - LINES)} more are not shown.</p>' if len(listed) > LINES else ""
    return f"{_wide(title)}<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{more}"


def number_table(head: str, rows: Sequence[tuple[NamedNumber, str]], title: str) -> str:
    """Groups by name: the number, its interval and what there is to say."""
    remarks = ["remark"] if any(said for _, said in rows) else []
    listed = [[row.name, *spelled(row.value, row.low, row.high), *([said] * len(remarks))] for row, said in rows]
    return table([head, "value", "from", "to", *remarks], listed, title)


def _ends(rows: Sequence[NamedNumber]) -> list[float | None]:
    return [end for row in rows for end in (row.value, row.low, row.high)]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Across in per cent, down in pixels."""
    return f'<line x1="{x1:g}%" y1="{y1:g}" x2="{x2:g}%" y2="{y2:g}" class="{kind}"/>'


def _words(x: float, y: float, thing: str, anchor: str = "middle", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}%" y="{y:g}" text-anchor="{anchor}"{named}>{text(thing)}</text>'


def _dot(x: float, y: float, size: float = 5, kind: str = "dot") -> str:
    return f'<circle cx="{x:g}%" cy="{y:g}" r="{size:g}" class="{kind}"/>'


def _faint(axis: Axis, top: float, bottom: float) -> str:
    """Faint lines at the round places."""
    return "".join(_line(axis.at(place), top, axis.at(place), bottom, "grid") for place, _ in axis.ticks())


def _scale(axis: Axis, y: float) -> str:
    """The line of an axis with its round places in words below it; at the edges words turn inwards."""
    found = [_line(2, y, 98, y, "base")]
    for place, said in axis.ticks():
        x = axis.at(place)
        anchor = "start" if x < 5 else "end" if x > 95 else "middle"
        found += [_line(x, y, x, y + 4, "base"), _words(x, y + 17, said, anchor)]
    return "".join(found)


def _whisker(axis: Axis, row: NamedNumber, y: float, *, noise: bool, bar: bool = False) -> str:
    """A point with its interval, and how much of that is privacy: two standard deviations of the noise."""
    found = []
    if bar and row.value is not None:
        found.append(box(axis.at(0), axis.at(row.value), 5, ROW - 10, "bar"))
    if row.low is not None and row.high is not None:
        kind = "whisker noise" if noise else "whisker"
        low, high = axis.at(row.low), axis.at(row.high)
        if row.privacy and not noise and not bar and row.value is not None:
            left, right = max(row.low, row.value - 2 * row.privacy), min(row.high, row.value + 2 * row.privacy)
            found.append(_line(axis.at(left), y, axis.at(right), y, "privacy") if left < right else "")
        found.append(_line(low, y, high, y, kind))
        found += [_line(end, y - 6, end, y + 6, kind) for end in (low, high)]
    if row.value is not None and not bar:
        found.append(_dot(axis.at(row.value), y))
    return "".join(found)


def _row(name: str, said: str, inside: str) -> str:
    """A name, its mark and its number beside each other; on a narrow page below each other."""
    cut = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    whole = f' title="{text(name)}"' if cut != name else ""
    called = f'<span class="name"{whole}>{text(cut)}</span>'
    return f'<div class="row">{called}{inside}<span class="said">{text(said)}</span></div>'


def _foot(axis: Axis) -> str:
    inside = picture(22, _scale(axis, 1))
    return f'<div class="row axis"><span class="name"></span>{inside}<span class="said"></span></div>'


def _alone(row: NamedNumber, axis: Axis | None, shown: Shown, title: str, told: str) -> str:
    if axis is None or shown.interval is None:
        return ""
    inside = _faint(axis, 4, 34) + _whisker(axis, row, 19, noise=shown.is_noise) + _scale(axis, 36)
    told = f"{told}, {shown.interval.name}"
    return figure(picture(58, inside, title=title, told=told), legend(shown, [row]), title)


def _own_scale(row: NamedNumber, shown: Shown) -> str:
    axis = Axis.over(_ends([row]))
    if axis is None or not row.barred:
        return _row(row.name, in_brackets(row), "")
    inside = _faint(axis, 2, 24) + _whisker(axis, row, 13, noise=shown.is_noise) + _scale(axis, 26)
    return _row(row.name, in_brackets(row), picture(48, inside))


def _one_scale(row: NamedNumber, axis: Axis, shown: Shown, *, bar: bool) -> str:
    middle = _line(axis.at(0), 0, axis.at(0), ROW, "base") if axis.low < 0 < axis.high else ""
    inside = _faint(axis, 0, ROW) + middle + _whisker(axis, row, ROW / 2, noise=shown.is_noise, bar=bar)
    said = "refused" if row.value is None and shown.value is None else in_brackets(row)
    return _row(row.name, said, picture(ROW, inside))


def _beside(shown: Shown) -> str:
    """Numbers that are not in the picture, and what is hidden."""
    match shown.value:
        case Coefficients() | ClassCoefficients():
            beside = [row for row in shown.numbers if row.aside and row.value]
            return "".join(f" {row.name[:1].upper()}{row.name[1:]}: {in_brackets(row)}." for row in beside)
        case Counts(threshold=limit) if limit is not None:
            hidden = f" Bins with a noisy count below {number(limit)} are not shown."
        case _:
            hidden = ""
    rest = "".join(f" {row.name.capitalize()}: {number(row.value)}." for row in shown.numbers if row.aside)
    return f"{rest}{hidden}"


def _cut(rows: Sequence[NamedNumber]) -> str:
    more = len(rows) - MOST
    return f" {number(more)} more are not drawn; they are in the table of numbers (CSV)." if more > 0 else ""


def _curve(line: Line, shown: Shown, title: str) -> str:
    axis, top = Axis(line.x[0], line.x[-1]), max(*line.y, *line.high, 0.0)
    if not 0 < top < 1e300 or not axis.low < axis.high:
        return ""

    def path(heights: Sequence[float]) -> list[str]:
        across = [f"{(axis.at(place) - 2) * WIDE / 96:.1f}" for place in line.x]
        return [f"{x} {_down(height, top):.1f}" for x, height in zip(across, heights, strict=True)]

    band = f'<path class="band" d="M{"L".join([*path(line.high), *reversed(path(line.low))])}Z"/>' if line.low else ""
    inner = (
        f'<svg x="2%" y="8" width="96%" height="{TALL}" viewBox="0 0 {WIDE} {TALL}" preserveAspectRatio="none">'
        f'{band}<path class="curve" d="M{"L".join(path(line.y))}"/></svg>'
    )
    levels = ""
    for height, said in Axis(0.0, top).ticks(3)[1:]:
        y = 8 + _down(height, top)
        levels += _line(2, y, 98, y, "grid") + _words(2, y - 3, said, "start")
    inside = _faint(axis, 8, 8 + TALL) + levels + inner + _scale(axis, 8 + TALL)
    told = f"from {number(line.x[0])} to {number(line.x[-1])}"
    return figure(picture(TALL + 30, inside, title=title, told=told), _curve_caption(line, shown), title)


def _curve_caption(line: Line, shown: Shown) -> str:
    match shown.value:
        case Density(below=below, above=above):
            band = f"Steps: the density; band: {shown.interval.name}." if shown.interval else "There is no interval."
            out = f" Bins further out, with {number(100 * line.left_out, 2)}% of the whole, are not drawn."
            beyond = [(word, share) for word, share in (("Below", below), ("Above", above)) if share > 0]
            ends = "".join(f" {word} the bins lies {number(100 * share, 2)}%." for word, share in beyond)
            return f"{band}{out if line.left_out else ''}{ends}"
        case StepCurve() if shown.interval is not None:
            return f"Steps: shares of people; band: {shown.interval.name}."
        case Distribution(family=family):
            return f"The density of the released {family} distribution."
    return ""


def _down(height: float, top: float) -> float:
    return TALL - (TALL - 10) * max(0.0, min(1.0, height / top))


def _grid(grid: CellMarks, shown: Shown, title: str) -> str:
    """A table of numbers, shaded."""
    if max(len(grid.rows), len(grid.columns)) > WIDEST:
        size = f"{len(grid.rows)} by {len(grid.columns)}"
        return f'<p class="soft">A table of {size} is not shown here; its numbers are in the CSV.</p>'
    rows = []
    for at, (name, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        told = "".join(_cell(cell, grid.share(at, place)) for place, cell in enumerate(cells))
        rows.append(f'<tr><th scope="row">{text(name)}</th>{told}</tr>')
    head = "<td></td>" + "".join(f'<th scope="col" class="n">{text(name)}</th>' for name in grid.columns)
    caption = f"In brackets: {shown.interval.name}. " if shown.interval is not None else ""
    beside = (
        "those of its two columns; blue above 0, orange below" if grid.summed is None else "the largest; sums are pale"
    )
    caption += f"The stronger the colour, the larger the number beside {beside}."
    body = f'<table class="matrix"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    return figure(_wide(title) + body, caption, title)


def _cell(cell: NamedNumber, share: float) -> str:
    value, _, ends = in_brackets(cell).partition(" (")
    small = f"<small>({text(ends)}</small>" if ends else ""
    depth, way = round(DARKEST * abs(share)), "down" if share < 0 else "up"
    return f'<td class="{way}" style="--share:{depth}%">{text(value)}{small}</td>'


def _chance(p: float, title: str) -> str:
    """The p-value on a scale of powers of ten, beside 5%."""
    axis = Axis(-5.0, 0.0)
    edge = axis.at(math.log10(LEVEL))
    inside = box(2, edge, 4, 28, "reject") + _line(edge, 2, edge, 34, "limit") + _line(2, 32, 98, 32, "base")
    for power, said in ((-5, "≤ 0.00001"), (-4, ""), (-3, "0.001"), (-2, "0.01"), (-1, "0.1"), (0, "1")):
        anchor = "start" if power == -5 else "end" if power == 0 else "middle"
        inside += (_words(axis.at(power), 49, said, anchor) if said else "") + _line(
            axis.at(power), 32, axis.at(power), 36, "base"
        )
    inside += _dot(axis.at(max(-5.0, math.log10(p)) if p else -5.0), 18, 6)
    caption = f"p {chance(p)} on a scale of powers of ten; dashed: 5%, shaded: where the null hypothesis is rejected."
    return figure(picture(54, inside, title=title, told=f"p {chance(p)}; the level is 5%"), caption, title)


def _wide(title: str) -> str:
    return f'<div class="wide" tabindex="0" role="region" aria-label="{text(title)}">'
