"""Many small fits at once: what the libraries give, block by block, and each block alone to the last bit."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.subsample.reading import read

import discreet
from discreet.noise.distributions import compiled
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.subsample import batched as paths
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.batched import Batched, batched
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.estimators import ModelFit, SklearnFit, adapted
from discreet.subsample.partition import Blocks, partition
from discreet.subsample.returned import Shape, found_shape
from discreet.subsample.run_block import block_row

sklearn = pytest.importorskip("sklearn.linear_model")
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(3000, 3))
Y = X @ [1.0, -1.0, 0.5] + 0.3 + GENERATOR.normal(size=3000)
CLASS = (Y > 0).astype(int)
COUNT = GENERATOR.poisson(np.exp(Y / 4))
DISTRIBUTIONS = [("normal", False), ("logistic", False), ("logistic", True), ("poisson", False), ("poisson", True)]


@pytest.fixture(params=["plain", "compiled"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways, whatever the number of blocks."""
    if request.param == "compiled" and not compiled():
        pytest.skip("numba is not installed")
    monkeypatch.setattr(paths, "MANY", 1 if request.param == "compiled" else 10**9)
    return str(request.param)


def in_blocks(x: Any, y: Any, sizes: Any) -> Blocks:
    """A table already in blocks of these sizes."""
    stops = np.cumsum(sizes)
    edges = np.stack([stops - sizes, stops - np.asarray(sizes) // 2], axis=1).ravel()
    return Blocks(BlockTable(x, y), np.append(edges, stops[-1]).astype(np.int64))


def rows_of(distribution: Any, x: Any, y: Any, sizes: Any, adjusted: bool) -> Any:
    return Batched(distribution, intercept=True).rows(in_blocks(x, y, sizes), "firth" if adjusted else None)


@pytest.mark.claim("batched.1")
@pytest.mark.parametrize("correct", [None, "half"])
@pytest.mark.parametrize(
    ("estimator", "y", "tolerance"),
    [
        (sklearn.LinearRegression(), Y, 1e-9),
        (sklearn.LogisticRegression(tol=1e-10), CLASS, 1e-5),
        (sklearn.LogisticRegression(C=0.3, tol=1e-10), CLASS, 1e-5),
        (sklearn.PoissonRegressor(tol=1e-10), COUNT, 1e-5),
        (sklearn.PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000), COUNT, 1e-4),
    ],
    ids=lambda one: str(one)[:30],
)
@pytest.mark.usefixtures("path")
def test_fast_paths_give_the_same(estimator: Any, y: Any, tolerance: float, correct: Any) -> None:
    fit, table = adapted(estimator), read(X[:1300], y[:1300])
    shape = found_shape(fit, table)
    one, other = (
        SubsampleAggregate(fit, shape, BlockMean(11, 4, 100.0), correct=correct, vectorised=quick).estimates(
            table, Seeded(1)
        )
        for quick in (True, False)
    )
    both = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
    assert both.sum() >= 9
    assert np.abs(one - other)[both].max() < tolerance * np.abs(other[both]).max()


@pytest.mark.claim("batched.1")
@pytest.mark.usefixtures("path")
def test_fast_paths_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    for model, y in ((sm.OLS, Y), (sm.Logit, CLASS), (sm.Poisson, COUNT)):
        fit, table = adapted(model), read(X, y)
        shape = found_shape(fit, table)
        assert batched(fit, shape, table.x, table.y, None) is not None
        one, other = (
            SubsampleAggregate(fit, shape, BlockMean(20, 3, 100.0), vectorised=quick).estimates(table, Seeded(1))
            for quick in (True, False)
        )
        assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.claim("batched.1")
@pytest.mark.usefixtures("path")
def test_poor_blocks_on_the_fast_path() -> None:
    """Collinear, short, spoilt and separated blocks: the same as alone, and no effect on the others."""
    x = GENERATOR.normal(size=(200, 2))
    x[:, 1] = np.where(np.arange(200) < 100, 2 * x[:, 0], x[:, 1])
    y = x[:, 0] + GENERATOR.normal(size=200)
    blocks = partition(read(x, y), 10, Neighbours.REPLACE, Seeded(0))
    fit = adapted(sklearn.LinearRegression())
    shape = found_shape(fit, blocks.table)
    fast = batched(fit, shape, blocks.table.x, blocks.table.y, None)
    assert fast is not None
    clean = fast.rows(blocks, None)
    blocks.table.x[3, 0] = np.nan
    spoilt = fast.rows(blocks, None)
    assert np.isnan(spoilt[0]).all()
    assert (spoilt[1:] == clean[1:]).all()
    collinear = read(np.stack([np.arange(20.0), 2 * np.arange(20.0)], axis=1), np.arange(20.0))
    one = partition(collinear, 1, Neighbours.REPLACE, Seeded(0))
    assert np.isnan(fast.rows(one, None)).all()  # and not as the pseudo-inverse has it: no coefficient is identified
    logit = batched(adapted(sklearn.LogisticRegression(C=np.inf)), shape, x, y, None)
    assert logit is not None
    separated = read(np.arange(40.0).reshape(20, 2), (np.arange(20) > 9).astype(float))
    assert np.isnan(logit.rows(partition(separated, 1, Neighbours.REPLACE, Seeded(0)), None)).all()


@pytest.mark.claim("batched.1")
@pytest.mark.usefixtures("path")
def test_fast_paths_in_parts_are_the_same() -> None:
    fit, table = adapted(sklearn.LogisticRegression()), read(X, CLASS)
    shape = found_shape(fit, table)
    blocks = partition(table, 31, Neighbours.REPLACE, Seeded(0))
    fast = batched(fit, shape, table.x, table.y, "half")
    assert fast is not None
    whole = fast.rows(blocks, "half")
    parts = [fast.rows(blocks, "half", first, last) for first, last in ((0, 7), (7, 8), (8, 31))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_no_fast_path_where_it_would_differ() -> None:
    table = read(X, Y)
    for estimator in (
        sklearn.LinearRegression(positive=True),
        sklearn.LinearRegression(fit_intercept=False),
        sklearn.Ridge(),
        sklearn.LogisticRegression(class_weight="balanced"),
    ):
        fit = adapted(estimator)
        assert batched(fit, Shape("named", ("a", "b", "c", "d")), table.x, table.y, None) is None
    assert batched(adapted(sklearn.LinearRegression()), Shape("number", ("a",)), table.x, None, None) is None
    assert isinstance(adapted(sklearn.LinearRegression()), SklearnFit)
    assert not isinstance(adapted(sklearn.LinearRegression()), ModelFit)


@pytest.mark.claim("batched.1")
@pytest.mark.claim("block_fits.1")
@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("distribution", "adjusted"), DISTRIBUTIONS)
@pytest.mark.parametrize("odd", [math.nan, math.inf, -1e300, 1e160, 1e6, 0.0, 5e-324, "label", "one", "empty", "more"])
def test_a_block_has_the_same_row_whatever_another_holds(distribution: str, adjusted: bool, odd: Any) -> None:
    """To the last bit: others that settle sooner, later or never, or have other sizes, must not move it."""
    generator = np.random.default_rng(5)
    sizes = np.array([30, 31, 30, 37, 30])
    x = generator.normal(size=(sizes.sum(), 3))
    y = (generator.random(sizes.sum()) < 0.5).astype(float)
    plain = rows_of(distribution, x, y, sizes, adjusted)
    assert np.isfinite(plain).all()
    start, stop = 61, 91  # the third block
    other, outcome, lengths = x.copy(), y.copy(), sizes.copy()
    if odd == "label":
        outcome[start] = 7.5
    elif odd == "one":
        outcome[start:stop] = 1.0
    elif odd in ("empty", "more"):
        lengths[2] = 0 if odd == "empty" else 43
        new = generator.normal(size=(lengths[2], 3))
        other = np.concatenate([x[:start], new, x[stop:]])
        outcome = np.concatenate([y[:start], (new[:, 0] > 0).astype(float), y[stop:]])
    else:
        other[start : stop - 3, 1] = odd
        outcome[start] = odd
    seen = rows_of(distribution, other, outcome, lengths, adjusted)
    assert seen[[0, 1, 3, 4]].tobytes() == plain[[0, 1, 3, 4]].tobytes()
    assert np.isfinite(seen[2]).all() or np.isnan(seen[2]).all()
    for block, (first, last) in enumerate(zip(np.cumsum(sizes) - sizes, np.cumsum(sizes), strict=True)):
        alone = rows_of(distribution, x[first:last].copy(), y[first:last].copy(), sizes[block : block + 1], adjusted)
        assert alone[0].tobytes() == plain[block].tobytes()


@pytest.mark.claim("batched.1")
@pytest.mark.skipif(not compiled(), reason="numba is not installed")
@pytest.mark.parametrize(("distribution", "adjusted"), DISTRIBUTIONS)
def test_the_compiled_path_is_the_plain_one(distribution: Any, adjusted: bool) -> None:
    """Sizes from 1 up, columns in other units and with a large mean, blocks that are separated, collinear or long."""
    generator = np.random.default_rng(1)
    sizes = np.array([1, 2, 3, 4, 6, 9, 12, 20, 20, 20, 33, 50, 1200, 1000])
    x = generator.normal(size=(sizes.sum(), 3)) * [1.0, 1e-3, 1e4] + [0.0, 0.0, 1e5]
    linear = x[:, 0] + 500 * x[:, 1]
    y = np.where(distribution == "normal", linear, generator.poisson(np.exp(np.minimum(linear, 3))))
    y = (y > 0).astype(float) if distribution == "logistic" else y.astype(float)
    x[60:70, 0] = 2 * x[60:70, 1]
    edges = np.concatenate([[0], np.cumsum(sizes)])
    fit = Batched(distribution, intercept=True)
    fast, slow = (fit.fits(x, y, edges, adjusted=adjusted, fast=quick) for quick in (True, False))
    assert (np.isnan(fast) == np.isnan(slow)).all()
    assert np.isfinite(fast[-3:]).all()
    np.testing.assert_allclose(fast, slow, rtol=1e-6, atol=1e-9)


@pytest.mark.claim("batched.2")
@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (1, 2), (-3.0, 8.0), (False, True), ("no", "yes"), ("Z", "a")])
@pytest.mark.parametrize("penalty", [1.0, np.inf])
def test_any_two_labels_are_read_as_the_library_reads_them(labels: Any, penalty: float) -> None:
    y = np.array(labels)[CLASS]
    fit = adapted(sklearn.LogisticRegression(C=penalty, tol=1e-10, max_iter=10_000))
    table = read(X[:900], y[:900])
    shape = found_shape(fit, table)
    assert batched(fit, shape, table.x, table.y, None) is not None
    one, other = (
        SubsampleAggregate(fit, shape, BlockMean(6, 4, 100.0), vectorised=quick).estimates(table, Seeded(1))
        for quick in (True, False)
    )
    assert np.isfinite(one).all()
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.claim("batched.2")
@pytest.mark.usefixtures("path")
def test_a_column_of_texts_with_something_else_in_it() -> None:
    """As the library does: a block fails that holds None, a number or a third text; the others do not notice."""
    fit = adapted(sklearn.LogisticRegression(tol=1e-10, max_iter=10_000))
    y = np.array(["no", "yes"], dtype=object)[CLASS[:400]]
    shape = found_shape(fit, read(X[:400], pd.Series(y)))
    clean = Batched("logistic", intercept=True, penalty=1.0).rows(in_blocks(X[:400], y, [50] * 8), None)
    y[[0, 50, 100, 150, 200]] = [None, 1.0, "maybe", math.nan, b"no"]
    for block in range(8):
        part = slice(50 * block, 50 * block + 50)
        alone = block_row(fit, shape, BlockTable(X[part], y[part]), 25, number=0)
        assert np.isnan(alone).all() == (block < 5)
        if block >= 5:
            np.testing.assert_allclose(alone, clean[block], rtol=1e-4, atol=1e-4)
    spoilt = Batched("logistic", intercept=True, penalty=1.0).rows(in_blocks(X[:400], y, [50] * 8), None)
    assert np.isnan(spoilt[:5]).all()
    assert spoilt[5:].tobytes() == clean[5:].tobytes()


