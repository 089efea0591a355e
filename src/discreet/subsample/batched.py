"""Many small fits at once: least squares, logistic and Poisson regression, one pass over all blocks.

Claims
    [batched.1] Each block's row is a function of that block alone, bit for bit as if it were fitted by itself: to 1e-8
          of the library's least squares where that is well conditioned, and for the two others closer to the maximum
          than the library's own tolerance. Blocks that are poorly conditioned, separated or hold NaN: see
          subsample/block_fits.py.
    [batched.2] Two labels of a block, whatever they are, are read as scikit-learn reads them there: the lower is 0, the
          upper 1. A block with another number of labels, or with a number that is not whole, has no estimate. (Firth's
          correction has one for a block of 0, -1 or 1 alone, numbers that say which label they are; of one text never.)

Compiled (_compiled/fit_kernels.py) where numba is installed and there are many blocks, else one by one with numpy: the
two agree but for rounding, so which one is taken may depend on public numbers only: on the number of blocks and never
on that of the rows, which is private where a person may have any number of them. The compiled path calls no matrix
library; the plain one does, one block at a time, as any estimator's fit would.
"""

from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from discreet.noise.distributions import compiled
from discreet.subsample.block_fits import firth, jackknifed, least_squares, newton
from discreet.subsample.block_table import alone, is_frame, owners
from discreet.subsample.estimators import Fit, LineFit, ModelFit, SklearnFit
from discreet.subsample.partition import Blocks
from discreet.subsample.returned import Shape
from discreet.subsample.run_block import Correct, combined
from discreet.tables.entries import numbers_of

Floats = npt.NDArray[np.float64]
Regression = Literal["normal", "logistic", "poisson"]
STATSMODELS: Final[dict[str, Regression]] = {"OLS": "normal", "Logit": "logistic", "Poisson": "poisson"}
MANY: Final = 500  # blocks from which the compiled path is worth its import


