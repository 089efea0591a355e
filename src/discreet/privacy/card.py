"""A release as a card for notebooks: its lines, and its picture where matplotlib is installed, in the page's colours.

Letters have the colour of the text around them, lighter where they say less, so that a card is read on light pages and
on dark ones.
"""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Final

from discreet.errors import BadInput, Refused
from discreet.privacy.picture import INK

BOX: Final = "border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:.6em 1em;display:inline-block"
MIDDLE: Final = "#3d87bf"  # in place of the ink of paper: it is seen on light and on dark
FONTS: Final = {"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "card", "text.parse_math": False}
SIZE: Final = (6.4, 2.6)  # inches
TOLD: Final = "font-family:sans-serif;max-width:100%;overflow-x:auto;box-sizing:border-box"


def card(lines: Sequence[str], picture: str = "") -> str:
    """Lines as a card, the first as its head; rows of a table keep their columns, notes are small."""
    head, *rest = (line.removeprefix("  ") for line in lines)
    items = "".join(_line(line) for line in rest)
    told = f"<div style='font-weight:600;white-space:pre-wrap'>{escape(head)}</div>{items}"
    return f"<div style='{BOX};{TOLD}'>{told}{picture}</div>"


def _line(line: str) -> str:
    if "  " in line:
        how = "white-space:pre;font-family:monospace"
    else:
        how = "opacity:.75" + (";font-size:.9em" if line.startswith("note: ") else "")
    return f"<div style='{how}'>{escape(line)}</div>"


def sketch(plot: Callable[..., Any]) -> str:
    """What `plot` draws as SVG in the page; nothing without matplotlib, or where there is nothing to draw."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    with rc_context(FONTS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that are long or in no font: they come from the data
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        try:
            plot(ax=axes)
        except (BadInput, Refused):
            return ""
        axes.set_title("")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("")
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    drawn = file.getvalue()
    drawn = drawn[drawn.index("<svg") :].replace(INK, MIDDLE)
    drawn = re.sub("#000000|#666666|#262626", "currentColor", drawn)
    return drawn.replace("<svg ", "<svg fill='currentColor' style='display:block;max-width:100%;height:auto' ", 1)
