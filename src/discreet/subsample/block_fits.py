"""One block's least squares, and its logistic or Poisson regression by Newton's steps: the plain path.

Least squares: centred normal equations. Where they are poor, the block is solved by singular values; where a column is
a combination of others, as a dummy is of a level that nobody in the block has, there is no estimate: the libraries'
pseudo-inverse would say 0. The jackknife is in closed form, for rows or for people with several rows. The others:
Newton's steps from slopes of 0, halved where they would lead uphill; when a step moves no row's linear predictor by
`CLOSE`, what is left is of the order of its square. A block that is not there after `STEPS` (without a penalty: one
whose outcomes a line separates) or whose solution is not the only one has no estimate.

How poor a matrix is: the trace of its inverse once its diagonal is ones, the sum of the variance inflation factors. It
does not depend on the units of the columns.

Claims
    [block_fits.1] Logistic and Poisson regression with Firth's correction: the row is a function of the block alone,
          the zero of the adjusted score, from a start and by steps that depend on nothing but the block. NaN where they
          do not settle, or where it is not the only one.
    [block_fits.2] Least squares: a block in which a coefficient is not identified has no estimate.
    [block_fits.3] The jackknife in closed form is that of a fit without each person, to 1e-8.

On a small block the maximum of the likelihood lies too far out (by 18 standard errors of the whole answer in blocks of
20 people with 6 numbers), and where a line separates the outcomes it lies nowhere; comparing with half blocks makes it
worse, as halves are separated more often. Firth's score adds h (1/2 - p) to each residual (Poisson: h / 2), h the row's
leverage: for canonical links it is that of Jeffreys' prior. Its zero is finite and its bias is of the order 1 / m^2.

Source
    Firth 1993, Biometrika 80; Heinze and Schemper 2002 (separation); Kosmidis and Firth 2009 (other models).
"""

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
STEPS: Final = 30
CLOSE: Final = 1e-5
SAFE: Final = 1.75  # the largest move of a linear predictor at which Newton's step surely leads downhill
POOR: Final = 1e9
POOR_SQUARES: Final = 1e7  # normal equations square errors: this leaves 1e-8
TINY: Final = 1e-22  # a square beside another one: rounding
ALONE: Final = 1e-9  # what a row's leverage leaves of 1, or an eigenvalue of the others' correlations: none
FAINT: Final = 1e-13  # added to ones: never exactly singular


def least_squares(x: Floats, y: Floats, intercept: bool) -> Floats:
    """Slopes, then the intercept."""
    size, width = x.shape
    centre = x.mean(axis=0) if intercept else np.zeros(width)
    level = float(y.mean()) if intercept else 0.0
    moved, target = x - centre, y - level
    gram, cross = moved.T @ moved, moved.T @ target
    spread = np.diagonal(gram)
    sound = size > width and (spread > TINY * np.maximum(spread.max(), size * centre**2)).all()
    factors = factored(gram) if sound and np.isfinite(cross).all() else None
    if factors is not None and factors[1] < POOR_SQUARES:
        slopes = factors[0] @ cross
    elif np.isfinite(moved).all() and np.isfinite(target).all():  # else the library would print
        found, _, rank, _ = np.linalg.lstsq(moved, target, rcond=None)
        slopes = np.asarray(found, dtype=np.float64)
        if rank < width:  # [block_fits.2]
            return np.full(width + intercept, np.nan)
    else:
        return np.full(width + intercept, np.nan)
    return np.append(slopes, level - centre @ slopes) if intercept else slopes


def jackknifed(x: Floats, y: Floats, people: npt.NDArray[np.int64] | None, intercept: bool) -> Floats:
    """Least squares, m A - (m - 1) mean of the A without one person: slopes, then the intercept. [block_fits.3]

    Without i the coefficients are b - (G - G_i)^-1 X_i' e_i, G = X'X, G_i = X_i'X_i, e the residuals with everybody;
    for one row the inverse is G^-1 / (1 - h), h its leverage. NaN where b, or one of these, is not the only solution.
    """
    none = np.full(x.shape[1] + intercept, np.nan)
    centre = x.mean(axis=0) if intercept else np.zeros(x.shape[1])  # fixed: the jackknife moves with the coordinates
    rows = np.column_stack([x - centre, np.ones(len(x))]) if intercept else x
    factors = factored(rows.T @ rows)
    if len(rows) <= rows.shape[1] or factors is None or factors[1] > POOR_SQUARES:
        return none  # [block_fits.2]
    found = factors[0] @ (rows.T @ y)
    left = y - rows @ found
    if people is None:
        free = 1 - np.einsum("ij,ij->i", rows @ factors[0], rows)
        if (free < ALONE).any():  # a row that alone tells a coefficient
            return none
        count, moved = len(rows), factors[0] @ (rows.T @ (left / free))
    else:
        count = int(people.max()) + 1
        own = np.zeros((count, rows.shape[1], rows.shape[1]))
        pull = np.zeros((count, rows.shape[1]))
        np.add.at(own, people, rows[:, :, None] * rows[:, None, :])
        np.add.at(pull, people, rows * left[:, None])
        scale = 1 / np.sqrt(np.diagonal(rows.T @ rows))  # units of the columns do not decide what is singular
        without = (rows.T @ rows - own) * scale[:, None] * scale
        if (np.linalg.eigvalsh(without)[:, 0] < ALONE).any():
            return none
        moved = scale * np.linalg.solve(without, (pull * scale)[:, :, None])[:, :, 0].sum(axis=0)
    found = found + (count - 1) / count * moved
    return np.append(found[:-1], found[-1] - centre @ found[:-1]) if intercept else found


