"""Logistic and Poisson regression on clipped scores, and by a tilted minimum."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from benchmarks.ordinary import limited
from tests.models.test_objective import people
from tests.models.worlds import COMMON, pairs

from discreet import audit
from discreet.accounting import calibrate, compose
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds, itemised
from discreet.audit.worlds import Pair
from discreet.errors import BadInput
from discreet.models import glm_stages, logistic_loss
from discreet.models.coefficients import NewtonStep, Scored, safe_part
from discreet.models.descent import Descent
from discreet.models.features import Features, framed
from discreet.models.score import AtFit
from discreet.noise.randomness import Door, Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Gaussian, atoms
from discreet.privacy.loss import compose as compose_losses

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


def counts(size: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, 2)) * [1, 20] + [0, 300]
    return np.column_stack([x, rng.poisson(np.exp(0.4 * x[:, 0] - 0.01 * (x[:, 1] - 300) + 0.7))])


@pytest.mark.claim("descent.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.claim("glm_stages.1")
@pytest.mark.claim("glm_stages.3")
@pytest.mark.claim("glm_stages.4")
@pytest.mark.parametrize("family", ["logistic", "tilted", "poisson"])
def test_audited_on_small_tables(relation: Neighbours, family: str) -> None:
    options: Any = {"family": "poisson"} if family == "poisson" else {"tilted": family == "tilted"}
    mechanism = Descent(Features(("x",)), 60.0, 1e-4, neighbours=relation, **options)
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, pairs(relation, COMMON * 8)[::2], hostile_values=False).require()
    assert mechanism.release(np.array(COMMON * 8), Seeded(1)).refusal is None  # all stages were seen


@pytest.mark.claim("descent.1")
@pytest.mark.claim("glm_stages.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("family", ["logistic", "tilted", "poisson"])
def test_every_draw_is_in_the_loss(family: str, relation: Neighbours) -> None:
    options: Any = {"family": "poisson"} if family == "poisson" else {"tilted": family == "tilted"}
    size = 6000 if relation is REPLACE else None
    mechanism = Descent(Features(("a", "b")), 2.0, 1e-6, size=size, neighbours=relation, **options)
    assert implies(mechanism.loss, mechanism.guarantee)
    spent = drawn(mechanism, counts(6000) if family == "poisson" else people(6000))
    if family == "tilted" and size is None:  # declared for few people too, who have other draws
        assert exceeds(spent, mechanism.loss) is None
        assert itemised(spent) == itemised(mechanism.stages(None).loss)
    else:
        assert itemised(spent) == itemised(mechanism.loss)


@pytest.mark.claim("glm_stages.4")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize(("features", "share"), [(2, Fraction(3, 5)), (9, Fraction(1, 2))])
def test_a_tilted_minimum_has_its_part_of_epsilon(epsilon: float, features: int, share: Fraction) -> None:
    loss = Descent(Features(tuple("abcdefghi"[:features])), epsilon, 1e-6, tilted=True, neighbours=ADD).loss
    pure = [part for part in atoms(loss) if isinstance(part, Approximate)]
    assert [part.epsilon for part in pure] == [exact(epsilon) * share]
    rest = compose_losses(*(part for part in atoms(loss) if not isinstance(part, Approximate)))
    assert compose.epsilon(rest, 1e-6) <= epsilon * float(1 - share) * (1 + 1e-12)


@pytest.mark.claim("descent.2")
@pytest.mark.claim("glm_stages.2")
def test_too_few_rows_are_told_by_noise_and_bad_values_never_raise() -> None:
    release = Descent(Features(("a", "b")), 0.5, 1e-6, neighbours=ADD).release(people(60), Seeded(0))
    assert "rows, by a noisy count" in str(release.refusal)
    few = Descent(Features(("a", "b")), 0.5, 1e-6)
    assert "there are 60 rows" in str(few.release(people(60), Seeded(0)).refusal)
    few.check(few.needed())
    alike = np.column_stack([people(6000)[:, :2], np.zeros(6000)])
    assert "the same outcome" in str(Descent(Features(("a", "b")), 2.0, 1e-6).release(alike, Seeded(0)).refusal)
    rare = Descent(Features(("a", "b")), 2.0, 1e-6, tilted=True).release(alike, Seeded(0))
    assert rare.refusal is not None
    odd = people(3000)
    odd[:300, 0], odd[300:600, 1], odd[600:700, 2] = np.nan, -np.inf, np.nan
    assert Descent(Features(("a", "b")), 2.0, 1e-6).release(odd, Seeded(0)).refusal is None
    assert Descent(Features(("a", "b")), 2.0, 1e-6, family="poisson").release(odd, Seeded(0)).refusal is None


def markers(size: int, rng: np.random.Generator) -> np.ndarray:
    """A marker that is far out for 4 in 1,000 people, and its decile: no counts."""
    marker = np.exp(0.5 * rng.normal(size=size)) * np.where(rng.random(size) < 0.004, rng.uniform(3, 8, size), 1.0)
    decile = np.floor(10 * np.clip(np.log(marker) / 2 + 0.5 + 0.1 * rng.normal(size=size), 0, 0.999))
    return np.column_stack([rng.normal(size=size), marker, decile])


@pytest.mark.claim("descent.3")
def test_where_few_people_decide_a_slope_the_interval_is_for_that_with_influences_limited() -> None:
    """Of 16 intervals at 99.9% at most 2 miss (a chance of 1e-6); without a limit the slope would be 0.2."""
    population = markers(40_000, np.random.default_rng(0))
    mechanism, missed = Descent(Features(("a", "marker")), 1.0, 1e-6, family="poisson", neighbours=ADD), 0
    for seed in range(8):
        sample = population[np.random.default_rng(seed).integers(len(population), size=8000)]
        release = mechanism.release(sample, Seeded(seed))
        assert "nobody's influence above" in str(release).splitlines()[0]
        way, limit = cast("Any", release.spread).limit
        named = limited(population[:, :2], population[:, 2], way, limit, "log")
        bar = release.interval(0.999)
        missed += sum(not low <= one <= high for low, one, high in zip(bar.low, named, bar.high, strict=False))
        assert release.value["marker"] > 0.3
    assert missed <= 2


@pytest.mark.claim("descent.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("family", ["logistic", "tilted", "poisson"])
def test_coefficients_and_intervals(relation: Neighbours, family: str) -> None:
    """Of 18 intervals at 99.9% at most 2 miss (a chance of 1e-6)."""
    options: Any = {"family": "poisson"} if family == "poisson" else {"tilted": family == "tilted"}
    mechanism = Descent(Features(("a", "b")), 2.0, 1e-6, neighbours=relation, **options)
    truth = (0.4, -0.01, 3.7) if family == "poisson" else (1.0, -0.025, 7.8)
    missed = 0
    for seed in range(6):
        table = counts(8000, seed) if family == "poisson" else people(8000, seed)
        release = mechanism.release(table, Seeded(seed))
        bar = release.interval(0.999)
        missed += sum(not low <= one <= high for low, one, high in zip(bar.low, truth, bar.high, strict=False))
        missed += not bar.low.intercept <= truth[2] <= bar.high.intercept
        assert np.abs(np.array(release.value.coef) / truth[:2] - 1).max() < 0.5
    assert missed <= 2


def test_parameters_are_refused_in_words() -> None:
    base: dict[str, Any] = {"features": Features(("x",)), "epsilon": 1.0, "delta": 1e-6}
    wrong: dict[str, Any]
    for wrong, words in (
        ({"delta": 0.0}, "delta > 0"),
        ({"family": "gamma"}, "family"),
        ({"largest": 0}, "largest"),
        ({"family": "poisson", "tilted": True, "features": Features(("x",), bounds=(-1, 1))}, "tilted"),
        ({"tilted": True, "features": Features(tuple(f"x{place}" for place in range(32)))}, "at most 32"),
        ({"delta": 1e-3, "size": 10_000}, "delta"),
    ):
        with pytest.raises(BadInput, match=words):
            Descent(**(base | wrong))


@pytest.mark.claim("descent.1")
@pytest.mark.claim("glm_stages.1")
@pytest.mark.parametrize("options", [{}, {"family": "poisson"}])
def test_the_slack_of_every_draw_is_paid(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With draws whose slack is no smaller at their own strength than at the strongest: each must be reserved."""
    for name in ("gram_cost", "sum_cost", "tail_cost", "column_cost", "counts_cost"):
        monkeypatch.setattr(glm_stages, name, lambda mu, *rest: Gaussian(mu, Fraction(1, 10**9)))
    loss = Descent(Features(("a", "b")), 1.0, 1e-6, size=5_000, **options).loss
    paid = calibrate.gaussian(1.0, 1e-6, compose.slack(loss))
    assert compose.slack(loss) > Fraction(9, 10**9)
    assert float(compose.mu(loss)[0]) ** 0.5 <= paid * (1 + 1e-12)


