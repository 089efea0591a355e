"""The ladder for synthetic tables."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.additive import Blur
from discreet.noise.choose import Choose
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice
from discreet.privacy.stored import recalled
from discreet.privacy.values import SyntheticTable
from discreet.statistics.histogram import Bins, Categories, Edges
from discreet.statistics.marginal_spread import MarginalSpread
from discreet.statistics.synthetic import Synthetic

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
SEX, ILL, AGE = Categories.of(["F", "M"]), Categories.of(["no", "yes"]), Edges.of([0, 40, 80])
LISTED: tuple[Bins, ...] = (SEX, ILL, AGE)
PART, OPEN = (SEX, None, AGE), (None, None, None)
NAMES = ("sex", "ill", "age")
ROWS: list[Any] = [("F", "no", 20)] * 40 + [("F", "yes", 60)] * 30 + [("M", "no", 20)] * 35 + [("M", "yes", 60)] * 25
ROWS += [("F", "no", 60)] * 5 + [("zebra", "no", 90)] * 5


def table(sides: Any = LISTED, relation: Neighbours = ADD, epsilon: float = 8.0, delta: float = 0.0) -> Synthetic:
    """Three columns."""
    return Synthetic(sides, epsilon, delta, names=NAMES, neighbours=relation)


def world(relation: Neighbours) -> list[audit.Pair]:
    """One odd row beside a crowd."""
    odd: list[Any] = [("F", "no", 20), ("M", "yes", 60), ("F", None, math.inf), ("zebra", "yes", math.nan)]
    odd += [(1, True, -0.0), None, "x", ("F",), ("M", "yes", 1e300), ("M", "no", "20"), ("F", "no", 80)]
    if relation is REPLACE:
        return [audit.Pair([*ROWS, one], [*ROWS, two]) for one, two in itertools.combinations(odd, 2)][::3]
    return [audit.Pair(ROWS, [*ROWS, one]) for one in odd]


WAYS = [(LISTED, 0.0), (LISTED, 1e-5), (PART, 1e-5), (OPEN, 1e-5)]


@pytest.mark.claim("synthetic.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("sides", "delta"), WAYS)
def test_one_person_moves_what_is_claimed(relation: Neighbours, sides: Any, delta: float) -> None:
    mechanism = table(sides, relation, 12.0, delta)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, ROWS), mechanism.loss) is None
    answer = mechanism.release(ROWS, Seeded(0))
    assert answer.refusal is None
    assert ("ill", "age") in answer.value.measured or ("age", "ill") in answer.value.measured
    assert (mechanism.guarantee.epsilon, mechanism.guarantee.delta) == (12.0, delta)


@pytest.mark.claim("synthetic.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    """All tables of few rows of two columns, and their neighbours."""
    sides = (Categories.of([0, 1]), Edges.of([0.0, 1.0, 2.0]))
    mechanism = Synthetic(sides, 4.0, names=("x", "y"), neighbours=relation)
    odd: list[Any] = list(itertools.product((0, 1, math.nan), (0.0, 2.0, math.inf)))
    pairs = []
    for rows in itertools.combinations_with_replacement(odd, 2):
        pairs += [audit.Pair(list(rows), [*rows, one] if relation is ADD else [rows[0], one]) for one in odd[::2]]
    audit.check(mechanism, pairs[::2], hostile_values=False).require()


@pytest.mark.claim("synthetic.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_draws_have_the_sensitivity_that_is_proved(relation: Neighbours, delta: float) -> None:
    """One draw for all columns, two choices, one draw for all pairs; none is missed, none is cheaper."""
    mechanism, recorder = table(LISTED, relation, 6.0, delta), Recorder(Seeded(1))
    mechanism.release(ROWS, recorder)
    moved = 2 if relation is REPLACE else 1
    blurs = [one for one in (request for request, _ in recorder.log) if isinstance(one, Blur)]
    choices = [one for one in (request for request, _ in recorder.log) if isinstance(one, Choose)]
    assert [one.sensitivity for one in choices] == [moved] * len(choices)
    assert 1 <= len(choices) <= 2
    assert len(mechanism.stages.all("choices", Choice)) == 2
    many = [3, len(mechanism.release(ROWS, Seeded(1)).value.measured)]
    for blur, tables in zip(blurs, many, strict=True):
        if not delta:
            assert blur.sensitivity == moved * tables
        else:
            steps = Fraction(blur.sensitivity) ** 2 / (moved * tables)
            assert 0 <= float(steps) ** 0.5 / round(float(steps) ** 0.5) - 1 < 1e-9
    if not delta:
        assert pure(mechanism.stages.loss) == (Fraction(6), Fraction(0))


@pytest.mark.claim("synthetic.1")
def test_finding_has_a_quarter_of_epsilon_and_half_of_delta() -> None:
    mechanism = table(PART, epsilon=4.0, delta=1e-6)
    finder = mechanism.finder()
    assert finder is not None
    assert (finder.epsilon, finder.delta) == (1, Fraction(1, 2_000_000))
    both = table(OPEN, epsilon=4.0, delta=1e-6).finder()
    assert both is not None
    assert (both.epsilon, both.delta) == (Fraction(1, 3), Fraction(1, 6_000_000))
    rest = discreet.Guarantee(3.0, 5e-7)
    assert implies(mechanism.stages.loss, rest)
    assert not implies(mechanism.stages.loss, discreet.Guarantee(2.9, 5e-7))


@pytest.mark.claim("synthetic.2")
def test_refusals_read_public_numbers_and_found_categories() -> None:
    few = table(OPEN, REPLACE, 1.0, 1e-6).release(ROWS[:3], Seeded(0))
    assert "fewer than the threshold" in str(few.refusal)
    alone = [(f"person {k}", f"id {k}", k) for k in range(400)]
    assert "no category of sex or ill or age" in str(table(OPEN, ADD, 1.0, 1e-6).release(alone, Seeded(0)).refusal)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs delta above 0"),
        ({"levels": {"a": [1], "c": [2]}}, "'c', which is none of the columns"),
        ({"levels": [[1], [2]]}, "a list for each column by its name"),
        ({"levels": {"a": [1], "b": [1]}, "edges": {"a": [0, 1]}}, "'a' has levels and edges"),
        ({"levels": {"a": range(60_000), "b": range(60_000)}}, "more than 100000 categories"),
        ({"levels": {"a": [], "b": [1]}}, "categories is empty"),
        ({"edges": {"a": [1, 0], "b": [0, 1]}}, "not increasing"),
    ],
)
def test_arguments_are_checked_before_rows(options: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        discreet.synthetic({"a": [1], "b": [2]}, epsilon=1.0, **options)
    with pytest.raises(BadInput, match="2 to 50"):
        discreet.synthetic({"a": [1]}, epsilon=1.0, levels={"a": [1]})


@pytest.mark.claim("synthetic.2")
def test_a_pair_with_too_many_cells_is_no_candidate() -> None:
    wide = Categories.of(range(300))
    mechanism = Synthetic((wide, wide, SEX), 50.0, names=("a", "b", "sex"))
    rows = [(k % 300, k % 300, "FM"[k % 2]) for k in range(2000)]
    recorder = Recorder(Seeded(0))
    value = mechanism.release(rows, recorder).value
    assert ("a", "b") not in value.measured
    first = next(request for request, _ in recorder.log if isinstance(request, Choose))
    assert len(first.scores) == 3  # two pairs and none


def true_counts(value: Any, rows: list[Any]) -> np.ndarray:
    """What the model's numbers are without noise."""
    codes = [side.indices([row[at] for row in rows]) for at, side in enumerate(LISTED)]
    shapes = [len(side) + 1 for side in LISTED]
    parts: list[Any] = [[len(rows)]]
    parts += [np.bincount(code, minlength=many) for code, many in zip(codes, shapes, strict=True)]
    for a, b in value.pairs:
        parts.append(np.histogram2d(codes[a], codes[b], bins=[np.arange(shapes[a] + 1), np.arange(shapes[b] + 1)])[0])
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.claim("synthetic.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_interval_holds_all_counts(relation: Neighbours, delta: float) -> None:
    """60 runs at 0.8: of 48 expected, 32 or fewer have a chance below 10^-6."""
    held, rows = 0, ROWS * 4
    for seed in range(60):
        release = table(LISTED, relation, 1.0, delta).release(rows, Seeded(seed))
        low, high = release.interval(0.8)
        true = true_counts(release.value, rows)
        held += bool(np.all((low.cells <= true) & (true <= high.cells)))
        assert np.all((low.cells <= release.value.cells) & (release.value.cells <= high.cells))
    assert held >= 33


@pytest.mark.claim("synthetic.3")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_chances_to_be_outside_add_up_to_what_is_allowed(delta: float) -> None:
    """Of all sorts of counts together, by a simulation of the noise: within 5 standard deviations of 0.2 or less."""
    spread: Any = table(LISTED, ADD, 1.0, delta).release(ROWS, Seeded(0)).spread
    rows, ones, pairs = spread._parts()
    reach, generator, missed = spread.radii(0.8), np.random.default_rng(0), 0.0
    for noise, start, many in ((spread.alone, 1, ones), (spread.paired, 1 + ones, pairs)):
        draws = _noise(noise, generator, (20_000, many))
        missed += float(np.mean((np.abs(draws) > reach[start : start + many]).any(axis=1)))
    sums = _noise(spread.alone, generator, (20_000, spread.fewest)).sum(axis=1)
    of_rows = float(np.mean(np.abs(sums) > reach[0]))
    assert of_rows < 1.6 * 0.2 / (rows + ones + pairs)
    missed += of_rows
    assert (rows, spread.fewest) == (1, 3)
    assert 0.1 < missed < 0.2 + 5 * math.sqrt(0.2 / 20_000)


def _noise(of: Any, generator: Any, shape: tuple[int, int]) -> Any:
    if isinstance(of, LaplaceDistribution):
        return laplace(generator, shape, of.scale)
    return np.rint(generator.normal(0, of.sigma, shape))


@pytest.mark.claim("synthetic.3")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_is_as_stated(delta: float) -> None:
    """Of 40 releases, counts of columns, of pairs and of rows: within a factor of 1.5 of the stated deviation."""
    rows, gaps = ROWS * 4, []
    for seed in range(40):
        release = table(LISTED, ADD, 1.0, delta).release(rows, Seeded(seed))
        spread: Any = release.spread
        gap = (spread.noisy - true_counts(release.value, rows)) / spread.privacy.cells
        _, ones, _ = spread._parts()
        gaps.append([gap[0] ** 2, np.mean(gap[1 : 1 + ones] ** 2), np.mean(gap[1 + ones :] ** 2)])
    assert np.all(np.abs(np.log(np.sqrt(np.mean(gaps, axis=0)))) < math.log(1.6))
    public = table(LISTED, REPLACE, 1.0, delta).release(rows, Seeded(0))
    assert public.interval().low.cells[0] == public.interval().high.cells[0] == len(rows)


@pytest.mark.claim("synthetic.4")
def test_rows_are_drawn_from_the_model_by_a_public_seed() -> None:
    pytest.importorskip("pandas")
    value = table(epsilon=20.0).release(ROWS * 20, Seeded(2)).value
    one, again, other = value.to_frame(), value.to_frame(), value.to_frame(seed=1)
    assert one.equals(again)
    assert not one.equals(other)
    assert len(one) == len(value)
    assert "no error bar" in one.attrs["warning"]
    assert one["age"].nunique() > 1000  # anywhere in a bin
    codes = [side.indices(one[name].to_numpy()) for side, name in zip(LISTED, NAMES, strict=True)]
    for a, b in value.measured:
        first, second = codes[NAMES.index(a)], codes[NAMES.index(b)]
        for place, wanted in np.ndenumerate(value.marginal(a, b).counts):
            assert abs(np.sum((first == place[0]) & (second == place[1])) - wanted) < 6
    assert len(value.to_frame(rows=7)) == 7
    assert len(value.to_frame(rows=0)) == 0
    for given in ({"rows": -1}, {"rows": True}, {"seed": 1.5}, {"rows": 10**9}):
        with pytest.raises(BadInput, match="whole number"):
            value.to_frame(**given)


def test_pairs_are_those_that_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 4000)
    flipped = np.where(rng.random(4000) < 0.1, 1 - a, a)
    columns = {"a": a, "alone": rng.integers(0, 2, 4000), "b": flipped}
    levels = {name: [0, 1] for name in columns}
    release = discreet.synthetic(columns, epsilon=2.0, levels=levels, rng=Seeded(1))
    assert release.value.measured == [("a", "b")]
    assert abs(release.value.marginal("b", "a")[0, 0] - np.sum((a == 0) & (flipped == 0))) < 30
    with pytest.raises(BadInput, match="was not measured"):
        release.value.marginal("a", "alone")
    drawn_rows = release.value.to_frame()
    kept = drawn_rows.dropna().astype(float)
    assert abs(np.corrcoef(kept["a"], kept["alone"])[0, 1]) < 0.1


