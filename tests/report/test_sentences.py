import re

import pytest
from tests.report.made import entry, grouped, records

import discreet
from discreet.report import sentence
from discreet.report.record import entry_of
from discreet.report.sentences import decision, half_widths, of_groups


def said(name: str, question: str = "") -> str:
    return sentence(entry(records()[name], question or f"{name} of bmi"))


@pytest.mark.parametrize("name", sorted(records()))
def test_every_verb_has_a_sentence(name: str) -> None:
    told = said(name)
    assert told[0].isupper()
    assert told.endswith(".")
    assert "None" not in told
    assert "  " not in told
    assert ("Not for publication" in told) == (name != "publishable")


def test_a_number_is_said_with_its_interval() -> None:
    told = said("proportion", "proportion of diabetes")
    assert re.fullmatch(
        r"The proportion of diabetes is 0\.\d+; with 95% confidence the population's share lies between 0\.\d+ and "
        r"0\.\d+\. Not for publication: the noise was seeded and can be subtracted\.",
        told,
    )


def test_noise_alone_is_not_called_sampling() -> None:
    assert "not for sampling" in said("count")
    assert "not for sampling" not in said("proportion")
    assert "has no interval" in said("median without interval")


def test_questions_of_all_forms_read_well() -> None:
    assert said("count", "How many are ill?").startswith("How many are ill? The answer is ")
    assert said("count", "the count of ill").startswith("The count of ill is ")
    assert said("count", " ").startswith("The mean of bmi is ")


def test_decisions_are_said_with_care() -> None:
    assert decision(0.05).endswith("is rejected.")
    assert "not rejected (which does not show" in decision(0.0501)
    assert "p < 0.0001" in decision(0.0)
    assert decision(float("nan")) == "there is no p-value."
    assert ", test that the mean of values limited to " in said("test_mean")
    assert " is 26 (two-sided): p" in said("test_mean")
    assert "The limited mean is " in said("test_mean")


def test_refusals_give_their_reason() -> None:
    assert said("refused").startswith("The refused of bmi was refused: n * epsilon is ")


def test_groups_are_said_one_by_one() -> None:
    groups = [{"key": "F", "release": records()["mean"]}, {"key": None, "release": records()["refused"]}]
    told = sentence(grouped(groups))
    assert re.match(
        r"Mean of bmi by sex: F [\d.]+ \([\d.]+ to [\d.]+\); missing refused; the intervals in brackets cover", told
    )
    assert "; and 4 more groups" in sentence(grouped(groups * 5))
    assert sentence(grouped([])) == "Mean of bmi by sex: no group."


def test_coefficients_that_leave_out_zero_are_named() -> None:
    assert "No interval includes 0." in said("linear regression")


def test_half_widths_are_those_of_the_intervals() -> None:
    def wide(name: str) -> str:
        return half_widths([shown for _, shown in entry_of(entry(records()[name])).shown()])

    interval = records()["count"]["interval"]
    assert wide("count") == f"{(interval['high'] - interval['low']) / 2:g}"
    assert " to " in wide("family")
    assert wide("kmeans") == ""


def test_groups_with_limits_of_their_own_are_told_apart() -> None:
    rng = discreet.Seeded(1)
    data = {"x": [float(k % 100) for k in range(1200)], "g": ["a", "b"] * 600}  # too few for the mean of all values
    with discreet.open(data, budget=2.0, ledger=":memory:", rng=rng) as session:
        told = of_groups("mean of x by g", session.mean("x", epsilon=1.0, groupby="g", keys=["a", "b"]).shown())
        assert told.count("after limiting values") == 2
        assert "for a, the population's mean" in told
        assert "for b, the population's mean" in told
        told = of_groups("count by g", session.count(epsilon=1.0, groupby="g", keys=["a", "b"]).shown())
        assert told.count("the count in this table") == 1
