"""Verbs about several columns on real tables: how often intervals hold, and errors beside their forecast.

A table is the population: people are drawn from it with replacement and asked once; the 95% interval is held against
the table's own value or, where it speaks of the people at hand, against theirs. Tables and columns were named before
anything was run.

    python -m benchmarks.verbs [--runs 100] [--only crosstab]
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

import discreet
from benchmarks.additive_cells import additive_models
from benchmarks.counted_cells import RELATIONS, classes, crosstabs, models
from benchmarks.verb_cases import PEOPLE, Case, table_of
from discreet.models.multinomial import likeliest_coefficients


def _compared(x: str, groups: str, between: tuple[str, str], of: str) -> Callable[[Any, Any], Any]:
    def truth(frame: Any, _: Any) -> Any:
        pick = {"mean": lambda part: part.mean(), "median": lambda part: part.quantile(0.5, "lower")}
        a, b = (float(pick.get(of, pick["mean"])(frame[x][frame[groups].astype(str) == one])) for one in between)
        return [a - b, a / b, a, b]

    return truth


def differences() -> Iterator[Case]:
    """Means without and with bounds, medians and shares of two groups."""
    for table, x, groups, between, bounds in (
        ("AER CPSSW8", "earnings", "gender", ("male", "female"), (0, 100)),
        ("Ecdat HI", "experience", "hhi", ("yes", "no"), (0, 70)),
        ("AER NMES1988", "visits", "gender", ("female", "male"), (0, 100)),
    ):
        for options in ({"of": "mean"}, {"of": "mean", "bounds": bounds}, {"of": "median"}):
            asked = {"between": list(between), **options}
            columns = {"x": x, "groups": groups}
            truth = _compared(x, groups, between, str(options["of"]))
            frame = table_of(table)[x]
            usual = {"scale": float(frame.std()), "location": float(frame.mean())} if options["of"] == "mean" else None
            assumed = None if usual is None else asked | usual
            yield Case("difference", table, columns, truth, asked, error=_first, assumed=assumed)


TREATED: tuple[tuple[str, str, str, tuple[Any, Any], dict[str, Any]], ...] = (  # named before anything was run
    ("medicaldata covid_testing", "rec_ver_tat", "gender", ("male", "female"), {}),
    ("medicaldata covid_testing", "result", "gender", ("male", "female"), {"of": "proportion", "equals": "positive"}),
    ("openintro yrbss", "weight", "gender", ("male", "female"), {"bounds": (20, 200)}),
    ("survival nafld1", "status", "male", (1, 0), {"of": "proportion"}),
)


def experiments() -> Iterator[Case]:
    """A/B tests of means and shares, as if a column had been a treatment, under both relations."""
    for table, x, groups, (treatment, control), options in TREATED:
        for relation in RELATIONS:
            asked = {"treatment": treatment, "control": control, **options, "neighbours": relation}
            columns = {"x": x, "groups": groups}
            yield Case("ab_test", table, columns, partial(_effect, columns=columns, asked=asked), asked, error=_first)


def _effect(frame: Any, _: Any, *, columns: Mapping[str, str], asked: Mapping[str, Any]) -> Any:
    frame = frame[list(columns.values())].dropna()
    x = frame[columns["x"]] == asked["equals"] if "equals" in asked else frame[columns["x"]].astype(float)
    a, b = (float(x[frame[columns["groups"]] == asked[one]].mean()) for one in ("treatment", "control"))
    return [a - b, a / b, a, b]


def _of_totals(x: str, y: str, per: float) -> Callable[[Any, Any], Any]:
    def truth(frame: Any, release: Any) -> Any:
        above, below = (
            np.clip(frame[name].to_numpy(dtype=float), *total.ends).sum()
            for name, total in ((x, release.spread.above), (y, release.spread.below))
        )
        return [per * above / below]

    return truth


def ratios(statistic: str) -> Iterator[Case]:
    """Ratios of totals and rates, with and without bounds, at two epsilons."""
    asked: tuple[tuple[str, str, str, Any, float], ...] = (
        ("AER NMES1988", "emergency", "visits", [(0, 15), (0, 100)], 1.0),
        ("AER CPSSW8", "earnings", "age", [(0, 100), (0, 80)], 1.0),
    )
    if statistic == "rate":
        asked = (
            ("survival flchain", "death", "futime", [(0, 1), (0, 5500)], 36_525.0),
            ("survival mgus2", "death", "futime", [(0, 1), (0, 450)], 1200.0),
        )
    for table, x, y, bounds, per in asked:
        frame = table_of(table)
        above, below = (frame[name].to_numpy(dtype=float) for name in (x, y))
        true = above.sum() / below.sum()
        known: dict[str, Any] = {"mean_y": float(below.mean()), "sd_y": float(below.std()), "ratio": float(true)}
        known |= {"once": True} if statistic == "rate" else {"residual": float(np.std(above - true * below))}
        for options in ({"bounds": bounds}, {}):
            given = options | ({"per": per} if statistic == "rate" else {})
            for epsilon in (0.5, 2.0):
                terms: dict[str, Any] = {"epsilon": epsilon, "assumed": given | known}
                yield Case(statistic, table, {"x": x, "y": y}, _of_totals(x, y, per), given, **terms)


def _sizes(column: str) -> Callable[[Any, Any], Any]:
    def truth(frame: Any, release: Any) -> Any:
        seen = frame[column].value_counts().to_dict()
        return [seen.get(one, 0) for one in release.value.bins]

    return truth


def _is_mode(column: str, people: Any, release: Any) -> bool:
    sizes = people[column].value_counts()
    return all(one in release.value for one in sizes.index[sizes == sizes.iloc[0]])


def frequent(statistic: str) -> Iterator[Case]:
    """The most frequent categories, found and listed, at two epsilons."""
    for table, column in (("nycflights13 flights", "dest"), ("carData Vocab", "education")):
        listed = sorted(table_of(table)[column].unique().tolist())
        for options in ({"delta": 1e-6}, {"categories": listed}):
            for epsilon in (0.1, 1.0):
                bins = {"bins": len(listed)} if "delta" in options else {}
                terms: dict[str, Any] = {"epsilon": epsilon, "assumed": options | bins}
                terms |= {"holds": partial(_is_mode, column)} if statistic == "mode" else {}
                yield Case(statistic, table, {"x": column}, _sizes(column), options, **terms)


def _different(column: str) -> Callable[[Any, Any], Any]:
    return lambda frame, _: [frame[column].nunique()]


def different() -> Iterator[Case]:
    """How many different values there are: of categories, of numbers that few share, of places."""
    for table, column in (("nycflights13 flights", "dest"), ("carData Vocab", "education"), ("AER CPSSW8", "earnings")):
        for epsilon in (0.1, 1.0):
            yield Case("distinct", table, {"x": column}, _different(column), {}, epsilon=epsilon)


def _lower(column: str, *shares: float) -> Callable[[Any, Any], Any]:
    def truth(frame: Any, _: Any) -> Any:
        found = [float(frame[column].quantile(q, "lower")) for q in shares]
        return [found[-1] - found[0] if len(found) > 1 else found[0]]

    return truth


def _below(column: str) -> Callable[[Any, Any], Any]:
    return lambda frame, release: np.searchsorted(np.sort(frame[column]), release.value.at, side="left") / len(frame)


def ordered(statistic: str) -> Iterator[Case]:
    """Far quantiles, the distance between the quartiles and distribution functions, at two epsilons."""
    shares = {"minimum": (0.01,), "maximum": (0.99,), "iqr": (0.25, 0.75)}
    for table, column, bounds in (
        ("AER CPSSW8", "earnings", (0, 100)),
        ("ggplot2 diamonds", "price", (0, 20_000)),
        ("survival flchain", "kappa", (0, 25)),
    ):
        far = statistic in ("minimum", "maximum")
        truth = _below(column) if statistic == "ecdf" else _lower(column, *shares[statistic])
        usual: dict[str, Any] = {"scale": float(table_of(table)[column].std())} if statistic != "ecdf" else {}
        usual |= {"location": float(table_of(table)[column].mean()), "shape": "exponential"} if far else {}
        for options in ({"bounds": bounds}, {}) if far else ({},):
            for epsilon in (0.5, 2.0):
                yield Case(statistic, table, {"x": column}, truth, options, epsilon=epsilon, assumed=options | usual)


WATCHED: tuple[tuple[str, str, str, Any, list[float], str, tuple[Any, Any]], ...] = (
    ("survival flchain", "futime", "death", 1, [1000, 2000, 3000, 4000], "sex", ("M", "F")),
    ("survival mgus2", "futime", "death", 1, [24, 60, 120, 180, 240], "sex", ("M", "F")),
    ("survival colon", "time", "status", 1, [365, 730, 1095, 1825, 2500], "rx", ("Obs", "Lev+5FU")),
    ("survival cancer", "time", "status", 2, [100, 200, 300, 400], "sex", (1, 2)),
    ("survival veteran", "time", "status", 1, [30, 60, 100, 150], "trt", (1, 2)),
)  # a time, an event and what it equals, public times, and two groups


def _alive(frame: Any, time: str, event: str, equals: Any, times: list[float]) -> Any:
    from lifelines import KaplanMeierFitter

    fitted = KaplanMeierFitter().fit(frame[time], frame[event] == equals)
    return fitted.survival_function_at_times(times).to_numpy()


def _known(truth: Any, _: Any, __: Any) -> Any:
    return truth


def survivals() -> Iterator[Case]:
    """Survival curves at two epsilons; the forecast is told what share is alive, and watched, at the last time."""
    for table, time, event, equals, times, *_ in WATCHED:
        frame = table_of(table)
        truth = _alive(frame, time, event, equals, times)
        ended = 1 - _alive(frame.assign(ended=frame[event] != equals), time, "ended", True, times)[-1]
        known = {"alive": float(truth[-1]), "censored": float(ended)}
        options = {"times": times, "equals": equals}
        for epsilon in (0.5, 2.0):
            terms: dict[str, Any] = {"epsilon": epsilon, "assumed": {"times": times, **known}, "error": _mean_error}
            columns = {"time": time, "event": event}
            yield Case("survival", table, columns, partial(_known, truth), options, **terms)


def rejections(runs: int) -> Iterator[tuple[Any, ...]]:
    """How often the log-rank test rejects at 5%: groups drawn at random, groups as they are, and without privacy."""
    from lifelines.statistics import logrank_test

    for table, time, event, equals, times, column, between in WATCHED:
        frame = table_of(table)
        frame = frame[frame[column].isin(between)]
        for epsilon in (0.5, 2.0):
            found: dict[bool, list[Any]] = {True: [], False: []}
            plain = []
            for seed, null in ((seed, null) for seed in range(runs) for null in (True, False)):
                draw = np.random.default_rng(crc32(f"{table} {seed}".encode()))
                people = frame.iloc[draw.integers(len(frame), size=len(frame))].reset_index(drop=True)
                group = draw.permutation(people[column].to_numpy()) if null else people[column].to_numpy()
                given: dict[str, Any] = {"epsilon": epsilon, "between": list(between), "times": times}
                died = (people[event] == equals).to_numpy()
                release = discreet.log_rank_test(people[time], died, group, **given, rng=discreet.Seeded(seed))
                found[null] += [] if release.refusal is not None else [release.value.decide(0.05)]
                if not null and seed < 100:
                    one = group == between[0]
                    parts = (part[side] for part in (people[time], died) for side in (one, ~one))
                    plain.append(logrank_test(*parts).p_value <= 0.05)
            shares = [float(np.mean(one)) if one else None for one in (found[True], found[False], plain)]
            yield f"{column} in {table}", len(frame), epsilon, len(found[True]), *shares


def group_rejections(runs: int) -> Iterator[tuple[Any, ...]]:
    """How often tests of groups in one table reject at 5%: groups dealt out at random, and groups as they are."""
    for table, x, column, between in (
        ("AER CPSSW8", "earnings", "gender", ("male", "female")),
        ("AER NMES1988", "visits", "gender", ("female", "male")),
        ("survival mgus2", "age", "sex", ("M", "F")),
    ):
        frame = table_of(table).iloc[:2000]
        for of, epsilon in ((of, epsilon) for of in ("distribution", "mean") for epsilon in (0.5, 2.0)):
            found: dict[bool, list[bool]] = {True: [], False: []}
            for seed, null in ((seed, null) for seed in range(runs) for null in (True, False)):
                draw = np.random.default_rng(crc32(f"{table} {seed}".encode()))
                people = frame.iloc[draw.integers(len(frame), size=len(frame))].reset_index(drop=True)
                group = people[column].astype(str).to_numpy()
                group = draw.permutation(group) if null else group
                given: dict[str, Any] = {"epsilon": epsilon, "between": list(between), "of": of}
                release = discreet.groups_test(people[x], group, **given, rng=discreet.Seeded(seed))
                found[null] += [] if release.refusal is not None else [release.value.decide(0.05)]
            shares = [float(np.mean(one)) if one else None for one in (found[True], found[False])]
            yield f"{of} of {x} by {column} in {table}", len(frame), epsilon, len(found[True]), *shares


def _mean_error(release: Any, truth: Any) -> float:
    return float(np.nanmean(np.abs(release.value.heights - truth)))


def _first(release: Any, truth: Any) -> float:
    return float(abs(_numbers(release.value)[0] - truth[0]))


def _of_logs(column: str) -> Callable[[Any, Any], Any]:
    return lambda frame, _: [np.log(frame[column]).mean(), np.log(frame[column]).std(ddof=0)]


def lognormals() -> Iterator[Case]:
    """Mean and standard deviation of logarithms, each by itself."""
    for table, column in (("AER CPSSW8", "earnings"), ("ggplot2 diamonds", "price")):
        mu, sigma = (float(one) for one in _of_logs(column)(table_of(table), None))
        for epsilon in (0.5, 2.0):
            given = {"family": "lognormal"}
            terms: dict[str, Any] = {"epsilon": epsilon, "error": _length}
            terms["assumed"] = given | {"parameters": {"mu": mu, "sigma": sigma}}
            yield Case("fit_distribution", table, {"x": column}, _of_logs(column), given, **terms)


def _length(release: Any, truth: Any) -> float:
    return float(np.linalg.norm(np.array(list(release.value.values())) - truth))


def _along(frame: Any, release: Any, *, columns: list[str]) -> Any:
    """The shares of a table's limited rows along the released directions."""
    found, limit = release.value, release.spread.clips[0][1]
    rows = (frame[columns].dropna().to_numpy(dtype=float) - found.centre) / found.scales
    rows *= np.minimum(1.0, limit / np.maximum(np.linalg.norm(rows, axis=1), 1e-300))[:, None]
    shares = ((rows @ found.directions.T) ** 2).sum(axis=0) / (rows**2).sum()
    return np.append(shares, shares.sum())


