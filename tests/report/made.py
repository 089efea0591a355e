"""Real records of every verb, a whole report of them, and one of anything."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np

import discreet
from discreet import Seeded
from discreet.datasets import NHANES_CATEGORIES, load_nhanes


def questions() -> dict[str, Callable[[], Any]]:
    table = load_nhanes()
    frame = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    bmi, age, top, low = (np.nan_to_num(frame[name]) for name in ("bmi", "age", "systolic_bp", "diastolic_bp"))
    education, sex = table["education"].to_pylist(), table["sex"].to_pylist()
    ill, male = frame["diabetes"] == "Yes", frame["sex"] == "Male"
    pure: dict[str, Any] = {"epsilon": 1.0, "unit": "participant", "rng": Seeded(1)}
    both, rows = {**pure, "delta": 1e-6}, np.column_stack([bmi, top, low])
    bare: dict[str, Any] = {"epsilon": 1.0, "rng": Seeded(1)}
    schools = NHANES_CATEGORIES["education"]
    return {
        "count": lambda: discreet.count(ill, **pure),
        "proportion": lambda: discreet.proportion(ill, **pure),
        "mean": lambda: discreet.mean(bmi, **pure),
        "mean of a table": lambda: discreet.mean(rows, **both),
        "variance": lambda: discreet.variance(bmi, **pure),
        "std": lambda: discreet.std(bmi, **pure),
        "gaussian": lambda: discreet.fit_normal(top, **pure),
        "gaussian of a table": lambda: discreet.fit_normal(rows, **both),
        "median": lambda: discreet.median(age, **pure),
        "median without interval": lambda: discreet.median(age, confidence=None, **pure),
        "quantiles": lambda: discreet.quantile(top, [0.1, 0.5, 0.9], **pure),
        "histogram of categories": lambda: discreet.histogram(education, categories=schools, **pure),
        "histogram of edges": lambda: discreet.histogram(age, edges=list(range(0, 90, 10)), **pure),
        "histogram of many": lambda: discreet.histogram(age, categories=range(81), **pure),
        "open histogram": lambda: discreet.histogram(education, **both),
        "covariance": lambda: discreet.covariance(rows, **both),
        "density": lambda: discreet.density(bmi, **pure),
        "density of categories": lambda: discreet.density(education, categories=schools, **pure),
        "family": lambda: discreet.fit_distribution("gamma", bmi + 1, **pure),
        "multinomial": lambda: discreet.fit_distribution("multinomial", education, categories=schools, **pure),
        "likelihood": lambda: discreet.maximum_likelihood("expon", bmi, delta=1e-6, **bare),
        "fit": lambda: discreet.fit(lambda x: float((x > 30).mean()), bmi, **bare),
        "vote": lambda: discreet.fit(lambda x: "yes", bmi, aggregator="vote", labels=["yes", "no"], **bare),
        "linear regression": lambda: discreet.linear_regression("systolic_bp ~ age + bmi", frame, **both),
        "logistic regression": lambda: discreet.logistic_regression(rows[:, :2], ill, **both),
        "multinomial regression": lambda: discreet.multinomial_regression(
            rows[:, :2], np.digitize(age, [25, 50]), classes=[0, 1, 2], **both
        ),
        "poisson regression": lambda: discreet.poisson_regression(rows[:, :2] / 50, np.round(age / 20), **both),
        "sgd": lambda: discreet.sgd("squared", rows[:, :1] / 50, top / 100, size=8000, **both),
        "kmeans": lambda: discreet.kmeans(rows[:, :2], 3, **both),
        "test_proportion": lambda: discreet.proportion_test(male, 0.5, **pure),
        "test_mean": lambda: discreet.mean_test(bmi, 26.0, **pure),
        "test_two_means": lambda: discreet.two_means_test(bmi[male], bmi[~male], **pure),
        "test_two_samples": lambda: discreet.two_samples_test(bmi[male], bmi[~male], **pure),
        "test_paired": lambda: discreet.paired_test(top, low, **pure),
        "test_fit": lambda: discreet.goodness_of_fit_test(sex, {"Male": 0.5, "Female": 0.5}, **pure),
        "test_closeness": lambda: discreet.closeness_test(
            sex[:4000], sex[4000:], categories=["Male", "Female"], **pure
        ),
        "test_independence": lambda: discreet.independence_test(
            sex, ill.tolist(), categories=(["Male", "Female"], [True, False]), **pure
        ),
        "test_simple": lambda: discreet.likelihood_ratio_test(
            male.astype(int), {0: 0.5, 1: 0.5}, {0: 0.4, 1: 0.6}, **pure
        ),
        "test_anova": lambda: discreet.anova(bmi[:4000], bmi[4000:6000], bmi[6000:], **pure),
        "test_any": lambda: discreet.custom_test(lambda x: 0.2, bmi, **bare),
        "refused": lambda: discreet.mean(bmi[:12], epsilon=0.01, rng=Seeded(1)),
        "publishable": lambda: discreet.count(ill, epsilon=1.0),
    }


class Records(Mapping[str, dict[str, Any]]):
    """Each question's record, asked for when it is needed, with noise of its own: whatever was asked before it."""

    def __init__(self) -> None:
        self._names = list(questions())
        self._found: dict[str, dict[str, Any]] = {}

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._found:
            self._found[name] = questions()[name]().to_dict()
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@cache
def records() -> Mapping[str, dict[str, Any]]:
    return Records()


