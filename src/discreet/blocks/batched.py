"""Many small fits at once: least squares, logistic and Poisson regression, one pass over all blocks.

Claims
    [BB1] Each block's row is a function of that block alone, as if it were fitted by itself: to 1e-8 of the library's
          least squares where that is well conditioned, and to the library's own tolerance for the two others, which
          are solved to a gradient of 1e-9 a row. Blocks that are poorly conditioned, separated or hold NaN: see below.

Least squares: centred normal equations; where the smallest eigenvalue is below 1e-9 of the largest, the block is solved
again by singular values, as the libraries do. The others: Newton steps with halving; a block that does not converge in
30 (a separated one without penalty, say) gives no estimate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.blocks.estimator import Fit, LineFit, ModelFit, SklearnFit
from discreet.blocks.firth import firth
from discreet.blocks.partition import Blocks
from discreet.blocks.run import Correct
from discreet.blocks.shape import Shape

Floats = npt.NDArray[np.float64]
CACHED: Final = 1 << 17  # numbers in a batch: they stay in the cache
POOR: Final = 1e-9
STEPS: Final = 30
SMALL: Final = 1e-9  # of the gradient, per row
NEAR: Final = 0.05  # the same, at which it is nearly there
SAFE: Final = 1.75  # the largest move of a linear predictor at which Newton's step surely leads downhill


@dataclass(frozen=True, slots=True)
class Batched:
    """A closed form or Newton's: `law` is "normal", "logistic" or "poisson"; `order` puts slopes and intercept right.

    `penalty` is that of the slopes in the sum of losses over a block: a number, or a number a row.
    """

    law: str
    intercept: bool
    penalty: float = 0.0
    penalty_a_row: float = 0.0
    intercept_first: bool = False

    @property
    def name(self) -> str:
        """For the record."""
        return {"normal": "batched least squares", "logistic": "batched Newton steps (logistic)"}.get(
            self.law, "batched Newton steps (Poisson)"
        )

    @property
    def likelihood(self) -> bool:
        """Whether it is the maximum of a likelihood that Firth's correction is known for."""
        return self.law != "normal" and not self.penalty and not self.penalty_a_row

    @property
    def closed(self) -> bool:
        """Whether it is one pass: not worth a second process."""
        return self.law == "normal"

    def rows(self, blocks: Blocks, correct: Correct, first: int = 0, last: int | None = None) -> Floats:
        """The rows of the blocks from `first` up to `last`, corrected by halves if asked for."""
        edges = blocks.edges[2 * first : 2 * (blocks.count if last is None else last) + 1]
        x = np.asarray(blocks.table.x, dtype=np.float64)
        y = np.asarray(blocks.table.y, dtype=np.float64)
        whole = self._fits(x, y, edges[::2], correct == "firth")
        if correct != "half":
            return whole
        halves = self._fits(x, y, edges)
        with np.errstate(all="ignore"):
            found = np.asarray(2 * whole - (halves[0::2] + halves[1::2]) / 2)
        found[~np.isfinite(found).all(axis=1)] = np.nan
        return found

    def _fits(self, x: Floats, y: Floats, edges: npt.NDArray[np.int64], adjusted: bool = False) -> Floats:
        width = x.shape[1] + self.intercept
        found = np.full((len(edges) - 1, width), np.nan)
        with np.errstate(all="ignore"):
            for first, last in batches(edges, x.shape[1]):
                start, stop, count = int(edges[first]), int(edges[last]), last - first
                size = (stop - start) // count
                if size == 0:
                    continue
                rows = x[start:stop].reshape(count, size, x.shape[1])
                outcome = y[start:stop].reshape(count, size)
                found[first:last] = self._solve(rows, outcome, adjusted)  # [BB1]
        found[~np.isfinite(found).all(axis=1)] = np.nan
        return found

    def _solve(self, x: Floats, y: Floats, adjusted: bool) -> Floats:
        good = np.asarray(np.isfinite(x).all(axis=(1, 2)) & np.isfinite(y).all(axis=1))
        if not good.all():
            x, y = np.where(good[:, None, None], x, 0.0), np.where(good[:, None], y, 0.0)
        if self.law == "normal":
            solved = least_squares(x, y, self.intercept)
        else:
            solved = self._adjusted(x, y) if adjusted else self._newton(x, y)
        solved[~good] = np.nan
        if self.intercept and self.intercept_first:
            solved = np.roll(solved, 1, axis=1)
        return solved

    def _adjusted(self, x: Floats, y: Floats) -> Floats:
        """Firth's; blocks with one outcome only have an estimate too."""
        fit = (y == 0) | (y == 1) if self.law == "logistic" else y >= 0
        solved = firth(x, y, self.law, self.intercept)  # [BB2]
        solved[~fit.all(axis=1)] = np.nan
        return solved

    def _newton(self, x: Floats, y: Floats) -> Floats:
        if self.law == "logistic":
            two = ((y == 0) | (y == 1)).all(axis=1) & (y.min(axis=1) < y.max(axis=1))
        else:
            two = (y >= 0).all(axis=1) & (y.max(axis=1) > 0)
        solved = newton(x, y, self.law, self.intercept, self.penalty + self.penalty_a_row * x.shape[1])
        solved[~two] = np.nan  # as the libraries refuse them
        return solved