def components() -> Iterator[Case]:
    """Principal components."""
    for table, columns in (
        ("survival flchain", ["age", "kappa", "lambda", "creatinine", "futime"]),
        ("ggplot2 diamonds", ["carat", "depth", "table", "price", "x", "y", "z"]),
    ):
        truth = partial(_along, columns=columns)
        yield Case("pca", table, {"x": columns}, truth, {"k": 2, "delta": 1e-6}, error=_of_numbers)


def _of_numbers(release: Any, truth: Any) -> float:
    return float(np.sqrt(np.mean((np.array([*release.value.shares, release.value.captured]) - truth) ** 2)))


def _log_odds(frame: Any, _: Any, *, columns: list[str], outcome: str, classes: list[str]) -> Any:
    """Of a table without privacy, in the order of intervals: intercept and slopes, class by class."""
    whole = frame[[*columns, outcome]].dropna()
    whole = whole[whole[outcome].isin(classes)]
    design = np.column_stack([np.ones(len(whole)), whole[columns].to_numpy(dtype=float)])
    return likeliest_coefficients(design, whole[outcome].map(classes.index).to_numpy(), len(classes))


def states() -> Iterator[Case]:
    """Multinomial models, each coefficient by itself."""
    columns, classes = ["educ", "tvhours", "female", "unem10"], ["pretty happy", "very happy", "not too happy"]
    truth = partial(_log_odds, columns=columns, outcome="happy", classes=classes)
    for epsilon in (1.0, 3.0):
        given = {"classes": classes, "delta": 1e-6}
        yield Case(
            "multinomial_regression", "wooldridge happiness", {"X": columns, "y": "happy"}, truth, given, epsilon
        )


