"""What every declaration makes when it is asked with few options: a new statistic is audited without being listed.

Those of groups that are public are in the other files: their rows are not columns.
"""

from functools import partial
from typing import Any

from benchmarks.posed import PEOPLE, asked_of_tables, mechanism_of, posed
from benchmarks.subjects.subject import ADD, CLOUD, LABELS, NUMBERS, POINTS, SPREAD, Subject, edge_pairs
from discreet.privacy.declaration import Statistic

TRIPLES = tuple((*point, float(place % 2)) for place, point in enumerate(POINTS))
CROWD = [(*point, float(place % 2)) for place, point in enumerate(CLOUD)]
NAMES = ("no", "yes", "a", "b", None, 1, True, "")
# under replace these are questions about some of the people, which are asked as one
ONLY = {"ab_test": ADD, "difference": ADD, "groups_test": ADD}
PAIRS = tuple((one, other) for one in NAMES for other in NAMES)


def subject(statistic: Statistic) -> Subject:
    """Rows by what it reads: numbers, labels, points, or points with an outcome."""
    people = PEOPLE.get(statistic.name, 100)
    made = partial(mechanism_of, statistic.name, people=people)
    asked = posed(statistic.name)
    reads = [statistic.reads(name, asked) for name in statistic.columns if name in asked]
    several, labels = any(one.width == "several" for one in reads), any(one.kind == "category" for one in reads)
    values: tuple[Any, ...]
    crowd: list[Any]
    odd: Any
    if several:
        values, crowd, odd = (TRIPLES, CROWD, (1e12, -1e12, 1.0)) if len(reads) > 1 else (POINTS, CLOUD, (1e12, -1e12))
        if labels and len(reads) > 1:  # the outcome is a class
            values, crowd = tuple(map(_with_class, values)), list(map(_with_class, crowd))
            odd = (*odd[:-1], "yes")
    elif len(reads) > 1:
        values, crowd, odd = (PAIRS, [("no", "a")] * people, ("yes", "b")) if labels else (POINTS, CLOUD, (1e12, -1e12))
    elif labels:
        values, crowd, odd = (*LABELS, "no", "yes"), ["no"] * people, "yes"
    else:
        values, crowd, odd = NUMBERS, SPREAD, 1e12
    ordinary = tuple(crowd) if isinstance(crowd[0], tuple) else ()
    pairs, only = edge_pairs(crowd[0], odd, crowd[: people - 1]), ONLY.get(statistic.name)
    return Subject(made, values, pairs, least=people, size=people, ordinary=ordinary, only=only)


def _with_class(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outcome as one of two labels."""
    return (*row[:-1], ("no", "yes")[int(row[-1])])


SUBJECTS = {f"declared: {one.name}": subject(one) for one in asked_of_tables()}
