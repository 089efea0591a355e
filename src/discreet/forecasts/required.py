"""How many people, or how much epsilon, an error asks for: a search along forecasts, which fall as either grows."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from discreet.errors import BadInput
from discreet.forecasts.forecast import MOST_ROWS, Forecast, check_rows, foreseen, in_units
from discreet.privacy.card import card
from discreet.privacy.declaration import declared
from discreet.privacy.exact import Number, is_number, show
from discreet.privacy.values import plain
from discreet.worlds.assumptions import CLOSED

EPSILONS: Final = (1e-6, 100.0)
CLOSE: Final = 0.03  # how closely a simulated answer is found, as a part of it: its own error is larger
NEAR: Final = 0.03  # the same for a power, whose runs are decisions
PASSED: Final = 0.03  # a simulated power that is above its target by no more is near enough
CLEAR: Final = 0.1  # its runs may have ended early: they are all made for the forecast that is shown
TRIES: Final = 40
GOALS: Final = {"error": "an error", "half_width": "a half-width", "power": "a power"}
Try = Callable[[float], Forecast]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The least `rows` or `epsilon` (`solved` says which) that reaches the target of the `goal`, or why none does."""

    statistic: str
    solved: str
    goal: str
    target: float
    rows: int | None
    epsilon: float | None
    delta: float
    impossible: str | None
    rows_without_privacy: int | None
    forecast: Forecast | None
    units: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {name: plain(value) for name, value in asdict(self).items()}

    def _lines(self) -> list[str]:
        target = in_units(self.target, self.units)
        head = f"{self.statistic.replace('_', ' ')} with {GOALS[self.goal]} of {target}: "
        if self.impossible is not None:
            lines = [head + self.impossible]
        elif self.solved == "rows":
            lines = [f"{head}needs {self.rows} rows at epsilon {self.epsilon:g}"]
        else:
            lines = [f"{head}needs epsilon {self.epsilon:g} with {self.rows} rows"]
        if self.rows_without_privacy is not None:
            lines.append(f"  without privacy: {self.rows_without_privacy} rows")
        if self.forecast is not None:
            lines += str(self.forecast).split("\n")
        return lines

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        return card(self._lines())


def required(
    statistic: str,
    *,
    error: float | None = None,
    half_width: float | None = None,
    power: float | None = None,
    rows: int | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    confidence: float | None = 0.95,
    **about: Any,
) -> Need:
    """The least number of rows, or the least epsilon, that is forecast to reach an error: leave one of the two out.

    The target is `error` (a median, as a forecast has it), or the `half_width` of the interval, or for a test its
    `power`. Options and assumptions are those of `forecast`. Simulated answers are found within three in a hundred.

    >>> import discreet
    >>> discreet.required("proportion", error=0.01, epsilon=0.1, share=0.3).rows
    1302
    >>> "no epsilon" in str(discreet.required("proportion", error=0.001, rows=1000))
    True
    """
    declared(statistic)
    targets = {"error": error, "half_width": half_width, "power": power}
    given = {name: value for name, value in targets.items() if value is not None}
    if len(given) != 1:
        raise BadInput(f"{len(given)} targets are given; give one of error=, half_width= and power=")
    ((what, target),) = given.items()
    if not is_number(target) or not target > 0 or (what == "power" and target >= 1):
        raise BadInput(f"{what} is {target!r}; give a number above 0" + (" and below 1" if what == "power" else ""))
    if (rows is None) == (epsilon is None):
        raise BadInput("leave out one of rows and epsilon, that which is to be found")

    def enough(found: Forecast) -> bool:
        if (what == "power") != (found.level is not None):
            raise BadInput(f"the target is {what}; give power= for a test, and error= or half_width= for the others")
        value = getattr(found, what)
        return value is not None and (value >= target if what == "power" else value <= target)

    def trial(size: float, target: float | None = power) -> Forecast:
        people, cost = (math.ceil(size), epsilon) if rows is None else (rows, size)
        return foreseen(
            statistic,
            about,
            rows=people,
            epsilon=cost,  # type: ignore[arg-type]
            delta=delta,
            confidence=confidence,
            target=target,
        )

    if rows is not None:
        check_rows(rows)
    ends = (1.0, float(_most_rows(delta))) if rows is None else EPSILONS
    value, last = _least(trial, enough, *ends, whole=rows is None, what=what, target=float(target))
    if value is not None and power is not None and last.power is not None and last.power > power + CLEAR:
        last = trial(value, None)
    free = None if what == "power" else _without(last, what, float(target))
    return Need(
        statistic=statistic,
        solved="rows" if rows is None else "epsilon",
        goal=what,
        target=float(target),
        rows=math.ceil(value) if rows is None and value is not None else rows,
        epsilon=value if epsilon is None else float(epsilon),
        delta=float(delta),
        impossible=_why(last, what, rows, free) if value is None else None,
        rows_without_privacy=free,
        forecast=None if value is None else last,
        units="" if power is not None else last.units,
    )


