"""docs/engines.md says of every statistic whether it folds on an engine, and it does what is said there."""

import pickle
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.cluster_questions import FOLDED, NAMES, asked, every, rows, streams, table_of_folds
from tests.unruly import Unruly, as_data

from discreet.engines import Local
from discreet.privacy.declaration import declared
from discreet.stages import locate
from discreet.tables import far_exchange, placed

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


class Watched:
    """An engine that knows whether rows were brought here."""

    room = 2**31

    def __init__(self) -> None:
        self.engine, self.collected, self.passes = Local(0), False, 0
        self.keep, self.drop = self.engine.keep, self.engine.drop

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return list(self.engine.map(function, items))

    def fold(self, kernel: Any, merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
        self.passes += 1
        self.collected |= kernel.func in (placed._numbered, far_exchange._numbered)
        return self.engine.fold(lambda part: as_data(kernel(part)), merge, parts)


def test_the_page_has_the_table_of_the_declarations() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text.partition("<!-- folds -->\n")[2].partition("<!-- end of folds -->")[0]
    assert shown == table_of_folds(), "paste what python -m benchmarks.cluster_questions prints"


@pytest.mark.claim("streams.1")
@pytest.mark.parametrize("where", [None, "id < 6"])  # with parts of which no row is left
@pytest.mark.parametrize("name", NAMES)
def test_what_folds_brings_no_row_here_and_gives_the_same_digits(
    name: str, where: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "FEW", 0)  # so few entries are brought here
    if where is not None and not streams(name):
        return
    engine, question = Watched(), every(name) | ({} if where is None else {"where": where})
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)
    assert engine.collected != streams(name)


class OfPeople(Watched):
    """The same; it brings rows of a person together too."""

    exchange = Unruly(7).exchange


@pytest.mark.claim("apart.1")
@pytest.mark.parametrize("name", [name for name in NAMES if streams(name)])
def test_what_folds_does_so_with_one_row_a_person(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "FEW", 0)
    engine, question = OfPeople(), every(name)
    assert asked(folder, engine, name, question, person="id") == asked(folder, None, name, question, person="id")
    assert not engine.collected


PEOPLE: list[tuple[str, dict[str, Any]]] = [
    ("mean", {"x": "x", "groupby": "town", "keys": ["a", "b", "nowhere"]}),
    ("median", {"x": "z", "groupby": "town", "delta": 1e-4, "where": "whole > 2", "per_person": {"z": "max"}}),
    ("ratio", {"x": "x", "y": "hits", "groupby": ["town", "label"], "delta": 1e-4}),
    ("count", {"where": "x > 0", "groupby": "label", "keys": ["no", "yes"]}),
    ("sum", {"x": "hits", "per_person": "sum", "max_rows": 2, "where": "flag"}),
    ("linear_regression", {"X": ["x", "z"], "y": "y", "delta": 1e-5, "per_person": {"y": "last"}}),
    *FOLDED.values(),
]


@pytest.mark.claim("apart.1")
@pytest.mark.parametrize("place", range(len(PEOPLE)))
def test_groups_and_parts_of_people_fold(place: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "FEW", 0)
    engine, (name, question) = OfPeople(), PEOPLE[place]
    question = {"epsilon": 60.0, **question}
    assert asked(folder, engine, name, question, person="id") == asked(folder, None, name, question, person="id")
    assert not engine.collected


@pytest.mark.claim("apart.1")
def test_people_who_are_brought_here_are_in_the_order_of_the_table(folder: Path) -> None:
    """So few that their entries are sorted rather than counted; and a public number of them, read by place."""
    by_town = {"groupby": "town", "keys": ["a", "b", "c"]}
    for name, more, relation in (("variance", by_town, "add_or_remove"), ("mean", {}, "replace")):
        question: dict[str, Any] = {"x": "x", "epsilon": 40.0, "missing": "keep", **more}
        ask = partial(asked, name=name, arguments=question, person="id", neighbours=relation)
        engine = OfPeople()
        assert ask(folder, engine) == ask(folder, None)
        assert engine.collected


