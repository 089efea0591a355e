"""Named coefficients as a table and as a picture."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput, Refused
from discreet.models.coefficients import CoefficientSpread
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, NamedNumber, coefficients
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Coefficients

VALUE = Coefficients(np.array([2.0, 0.0, -1.0]), 0.5, ("age", "dose", "rare"))
SPREAD = CoefficientSpread(VALUE, np.array([0.3, 0.6, 3.0, math.inf]), np.array([0.4, 0.8, 4.0, math.inf]))
WHOLE: Release[Any] = Release(
    Guarantee(1.0, 1e-6), Provenance("Test", {}, True, notes=("a note",)), VALUE, spread=SPREAD, name="regression"
)


def rows(release: Release[Any], confidence: float) -> list[NamedNumber]:
    found = coefficients(release.shown(confidence))
    assert found is not None
    return found


def told(release: Release[Any], name: str) -> list[str]:
    return next(line for line in release.summary().splitlines() if line.startswith(name)).split()


def test_the_numbers_of_the_table() -> None:
    first, age, _, rare = rows(WHOLE, 0.95)
    assert first.name == "intercept"
    assert age.error == pytest.approx(1.0)
    assert (age.low, age.high) == pytest.approx((0.0400, 3.9600), abs=1e-3)
    assert (told(WHOLE, "age")[3], told(WHOLE, "dose")[3]) == ("0.046", "1.000")
    assert (rare.error, rare.low, rare.high) == (None, None, None)
    text = WHOLE.summary(0.9)
    assert "[0.05" in text
    assert "0.95]" in text
    assert "a note" in text
    assert "epsilon 1" in text
    assert told(WHOLE, "rare") == ["rare", "-1", "-", "-", "-", "-"]
    assert VALUE.summary().splitlines()[1].split() == ["age", "2"]


@dataclass(frozen=True)
class Named:
    """The error of a dictionary, for the table itself or for a population."""

    population: bool
    sampling: None = None

    @property
    def privacy(self) -> dict[str, float]:
        return {"a": 0.1}

    def interval(self, confidence: float) -> Interval:
        if confidence > 0.99:
            raise Refused("declared for 0.95")
        return Interval({"a": 4.8}, {"a": 5.2}, confidence=confidence, about="a quantity", population=self.population)


def test_dictionaries_refusals_and_other_answers() -> None:
    named = replace(WHOLE, answer={"a": 5.0}, spread=Named(True))
    assert "<0.001" in named.summary()
    assert told(replace(named, spread=Named(False)), "a ")[3] == "-"  # sampling is left out
    assert rows(named, 0.999)[0].low is None
    assert rows(replace(named, spread=None), 0.95)[0].error is None
    assert "refused" in replace(WHOLE, answer=None, refusal="too few").summary()
    for answer in (1.0, np.ones(3), {"a": "b"}):
        with pytest.raises(BadInput, match="no named coefficients"):
            replace(WHOLE, answer=answer).summary()
    with pytest.raises(BadInput, match="confidence"):
        WHOLE.summary(1.5)


def test_the_picture_names_each_coefficient() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = WHOLE.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["age", "dose", "rare"]
    assert "of it privacy (2 sd)" in axes.get_legend_handles_labels()[1]
    assert [text.get_text() for text in axes.texts] == ["no interval"]
    axes = replace(WHOLE, answer={"a": 5.0}, spread=Named(True)).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a"]
    replace(WHOLE, answer={"a": 5.0}, spread=None).plot()
    plt.close("all")
