"""Families, and the values that fitted ones are."""

import copy
import math
import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.values import Distribution
from discreet.statistics.family import FAMILIES, GAUSSIAN, Family, each, gamma, gamma_start, link, poisson, unlink
from discreet.statistics.family_moments import expected, inverted, points, tail_powers, turned
from discreet.statistics.sufficient import SufficientStatistics


def test_parameters_by_name_and_what_follows_from_them() -> None:
    fitted = Distribution("gamma", {"shape": 2.0, "scale": 3.0}, gamma)
    assert (fitted.shape, fitted["scale"], list(fitted)) == (2.0, 3.0, ["shape", "scale"])
    assert fitted.mean == pytest.approx(6.0)
    assert fitted.variance == pytest.approx(18.0)
    assert fitted.distribution().cdf(6.0) == pytest.approx(0.594, abs=1e-3)
    assert (str(fitted), repr(fitted)) == ("shape 2, scale 3", "gamma(shape=2, scale=3)")
    with pytest.raises(AttributeError, match="no 'rate'"):
        fitted.rate  # noqa: B018
    assert dict(copy.deepcopy(fitted)) == dict(pickle.loads(pickle.dumps(fitted))) == dict(fitted)


def test_links_go_there_and_back() -> None:
    for scale, value in (("log", 3.0), ("identity", -2.0), ("logit", 0.2)):
        assert unlink(scale, link(scale, value)) == pytest.approx(value)  # type: ignore[arg-type]


def test_a_function_that_raises_does_so_for_its_entry_alone() -> None:
    def picky(x: np.ndarray) -> np.ndarray:
        if (x < 0).any():
            raise ValueError("negative")
        return np.asarray(np.sqrt(x))

    found = each(picky, np.array([4.0, -1.0, 9.0]))
    assert found[[0, 2]].tolist() == [2.0, 3.0]
    assert np.isnan(found[1])


def test_nothing_is_heard_of_an_entry_and_the_data_stay() -> None:
    def loud(x: np.ndarray) -> np.ndarray:
        if (x < 0).any():
            warnings.warn("negative", stacklevel=2)
        return np.asarray(np.sqrt(x))

    def writing(x: np.ndarray) -> np.ndarray:
        x[x < 0] = 0.0
        return np.asarray(np.sqrt(x))

    values = np.array([4.0, -1.0, 9.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert each(loud, values)[[0, 2]].tolist() == [2.0, 3.0]
        each(writing, values)
    assert values.tolist() == [4.0, -1.0, 9.0]
    with pytest.raises(BadInput, match="read-only"):
        Family("odd", ("rate",), distribution=poisson, start=lambda m: (m,), statistics=(writing,))


@pytest.mark.parametrize(
    "sly",
    [
        lambda x: np.where(np.isnan(x), np.nanmean(x), x),
        lambda x: np.abs(x) if (x < 0).any() else x + 1,
        lambda x: x / np.float64(1 + 1e-15) if len(x) > 1 else x,
        lambda x: np.minimum(x, np.nanquantile(x, 0.9)) if np.isinf(x).any() else x,
    ],
)
def test_looking_at_others_for_the_sake_of_one_is_refused(sly: Any) -> None:
    for asked in ({"statistics": (sly,)}, {"handle": sly}):
        with pytest.raises(BadInput, match="depends on other entries"):
            Family("odd", ("rate",), distribution=poisson, start=lambda m: (m,), **asked)


PLAIN: dict[str, Any] = {"name": "odd", "parameters": ("rate",), "distribution": poisson, "start": lambda m: (m,)}


@pytest.mark.parametrize(
    "asked",
    [
        {"parameters": "a"},
        {"parameters": ("a", "a"), "statistics": (np.log, np.square)},
    ],
)
def test_bad_descriptions_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="give a"):
        Family(**(PLAIN | asked))


@pytest.mark.parametrize("asked", [{"start": lambda: (1.0,)}, {"start": float}, {"distribution": lambda rate: rate}])
def test_a_family_without_distributions_is_refused_before_there_are_data(asked: dict[str, Any]) -> None:
    family = Family(**(PLAIN | asked))
    with pytest.raises(BadInput, match="give nothing for medians"):
        SufficientStatistics(family, 1.0)


def test_statistics_that_look_at_others_are_refused() -> None:
    with pytest.raises(BadInput, match="depends on other entries"):
        Family("odd", ("rate",), distribution=poisson, start=lambda m: (m,), statistics=(lambda x: x - x.mean(),))
    with pytest.raises(BadInput, match="one or two"):
        Family("odd", ("a", "b", "c"), distribution=poisson, start=lambda m: (m,))
    with pytest.raises(BadInput, match="links"):
        Family("odd", ("rate",), distribution=poisson, start=lambda m: (m,), links=("cube",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("poisson", (0.4,)),
        ("poisson", (90.0,)),
        ("exponential", (3.0,)),
        ("gamma", (0.3, 5.0)),
        ("beta", (2.0, 7.0)),
        ("gaussian", (0.3, 2.0)),
    ],
)
def test_parameters_are_those_that_expect_the_means(name: str, truth: tuple[float, ...]) -> None:
    family = (dict(FAMILIES) | {"gaussian": GAUSSIAN})[name]
    place = family.linked(truth)
    boxes = turned(family, place + 0.2)
    assert family.unlinked(inverted(boxes, boxes.means(place))) == pytest.approx(truth, rel=1e-5)
    assert expected(replace(family, means=None), place) == pytest.approx(expected(family, place), rel=1e-6)


def test_ends_are_those_of_the_family_not_of_its_points() -> None:
    low, high = turned(FAMILIES["exponential"], np.array([0.0])).ends[0]
    assert low == pytest.approx(-1.0, abs=1e-6)  # 0, a deviation below the mean
    assert high == math.inf
    assert turned(GAUSSIAN, np.array([0.0, 0.0])).ends[0].tolist() == [-math.inf, math.inf]
    assert turned(FAMILIES["gamma"], np.array([0.7, 0.0])).ends[1][1] < 1.0  # log x less a line in x has a top


def test_points_have_the_moments_of_the_distribution() -> None:
    for distribution in (poisson(4.0), gamma(2.0, 3.0)):
        x, chances = points(distribution)
        assert chances.sum() == pytest.approx(1.0)
        assert x @ chances == pytest.approx(distribution.mean(), rel=1e-6)


def test_heavier_tails_are_given_more_room() -> None:
    normal, exponential, heavy = (tail_powers(4.0, distance)[0] for distance in (2.9, 5.8, 9.0))
    assert 0.6 <= normal < 1.1 < exponential < heavy <= 2.5
    assert tail_powers(4.0, 9.0)[1] == 2 * heavy


def test_a_guess_survives_odd_medians() -> None:
    for centre, distance in ((0.0, 0.0), (-1e308, 1e300), (700.0, 5e-324), (0.0, 1e308)):
        shape, scale = gamma_start(centre, distance)
        assert shape > 0
        assert np.isfinite(scale)
        assert scale > 0


def test_a_family_of_the_callers_says_what_its_promise_rests_on() -> None:
    own = Family("own", ("rate",), distribution=poisson, start=lambda m: (m,), statistics=(np.sqrt,))
    assert "the promise rests on this" in own.notes[-1]
    release = SufficientStatistics(own, 2.0).release([float(k % 5) for k in range(900)], Seeded(1))
    assert release.provenance.notes == own.notes
    for family in FAMILIES.values():
        assert len(family.notes) == 1
        assert "need not have" in family.notes[0]
