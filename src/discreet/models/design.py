"""From a frame and a formula to the columns of a regression. A fixed function of each row, given the levels.

Claims
    [design.1] `columns_of` turns each row into numbers by a fixed function of that row and of public or released
          levels: no value raises. What is no number, has no logarithm or is at no known level is NaN.

A regression by a formula: the levels of its categories, then the regression itself.

Releases
    For each category whose levels are not listed, those that enough people share (statistics/open_histogram.py); then
    what the model releases on the columns that the formula makes.

Promise
    [design.2] (epsilon, delta): a tenth of both for each category that has to be found, at most half in all, and what
          is left for the model.
    [design.3] No value of the data raises; a category with too few or too many levels, and levels found that make too
          many columns or two of one name, are a refusal, by what was released.

Why
    Numbers, and the keys by which levels are known, are made by [entries.1]; then one logarithm or
    product of entries of one row each. What is refused is refused by names and declared types, and by these alone it is
    decided which columns hold truth values.
    [design.2] Basic composition of [open_histogram.1] and of the model's own promise: by [design.1] of
    models/design.py a row of the table is a row of numbers, so neighbours stay neighbours.
    [design.3] [design.1]; names, types and the number of rows where it is public are looked at before any draw.

Needs
    delta > 0 where levels have to be found. A level that is not found is missing: its rows do not count.

Accuracy
    A level is found if it has about (2 / e) ln(1 / d) people, e and d a tenth of epsilon and delta. List the levels.

Source
    Wilkinson and Rogers 1973 for the language of models.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.models.formula import Factor, Formula
from discreet.privacy.declaration import Columns
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, check, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Coefficients
from discreet.stages.clip import Floats
from discreet.stages.declared import Bounds, check_bounds
from discreet.statistics.histogram import Categories
from discreet.statistics.open_histogram import OpenHistogram
from discreet.statistics.survey_design import Design as SurveyDesign
from discreet.tables.entries import MISSING, column, key, numbers_of
from discreet.tables.entries import name as as_entry
from discreet.tables.frames import declared_type
from discreet.tables.streams import Stream, each
from discreet.tables.streams import column_of as column_of_stream
from discreet.tables.wanted import OWN

TEXTS: Final = ("str", "utf8", "large_str", "large_utf8")  # how the names of such types begin
Levels = Mapping[str, tuple[Hashable, ...]]
Part = tuple[str, Floats, Bounds | None]  # a column of the design


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Rows of numbers, the outcome last; the names of the others, and public bounds where there are any."""

    rows: Floats
    names: tuple[str, ...]
    bounds: tuple[Bounds | None, ...]


def names_of(frame: Any) -> tuple[str, ...]:
    """The names of a frame's columns: pandas, polars, Arrow or a dictionary of columns."""
    return tuple(map(str, _labels(frame)))


def _labels(frame: Any) -> tuple[Hashable, ...]:
    """What a frame itself calls its columns: not always texts."""
    if isinstance(frame, Mapping):
        return tuple(frame)
    found = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if found is None or not hasattr(frame, "__getitem__"):
        raise BadInput(
            f"the data are of type {type(frame).__name__}; a formula needs named columns: a frame or a dictionary"
        )
    return tuple(found)


def column_of(frame: Any, name: str) -> Any:
    """A column by name."""
    return column(_raw(frame, name))


def _raw(frame: Any, name: str) -> Any:
    labels = [label for label in _labels(frame) if str(label) == name]
    if not labels:
        raise BadInput(f"the formula names {name!r}, which is no column; there are {', '.join(names_of(frame)[:20])}")
    if len(labels) > 1:
        raise BadInput(f"two columns are called {name!r}; give each its own name")
    return frame.column(labels[0]) if hasattr(frame, "column_names") else frame[labels[0]]


def _kind(frame: Any, name: str) -> str:
    """numpy's letter for a column's declared type, "U" for texts, "O" if there is none; read off no row. [design.1]

    One missing entry turns truth values of numpy and pandas into objects: if they were taken for declared ([entries.2]
    of rows.py), somebody's missing entry would decide whether levels have to be found, and whether there are bounds.
    """
    raw = _raw(frame, name)
    declared = declared_type(raw)
    if declared.lower().startswith(TEXTS):
        return "U"
    return column(getattr(raw, "iloc", raw)[:0]).dtype.kind if declared and hasattr(raw, "__array__") else "O"


