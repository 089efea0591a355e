"""Name and shame: a mechanism that keeps its word and protects nobody. A failing demonstration.

It publishes each record outright with probability delta, and nothing else. That is (0, delta), yet for n = 1/delta
people somebody is exposed with probability 63%. Two guards hold against it: delta above 1/(10 n) is refused
(promise/guarantee.py), and the replay finds that a record leaves without passing the door, however rarely.
"""

from dataclasses import dataclass
from typing import Any

from discreet.promise.exact import exact
from discreet.promise.guarantee import Guarantee
from discreet.promise.loss import Approximate
from discreet.promise.mechanism import Randomness
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release


@dataclass(frozen=True, slots=True)
class NameAndShame:
    """Never use it: it exists to be caught."""

    delta: float

    @property
    def guarantee(self) -> Guarantee:
        """What it claims, truthfully."""
        return Guarantee(0.0, self.delta)

    @property
    def loss(self) -> Approximate:
        """What it claims to cost."""
        return Approximate(0, self.delta)

    def release(self, rows: Any, rng: Randomness) -> Release[tuple[Any, ...]]:
        """Each record with probability delta."""
        chance = exact(self.delta)
        named = tuple(row for row in rows if rng.below(chance.denominator) < chance.numerator)
        return Release(self.guarantee, Provenance("NameAndShame", {}, rng.secure), named, name="named")
