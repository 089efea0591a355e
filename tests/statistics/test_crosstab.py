"""The ladder for tables of counts by several columns."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.stored import recalled
from discreet.statistics.crosstab import Crosstab, sum_radius
from discreet.statistics.histogram import Categories

BOTH = list(Neighbours)
AB, YES = Categories.of(["a", "b"]), Categories.of(["no", "yes"])
LISTED: Any = [["a", "b"], ["no", "yes"]]
ROWS = [("a", "no")] * 60 + [("a", "yes")] * 20 + [("b", "no")] * 45 + [("zebra", "no")] * 5


def table(*sides: Any, relation: Neighbours = Neighbours.ADD_OR_REMOVE, epsilon: float = 1.0) -> Crosstab:
    """A table of two columns."""
    delta = 1e-5 if None in sides else 0.0
    return Crosstab(sides, epsilon, delta, names=("x", "y"), neighbours=relation)


def world(relation: Neighbours) -> list[audit.Pair]:
    """One odd row beside a crowd."""
    odd: list[Any] = [("a", "no"), ("b", "yes"), ("a", None), ("zebra", "yes"), (1, True), None, "x", ("a",), math.nan]
    if relation is Neighbours.REPLACE:
        return [audit.Pair([*ROWS, one], [*ROWS, two]) for one, two in itertools.combinations(odd, 2)][::2]
    return [audit.Pair(ROWS, [*ROWS, one]) for one in odd]


@pytest.mark.claim("crosstab.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("sides", [(AB, YES), (AB, None), (None, None)])
def test_one_person_moves_what_is_claimed(relation: Neighbours, sides: Any) -> None:
    mechanism = table(*sides, relation=relation, epsilon=8.0)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, ROWS), mechanism.loss) is None
    assert mechanism.guarantee.delta == (1e-5 if None in sides else 0)


@pytest.mark.claim("crosstab.1")
def test_finding_categories_for_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Crosstab, "stages", property(_twice))
    assert exceeds(drawn(table(None, None, epsilon=8.0), ROWS), table(None, None, epsilon=8.0).loss) is not None


def _twice(mechanism: Crosstab) -> Any:
    from discreet.accounting.allocation import Allocation, Share

    whole = Allocation.of(Fraction(mechanism.epsilon) * 2)
    return whole.split(categories=Share(Fraction(1, 4), times=2), cells=Share())


@pytest.mark.claim("crosstab.2")
def test_refusals_read_public_numbers_and_found_categories() -> None:
    few = table(None, None, relation=Neighbours.REPLACE).release(ROWS[:3], Seeded(0))
    assert "fewer than the threshold" in str(few.refusal)
    each_alone = [(f"person {k}", f"id {k}") for k in range(400)]
    assert "no category of x or y" in str(table(None, None).release(each_alone, Seeded(0)).refusal)
    with pytest.raises(BadInput, match="needs delta above 0"):
        discreet.crosstab(["a"], ["no"], epsilon=1.0)
    with pytest.raises(BadInput, match="a list for each of the 2 columns"):
        discreet.crosstab(["a"], ["no"], epsilon=1.0, categories=["a", "b", "no"])
    with pytest.raises(BadInput, match="more than 100000 cells"):
        discreet.crosstab([1], [2], epsilon=1.0, categories=[range(1000), range(1000)])


def truth() -> np.ndarray:
    """The counts of ROWS with their sums."""
    return np.array([60, 20, 80, 45, 0, 45, 105, 20, 125])


@pytest.mark.claim("crosstab.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("sides", [(AB, YES), (AB, None)])
def test_the_interval_holds_all_cells_and_sums(relation: Neighbours, sides: Any) -> None:
    """Fails by chance less than once in 10^6 runs."""

    def run(seed: int) -> tuple[Any, Any]:
        release = table(*sides, relation=relation, epsilon=2.0).release(ROWS * 8, Seeded(seed))
        wanted = [truth() * 8, truth()[[1, 0, 2, 4, 3, 5, 7, 6, 8]] * 8]
        return release, wanted[0 if release.value.levels[1][0] == "no" else 1]

    held = sum(
        bool(np.all((r.interval().low.cells <= t) & (t <= r.interval().high.cells))) for r, t in map(run, range(200))
    )
    assert held >= 171  # of 190 expected: 170 or fewer have a chance below 10^-6


@pytest.mark.claim("crosstab.3")
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1000)])
def test_sums_of_noises_have_their_exact_radius(scale: Fraction) -> None:
    for allowed in (0.3, 0.05, 1e-4):
        alone = LaplaceDistribution(scale).radius(1 - allowed)
        assert alone <= sum_radius(scale, 1, allowed) <= 1.01 * alone + 1
    a = math.exp(-float(1 / scale))
    reach = min(4000, round(60 * float(scale)) + 60)
    single = (1 - a) / (1 + a) * a ** np.abs(np.arange(-reach, reach + 1))
    three = np.convolve(np.convolve(single, single), single)
    places = np.abs(np.arange(-3 * reach, 3 * reach + 1))
    if scale < 100:
        t = sum_radius(scale, 3, 0.01)
        assert three[places > t].sum() <= 0.01 < three[places > t - 1].sum()
    assert sum_radius(scale, 3, 1e-11) > sum_radius(scale, 3, 1e-9) > sum_radius(scale, 3, 1e-8)


def test_sums_agree_with_cells_and_nothing_is_negative() -> None:
    for seed in range(20):
        value = table(AB, YES, epsilon=0.2).release(ROWS, Seeded(seed)).value
        assert value.counts.min() >= 0
        assert value["a", ...] == value["a", "no"] + value["a", "yes"]
        assert value[..., ...] == value.counts.sum()
        assert value.margin("y")["no"] == value[..., "no"]


def test_the_public_number_of_people_is_kept() -> None:
    value = table(AB, YES, relation=Neighbours.REPLACE).release(ROWS, Seeded(1)).value
    assert value[..., ...] + value.other == len(ROWS)


@pytest.mark.parametrize("rows", [[], [("a", "no")], [(None, None)] * 50])
def test_few_and_missing_rows_have_an_answer(rows: Any) -> None:
    release = table(AB, YES).release(rows, Seeded(3))
    assert release.refusal is None
    assert np.all(release.interval().high.cells >= release.value.cells)


def test_three_columns_a_frame_a_picture_and_the_record() -> None:
    x, y = zip(*ROWS, strict=True)
    z = [k % 3 for k in range(len(ROWS))]
    release = discreet.crosstab(x, y, z=z, epsilon=50.0, categories=[*LISTED, [0, 1, 2]], rng=Seeded(1))
    assert release.value["a", "no", ...] == 60
    assert release.value.to_frame().loc[("a", "all"), "all"] == 80
    assert release.interval().low["a", "no", ...] <= 60 <= release.interval().high["a", "no", ...]
    again = recalled(release.to_dict())
    assert again.value["b", "no", 1] == release.value["b", "no", 1]
    assert len(release.to_frame()) == 3 * 3 * 4 + 1
    assert "the largest is" in release.value.describe()
    release.plot()


def test_sessions_and_groups() -> None:
    x, y = zip(*ROWS, strict=True)
    session = discreet.open({"x": x, "y": y, "z": ["u", "v"] * 65}, budget=200, ledger=":memory:", rng=Seeded(1))
    answer = session.crosstab("x", "y", epsilon=50.0, categories=LISTED)
    assert answer.value["a", "yes"] == 20
    assert answer.name == "crosstab of x, y"
    groups = session.crosstab("x", "y", epsilon=50.0, categories=LISTED, groupby="z", keys=["u", "v"])
    assert groups["u"].value[..., ...] + groups["v"].value[..., ...] == 125
