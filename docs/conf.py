"""The site: `python -m sphinx -c docs . site` makes it, without a network. Its source is the tree as it stands, so that links
between pages, to proofs beside the code and to the code itself are the same in a repository and on the site."""

from coterie.version import VERSION

project = "Coterie"
release = VERSION

extensions = ["myst_nb"]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md", "docs/*.ipynb", "src/coterie/privacy/**.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "STYLE.md",
]  # fmt: skip
exclude_patterns = [".*", "runs", "site", "tests"]  # which are not even looked into

myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebook is kept with what it has shown

html_theme = "furo"
html_title = f"Coterie {VERSION}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_additional_pages = {"index": "forward.html"}
templates_path = ["templates"]
suppress_warnings = ["misc.highlighting_failure"]  # CSV has no colours