@pytest.mark.claim("descent.3")
def test_ten_features_rare_ones_and_constants() -> None:
    """5,000 people, ten features and epsilon 1 have intervals; a column of 4% ones has one too, a constant is refused.

    4 runs of 10 slopes: of 40 intervals of 95% fewer than 28 hold once in 1e7 runs, if they are independent.
    """
    hits, truth = 0, np.array([0.5, -0.5, 0.3, 0.0, 0.2, -0.2, 0.3, -0.3, 0.6, 1.0])
    names = tuple(f"x{place}" for place in range(10))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = np.column_stack([rng.normal(size=(5000, 6)), rng.gamma(2.0, size=(5000, 2)), rng.random((5000, 2)) < 0.3])
        y = x @ truth + rng.logistic(size=5000) > 0.2
        mechanism = Descent(Features(names), 1.0, 1e-6, neighbours=Neighbours.ADD_OR_REMOVE)
        found = mechanism.release(np.column_stack([x, y]), Seeded(seed)).interval()
        hits += int(((found.low.coef <= truth) & (truth <= found.high.coef)).sum())
    assert hits >= 28
    x[:, 3] = 1.0
    assert "'x3' is the same" in str(mechanism.release(np.column_stack([x, y]), Seeded(1)).refusal)
    rare = np.column_stack([rng.normal(size=9000), rng.random(9000) < 0.04])
    y = rare @ [1.0, 2.0] + rng.logistic(size=9000) > 0
    mechanism = Descent(Features(("a", "rare")), 1.0, 1e-6, neighbours=Neighbours.ADD_OR_REMOVE)
    found = mechanism.release(np.column_stack([rare, y]), Seeded(1)).interval(0.999999)
    assert found.low["rare"] < 2.0 < found.high["rare"] < 6.0