def batches(edges: npt.NDArray[np.int64], width: int) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring blocks of one size, no larger than the cache likes."""
    sizes = np.diff(edges)
    first = 0
    while first < len(sizes):
        most = max(1, CACHED // max(1, int(sizes[first]) * width))
        last = first + 1
        while last < len(sizes) and last - first < most and sizes[last] == sizes[first]:
            last += 1
        yield first, last
        first = last


def least_squares(x: Floats, y: Floats, intercept: bool) -> Floats:
    """Slopes, then the intercept, of each of a batch of blocks."""
    count, size, width = x.shape
    centre = x.mean(axis=1, keepdims=True) if intercept else np.zeros((count, 1, width))
    level = y.mean(axis=1, keepdims=True) if intercept else np.zeros((count, 1))
    moved, target = x - centre, y - level
    across = np.swapaxes(moved, 1, 2)
    gram, cross = across @ moved, across @ target[:, :, None]
    # LAPACK raises for the whole batch, and prints, if one block is not finite: none such is handed to it  [BB1]
    usable = np.isfinite(moved).all(axis=(1, 2)) & np.isfinite(target).all(axis=1)
    good = np.isfinite(gram).all(axis=(1, 2)) & np.isfinite(cross).all(axis=(1, 2)) & (size > width)
    values = np.linalg.eigvalsh(np.where(good[:, None, None], gram, np.eye(width)))
    good &= values[:, 0] > POOR * values[:, -1]
    safe, right = np.where(good[:, None, None], gram, np.eye(width)), np.where(good[:, None, None], cross, 0.0)
    slopes = np.linalg.solve(safe, right)[:, :, 0]
    slopes[~usable] = np.nan
    for poor in np.flatnonzero(usable & ~good):
        try:
            slopes[poor] = np.linalg.lstsq(moved[poor], target[poor], rcond=None)[0]
        except np.linalg.LinAlgError:
            slopes[poor] = np.nan
    if not intercept:
        return slopes
    return np.concatenate([slopes, level - (centre @ slopes[:, :, None])[:, :, 0]], axis=1)


def newton(x: Floats, y: Floats, law: str, intercept: bool, penalty: float) -> Floats:
    """The same for a generalised linear model with its canonical link; NaN where it does not converge."""
    count, size, width = x.shape
    ridge = np.full(width + intercept, penalty)
    if intercept:
        wider = np.empty((count, size, width + 1))
        wider[:, :, :width], wider[:, :, width], ridge[-1] = x, 1.0, 0.0
        x = wider
    at, linear = np.zeros((count, width + intercept)), np.zeros((count, size))
    if law == "poisson" and intercept:
        at[:, -1] = np.log(np.maximum(y.mean(axis=1), 1e-300))
        linear += at[:, -1:]
    found = np.full((count, width + intercept), np.nan)
    live, scale = np.arange(count), SMALL * size * np.maximum(1.0, np.abs(y).max(axis=1))
    curved = np.zeros(count, dtype=bool)  # looked at near the end
    settled = np.zeros(count, dtype=bool)
    for _ in range(STEPS):
        mean, curve = _response(linear, law)
        gradient = ((mean - y)[:, None, :] @ x)[:, 0, :] + ridge * at
        steep = np.abs(gradient).max(axis=1)
        done = (steep < scale[live]) & curved[live] & ~settled[live]
        found[live[done]] = at[done]  # [BB1]: once; what it moves to while others go on is not its own
        settled[live[done]] = True
        lost = ~np.isfinite(steep)
        kept = ~settled[live] & ~lost
        if (
            lost.any() or not kept.any() or 2 * kept.sum() < len(kept)
        ):  # a copy for a few is dearer than a few steps more
            live, x, y, at, linear, gradient, curve = (part[kept] for part in (live, x, y, at, linear, gradient, curve))
        if len(live) == 0:
            break
        hessian = np.swapaxes(x, 1, 2) @ (x * curve[:, :, None])
        diagonal = np.einsum("bii->bi", hessian)
        diagonal += ridge + 1e-13 * diagonal.mean(axis=1, keepdims=True) + 1e-300  # never exactly singular
        finite = np.isfinite(hessian).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1)
        hessian[~finite] = np.eye(hessian.shape[1])  # LAPACK would raise for all  [BB1]
        gradient[~finite] = np.nan
        step = _solved(hessian, gradient)[:, :, None]
        moved = (x @ step)[:, :, 0]
        reach = np.abs(moved).max(axis=1)
        near = np.flatnonzero(reach < NEAR)
        curved[live[near]] = _is_curved(hessian[near])
        share = _shares(y, at, linear, step[:, :, 0], moved, np.flatnonzero(~(reach < SAFE)), ridge, law)
        at, linear = at - share * step[:, :, 0], linear - share * moved
    return found


def _solved(hessian: Floats, gradient: Floats) -> Floats:
    """Newton's steps; a block whose matrix is singular has none, and leaves the others alone. [BB1]"""
    try:
        return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        if len(hessian) == 1:
            return np.full_like(gradient, np.nan)
        return np.concatenate([_solved(hessian[one : one + 1], gradient[one : one + 1]) for one in range(len(hessian))])