def schema_of(formula: Formula, rows: Any) -> Any:
    """What is declared of a frame's columns: the frame, or, of a stream of columns by name, these without a row."""
    if not isinstance(rows, Stream):
        return rows
    return {one.name: np.empty(0, object if one.name in formula.categories else np.float64) for one in formula.factors}


def check_frame(formula: Formula, frame: Any) -> int:
    """The number of rows: private or public. Names and declared types are looked at before anything is drawn."""
    sizes = set()
    for factor in formula.factors:
        sizes.add(len(column_of(frame, factor.name)))
        if factor.kind != "category" and _kind(frame, factor.name) not in "biufO":
            raise BadInput(f"the column {factor.name!r} does not hold numbers; write C({factor.name}) for categories")
    if len(sizes) != 1:
        raise BadInput("the columns have different lengths; they must be the same")
    return sizes.pop()


def declared_levels(levels: Any, formula: Formula, frame: Any) -> dict[str, tuple[Hashable, ...]]:
    """Levels that are public: listed, or of a column of truth values."""
    if not isinstance(levels or {}, Mapping):
        raise BadInput(f"levels are {levels!r}; give a dictionary by name of column, the level to compare with first")
    given = dict(levels or {})
    strange = [name for name in given if name not in formula.categories]
    if strange:
        raise BadInput(f"levels are given for {strange[0]!r}, but the formula has no C({strange[0]})")
    found: dict[str, tuple[Hashable, ...]] = {}
    for name in formula.categories:
        if name in given:
            listed = given[name]
            if isinstance(listed, str) or not isinstance(listed, Sequence | np.ndarray) or len(listed) < 2:
                raise BadInput(f"levels of {name!r} are {listed!r}; list two or more, the one to compare with first")
            found[name] = tuple(dict.fromkeys(key(level) for level in listed))
            if len(found[name]) != len(listed):
                raise BadInput(f"levels of {name!r} are {listed!r}; list each once")
        elif _kind(frame, name) == "b":
            found[name] = (key(False), key(True))
    outcome = formula.outcome
    if outcome.kind == "category" and len(found.get(outcome.name, ())) != 2:
        raise BadInput(
            f"the outcome is {outcome}; list its two levels, that of 'no' first: levels={{{outcome.name!r}: [...]}}"
        )
    return found


def width_of(formula: Formula, levels: Levels) -> int:
    """How many columns `columns_of` makes beside the outcome."""
    full = _full(formula)
    wide = {
        factor: len(levels[factor.name]) - (factor != full) if factor.kind == "category" else 1
        for factor in formula.factors
    }
    return sum(math.prod(wide[factor] for factor in term) for term in formula.terms)


def _full(formula: Formula) -> Factor | None:
    """The category whose levels all have a column: without an intercept the first that stands by itself."""
    alone = (factor for factor in formula.factors if factor.kind == "category" and (factor,) in formula.terms)
    return None if formula.intercept else next(alone, None)


def columns_of(formula: Formula, frame: Any, levels: Levels, bounds: Mapping[str, Bounds]) -> Design:
    """The columns of each term in turn, and the outcome. [design.1]"""
    known: dict[Factor, list[Part]] = {}
    full = _full(formula)
    for factor in formula.factors:
        values = column_of(frame, factor.name)
        if factor.kind == "category":
            known[factor] = _indicators(str(factor), values, levels[factor.name], factor == full)
        else:
            truths = _kind(frame, factor.name) == "b"
            known[factor] = [(str(factor), *_numbers(factor, values, bounds.get(factor.name), truths))]
    parts: list[Part] = []
    for term in formula.terms:
        made = known[term[0]]
        for factor in term[1:]:
            made = [_product(left, right) for left in made for right in known[factor]]
        parts += made
    outcome = known[formula.outcome][0]
    listed = [*parts, outcome]
    rows = np.column_stack([values for _, values, _ in listed])
    return Design(rows, tuple(name for name, _, _ in parts), tuple(pair for _, _, pair in listed))


