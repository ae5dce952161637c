"""Text as HTML: what comments and docstrings say, as paragraphs, lists and code with links."""

import re
import textwrap
from html import escape

try:
    import pygments
    import pygments.formatters
    import pygments.lexers
except ImportError:  # comes with Sphinx; where pages are only counted, their code stays plain
    pygments = None

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
IN_C = re.compile(r"\b(?:rheos|RHEOS)_\w+\b(?:\(\))?")
INDENTED = re.compile(r" {2,}|>>>|\|")
FIELD = re.compile(r"(\*{0,2}\w+): (.*)", re.DOTALL)


class Links:
    """Where names are told of: a page below reference/, perhaps with an anchor."""

    def __init__(self):
        self.by_name, self.taken = {}, set()

    def page(self, folder, name):
        """A file for the page of a name, other than all in the folder whatever the case is."""
        file = name
        while (folder, file.lower()) in self.taken:
            file += "_"
        self.taken.add((folder, file.lower()))
        return f"{folder}/{file}.html"

    def add(self, name, page):
        return self.by_name.setdefault(name, page)

    def find(self, words, face="rheos"):
        """The page of a name as texts write it: with arguments, or as `tf.` something."""
        name = words.partition("(")[0].strip().removeprefix("import ")
        if name.startswith("tf."):
            second = "rheos" + name[2:]
            return self.by_name.get(face + name[2:]) or self.by_name.get(second)
        return self.by_name.get(name)


class Writer:
    """Writes texts of one page, whose links begin with `up`; `face` is what `tf` stands for."""

    def __init__(self, links, own="", face="rheos", up="../"):
        self.links, self.own, self.face, self.up = links, own, face, up

    def link(self, name, shown=None, anchor=""):
        shown = shown or f"<code>{escape(name)}</code>"
        page = self.links.find(name, self.face)
        if not page or page == self.own:
            return shown
        return f'<a class="name" href="{self.up}{page}{anchor}">{shown}</a>'

    def prose(self, text):
        """Text in which `words` are code; they, and C's names, are links where there is a page."""
        parts = CODE.split(text.replace("``", "`"))
        shown = []
        for i, part in enumerate(parts):
            if i % 2:
                shown.append(self.link(part.strip()))
            else:
                shown.append(IN_C.sub(lambda found: self.link(found[0]), escape(part)))
        return "".join(shown)

    def list(self, names):
        """Links to names; nothing without names."""
        items = "".join(f"<li>{self.link(name)}</li>" for name in names)
        return items and f'<ul class="names">{items}</ul>'

    def summary(self, text):
        """The first sentence."""
        first = re.split(r"\n\s*\n", text.strip())[0].replace("\n", " ")
        return self.prose(re.split(r"(?<=[a-z\])`][.:;])\s", first)[0].rstrip(":;"))

    def text(self, text):
        """A docstring or comment: what is indented, or begins with >>>, is code."""
        return "\n".join(map(self.block, re.split(r"\n\s*\n(?! )", text.strip("\n"))))

    def block(self, text):
        lines = text.rstrip().split("\n")
        if lines[0].startswith("- "):
            items = re.split(r"\n?^- ", "\n".join(lines), flags=re.MULTILINE)[1:]
            return "<ul>" + "".join(f"<li>{self.prose(item)}</li>" for item in items) + "</ul>"
        first = next((i for i, line in enumerate(lines) if INDENTED.match(line)), None)
        if first is None:
            return f"<p>{self.prose(text)}</p>" if text.strip() else ""
        before = f"<p>{self.prose(chr(10).join(lines[:first]))}</p>" if first else ""
        indented = textwrap.dedent("\n".join(lines[first:]))
        fields = [FIELD.fullmatch(one) for one in re.split(r"\n(?! )", indented)]
        if all(fields):
            rows = [(f"<code>{escape(one[1])}</code>", self.prose(one[2])) for one in fields]
            return before + table((), rows)
        return before + self.code("pycon" if ">>>" in indented else "none", indented)

    def code(self, language, text):
        shown = escape(text)
        if pygments and language != "none":
            lexer = pygments.lexers.get_lexer_by_name(language)
            formatter = pygments.formatters.HtmlFormatter(nowrap=True)
            shown = pygments.highlight(text, lexer, formatter).rstrip("\n")
        shown = IN_C.sub(lambda found: self.link(found[0], found[0]), shown)
        kind = f"highlight-{language} notranslate"
        return f'<div class="{kind}"><div class="highlight"><pre>{shown}\n</pre></div></div>'


def table(head, rows):
    """A table; nothing without rows."""
    if not rows:
        return ""
    top = "".join(f'<th class="head">{cell}</th>' for cell in head)
    top = f"<thead><tr>{top}</tr></thead>" if head else ""
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    inside = f'<table class="docutils reference">{top}<tbody>{body}</tbody></table>'
    return f'<div class="table-wrapper docutils container">{inside}</div>'


def section(title, body, anchor=None):
    """A part of a page with a heading; what the page's contents show of it."""
    anchor = anchor or re.sub(r"\W+", "-", title.lower()).strip("-")
    sign = f'<a class="headerlink" href="#{anchor}" title="Link to this heading">¶</a>'
    return f'<section id="{anchor}"><h2>{escape(title)}{sign}</h2>{body}</section>', (anchor, title)


class Page:
    """What goes into the frame of a page: its words, its contents, and what a search finds."""

    def __init__(self, path, title, kind, names=()):
        self.path, self.title, self.kind = path, title, kind
        self.names = [(name, "", kind) for name in names]  # that lead here: name, anchor, kind
        self.parts, self.contents = [], []

    def add(self, *parts):
        self.parts += filter(None, parts)

    def add_section(self, title, body, anchor=None):
        if body:
            part, entry = section(title, body, anchor)
            self.parts.append(part)
            self.contents.append(entry)

    def body(self):
        return "\n".join(self.parts)

    def words(self):
        """What a search of the text reads."""
        return re.sub(r"<[^>]*>", " ", self.body())
