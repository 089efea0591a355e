"""The lectures' filter as printed is caught, fault by fault; the corrected one and ours are left in peace."""

import pytest
from tests.audit.mutants import Mutant
from tests.friendly.mutants import MUTANTS, mutant, world

from discreet import audit
from discreet.audit.replay import drawn, exceeds, replay
from discreet.friendly.friendly_mean import FriendlyMean, Method
from discreet.noise.randomness import Seeded


def findings(mechanism: Mutant) -> list[str]:
    """Replay and meter. That the loss keeps a guarantee is not asked: with hardly any noise all is seen."""
    found = [objection for pair in world() for objection in replay(mechanism, pair)]
    over = {exceeds(drawn(mechanism, pair.left), mechanism.loss) for pair in world()}
    return found + [words for words in over if words]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (MUTANTS[0], "draw 1 (Blur): moved"),  # the test's
        (MUTANTS[1], "draw 2 (Blur): moved"),  # the mean's
        (MUTANTS[2], "draw 2 (Blur): moved"),
        (MUTANTS[3], "draw 1 (Blur): moved"),
        (MUTANTS[4], "draws cost epsilon"),
        (MUTANTS[5], "draw 2 (Blur): moved"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_every_fault_of_the_lectures_is_found(wrong: Mutant, words: str) -> None:
    found = findings(wrong)
    assert found
    assert any(words in one for one in found), found


def test_without_a_fault_nothing_is_found() -> None:
    assert findings(mutant()) == []
    assert findings(mutant(mu=1)) == []
    assert findings(mutant("any weight will do", mu=64)) == []  # alone no harm: survivors are within two radii
    answers = [mutant().release(pair.left, Seeded(0)).answer for pair in world()]
    assert sum(not isinstance(answer, str) for answer in answers) >= 14


@pytest.mark.parametrize("method", ["match", "weights"])
def test_ours_on_the_same_tables(method: Method) -> None:
    audit.check(FriendlyMean(1.0, 17.0, 1e-4, method=method, columns=1), world(), hostile_values=False).require()
