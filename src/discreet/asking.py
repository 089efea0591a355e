"""A question about people: a statistic, its columns, and whom it is about. Its price is known before a row is read.

Promise
    [asking.1] The mechanism, its loss and its guarantee depend on the arguments, on declared kinds, and on the number
          of people where that is public: on nothing else of the data.
    [asking.2] Some of the people. How many they are is private even if the number of all is public. Under ADD_OR_REMOVE
          the mechanism is asked as it is. Under REPLACE it is asked under ADD_OR_REMOVE, at half of epsilon, and at a
          delta that for two people comes to no more than the one asked for; a count without groups has all of epsilon.
    [asking.3] Groups: all their answers cost as much as one ([release.1], then [asking.2]); groups that are not listed
          are found first, at a quarter of epsilon and all of delta, or half of it where answers need some.
    [asking.4] One row for each person, however many rows a person has. Under REPLACE the rows are in an order that does
          not depend on what they hold: that of the source where each row keeps its place, else one drawn at random.
    [asking.5] How many people are left out for a missing entry is told, by a noisy count, for no more than the answer;
          of groups, for each of them.
Why
    [asking.1] A declaration is given `Public` and `Columns`, which hold these alone, and returns the mechanism; that
    mechanism is priced, charged and then released.
    [asking.2] Whoever is replaced may leave the part, enter it, or be replaced in it: at most one person is removed and
    one added, a group of two: epsilon doubles and delta grows to delta (1 + e^(epsilon / 2)). A count is a
    sum, over all people, of 1 for those in the part whose entry is true and 0 for others: one person moves it by at
    most 1, and the noise of [additive.1] under ADD_OR_REMOVE is for that. Of groups one person may move two counts.
    [asking.3] A person has one row, so one group ([grouping.1]). The keys cost (epsilon / 4, delta) by
    [open_histogram.1]; the sum is basic composition. Under REPLACE, two people as in [asking.2].
    [asking.4] A person's row is a function of that person's rows alone ([table.1]), so that a person more, fewer or
    other is a row more, fewer or other. A mechanism may read rows by position under REPLACE, and relies on neighbours
    that differ in one place. A uniform order, drawn independently of everything, makes the distribution of the list of
    rows a function of the multiset of rows alone. If two multisets differ in one row, give the new row the place of the
    old one: this is a bijection of the orders, so both distributions are mixtures, with equal weights, of pairs of
    lists that differ in one place. Where blocks hold all rows of a person, rows keep their places beside their owners,
    or get those of [partition.5], and the coupling is that of [partition.2].
    [asking.5] Whoever is left out is not in the answer: those asked about, and those left out, of each group are groups
    as in [release.1], and the count is pure at an epsilon that costs no more than one draw of the answer (`alongside`).
    Under REPLACE, two people as in [asking.2]; not beside a count without groups, which has all of epsilon for one. The
    number of all people is used only where it is public. Groups are found among those who are not left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, DiscreetError, Refused
from discreet.privacy.declaration import Columns, Public, Statistic
from discreet.privacy.exact import exact, is_number, show
from discreet.privacy.guarantee import SMALLEST_EPSILON, Guarantee, Neighbours, check_budget
from discreet.privacy.loss import Approximate, Laplace, Loss, alongside, delta_of_one
from discreet.privacy.mechanism import Mechanism, Randomness, by_group, check, check_machine, in_full
from discreet.privacy.people import OneWord, People
from discreet.privacy.release import Groups, Release
from discreet.privacy.values import TestResult, plain
from discreet.subsample.block_exchange import FarTable
from discreet.tables.apart import Apart
from discreet.tables.arranging import arranged, empty_columns, held, present, whole_columns
from discreet.tables.dates import as_dates, by_quantile, dated
from discreet.tables.grouped_folds import by_members
from discreet.tables.grouping import Grouping
from discreet.tables.kept_rows import let_go
from discreet.tables.streams import Stream
from discreet.tables.table import OWNER, Table
from discreet.tables.wanted import Terms, Wanted, told_missing, wanted
from discreet.tables.where import Where

KEYS: Final = Fraction(1, 4)  # of epsilon, to find groups
TWO: Final = 2  # people: one removed, one added
CLEAR: Final = 7  # over epsilon: a noisy count of nobody is larger once in 2,000 times
HALVED: Final = (
    "how many people it is about is private, and to replace one may remove one and add another: it ran at half of "
    "epsilon"
)
LEFT_OUT: Final = "entries that are missing, or not of the kind that is needed, are not counted: few may be numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A mechanism, what it is asked under, and what it costs with the finding of groups."""

    mechanism: Mechanism[Any]
    relation: Neighbours
    size: int | None  # where it is public
    guarantee: Guarantee
    loss: Loss
    halved: bool = False  # [asking.2]
    finder: Any = None

    def check(self, title: str, word: Callable[[str], str] = str) -> None:
        """BadInput or Refused for what options, or a public number of people, do not allow; nothing is read."""
        check_machine(self.mechanism)
        ran = self.mechanism.guarantee
        for promised in (ran,) if self.finder is None else (ran, self.finder.guarantee):
            check_budget(promised.epsilon, promised.delta, self.size)
        try:
            check(self.mechanism, self.size)
        except Refused as error:
            raise Refused(f"{title}: {word(in_full(str(error), self.guarantee, ran))}. Nothing was charged") from None