def outcomes(size: int, seed: int, slopes: Any, family: str = "poisson") -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, len(slopes)))
    linear = x @ np.array(slopes) + 0.3
    yes = rng.random(size) < 1 / (1 + np.exp(-linear))
    return np.column_stack([x, yes if family == "logistic" else rng.poisson(np.exp(linear))])


@pytest.mark.claim("descent.4")
def test_slopes_that_noise_may_have_made_are_drawn_to_none_and_intervals_stay() -> None:
    """Of tables of 1,500 with no slopes most are shown with none; of those with large ones few are changed."""
    poisson = Descent(Features(("a", "b", "c")), 1.0, 1e-6, family="poisson", neighbours=ADD)
    flat = [poisson.release(outcomes(1500, seed, [0.0] * 3), Seeded(seed)) for seed in range(12)]
    answered = [one for one in flat if one.refusal is None]
    none = [one for one in answered if not np.any(one.value.coef)]
    assert len(none) >= 0.8 * len(answered) >= 8
    for one in none:
        bar, middle = one.interval(0.95), cast(Any, one.spread).middle
        assert ((bar.low.coef <= 0) & (bar.high.coef >= 0)).all()
        assert ((bar.low.coef <= middle.coef) & (middle.coef <= bar.high.coef)).all()
        assert np.any(middle.coef)
        assert any("slopes are drawn to 0.00" in note for note in one.provenance.notes)
    strong = [poisson.release(outcomes(4000, seed, [0.4, -0.3, 0.2]), Seeded(seed)) for seed in range(12)]
    assert sum(cast(Any, one.spread).middle is not None for one in strong if one.refusal is None) <= 3
    tilted = Descent(Features(("a", "b", "c")), 1.0, 1e-6, tilted=True, neighbours=ADD)
    for seed in range(3):
        bar = tilted.release(outcomes(6000, seed, [0.0] * 3, "logistic"), Seeded(seed)).interval(0.999)
        assert (bar.low.coef < 0).all()
        assert (bar.high.coef > 0).all()


def step_of(value: Any, information: np.ndarray, *, score_noise: float, lean: float = 0.0) -> NewtonStep:
    """A last step with this information about the coefficients."""
    many = len(value)
    return NewtonStep(
        value=np.array(value),
        way=np.eye(many),
        inverse=np.linalg.inv(information),
        information_noise=0.0,
        step=np.zeros(many),
        score_noise=score_noise,
        squares=information,
        squares_noise=0.0,
        size=1e12,
        excess=(0.0, 0.0),
        limit=1.0,
        often=1.0,
        spans=np.ones(many),
        scored=cast(Scored, None),  # not asked for
        lean=lean,
    )


