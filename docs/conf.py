"""The site: `make docs` builds it into build/site, offline, and a warning is an error."""

import ast
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
from _site import write_pages  # noqa: E402

project = "discreet"
author = "The discreet developers"
copyright = "The discreet developers. Apache-2.0"  # noqa: A001  Sphinx's name for it
release = ast.literal_eval((ROOT / "src" / "discreet" / "version.py").read_text().split("=")[-1].strip())

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build", "_site.py", "notebooks/*.py"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks hold their output: `make notebooks` runs them
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the parameters are described in words
default_role = "code"

html_theme = "furo"
html_title = "discreet"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
templates_path: list[str] = []
pygments_style = "tango"

write_pages()
