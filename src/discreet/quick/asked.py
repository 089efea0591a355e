"""What people say about neighbours, names and randomness, as the mechanisms take it."""

from typing import Any, Protocol, TypeVar, runtime_checkable

from discreet.errors import BadInput
from discreet.noise.randomness import Secure
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release

T = TypeVar("T")


@runtime_checkable
class Teller(Protocol):
    """Who stands between a verb and its answer: a session, which charges for the mechanism before the data is read."""

    def answer(self, mechanism: Mechanism[T], rows: Any) -> Release[T]:
        """The mechanism's release, or an exception of its own where only the mechanism is wanted."""


def ask(mechanism: Mechanism[T], rows: Any, rng: Any) -> Release[T]:
    """The last step of every verb: all that is public has been decided, nothing has been drawn."""
    return rng.answer(mechanism, rows) if isinstance(rng, Teller) else mechanism.release(rows, door(rng))


def check_machine(mechanism: Mechanism[Any]) -> None:
    """What a mechanism needs of the machine, a sandbox say, is missed before anything is paid."""
    if hasattr(mechanism, "check_machine"):
        mechanism.check_machine()


def relation_of(neighbours: Neighbours | str) -> Neighbours:
    """The relation, by its name too."""
    try:
        return Neighbours(neighbours)
    except ValueError:
        raise BadInput(f"neighbours is {neighbours!r}; give 'replace' or 'add_or_remove'") from None


def is_table(x: Any) -> bool:
    """By declared shape: two dimensions, or columns."""
    return getattr(x, "ndim", 1) == 2 or hasattr(x, "num_columns") or (hasattr(x, "columns") and hasattr(x, "height"))


def door(rng: Randomness | None) -> Randomness:
    """Secret noise, unless other was given."""
    if rng is None:
        return Secure()
    if not hasattr(rng, "blur") and not isinstance(rng, Teller):
        raise BadInput(f"rng is {rng!r}; leave it out for secret noise, or give Seeded(1) in a test")
    return rng


def named(unit: object) -> str:
    """What a row is called."""
    if not isinstance(unit, str) or not unit.strip():
        raise BadInput(f"unit is {unit!r}; name what a row is, for example 'patient'")
    return unit
