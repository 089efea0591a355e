"""All rows against a few references."""

from fractions import Fraction

import numpy as np
import pytest
from tests.friendly.worlds import REPLACE, SHARP, VALUES, crowds, replaced, tables

from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.friendly import friendly_mean as reference
from discreet.friendly.core import UNITS, Apart, Points, match_core
from discreet.friendly.friendly_mean import FriendlyMean, reference_centre
from discreet.noise.randomness import Seeded


@pytest.mark.claim("friendly_mean.1")
@pytest.mark.parametrize("references", [3, 4])
def test_the_mean_moves_no_further_than_claimed(references: int) -> None:
    """All tables of four rows and their neighbours, wherever three references survive in the larger core."""
    found = {}
    for table in tables(VALUES, 4):
        points = Points.of(np.array(table)[:, None], 1.0)
        core = match_core(Apart(points), references)
        kept = points.steps[core.survivors, 0].tolist()
        found[repr(table)] = (core.pairs, Fraction(sum(kept), max(1, len(kept))))
    seen = 0
    for table in tables(VALUES, 4):
        pairs, mean = found[repr(table)]
        for neighbour in replaced(table, VALUES):
            pairs_there, mean_there = found[repr(neighbour)]
            least = min(pairs, pairs_there)
            assert abs(pairs - pairs_there) <= 1
            if references >= 2 * least + 3:
                seen += 1
                assert abs(mean - mean_there) * (4 - 2 * least) <= 4 * UNITS
    assert seen > 100


@pytest.mark.claim("friendly_mean.1")
def test_replay_and_all_rows_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6000, 2)) + 100
    rows[:5] = np.inf
    found = reference_centre(rows, 14.0, rng=Seeded(0), **SHARP)  # type: ignore[arg-type]
    assert found is not None
    assert found.survivors == 6000 - 10
    assert found.deviation == pytest.approx(4 * 14.0 / (5990 * 64), rel=1e-4)
    assert np.abs(found.point - rows[5:].mean(axis=0)).max() < 0.02
    rows[:600] = np.inf
    assert reference_centre(rows, 14.0, rng=Seeded(0), **SHARP) is None  # type: ignore[arg-type]
    assert reference_centre(rows[:0], 14.0, rng=Seeded(0), **SHARP) is None  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="radius"):
        reference_centre(rows, 0.0, rng=Seeded(0), **SHARP)  # type: ignore[arg-type]
    monkeypatch.setattr(reference.reference_centre, "__kwdefaults__", {"least": None, "references": 12})
    mechanism, answers = FriendlyMean(1.6, 17.0, 1e-4, neighbours=REPLACE, method="reference", columns=2), 0
    for seed, pair in enumerate(crowds(REPLACE, 120, (12, 30), columns=2)):
        assert replay(mechanism, pair, seed=seed) == []
        answers += mechanism.release(pair.left, Seeded(seed)).refusal is None
    assert answers > 20


@pytest.mark.claim("friendly_mean.1")
def test_three_references_must_survive_what_may_have_been_dropped() -> None:
    """With B pairs dropped, 2 B + 3 references answer and 2 B + 2 do not; B is 5 here, as nothing is blurred much."""
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[:5] = np.inf
    for references, answers in ((11, False), (12, False), (13, True), (14, True)):
        found = reference_centre(rows, 14.0, rng=Seeded(0), references=references, **SHARP)  # type: ignore[arg-type]
        assert (found is not None) == answers
        assert found is None or found.survivors == 200 - 10
