"""Builds the documentation site (see `.ci/docs`); its reference pages are made from the code first."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "probes")]

import reference_pages  # noqa: E402  (found by the line above)

from dlprof import __version__  # noqa: E402

reference_pages.write(HERE / "reference" / "generated")

project = "dlprof"
author = "the authors of dlprof"
release = version = __version__

extensions = ["myst_parser", "charts", "questions"]
exclude_patterns = ["_build", "reference_pages"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
smartquotes = False  # `--json` stays as it is typed
highlight_language = "text"
show_warning_types = True
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_title = f"dlprof {release}"
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
pygments_style = "default"
pygments_dark_style = "github-dark"
