"""What a refusal advises works: the advice of every statistic is parsed and followed."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import discreet
from discreet.api import posed
from discreet.errors import BadInput, Refused
from discreet.noise.distributions import stream
from discreet.privacy.declaration import Statistic, declared, homes
from discreet.privacy.mechanism import what_to_do
from discreet.worlds.assumptions import About

OURS = ("epsilon", "delta", "neighbours", "missing", "unit")
NEEDED: dict[str, dict[str, Any]] = {  # what a made-up world cannot assume
    "fit": {"estimator": lambda x: float(x.mean())},
    "fit_distribution": {"family": "poisson"},
    "maximum_likelihood": {"model": "expon"},
    "kmeans": {"k": 2},
    "custom_test": {"test": lambda x: float(x.mean() < 0)},
}
FOLLOWED: Mapping[str, Any] = {
    "bounds": (-8.0, 8.0),
    "support": (-8.0, 8.0),
    "confidence": None,
    "model": None,
    "near_zero": True,
}
TIMES = 6  # releases for each piece of advice, of which one may be refused: counts are noisy


def asked(statistic: Statistic, rows: int, epsilon: float, seed: int, **more: Any) -> str | None:
    """What is refused of made-up rows; None if there is an answer."""
    about = About(statistic, rows, dict(NEEDED.get(statistic.name, {})))
    world = statistic.world(about)
    made = dict(world.make(stream(5), rows))
    given = made.pop(statistic.loose) if statistic.loose is not None else ()
    options = about.options() | made | ({"delta": 1e-7} if "delta" in statistic.options else {}) | more
    try:
        return posed(statistic, tuple(given), options | {"epsilon": epsilon}).answer(discreet.Seeded(seed)).refusal
    except Refused as reason:
        return str(reason)


def advised(statistic: Statistic, words: str, rows: int, epsilon: float) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Each piece of advice, and the same question when it is followed."""
    words = words.partition(". Fewer")[0]  # that says what would need less, not how much
    groups = 3 if statistic.loose is not None else 2
    for number, each in re.findall(r"bring (\d+) (?:rows|people)( in each group)?", words):
        more = int(number) * (groups if each else 1)
        yield f"bring {number}", lambda seed, more=more: asked(statistic, more, epsilon, seed)  # type: ignore[misc]
    for number in re.findall(r"ask for epsilon=([\d.]+\d)", words):
        yield f"epsilon={number}", lambda seed, cost=float(number): asked(statistic, rows, cost, seed)  # type: ignore[misc]
    for name in re.findall(r"(\w+)=", words):
        if name in FOLLOWED:
            option = {name: FOLLOWED[name]} | ({"model": None} if "model=None" in words else {})
            yield name, lambda seed, option=option: asked(statistic, rows, epsilon, seed, **option)  # type: ignore[misc]


@pytest.mark.parametrize("name", homes())
def test_advice_to_those_with_too_few_rows_works(name: str) -> None:
    statistic = declared(name)
    for rows, epsilon in ((4, 1.0), (200, 1.0), (60, 0.4)):
        words = asked(statistic, rows, epsilon, 3)
        if words is None:
            continue
        unknown = set(re.findall(r"(\w+)=", words)) - {*statistic.options, *OURS}
        assert not unknown, words
        ways = list(advised(statistic, words, rows, epsilon))
        assert ways or "larger epsilon" in words, words
        for advice, again in ways:
            refused = [again(seed) for seed in range(TIMES)]
            assert refused.count(None) >= TIMES - 1, (advice, words, refused)


def test_no_absurd_epsilon_is_advised() -> None:
    assert "epsilon" not in what_to_do(3, 1.0, 400, noisy=False)
    assert what_to_do(300, 1.0, 400, noisy=False) == "bring 420 rows, or ask for epsilon=1.4"
    assert what_to_do(300, 1.0, 400, noisy=True, rows="people") == "bring 480 people, or ask for epsilon=2"


COLUMN = [float(k % 50) for k in range(500)]
TABLE = {"x": COLUMN, "y": [k % 7 for k in range(500)], "sex": ["F", "M"] * 250, "town": list("abcde") * 100}
MISTAKES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {  # a question, and what its error advises
    "several columns": (
        lambda _: discreet.median(TABLE, epsilon=1.0),
        lambda _: discreet.median(TABLE["x"], epsilon=1.0),
    ),
    "a list for each": (
        lambda session: session.count(groupby=["sex", "town"], keys=[["F", "M"]], epsilon=1.0),
        lambda session: session.count(groupby=["sex", "town"], keys=[["F", "M"], ["a", "b"]], epsilon=1.0),
    ),
    "or the groups as tuples": (
        lambda session: session.count(groupby=["sex", "town"], keys=["F", "M"], epsilon=1.0),
        lambda session: session.count(groupby=["sex", "town"], keys=[("F", "a"), ("M", "b")], epsilon=1.0),
    ),
    "which needs delta above 0": (
        lambda session: session.mean("x", groupby="sex", epsilon=1.0),
        lambda session: session.mean("x", groupby="sex", keys=["F", "M"], epsilon=1.0),
    ),
    "between: The two public groups": (
        lambda session: session.difference("x", "sex", epsilon=1.0),
        lambda session: session.difference("x", "sex", between=("F", "M"), epsilon=1.0),
    ),
    "needs delta": (
        lambda session: session.covariance(["x", "y"], epsilon=1.0),
        lambda session: session.covariance(["x", "y"], epsilon=1.0, delta=1e-6),
    ),
    "neighbours is the session's": (
        lambda session: session.mean("x", epsilon=1.0, neighbours="replace"),
        lambda session: session.mean("x", epsilon=1.0),
    ),
    "did you mean 'town'?": (
        lambda session: session.histogram("twon", categories=list("abcde"), epsilon=1.0),
        lambda session: session.histogram("town", categories=list("abcde"), epsilon=1.0),
    ),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_advice_of_an_error_works(words: str) -> None:
    wrong, right = MISTAKES[words]
    with discreet.open(TABLE, budget=discreet.Budget(50, 1e-3), ledger=":memory:", rng=discreet.Seeded(1)) as session:
        with pytest.raises(BadInput, match=re.escape(words)):
            wrong(session)
        right(session)


def test_a_table_of_one_column_is_that_column() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"price": COLUMN})
    noise = discreet.Seeded
    expected = discreet.median(frame["price"], epsilon=1.0, rng=noise(1)).value
    for one in (frame[["price"]], frame["price"].to_frame(), frame[["price"]].to_numpy(), {"price": COLUMN}):
        assert discreet.median(one, epsilon=1.0, rng=noise(1)).value == expected
    with discreet.open(frame, budget=9.0, ledger=":memory:", rng=noise(1)) as session:
        assert isinstance(session.median(["price"], epsilon=1.0).value, float)
        assert isinstance(session.mean(["price"], epsilon=1.0).value, float)


def test_advice_is_in_the_epsilon_that_was_asked_for() -> None:
    """Under "replace" a question that leaves out missing entries runs at half of epsilon."""
    values = [float(k % 70) for k in range(300)]
    table = {"x": [*values, None]}
    with discreet.open(table, budget=50.0, ledger=":memory:", neighbours="replace", rng=discreet.Seeded(1)) as session:
        refusal = session.mean("x", epsilon=0.5).refusal
        assert refusal is not None
        asked = float(re.search(r"epsilon=([\d.]+)", refusal)[1])  # type: ignore[index]
        again = [session.mean("x", epsilon=asked).refusal for _ in range(6)]
    assert asked > 0.5
    assert again.count(None) >= 5