@pytest.mark.claim("descent.4")
@pytest.mark.parametrize("many", [1, 3, 10])
@pytest.mark.parametrize(("unlikely", "most"), [(0.01, 0.035), (0.05, 0.105), (0.1, 0.17)])
def test_few_slopes_predict_worse_than_none(many: int, unlikely: float, most: float) -> None:
    """To second order, of 20,000 normal errors each, whatever the slopes: not more than told where there are none, and
    than the most anywhere (.027, .093 and .158 of 200,000), but for a chance of 1e-5; long slopes are shown whole."""
    draw = np.random.default_rng(0)
    for length in (0.0, 1.0, 2.0, 3.0, 12.0):
        true = np.append(length, np.zeros(many - 1))
        found = true + draw.normal(size=(20_000, many))
        parts = np.array([safe_part(one, np.ones(many), unlikely) for one in np.linalg.norm(found, axis=1).tolist()])
        gain = 2 * parts * (found @ true) - parts**2 * (found**2).sum(axis=1)
        worse = float((gain < 0).mean())
        assert worse <= (unlikely + 0.012 if not length else most)
        assert length < 12 or (parts == 1).mean() > 0.98


@pytest.mark.claim("descent.4")
@pytest.mark.parametrize("variances", [[1.0], [1.0] * 8, [4.0, 1.0, 0.1]])
def test_errors_are_taken_for_slopes_as_seldom_as_told(variances: list[float]) -> None:
    """Of 20,000: 100 to 500 at a chance of .01, where the gamma distribution is exact, 200 expected, and where not."""
    errors = np.random.default_rng(0).normal(size=(20_000, len(variances))) * np.sqrt(variances)
    shown = [safe_part(one, np.array(variances), 0.01) > 0 for one in np.linalg.norm(errors, axis=1).tolist()]
    assert 100 <= sum(shown) <= 500
    assert safe_part(0.1, np.zeros(2), 0.01) == 1.0


@pytest.mark.claim("descent.4")
def test_the_part_of_slopes_by_noise_and_by_sampling() -> None:
    """All where the noise is the smaller part of the errors."""
    information = np.diag([100.0, 100.0])
    for noise, variance in ((20.0, 1 + 4.0), (9.0, 0.0), (0.0, 0.0)):
        for slope in (0.01, 0.25, 0.6, 3.0):
            found = step_of([0.3, slope], information, score_noise=noise)
            part = safe_part(10 * slope, np.array([variance]), 0.05)
            assert found.useful_part(1, 0.05) == pytest.approx(part, rel=1e-6)


@pytest.mark.claim("descent.4")
@pytest.mark.parametrize("lean", [0.0, 1.0])
def test_outcomes_keep_their_mean_as_slopes_are_drawn_to_none(lean: float) -> None:
    """Of a line, and of Poisson counts on a normal feature about .7 where the mean is exp(.1 + .4 * .7 + .08)."""
    place = 0.7 + 0.4 * lean  # of rows weighted by their slopes
    information = 1000 * np.array([[1.0, place], [place, place**2 + 1]])
    found = step_of([0.1, 0.4], information, score_noise=1.0, lean=lean)
    for part in (0.0, 0.3, 1.0):
        constant, slope = found.drawn(1, part)
        mean = constant + slope * 0.7 + lean * slope**2 / 2
        assert slope == pytest.approx(0.4 * part)
        assert mean == pytest.approx(0.1 + 0.4 * 0.7 + lean * 0.4**2 / 2)


@pytest.mark.claim("descent.3")
def test_ten_features_of_three_thousand_people_by_a_tilted_minimum() -> None:
    """Where the noise on the information asks for it many rows are pulled in it: answers, and intervals that hold.

    Of 60 intervals of 99.9% at most 3 miss (a chance of 5e-7)."""
    truth, missed, told = np.array([0.35, -0.3, 0.2, 0.1, -0.2] * 2), 0, 0
    mechanism = Descent(Features(tuple("abcdefghij")), 1.0, 1e-6, tilted=True, neighbours=ADD)
    for seed in range(6):
        release = mechanism.release(outcomes(3000, seed, truth, "logistic"), Seeded(seed))
        if release.refusal is None:
            bar, told = release.interval(0.999), told + 1
            missed += int(((truth < bar.low.coef) | (bar.high.coef < truth)).sum())
    assert told >= 5
    assert missed <= 3