def test_of_wide_independent_columns_no_pair_is_measured() -> None:
    """Once none is chosen nothing more is drawn."""
    recorder, wide = Recorder(Seeded(0)), Categories.of(range(30))
    rows = [(*pair, sum(pair) % 30) for pair in itertools.product(range(30), range(30))] * 2
    value = Synthetic((wide, wide, wide), 2.0, names=NAMES).release(rows[::-1], recorder).value
    assert value.measured == []
    assert [type(request) for request, _ in recorder.log] == [Blur, Choose]
    assert len(value.to_frame(rows=100)) == 100
    assert "none" in value.describe()
    with pytest.raises(BadInput, match="measured were none"):
        value.marginal("sex", "ill")


def test_pairs_make_a_tree() -> None:
    """Three columns that are alike could make a circle; the fourth, which hardly depends on them, is reached."""
    a = np.arange(4000) % 2
    fourth = np.where(np.arange(4000) % 10 < 6, a, 1 - a)
    columns = {"a": a, "b": a, "c": a, "fourth": fourth}
    for seed in range(5):
        release = discreet.synthetic(columns, epsilon=8.0, levels={name: [0, 1] for name in columns}, rng=Seeded(seed))
        pairs = release.value.measured
        assert len(pairs) == 3
        assert {name for pair in pairs for name in pair} == set(columns)
        assert len(release.value.pairs) == len({child for _, child in release.value.pairs})


