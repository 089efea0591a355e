"""The door to Opacus, closed."""

import sys

import pytest

from discreet.errors import BadInput
from discreet.models.gradients import private_training


def test_without_opacus_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opacus", None)
    with pytest.raises(BadInput, match=r"discreet\[torch\]"):
        private_training(None, None, None, epsilon=1.0, delta=1e-6, epochs=1)
