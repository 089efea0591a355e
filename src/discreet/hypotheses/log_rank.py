"""The log-rank test: do two groups have the event at the same rate? Who is in which group is private. Pure.

Releases
    The noisy life tables of both groups on a public grid (statistics/life_table.py), and the p-value computed from
    them.
Promise
    [log_rank.1] Pure epsilon under both relations, for who is in which group too.
    [log_rank.2] Up to which time there are enough people, and a refusal, follow from the noisy tables alone.
    [log_rank.3] Null hypothesis: among those still watched both groups have the event at the same rate, at all times
         up to the last one used. The p-value is super-uniform in the limit of many people, if who stops being watched
         does not depend on when the event would come, and ends are spread alike within an interval of the grid.
Why
    [log_rank.1] A person is in one cell of one group: [life_table.1]. All else is post-processing.
    [log_rank.2] Intervals are used up to the first in which one of the groups may have fewer people than noise tells.
    [log_rank.3] With d events and R people watched, less half of those whose watching ends, in each group, the sum of
    d1 - (d1 + d2) R1 / (R1 + R2) has mean 0 and the hypergeometric variance of Mantel; that of a quarter of an event
    is added. To first order noise adds the sum of squares of its slopes; as sums of many noises it is taken as normal
    or as one Laplace noise of its variance, whichever makes the p-value larger. The mean of the second-order term, the
    variance of one noise times the sum of |R1 - R2| / (R1 + R2)^2, is taken off the statistic.
Needs
    In each group some 10 people watched throughout the first interval, and 6 standard deviations of the noise on that.
Accuracy
    The test without privacy, with variance sum(2 / epsilon^2) over the intervals added to that of the events.
Source
    Mantel 1966; Peto and Peto 1972. On noisy counts ours.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, boolean, category, number, statistic
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult, label
from discreet.stages.normal_laplace import tail
from discreet.statistics.histogram import Categories
from discreet.statistics.life_table import Floats, LifeTable, TimeGrid, event_in_words, noisy_table
from discreet.statistics.proportion import Alternative, check_alternative
from discreet.tables.entries import by_name, numbers_of, public_size
from discreet.tables.streams import each
from discreet.worlds.assumptions import About, Effect

LEAST: Final = 10.0  # people of each group at the end of an interval that is used
CLEAR: Final = 6.0  # standard deviations of the noise on their number
QUARTER: Final = 0.25  # the most that one event adds to the variance


@dataclass(frozen=True, slots=True)
class LogRankTest:
    """Do two public groups have the event at the same rate? Rows are triples: a time, an event and a group.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(float(k % 9 + 1) / (1 + k % 2), True, "ab"[k % 2]) for k in range(2000)]
    >>> test = LogRankTest(TimeGrid.of([1, 2, 4], 2), Categories.of(["a", "b"]), 1.0)
    >>> test.release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    grid: TimeGrid
    between: Categories
    epsilon: Number
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    event: str = "true"
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_alternative(self.alternative)
        if len(self.between) != 2:
            raise BadInput(f"between has {len(self.between)} groups; give two, as between=['new', 'old']")

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """One draw for all counts together. [log_rank.1]"""
        return Approximate(self.epsilon, 0)  # [log_rank.1]

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The sum of observed less expected events of the first group, and the p-value; or a refusal."""
        triples = by_name(rows, "time", "event", "groups")
        size = public_size(triples, self.neighbours)
        cells = each(partial(_cells, grid=self.grid, between=self.between), triples, np.int64)  # [log_rank.1]
        terms: dict[str, Any] = {"epsilon": self.epsilon, "neighbours": self.neighbours, "rng": rng}
        tables = noisy_table(cells, 2, self.grid, **terms)  # [log_rank.1]
        names = [label(one) for one in self.between.names]
        shown = {"between": self.between.names, "times": self.grid.times, "neighbours": self.neighbours, "rows": size}
        told = {"two-sided": "at the same rate", "greater": "no more often", "less": "no less often"}[self.alternative]
        name = f"test that {names[0]} and {names[1]} have the event ({self.event}) at the same rate"
        if self.alternative != "two-sided":
            name = f"test that {names[0]} has the event ({self.event}) {told} than {names[1]}"
        history = Provenance("LogRankTest", shown, rng.secure)
        blank: Release[TestResult] = Release(self.guarantee, history, name=name)
        upto = min(table.enough(LEAST, CLEAR) for table in tables)  # [log_rank.2]
        if not upto:
            first = show(self.grid.edges[0])
            seen = " and ".join(str(max(0, round(float(table.watched[0])))) for table in tables)
            why = f"the groups have about {seen} people (noisy numbers): too few are left at {first} for this noise"
            return replace(blank, refusal=f"{why}. Bring more rows, ask for a larger epsilon, or for fewer times")
        statistic, p_value = log_rank(tables[0], tables[1], upto, self.alternative)  # [log_rank.3]
        null = f"null hypothesis: among those still watched, {names[0]} has the event {told} "
        null += f"{'as' if self.alternative == 'two-sided' else 'than'} {names[1]}, at all times up to "
        notes = (null + show(self.grid.edges[upto - 1]), "the statistic is the number of events less that expected")
        return replace(blank, answer=TestResult(statistic, p_value), provenance=replace(history, notes=notes))


def log_rank(one: LifeTable, other: LifeTable, upto: int, alternative: Alternative) -> tuple[float, float]:
    """The statistic and the p-value of the first `upto` intervals. [log_rank.3]"""
    (d1, r1), (d2, r2) = ((table.events[:upto], (table.watched - table.ends / 2)[:upto]) for table in (one, other))
    both, events = r1 + r2, d1 + d2
    found = float(((d1 * r2 - d2 * r1) / both).sum())
    spread = events * r1 * r2 * (both - events) / (both**2 * np.maximum(both - 1, 1))
    variance = max(float(spread.sum()), 0.0) + QUARTER
    noise = one.noise.sd**2 * (
        _slopes(one, r2 / both, -events * r2 / both**2) + _slopes(other, -r1 / both, events * r1 / both**2)
    )
    bias = one.noise.sd**2 * float((np.abs(r1 - r2) / both**2).sum())
    near = math.copysign(max(abs(found) - bias, 0.0), found)  # [log_rank.3]

    def beyond(t: float) -> float:
        normal = tail(t, math.sqrt(variance + noise), 0.0)
        return max(normal, tail(t, math.sqrt(variance), math.sqrt(noise / 2))) if t > 0 else normal

    if alternative == "two-sided":
        return found, min(1.0, 2 * beyond(abs(near)))
    return found, beyond(near if alternative == "greater" else -near)


def _slopes(table: LifeTable, of_events: Floats, of_watched: Floats) -> float:
    """The sum of squares of how the statistic moves with each cell of a group: its events, its ends, those later."""
    so_far = np.cumsum(of_watched)
    later = 2 * (len(table) - len(so_far)) + 1
    squares = (of_events + so_far) ** 2 + (so_far - of_watched / 2) ** 2
    return float(squares.sum() + later * so_far[-1] ** 2)


def _cells(triples: Mapping[str, Any], *, grid: TimeGrid, between: Categories) -> Any:
    """The cell of each row, group after group; the last for those that count nowhere. [log_rank.1]"""
    place, wide = between.indices(triples["groups"]), 2 * len(grid) + 1
    cells = grid.places(numbers_of(triples["time"]), numbers_of(triples["event"]))
    return np.where((place < 2) & (cells < wide), place * wide + cells, 2 * wide)


def _world(about: About) -> Effect:
    times = TimeGrid.of(about.option("times", [1.0, 2.0, 3.0]), 1).times
    between = about.option("between", ["a", "b"])
    ratio = about.number("hazard_ratio", 1.5, 0.0, 1e6)
    alive, censored = about.share(0.5, "alive"), about.share(0.3, "censored")
    about.given.pop("equals", None)  # made-up events are yes and no
    about.say(
        f"half of the people are in each group; the first has the event {ratio:g} times as often as the second, of"
    )
    about.said[-1] += f" whom {alive:g} are without it at {times[-1]:g}; {censored:g} stop being watched before that"
    slow, end = (-math.log(max(share, 1e-9)) / times[-1] for share in (alive, 1 - censored))

    def make(g: Any, n: int) -> dict[str, Any]:
        first = np.arange(n) % 2 == 0
        rate = slow * np.where(first, ratio ** about.stretch(n), 1.0)
        one, other = g.standard_exponential(n) / np.maximum(rate, 1e-12), g.standard_exponential(n) / max(end, 1e-12)
        groups = [between[0] if here else between[1] for here in first.tolist()]
        return {"time": np.minimum(one, other), "event": one <= other, "groups": groups}

    return Effect(make=make, most=2000)


@statistic(
    {"time": number(streams=True), "event": boolean(streams=True), "groups": category(streams=True)},
    rows=dict,
    world=_world,
)
def log_rank_test(
    people: Public,
    time: Columns,
    event: Columns,
    groups: Columns,
    *,
    epsilon: Number,
    between: Any,
    times: Any,
    parts: int = 4,
    alternative: Alternative = "two-sided",
    equals: Any = None,
) -> LogRankTest:
    """Null: among those still watched, both groups have the event at the same rate, at all times up to the last. Pure.

    `between` names the two public groups; who is in which is private. `time` is how long a person was watched, `event`
    whether the event came then: true, the number 1, or what `equals` says, as in `survival`. alternative="greater"
    tests against the first group having it more often. `times` are public, and each interval is cut in `parts`: those
    up to which enough people are left are used, and a note names the last. For how far apart the
    groups are ask for `survival` by group.

    >>> import discreet
    >>> time, arm = [float(k % 9 + 1) / (1 + k % 2) for k in range(2000)], ["new", "old"] * 1000
    >>> r = discreet.log_rank_test(time, [True] * 2000, arm, epsilon=1.0, between=["new", "old"], times=[1, 2, 4],
    ...     rng=discreet.Seeded(1))
    >>> r.value.decide(0.001)
    True
    """
    if not isinstance(between, list | tuple) or len(between) != 2:
        raise BadInput(f"between is {between!r}; give the two public groups, as between=['new', 'old']")
    terms: dict[str, Any] = {
        "alternative": alternative,
        "event": event_in_words(event, equals),
        "neighbours": people.neighbours,
        "unit": people.unit,
    }
    return LogRankTest(TimeGrid.of(times, parts), Categories.of(between), epsilon, **terms)
