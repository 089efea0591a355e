"""The meter: what a mechanism draws must be within the loss that it declares."""

from typing import Any

from discreet.accounting.compose import epsilon
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder
from discreet.noise.seeded import Seeded
from discreet.promise.exact import exact
from discreet.promise.loss import Approximate, Loss, atoms
from discreet.promise.mechanism import Mechanism

DELTAS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)


def drawn(mechanism: Mechanism[Any], rows: Any, *, seed: int = 0) -> Loss:
    """The composition of everything that one run asks the door for."""
    recorder = Recorder(Seeded(seed))
    mechanism.release(rows, recorder)
    return recorder.spent


def exceeds(spent: Loss, declared: Loss) -> str | None:
    """Where the curve of what was spent lies above the declared one; None if nowhere."""
    if itemised(spent) == itemised(declared) or _sums_to(spent, declared):
        return None
    for delta in DELTAS:
        paid, said = epsilon(spent, delta), epsilon(declared, delta)
        if paid > said * (1 + 1e-9):
            return f"draws cost epsilon {paid:.6g} at delta {delta:g}, the declared loss {said:.6g}"
    return None


def _sums_to(spent: Loss, declared: Loss) -> bool:
    """Whether (epsilon, delta) is declared and the draws' sums are within it: no curve of such draws lies above then.

    Upper bounds of two curves, both nearly as high as they can be, may be out of order by their rounding.
    """
    sums = pure(spent)
    match atoms(declared):
        case (Approximate(most, chance),) if sums is not None:
            return sums[0] <= exact(most) and sums[1] <= exact(chance)
    return False


def itemised(loss: Loss) -> tuple[str, ...]:
    """The parts of a loss, in an order of their own."""
    return tuple(sorted(map(repr, atoms(loss))))
