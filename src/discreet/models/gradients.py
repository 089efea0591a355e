"""Per-person gradients, clipped and put on a grid: of named losses in one fast pass, of any function row by row.

Claims
    [gradients.1] A person's clipped gradient is a fixed function of their row and of parameters that were released, on
          a grid of 2^26 steps to the clip, and at most `gradient_sensitivity` steps long. What a function of the
          caller's does with a row (an exception of any kind, NaN, a wrong shape, a warning) ends there: its gradient is
          0. Random numbers that it draws from Python's or numpy's common states begin anew with each row, from the
          parameters. That it remembers nothing of other rows is the caller's to see to.
    [gradients.2] Sums over any set of people are exact.

PyTorch modules, through Opacus: an engine that samples, clips and adds noise as asked for. Needs the extra `torch`.

Opacus draws its noise in floating point and keeps its own accounts: what it promises is its own promise, not ours. So
there is no `Release` here, and its engine is asked for cryptographic randomness.

Why
    [gradients.1] Named losses: the gradient is r v, r the residual. k = rint(2^16 r / clip), r cut to clip / |v|, times
    the steps V = 1024 v, |V| <= 2^15 sqrt(size): |k| |V| <= 2^26 + |V| / 2. A function of the caller's sees one row at
    a time; its gradient is scaled to at most `clip` by its own length and rounded: an error of at most sqrt(size) / 2
    steps, within what that allows. Were random states to run on, one row more would give all later ones other random
    numbers.
    [gradients.2] Whole numbers, each below 2^27: products and sums as in [score.1], which do not wrap around, however
    many people there are.
"""

import math
import random  # noqa: TID251  to fix other people's random states, not to draw
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal, Protocol

import numpy as np

from discreet._compiled.warmth import warm
from discreet.engines.local import silence
from discreet.errors import BadInput
from discreet.models.features import STEPS, Prepared
from discreet.models.score import (
    BLOCK,
    FINE,
    REACH,
    SUMMED,
    Integers,
    logistic,
    looked_up,
    poisson,
    slices,
    whole_coefficients,
)
from discreet.noise.additive import Mask, summed
from discreet.noise.distributions import compiled
from discreet.privacy.guarantee import Neighbours
from discreet.stages.clip import Floats
from discreet.subsample.run_block import passing_on_interrupts

Named = Literal["squared", "huber", "logistic", "poisson"]
LOSSES: Final = ("squared", "huber", "logistic", "poisson")
HUBER: Final = 1.345  # units of the outcome beyond which a residual of the Huber loss counts as that
MOST_RATE: Final = 10**6
RESIDUAL: Final = 1 << 16  # steps of a residual of the size of the clip
LARGE: Final = 20_000  # rows from which the compiled pass is worth its import
FAST: Final = 1 << 18  # rows of a compiled pass
WHOLE: Final = RESIDUAL * STEPS  # steps in the clip


def gradient_sensitivity(size: int, neighbours: Neighbours) -> Fraction:
    """How far one person moves a sum of clipped gradients, in steps. [gradients.1]"""
    longest = math.ceil(WHOLE * (1 + 1e-9)) + 2**14 * (math.isqrt(size) + 1)
    return Fraction(longest * (2 if neighbours is Neighbours.REPLACE else 1))


class Gradients(Protocol):
    """People whose clipped gradients can be summed."""

    @property
    def people(self) -> int:
        """How many: private or public, as the neighbours have it."""

    @property
    def size(self) -> int:
        """Parameters."""

    def total(self, w: Floats, chosen: Mask) -> Integers:
        """The sum over the chosen, in steps of clip / 2^26. [gradients.2]"""


@dataclass(frozen=True, slots=True, eq=False)
class ModelGradients:
    """A named loss of a linear part."""

    rows: Prepared
    limit: Floats
    table: Floats
    clip: float

    @classmethod
    def of(cls, rows: Prepared, loss: Named, clip: float) -> "ModelGradients":
        """With the largest residual of each row: clip / |v|; 0 where the outcome is missing. [gradients.1]"""
        square = np.zeros(len(rows))
        for start in range(0, len(rows), BLOCK):
            steps = rows.steps[start : start + BLOCK].astype(np.float64)
            square[start : start + BLOCK] = np.einsum("ij,ij->i", steps, steps)  # whole numbers: exact
        limit = clip * STEPS * (1 - 2.0**-40) / np.sqrt(np.maximum(square, 1.0))  # [gradients.1]
        if loss == "huber":
            limit = np.minimum(limit, HUBER)
        if loss == "logistic":
            rows = replace(rows, outcome=(rows.outcome > 0).astype(np.float64))
        table = np.empty(0)  # the mean is the linear part itself
        if loss in ("logistic", "poisson"):
            table = logistic().means if loss == "logistic" else np.minimum(poisson().means, MOST_RATE)
        return cls(rows, np.where(rows.weight > 0, limit, 0.0), table, clip)

    @property
    def people(self) -> int:
        """Rows."""
        return len(self.rows)

    @property
    def size(self) -> int:
        """Coefficients."""
        return int(self.rows.steps.shape[1])

    def total(self, w: Floats, chosen: Mask) -> Integers:
        """The sum over the chosen. [gradients.2]"""
        return total_clipped(self.rows, self.limit, self.table, w, per=RESIDUAL / self.clip, chosen=chosen)


