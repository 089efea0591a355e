"""The value of a principal component analysis: directions, and what share of the variance each of them holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.value_arrays import FEW, Described, listed, matching


@dataclass(frozen=True, slots=True, eq=False)
class Components(Described):
    """`directions`, one a row, of the columns less `centre` and over `scales`, with the share of variance of each.

    `shares` and `captured`, the share of all of them together, are what the interval is for. The directions themselves
    have none: they are axes to look along, and the shares say what is seen there. As an array it is its directions.

    >>> found = Components(np.array([0.7]), 0.7, np.array([[0.6, 0.8]]), np.zeros(2), np.ones(2), ("age", "bmi"))
    >>> found.transform([[3.0, 4.0]]).tolist()
    [[5.0]]
    """

    shares: Any
    captured: float
    directions: Any
    centre: Any
    scales: Any
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if np.ndim(self.directions) != 2:
            raise BadInput("directions need loadings that are as many for each")
        matching(self.shares, self.directions)
        for each in (self.centre, self.scales, self.names or self.centre):
            matching(each, self.directions.T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.directions, dtype=dtype)

    def __len__(self) -> int:
        return len(self.directions)

    @property
    def columns(self) -> list[str]:
        """What the columns are called."""
        return list(self.names) or [f"column {place + 1}" for place in range(len(self.centre))]

    def _entries(self) -> list[tuple[str, Any]]:
        each = [(f"share of component {place}", share) for place, share in enumerate(self.shares.tolist(), 1)]
        return [*each, (f"share of all {len(self)}", self.captured)]

    def _unnamed(self) -> int:
        return -1 if self.names else len(self.centre)

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """The loadings, which say where to look."""
        names = [f"component {place}, {name}" for place in range(1, len(self) + 1) for name in self.columns]
        return list(zip(names, self.directions.ravel().tolist(), strict=True))

    def transform(self, X: Any) -> Any:  # noqa: N803  as scikit-learn calls it
        """Rows along the released directions: no further cost."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.centre):
            raise BadInput(f"X has shape {rows.shape}; it needs rows of {len(self.centre)} columns")
        return ((rows - self.centre) / self.scales) @ self.directions.T

    def table(self) -> dict[str, Any]:
        """A row for each direction: its share, then its loadings."""
        return {"share": self.shares.tolist(), **dict(zip(self.columns, self.directions.T.tolist(), strict=True))}

    def __str__(self) -> str:
        shares = listed([f"{share:.1%}" for share in self.shares[:FEW].tolist()], len(self))
        return f"{len(self)} components that hold {self.captured:.1%} of the variance, by {shares}"
