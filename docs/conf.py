"""The configuration of Sphinx: ``sphinx-build -W -b html docs docs/_build/html`` builds the pages.

``docs/_build/html/index.html`` opens from the file system.
"""

from __future__ import annotations

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from schedproof import __version__

project = "schedproof"
author = "the schedproof authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["_build", "findings/generated"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "schedproof"
html_copy_source = False

DECISIONS = "decisions/README"


def list_decisions(app: Sphinx, docname: str, source: list[str]) -> None:
    """Adds the decisions to the index's table of contents; on GitHub the index stays plain Markdown."""
    if docname == DECISIONS:
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"


def setup(app: Sphinx) -> None:
    """Registers this project's extensions of Sphinx."""
    app.connect("source-read", list_decisions)
    app.add_lexer("mermaid", TextLexer)
    app.add_lexer("jsonl", TextLexer)
