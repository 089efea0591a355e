"""Some hundred random plans on random tables; `python -m benchmarks.fuzz` tries many more."""

from benchmarks.fuzz import fuzz


def test_random_plans_bring_out_errors_of_ours_and_nothing_of_the_marked_person() -> None:
    tally = fuzz(plans=400, tables=40, runs=30, seed=20)
    assert tally.faults == []
    assert tally.plans == 400
    assert tally.ends["run"] >= 15
    assert tally.ends["cannot be read"] >= 100
    assert tally.ends["cannot be asked"] >= 20
    assert tally.ends["priced"] >= 40
