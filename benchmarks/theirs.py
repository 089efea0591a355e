"""diffprivlib, where it can be imported: its forests, which need an older scikit-learn, are left out."""

import sys
from types import ModuleType
from typing import Any


def diffprivlib_models() -> Any:
    """Its module of models, or None if it is not there."""
    forest = ModuleType("diffprivlib.models.forest")
    vars(forest).update(RandomForestClassifier=None, DecisionTreeClassifier=None)
    sys.modules.setdefault("diffprivlib.models.forest", forest)
    try:
        from diffprivlib import models  # type: ignore[import-untyped]
    except ImportError:
        return None
    return models