def test_counts_agree_with_each_other_and_none_is_negative() -> None:
    for seed in range(10):
        value = table(epsilon=0.4).release(ROWS, Seeded(seed)).value
        assert value.cells.min() >= 0
        for a, b in value.measured:
            cells = value.marginal(a, b)
            assert np.array_equal(value.marginal(b, a).whole, cells.whole.T)
            assert np.abs(cells.counts.sum(axis=1) - cells.whole[:-1, -1]).max() < 1
            assert np.abs(cells.counts.sum(axis=0) - cells.whole[-1, :-1]).max() < 1
            assert abs(cells[..., ...] - cells.counts.sum()) < 1
    assert len(table(relation=REPLACE).release(ROWS, Seeded(1)).value) == len(ROWS)


@pytest.mark.parametrize("rows", [[], [("F", "no", 3)], [(None, None, None)] * 50])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_few_and_missing_rows_have_an_answer(rows: Any, delta: float) -> None:
    release = table(delta=delta, epsilon=1.0).release(rows, Seeded(3))
    assert release.refusal is None
    assert np.all(release.interval().high.cells >= release.value.cells)
    release.value.to_frame()


def test_words_a_picture_the_record_and_ends() -> None:
    pytest.importorskip("pandas")
    release = table(epsilon=3.0).release(ROWS * 3, Seeded(1))
    text = str(release)
    assert "counts of columns and of the pairs that were measured, in this table, all at once" in text
    assert "has no error bar" in text
    again = recalled(release.to_dict())
    assert again.value.measured == release.value.measured
    assert again.value.to_frame().equals(release.value.to_frame())
    low, high = release.interval()
    assert low.marginal("sex")["F"] <= 225 <= high.marginal("sex")["F"]
    assert list(low.to_frame()) == ["name", "value"]
    assert len(release.to_frame()) == len(release.value.numbers)
    assert "measured together" in release.value.describe()
    release.plot()
    with pytest.raises(BadInput, match="name one or two of"):
        release.value.marginal("sex", "height")
    with pytest.raises(BadInput, match="was not measured"):
        release.value.marginal("sex", "sex")