def total_clipped(rows: Prepared, limit: Floats, table: Floats, w: Floats, *, per: float, chosen: Mask) -> Integers:
    """The sum of k V over the chosen rows. [gradients.2]"""
    whole, unit = whole_coefficients(w)
    if len(rows) >= LARGE and warm(len(rows), "model_kernels") and compiled():
        from discreet._compiled.model_kernels import total_clipped as fast

        parts = (
            fast(
                rows.steps[part],
                limit[part],
                rows.outcome[part],
                whole,
                unit,
                table,
                per,
                REACH,
                FINE,
                chosen[part],
            )
            for part in slices(len(rows), FAST)
        )
        return summed(parts, (len(w),), SUMMED)  # [gradients.2]

    def products(part: slice) -> Floats:
        steps = rows.steps[part].astype(np.float64)
        linear = (steps @ whole) * unit
        mean = looked_up(table, linear) if len(table) else linear
        residual = np.clip(mean - rows.outcome[part], -limit[part], limit[part])
        k = np.rint(residual * per) * chosen[part]  # [gradients.1]
        return np.asarray(k @ steps)

    return summed(map(products, slices(len(rows), BLOCK)), (len(w),), SUMMED)  # [gradients.2]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnyGradients:
    """A function of the caller's: gradients(w, X, y) gives the derivatives of the loss of one row."""

    gradients: Callable[[Floats, Any, Any], Any]
    X: Floats
    y: Floats
    size: int
    clip: float

    @property
    def people(self) -> int:
        """Rows."""
        return len(self.X)

    def total(self, w: Floats, chosen: Mask) -> Integers:
        """The sum over the chosen, each asked for by itself. [gradients.2]"""
        with passing_on_interrupts(), silence(), np.errstate(all="ignore"), _common_states():
            return summed(self._each(w, chosen), (self.size,), WHOLE)  # [gradients.2]

    def _each(self, w: Floats, chosen: Mask) -> Iterator[Integers]:
        seed = zlib.crc32(w.tobytes())
        for place in np.flatnonzero(chosen):
            random.seed(seed)  # [gradients.1]
            np.random.seed(seed)  # noqa: TID251, NPY002  [gradients.1]
            found = self._asked(w.copy(), self.X[place : place + 1].copy(), self.y[place : place + 1].copy())
            if found is not None:
                yield clipped(found, self.clip)[0]

    def _asked(self, w: Floats, x: Floats, y: Floats) -> Floats | None:
        """What the function says of one row; None if that is not as many numbers as there are parameters.
        [gradients.1]"""
        try:
            found = np.asarray(self.gradients(w, x, y), dtype=np.float64)
        except BaseException:  # noqa: BLE001  [gradients.1]: whatever a row makes the function do, nobody sees it
            return None
        return found.reshape(1, self.size) if found.size == self.size else None


@contextmanager
def _common_states() -> Iterator[None]:
    """The caller's random states are theirs again afterwards."""
    before = random.getstate(), np.random.get_state()  # noqa: TID251, NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: TID251, NPY002


def clipped(gradients: Floats, clip: float) -> Integers:
    """Rows scaled to at most `clip`, in steps; one with an entry that is no finite number is 0. [gradients.1]"""
    with np.errstate(all="ignore"):
        finite = np.asarray(np.isfinite(gradients).all(axis=1))
        kept = np.where(finite[:, None], gradients, 0.0)
        largest = np.maximum(np.abs(kept).max(axis=1, initial=0.0), 1e-300)
        length = largest * np.sqrt(((kept / largest[:, None]) ** 2).sum(axis=1))  # no square overflows
        factor = WHOLE * (1 - 2.0**-40) / np.maximum(length, clip)
        steps = np.rint(np.where(finite[:, None], kept * factor[:, None], 0.0))
    return np.clip(steps, -WHOLE, WHOLE).astype(np.int64)


def private_training(
    module: Any, optimizer: Any, loader: Any, *, epsilon: float, delta: float, epochs: int, clip: float = 1.0
) -> tuple[Any, Any, Any]:
    """Module, optimizer and loader with which training costs (epsilon, delta), one person added or removed."""
    try:
        from opacus import PrivacyEngine
    except ImportError:
        raise BadInput(
            "PyTorch modules are trained by Opacus, which is not installed; pip install discreet[torch]"
        ) from None
    engine = PrivacyEngine(accountant="prv", secure_mode=True)
    made: tuple[Any, Any, Any] = engine.make_private_with_epsilon(
        module=module,
        optimizer=optimizer,
        data_loader=loader,
        target_epsilon=epsilon,
        target_delta=delta,
        epochs=epochs,
        max_grad_norm=clip,
        poisson_sampling=True,
    )
    return made