def _is_curved(hessian: Floats) -> npt.NDArray[np.bool_]:
    """Whether there is one solution: by the smallest eigenvalue, looked for only where a bound does not tell.

    The product of the others is at most (trace / (p - 1))^(p - 1), so the smallest is at least determinant over that.
    """
    width, trace = hessian.shape[1], np.einsum("bii->b", hessian)
    sign, size = np.linalg.slogdet(hessian)
    least = size - (width - 1) * np.log(trace / max(1, width - 1))
    good = np.asarray((sign > 0) & (least > np.log(POOR * trace)))
    unsure = np.flatnonzero(~good & np.isfinite(trace))
    if len(unsure):
        largest = np.einsum("bii->bi", hessian[unsure]).max(axis=1)
        good[unsure] = np.linalg.eigvalsh(hessian[unsure])[:, 0] > POOR * largest
    return good


def _response(linear: Floats, law: str) -> tuple[Floats, Floats]:
    """Mean and curvature of each row."""
    if law == "poisson":
        mean = np.exp(linear)
        return mean, mean
    mean = 1 / (1 + np.exp(-linear))
    return mean, mean * (1 - mean)


def _shares(  # noqa: PLR0917
    y: Floats, at: Floats, linear: Floats, step: Floats, moved: Floats, far: Any, ridge: Floats, law: str
) -> Floats:
    """How much of Newton's step to take: all, or of the `far` ones halved until it does not lead uphill.

    Both losses have a third derivative of at most their second, so a full step d leads downhill if all |x d| < 1.79:
    f(b - d) <= f(b) - D (1 - (e^r - r - 1) / r^2), D = d'Hd, r the largest |x d| (Bach 2010). Longer ones are tried.
    """
    share = np.ones((len(at), 1))
    if len(far) == 0:
        return share
    before = _values(y[far], linear[far], at[far], ridge, law)
    for _ in range(30):
        values = _values(y[far], linear[far] - share[far] * moved[far], at[far] - share[far] * step[far], ridge, law)
        up = ~(values <= before + 1e-12 * (1 + np.abs(before)))
        if not up.any():
            break
        far, before = far[up], before[up]
        share[far] /= 2
    return share


def _values(y: Floats, linear: Floats, at: Floats, ridge: Floats, law: str) -> Floats:
    """The objective of each block."""
    loss = np.exp(linear) if law == "poisson" else np.maximum(linear, 0) + np.log1p(np.exp(-np.abs(linear)))
    return np.asarray((loss - y * linear).sum(axis=1) + (ridge * at**2).sum(axis=1) / 2)


def batched(fit: Fit, shape: Shape, blocks_x: Any, blocks_y: Any, correct: Correct) -> Batched | None:
    """The fast path for a fit, if there is one that gives the same; decided by its type and the table's."""
    if correct == "jackknife" or not isinstance(blocks_x, np.ndarray) or blocks_x.ndim != 2 or blocks_y is None:
        return None
    if blocks_y.ndim != 1 or blocks_x.dtype.kind not in "biuf" or blocks_y.dtype.kind not in "biuf":
        return None
    if isinstance(fit, LineFit):
        found: Batched | None = Batched("normal", fit.intercept)
    else:
        found = _of_sklearn(fit) if isinstance(fit, SklearnFit) else _of_statsmodels(fit)
    if correct == "firth" and found is not None and not found.likelihood:
        return None
    expected = blocks_x.shape[1] + (found.intercept if found else 0)
    return found if found is not None and shape.width == expected and shape.kind in ("named", "array") else None


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
    laws = {"OLS": "normal", "Logit": "logistic", "Poisson": "poisson"}
    law = laws.get(fit.name)
    return None if law is None else Batched(law, intercept=False)


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))