def test_sessions_and_odd_columns() -> None:
    ages = [row[2] for row in ROWS]
    people = {"sex": [row[0] for row in ROWS], "ill": [row[1] == "yes" for row in ROWS], "age": ages}
    session = discreet.open(people, budget=discreet.Budget(200, 1e-5), ledger=":memory:", rng=Seeded(1))
    known: Any = {"levels": {"sex": ["F", "M"], "ill": [True, False]}, "edges": {"age": [0, 40, 80]}}
    answer = session.synthetic(["sex", "ill", "age"], epsilon=50.0, **known)
    assert abs(answer.value.marginal("ill")[True] - 55) <= 2
    assert abs(answer.value.marginal("age")[0.0, 40.0] - 75) <= 2
    numbers = {"ill": np.array(people["ill"]), "age": np.array(ages, dtype=float)}
    plain = discreet.synthetic(
        numbers, epsilon=50.0, levels={"ill": [True, False]}, edges={"age": [0, 40, 80]}, rng=Seeded(1)
    )
    assert abs(plain.value.marginal("ill")[True] - 55) <= 2
    named: Any = {"epsilon": 20.0, "delta": 1e-6, "request": "young"}
    found = session.synthetic(["sex", "ill"], where="age < 70", **named)
    assert session.synthetic(["sex", "ill"], where="age < 70", **named).value.numbers == found.value.numbers
    assert set(found.value.levels[0]) == {"F", "M"}
    array = np.column_stack([np.array(ages) > 40, ages])
    unnamed = discreet.synthetic(
        array, epsilon=50.0, levels={"x0": [0, 1]}, edges={"x1": [0, 40, 80]}, neighbours="replace", rng=Seeded(1)
    )
    assert unnamed.value.columns == ["x0", "x1"]


