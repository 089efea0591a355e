"""diffprivlib, where it is installed: its forests, which need an older scikit-learn, are left out."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


def diffprivlib_models() -> Any:
    """Its module of models, or None if it is not there."""
    forest = ModuleType("diffprivlib.models.forest")
    vars(forest).update(RandomForestClassifier=None, DecisionTreeClassifier=None)
    sys.modules.setdefault("diffprivlib.models.forest", forest)
    try:
        return import_module("diffprivlib.models")
    except ImportError:
        return None
