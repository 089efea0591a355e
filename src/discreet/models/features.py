"""A person's features as a short list of small whole numbers with a weight: what every regression's sums are made of.

Claims
    [features.1] `prepared` is a fixed function of each row, given a `Scaling` that is public or was released: no value
          raises, and neither other rows, nor their number, nor blocks change a bit of it. A feature is (x - centre) /
          unit in steps of 1/1024, cut at 32 units, missing as 0; the intercept is 1024 steps.
    [features.2] A weight w in [0, 1] goes with each row: w |v| <= R and w |v|^2 <= R^2, v the features in units, R
          public. It depends on the features alone, so that weighted scores keep their expectation of 0; a row without
          an outcome has weight 0.
    [features.3] `find_scaling` costs a Choice for each centre and noisy counts for each unit, under both relations.
    [features.4] `framed` is a fixed function of each row, given a frame and R that were released: steps of 1/1024, cut
          at 32, and a weight w in [0, 1] with w |v| <= R and w |v|^2 <= 2 R^2, by the row's length alone. A row with a
          missing entry has weight 0.
Why
    [features.1] One subtraction, one product, `rint` and saturation, each correctly rounded, on one entry each.
    [features.2] |v|^2 is a sum of squares of whole numbers, exact; w = min(1, R^2 / |v|^2), shortened by 2^-40, which
    covers the rounding of a division.
    [features.3] [locate.1] and [octaves.1] on one column each.
    [features.4] Rows in a frame are exact integers: [gram.4]. Then one product, `rint` and saturation of each entry.
    w = min(1, R / |v|) min(1, 2 R / |v|), each shortened by 2^-40, which covers the rounding of a root, a division and
    a product: the first factor bounds w |v|, both of them w |v|^2.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Reading, Reads, category, number, stacked
from discreet.privacy.exact import is_number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.declared import LARGEST, SMALLEST, check_bounds
from discreet.stages.gram import Frame
from discreet.stages.locate import middle
from discreet.stages.octaves import column_unit, least_seen
from discreet.tables.entries import key
from discreet.tables.streams import Numbers, Stream, column_of, each
from discreet.tables.wanted import OWN

STEPS: Final = 1 << 10  # in a unit
EDGE: Final = 32767.0  # the largest entry, in steps
BEND: Final = 2  # R from which on a row in a frame weighs as the square of its length [features.4]
WIDE: Final = 16  # units that hold all but a few values
WIDEST: Final = 1000  # features
BLOCK: Final = 1 << 13  # rows at a time
BESIDE: Final = ("offset", "weights")  # in this order, in rows
DRAWN: Final = {name: category(optional=True, streams=True) for name in ("clusters", "strata")}
DECLARED: Final = "An outcome that is not 0 and 1 needs its classes declared"


@dataclass(frozen=True, slots=True)
class Features:
    """Which features there are and what is known of them in advance: all of it public.

    `bounds` is a pair for all features, or a tuple with a pair or None for each; `norm` the largest length of a row of
    them. Bounds say how features are scaled: between most values lie; nothing is cut there. (0, 1) are truth values.
    """

    names: tuple[str, ...]
    intercept: bool = True
    bounds: Any = None
    norm: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= WIDEST:
            raise BadInput(f"there are {len(self.names)} features; give 1 to {WIDEST}")
        if not isinstance(self.intercept, bool):
            raise BadInput(f"intercept is {self.intercept!r}; give True or False")
        self.declared()

    @property
    def size(self) -> int:
        """Coefficients, the intercept among them."""
        return len(self.names) + self.intercept

    @property
    def unknown(self) -> int:
        """How many features must be scaled: those for which nothing is declared."""
        return sum(one is None for one in self.declared())

    def declared(self) -> "list[tuple[float, float] | None]":
        """The centre and the unit of each feature, where they are declared."""
        features = len(self.names)
        if self.bounds is not None and self.norm is not None:
            raise BadInput("bounds and norm are both given; give one of them")
        if self.norm is not None:
            if not is_number(self.norm) or not SMALLEST < self.norm < LARGEST:
                raise BadInput(f"norm is {self.norm!r}; give the public largest length of a row of features, above 0")
            return [(0.0, self.norm / math.sqrt(features))] * features
        if self.bounds is None:
            return [None] * features
        if not isinstance(self.bounds, tuple | list | np.ndarray):
            raise BadInput(f"bounds are {self.bounds!r}; give a pair of numbers, or a pair or None for each feature")
        alike = len(self.bounds) == 2 and all(is_number(end) for end in self.bounds)
        pairs = [self.bounds] * features if alike else list(self.bounds)
        if len(pairs) != features:
            raise BadInput(f"there are {len(pairs)} bounds for {features} features; give one pair, or one for each")
        return [None if pair is None else self._unit(pair) for pair in pairs]

    def _unit(self, pair: Any) -> tuple[float, float]:
        check_bounds(pair)
        low, high = float(pair[0]), float(pair[1])
        if not self.intercept:
            return 0.0, max(abs(low), abs(high)) / (1 if (low, high) == (0, 1) else 2)
        return low / 2 + high / 2, (high - low) / (2 if (low, high) == (0, 1) else 4)

    def scaling(self) -> "Scaling | None":
        """As declared, or None where something must be found."""
        found = self.declared()
        return None if None in found else Scaling.of(found, self.intercept)


def scaling_shares(
    features: Features, share: Fraction, cost: Callable[[Fraction], Gaussian] | None = None
) -> dict[str, Share]:
    """A quarter of this share for the centres of all features whose scale is unknown, the rest for their units, whose
    counts get Gaussian noise of this cost, or Laplace noise. [features.3]"""
    times = features.unknown
    if not times:
        return {}
    if not features.intercept:
        return {"unit": Share(share, cost, times)}
    return {"centre": Share(share / 4, Choice, times), "unit": Share(share * 3 / 4, cost, times)}


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Features are (x - centre) / unit, the intercept first if there is one; `radius` is R."""

    centre: Floats
    unit: Floats
    intercept: bool

    @classmethod
    def of(cls, places: "list[tuple[float, float] | None]", intercept: bool) -> "Scaling":
        """By the centre and the unit of each feature."""
        centres, units = (np.array(part) for part in zip(*(place for place in places if place), strict=True))
        return cls(centres, units, intercept)

    @property
    def size(self) -> int:
        """Coefficients, the intercept among them."""
        return len(self.unit) + self.intercept

    @property
    def radius(self) -> float:
        """R: about the length of a row of round data; longer rows weigh less. [features.2]"""
        return math.sqrt(self.size)

    def back(self, w: Floats) -> tuple[Floats, float]:
        """Slopes and intercept for the features as they came."""
        slopes = w[int(self.intercept) :] / self.unit
        return slopes, float(w[0] - slopes @ self.centre) if self.intercept else 0.0

    def backwards(self) -> Floats:
        """The matrix of `back`, intercept first whether there is one or not."""
        found = np.zeros((len(self.unit) + 1, self.size))
        first = int(self.intercept)
        found[1:, first:] = np.diag(1 / self.unit)
        if self.intercept:
            found[0, 0] = 1.0
            found[0, 1:] = -self.centre / self.unit
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Rows as whole numbers: `steps` (n x size, int16), their weights, and the outcome."""

    steps: npt.NDArray[np.int16]
    weight: Floats
    outcome: Floats
    radius: float
    bend: int = 1  # w |v|^2 is at most so many R^2

    def __len__(self) -> int:
        return len(self.steps)


def find_scaling(
    table: Numbers, features: Features, costs: Allocation, neighbours: Neighbours, rng: Randomness
) -> Scaling | str:
    """Centre and unit of each feature, found where they are not declared; or why there is none. [features.3]"""
    cost = costs.noise("unit")
    needed = math.ceil(2 * least_seen(cost, neighbours))
    if neighbours.size_is_public and needed > len(table):  # public
        return (
            f"there are {len(table)} rows, too few to find how {features.unknown} features are scaled at this epsilon, "
            f"which takes {needed}; declare bounds, or bring more rows"
        )
    found: dict[int, tuple[float, tuple[float, float, float]]] = {}
    for place, known in enumerate(features.declared()):
        if known is not None:
            continue
        values, centre = column_of(table, place), 0.0
        if "centre" in costs:
            # [features.3]
            centre = middle(values, cost=costs.part("centre", Choice), neighbours=neighbours, rng=rng)
        reach = column_unit(values, centre, cost=cost, neighbours=neighbours, rng=rng)  # [features.3]
        if reach is None or not abs(centre) < LARGEST:
            return (
                f"{features.names[place]!r} is the same for nearly everybody, by noisy counts of the rows that have "
                f"all entries (about {needed // 2} must differ); leave it out, give its bounds, bring more rows "
                f"or use a larger epsilon. {DECLARED}"
            )
        found[place] = centre, reach
    rows = max(count for _, (_, _, count) in found.values())  # nearly all, where a column differs for nearly everybody
    places = list(features.declared())
    for place, (centre, (top, square, count)) in found.items():
        places[place] = centre, max(square * math.sqrt(count / rows), top / WIDE)
    return Scaling.of(places, features.intercept)


def prepared(table: Floats, scaling: Scaling) -> Prepared:
    """Features and outcome, the last column, as whole numbers with weights. [features.1]"""
    rows, features = len(table), len(scaling.unit)
    first = int(scaling.intercept)
    steps = np.empty((rows, scaling.size), dtype=np.int16)
    square = np.full(rows, float(STEPS**2 * first))
    steps[:, :first] = STEPS
    with np.errstate(all="ignore"):
        per = STEPS / scaling.unit
        for start in range(0, rows, BLOCK):
            entries = table[start : start + BLOCK, :features] - scaling.centre
            entries *= per
            np.clip(np.rint(entries, out=entries), -EDGE, EDGE, out=entries)  # [features.1]
            entries[np.isnan(entries)] = 0.0
            steps[start : start + BLOCK, first:] = entries
            entries *= entries
            square[start : start + BLOCK] += entries.sum(axis=1)  # whole numbers below 2^42: exact
    limit = (scaling.radius * STEPS) ** 2 * (1 - 2.0**-40)
    weight = np.minimum(1 - 2.0**-40, limit / np.maximum(square, 1))  # [features.2]
    outcome = np.array(table[:, features])
    weight[np.isnan(outcome)] = 0.0  # [features.2]
    return Prepared(steps, weight, np.where(np.isnan(outcome), 0.0, outcome), scaling.radius)


def far_weights(lengths: Floats, reach: float) -> Floats:
    """R / |v| beyond R, and BEND R^2 / |v|^2 beyond BEND R; at most 1. [features.4]"""
    short = 1 - 2.0**-40
    near = reach * short / np.maximum(lengths, reach)
    return np.asarray(near * np.minimum(1.0, BEND * reach * short / np.maximum(lengths, reach)))


def framed(rows: Floats, frame: Frame, reach: float) -> Prepared:
    """Rows in a frame as small whole numbers, those beyond `reach` with less weight: [features.4]"""
    steps = np.empty((len(rows), frame.size), dtype=np.int16)
    weight = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        seen, lost = frame.turned(rows[start : start + BLOCK, :-1])
        seen *= frame.step * STEPS
        np.clip(np.rint(seen, out=seen), -EDGE, EDGE, out=seen)
        steps[start : start + BLOCK] = seen.T
        square = np.zeros(seen.shape[1])
        for entries in seen:
            square += entries * entries  # whole numbers below 2^42: exact
        weight[start : start + BLOCK] = far_weights(np.sqrt(square), reach * STEPS)  # [features.4]
        if lost is not None:
            weight[start : start + BLOCK][lost] = 0.0
    missing = np.isnan(rows[:, -1])
    weight[missing] = 0.0  # [features.4]
    return Prepared(steps, weight, np.where(missing, 0.0, rows[:, -1]), reach, BEND)


def yes_or_no(outcome: Floats) -> Floats:
    """Outcomes of a logistic model: 0 and 1; any other is missing, so that its row does not count. [features.1]"""
    return np.where((outcome == 0) | (outcome == 1), outcome, np.nan)


def features_and_outcome(columns: Mapping[str, Any]) -> Any:
    """Rows of features and the outcome, then offset and weight if there are any; the columns of a formula stay apart,
    by name, and so do all where there are clusters."""
    if not isinstance(columns["X"], dict) or "y" in columns:
        return dict(columns) if "clusters" in columns else stacked(columns)
    return columns["X"] | {OWN + name: values for name, values in columns.items() if name != "X"}


def sums_read(width: Literal["one", "several"], options: Mapping[str, Any], *, optional: bool = False) -> Reads:
    """Numbers of a regression: sums of them are taken where rows are, unless it looks at places."""
    held = options.get("method", "auto") not in ("auto", "moments", "descent")
    return number(width, streams=not held, optional=optional)


REGRESSION: Final[Mapping[str, Reading]] = {
    "X": partial(sums_read, "several"),
    **dict.fromkeys(("y", *BESIDE), partial(sums_read, "one", optional=True)),
    **DRAWN,
}


def steps_read(width: Literal["one", "several"], options: Mapping[str, Any], *, optional: bool = False) -> Reads:
    """The same of a logistic model."""
    held = options.get("method", "auto") == "friendly"
    return number(width, streams=not held, optional=optional)


def _outcome(options: Mapping[str, Any]) -> Reads:
    found = steps_read("one", options, optional=True)
    return found if options.get("classes") is None else category(streams=found.streams, optional=True)


LOGISTIC: Final[Mapping[str, Reading]] = {
    "X": partial(steps_read, "several"),
    "y": _outcome,
    **dict.fromkeys(BESIDE, partial(steps_read, "one", optional=True)),
    **DRAWN,
}


def named_columns(X: Columns, names: Sequence[str] | None) -> Columns:  # noqa: N803
    """The features with the names that were given for them."""
    if names is None:
        return X
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise BadInput(f"names is {names!r}; give a text for each column")
    if len(names) != len(X.names):
        raise BadInput(f"names has {len(names)} entries and X has {len(X.names)} columns; give one for each")
    if len(set(names)) != len(names):
        raise BadInput("two columns have the same name; give each its own")
    return replace(X, names=tuple(names))


def places_of(classes: Sequence[Any], most: int = 2) -> Mapping[Any, float]:
    """The public labels as 0, 1 and so on."""
    listed = isinstance(classes, Sequence | np.ndarray) and not isinstance(classes, str)
    if listed and len(classes) > most == 2:
        raise BadInput(f"classes are {classes!r:.200}; of more than two make a multinomial_regression")
    if not listed or not 2 <= len(classes) <= most or len({key(one) for one in classes}) < len(classes):
        needed = "the two public labels, that of 'no' first" if most == 2 else f"2 to {most} public labels, each once"
        raise BadInput(f"classes are {classes!r:.200}; give {needed}")
    return {key(label): float(code) for code, label in enumerate(classes)}


def coded(columns: Any, places: Mapping[Any, float], beside: Sequence[str] = ()) -> Any:
    """Labels as 0 and 1 in the order of the classes; anything else is missing, and its row does not count. `beside` are
    the columns after them."""
    if isinstance(columns, Stream):
        return each(partial(coded, places=places, beside=tuple(beside)), columns, np.float64)
    if isinstance(columns, Mapping):
        rows, labels, others = columns["X"], columns["y"], [columns[name] for name in beside]
    else:
        at = columns.shape[1] - 1 - len(beside)
        rows, labels, others = columns[:, :at], columns[:, at], [columns[:, at + 1 :]]
    codes = np.array([places.get(key(entry), np.nan) for entry in labels], dtype=np.float64)
    return np.column_stack([rows, codes, *others])
