from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet._compiled import warmth


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """As after an install."""
    monkeypatch.setattr(warmth, "COLD", 2_000_000)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    warmth.compiled_before.cache_clear()
    yield
    warmth.compiled_before.cache_clear()


def test_what_was_never_compiled_is_compiled_for_long_inputs_only() -> None:
    assert not warmth.warm(1_999_999, "column_kernels")
    assert warmth.warm(2_000_000, "column_kernels")
    assert warmth.warm(50_000, "bulk", least=50_000)
    assert not warmth.warm(49_999, "bulk", least=50_000)


def test_what_was_compiled_before_is_used(tmp_path: Path) -> None:
    (tmp_path / "_compiled_1f").mkdir()
    (tmp_path / "_compiled_1f" / "column_kernels._first-78.py311.nbi").touch()
    assert warmth.warm(1, "column_kernels")
    assert not warmth.warm(1, "model_kernels")


def test_a_folder_that_is_not_there_is_cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "none"))
    assert not warmth.compiled_before("column_kernels")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    warmth.compiled_before.cache_clear()
    assert isinstance(warmth.compiled_before("column_kernels"), bool)