def factored(matrix: Floats) -> tuple[Floats, float] | None:
    """The inverse of a matrix, and how poor it is; None if it has none."""
    diagonal = np.diagonal(matrix)
    if not np.isfinite(matrix).all() or not (diagonal > 0).all():
        return None
    scale = 1 / np.sqrt(diagonal)
    ones = matrix * scale[:, None] * scale
    np.fill_diagonal(ones, 1 + FAINT)
    try:
        lower = np.linalg.inv(np.linalg.cholesky(ones)) * scale
    except np.linalg.LinAlgError:
        return None
    return lower.T @ lower, float(((lower / scale) ** 2).sum())


def newton(x: Floats, y: Floats, family: str, intercept: bool, penalty: float) -> Floats:
    """Slopes, then the intercept, of a generalised linear model with its canonical link."""
    x, at, linear = started(x, y, family, intercept, 1e-300)
    ridge = np.full(len(at), penalty)
    if intercept:
        ridge[-1] = 0.0
    for turn in range(STEPS):
        mean, curve = response(linear, family)
        if family == "logistic" and not penalty and turn and ((2 * y - 1) * linear > 1e-6).all():
            break  # a line separates the outcomes: there is no maximum
        matrix = x.T @ (x * curve[:, None])
        matrix[np.diag_indices(len(at))] += ridge
        factors = factored(matrix)
        if factors is None:
            break
        step = factors[0] @ (x.T @ (mean - y) + ridge * at)
        moved = x @ step
        reach = np.abs(moved).max()
        share = 1.0 if reach < SAFE else _share(y, at, linear, step, moved, ridge, family)
        at = at - share * step
        if reach < CLOSE:
            return at if factors[1] < POOR else np.full_like(at, np.nan)
        linear = linear - share * moved
    return np.full_like(at, np.nan)


def started(x: Floats, y: Floats, family: str, intercept: bool, low: float) -> tuple[Floats, Floats, Floats]:
    """The rows with their ones, where to start, and the linear predictor there: the block's own level. [batched.1]"""
    if intercept:
        x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    at = np.zeros(x.shape[1])
    if family == "poisson" and intercept:
        at[-1] = np.log(max(float(y.mean()), low))
    return x, at, np.full(len(x), at[-1])


def response(linear: Floats, family: str) -> tuple[Floats, Floats]:
    """Mean and curvature of each row."""
    if family == "poisson":
        mean = np.exp(linear)
        return mean, mean
    mean = 1 / (1 + np.exp(-linear))
    return mean, mean * (1 - mean)


def _share(  # noqa: PLR0917
    y: Floats, at: Floats, linear: Floats, step: Floats, moved: Floats, ridge: Floats, family: str
) -> float:
    """How much of a long step to take: halved until it does not lead uphill.

    Both losses have a third derivative of at most their second, so a full step d leads downhill if all |x d| < 1.79:
    f(b - d) <= f(b) - D (1 - (e^r - r - 1) / r^2), D = d'Hd, r the largest |x d| (Bach 2010). Longer ones are tried.
    """

    def value(share: float) -> float:
        line, place = linear - share * moved, at - share * step
        loss = np.exp(line) if family == "poisson" else np.maximum(line, 0) + np.log1p(np.exp(-np.abs(line)))
        return float((loss - y * line).sum() + (ridge * place**2).sum() / 2)

    before, share = value(0.0), 1.0
    for _ in range(30):
        if value(share) <= before + 1e-12 * (1 + abs(before)):
            break
        share /= 2
    return share


FIRTH_STEPS: Final = 60
FARTHEST: Final = 2.0  # a step's largest move of the linear predictor of any row
SETTLED: Final = 1e-9  # the same, at which it is there


def firth(x: Floats, y: Floats, family: str, intercept: bool) -> Floats:
    """Slopes, then the intercept. [block_fits.1]"""
    x, at, linear = started(x, y, family, intercept, 0.5 / len(x))  # [block_fits.1]
    for _ in range(FIRTH_STEPS):
        mean, curve = response(linear, family)
        factors = factored(x.T @ (x * curve[:, None]))
        if factors is None:
            break
        leverage = np.minimum(1.0, curve * np.einsum("ij,ij->i", x @ factors[0], x))
        pull = 0.5 - mean if family == "logistic" else 0.5
        step = factors[0] @ (x.T @ (y - mean + leverage * pull))
        moved = x @ step
        reach = float(np.abs(moved).max())
        if not np.isfinite(reach):
            break
        share = min(1.0, FARTHEST / max(reach, 1e-300))
        at = at + share * step
        if reach < SETTLED:
            return at if factors[1] < POOR else np.full_like(at, np.nan)
        linear = linear + share * moved
    return np.full_like(at, np.nan)
