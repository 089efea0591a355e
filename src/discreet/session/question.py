"""A question about a table: what it will cost is known before a row is read.

Promise
    [question.1] The mechanism, its loss and its guarantee depend on the arguments, on declared types, and on the number
          of people where that is public: on nothing else of the data.
    [question.2] Some of the people. How many they are is private even if the number of all is public. Under
          ADD_OR_REMOVE the mechanism is asked as it is. Under REPLACE it is asked under ADD_OR_REMOVE, at half of
          epsilon, and at a delta that for two people comes to no more than the one asked for; a count is asked at the
          whole epsilon.
    [question.3] Groups: all their answers cost as much as one ([grouped.1], then [question.2]); groups that are not
          listed are found first, at a quarter of epsilon and all of delta, or half of it where answers need some.
    [question.4] One row for each person, however many rows they have; under REPLACE in an order drawn at random. Where
          rows are people, REPLACE is for sources whose rows keep their places.
Why
    [question.1] The verb is first asked with blank columns of the same length and type, by a teller that stops it
    before anything is drawn. The real columns have these types whatever they hold ([entries.2]), and the verb is then
    asked the same: what it would answer with is compared with what was paid for, before it draws.
    [question.2] Whoever is replaced may leave the part, enter it, or be replaced in it: at most one person is removed
    and one added, a group of two: epsilon doubles and delta grows to delta (1 + e^(epsilon / 2)). A count is a sum,
    over all people, of 1 for those in the part whose entry is true and 0 for others: one person moves it by at most 1,
    and the noise of [additive.1] under ADD_OR_REMOVE is for that.
    [question.3] A person has one row, so one group. The keys cost (epsilon / 4, delta) by [open_histogram.1]; the sum
    is basic composition. Under REPLACE, two people as in [question.2].
    [question.4] A person's row is a function of that person's rows alone ([table.1]), so that a person more,
    fewer or other is a row more, fewer or other. Mechanisms may read rows by position under REPLACE: with a uniform
    order, independent of everything, two tables that differ in one person can be laid out to differ in one place.
    Where blocks hold all rows of a person, rows keep their places beside their owners' numbers, by first appearance: a
    permutation of these, or a secret hash, as good as a random function, puts everybody into any block with equal
    chances, whoever else is there: the coupling of [partition.2]. Rows that are people are read in the
    order of the source: a row that moved when it was changed would move others, so that databases and datasets, which
    may do so, are refused.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.compose import implies
from discreet.errors import BadInput, DiscreetError, Refused
from discreet.ledger.ledger_text import written
from discreet.noise.door import Door, Request
from discreet.privacy.exact import exact, is_number
from discreet.privacy.grouped import Groups
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Approximate, Loss, group_delta
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import plain
from discreet.quick.asked import check_machine
from discreet.session.columns import COLUMNS, GROUPED, STREAMED, WHOLE, Reading, known, parameters, reading, verb_of
from discreet.session.paid import paid
from discreet.session.terms import People, Terms
from discreet.statistics.open_histogram import OpenHistogram
from discreet.tables.entries import Stream, key
from discreet.tables.entries import name as name_of
from discreet.tables.table import OWNER, Table, Want
from discreet.tables.where import Where

KEYS: Final = Fraction(1, 4)  # of epsilon, to find groups
TWO: Final = 2  # people: one removed, one added
MOST_KEYS: Final = 10_000
REHEARSED: Final = 1_000_000  # people; with more, whoever refuses a small number does not


class _Stopped(Exception):
    def __init__(self, mechanism: Mechanism[Any]) -> None:
        super().__init__()
        self.mechanism = mechanism


class _Foresight:
    """Stops a verb before anything is drawn, and has its mechanism. [question.1]"""

    def answer(self, mechanism: Mechanism[Any], rows: Any) -> Release[Any]:  # noqa: ARG002
        raise _Stopped(mechanism)


class _Rehearsal(Door):
    """Lets a mechanism come as far as its first draw: what it refuses by then, it refuses by what is public.
    [question.1]"""

    def __init__(self, mechanism: Mechanism[Any] | None = None) -> None:
        self.mechanism = mechanism

    @property
    def secure(self) -> bool:
        return False

    def answer(self, mechanism: Mechanism[Any], rows: Any) -> Release[Any]:
        return mechanism.release(rows, _Rehearsal(mechanism))

    def draw(self, request: Request) -> Any:  # noqa: ARG002
        assert self.mechanism is not None
        raise _Stopped(self.mechanism)


@dataclass(slots=True)
class _Paid:
    """Lets a verb draw once, if it asks for what was paid. [question.1]"""

    loss: Loss | None
    rng: Randomness

    def answer(self, mechanism: Mechanism[Any], rows: Any) -> Release[Any]:
        if mechanism.loss != self.loss:
            raise DiscreetError("what was asked is not what was paid for; nothing was drawn")
        self.loss = None  # what it paid for is drawn
        return mechanism.release(rows, self.rng)


@dataclass(frozen=True, slots=True)
class Question:
    """A verb, its columns by name, and its price."""

    source: str
    people: People
    reading: Reading
    where: Where | None
    by: str | None
    keys: tuple[Any, ...] | None
    guarantee: Guarantee
    loss: Loss
    asked: Mapping[str, Any]  # of the verb: neighbours, unit, epsilon and so on, as it will be asked
    mechanism: Mechanism[Any]  # what the verb will draw with
    finder: OpenHistogram | None = None

    @property
    def title(self) -> str:
        """In a few words, for people."""
        about = self.reading.formula or ", ".join(
            str(name) if isinstance(name, str) else " and ".join(name)
            for parameter in COLUMNS
            if (name := self.reading.arguments.get(parameter)) is not None
        )
        words = f"{self.reading.verb.replace('_', ' ')}{f' of {about}' if about else ''}"
        words += "" if self.where is None else f" where {self.where.text}"
        return words + ("" if self.by is None else f" by {self.by}")

    @property
    def note(self) -> str:
        """For the ledger: the title, and in the next line the whole question as JSON."""
        record = {
            "statistic": self.reading.verb,
            "options": {name: _said(value) for name, value in self.reading.arguments.items()},
            "where": None if self.where is None else self.where.text,
            "by": self.by,
            "keys": None if self.keys is None else _said(self.keys),
            "columns": [_said(want) for want in self.reading.wants],
            "person": self.people.person,
            "table": self.source,
        }
        return written(self.title, record)

    def rehearse(self, table: Table) -> None:
        """BadInput or Refused for what options, or a public number of people, do not allow; nothing is read.
        [question.1]"""
        check_machine(self.mechanism)
        if self.asked["neighbours"].size_is_public:
            size = _public_size(table, self.people.person)
            check_budget(self.mechanism.guarantee.epsilon, self.mechanism.guarantee.delta, size)
            if size > REHEARSED:
                return
        elif self.reading.verb in WHOLE:  # they run code, on many blocks
            return
        came_to = _stopped(table, self.people, self.reading, self.asked, _Rehearsal())
        if isinstance(came_to, Release) and came_to.refusal is not None:  # before any draw: by what is public
            raise Refused(f"{self.title}: {came_to.refusal}. Nothing was charged")

    def answer(self, table: Table, rng: Randomness) -> Release[Any] | Groups:
        """Read and draw; call this only when it is paid for."""
        return paid(lambda: self._grouped(table, rng) if self.by is not None else self._single(table, rng))

    def _single(self, table: Table, rng: Randomness) -> Release[Any]:
        whole = self.reading.verb in WHOLE and self.people.person is not None
        found = table.columns(
            self.reading.wants,
            where=self.where,
            person=None if whole else self.people.person,
            owner=self.people.person if whole else None,
        )
        if self.reading.verb not in STREAMED:  # whether it is long may be private: nobody is refused for it
            found = {name: held(values) for name, values in found.items()}
        if (
            whole
        ):  # blocks are drawn of people, and the places of rows stay beside their owners: [partition.2], [partition.3]
            return self._released(found, {"unit": found.pop(OWNER)}, rng)
        return self._released(self._shuffled(found, rng), {}, rng)

    def _released(self, columns: Mapping[str, Any], extra: Mapping[str, Any], rng: Randomness) -> Release[Any]:
        verb = verb_of(self.reading.verb)
        release = verb(
            **self.reading.filled(columns) | dict(self.asked) | dict(extra), rng=_Paid(self.mechanism.loss, rng)
        )
        history = replace(release.provenance, notes=(*release.provenance.notes, *self._notes()))
        return replace(release, guarantee=self.guarantee, provenance=history, name=self.title)

    def _grouped(self, table: Table, rng: Randomness) -> Groups:
        assert self.by is not None
        columns = table.columns(_wanted(self.reading, self.by), where=self.where, person=self.people.person)
        label = [_group(entry) for entry in columns[self.by]]
        notes = ["each person is in one group; each interval holds by itself, at its own confidence"]
        if self.finder is not None:
            found = self.finder.release([name_of(entry) for entry in label], rng)
            keys = () if found.refusal is not None else tuple(name for name in found.value.bins if name is not None)
            notes.append("the groups were found: those with few people are not shown")
        else:
            assert self.keys is not None
            keys = self.keys
        places = {_group(name): place for place, name in enumerate(keys)}
        group = np.array([places.get(entry, len(keys)) for entry in label], dtype=np.int64)
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(len(keys) + 1))
        releases = []
        for place, name in enumerate(keys):
            chosen = order[edges[place] : edges[place + 1]]
            part = {column: np.asarray(columns[column])[chosen] for column in self.reading.named}
            release = self._released(part, {}, rng)
            releases.append((name, replace(release, name=f"{self.title}: {name}")))
        return Groups(self.by, self.guarantee, tuple(releases), self.title, tuple(notes))

    def _shuffled(self, columns: dict[str, Any], rng: Randomness) -> dict[str, Any]:
        """In a random order where places matter and were not given by the table. [question.4]"""
        if self.people.person is None or self.asked["neighbours"] is not Neighbours.REPLACE:
            return columns
        size = len(next(iter(columns.values())))
        order = rng.permutation(size)
        return {name: np.asarray(values)[order] for name, values in columns.items()}

    def _notes(self) -> list[str]:
        notes = []
        dropped = [want.name for want in self.reading.wants if want.missing == "drop"]
        if dropped:
            notes.append(f"each {self.people.unit} whose {' or '.join(dropped)} is missing is left out")
        for want in self.reading.wants:
            if want.missing not in ("drop", "keep"):
                notes.append(f"where {want.name} is missing, {want.missing!r} stands in")
            if self.people.person is not None and self.reading.verb not in WHOLE:
                cap = f" of at most {want.cap}" if want.cap is not None else ""
                notes.append(f"{want.name}: the {want.rule}{cap} of a person's rows")
        if self.people.neighbours is Neighbours.REPLACE and self.asked["neighbours"] is not Neighbours.REPLACE:
            notes.append("about some of the people: to replace one may remove one and add another")
        return notes


def prepare(
    table: Table, people: People, verb: str, given: tuple[Any, ...], asked: Mapping[str, Any], *, terms: Terms
) -> Question:
    """The question and its price; BadInput if it cannot be asked. Rows are counted where that is public, not read."""
    verb_of(verb)
    people.check(table)  # [question.4]
    asked, kept = dict(asked), 0.0
    finding = terms.groupby is not None and terms.keys is None
    if finding and "delta" not in parameters(verb):
        kept = asked.pop("delta", 0.0)  # for finding the groups alone
    read = reading(table, verb, given, asked, terms)
    condition = None if terms.where is None else Where.parse(terms.where)
    keys = _listed_keys(table, verb, terms, read)
    table.check(_wanted(read, terms.groupby), where=condition, person=people.person)
    epsilon, delta = read.arguments.get("epsilon"), read.arguments.get("delta", kept)
    if epsilon is None or not is_number(epsilon) or not epsilon > 0 or not is_number(delta) or delta < 0:
        raise BadInput(f"epsilon is {epsilon!r} and delta {delta!r}; give numbers, epsilon above 0, for example 0.5")
    part = condition is not None or terms.groupby is not None or any(want.missing == "drop" for want in read.wants)
    relation = Neighbours.ADD_OR_REMOVE if part else people.neighbours
    share, rest = exact(epsilon), exact(delta)
    halved = relation is not people.neighbours and not (verb == "count" and terms.groupby is None)
    if halved:  # [question.2]
        share, rest = share / TWO, _delta_of_one(share, rest)
    finder = None
    if finding:  # [question.3]
        if not rest:
            raise BadInput(
                f"groups by {terms.groupby!r} are to be found, which needs delta above 0, say 1e-6; or list keys=[...]"
            )
        spare = rest / 2 if verb == "histogram" and not {"categories", "edges"} & set(asked) else Fraction(0)
        finder = OpenHistogram(share * KEYS, rest - spare, relation, people.unit)
        share, rest = share - share * KEYS, spare
    options: dict[str, Any] = {"neighbours": relation, "epsilon": share}
    if "delta" in read.arguments:
        options["delta"] = rest
    if verb not in WHOLE:
        options["unit"] = people.unit
    mechanism = _foreseen(table, people, read, options)
    if halved or finder is not None:
        if not implies(
            mechanism.loss, Guarantee(share, rest, relation, people.unit)
        ):  # of one person: [question.2], [question.3]
            raise DiscreetError(f"{verb} would cost more than its part; nothing was read")
        loss: Loss = Approximate(epsilon, delta)
        guarantee = Guarantee(epsilon, delta, people.neighbours, people.unit)
    else:
        loss = mechanism.loss
        guarantee = replace(mechanism.guarantee, neighbours=people.neighbours, unit=people.unit)
    if not implies(loss, guarantee):
        raise DiscreetError(f"{verb} would cost more than it says; nothing was read")
    return Question(
        table.description, people, read, condition, terms.groupby, keys, guarantee, loss, options, mechanism, finder
    )


def _foreseen(table: Table, people: People, read: Reading, options: Mapping[str, Any]) -> Mechanism[Any]:
    """What the verb would draw with, by asking it about blank columns. [question.1]"""
    mechanism = _stopped(table, people, read, options, _Foresight())
    if isinstance(mechanism, Release):
        raise DiscreetError(f"{read.verb} did not say what it would do; nothing was read")
    return mechanism


def _stopped(
    table: Table, people: People, read: Reading, options: Mapping[str, Any], teller: Any
) -> Mechanism[Any] | Release[Any]:
    """The mechanism that the verb came to, asked about blank columns; what it answered if it was not stopped."""
    size = _public_size(table, people.person) if options["neighbours"].size_is_public else 1
    blank = {want.name: _blank(want, size) for want in read.wants}
    extra = {"unit": np.arange(size)} if read.verb in WHOLE and people.person is not None else {}
    try:
        release: Release[Any] = verb_of(read.verb)(**read.filled(blank) | dict(options) | extra, rng=teller)
    except _Stopped as stopped:
        return stopped.mechanism
    except DiscreetError:
        raise
    except Exception as error:  # noqa: BLE001  of the options alone: the columns are blank
        raise BadInput(
            f"{read.verb} cannot be asked with these options ({type(error).__name__}: {str(error)[:200]}); see its "
            f"help, discreet.{read.verb}"
        ) from None
    return release


def _listed_keys(table: Table, verb: str, terms: Terms, read: Reading) -> tuple[Any, ...] | None:
    by, keys = terms.groupby, terms.keys
    if by is None:
        if keys is not None:
            raise BadInput("keys are the groups of groupby=; give it too, or leave them out")
        return None
    known(table, by)
    if verb not in GROUPED:
        raise BadInput(f"{verb} has no groupby=; it goes with {', '.join(GROUPED)}. Ask with where= for each group")
    if by in read.named and read.arguments.get("x") is not None:
        raise BadInput(f"groupby is {by!r}, the column that the question is about; group by another")
    if keys is None:
        return None
    if isinstance(keys, str) or not isinstance(keys, list | tuple | range) or not 1 <= len(keys) <= MOST_KEYS:
        raise BadInput(f"keys is {keys!r}; list the groups, 1 to {MOST_KEYS}, for example ['Female', 'Male']")
    if len({_group(name) for name in keys}) != len(keys):
        raise BadInput("a group is listed twice in keys; list each once")
    return tuple(None if key(name) is None else name for name in keys)  # whatever a missing one is called


def _wanted(read: Reading, by: str | None) -> tuple[Want, ...]:
    """The columns of a question and the one that says who is in which group."""
    return read.wants if by is None or by in read.named else (*read.wants, Want(by, "key", "keep", "first", None))


def _group(entry: Any) -> Hashable:
    """The group of an entry, by what it is called: a date is in that of its text, as plans and found groups have it."""
    return key(name_of(key(entry)))


def _delta_of_one(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A delta that comes to no more than `delta` for two people, at half of epsilon each. [question.2]"""
    if not delta:
        return delta
    weight = Fraction(group_delta(float(epsilon / TWO), 1e-300, TWO)) / Fraction(1e-300)
    return exact(float(delta / weight * Fraction(999_999, 1_000_000)))


def held(values: Any) -> Any:
    """A column in memory."""
    return np.concatenate([np.empty(0), *values]) if isinstance(values, Stream) else values


def _public_size(table: Table, person: str | None) -> int:
    size = table.size() if person is None else table.people(person)
    if size == 0:
        raise BadInput("the table is empty; a statistic needs at least 1 row")
    return size


def _blank(want: Want, size: int) -> Any:
    """A column of that type and length that holds nothing, and needs no memory. [question.1]"""
    return np.broadcast_to(np.array(None, dtype=object) if want.kind == "key" else np.float64(0), (size,))


def _said(thing: Any) -> Any:
    """An option for the record: values as they are, code by its name."""
    if callable(thing) and hasattr(thing, "__qualname__"):
        return f"{thing.__module__}.{thing.__qualname__}"
    if isinstance(thing, Mapping):
        return {str(name): _said(value) for name, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_said(item) for item in thing]
    if isinstance(thing, Fraction):
        return str(thing)
    return plain(thing)