CASES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "crosstab": crosstabs,
    "difference": differences,
    "ab_test": experiments,
    "synthetic": models,
    "naive_bayes": classes,
    "additive_model": additive_models,
    "multinomial_regression": states,
    "ratio": partial(ratios, "ratio"),
    "rate": partial(ratios, "rate"),
    **{name: partial(ordered, name) for name in ("minimum", "maximum", "iqr", "ecdf")},
    "fit_distribution": lognormals,
    "survival": survivals,
    "distinct": different,
    "top": partial(frequent, "top"),
    "mode": partial(frequent, "mode"),
    "pca": components,
}


def _numbers(end: Any) -> Any:
    if hasattr(end, "coef"):
        return np.column_stack([end.intercept, end.coef])
    return list(end.values()) if hasattr(end, "parameters") else getattr(end, "cells", end)


def run(case: Case, runs: int) -> dict[str, Any]:
    """Coverage, refusals, and the median error beside the forecast."""
    frame, held, errors, refused = table_of(case.table), 0.0, [], 0
    for seed in range(runs):
        draw = np.random.default_rng(crc32(f"{case.label} {seed}".encode()))
        people = frame.iloc[draw.integers(len(frame), size=min(PEOPLE, len(frame)))].reset_index(drop=True)
        given = {
            name: people[column].astype(str) if case.statistic == "crosstab" else people[column]
            for name, column in case.columns.items()
        }
        release = getattr(discreet, case.statistic)(
            **given, **case.options, epsilon=case.epsilon, rng=discreet.Seeded(seed)
        )
        if release.refusal is not None:
            refused += 1
            continue
        bar = release.interval(0.95)
        truth = np.ravel(np.asarray(case.truth(frame if bar.population else people, release), dtype=float))
        low, high = (np.ravel(_numbers(end)).astype(float) for end in bar)
        known = ~np.isnan(low)
        inside = (low <= truth) & (truth <= high)
        at_once = "at once" in bar.about or case.statistic not in ("difference", "ab_test")
        whole = inside[known] if at_once else inside[:1]
        each = (
            float(whole.mean())
            if "each by itself" in bar.about or "each bin by itself" in bar.about
            else float(whole.all())
        )
        held += case.holds(people, release) if case.holds else each
        measured = case.error or (lambda one, true: float(np.max(np.abs(np.ravel(_numbers(one.value)) - true))))
        errors.append(measured(release, truth))
    expected = None
    if case.assumed is not None:
        said = discreet.forecast(case.statistic, rows=min(PEOPLE, len(frame)), epsilon=case.epsilon, **case.assumed)
        expected = said.error
    return {
        "question": case.label,
        "table": case.table,
        "epsilon": case.epsilon,
        "answers": runs - refused,
        "coverage": held / max(1, runs - refused),
        "error": float(np.median(errors)) if errors else None,
        "forecast": expected,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only")
    given = parser.parse_args()
    tests = {"log_rank_test": rejections, "groups_test": group_rejections}
    if given.only in tests:
        print(
            "| groups | people | epsilon | answers | level | power | power without privacy |",
            "|---|---|---|---|---|---|---|",
            sep="\n",
        )
        for row in tests[given.only](given.runs):
            print(f"| {' | '.join('–' if one is None else str(one) for one in row)} |", flush=True)
        return
    head = "| question | table | epsilon | answers | coverage of the 95% interval | median error | forecast |"
    print(f"{head}\n|---|---|---|---|---|---|---|")
    for name in CASES if given.only is None else [given.only]:
        for case in CASES[name]():
            found = run(case, given.runs)
            said = " | ".join(
                "–" if one is None else f"{one:.3g}" if isinstance(one, float) else str(one) for one in found.values()
            )
            print(f"| {said} |", flush=True)


if __name__ == "__main__":
    main()
