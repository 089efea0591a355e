"""Coefficients from blocks of people: any of a person's rows, however many, are protected together.

What is promised is promised by subsample/aggregate.py; here names and error bars get the form of a regression's.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from discreet.privacy.declaration import Columns, Public
from discreet.privacy.exact import Number
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.mechanism import After, Before, Mechanism
from discreet.privacy.release import Release
from discreet.privacy.values import Coefficients, Link
from discreet.subsample.block_table import BlockTable
from discreet.subsample.fit_request import planned


@dataclass(frozen=True, slots=True)
class NamedSpread:
    """The error of named numbers as that of coefficients; `intercept` is the name of that one, if there is one.

    `called` are the names to show, where the numbers come under others.
    """

    inner: Spread
    names: tuple[str, ...]
    _: KW_ONLY
    intercept: str | None = "intercept"
    link: Link = "identity"
    called: tuple[str, ...] | None = None

    def of(self, named: Any) -> Coefficients | None:
        """Named numbers as coefficients; None where there are none."""
        if named is None:
            return None
        return coefficients_of(named, self.names, self.intercept, self.link, self.called)

    @property
    def sampling(self) -> Coefficients | None:
        """Standard deviations from sampling people, where they are known apart."""
        return self.of(self.inner.sampling)

    @property
    def privacy(self) -> Coefficients | None:
        """Standard deviations from the noise."""
        return self.of(self.inner.privacy)

    def interval(self, confidence: float) -> Interval:
        """Each coefficient's."""
        found = self.inner.interval(confidence)
        return replace(found, low=self.of(found.low), high=self.of(found.high))


def coefficients_of(
    named: Any, names: tuple[str, ...], intercept: str | None, link: Link, called: tuple[str, ...] | None = None
) -> Coefficients:
    """Named numbers as coefficients, by their names or by those that they are called."""
    return Coefficients(
        np.array([float(named[name]) for name in names]),
        0.0 if intercept is None else float(named[intercept]),
        called or names,
        link,
    )


def in_blocks(
    fit: Any,
    features: Columns,
    *,
    epsilon: Number,
    delta: Number,
    people: Public,
    named: Callable[[Any], tuple[tuple[str, ...], str | None]],
    link: Link,
    name: str,
    notes: tuple[str, ...] = (),
    outcome: Callable[[Any], Any] = lambda y: y,
    **asked: Any,
) -> Mechanism[Coefficients]:
    """A regression on blocks of people, the estimates combined privately; rows have the outcome last.

    `named` gives the names of the coefficients and of the intercept as the estimator returns them.
    """
    width = len(features.names)
    schema = BlockTable.of(np.empty((0, width)), np.empty(0)).counting(people.size)
    inner = planned(
        fit,
        schema,
        epsilon=epsilon,
        delta=delta,
        neighbours=people.neighbours,
        unit=people.unit,
        **asked,
    )

    def table(rows: Any) -> BlockTable:
        return BlockTable.of(rows[:, :-1], outcome(rows[:, -1]))

    def shown(release: Release[Any]) -> Release[Coefficients]:
        kept = replace(release.provenance, notes=(*notes, *release.provenance.notes))
        release = replace(release, provenance=kept, name=name)
        if release.refusal is not None:
            return release
        names, intercept = named(release.value)
        form: dict[str, Any] = {"intercept": intercept, "link": link, "called": features.names}
        spread = None if release.spread is None else NamedSpread(release.spread, names, **form)
        return replace(release, answer=coefficients_of(release.value, names, **form), spread=spread)

    return After(Before(table, inner), shown)