def _rows_of(frame: Any, *, beside: tuple[str, ...], clusters: SurveyDesign | None, **about: Any) -> Floats:
    """The columns that the formula makes of some rows, the outcome, those `beside`, and the number of the cluster if
    there are any. [design.1], [design_effects.1]"""
    others: list[Any] = [numbers_of(column_of(frame, OWN + name)) for name in beside]
    if clusters is not None:
        others.append(clusters.numbers(column_of(frame, f"{OWN}clusters"), frame.get(f"{OWN}strata")))
    return np.column_stack([columns_of(frame=frame, **about).rows, *others])


def _numbers(factor: Factor, values: Any, pair: Bounds | None, truths: bool) -> tuple[Floats, Bounds | None]:
    found = numbers_of(values)
    if pair is None and truths:
        pair = (0.0, 1.0)
    if factor.kind == "number":
        return found, pair
    with np.errstate(all="ignore"):
        found = np.where(found > 0, np.log(np.where(found > 0, found, 1.0)), np.nan)  # [design.1]
    if pair is None or pair[0] <= 0:
        return found, None
    return found, (float(np.log(pair[0])), float(np.log(pair[1])))


def _indicators(name: str, values: Any, levels: tuple[Hashable, ...], full: bool) -> list[Part]:
    """A column of 0 and 1 for each level but the first; rows at no known level are NaN. [design.1]"""
    at = Categories(levels, levels).indices(values)
    at = np.where(at == len(levels), -1, at)
    found: list[Part] = []
    for place in range(0 if full else 1, len(levels)):
        here = np.where(at < 0, np.nan, (at == place).astype(np.float64))  # [design.1]
        found.append((f"{name}[{'' if full else 'T.'}{as_entry(levels[place])}]", here, (0.0, 1.0)))
    return found


def _product(left: Part, right: Part) -> Part:
    with np.errstate(all="ignore"):
        values = left[1] * right[1]  # [design.1]
    pair = None
    if left[2] is not None and right[2] is not None:
        corners = [a * b for a in left[2] for b in right[2]]
        pair = (min(corners), max(corners))
    return f"{left[0]}:{right[0]}", values, pair


def unlisted(name: str) -> str:
    """What to do about a category whose levels are neither listed nor can be found."""
    return f"the levels of {name!r} are not listed and delta is 0; give levels={{{name!r}: [...]}}"


def too_wide(wide: int) -> str:
    """What to do about too many columns."""
    return f"the formula makes {wide} columns, and at most {MOST_COLUMNS} are of use; list fewer levels"


MOST_LEVELS: Final = 64
MOST_COLUMNS: Final = 2**9  # beyond, no model here has an answer, and the columns may not fit into memory
TENTH: Final = Fraction(1, 10)
Make = Callable[[Design, bool, Number, Number], Mechanism[Coefficients]]