@pytest.mark.claim("batched.2")
@pytest.mark.usefixtures("path")
def test_labels_belong_to_their_block() -> None:
    """One block says -1 and 1, another 3 and 4: each is read by itself, and one with one, three or broken labels
    fails."""
    x, base = X[:300], (CLASS[:300]).astype(float)
    sizes = [50] * 6
    y = base.copy()
    y[50:100] = 2 * base[50:100] - 1
    y[100:150] = 3 + base[100:150]
    y[150:200] = 2.0
    y[200:250] = base[200:250]
    y[200:202] = [4.0, 3.0]
    y[250:] = base[250:] + 0.5
    for correct in (None, "firth"):
        path = Batched("logistic", intercept=True)
        found = path.rows(in_blocks(x, y, sizes), correct)
        plain = path.rows(in_blocks(x, base, sizes), correct)
        assert found[:3].tobytes() == plain[:3].tobytes()
        assert np.isfinite(found[:3]).all()
        assert np.isnan(found[3:]).all()


@pytest.mark.claim("block_fits.1")
@pytest.mark.claim("batched.2")
@pytest.mark.usefixtures("path")
def test_one_outcome_has_an_estimate_under_firth_if_it_is_known_which() -> None:
    x = X[:100]
    known = [rows_of("logistic", x[:20], np.full(20, value), [20], True)[0] for value in (0.0, -1.0, 1.0)]
    assert np.isfinite(known).all()
    assert known[0].tobytes() == known[1].tobytes()
    assert known[0][-1] < 0 < known[2][-1]
    assert np.isnan(rows_of("logistic", x[:20], np.full(20, 2.0), [20], True)).all()
    for text in ("no", "yes"):  # which of two labels it is, only other blocks could tell
        assert np.isnan(rows_of("logistic", x[:20], np.full(20, text, dtype=object), [20], True)).all()
    assert np.isnan(rows_of("logistic", x[:20], np.zeros(20), [20], False)).all()
    assert np.isfinite(rows_of("poisson", x[:20], np.zeros(20), [20], True)).all()
    assert np.isnan(rows_of("poisson", x[:20], np.zeros(20), [20], False)).all()


