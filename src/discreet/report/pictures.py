"""The picture of a release, by the shape of its answer."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from discreet.report.curves import bell, steps
from discreet.report.draw import (
    ROW,
    box,
    dot,
    figure,
    foot,
    grid,
    line,
    picture,
    row,
    scale,
    whisker,
    words,
)
from discreet.report.numbers import Axis, finite, number
from discreet.report.parts import Part, columns, label, parts, shape_of
from discreet.report.tables import centres, matrix
from discreet.report.words import LEVEL, chance, in_brackets, kind, leaves

MOST: Final = 30


def pictured(entry: Mapping[str, Any], record: Mapping[str, Any], title: str) -> str:
    """The drawing of one record; nothing where there is nothing to draw."""
    found = parts(entry, record)
    shown = [part for part in found if not part.aside]
    match shape_of(record):
        case "nothing" | "text":
            return ""
        case "number":
            return _number(record, found[0], title)
        case "test":
            return _test(found[0].value, title)
        case "tally":
            return _bars(record, found, title)
        case "density":
            return steps(record, title)
        case "matrix":
            return matrix(columns(entry, len(record["value"])), found, title, kind(record))
        case "normal table":
            aside = [part for part in found if part.aside]
            called = columns(entry, len(record["value"]["covariance"]))
            return _apart(record, shown, title) + matrix(called, aside, f"{title}: covariance", kind(record))
        case "normal":
            return bell(found, title) + _apart(record, shown, title)
        case "coefficients":
            return _forest(record, shown, found[0], title)
        case "quantiles":
            return _strip(record, shown, title)
        case "clusters":
            return _small_multiples(entry, record, title) + centres(entry, record["value"], title)
        case "named" if all(part.value is not None and 0 <= part.value <= 1 for part in shown) and len(shown) > 1:
            return dots(record, shown, title)
    return _apart(record, shown, title)


def dots(record: Mapping[str, Any], shown: Sequence[Part], title: str, *, zero: bool = False, more: str = "") -> str:
    """Numbers of one record on one scale, each with its interval."""
    return on_one_scale(shown, [record] * len(shown), privacy(record, len(shown)), title, zero=zero, more=more)


def grouped(groups: Sequence[Mapping[str, Any]], rows: Sequence[Part], title: str) -> str:
    """The numbers of groups on one scale; nothing where none has an interval."""
    records = [group["release"] for group in groups]
    if not any(row.barred for row in rows):
        return ""
    return on_one_scale(rows, records, [size for record in records for size in privacy(record, 1)], title)


def on_one_scale(
    shown: Sequence[Part],
    records: Sequence[Mapping[str, Any]],
    sizes: Sequence[float | None],
    title: str,
    *,
    zero: bool = False,
    more: str = "",
) -> str:
    """A row for each number, with the record that it is of and the standard deviation of its noise."""
    axis = Axis.over([end for part in shown[:MOST] for end in (part.value, part.low, part.high)], zero=zero)
    if axis is None or not shown:
        return ""
    rows = []
    for part, record, size in zip(shown[:MOST], records, sizes, strict=False):
        middle = line(axis.at(0), 0, axis.at(0), ROW, "base") if axis.low < 0 < axis.high else ""
        drawn = grid(axis, 0, ROW) + middle + whisker(axis, part, ROW / 2, noise=is_noise(record), privacy=size)
        said = in_brackets(part) if record.get("refusal") is None else "refused"
        rows.append(row(part.name, said, picture(ROW, drawn)))
    barred = next((record for record in records if kind(record)), records[0])
    return figure("".join(rows) + foot(axis), f"{legend(barred, sizes)}{_cut(len(shown))}{more}", title)


def legend(record: Mapping[str, Any], sizes: Sequence[float | None] = ()) -> str:
    """What the marks mean."""
    called = kind(record)
    if not called:
        return "There is no interval." if not record.get("no_interval") else f"{record['no_interval']}."
    thick = "" if is_noise(record) or not any(sizes) else "; thick: the part of it that is privacy (2 sd of the noise)"
    return f"Line: {called}{thick}."


def is_noise(record: Mapping[str, Any]) -> bool:
    """Whether the interval leaves out sampling."""
    interval = record.get("interval")
    return isinstance(interval, Mapping) and not interval.get("population")


def _number(record: Mapping[str, Any], part: Part, title: str) -> str:
    axis = Axis.over([part.value, part.low, part.high])
    if axis is None or not part.barred:
        return ""
    (size,) = privacy(record, 1)
    drawn = grid(axis, 4, 34) + whisker(axis, part, 19, noise=is_noise(record), privacy=size) + scale(axis, 36)
    told = f"{in_brackets(part)}, {kind(record)}"
    return figure(picture(58, drawn, title=title, told=told), legend(record, [size]), title)


def _apart(record: Mapping[str, Any], shown: Sequence[Part], title: str) -> str:
    """Numbers of different units: each on a scale of its own."""
    sizes, rows = privacy(record, len(shown)), []
    for part, size in zip(shown[:MOST], sizes, strict=False):
        axis = Axis.over([part.value, part.low, part.high])
        if axis is None:
            rows.append(row(part.name, in_brackets(part), ""))
            continue
        drawn = grid(axis, 2, 24) + whisker(axis, part, 13, noise=is_noise(record), privacy=size) + scale(axis, 26)
        rows.append(row(part.name, in_brackets(part), picture(48, drawn) if part.barred else ""))
    return figure("".join(rows), f"{legend(record, sizes)} Each has its own scale.{_cut(len(shown))}", title)


def _forest(record: Mapping[str, Any], shown: Sequence[Part], intercept: Part, title: str) -> str:
    constant = f" Intercept: {in_brackets(intercept)}." if intercept.value else ""
    return dots(record, shown, title, zero=True, more=constant)


def _bars(record: Mapping[str, Any], found: Sequence[Part], title: str) -> str:
    bins = [part for part in found if not part.aside]
    axis = Axis.over([end for part in bins[:MOST] for end in (part.value, part.high)], zero=True)
    if axis is None or not bins:
        return ""
    rows = []
    for part in bins[:MOST]:
        drawn = grid(axis, 0, ROW)
        if part.value is not None:
            drawn += box(axis.at(0), axis.at(part.value), 5, ROW - 10, "bar")
        bare = Part(part.name, None, part.low, part.high)
        drawn += whisker(axis, bare, ROW / 2, noise=is_noise(record))
        rows.append(row(part.name, in_brackets(part), picture(ROW, drawn)))
    rest = "".join(f" {part.name.capitalize()}: {number(part.value)}." for part in found if part.aside)
    limit = finite(record["value"].get("threshold"))
    hidden = "" if limit is None else f" Bins with a noisy count below {number(limit)} are not shown."
    caption = f"{legend(record)}{rest}{hidden}{_cut(len(bins))}"
    return figure("".join(rows) + foot(axis), caption, title)


def _strip(record: Mapping[str, Any], shown: Sequence[Part], title: str) -> str:
    """Quantiles: a strip that is thicker towards the middle, above their intervals."""
    axis = Axis.over([end for part in shown[:MOST] for end in (part.value, part.low, part.high)])
    known = sorted(part.value for part in shown[:MOST] if part.value is not None)
    if axis is None or len(known) < 2:
        return dots(record, shown, title)
    drawn = line(2, 11, 98, 11, "grid")
    for place, (left, right) in enumerate(itertools.pairwise(known)):
        inner = min(place, len(known) - 2 - place)
        drawn += box(axis.at(left), axis.at(right), 9 - 3 * min(inner, 2), 4 + 6 * min(inner, 2), "bar")
    drawn += "".join(line(axis.at(value), 2, axis.at(value), 20, "base") for value in known)
    return row("", "", picture(22, drawn), "row strip") + dots(record, shown, title)


def _test(p: float | None, title: str) -> str:
    """The p-value on a scale of powers of ten, beside 5%."""
    if p is None or not 0 <= p <= 1:
        return ""
    least = -5.0
    axis = Axis(least, 0.0)
    place = max(least, math.log10(p)) if p else least
    edge = axis.at(math.log10(LEVEL))
    marks = box(2, edge, 4, 28, "reject") + line(edge, 2, edge, 34, "limit") + line(2, 32, 98, 32, "base")
    for power, said in ((-5, "≤ 0.00001"), (-4, "0.0001"), (-3, "0.001"), (-2, "0.01"), (-1, "0.1"), (0, "1")):
        anchor = "start" if power == -5 else "end" if power == 0 else "middle"
        if power != -4:  # room for the words of the first
            marks += words(axis.at(power), 49, said, anchor=anchor)
        marks += line(axis.at(power), 32, axis.at(power), 36, "base")
    marks += dot(axis.at(place), 18, 6)
    return figure(
        picture(54, marks, title=title, told=f"p {chance(p)}; the level is 5%"),
        f"p {chance(p)} on a scale of powers of ten; dashed: 5%, shaded: where the null hypothesis is rejected.",
        title,
    )


def _small_multiples(entry: Mapping[str, Any], record: Mapping[str, Any], title: str) -> str:
    """Each column with the centres as numbered discs."""
    rows = record["value"]["centres"]
    names = columns(entry, len(rows[0]) if rows else 0)
    drawn = []
    for place, name in enumerate(names[:MOST]):
        values = [finite(centre[place]) if place < len(centre) else None for centre in rows]
        axis = Axis.over(values)
        if axis is None:
            continue
        discs = [
            dot(axis.at(value), 11, 9, "disc") + words(axis.at(value), 15, str(which), kind="inside")
            for which, value in enumerate(values[:MOST], 1)
            if value is not None
        ]
        drawn.append(row(name, "", picture(46, grid(axis, 2, 22) + "".join(discs) + scale(axis, 24))))
    return figure("".join(drawn), "The centres in each column, by number; each column has its own scale.", title)


def group_rows(entry: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> list[Part] | None:
    """One part for each group if every answer is one number (or a p-value, or refused); None otherwise."""
    rows = []
    for group in groups:
        record, name = group["release"], label(group.get("key"))
        shape = shape_of(record)
        if shape == "nothing":
            rows.append(Part(name, None))
        elif shape in {"number", "test"}:
            part = parts(entry, record)[0]
            rows.append(Part(name, part.value, part.low, part.high))
        else:
            return None
    return rows


def privacy(record: Mapping[str, Any], many: int) -> list[float | None]:
    """The standard deviation of the noise in each number, where it is known."""
    spread = record.get("spread")
    found = [finite(item) for item in leaves(spread.get("privacy"))] if isinstance(spread, Mapping) else []
    if isinstance(spread, Mapping) and isinstance(spread.get("privacy"), Mapping) and "coef" in spread["privacy"]:
        inner = spread["privacy"]["coef"]
        found = [finite(item) for item in inner] if isinstance(inner, list) else []
    if len(found) == 1:
        return found * many
    return (found + [None] * many)[:many]


def _cut(many: int) -> str:
    return f" {number(many - MOST)} more are not drawn; they are in the table of numbers (CSV)." if many > MOST else ""
