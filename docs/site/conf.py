# Configures Sphinx for the target docs. The pages are the Markdown files of the repository, and references generated from
# the command's manual page, from docstrings, and by Doxygen.
import pathlib
import re
import subprocess
import sys

from sphinx.ext import autodoc
from sphinx.ext.autodoc.mock import _MockModule

site = pathlib.Path(__file__).parent
sys.path.insert(0, str(site.parents[1] / "python"))
sys.modules["encdec._encdec"] = compiled = _MockModule("encdec._encdec")
compiled.slices = sorted(each.parent.name for each in site.parents[1].glob("python/encdec/*/__init__.py"))
sys.dont_write_bytecode = True

project = "encdec"
copyright = "The encdec authors"
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/site/*.md", "docs/site/*.rst", "examples/**.md", "models/**.md",
                    "tests/**.md", "third_party/*.md", "tools/**.md"]  # fmt: skip
exclude_patterns = ["build"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
highlight_language = "none"
smartquotes = False  # it would turn the two hyphens of options into dashes
myst_enable_extensions = ["deflist", "html_image"]
myst_heading_anchors = 4

autodoc_default_options = {"members": True, "undoc-members": True, "inherited-members": "RuntimeError, dict, tuple",
                           "exclude-members": "DEFAULTS"}  # fmt: skip
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_css_files = ["site.css"]
html_static_path = ["site.css"]
html_copy_source = False
# Debian's furo does not follow the browser's colour scheme.
DARK = 'if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.dataset.theme = "dark";'


def add_text(app, page, source):
    """Appends the table of contents to the front page, and the manual page to the command's reference."""
    if page == root_doc:
        source[0] += (site / "contents.txt").read_text("utf-8")
    elif page == "docs/site/command":
        pandoc = ["pandoc", "--from=man", "--to=commonmark+definition_lists", "--shift-heading-level-by=1"]
        text = subprocess.check_output([*pandoc, app.config.manual_page], encoding="utf-8")
        source[0] += re.sub("^## ENCDEC .*", lambda heading: heading[0].lower(), text, flags=re.MULTILINE)


class MethodDocumenter(autodoc.MethodDocumenter):
    """Documents a method with the module that defines it, because Model inherits from the Model classes of several modules."""

    def generate(self, more_content=None, real_modname=None, check_module=False, all_members=False):
        super().generate(more_content, None, check_module, all_members)


def setup(app):
    app.add_autodocumenter(MethodDocumenter, override=True)
    app.add_config_value("manual_page", "", "env")
    app.connect("source-read", add_text)
    app.add_js_file(None, body=DARK)