def test_labels_other_than_0_and_1_reach_an_answer() -> None:
    y = np.where(CLASS, 2, -2)
    release = discreet.fit(
        sklearn.LogisticRegression(), X, y, epsilon=20.0, delta=1e-5, blocks=60, bias_correction=None, rng=Seeded(0)
    )
    assert release.refusal is None
    assert release.value["coef_[0]"] > 0.5 > -0.5 > release.value["coef_[1]"]


@pytest.mark.claim("block_fits.1")
@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("distribution", ["logistic", "poisson"])
def test_firth_takes_the_bias_of_small_blocks_away(distribution: Any) -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(1500 * 24, 2))
    linear = x @ [0.5, -0.3]
    chance = generator.random(linear.shape) < 1 / (1 + np.exp(-linear))
    y = (chance if distribution == "logistic" else generator.poisson(np.exp(linear - 0.5))).astype(float)
    found = rows_of(distribution, x, y, [24] * 1500, True)
    assert np.isfinite(found).mean() > 0.999
    error = float(found[:, 0].std()) / math.sqrt(1500)
    assert abs(np.nanmean(found[:, 0]) - 0.5) < 5 * error + 0.01
    if distribution == "logistic":
        plain = rows_of(distribution, x, y, [24] * 1500, False)
        assert np.nanmedian(plain[:, 0]) - 0.5 > abs(np.nanmedian(found[:, 0]) - 0.5)