def price(
    statistic: Statistic,
    people: People,
    columns: Mapping[str, Columns | None],
    options: Mapping[str, Any],
    *,
    part: bool,
    size: Callable[[], int],
    schema: Any = None,
    grouping: Grouping | None = None,
) -> Price:
    """The mechanism and its price. `part`: it is about some of the people."""
    options = dict(options)
    epsilon = options.get("epsilon")
    delta = options.get("delta", 0.0) if "delta" in statistic.options else options.pop("delta", 0.0)
    if not is_number(epsilon) or not epsilon > 0 or not is_number(delta) or delta < 0:  # type: ignore[operator]
        raise BadInput(f"epsilon is {epsilon!r} and delta {delta!r}; give numbers, epsilon above 0, for example 0.5")
    whole = {name: options[name] for name in ("epsilon", "delta") if name in options}
    relation = Neighbours.ADD_OR_REMOVE if part else people.neighbours
    share, rest = exact(epsilon), exact(delta)  # type: ignore[arg-type]
    halved = relation is not people.neighbours and not (statistic.name == "count" and grouping is None)
    if halved:  # [asking.2]
        share, rest = share / TWO, delta_of_one(share, rest)
    finder = None
    if grouping is not None and grouping.keys is None:  # [asking.3]
        if not rest:
            raise BadInput(
                f"groups by {grouping.said} are to be found, which needs delta above 0, say 1e-6; or list keys=[...]"
            )
        spare = rest / 2 if statistic.needs_delta(options, columns) else Fraction(0)
        from discreet.statistics.open_histogram import OpenHistogram

        finder = OpenHistogram(share * KEYS, rest - spare, neighbours=relation, unit=people.unit)
        share, rest = share - share * KEYS, spare
    if halved or finder is not None:
        options["epsilon"] = share
        if "delta" in statistic.options:
            options["delta"] = rest
    counted = size() if relation.size_is_public else None
    about = schema if schema is None or counted is None else schema.counting(counted)
    public = Public(relation, people.unit, counted, about)
    try:
        mechanism = made(statistic, public, columns, options)  # [asking.1]
    except BadInput:
        if not (halved and delta):
            raise
        made(statistic, public, columns, options | whole)  # whatever else is wrong is said first
        raise BadInput(
            f"how many people it is about is private, and to replace one may remove one and add another: at half of "
            f"epsilon {show(epsilon)} that leaves a delta of {show(rest)} of {show(delta)}, too little for noise on a "  # type: ignore[arg-type]
            "grid; ask for a smaller epsilon, say 10, or under neighbours='add_or_remove'"
        ) from None
    if halved or finder is not None:
        from discreet.accounting.compose import implies

        if not implies(mechanism.loss, Guarantee(share, rest, relation, people.unit)):  # [asking.2], [asking.3]
            raise DiscreetError(f"{statistic.name} would cost more than its part; nothing was read")
        loss: Loss = Approximate(epsilon, delta)  # type: ignore[arg-type]
        guarantee = Guarantee(epsilon, delta, people.neighbours, people.unit)  # type: ignore[arg-type]
    else:
        loss = mechanism.loss
        guarantee = replace(mechanism.guarantee, neighbours=people.neighbours, unit=people.unit)
    cost: dict[str, Any] = {"guarantee": guarantee, "loss": loss, "halved": halved, "finder": finder}
    return Price(mechanism=mechanism, relation=relation, size=counted, **cost)


