"""A whole question on two neighbouring tables, with the same answers from the door: what differs, and did it answer?

Beyond the draws and all that leaves, it compares what only code inside can see: the estimates of the blocks, and what
each cell of a sandbox is sent. Neighbours may differ in one block.

The two runs are paired as the proofs pair them. Blocks of people are by a keyed hash of their names: who is new has the
hash of who is gone ([partition.2]). Where people are numbered by first appearance, somebody who comes first renumbers
all others: whoever is in both tables has the same place in the order that is drawn ([asking.4]).
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.sessions import Moved
from discreet.accounting.compose import implies
from discreet.audit.replay import FREE, Recorder, Seen, _DivergedError, trace, watch
from discreet.noise.randomness import Request, Seeded, Shuffle
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Approximate, Loss, compose
from discreet.privacy.release import Groups
from discreet.sandbox.sandbox import Sandbox
from discreet.subsample import partition
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.tables import apart, cells, person_hash, table
from discreet.tables.entries import column, key

Numbers = Mapping[Any, int]  # the number of each person


@dataclass
class Inside:
    """What code inside a run can see: estimates and messages, block by block, and how people were numbered."""

    estimates: list[Any] = field(default_factory=list)
    sent: list[list[bytes]] = field(default_factory=list)
    rehearsed: list[bytes] = field(default_factory=list)
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """What is wrong on one pair of neighbours; whether noise that costs something was drawn, and an answer given."""

    objections: list[str]
    drew: bool = False
    answered: bool = False
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Pairing:
    """How two runs are paired. `listed`: the first permutation drawn lists the people; else blocks are by hash.

    `numbers` are those of both tables, where the caller knows them; else they are those that a session gave.
    """

    listed: bool
    numbers: tuple[Numbers, Numbers] | None = None


class Paired(Moved):
    """A door that replays, with the first shuffle in the order that pairs the people of both tables."""

    def __init__(self, recorded: Recorder, places: Callable[[], dict[int, int]], listed: bool) -> None:
        super().__init__(recorded)
        self._places, self._shuffled = places, not listed

    def draw(self, request: Request) -> Any:
        """As recorded, for the same people."""
        answer = super().draw(request)
        if self._shuffled or not isinstance(request, Shuffle):
            return answer
        self._shuffled = True
        earlier = self._places()  # of the neighbour's numbers
        if sorted(earlier) != list(range(len(answer))):
            return answer
        back = np.array([earlier[one] for one in range(len(answer))], dtype=np.int64)
        return np.argsort(back)[answer]


def paired(left: Numbers, right: Numbers) -> dict[int, int]:
    """The right table's numbers, each with that of the same person on the left; who is new has that of who is gone."""
    gone = iter([number for who, number in left.items() if who not in right])
    return {number: left[who] if who in left else next(gone, -1) for who, number in right.items()}


@contextmanager
def hashed_alike(numbers: Callable[[], tuple[Numbers, Numbers]]) -> Iterator[None]:
    """Who is new has the hash of who is gone, as the values of a random function may be paired. [partition.2]"""
    hashed = person_hash.name_words

    def words(names: Any, *given: Any) -> Any:
        left, right = numbers()
        gone = iter([who for who in left if who not in right])
        stands = {who: next(gone, who) for who in right if who not in left}
        return hashed(column([stands.get(key(name), name) for name in names]) if stands else names, *given)

    with patch.object(partition, "name_words", words):
        yield


def compared(
    first: Callable[[Any], Any],
    second: Callable[[Any], Any],
    seed: int,
    *,
    paid: Guarantee | None = None,
    pairing: Pairing | None = None,
    boxed: bool = False,
) -> Judged:
    """Two runs, each given a door. What is refused before anything is drawn must be refused alike, and is no answer.

    `paid` is what one person was charged for, by default what the release promises. `boxed`: cells of a sandbox are
    real ones, and not seen into.
    """
    recorder = Recorder(Seeded(seed))
    kept: list[Any] = []
    left, right = Inside(), Inside()
    with inspected(left, boxed=boxed):
        one = watch(lambda: _kept(first(recorder), kept), but=_DivergedError)
    drew = any(request.loss != FREE for request, _ in recorder.log)
    pairing = pairing or Pairing(listed=False, numbers=({}, {}))

    def numbers() -> tuple[Numbers, Numbers]:
        return pairing.numbers or (left.numbers, right.numbers)

    replayer = Paired(recorder, lambda: paired(*numbers()), pairing.listed)
    answered = drew and one.error is None and _answers(kept[0])
    try:
        with inspected(right, boxed=boxed), hashed_alike(numbers):
            other = watch(lambda: second(replayer), but=_DivergedError)
    except _DivergedError:
        return Judged(replayer.objections, drew, answered)
    found = list(replayer.objections)
    found += _seen(one, other, drew=drew, unused=replayer.unused)
    found += _blocks(left, right)
    promised = paid or (kept[0].guarantee if kept else None)
    if promised is not None and replayer.losses and not _covered(tuple(replayer.losses), promised):
        found.append("what moved costs more than one person was charged for")
    return Judged(found, drew, answered, one.error or "")