@pytest.mark.claim("block_fits.1")
@pytest.mark.usefixtures("path")
def test_firth_is_the_zero_of_its_score_also_where_outcomes_are_separated() -> None:
    """The worked case of one binary column: adding a half to each cell of the table (Firth 1993)."""
    x = np.array([0.0] * 6 + [1.0] * 6)[:, None]
    y = np.array([0.0] * 6 + [1.0] * 5 + [0.0])
    low, high = math.log(0.5 / 6.5), math.log(5.5 / 1.5)
    np.testing.assert_allclose(rows_of("logistic", x, y, [12], True)[0], [high - low, low], rtol=1e-6)
    counts = np.array([0.0] * 6 + [1.0, 2.0, 0.0, 3.0, 1.0, 1.0])
    low, high = math.log(0.5 / 6), math.log(8.5 / 6)
    np.testing.assert_allclose(rows_of("poisson", x, counts, [12], True)[0], [high - low, low], rtol=1e-6)


@pytest.mark.claim("block_fits.1")
@pytest.mark.usefixtures("path")
def test_a_collinear_block_has_no_estimate_under_firth() -> None:
    x = np.stack([X[:40, 0], 2 * X[:40, 0]], axis=1)
    assert np.isnan(rows_of("logistic", x, CLASS[:40], [40], True)).all()
    assert np.isnan(rows_of("logistic", np.zeros((40, 1)), CLASS[:40], [40], True)).all()