def made(
    statistic: Statistic, public: Public, columns: Mapping[str, Columns | None], options: Mapping[str, Any]
) -> Mechanism[Any]:
    """The mechanism that a declaration makes of public facts; whatever an option makes it raise becomes BadInput."""
    try:
        if statistic.loose is not None:
            return statistic.make(public, *columns.values(), **options)
        return statistic.make(public, **columns, **options)
    except DiscreetError:
        raise
    except Exception as error:  # noqa: BLE001  of the options alone: no row is there
        raise BadInput(
            f"{statistic.name} cannot be asked with these options ({type(error).__name__}: {str(error)[:200]}); see "
            f"help(discreet.{statistic.name})"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Question:
    """A statistic of some columns of a table, and its price."""

    statistic: Statistic
    arguments: Mapping[str, Any]  # columns by name, options as they were given
    wanted: Wanted
    people: People
    price: Price
    where: Where | None
    grouping: Grouping | None

    @property
    def title(self) -> str:
        """In a few words, for people."""
        about = self.wanted.names
        words = f"{self.statistic.name.replace('_', ' ')}{f' of {about}' if about else ''}"
        words += "" if self.where is None else f" where {self.where.text}"
        words += "" if self.grouping is None else f" by {self.grouping.said}"
        folds = self.people.person is not None and not self.statistic.blocks
        keyed = () if self.grouping is None else self.grouping.by
        return words + (self.wanted.of_each(self.people.unit, self.where, keyed) if folds else "")

    @property
    def _word(self) -> OneWord:
        """For whom the answer is about."""
        named = [self.wanted.names, *(() if self.where is None else [self.where.text])]
        named += [] if self.grouping is None else [self.grouping.said]
        taken = " ".join([*named, str(self.arguments)])
        return OneWord(self.people.unit, self.people.units, taken, several_rows=self.statistic.blocks)

    def __repr__(self) -> str:
        return f"{self.title}. It costs {self.price.guarantee}. Nothing is charged yet, and no row was read."

    @property
    def record(self) -> dict[str, Any]:
        """The whole question in plain values, for the ledger."""
        return {
            "statistic": self.statistic.name,
            "options": plain(self.arguments, record=True),
            "where": None if self.where is None else self.where.text,
            "by": None if self.grouping is None else plain(self.grouping.name),
            "keys": None if self.grouping is None else plain(self.grouping.keys, record=True),
            "columns": plain(self.wanted.wants),
            "person": self.people.person,
        }

    def check(self) -> None:
        """BadInput or Refused for what options, or a public number of people, do not allow; nothing is read."""
        from discreet.accounting.compose import implies

        if not implies(self.price.loss, self.price.guarantee):
            raise DiscreetError(f"{self.statistic.name} would cost more than it says; nothing was read")
        self.price.check(self.title, self._word)

    def answer(self, table: Table, rng: Randomness) -> Release[Any] | Groups:
        """Read and draw; call this only when it is paid for."""
        if self.grouping is not None:
            return self._grouped(table, self.grouping, rng)
        person, whole = self.people.person, self.statistic.blocks and self.people.person is not None
        wants = self.wanted.wants if whole else whole_columns(self.wanted.wants)
        whose: dict[str, Any] = {"owner": person} if whole else {"person": person}
        if whole and (apart := table.apart(wants, where=self.where, owner=person)) is not None:
            return self._labelled(
                self.price.mechanism.release(self._far(apart, table.ordered), rng)
            )  # [block_exchange.1]
        kept = (person is None and table.ordered) or self.price.relation is not Neighbours.REPLACE
        folds = self._streams and kept
        about: dict[str, Any] = {"where": self.where, "rules": self.wanted.rules}
        if folds and (far := table.rows(wants, person=person, **about)) is not None:
            try:
                return self._answered(far, table, rng)
            finally:
                let_go(far)  # [kept_rows.2]
        found = table.columns(wants, **about, **whose)
        if not folds:  # whether it is long may be private: nobody is refused for it
            found = {name: held(values) for name, values in found.items()}
        if whole:
            return self._released(found, rng, found.pop(OWNER), table.ordered)
        if not kept:  # a mechanism may read places, and the table does not keep them: [asking.4]
            order = rng.permutation(len(next(iter(found.values()))))
            found = {name: np.asarray(values)[order] for name, values in found.items()}
        return self._answered(found, table, rng)

    def _answered(self, found: Any, table: Table, rng: Randomness) -> Release[Any] | Groups:
        """Of a row for each person, in memory or where it is."""
        found, left_out = present(found, self.wanted.wants)
        release = self._released(found, rng)
        release = self._told(release, left_out(), table, rng)
        return by_quantile(release) if self.wanted.of_dates else release

    def _told(self, release: Release[Any], left_out: int, table: Table | None, rng: Randomness) -> Release[Any]:
        """With the number of people who are left out, unless it may be none. [asking.5]"""
        public = self.people.neighbours.size_is_public
        epsilon = alongside(self.price.mechanism.loss)
        if not self.wanted.leaves_out or (public and not self.price.halved) or epsilon < SMALLEST_EPSILON:
            return release
        noisy = int(rng.blur(left_out, sensitivity=1, cost=Laplace(epsilon)))  # [asking.5]
        total = table.people(self.people.person) if table is not None and public and self.where is None else None
        return told_missing(release, noisy, total, len(self.wanted.wants)) if noisy * epsilon > CLEAR else release

    def _released(self, columns: Any, rng: Randomness, owners: Any = None, ordered: bool = True) -> Release[Any]:
        """What the mechanism makes of these columns, which are let go: it may need the room for its own copy."""
        rows = [arranged(self.statistic, self.wanted, columns, self.arguments, owners, ordered=ordered)]
        if not isinstance(columns, Stream):
            columns.clear()
        return self._labelled(self.price.mechanism.release(rows.pop(), rng))

    def _far(self, apart: Apart, ordered: bool) -> FarTable:
        """Rows of people, for blocks, that are too many to hold."""
        arrange = partial(arranged, self.statistic, self.wanted, arguments=self.arguments, ordered=ordered)
        schema = arrange(empty_columns(self.wanted), owners=np.empty(0, dtype=np.int64)).counting(self.price.size)
        return FarTable(schema, apart, partial(_owned, arrange))

    def _labelled(self, release: Release[Any]) -> Release[Any]:
        notes = self.wanted.notes(self.people.unit, self.people.person is not None and not self.statistic.blocks)
        notes += [HALVED] if self.price.halved else []
        if release.refusal is not None and self.wanted.leaves_out:
            notes.append(LEFT_OUT)
        release = release.named(self.wanted.columns) if not self.statistic.blocks else release
        if self.wanted.of_dates:
            release = as_dates(release)
        name = self.title if self.wanted.names or self.where else None
        return self._word.of(labelled(release, self.price.guarantee, notes, name))

    def _grouped(self, table: Table, grouping: Grouping, rng: Randomness) -> Groups:
        holds = "each interval holds by itself, at its own confidence"
        notes = [f"each {self.people.unit} is in one group, {grouping.rule}; {holds}"]
        if grouping.keys is None:
            notes.append(f"the groups were found: those with few {self.people.units} are not shown")
        whose: dict[str, Any] = {"where": self.where, "person": self.people.person, "folds": self._streams}
        keys, columns, left_out = by_members(table, self.wanted, grouping, partial(self._find, rng=rng), **whose)
        rows = [arranged(self.statistic, self.wanted, part, self.arguments) for part in columns]
        releases = []
        drawn = by_group(self.price.mechanism, rows, rng)
        for name, release, without in zip(keys, drawn, left_out, strict=True):
            told = self._told(self._labelled(release), without, None, rng)
            releases.append((name, replace(told, name=f"{self.title}: {grouping.told(name)}")))
        terms: dict[str, Any] = {"name": self.title, "notes": tuple(notes)}
        return Groups(grouping.name, self.price.guarantee, releases=tuple(releases), **terms)

    def _find(self, names: Any, rng: Randomness) -> tuple[Any, ...]:
        """The groups that are common enough. [asking.3]"""
        found = self.price.finder.release(names, rng)
        return () if found.refusal is not None else tuple(name for name in found.value.bins if name is not None)

    @property
    def _streams(self) -> bool:
        """Whether its columns may come in pieces."""
        return all(self.statistic.reads(name, self.arguments).streams for name in self.wanted.references)


def _owned(arrange: Callable[..., Any], columns: dict[str, Any], owners: Any) -> Any:
    return arrange(columns, owners=owners)


def prepare(
    table: Table,
    people: People,
    statistic: Statistic,
    arguments: Mapping[str, Any],
    *,
    terms: Terms,
    facts: Mapping[str, Columns] | None = None,
) -> Question:
    """The question and its price; BadInput if it cannot be asked. Rows are counted where that is public, not read.
    `facts` are what is known of a caller's own arrays, whose names in the table are not theirs.
    """
    if people.person is None and terms.max_rows is not None:
        raise BadInput("max_rows is of a person's rows, and here each row is a person; give discreet.open person=")
    asked = wanted(table, statistic, arguments, terms, facts)
    condition = None if terms.where is None else Where.parse(terms.where)
    grouping = Grouping.of(table, statistic, terms, asked)
    wants = asked.wants if grouping is None else grouping.wants(asked)
    looked = table.check(wants, where=condition, person=people.person, rules=asked.rules)
    looked.check_steady(None if statistic.blocks else {*asked.named, *(grouping.by if grouping else ())})
    options = {name: value for name, value in arguments.items() if name not in statistic.columns}
    if asked.of_dates:
        options = dated(options, grouping is not None)
    schema = None
    if statistic.blocks:
        empty = empty_columns(asked)
        several = [(asked.references[one], about) for one, about in asked.facts.items() if about and about.several]
        empty |= {name: np.empty((0, len(about.names))) for name, about in several if isinstance(name, str)}
        schema = arranged(statistic, asked, empty, arguments, None if people.person is None else np.empty(0))
    found = price(
        statistic,
        people,
        asked.facts,
        options,
        part=condition is not None or grouping is not None or asked.leaves_out,
        size=partial(table.public_people, people.person),
        schema=schema,
        grouping=grouping,
    )
    return Question(
        statistic=statistic,
        arguments=arguments,
        wanted=asked,
        people=people,
        price=found,
        where=condition,
        grouping=grouping,
    )


def labelled(release: Release[Any], guarantee: Guarantee, notes: list[str], name: str | None) -> Release[Any]:
    """The release of a question: its promise, what was done to people's rows, and the hypothesis that a test names."""
    history = replace(release.provenance, notes=(*release.provenance.notes, *notes))
    full = f"{name}, {release.name}" if name and isinstance(release.answer, TestResult) else name or release.name
    refusal = release.refusal and in_full(release.refusal, guarantee, release.guarantee)
    return replace(release, guarantee=guarantee, provenance=history, name=full, refusal=refusal)
