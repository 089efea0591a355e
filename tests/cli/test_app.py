"""What is being worked on."""

import pytest

from discreet.cli.describe_command import watching


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_said_where_nobody_watches(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with watching(2, quiet=quiet) as watch:
        watch("mean of age")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("total", [2, None])
def test_a_terminal_sees_titles_as_they_are(
    total: int | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with watching(total, quiet=False) as watch:
        watch("mean of [red]age[/]")
        watch("count")
    out, err = capsys.readouterr()
    assert out == ""
    assert "count" in err
    assert "\x1b[31mage" not in err