PAIR, GIVEN = {"x": ["x", "z"]}, {"X": ["x", "z"], "epsilon": 40.0, "delta": 1e-5}
ARMS = {"x": "x", "groups": "label", "between": ["no", "yes"]}
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("mean", PAIR),
    ("mean", {**PAIR, "delta": 1e-5}),
    ("correlation", {**PAIR, "groupby": "town", "keys": ["a", "b", "c"], "epsilon": 60.0}),
    ("crosstab", {"x": "label", "y": "town", "z": "flag", "delta": 1e-4}),
    (
        "crosstab",
        {"x": "label", "y": "town", "groupby": "flag", "keys": [True], "categories": [["no"], ["a", "b"]]},
    ),
    ("difference", {**ARMS, "x": "flag", "of": "proportion"}),
    ("difference", {**ARMS, "of": "median"}),
    ("groups_test", {**ARMS, "of": "mean"}),
    ("kmeans", {"X": ["x", "z"], "k": 3}),
    ("kmeans", {"X": ["x", "z"], "k": 2, "delta": 1e-6, "loss": True, "radius": 9.0}),
    ("kmeans", {"X": ["x", "z"], "k": 2, "delta": 1e-6, "method": "lloyd", "where": "whole > 2"}),
    ("linear_regression", {**GIVEN, "y": "y", "weights": "hits", "offset": "whole"}),
    ("logistic_regression", {**GIVEN, "y": "flag", "method": "descent"}),
    ("logistic_regression", {**GIVEN, "y": "flag", "weights": "hits"}),
    ("poisson_regression", {**GIVEN, "y": "hits", "weights": "whole", "offset": "y"}),
    ("mean_test", {"x": "x", "null": 0.5, "bounds": (-3, 3)}),
    ("mean_test", {"x": "x", "null": 0.5, "model": "gaussian"}),
    ("ratio", {"x": "x", "y": "hits", "groupby": "town", "delta": 1e-4, "epsilon": 60.0}),
    ("ratio", {"x": "x", "y": "hits", "where": "whole > 2", "bounds": [(-3, 3), (0, 12)]}),
    ("rate", {"x": "label", "equals": "yes", "y": "hits", "missing": "keep"}),
    ("survival", {"time": "z", "event": "flag", "times": [0.5, 1.0], "groupby": "town", "keys": ["a", "b"]}),
    ("fit_distribution", {"x": "whole", "family": "binomial", "trials": 9}),
    ("fit_distribution", {"x": "flag", "family": "bernoulli"}),
    ("fit_distribution", {"x": "hits", "family": "lognormal"}),
    ("fit_distribution", {"x": "label", "family": "multinomial", "categories": ["no", "yes"]}),
    ("density", {"x": "label", "categories": ["no", "yes"]}),
    ("density", {"x": "x", "support": (-3, 3)}),
    ("linear_regression", {"X": "y ~ log(hits) + C(label):z - 1", "delta": 1e-5, "where": "whole > 2"}),
    ("logistic_regression", {"X": "flag ~ x + C(town)", "delta": 1e-5, "method": "objective"}),
    ("logistic_regression", {**GIVEN, "y": "whole", "classes": [3, 4], "offset": "z"}),
    ("naive_bayes", {"X": ["x", "z"], "y": "label", "classes": ["no", "yes"], "missing": "keep", "where": "flag"}),
    (
        "additive_model",
        {"X": ["x", "town"], "y": "flag", "classes": [False, True], "levels": {"town": ["a"]}, "delta": 1e-5},
    ),
    ("synthetic", {"X": ["hits", "z"], "edges": {"hits": [0, 2, 4, 9], "z": [-4, 0, 4]}}),
    ("mean", {"x": "x", "clusters": "whole", "strata": "town", "design": dict.fromkeys("abc", range(9))}),
    ("proportion", {"x": "label", "equals": "yes", "weights": "hits", "largest_weight": 9}),
    *FOLDED.values(),
]


@pytest.mark.claim("streams.1")
@pytest.mark.parametrize("place", range(len(OTHERS)))
def test_other_questions_fold_and_give_the_same_digits(
    place: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "FEW", 0)
    engine, (name, question) = Watched(), OTHERS[place]
    question = {"epsilon": 20.0, **question}
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)
    assert not engine.collected


COLLECTS: list[tuple[str, dict[str, Any]]] = [
    ("correlation", {**PAIR, "method": "spearman"}),
    ("covariance", {**PAIR, "delta": 1e-5, "model": "gaussian"}),
    ("fit_normal", {**PAIR, "delta": 1e-5}),
    ("groups_test", ARMS),
    ("kmeans", {"X": ["x", "z"], "k": 2, "delta": 1e-5, "method": "friendly"}),
    ("linear_regression", {**GIVEN, "y": "y", "method": "friendly", "epsilon": 200.0}),
    ("median", {"x": "x", "weights": "hits", "largest_weight": 12}),
    ("mean", {**PAIR, "method": "blocks", "delta": 1e-5}),
    ("mean_test", {"x": "x", "null": 0.5, "model": "symmetric"}),
]


