"""Marks of a picture as SVG, placed in parts of a hundred: a picture is as wide as its page, and its letters stay
readable on a telephone.
"""

import re
from html import escape
from typing import Any, Final

from discreet.report.numbers import Axis
from discreet.report.parts import NamedNumber

UNFIT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
LONGEST: Final = 60
ROW: Final = 26  # pixels


def text(thing: Any) -> str:
    """Anything as text of the page: escaped, and without what turns or breaks lines.

    >>> text("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return escape(UNFIT.sub("\ufffd", str(thing)), quote=True)


def short(thing: str) -> str:
    """A label, the whole of it in its title where it is cut."""
    if len(thing) <= LONGEST:
        return f'<span class="name">{text(thing)}</span>'
    return f'<span class="name" title="{text(thing)}">{text(thing[: LONGEST - 1])}…</span>'


def picture(height: int, marks: str, *, title: str = "", told: str = "") -> str:
    """One drawing: with a title it is read out, without one the text beside it says the same."""
    if not title:
        return f'<svg height="{height}" aria-hidden="true">{marks}</svg>'
    said = f"<desc>{text(told)}</desc>" if told else ""
    return (
        f'<svg height="{height}" role="img" aria-label="{text(title)}"><title>{text(title)}</title>{said}{marks}</svg>'
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A line; across in per cent, down in pixels."""
    return f'<line x1="{x1:g}%" y1="{y1:g}" x2="{x2:g}%" y2="{y2:g}" class="{kind}"/>'


def words(x: float, y: float, thing: str, *, anchor: str = "middle", kind: str = "") -> str:
    """A text in the picture."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}%" y="{y:g}" text-anchor="{anchor}"{named}>{text(thing)}</text>'


def box(x1: float, x2: float, y: float, height: float, kind: str) -> str:
    """A filled box between two places."""
    left, right = sorted((x1, x2))
    return f'<rect x="{left:g}%" y="{y:g}" width="{max(0.15, right - left):.3f}%" height="{height:g}" class="{kind}"/>'


def dot(x: float, y: float, size: float = 5, kind: str = "dot") -> str:
    """A point."""
    return f'<circle cx="{x:g}%" cy="{y:g}" r="{size:g}" class="{kind}"/>'


def grid(axis: Axis, top: float, bottom: float) -> str:
    """Faint lines at the round places."""
    return "".join(line(axis.at(place), top, axis.at(place), bottom, "grid") for place, _ in axis.ticks())


def scale(axis: Axis, y: float) -> str:
    """The line of an axis with its round places in words below it; at the edges words turn inwards."""
    marks = [line(2, y, 98, y, "base")]
    for place, said in axis.ticks():
        x = axis.at(place)
        anchor = "start" if x < 5 else "end" if x > 95 else "middle"
        marks += [line(x, y, x, y + 4, "base"), words(x, y + 17, said, anchor=anchor)]
    return "".join(marks)


def whisker(axis: Axis, part: NamedNumber, y: float, *, noise: bool, privacy: float | None = None) -> str:
    """A point with its interval, and how much of that is privacy: two standard deviations of the noise."""
    marks = []
    if part.low is not None and part.high is not None:
        kind = "whisker noise" if noise else "whisker"
        low, high = axis.at(part.low), axis.at(part.high)
        if privacy and not noise and part.value is not None:
            left, right = max(part.low, part.value - 2 * privacy), min(part.high, part.value + 2 * privacy)
            marks.append(line(axis.at(left), y, axis.at(right), y, "privacy") if left < right else "")
        marks += [line(low, y, high, y, kind), line(low, y - 6, low, y + 6, kind), line(high, y - 6, high, y + 6, kind)]
    if part.value is not None:
        marks.append(dot(axis.at(part.value), y))
    return "".join(marks)


def row(name: str, said: str, drawing: str, kind: str = "row") -> str:
    """A name, its mark and its number beside each other; on a narrow page below each other."""
    return f'<div class="{kind}">{short(name)}{drawing}<span class="said">{text(said)}</span></div>'


def foot(axis: Axis) -> str:
    """The axis below rows."""
    return (
        f'<div class="row axis"><span class="name"></span>{picture(22, scale(axis, 1))}<span class="said"></span></div>'
    )


def figure(inside: str, caption: str, title: str) -> str:
    """A picture with its legend."""
    legend = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return f'<figure aria-label="{text(title)}">{inside}{legend}</figure>'
