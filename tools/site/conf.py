"""How Sphinx makes the site; `tools/site/make` writes this file and the pages into one folder.

Of the reference Sphinx makes the first pages alone, which are the frames of the others; here their
words come into its search, and names in the texts become links to them.
"""

import json
from pathlib import Path

from docutils import nodes
from docutils.utils import new_document

project = "Rheos"
author = "The Rheos authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Rheos"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which pages from disk may not do
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
exclude_patterns = ["_build"]
myst_heading_anchors = 4
highlight_language = "none"
REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


def link_names(app, doctree, docname):
    """Makes links of code that is the name of something with a page."""
    face = "rheos.v1" if docname.startswith("docs/guide/tf1/") else "rheos"
    for code in list(doctree.findall(nodes.literal)):
        name = code.astext().partition("(")[0]
        names = [name]
        if name.startswith("tf."):
            names = [face + name[2:], "rheos" + name[2:]]
        page = next((REFERENCE["links"][one] for one in names if one in REFERENCE["links"]), None)
        inside = code.parent
        while inside is not None and not isinstance(inside, (nodes.reference, nodes.title)):
            inside = inside.parent
        if page and inside is None:
            up = "../" * docname.count("/")
            link = nodes.reference("", "", refuri=f"{up}reference/{page}", internal=True)
            code.replace_self(link)
            link += code


def search_pages(app):
    """Has the search know the pages that Sphinx does not make."""
    for docname, title, words in REFERENCE["pages"]:
        title = title.strip("<>")  # of headers: results are shown as HTML
        doctree = new_document(docname)
        doctree += nodes.section("", nodes.title("", title), nodes.paragraph("", words))
        app.builder.index_page(docname, doctree, title)
        # What is not there the search forgets.
        app.env.all_docs[docname] = 0
        app.env.titles[docname] = nodes.title("", title)
    return []


def drop_script(app, pagename, templatename, context, doctree):
    """Leaves out the theme's script, which pages from disk cannot load; site.js does its part."""
    files = context.get("script_files", ())
    kept = [one for one in files if "scripts/furo.js" not in str(getattr(one, "filename", one))]
    context["script_files"] = kept


def setup(app):
    app.connect("html-page-context", drop_script, priority=900)
    app.connect("doctree-resolved", link_names)
    app.connect("html-collect-pages", search_pages)