@pytest.mark.claim("synthetic.3")
def test_the_number_of_rows_allows_for_each_count_that_is_rounded() -> None:
    """Noise of less than a unit: the roundings of sixty counts add more to their sum than the noise does."""
    many, noise = 60, GaussianDistribution(0.4)
    shown = SyntheticTable(("a", "b"), (tuple(range(many - 1)),) * 2, (), np.full(1 + 2 * many, 1000.0))
    spread = MarginalSpread(shown, np.full(1 + 2 * many, 1000), noise, noise, many, None)
    draws = np.rint(np.random.default_rng(0).normal(0.0, noise.sigma, (20_000, many))).sum(axis=1)
    missed = float(np.mean(np.abs(draws) > spread.radii(0.95)[0]))
    assert missed <= 0.05 / (1 + 2 * many) * 2  # without the roundings it would be ten times as many


@pytest.mark.parametrize("known", [True, False])
def test_a_delta_that_the_noise_takes_is_refused_with_one_that_works(known: bool) -> None:
    table = {"a": [0, 1] * 400, "b": [0, 1] * 400}
    asked: dict[str, Any] = {"epsilon": 2.0, "levels": {"a": [0, 1], "b": [0, 1]} if known else None}
    with pytest.raises(BadInput, match=r"delta is 1e-12, .* give delta=1e-09 or more") as error:
        discreet.synthetic(table, delta=1e-12, **asked)
    assert ("or delta=0" in str(error.value)) is known  # categories that are to be found need one
    assert discreet.synthetic(table, delta=1e-9, **asked, rng=discreet.Seeded(1)).refusal is None