def entry(record: Any, question: str = "mean of bmi", **changed: Any) -> dict[str, Any]:
    plain = {"id": "q1", "question": question, "statistic": "mean", "columns": ["bmi"], "where": None, "by": None}
    return {**plain, "options": {}, "forecast": None, "release": record, **changed}


def grouped(groups: Any, **changed: Any) -> dict[str, Any]:
    made = entry(None, "mean of bmi by sex", by="sex", **changed)
    del made["release"]
    return {**made, "groups": groups}


def dossier(*entries: dict[str, Any], **changed: Any) -> dict[str, Any]:
    amounts = {"epsilon": 1.0, "delta": 1e-6}
    return {
        "format": "discreet report 2",
        "title": "Health, 2017-18",
        "description": None,
        "created": "2026-01-01T00:00:00Z",
        "data": {
            "source": "nhanes.parquet",
            "population": "NHANES 2017-18",
            "unit": "participant",
            "person": None,
            "neighbours": "one participant's data is replaced",
            "rows": 8366,
        },
        "budget": {
            "epsilon": 3.0,
            "delta": 1e-5,
            "spent_before": amounts,
            "this": amounts,
            "left": amounts,
            "composition": "Costs add up.",
        },
        "releases": list(entries),
        "meaning": ["A sentence."],
        "methods": [{"name": "Mean", "text": "Clipped."}],
        "assumptions": ["Independent."],
        "reproducibility": {"discreet": "0.1.0", "packages": {"numpy": "2"}, "receipts": ["r"], "command": None},
        **changed,
    }


VOID = {"meta"}
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "article", "nav", "footer"),
    *("h1", "h2", "h3", "h4", "p", "a", "ol", "ul", "li", "dl", "dt", "dd", "div", "span", "strong", "small"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "details", "summary"),
    *("svg", "desc", "line", "rect", "circle", "text", "path"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "id", "class", "style", "title", "href", "scope", "role"),
    "rowspan",
    *("tabindex", "aria-label", "aria-labelledby", "aria-hidden", "height", "width", "x", "y", "x1", "x2", "y1", "y2"),
    *("cx", "cy", "r", "d", "text-anchor", "viewbox", "preserveaspectratio"),
}


class Read(HTMLParser):
    """A page as a browser takes it: every tag and attribute is one of ours, and each is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            assert name != "href" or (value or "").startswith("#")
            self.ids += [value or ""] if name == "id" else []
            self.links += [value or ""] if name == "href" else []
        if tag in {"h1", "h2", "h3", "h4"}:
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)