@pytest.mark.claim("descent.3")
@pytest.mark.parametrize("family", ["tilted", "poisson"])
def test_models_that_are_not_true(family: str) -> None:
    """Curved in a skewed feature, counts spread more than they should, a rare flag: full-table coefficients are held.

    Of 20 intervals of 99.9% at most 2 miss (a chance of 1e-6).
    """
    import statsmodels.api as sm

    rng, missed = np.random.default_rng(7), 0
    x = np.column_stack([rng.normal(size=100_000), rng.gamma(2.0, size=100_000), rng.random(100_000) < 0.1])
    linear = 0.4 * x[:, 0] + 0.2 * x[:, 1] - 0.5 * x[:, 2] + 0.15 * x[:, 0] ** 2 - 0.5
    chance = 1 / (1 + np.exp(-linear))
    spread = rng.gamma(2.0, 0.5, size=100_000)
    y = rng.poisson(np.exp(linear) * spread) if family == "poisson" else rng.random(100_000) < chance
    kind = sm.families.Poisson() if family == "poisson" else sm.families.Binomial()
    truth = sm.GLM(y, sm.add_constant(x), family=kind).fit().params
    options: Any = {"family": "poisson"} if family == "poisson" else {"tilted": True}
    mechanism = Descent(Features(("a", "b", "c")), 2.0, 1e-6, neighbours=ADD, **options)
    for seed in range(1, 6):
        chosen = np.random.default_rng(seed).integers(len(x), size=10_000)
        bar = mechanism.release(np.column_stack([x, y])[chosen], Seeded(seed)).interval(0.999)
        low, high = (np.append(end.intercept, end.coef) for end in (bar.low, bar.high))
        missed += int(((truth < low) | (truth > high)).sum())
    assert missed <= 2


@pytest.mark.claim("glm_stages.3")
@pytest.mark.claim("glm_stages.4")
@pytest.mark.parametrize(("mutant", "relation"), [("weights", REPLACE), ("weights", ADD), ("scores", ADD)])
def test_mutants_are_caught(mutant: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far rows that weigh as much as others, and scores that look at other rows, fail the replay."""
    if mutant == "weights":
        plain = framed

        def heavy(*given: Any) -> Any:
            found = plain(*given)
            return replace(found, weight=np.ones(len(found)))

        monkeypatch.setattr(logistic_loss, "framed", heavy)
    else:
        turned = AtFit.turned

        def nosy(self: AtFit, rows: Any) -> Any:
            seen, lost = turned(self, rows)
            return seen * (1 + len(rows) % 7), lost

        monkeypatch.setattr(AtFit, "turned", nosy)
    mechanism = Descent(Features(("x",)), 60.0, 1e-4, neighbours=relation, tilted=mutant == "weights")
    far, near = (1e9, 0.0), (0.3, 1.0)
    crowd = COMMON * 8
    pair = Pair([*crowd, far], [*crowd, near]) if relation is REPLACE else Pair([*crowd, far], crowd)
    assert not audit.check(mechanism, [pair], hostile_values=False).passed


@pytest.mark.claim("glm_stages.4")
@pytest.mark.parametrize("claimed", ["steepness", "curvature"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_a_tilt_for_half_of_what_a_person_does_is_caught(
    claimed: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows at the length from which on they weigh less, one opposite to the other: the longest way of a gradient. And
    far rows, which are the most curved."""
    mechanism, crowd = Descent(Features(("x",)), 60.0, 1e-4, neighbours=relation, tilted=True), COMMON * 8
    far = 2.0 if claimed == "steepness" else 20.0
    near = -far if claimed == "steepness" else 0.3  # second derivatives of opposite rows would cancel
    others = [*crowd, (near, 0.0)] if relation is REPLACE else crowd
    pair = Pair([*crowd, (far, 0.0)], others)
    audit.check(mechanism, [pair], hostile_values=False).require()
    minimum = Door.minimum

    def flat(self: Door, objective: Any, **given: Any) -> Any:
        return minimum(self, objective, **{**given, claimed: Fraction(given[claimed]) / 2})

    monkeypatch.setattr(Door, "minimum", flat)
    assert not audit.check(mechanism, [pair], hostile_values=False).passed
