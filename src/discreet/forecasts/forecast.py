"""The error to expect, before anything is spent: from public assumptions, never from data.

Every statistic declares its own made-up world (`world=`). Some have closed forms. Elsewhere the mechanism itself is run
on made-up rows with repeatable noise. For one number whose error bar tells its sampling part from its noise a few runs
will do: an honest bar at confidence 1/2 is as long as the median error. For several numbers errors are measured. The
same arguments always give the same forecast.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from discreet.errors import BadInput, Refused
from discreet.forecasts.simulate import Trial, fewer_draws, measured, rejected
from discreet.privacy.card import card
from discreet.privacy.declaration import declared
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import check_confidence
from discreet.privacy.people import People
from discreet.privacy.values import plain
from discreet.worlds.assumptions import NO_FLOOR, About, Effect, Expected
from discreet.worlds.floors import PACKED, range_floor, told_of

MOST_ROWS: Final = 10**12
OTHER_SHAPES: Final = ("uniform", "exponential", "lognormal")  # of columns whose shape nobody says


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What to expect of a release that has not been made. `measure` says what `error` is the size of.

    `error` is the median; `sampling` and `privacy` are standard deviations; `half_width` is that of the widest
    interval at `confidence`. `units` says what they are counted in, where that is not the data's own unit: without a
    public scale, standard deviations. `if_normal` says that columns are taken to be normal, as nobody said what shape
    they have; `other_shapes` has the error for others, None where it would be refused. For a test `power` is the
    chance to reject at `level`, and there is no error.
    """

    statistic: str
    rows: int
    epsilon: float
    delta: float
    confidence: float | None
    measure: str
    error: float | None
    half_width: float | None
    sampling: float | None
    privacy: float | None
    without_privacy: float | None
    floor: float | None
    floor_note: str
    refused: str | None
    how: str
    assumptions: tuple[str, ...]
    power: float | None = None
    level: float | None = None
    units: str = ""
    if_normal: bool = False
    other_shapes: Mapping[str, float | None] = field(default_factory=dict)  # the error by shape; None: refused

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {name: plain(value) for name, value in asdict(self).items()}

    def _lines(self) -> list[str]:
        budget = f"epsilon {show(self.epsilon)}" + (f", delta {show(self.delta)}" if self.delta else "")
        head = f"{self.statistic.replace('_', ' ')} of {self.rows} rows at {budget}: "
        lines = [head + self._expected()]
        if self.error is not None:
            lines.append(f"  that is the {self.measure}")
        elif self.power is not None:
            lines.append(f"  that is {self.measure}")
        if self.half_width is not None and self.confidence is not None:
            width = in_units(self.half_width, self.units)
            lines.append(f"  interval at {100 * self.confidence:g}%: about {width} to either side")
        both = (("sampling", self.sampling), ("privacy", self.privacy))
        parts = [f"{word} {brief(size)}" for word, size in both if size is not None]
        lines += [f"  standard deviation: {', '.join(parts)}"] if parts else []
        if self.without_privacy is not None and self.error is not None:
            lines.append(f"  without privacy: {brief(self.without_privacy)}")
        if self.floor is not None:
            lines.append(f"  no private method is below {brief(self.floor)} ({self.floor_note})")
        elif self.error is not None:
            lines.append(f"  floor: {self.floor_note}")
        lines += [f"  may be refused {self.refused}"] if self.refused and self._answered() else []
        lines += [f"  assumed: {sentence}" for sentence in self.assumptions]
        lines.append(f"  {self.how}; no data were used and nothing was spent")
        return lines

    def _answered(self) -> bool:
        return self.error is not None or self.power is not None

    def _expected(self) -> str:
        if self.power is not None:
            return f"rejects with probability {self.power:.2f}"
        if self.error is not None:
            expected = f"expect an error of {in_units(self.error, self.units)}"
            return expected + (f", if values are normal{self._over_shapes()}" if self.if_normal else "")
        return f"would be refused. {self.refused}"

    def _over_shapes(self) -> str:
        """What to expect if they are not."""
        known = [error for error in self.other_shapes.values() if error is not None]
        refused = [name for name, error in self.other_shapes.items() if error is None]
        least, most = (brief(one) for one in (min(known), max(known))) if known else ("", "")
        others = [name for name in self.other_shapes if name not in refused]
        told = f"; {least} to {most} if {' or '.join(others)}" if known else ""
        return told + (f"; refused if {' or '.join(refused)}" if refused else "")

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        return card(self._lines())


def forecast(
    statistic: str,
    *,
    rows: int,
    epsilon: Number,
    delta: Number = 0.0,
    confidence: float | None = 0.95,
    **about: Any,
) -> Forecast:
    """The error to expect of a statistic, before any data are read: nothing is spent.

    `statistic` is its name; `about` are its own options (bounds, q, categories, model, neighbours, ...) and
    public assumptions: `scale` (1.0) and `location` of a column's values and their `shape` ("normal", "uniform",
    "exponential", "lognormal", "t3"), or instead of these `low`, `typical` and `high`, guesses of what 1%, half and 99%
    of people are below; `share` (0.5) of the true, `columns`, `bins`, `k`, `effect` (for tests, whose
    power is forecast, and coefficients), `parameters` of a family. What was assumed is said in `assumptions`. Public
    `bounds` given without a scale are taken to be six standard deviations apart. Where nobody says what shape values
    have, the first line has the error of normal ones and of others.

    >>> import discreet
    >>> print(discreet.forecast("count", rows=1000, epsilon=0.5).error)
    1.0
    >>> ages = discreet.forecast("mean", rows=5000, epsilon=1.0, bounds=(0, 120), scale=20)
    >>> 0.15 < ages.without_privacy < ages.error < 0.25
    True
    """
    terms: dict[str, Any] = {"rows": rows, "epsilon": epsilon, "delta": delta, "confidence": confidence}
    found = foreseen(statistic, about, **terms)
    if not found.if_normal or found.error is None:
        return found
    others = {name: foreseen(statistic, {**about, "shape": name}, **terms).error for name in OTHER_SHAPES}
    return replace(found, other_shapes=others)


