"""Cards for notebooks: tables in columns, pictures in the page's own colours."""

import re
import sys

import numpy as np
import pytest

import discreet
from discreet.privacy.card import card, sketch

AGES = [20 + k % 60 for k in range(2000)]
SEX = ["F", "M"] * 1000


def test_letters_have_the_colour_of_the_page() -> None:
    shown = card(["mean of age: 5", "  note: <b>", "  a   b"])
    assert "color" not in shown.replace("rgba", "")
    assert "&lt;b&gt;" in shown
    assert "white-space:pre;font-family:monospace'>a   b" in shown


def test_several_numbers_have_their_picture_and_one_has_none() -> None:
    counts = discreet.histogram(SEX, categories=["F", "M"], epsilon=1.0, rng=discreet.Seeded(1))._repr_html_()
    assert counts.count("<svg") == 1
    assert "currentColor" in counts
    assert not re.search("#000000|#1b5e8c|<script|xmlns:xlink.*http[^w]*script", counts)
    assert "<svg" not in discreet.mean(AGES, epsilon=1.0, rng=discreet.Seeded(1))._repr_html_()
    apart = discreet.difference(AGES, SEX, between=["F", "M"], epsilon=4.0, rng=discreet.Seeded(1))
    assert apart.refusal is None
    assert "<svg" not in apart._repr_html_()  # a difference and a ratio have no scale in common


def test_groups_share_a_picture() -> None:
    with discreet.open({"age": AGES, "sex": SEX}, budget=9.0, ledger=":memory:", unit="person") as session:
        assert session.mean("age", groupby="sex", keys=["F", "M"], epsilon=4.0)._repr_html_().count("<svg") == 1
        many = session.histogram("age", edges=[20, 50, 80], groupby="sex", keys=["F", "M"], epsilon=2.0)
        assert "<svg" not in many._repr_html_()  # no picture of all of them


def test_a_refusal_and_hostile_names_are_cards() -> None:
    assert "refused" in discreet.mean([1.0, 2.0] * 9, epsilon=0.1, rng=discreet.Seeded(1))._repr_html_()
    rows = np.column_stack([AGES, AGES]) + np.random.default_rng(1).normal(size=(2000, 2))
    named = {"<svg onload=x>": rows[:, 0], "$\\frac{$": rows[:, 1]}
    shown = discreet.covariance(named, epsilon=9.0, delta=1e-6, rng=discreet.Seeded(1))._repr_html_()
    assert "&lt;svg onload" in shown
    assert "<svg onload" not in shown
    assert shown.count("<svg") == 1


def test_without_matplotlib_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert sketch(lambda ax: None) == ""
