"""Densities: steps in their band, and the bell of a normal distribution."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from discreet.report.draw import figure, grid, line, picture, scale, words
from discreet.report.numbers import Axis, finite, number
from discreet.report.parts import Part
from discreet.report.words import kind

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


def bell(found: Sequence[Part], title: str) -> str:
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