@pytest.mark.parametrize("place", range(len(COLLECTS)))
def test_what_looks_at_rows_one_by_one_collects_them(place: int, folder: Path) -> None:
    engine, (name, question) = Watched(), COLLECTS[place]
    question = {"epsilon": 20.0, **question}
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)
    assert engine.collected


@pytest.mark.parametrize(
    "name", ["crosstab", "ratio", "mean_test", "survival", "covariance", "pca", "linear_regression"]
)
def test_a_public_number_of_people_gives_the_same_digits(name: str, folder: Path) -> None:
    """Then mechanisms may look at rows by place: a few of them are brought here."""
    question = every(name) | {"missing": "keep"}
    question |= {"delta": 1e-5} if question.get("delta") else {}
    ask = partial(asked, name=name, arguments=question, neighbours="replace")
    assert ask(folder, Watched()) == ask(folder, None)


class Weighing(Watched):
    """An engine that knows how many bytes a part sent at most."""

    sent = 0

    def fold(self, kernel: Any, merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
        def weighed(part: Any) -> Any:
            found = kernel(part)
            self.sent = max(self.sent, len(pickle.dumps(found)))
            return found

        return self.engine.fold(weighed, merge, parts)


BOUNDS: dict[str, Any] = {  # without them entries about a median are kept, up to a limit
    "difference": {"bounds": (-5, 5)},
    "kmeans": {"radius": 9.0},
    "linear_regression": {"bounds": dict.fromkeys(["x", "z", "y"], (-5, 5))},
}
SUMS = ["crosstab", "difference", "goodness_of_fit_test", "independence_test", "log_rank_test"]
SUMS += ["kmeans", "mean_test", "rate", "ratio", "survival", "synthetic"]


@pytest.mark.parametrize("name", [*SUMS, "linear_regression"])
def test_eight_times_the_rows_send_no_more(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "FEW", 0)
    bounds, sent = BOUNDS.get(name, {}), []
    for times in (4, 32):
        table, place, engine = pa.concat_tables([rows()] * times), tmp_path / str(times), Weighing()
        place.mkdir()
        for number in range(4):
            pq.write_table(table.slice(number * 500 * times, 500 * times), place / f"{number}.parquet")
        asked(place, engine, name, every(name) | {"epsilon": 20.0} | bounds)
        sent.append(engine.sent)
    assert sent[1] < 1.2 * sent[0]


GROUPS: dict[str, dict[str, Any]] = {
    "listed": {"groupby": "town", "keys": ["a", "b", "nowhere"]},
    "found": {"groupby": "town", "delta": 1e-4},
    "crossed": {"groupby": ["town", "label"], "keys": [["a", "c"], ["yes", "no"]]},
    "crossed, found": {"groupby": ["town", "label"], "delta": 1e-4},
    "some": {"groupby": "town", "keys": ["a", "b"], "where": "whole > 2"},
}
BY_GROUP = [name for name in NAMES if declared(name).groups and streams(name)]


@pytest.mark.claim("grouped_folds.1")
@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("name", ["mean", "count", "median"])
def test_groups_fold_and_give_the_same_digits(
    name: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "FEW", 0)
    question: dict[str, Any] = {"x": "flag" if name == "count" else "x", "epsilon": 8.0, **GROUPS[kind]}
    engine = Watched()
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)
    assert not engine.collected


@pytest.mark.claim("grouped_folds.1")
@pytest.mark.parametrize("epsilon", [0.3, 8.0])  # pooled, and each by itself
@pytest.mark.parametrize("name", BY_GROUP)
def test_every_statistic_that_folds_does_so_by_group(name: str, epsilon: float, folder: Path) -> None:
    engine = Watched()
    by: dict[str, Any] = {"groupby": "town", "keys": ["a", "b", "c"]}
    by = by if "town" not in every(name).values() else {"groupby": "flag", "keys": [True, False]}
    question = every(name) | by | {"epsilon": epsilon}
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)


def test_equal_passes_of_groups_are_one_pass(folder: Path) -> None:
    """Of a mean with bounds every group asks for the same sums: the files are read as often as for one group."""
    passes = []
    for keys in (["a"], ["a", "b", "c"]):
        engine = Watched()
        asked(folder, engine, "mean", {"x": "x", "bounds": (-3, 3), "epsilon": 8.0, "groupby": "town", "keys": keys})
        passes.append(engine.passes)
    assert passes[0] == passes[1]
