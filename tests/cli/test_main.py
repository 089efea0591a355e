"""What the shell sees when something goes wrong."""

import pytest

from discreet import cli
from discreet.errors import BadInput, LedgerChanged, OverBudget, Refused


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadInput("no such column"), 2),
        (Refused("too few"), 3),
        (OverBudget("nothing is left"), 4),
        (LedgerChanged("entry 3"), 5),
    ],
)
def test_an_error_of_ours_is_a_line_and_a_code(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr("discreet.cli.app.app", fails)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == code
    assert capsys.readouterr().err == f"{error}\n"


def test_an_error_of_others_says_nothing_of_the_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise ValueError("row 17 holds 42.5")

    monkeypatch.setattr("discreet.cli.app.app", fails)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 1
    seen = capsys.readouterr().err
    assert "42.5" not in seen
    assert "Traceback" not in seen
