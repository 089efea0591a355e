"""A table of named coefficients as text: estimate, standard error with the noise in it, p-value, interval.

Made of the release alone. The p-value is that of coefficient 0, two-sided, by the normal law; "-" stands where a
coefficient has no interval, or one that leaves out sampling.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from discreet.errors import BadInput, Refused
from discreet.privacy.exact import is_number


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One coefficient; None where there is no such number."""

    name: str
    value: float
    _: KW_ONLY
    error: float | None
    low: float | None
    high: float | None
    population: bool

    @property
    def p(self) -> float | None:
        """Two-sided, for the coefficient 0."""
        if self.error is None or not self.error or not self.population:
            return None
        return math.erfc(abs(self.value / self.error) / math.sqrt(2))


def lines(release: Any, confidence: float) -> list[SummaryLine]:
    """The named coefficients of a release, in order; the intercept first where there is one."""
    values = named(release.value)
    if values is None:
        raise BadInput(f"{release.name} has no named coefficients; print it, or read its value")
    spread = release.spread
    sizes = [None if spread is None else named(getattr(spread, part)) for part in ("sampling", "privacy")]
    try:
        bar = None if spread is None else spread.interval(confidence)
    except Refused:
        bar = None
    low, high = (named(bar.low), named(bar.high)) if bar is not None else (None, None)
    found = []
    for name, value in values.items():
        parts = [size[name] for size in sizes if size is not None]
        error = math.hypot(*parts) if parts and bar is not None else None
        ends = [None if end is None else end[name] for end in (low, high)]
        if error is not None and not math.isfinite(error):
            error, ends = None, [None, None]
        found.append(
            SummaryLine(
                name, value, error=error, low=ends[0], high=ends[1], population=bar is not None and bar.population
            )
        )
    return [line for line in found if line.name != "intercept" or line.value or line.error]


def named(thing: Any) -> dict[str, float] | None:
    """Numbers by name: of a mapping, or of coefficients with an intercept; None of anything else."""
    if isinstance(thing, Mapping) and all(map(is_number, thing.values())):
        return {str(name): float(value) for name, value in thing.items()}
    if hasattr(thing, "coef") and hasattr(thing, "names"):
        slopes = dict(zip(map(str, thing.names), map(float, thing.coef), strict=True))
        return {"intercept": float(thing.intercept)} | slopes
    return None


def table(release: Any, confidence: float) -> str:
    """The whole text; of a refusal, what it says."""
    if release.refusal is not None:
        return str(release)
    rows = lines(release, confidence)
    tail = (1 - confidence) / 2
    head = ("", "coef", "std err", "p", f"[{tail:.4g}", f"{1 - tail:.4g}]")
    cells = [
        (line.name, _short(line.value), _short(line.error), _chance(line.p), _short(line.low), _short(line.high))
        for line in rows
    ]
    widths = [max(len(row[place]) for row in (head, *cells)) for place in range(len(head))]

    def shown(row: tuple[str, ...]) -> str:
        rest = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        return f"{row[0].ljust(widths[0])}  {rest}"

    body = [shown(head), *map(shown, cells)]
    rule = "-" * len(body[0])
    bar = release.spread.interval(confidence).about if any(row.low is not None for row in rows) else None
    said = [f"standard errors have the privacy noise in them; intervals are for {bar}"] if bar else []
    _, *rest = str(release).splitlines()
    kept = [line.strip() for line in rest if line.startswith(("  epsilon", "  note", "  NOT"))]
    return "\n".join([release.name, rule, body[0], rule, *body[1:], rule, *said, *kept])


def _short(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"


def _chance(p: float | None) -> str:
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