def forecast_of(
    statistic: str, about: Mapping[str, Any], *, rows: int, epsilon: Number, delta: Number
) -> dict[str, Any]:
    """The forecast of a release of a plan, of one shape of columns, in plain values."""
    terms: dict[str, Any] = {"rows": rows, "epsilon": epsilon, "delta": delta}
    return foreseen(statistic, about, confidence=about.get("confidence", 0.95), **terms).to_dict()


def foreseen(
    statistic: str,
    about: Mapping[str, Any],
    *,
    rows: int,
    epsilon: Number,
    delta: Number,
    confidence: float | None,
    target: float | None = None,
) -> Forecast:
    """The forecast; a power need only be clearly above or below the `target`."""
    declaration = declared(statistic)
    check_rows(rows)
    if confidence is not None:
        confidence = check_confidence(confidence)
    given = About(declaration, rows, dict(about))
    relation = People.of(None, None, about.get("neighbours", "add_or_remove")).neighbours
    check_budget(epsilon, delta, rows if relation.size_is_public else None)
    fixed: dict[str, Any] = {"delta": delta} if "delta" in declaration.options else {}
    if delta and not fixed:
        given.say("the answer is pure, delta is not used")
    if "confidence" in declaration.options:
        given.given["confidence"] = confidence
    world = declaration.world(given)
    level = given.number("level", 0.05, 0.0, 0.5) if isinstance(world, Effect) else 0.0
    trial = Trial(statistic=declaration, world=world, options={**given.options(), **fixed}, rows=rows, epsilon=epsilon)
    if isinstance(world, Effect):
        chance, refused, how = rejected(replace(trial, statistic=fewer_draws(declaration, level)), level, target)
        found = Expected(refused=refused, how=how)
        measure = f"the chance to reject at level {level:g} if what is assumed holds"
        tested: dict[str, Any] = {"power": chance, "level": level, "floor": None, "floor_note": NO_FLOOR}
    else:
        found, measure = measured(trial, confidence), world.measure
        limit = told_of(float(epsilon), float(delta), relation)
        floor = found.floor if world.floor is None else world.floor(rows, limit)
        note = found.floor_note or world.floor_note
        if world.within is not None and floor is not None:
            wide = world.within[1] - world.within[0]
            floor = min(floor, wide / 2)  # the two places of [floors.4] are both within the bounds
            packed = 0.0 if delta else range_floor(wide, rows, float(epsilon), relation)
            floor, note = (packed, PACKED) if packed > floor else (floor, note)
        units = world.units if given.standardised else ""
        tested = {"floor": floor, "floor_note": note, "units": units}
    return Forecast(
        statistic=statistic,
        rows=rows,
        epsilon=float(epsilon),
        delta=float(delta),
        confidence=confidence,
        measure=measure,
        error=found.error,
        half_width=found.half_width,
        sampling=found.sampling,
        privacy=found.privacy,
        without_privacy=found.without,
        refused=found.refused,
        how=found.how,
        assumptions=tuple(given.said),
        if_normal=given.unsaid,
        **tested,
    )


def brief(number: float) -> str:
    """Three digits: a forecast has no more."""
    return show(float(f"{number:.3g}"))


def in_units(number: float, units: str) -> str:
    """A number with what it is counted in, if that is not the data's own unit."""
    return f"{brief(number)} {units}".rstrip()


def check_rows(rows: object, name: str = "rows") -> None:
    """A number of people."""
    if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS:
        raise BadInput(f"{name} is {rows!r}; give a whole number of people, from 1 to {MOST_ROWS:g}")


def power(
    test: str, *, n: int | Sequence[int], epsilon: Number, effect: Any = None, level: float = 0.05, **about: Any
) -> float:
    """The chance that a private test rejects at `level`: that of `forecast`, for groups of any sizes.

    `test` is its name, and it is run with the options and defaults that it has. `n` is a number of people, or that of
    each group. `effect` and further assumptions are those of `forecast`: mostly a number of standard deviations; for
    "anova" a list of the groups' shifts. "likelihood_ratio_test" takes `p` and `q`, "goodness_of_fit_test" `null` and
    `truth`. Refused where the test would be. No data are used and nothing is spent.

    >>> power("two_samples_test", n=(200, 200), effect=0.3, epsilon=1.0) > 0.5
    True
    """
    samples = declared(test).samples
    sizes: list[Any] = list(n) if isinstance(n, list | tuple) else [n] * (2 if samples else 1)
    if not samples and len(sizes) > 1:
        raise BadInput(f"n is {n!r}; {test} is about one group of people: give one number")
    for size in sizes:
        check_rows(size, "n")
    given = about | ({} if effect is None else {"effect": effect}) | ({"sizes": sizes} if samples else {})
    if "groups" in declared(test).columns:
        given |= {"groups": len(sizes)}
    if not isinstance(declared(test).world(About(declared(test), sum(sizes), dict(given))), Effect):
        raise BadInput(f"{test} is not a test; discreet.forecast says what error to expect of it")
    found = forecast(test, rows=sum(sizes), epsilon=epsilon, level=level, **given)
    if found.power is None:
        raise Refused(f"{test} would be refused: {found.refused}")
    return found.power
