"""What a clustering returns: k centres, how many rows each has, and predictions. All of it follows from the release.

There are no labels of the rows that were clustered, and no loss but a noisy one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.friendly.matrix import in_one, matrix
from discreet.promise.exact import show

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """k centres in the order of their first coordinates, with noisy `sizes`.

    `noise` is the standard deviation of the last noise on each coordinate of each centre; `loss`, if it was asked for,
    the noisy sum of squared distances to the nearest centre. As an array it is `centres`.

    >>> found = Clusters(np.array([[0.0, 0.0], [9.0, 9.0]]), np.array([70.0, 30.0]), np.array([0.1, 0.2]))
    >>> found.predict([[1.0, 2.0], [8.0, 8.0]]).tolist()
    [0, 1]
    """

    centres: Floats
    sizes: Floats
    noise: Floats
    loss: float | None = None

    @classmethod
    def sorted(cls, centres: Floats, sizes: Floats, noise: Floats, loss: float | None = None) -> "Clusters":
        """In the order of what was released."""
        order = np.lexsort(centres.T[::-1])
        return cls(centres[order], np.rint(np.maximum(sizes[order], 0.0)), noise[order], loss)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.centres, dtype=dtype)

    def __len__(self) -> int:
        return len(self.centres)

    def predict(self, X: Any) -> "npt.NDArray[np.int64]":  # noqa: N803  as scikit-learn calls it
        """The nearest released centre of each row: no further cost. -1 for a row with a missing entry."""
        rows = in_one(matrix(X, self.centres.shape[1]))
        if rows.shape[1] != self.centres.shape[1]:
            raise BadInput(f"X has {rows.shape[1]} columns; the centres have {self.centres.shape[1]}")
        labels = np.full(len(rows), -1, dtype=np.int64)
        step = max(1, (1 << 20) // max(1, self.centres.size))
        for start in range(0, len(rows), step):
            with np.errstate(all="ignore"):
                apart = ((rows[start : start + step, None] - self.centres[None]) ** 2).sum(axis=2)
            known = ~np.isnan(apart).any(axis=1)
            labels[start : start + step][known] = np.argmin(apart[known], axis=1)
        return labels

    def __str__(self) -> str:
        shown = [
            f"({', '.join(show(x) for x in row[:4])}{', ...' if len(row) > 4 else ''})" for row in self.centres[:6]
        ]
        return f"{len(self)} centres, {'; '.join(shown)}{'; ...' if len(self) > 6 else ''}"
