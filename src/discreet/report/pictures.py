"""The picture of a release, by the shape of its answer.

Densities: steps in their band, and the bell of a normal distribution.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from discreet.report.draw import ROW, box, dot, figure, foot, grid, line, picture, row, scale, whisker, words
from discreet.report.numbers import Axis, finite, number
from discreet.report.parts import NamedNumber, columns, label, parts, shape_of
from discreet.report.sentences import LEVEL, chance, in_brackets, kind, leaves
from discreet.report.sheet import centres, matrix

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


def dots(
    record: Mapping[str, Any], shown: Sequence[NamedNumber], title: str, *, zero: bool = False, more: str = ""
) -> str:
    """Numbers of one record on one scale, each with its interval."""
    return on_one_scale(shown, [record] * len(shown), privacy(record, len(shown)), title, zero=zero, more=more)


def grouped(groups: Sequence[Mapping[str, Any]], rows: Sequence[NamedNumber], title: str) -> str:
    """The numbers of groups on one scale; nothing where none has an interval."""
    records = [group["release"] for group in groups]
    if not any(row.barred for row in rows):
        return ""
    return on_one_scale(rows, records, [size for record in records for size in privacy(record, 1)], title)


def on_one_scale(
    shown: Sequence[NamedNumber],
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


def _number(record: Mapping[str, Any], part: NamedNumber, title: str) -> str:
    axis = Axis.over([part.value, part.low, part.high])
    if axis is None or not part.barred:
        return ""
    (size,) = privacy(record, 1)
    drawn = grid(axis, 4, 34) + whisker(axis, part, 19, noise=is_noise(record), privacy=size) + scale(axis, 36)
    told = f"{in_brackets(part)}, {kind(record)}"
    return figure(picture(58, drawn, title=title, told=told), legend(record, [size]), title)


def _apart(record: Mapping[str, Any], shown: Sequence[NamedNumber], title: str) -> str:
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


def _forest(record: Mapping[str, Any], shown: Sequence[NamedNumber], intercept: NamedNumber, title: str) -> str:
    constant = f" Intercept: {in_brackets(intercept)}." if intercept.value else ""
    return dots(record, shown, title, zero=True, more=constant)


def _bars(record: Mapping[str, Any], found: Sequence[NamedNumber], title: str) -> str:
    bins = [part for part in found if not part.aside]
    axis = Axis.over([end for part in bins[:MOST] for end in (part.value, part.high)], zero=True)
    if axis is None or not bins:
        return ""
    rows = []
    for part in bins[:MOST]:
        drawn = grid(axis, 0, ROW)
        if part.value is not None:
            drawn += box(axis.at(0), axis.at(part.value), 5, ROW - 10, "bar")
        bare = NamedNumber(part.name, None, low=part.low, high=part.high)
        drawn += whisker(axis, bare, ROW / 2, noise=is_noise(record))
        rows.append(row(part.name, in_brackets(part), picture(ROW, drawn)))
    rest = "".join(f" {part.name.capitalize()}: {number(part.value)}." for part in found if part.aside)
    limit = finite(record["value"].get("threshold"))
    hidden = "" if limit is None else f" Bins with a noisy count below {number(limit)} are not shown."
    caption = f"{legend(record)}{rest}{hidden}{_cut(len(bins))}"
    return figure("".join(rows) + foot(axis), caption, title)


def _strip(record: Mapping[str, Any], shown: Sequence[NamedNumber], title: str) -> str:
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


def group_rows(entry: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> list[NamedNumber] | None:
    """One part for each group if every answer is one number (or a p-value, or refused); None otherwise."""
    rows = []
    for group in groups:
        record, name = group["release"], label(group.get("key"))
        shape = shape_of(record)
        if shape == "nothing":
            rows.append(NamedNumber(name, None))
        elif shape in {"number", "test"}:
            part = parts(entry, record)[0]
            rows.append(NamedNumber(name, part.value, low=part.low, high=part.high))
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


WIDE, TALL = 960, 150  # of the inner drawing: 1 per cent is 10 across, and 2 per cent lie on either side
FAINT: Final = 0.003
DRAWN: Final = 2000
REACH: Final = 4.0


def steps(record: Mapping[str, Any], title: str) -> str:
    """A density as steps, in the band that holds for all bins at once."""
    value, interval = record["value"], record.get("interval") or {}
    edges = [finite(edge) for edge in value["edges"]]
    tall = [finite(height) or 0.0 for height in value["heights"]]
    low, high = (_heights(interval.get(end), tall) for end in ("low", "high"))
    if not tall or len(tall) > DRAWN or any(a is None or b is None or a >= b for a, b in _pairs(edges)):
        return ""
    known = [edge for edge in edges if edge is not None]
    first, last = _seen(tall)
    axis, top = Axis(known[first], known[last]), max(*high[first:last], *tall[first:last], 0.0)
    if not 0 < top < 1e300 or not axis.low < axis.high:
        return ""

    def path(heights: Sequence[float]) -> list[str]:
        found = []
        for place in range(first, last):
            y = _down(heights[place], top)
            found += [f"{_across(axis, known[place])} {y}", f"{_across(axis, known[place + 1])} {y}"]
        return found

    band = f'<path class="band" d="M{"L".join([*path(high), *reversed(path(low))])}Z"/>' if kind(record) else ""
    curve = f'<path class="curve" d="M{"L".join(path(tall))}"/>'
    out = sum(h * (b - a) for h, (a, b) in zip(tall, _pairs(known), strict=False))
    out -= sum(tall[k] * (known[k + 1] - known[k]) for k in range(first, last))
    outside = f" Bins further out, with {number(100 * max(0.0, out), 2)}% of the whole, are not drawn." if out else ""
    ends = " ".join(
        f"{word} the bins lies {number(100 * share, 2)}%."
        for word, share in (("Below", finite(value.get("below"))), ("Above", finite(value.get("above"))))
        if share
    )
    legend = f"Steps: the density; band: {kind(record)}." if kind(record) else "There is no interval."
    told = f"{last - first} bins from {number(known[first])} to {number(known[last])}"
    return _drawn(axis, top, band + curve, f"{legend}{outside} {ends}".strip(), title, told=told)


def bell(found: Sequence[NamedNumber], title: str) -> str:
    """The density of a normal law."""
    known = {part.name: part.value for part in found}
    mean, variance = known.get("mean"), known.get("variance")
    if mean is None or variance is None or not 1e-200 < variance < 1e200 or abs(mean) > 1e12 * math.sqrt(variance):
        return ""
    sd = math.sqrt(variance)
    axis, top = Axis(mean - REACH * sd, mean + REACH * sd), 1 / (sd * math.sqrt(2 * math.pi))
    places = [REACH * (k / 60 - 1) for k in range(121)]
    points = [f"{_across(axis, mean + z * sd)} {_down(math.exp(-z * z / 2), 1.0)}" for z in places]
    caption = f"The density of the released normal distribution; its standard deviation is {number(sd)}."
    curve = f'<path class="curve" d="M{"L".join(points)}"/>'
    return _drawn(axis, top, curve, caption, title, told=f"mean {number(mean)}, standard deviation {number(sd)}")


def _drawn(axis: Axis, top: float, curves: str, caption: str, title: str, *, told: str) -> str:
    inner = (
        f'<svg x="2%" y="8" width="96%" height="{TALL}" viewBox="0 0 {WIDE} {TALL}" preserveAspectRatio="none">'
        f"{curves}</svg>"
    )
    levels = []
    for height, said in Axis(0.0, top).ticks(3)[1:]:
        y = 8 + float(_down(height, top))
        levels += [line(2, y, 98, y, "grid"), words(2, y - 3, said, anchor="start")]
    marks = grid(axis, 8, 8 + TALL) + "".join(levels) + inner + scale(axis, 8 + TALL)
    return figure(picture(TALL + 30, marks, title=title, told=told), caption, title)


def _seen(tall: Sequence[float]) -> tuple[int, int]:
    """The bins that are worth drawing: the others are too low to be seen."""
    limit = FAINT * max(tall)
    seen = [place for place, height in enumerate(tall) if height > limit] or [0, len(tall) - 1]
    return max(0, seen[0] - 1), min(len(tall), seen[-1] + 2)


def _heights(end: Any, default: list[float]) -> list[float]:
    inner = end.get("heights") if isinstance(end, Mapping) else None
    if not isinstance(inner, list) or len(inner) != len(default):
        return default
    return [height if (height := finite(item)) is not None else fall for item, fall in zip(inner, default, strict=True)]


def _pairs(edges: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(itertools.pairwise(edges))


def _across(axis: Axis, place: float) -> str:
    return f"{(axis.at(place) - 2) * WIDE / 96:.1f}"


def _down(height: float, top: float) -> str:
    return f"{TALL - (TALL - 10) * max(0.0, min(1.0, height / top)):.1f}"
