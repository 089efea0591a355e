"""An additive model of two classes: for each column a shape, which adds to the log odds by the bin of the entry."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.value_arrays import FEW, Described, label, listed
from discreet.privacy.value_bins import ColumnBins
from discreet.privacy.value_classes import likeliest

Floats = npt.NDArray[np.float64]
LIMIT: Final = 10.0  # of log odds


@dataclass(frozen=True, slots=True, eq=False)
class Shapes(Described):
    """Log odds of the second of `classes`: `intercept`, and for each column what the bin of its entry adds.

    `levels` are, of a column that is `measured`, the numbers where its bins meet, of any other its categories. Each
    column has one bin more, for entries that are missing or not listed. `cells` are what bins add, column by column.
    `predict` and `predict_proba` are computed of these at no further cost, and have no interval.

    >>> found = Shapes(("no", "yes"), ("age",), ((50.0,),), (True,), np.array([-1.0, 2.0, 0.0]), -0.5)
    >>> found["age"], found.predict([[30], [70]]).tolist()
    ({'below 50': -1.0, '50 or more': 2.0, 'missing or not listed': 0.0}, ['no', 'yes'])
    """

    classes: tuple[Any, ...]
    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    measured: tuple[bool, ...]
    cells: Any
    intercept: float

    def __post_init__(self) -> None:
        if len(self.classes) != 2:
            raise BadInput("shapes need two classes")
        if len(self.cells) != sum(self._bins.widths):
            raise BadInput("shapes need a number for each bin of each column")

    @property
    def _bins(self) -> ColumnBins:
        return ColumnBins(self.names, self.levels, self.measured)

    def _parts(self) -> list[npt.NDArray[Any]]:
        """What the bins of each column add."""
        return np.split(np.asarray(self.cells), np.cumsum(self._bins.widths)[:-1])

    def _rows(self) -> list[tuple[str, str, Any]]:
        bins = self._bins
        return [
            (name, bin_, number)
            for place, (name, part) in enumerate(zip(self.names, self._parts(), strict=True))
            for bin_, number in zip(bins.named(place), part.tolist(), strict=True)
        ]

    def _entries(self) -> list[tuple[str, Any]]:
        return [(f"{name} {bin_}", number) for name, bin_, number in self._rows()]

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """The intercept."""
        return [("intercept", self.intercept)]

    def __getitem__(self, name: str) -> dict[str, Any]:
        """What the bins of a column add to the log odds."""
        if name not in self.names:
            raise BadInput(f"{name!r} is not a column, of {listed(self.names[:FEW], len(self.names))}")
        place = self.names.index(name)
        return dict(zip(self._bins.named(place), self._parts()[place].tolist(), strict=True))

    def with_cells(self, cells: Any) -> "Shapes":
        """Other numbers in the same places: the ends of an interval."""
        return replace(self, cells=np.asarray(cells))

    def decision_function(self, X: Any) -> Floats:  # noqa: N803  as scikit-learn calls it
        """The log odds of the second class for each row, limited to 10."""
        bins = self._bins
        columns = bins.columns(X)
        odds = np.full(len(columns[0]), float(self.intercept))
        for place, part in enumerate(self._parts()):
            odds += part[bins.places(columns[place], place)]
        return np.asarray(np.clip(odds, -LIMIT, LIMIT))

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The chance of each class for each row."""
        yes = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - yes, yes])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row."""
        return likeliest(self.classes, self.predict_proba(X))

    def table(self) -> dict[str, Any]:
        """A row for each bin: its column, its name, what it adds."""
        return dict(zip(("column", "bin", "log odds"), map(list, zip(*self._rows(), strict=True)), strict=True))

    def __str__(self) -> str:
        spans = [(name, float(np.ptp(part))) for name, part in zip(self.names, self._parts(), strict=True)]
        ranked = sorted(spans, key=lambda one: -one[1])
        shown = listed([f"{name} {span:.2g}" for name, span in ranked[:FEW]], len(spans))
        return f"log odds of {label(self.classes[1])} from the bins of {len(spans)} columns, which span {shown}"
