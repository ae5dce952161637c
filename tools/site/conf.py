"""How Sphinx makes the site; `tools/site/make` writes this file and the pages into one folder."""

project = "Rheos"
author = "The Rheos authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Rheos"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which pages from disk may not do
html_show_sphinx = False
exclude_patterns = ["_build"]
myst_heading_anchors = 4
c_id_attributes = ["RHEOS_LEFT_OUT"]
add_module_names = False
toc_object_entries = True
toc_object_entries_show_parents = "hide"
nitpicky = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
highlight_language = "none"


def setup(app):
    app.add_object_type("op", "op", objname="op", indextemplate="pair: %s; op")