@pytest.mark.claim("batched.1")
@pytest.mark.parametrize("blocks", [1, 10, paths.MANY - 1, paths.MANY, 2 * paths.MANY])
def test_the_path_is_chosen_by_the_number_of_blocks(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a person may have any number of rows, that of all rows is private, and the paths round differently."""
    monkeypatch.setattr(paths, "compiled", lambda: True)
    chosen = []

    def seen(_self: Batched, _x: Any, _y: Any, edges: Any, *, fast: bool, adjusted: bool = False) -> Any:
        chosen.append(fast)
        return np.zeros((len(edges) - 1, 2))

    monkeypatch.setattr(Batched, "fits", seen)
    for rows in (0, 1, blocks, 4 * paths.MANY, 10**5):
        x, sizes = np.zeros((rows, 1)), np.bincount(np.arange(rows) % blocks, minlength=blocks)
        for correct in (None, "half", "firth"):
            Batched("logistic", intercept=True).rows(in_blocks(x, np.zeros(rows), sizes), correct)
    assert set(chosen) == {blocks >= paths.MANY}


@pytest.mark.claim("aggregate.2")
@pytest.mark.parametrize("blocks", [8, 2 * paths.MANY])
def test_whether_other_processes_are_started_is_not_told_by_the_number_of_rows(
    blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person may have any number of rows, and who has some more must not move all fits to another process."""
    monkeypatch.setattr(paths, "compiled", lambda: False)
    calls: list[int] = []

    class Watched:
        def map(self, function: Any, items: Any) -> list[Any]:
            calls[-1] += 1
            return [function(item) for item in items]

        def fold(self, *_: Any) -> Any: ...

    from sklearn.linear_model import LogisticRegression

    for rows in (99_999, 100_000):
        x = np.sin(np.arange(rows, dtype=np.float64))[:, None]
        people = np.minimum(np.arange(rows), 99_990)
        fit = SklearnFit(LogisticRegression(C=np.inf))
        shape = Shape("named", ("coef_[0]", "intercept_"))
        mechanism = SubsampleAggregate(fit, shape, BlockMean(blocks, 2, 10.0), engine=Watched())
        calls.append(0)
        mechanism.estimates(read(x, np.cos(np.arange(rows)) > 0, people), Seeded(1))
    assert calls[0] == calls[1] == (blocks >= paths.MANY)