@dataclass(frozen=True, slots=True)
class Batched:
    """A closed form or Newton's: `family` is "normal", "logistic" or "poisson".

    `penalty` is that of the slopes in the sum of losses over a block: a number, or a number a row. `labels`: whether a
    logistic outcome is a label, and not a share between 0 and 1.
    """

    family: Regression
    intercept: bool
    _: KW_ONLY
    penalty: float = 0.0
    penalty_a_row: float = 0.0
    labels: bool = True

    @property
    def name(self) -> str:
        """For the record."""
        return {"normal": "batched least squares", "logistic": "batched Newton steps (logistic)"}.get(
            self.family, "batched Newton steps (Poisson)"
        )

    @property
    def likelihood(self) -> bool:
        """Whether it is the maximum of a likelihood that Firth's correction is known for."""
        return self.family != "normal" and not self.penalty and not self.penalty_a_row

    @property
    def closed(self) -> bool:
        """Whether other processes are not worth starting: one pass, or compiled, by all processors."""
        return self.family == "normal" or compiled()

    def rows(self, blocks: Blocks, correct: Correct, first: int = 0, last: int | None = None) -> Floats:
        """The rows of the blocks from `first` up to `last`, corrected by halves if asked for."""
        parts = blocks.parts
        edges = blocks.edges[parts * first : parts * (blocks.count if last is None else last) + 1]
        x = np.ascontiguousarray(blocks.table.x, dtype=np.float64)
        ranked = self.family == "logistic" and self.labels
        y = numbered(blocks.table.y, edges[::parts]) if ranked else numbers_of(blocks.table.y)  # [batched.2]

        def mean(step: int) -> Floats:
            """Of the estimates on so many parts at a time, block by block."""
            if correct == "jackknife":
                found = self._jackknifed(x, y, blocks.table.people, edges[::step])
            else:
                found = self.fits(
                    x, y, edges[::step], adjusted=correct == "firth", fast=is_compiled(blocks.total)
                )  # [batched.1]
            return np.asarray(found.reshape(-1, parts // step, found.shape[1]).mean(axis=1))

        with np.errstate(all="ignore"):
            found = combined(mean, parts, correct)
        found[~np.isfinite(found).all(axis=1)] = np.nan
        return found

    def _jackknifed(self, x: Floats, y: Floats, people: Any, edges: npt.NDArray[np.int64]) -> Floats:
        """Least squares with the jackknife of each block, one after another. [block_fits.3]"""
        found = np.full((len(edges) - 1, x.shape[1] + self.intercept), np.nan)
        for block, (start, stop) in enumerate(pairwise(edges)):
            part = slice(start, stop)
            if start < stop and np.isfinite(x[part]).all() and np.isfinite(y[part]).all():
                whose = None if people is None else owners(people[part])
                found[block] = jackknifed(x[part], y[part], whose, self.intercept)
        return found

    def fits(
        self, x: Floats, y: Floats, edges: npt.NDArray[np.int64], *, adjusted: bool = False, fast: bool = False
    ) -> Floats:
        """Slopes, then the intercept, of the blocks between edges; NaN where there is no estimate."""
        penalty = self.penalty + self.penalty_a_row * np.diff(edges)
        if fast:
            from discreet._compiled.fit_kernels import fits

            found, left = fits(x, y, edges, self.family, self.intercept, self.labels, penalty, adjusted)  # [batched.1]
        else:
            found = np.full((len(edges) - 1, x.shape[1] + self.intercept), np.nan)
            left = np.diff(edges) > 0
        with np.errstate(all="ignore"):
            for block in np.flatnonzero(left):
                part = slice(edges[block], edges[block + 1])
                found[block] = self._fit(x[part], y[part], penalty[block], adjusted)  # [batched.1]
        found[~np.isfinite(found).all(axis=1)] = np.nan
        return found

    def _fit(self, x: Floats, y: Floats, penalty: float, adjusted: bool) -> Floats:
        """One block."""
        outcome = self.outcome(y, adjusted)
        if outcome is None or not np.isfinite(x).all():
            return np.full(x.shape[1] + self.intercept, np.nan)
        if self.family == "normal":
            return least_squares(x, outcome, self.intercept)
        if adjusted:
            return firth(x, outcome, self.family, self.intercept)  # [block_fits.1]
        return newton(x, outcome, self.family, self.intercept, penalty)

    def outcome(self, y: Floats, adjusted: bool) -> Floats | None:
        """A block's outcome as numbers for its family; None where the libraries would refuse it.

        Firth's correction has an estimate for a block with one outcome only, if it is known which: 0 or -1 is the lower
        of two labels, 1 the upper.
        """
        low, high = y.min(), y.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            return None
        if self.family == "normal":
            return y
        if self.family == "poisson":
            return y if low >= 0 and (adjusted or high > 0) else None
        if not self.labels:
            return y if low >= 0 and high <= 1 and (adjusted or (low < 1 and high > 0)) else None
        if low == high:
            return np.full(len(y), float(low == 1)) if adjusted and low in (-1, 0, 1) else None
        if low != np.floor(low) or high != np.floor(high):
            return None  # no labels
        return np.asarray(y == high, dtype=np.float64) if ((y == low) | (y == high)).all() else None  # [batched.2]


def is_compiled(blocks: int) -> bool:
    """Whether the compiled path is taken: by the number of blocks, which is public. [batched.1]"""
    return blocks >= MANY and compiled()


def numbered(y: npt.NDArray[Any], edges: npt.NDArray[np.int64]) -> Floats:
    """Labels as numbers, block by block: texts by their rank in the block; a block of texts and others has none.
    [batched.2]

    A block of one text has no estimate: which of two labels it is, only the other blocks could tell.
    """
    if y.dtype.kind in "biuf":
        return np.ascontiguousarray(y, dtype=np.float64)
    found = np.full(len(y), np.nan)
    for start, stop in pairwise(edges):
        own = alone(y[start:stop])
        if own.dtype.kind == "f":
            found[start:stop] = own
        elif all(isinstance(entry, str) for entry in own):
            labels, ranks = np.unique(own.astype(object), return_inverse=True)
            found[start:stop] = ranks if len(labels) > 1 else np.nan  # [batched.2]
    return found


class Fast(Protocol):
    """A fast path: the rows of all blocks, each a function of its block alone."""

    @property
    def name(self) -> str:
        """For the record."""

    @property
    def likelihood(self) -> bool:
        """Whether it is the maximum of a likelihood that Firth's correction is known for."""

    @property
    def closed(self) -> bool:
        """Whether other processes are not worth starting."""

    def rows(self, blocks: Blocks, correct: Correct, first: int = 0, last: int | None = None) -> Floats:
        """The rows of the blocks from `first` up to `last`, corrected as asked for."""


def batched(fit: Fit, shape: Shape, blocks_x: Any, blocks_y: Any, correct: Correct) -> Fast | None:
    """The fast path for a fit, if there is one that gives the same; decided by its type and the table's.

    An adapter may bring its own: `fast(x, y, correct)`.
    """
    if hasattr(fit, "fast"):
        own: Fast | None = fit.fast(blocks_x, blocks_y, correct)
        return own
    if blocks_y is None or not _of_numbers(blocks_x):
        return None
    if blocks_y.ndim != 1 or blocks_y.dtype.kind not in "biufUOmM":
        return None
    found = _closed_form(fit)
    if found is None or (correct == "firth" and not found.likelihood):
        return None
    if correct == "jackknife" and found.family != "normal":
        return None
    expected = blocks_x.shape[1] + found.intercept
    return found if shape.width == expected and shape.kind in ("named", "array") else None


def _of_numbers(x: Any) -> bool:
    """Whether these are several columns of numbers, in an array or in a frame."""
    if is_frame(x):
        return all(isinstance(kind, np.dtype) and kind.kind == "f" for kind in x.dtypes)
    return isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind in "biuf"


def _closed_form(fit: Fit) -> Batched | None:
    match fit:
        case LineFit():
            return Batched("normal", fit.intercept)
        case SklearnFit():
            return _of_sklearn(fit)
        case _:
            return _of_statsmodels(fit)


def _of_sklearn(fit: SklearnFit) -> Batched | None:
    if fit.options or fit.attributes != ("coef_", "intercept_"):
        return None
    kind, asked = type(fit.estimator), fit.estimator
    if not kind.__module__.startswith("sklearn.linear_model.") or not asked.fit_intercept:
        return None
    settings = asked.get_params()
    plain = {name: value for name, value in settings.items() if name not in ("copy_X", "n_jobs", "tol", "max_iter")}
    default = kind().get_params()
    changed = {name for name, value in plain.items() if not _same(value, default.get(name))}
    match kind.__name__:
        case "LinearRegression" if not changed:
            return Batched("normal", intercept=True)
        case "LogisticRegression" if changed <= {"C"} and settings["C"] > 0:
            return Batched("logistic", intercept=True, penalty=1 / settings["C"])
        case "PoissonRegressor" if changed <= {"alpha"}:
            return Batched("poisson", intercept=True, penalty_a_row=settings["alpha"])
        case _:
            return None


def _of_statsmodels(fit: Fit) -> Batched | None:
    if not isinstance(fit, ModelFit) or fit.formula is not None or fit.options:
        return None
    module = getattr(fit.model, "__module__", "")
    if not module.startswith("statsmodels."):
        return None
    family = STATSMODELS.get(fit.name)
    return None if family is None else Batched(family, intercept=False, labels=False)


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))