def _most_rows(delta: Number) -> int:
    """delta must stay below 1 / (10 n)."""
    return MOST_ROWS if not delta else min(MOST_ROWS, math.floor(1 / (10 * float(delta))))


def _least(
    trial: Try,
    enough: Callable[[Forecast], bool],
    low: float,
    high: float,
    *,
    whole: bool,
    what: str,
    target: float,
) -> tuple[float | None, Forecast]:
    """The least size that is enough: eight times as large or as small until passed, then halved on the log scale."""
    at = min(max(100.0 if whole else 1.0, low), high)
    found = trial(at)
    ups = enough(found)
    end = low if ups else high
    while True:
        if at == end:
            return (at, found) if ups else (None, found)
        following = max(low, at / 8) if ups else min(high, at * 8)
        seen = trial(following)
        if enough(seen) != ups:
            break
        at, found = following, seen
    bottom, top, lower, best = (following, at, seen, found) if ups else (at, following, found, seen)
    closed = best.how == CLOSED
    close = 1e-4 if closed else CLOSE if what != "power" else NEAR
    for _ in range(TRIES):
        next_to = whole and math.ceil(top) - math.ceil(bottom) <= 1
        if next_to or (not (whole and closed) and top / bottom < 1 + close) or _near(best, what, target):
            break
        middle = bottom * (top / bottom) ** (0.5 if closed else _place(lower, best, what, target))
        if whole:
            middle = min(max(math.floor(middle), math.ceil(bottom) + 1), math.ceil(top) - 1)
        seen = trial(middle)
        if enough(seen):
            top, best = middle, seen
        else:
            bottom, lower = middle, seen
    return top, best


def _near(found: Forecast, what: str, target: float) -> bool:
    """Whether what is enough is so by no more than its runs can tell."""
    value = getattr(found, what)
    if what == "power":
        return value is not None and value <= target + PASSED
    return found.how != CLOSED and value is not None and value >= (1 - CLOSE) * target


def _place(lower: Forecast, upper: Forecast, what: str, target: float) -> float:
    """Where to look between two sizes, on the log scale: where a curve through both meets the target.

    For a power that is a probit curve, for an error a power of the size, and a little further on: a size that is just
    enough ends the search.
    """
    low, high = getattr(lower, what), getattr(upper, what)
    if low is None or high is None:
        return 0.5
    if what == "power":
        from scipy.special import ndtri

        low, high, target = (float(ndtri(min(max(chance, 0.01), 0.99))) for chance in (low, high, target))
    else:
        low, high, target = (-math.log(max(size, 1e-300)) for size in (low, high, (1 - CLOSE / 2) * target))
    return min(max((target - low) / max(high - low, 1e-9), 0.1), 0.9)


def _without(found: Forecast, what: str, target: float) -> int | None:
    """Rows that would do without privacy: the error falls as the root of the rows."""
    if not found.without_privacy or found.sampling is None:
        return None
    size = found.without_privacy
    if what == "half_width":
        if found.confidence is None:
            return None
        from scipy.special import ndtri

        size *= float(ndtri((1 + found.confidence) / 2) / ndtri(0.75))
    return max(1, math.ceil(found.rows * (size / target) ** 2))


def _why(last: Forecast, what: str, rows: int | None, free: int | None) -> str:
    """In one sentence."""
    if last.refused and getattr(last, what) is None:
        return f"not reached at rows {last.rows} and epsilon {last.epsilon:g}: {last.refused}"
    seen = getattr(last, what)
    reached = "nothing" if seen is None else show(seen)
    if rows is None:
        return f"not reached with {last.rows} rows, where {what.replace('_', ' ')} is {reached}"
    more = f"; about {free} rows would do without privacy" if free is not None and free > rows else ""
    floor = f"; no private method is below {show(last.floor)} here" if last.floor and what == "error" else ""
    there = f"at {last.epsilon:g} the {what.replace('_', ' ')} is {reached}"
    return f"no epsilon reaches it with {rows} rows: {there}{more}{floor}"
