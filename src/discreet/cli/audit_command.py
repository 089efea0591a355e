"""`discreet audit`: a mechanism that a module makes, on pairs of neighbouring tables."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from discreet.audit import Pair, Verdict, check, labels, numbers, truths
from discreet.errors import BadInput
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Mechanism

WORLDS: Final[dict[str, Callable[[Neighbours], Any]]] = {"numbers": numbers, "truths": truths, "labels": labels}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A mechanism and the pairs that it is audited on."""

    mechanism: Mechanism[Any]
    world: str
    pairs: Sequence[Pair]
    runs: int
    seed: int

    @classmethod
    def of(cls, mechanism: str, world: str, *, runs: int, seed: int) -> "Audit":
        """By the names of what makes them; BadInput for what is not there."""
        made = _made(mechanism)
        if not all(hasattr(made, name) for name in ("release", "guarantee", "loss")):
            raise BadInput(
                f"{mechanism} gave a {type(made).__name__}; it must give a mechanism, with release, guarantee and loss"
            )
        if world in WORLDS:
            pairs = list(WORLDS[world](made.guarantee.neighbours))
        elif ":" in world:
            pairs = list(_made(world))
        else:
            raise BadInput(f"the world is {world!r}; give {', '.join(WORLDS)}, or module:pairs")
        if not pairs or not all(isinstance(pair, Pair) for pair in pairs):
            raise BadInput(f"{world} gave no list of pairs; it must give discreet.audit.Pair, at least one")
        return cls(mechanism=made, world=world, pairs=pairs, runs=runs, seed=seed)

    def run(self) -> Verdict:
        """The whole audit."""
        return check(self.mechanism, self.pairs, runs=self.runs, seed=self.seed)

    def record(self) -> dict[str, Any]:
        """What is audited, in plain values."""
        return {
            "mechanism": type(self.mechanism).__name__,
            "guarantee": str(self.mechanism.guarantee),
            "world": self.world,
            "pairs": len(self.pairs),
            "runs": self.runs,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        told = (
            f"{type(self.mechanism).__name__}: {self.mechanism.guarantee}\n"
            f"- its loss is compared with its guarantee\n"
            f"- it is replayed on {len(self.pairs)} pairs of neighbours ({self.world}) and on hostile values: every "
            "draw must stay within its claimed sensitivity"
        )
        more = f"\n- two pairs are told apart by their outputs, {self.runs} on each side" if self.runs else ""
        return told + more


def _made(name: str) -> Any:
    """What a function without arguments gives, found as module:function; modules of the current folder, too."""
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise BadInput(f"the name is {name!r}; write module:function, for example my_package.mechanisms:make")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(import_module(module), attribute)
    except ImportError as error:
        raise BadInput(f"the module {module!r} cannot be imported: {error}") from None
    except AttributeError:
        raise BadInput(f"the module {module!r} has no {attribute!r}") from None
    if not callable(found):
        raise BadInput(f"{name} is a {type(found).__name__}; name a function without arguments")
    try:
        return found()
    except Exception as error:  # noqa: BLE001  other people's code, without data
        raise BadInput(f"{name}() failed ({type(error).__name__}: {error}); it must need no arguments") from None
