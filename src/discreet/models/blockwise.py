"""Coefficients from blocks of people: any of a person's rows, whoever many, are protected together.

What is promised is promised by subsample/aggregate.py; here names and error bars get the form of a regression's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import Number
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Coefficients, Link
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import LineFit
from discreet.subsample.fit_request import planned


@dataclass(frozen=True, slots=True)
class NamedSpread:
    """The error of named numbers as that of coefficients; `intercept` is the name of that one, if there is one.

    `called` are the names to show, where the numbers come under others.
    """

    inner: Spread
    names: tuple[str, ...]
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


def line_in_blocks(
    rows: Any,
    y: Any,
    people: Any,
    *,
    names: tuple[str, ...],
    intercept: bool,
    epsilon: Number,
    delta: Number,
    blocks: Any,
    aggregator: str,
    neighbours: Neighbours,
    unit: str,
    release_of: Callable[[Mechanism[Any], Any], Release[Any]],
    notes: tuple[str, ...] = (),
) -> Release[Coefficients]:
    """Least squares on blocks, the estimates combined privately; `release_of` asks the mechanism."""
    if not isinstance(intercept, bool):
        raise BadInput(f"intercept is {intercept!r}; give True or False")
    table = BlockTable.of(rows, y, people)
    fit = LineFit(names, intercept)
    mechanism = planned(
        fit,
        table,
        epsilon=epsilon,
        delta=delta,
        blocks=blocks,
        aggregator=aggregator,
        names=[*names, *(["intercept"] if intercept else [])],
        unbiased=True,
        neighbours=neighbours,
        unit=unit,
    )
    release = release_of(mechanism, table)
    kept = replace(release.provenance, notes=(*notes, *release.provenance.notes))
    release = replace(release, provenance=kept)
    if release.refusal is not None:
        return replace(release, name="linear regression")
    named = "intercept" if intercept else None
    spread = None if release.spread is None else NamedSpread(release.spread, names, named)
    answer = coefficients_of(release.value, names, named, "identity")
    return replace(release, answer=answer, spread=spread, name="linear regression")