@lru_cache(10_000)
def _covered(losses: tuple[Loss, ...], promised: Guarantee) -> bool:
    """Whether a promise covers some losses; those that are a pair of numbers are added, and the rest composed."""
    pairs = [loss for loss in losses if isinstance(loss, Approximate)]
    others = compose(*(loss for loss in losses if not isinstance(loss, Approximate)))
    left = exact(promised.epsilon) - sum(pair.epsilon for pair in pairs)
    rest = exact(promised.delta) - sum(pair.delta for pair in pairs)
    if pairs and left > 0 and rest >= 0 and implies(others, replace(promised, epsilon=left, delta=rest)):
        return True
    return implies(compose(*losses), promised)


def _kept(release: Any, kept: list[Any]) -> Any:
    kept.append(release)
    return release


def _answers(release: Any) -> bool:
    if isinstance(release, Groups):
        return any(part.refusal is None for _, part in release.releases)
    return release.refusal is None


def _seen(one: Seen, other: Seen, *, drew: bool, unused: int) -> list[str]:
    """What anybody can see of two runs."""
    if one.error != other.error:
        return [f"an exception depends on the data: {_short(one.error)} and {_short(other.error)}"]
    if one.error and drew and not one.error.startswith("Refused: "):  # a refusal is a result, whoever raises it
        return [f"an exception after the first draw: {_short(one.error)}"]
    if unused:
        return ["the neighbour asks for fewer draws"]
    if one.said != other.said:
        return ["a warning, a log or a print depends on the data"]
    return [] if one.release == other.release else ["with equal draws the releases differ"]


def _blocks(left: Inside, right: Inside) -> list[str]:
    """What only code within the blocks can see."""
    found = []
    if left.rehearsed != right.rehearsed:
        found.append("what a sandbox rehearses with depends on the data")
    if [part.shape for part in left.estimates] != [part.shape for part in right.estimates]:
        return [*found, "the number of blocks depends on the data"]
    for mine, theirs in zip(left.estimates, right.estimates, strict=True):
        changed = sum(trace(row) != trace(same) for row, same in zip(mine, theirs, strict=True))
        if changed > 1:
            found.append(f"{changed} of {len(mine)} blocks have another estimate")
    for sent, same in zip(left.sent, right.sent, strict=False):
        changed = sum(message != twin for message, twin in zip(sent, same, strict=True))
        if changed > 1:
            found.append(f"{changed} of {len(sent)} cells are sent something else")
    return found


@contextmanager
def inspected(seen: Inside, *, boxed: bool = False) -> Iterator[None]:
    """Note what code inside can see; cells of a sandbox run here, one after the other, on what they are sent.

    `boxed`: cells are real.
    """
    estimates, numbered, named = SubsampleAggregate.estimates, cells.owners, cells.owner_names

    def noted(self: SubsampleAggregate, *given: Any) -> Any:
        found = estimates(self, *given)
        seen.estimates.append(found.copy())
        return found

    def counted(ids: Any, *given: Any) -> Any:
        codes, people = numbered(ids, *given)
        names = [key(name) for part in ids for name in column(part)]
        seen.numbers = {name: int(code) for name, code in zip(names, codes, strict=True) if code >= 0}
        return codes, people

    def called(ids: Any, *given: Any) -> Any:
        names, there = named(ids, *given)
        whole = names[there].tolist()
        seen.numbers = {key(name): int(code) for name, code in zip(whole, partition.codes(whole), strict=True)}
        return names, there

    with ExitStack() as stack:
        stack.enter_context(patch.object(SubsampleAggregate, "estimates", noted))
        stack.enter_context(patch.object(apart, "owners", counted))
        stack.enter_context(patch.object(table, "owner_names", called))
        if not boxed:
            stack.enter_context(patch.object(Sandbox, "opened", _here(seen)))
        yield


def _here(seen: Inside) -> Callable[..., Any]:
    """In place of a sandbox: the same messages, worked on in this process."""

    @contextmanager
    def opened(_box: Any, program: Any) -> Iterator["_Cells"]:
        seen.rehearsed.append(program.rehearsal)
        yield _Cells(sys.modules[program.module].work, seen)

    return opened


@dataclass(frozen=True, slots=True)
class _Cells:
    """Cells that share this process."""

    work: Callable[[int, int], None]
    seen: Inside

    def run(self, messages: Iterable[bytes], size: int) -> list[bytes | None]:
        """What a cell would make of each message."""
        self.seen.sent.append(list(messages))
        return [self._worked(message, size) for message in self.seen.sent[-1]]

    def _worked(self, message: bytes, size: int) -> bytes | None:
        given, result = os.memfd_create("given"), os.memfd_create("result")
        try:
            os.pwrite(given, message, 0)
            self.work(given, result)
            raw = os.pread(result, size + 1, 0)
        except EOFError:  # nothing was sent
            return None
        finally:
            os.close(result)
        return raw if len(raw) == size else None


def _short(words: str | None) -> str:
    return "none" if words is None else words[:160]
