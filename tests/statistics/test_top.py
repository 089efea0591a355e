"""The ladder for the most frequent categories."""

from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.guarantee import Neighbours

BOTH = list(Neighbours)
CROWD: list[Any] = ["a"] * 40 + ["b"] * 3
NAMES = [f"town {k}" for k in range(12)]
SIZES = np.array([400, 390, 300, 250, 200, 150, 120, 100, 80, 60, 50, 40])
TOWNS = np.repeat(NAMES, SIZES)
TRUE = dict(zip(NAMES, SIZES.tolist(), strict=True))


def made(name: str, relation: Neighbours, *, epsilon: float = 1.0, **options: Any) -> Any:
    """The mechanism of a question."""
    facts = Columns(("x",), ("category",))
    return declared(name).make(Public(relation, "row", None), facts, epsilon=epsilon, **options)


@pytest.mark.claim("top.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("name", ["top", "mode"])
@pytest.mark.parametrize("how", [{"delta": 1e-4}, {"categories": [0, 1, "a"]}], ids=str)
def test_one_person_moves_what_is_claimed(name: str, relation: Neighbours, how: Any) -> None:
    mechanism = made(name, relation, epsilon=4.0, **how)
    pairs = [audit.Pair(CROWD + pair.left, CROWD + pair.right) for pair in audit.labels(relation, 3)[::4]]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    rows = ["a"] * 60 + [0] * 20
    assert mechanism.release(rows, Seeded(0)).refusal is None
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("top.1")
def test_it_is_the_histogram_with_fewer_counts() -> None:
    whole = made("histogram", Neighbours.REPLACE, delta=1e-6).release(TOWNS, Seeded(3))
    part = made("top", Neighbours.REPLACE, delta=1e-6, k=4).release(TOWNS, Seeded(3))
    assert list(part.value.items()) == list(whole.value.items())[:4]
    assert part.guarantee == whole.guarantee


@pytest.mark.claim("top.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("how", [{"delta": 1e-6}, {"categories": NAMES}], ids=["found", "listed"])
def test_the_band_holds_for_all_that_are_shown(relation: Neighbours, how: Any) -> None:
    def run(seed: int) -> tuple[Any, Any]:
        release = made("top", relation, k=5, epsilon=0.4, **how).release(TOWNS, Seeded(seed))
        return release, np.array([TRUE[one] for one in release.value.bins])

    assert audit.coverage(run, runs=300).holds


@pytest.mark.claim("top.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("how", [{"delta": 1e-6}, {"categories": NAMES}], ids=["found", "listed"])
def test_the_mode_is_among_those_shown(relation: Neighbours, how: Any) -> None:
    """Two nearly equal categories: of 300 runs at 95% fewer than 261 by chance once in 10^6."""
    held = many = 0
    for seed in range(300):
        shown = made("mode", relation, epsilon=0.4, **how).release(TOWNS, Seeded(seed)).value
        held, many = held + ("town 0" in shown), many + len(shown)
    assert held >= 261
    assert many < 3 * 300


@pytest.mark.claim("top.3")
def test_no_mode_is_told_where_one_that_is_not_shown_may_be_it() -> None:
    few = made("mode", Neighbours.ADD_OR_REMOVE, delta=1e-6).release(np.repeat(NAMES, 20), Seeded(1))
    assert "cannot be told" in str(few.refusal)
    nobody = made("mode", Neighbours.ADD_OR_REMOVE, delta=1e-6).release([], Seeded(1))
    assert "no category is found" in str(nobody.refusal)


def test_what_is_asked_is_checked() -> None:
    for k in (0, 1.5, True, "3"):
        with pytest.raises(BadInput, match="k is"):
            discreet.top(TOWNS, k, epsilon=1.0, delta=1e-6)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="delta"):
        discreet.top(TOWNS, 3, epsilon=1.0)
    with pytest.raises(BadInput, match="confidence"):
        discreet.mode(TOWNS, epsilon=1.0, delta=1e-6, confidence=2)


def test_sessions_frames_and_words() -> None:
    with discreet.open({"town": TOWNS, "sex": ["F", "M"] * 1070}, budget=9.0, ledger=":memory:", rng=Seeded(1)) as it:
        release = it.top("town", 3, epsilon=2.0, delta=0.0, categories=NAMES)
        by_sex = it.mode("town", epsilon=2.0, categories=NAMES, groupby="sex", keys=["F", "M"])
    assert set(release.value.bins[:2]) == {"town 0", "town 1"}
    assert list(release.to_frame()["name"]) == list(release.value.bins)
    assert "the counts in this table of the categories shown, all at once" in str(release)
    assert all("may be the most frequent" in str(one) or one.refusal for one in by_sex.values())


@pytest.mark.claim("top.3")
def test_what_is_not_shown_may_have_the_threshold_and_noise() -> None:
    """Nobody shares a category: a count below the threshold may be one above it, and noise."""
    release = discreet.mode(list(range(3000)), epsilon=1.0, delta=1e-6, rng=Seeded(1))
    threshold = discreet.top(list(range(3000)), epsilon=1.0, delta=1e-6, rng=Seeded(1)).value.threshold
    assert threshold is not None
    unseen = int(str(release.refusal).split("may have ")[1].split(":")[0])
    assert unseen >= threshold + 2  # 1 / 40 one-sided, at scale 1: 3 or more


@pytest.mark.claim("top.3")
def test_the_band_of_modes_has_half_of_the_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.statistics.open_histogram import OpenBand

    asked: list[float] = []
    plain = OpenBand.interval

    def noted(band: OpenBand, level: float) -> Any:
        asked.append(level)
        return plain(band, level)

    monkeypatch.setattr(OpenBand, "interval", noted)
    made("mode", Neighbours.ADD_OR_REMOVE, delta=1e-6, confidence=0.9).release(TOWNS, Seeded(1))
    assert asked == [0.95]
