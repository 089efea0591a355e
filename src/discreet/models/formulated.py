"""A regression by a formula: the levels of its categories, then the regression itself.

Releases
    For each category whose levels are not listed, those that enough people share (statistics/open_histogram.py); then
    what the model releases on the columns that the formula makes.
Promise
    [LF1] (epsilon, delta): a tenth of both for each category that has to be found, at most half in all, and what is
          left for the model.
    [LF2] No value of the data raises; a category with too few or too many levels, and levels found that make too many
          columns or two of one name, are a refusal, by what was released.
Why
    [LF1] Basic composition of [S1] of statistics/open_histogram.py and of the model's own promise: by [LD1] of
    models/design.py a row of the table is a row of numbers, so neighbours stay neighbours.
    [LF2] [LD1]; names, types and the number of rows where it is public are looked at before any draw.
Needs
    delta > 0 where levels have to be found. A level that is not found is missing: its rows do not count.
Accuracy
    A level is found if it has about (2 / e) ln(1 / d) people, e and d a tenth of epsilon and delta. List the levels.
Source
    Wilkinson and Rogers 1973 for the language of models.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from discreet.errors import BadInput
from discreet.models.coefficients import Coefficients
from discreet.models.design import Design, check_frame, column_of, columns_of, declared_levels, width_of
from discreet.models.formula import Formula
from discreet.promise.exact import Number, exact
from discreet.promise.guarantee import Guarantee, check_budget
from discreet.promise.loss import Approximate, Loss
from discreet.promise.mechanism import Mechanism, Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release
from discreet.rows import MISSING
from discreet.stable.declared import Bounds, check_bounds
from discreet.statistics.open_histogram import OpenHistogram

MOST_LEVELS: Final = 64
MOST_COLUMNS: Final = 2**9  # beyond, no model here has an answer, and the columns may not fit into memory
TENTH: Final = exact(1) / 10
Make = Callable[[Design, bool, Number, Number], Mechanism[Coefficients]]


@dataclass(frozen=True, slots=True)
class Formulated:
    """A model of a table's columns. `make` makes it for a design, whether there is an intercept, epsilon and delta."""

    formula: Formula
    make: Make
    epsilon: Number
    delta: Number
    levels: Mapping[str, Any] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
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

    @property
    def guarantee(self) -> Guarantee:
        """As asked for."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """(epsilon, delta)."""
        return Approximate(self.epsilon, self.delta)  # [LF1]

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The levels, then the model's release on the columns."""
        size = check_frame(self.formula, rows)  # [LF2]
        check_budget(self.epsilon, self.delta, size if self.neighbours.size_is_public else None)
        levels = declared_levels(self.levels, self.formula, rows)
        missing = [name for name in self.formula.categories if name not in levels]
        share = min(TENTH, exact(1) / (2 * max(len(missing), 1)))
        epsilon, delta = exact(self.epsilon) * share, exact(self.delta) * share  # [LF1]
        notes: list[str] = []
        found: dict[str, tuple[Hashable, ...]] = {}
        for name in missing:
            if not delta:
                raise BadInput(f"the levels of {name!r} are not listed and delta is 0; give levels={{{name!r}: [...]}}")
            histogram = OpenHistogram(epsilon, delta, self.neighbours, self.unit)
            seen = histogram.sifted(column_of(rows, name), rng)  # [LF1]
            found[name] = tuple(level for level in seen if level is not MISSING)
            if not 2 <= len(found[name]) <= MOST_LEVELS:  # [LF2]
                return self._refused(
                    f"{len(found[name])} levels of {name!r} are common enough to be shown (about "
                    f"{histogram.threshold} people), and 2 to {MOST_LEVELS} are of use; list them: "
                    f"levels={{{name!r}: [...]}}",
                    rng,
                )
            notes.append(f"the levels of {name} that are common enough were found; rows at others do not count")
        left = 1 - share * len(missing)
        try:
            if (wide := width_of(self.formula, levels | found)) > MOST_COLUMNS:
                raise BadInput(
                    f"the formula makes {wide} columns, and at most {MOST_COLUMNS} are of use; list fewer levels"
                )
            design = columns_of(self.formula, rows, levels | found, self.bounds)
            model = self.make(
                design, self.formula.intercept, exact(self.epsilon) * left, exact(self.delta) * left
            )  # [LF1]
        except BadInput as error:
            if not missing:
                raise
            return self._refused(str(error), rng)  # [LF2]: by what was released, so no longer an error
        release = model.release(design.rows, rng)
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
