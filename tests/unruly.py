"""An engine that works here, and does all that a cluster may do: any order, copies, tries, and what goes missing."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import cloudpickle

from discreet.engines import messages
from discreet.engines.exchanged import Bucket, kept_of, made_of, segments_of
from discreet.engines.retried import Done, sealed
from discreet.errors import BadInput

Parts = list[tuple[int, list[bytes | None]]]
Spoils = Callable[[int, Parts], Parts]


def sent(work: Any) -> Any:
    """As it comes to a worker."""
    return cloudpickle.loads(cloudpickle.dumps(work))


def as_data(found: Any) -> Any:
    """What a kernel gave, as the driver reads it of a worker of Spark: of anything but data it makes nothing."""
    done = messages.received(messages.sent(Done(found)))
    assert done is not None, f"a kernel gave {type(found).__name__}, which is not data alone"
    return done.found


@dataclass(frozen=True)
class Unruly:
    """`spoils` changes what reaches each bucket; `lost` are buckets that are never folded. What is kept until it is
    dropped is in `held`."""

    seed: int = 0
    spoils: Spoils | None = None
    lost: frozenset[int] = frozenset()
    room: int = 0
    held: list[list[Bucket]] = field(default_factory=list, compare=False)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [sent(function)(item) for item in items]

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Any) -> Any:
        todo = [part for part in parts if not (isinstance(part, Bucket) and part.number in self.lost)]
        random.Random(self.seed).shuffle(todo)
        done = [sealed(sent(kernel), part) for part in todo for _ in range(2)][1::2]  # each twice, one is used
        if None in done:
            raise BadInput("a part of the table was lost")
        return reduce(merge, [one.found for one in done if one is not None]) if done else None

    def keep(self, make: Callable[[Any], Any], parts: Any) -> list[Bucket]:
        """Each part is made twice, in any order, and one is used."""
        todo = [*enumerate(parts)] * 2
        random.Random(self.seed + 2).shuffle(todo)
        found = [Bucket(number, raw) for number, raw in {n: kept_of(sent(make), part) for n, part in todo}.items()]
        self.held.append(found)
        return found

    def drop(self, kept: list[Bucket]) -> None:
        self.held[:] = [one for one in self.held if one is not kept]
        kept.clear()

    def exchange(
        self, cut: Callable[[Any], list[bytes]], make: Callable[[list[bytes]], Any], parts: Any, buckets: int
    ) -> list[Bucket]:
        chance = random.Random(self.seed + 1)
        todo = [*parts, *chance.sample(list(parts), len(parts) // 2)]  # some of them again
        chance.shuffle(todo)
        cuts = [(part.number, segments_of(sent(cut), buckets, part)) for part in todo]
        found = []
        for bucket in range(buckets):
            chance.shuffle(cuts)
            seen = cuts if self.spoils is None else self.spoils(bucket, cuts)
            found.append(Bucket(bucket, made_of(sent(make), [segments[bucket] for _, segments in seen])))
        return found
