"""The bench of ordinary data asks every statistic that has an interval: `make bench-ordinary` runs it."""

import numpy as np
import pandas as pd
from benchmarks.ordinary import ask, kinds, questions
from benchmarks.verbs import CASES

from discreet.privacy.declaration import homes

DRAW = np.random.default_rng(0)
SIZE = 3000
FRAME = pd.DataFrame(
    {name: DRAW.normal(50, 10, SIZE) for name in ("height", "weight", "pressure", "pulse")}
    | {"visits": DRAW.poisson(2, SIZE), "ill": DRAW.integers(0, 2, SIZE), "town": DRAW.choice(["a", "b", "c"], SIZE)}
)
WITHOUT_INTERVAL = {"anova", "custom_test", "kmeans", "sgd"}


def test_columns_are_asked_by_their_kind() -> None:
    assert kinds(FRAME)["boolean"] == ["ill"]
    assert kinds(FRAME)["count"] == ["visits"]
    assert kinds(FRAME)["category"] == ["town"]


def test_every_statistic_with_an_interval_is_asked() -> None:
    asked = {question.statistic for question in questions("made up", FRAME)}
    assert {name for name in homes() if not name.endswith("_test")} - asked - set(CASES) <= WITHOUT_INTERVAL


def test_answers_are_held_against_the_table() -> None:
    seen = {}
    for question in questions("made up", FRAME):
        if question.statistic in ("count", "mean", "correlation", "linear_regression", "density", "histogram"):
            seen[question.statistic] = ask(question, FRAME, 8.0, 0)
    for statistic, found in seen.items():
        assert found["misses"], statistic
        assert np.median([one for one in found["misses"] if one is not None]) < 2, statistic