@dataclass(frozen=True, slots=True)
class Formulated:
    """A model of a table's columns. `make` makes it for a design, whether there is an intercept, epsilon and delta.

    `beside` are the columns after the outcome that no formula names, offset and weights; `clusters` those of a survey.
    """

    formula: Formula
    make: Make
    _: KW_ONLY
    epsilon: Number
    delta: Number
    levels: Mapping[str, Any] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    clusters: SurveyDesign | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, None)
        if len(self.formula.terms) > MOST_COLUMNS:
            raise BadInput(
                f"the formula has {len(self.formula.terms)} terms, and at most {MOST_COLUMNS} are of use; name fewer"
            )
        named = {factor.name for factor in self.formula.factors}
        for name, pair in self.bounds.items():
            check_bounds(pair)
            if name not in named:
                raise BadInput(f"bounds are given for {name!r}, which is not in the formula")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """(epsilon, delta)."""
        return Approximate(self.epsilon, self.delta)  # [design.2]

    def stages(self, found: int) -> Allocation:
        """The levels of so many categories, then the model: delta goes along with epsilon. [design.2]"""
        share = min(TENTH, Fraction(1, 2 * max(found, 1)))
        rate = exact(self.delta) / exact(self.epsilon)

        def pair(epsilon: Fraction) -> Approximate:
            return Approximate(epsilon, epsilon * rate)

        levels = Share(found * share, pair, found) if found else None
        return Allocation.of(self.epsilon).split(levels=levels, model=Share(None, pair))  # [design.2]

    def check(self, size: int | None) -> None:
        """BadInput or Refused for what levels, bounds and public numbers do not allow; no row is needed. [design.3]"""
        blank = {factor.name: np.empty(0) for factor in self.formula.factors}
        levels = declared_levels(self.levels, self.formula, blank)
        missing = [name for name in self.formula.categories if name not in levels]
        if missing and not self.delta:
            raise BadInput(unlisted(missing[0]))
        if missing:
            return
        if (wide := width_of(self.formula, levels)) > MOST_COLUMNS:
            raise BadInput(too_wide(wide))
        design = columns_of(self.formula, blank, levels, self.bounds)
        check(self.make(design, self.formula.intercept, self.epsilon, self.delta), size)

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The levels, then the model's release on the columns."""
        size = len(rows) if isinstance(rows, Stream) else check_frame(self.formula, rows)  # [design.3]
        check_budget(self.epsilon, self.delta, size if self.neighbours.size_is_public else None)
        schema = schema_of(self.formula, rows)
        levels = declared_levels(self.levels, self.formula, schema)
        missing = [name for name in self.formula.categories if name not in levels]
        costs = self.stages(len(missing))
        notes: list[str] = []
        found: dict[str, tuple[Hashable, ...]] = {}
        for name in missing:
            if not self.delta:
                raise BadInput(unlisted(name))
            cost = costs.part("levels", Approximate)
            histogram = OpenHistogram(cost.epsilon, cost.delta, self.neighbours, self.unit)
            entries = column_of_stream(rows, name, object) if isinstance(rows, Stream) else column_of(rows, name)
            seen = histogram.sifted(entries, rng)  # [design.2]
            found[name] = tuple(level for level in seen if level is not MISSING)
            if not 2 <= len(found[name]) <= MOST_LEVELS:  # [design.3]
                return self._refused(
                    f"{len(found[name])} levels of {name!r} are common enough to be shown (about "
                    f"{histogram.threshold} people), and 2 to {MOST_LEVELS} are of use; list them: "
                    f"levels={{{name!r}: [...]}}",
                    rng,
                )
            notes.append(f"the levels of {name} that are common enough were found; rows at others do not count")
        last = costs.part("model", Approximate)
        try:
            if (wide := width_of(self.formula, levels | found)) > MOST_COLUMNS:
                raise BadInput(too_wide(wide))
            about: dict[str, Any] = {"formula": self.formula, "levels": levels | found, "bounds": self.bounds}
            design = columns_of(frame=schema, **about)
            model = self.make(design, self.formula.intercept, last.epsilon, last.delta)  # [design.2]
        except BadInput as error:
            if not missing:
                raise
            return self._refused(str(error), rng)  # [design.3]: by what was released, so no longer an error
        beside: dict[str, Any] = {"beside": self.beside, "clusters": self.clusters}
        made = each(partial(_rows_of, **beside, **about), rows, np.float64)
        release = model.release(made, rng)
        provenance = replace(
            release.provenance,
            parameters=self._shown | dict(release.provenance.parameters),
            notes=(*notes, *release.provenance.notes),
        )
        return replace(release, guarantee=self.guarantee, provenance=provenance)

    @property
    def _shown(self) -> dict[str, Any]:
        return {"formula": str(self.formula), "neighbours": self.neighbours}

    def _refused(self, words: str, rng: Randomness) -> Release[Coefficients]:
        return Release(
            self.guarantee, Provenance("Formulated", self._shown, rng.secure), refusal=words, name="regression"
        )


def declared_in(columns: Columns, levels: Any, bounds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Levels and bounds by name: those given, and those of the columns that are declared to hold yes and no."""
    if not isinstance(bounds or {}, Mapping):
        raise BadInput(f"bounds are {bounds!r}; with a formula give a dictionary by name of column")
    if not isinstance(levels or {}, Mapping):
        raise BadInput(f"levels are {levels!r}; give a dictionary by name of column, the level to compare with first")
    truths = [name for name, kind in zip(columns.names, columns.kinds, strict=True) if kind == "boolean"]
    formula = Formula.read(columns.formula or "")
    listed = {name: (False, True) for name in truths if name in formula.categories}
    within = {name: (0.0, 1.0) for name in truths if name not in formula.categories}
    return listed | dict(levels or {}), within | dict(bounds or {})
