"""Pages of the C reference: what the public headers declare, with the comments above and beside."""

import re

from markup import Page, Writer, table

SECTION = re.compile(r"^// ---- (.*)$")
DECLARED = re.compile(r"(\w+)\s*\(")
DROPPED = re.compile(r"\b(RHEOS_API|RHEOS_MUST_USE|static|inline|RHEOS_PRINTF\([^)]*\)|extern)\s")


def declarations(text):
    """(section, comment, declaration, comment beside it) of a header, in its order."""
    lines = text.split("\n")
    section, comment, i = None, [], 0
    while i < len(lines):
        line = lines[i]
        if SECTION.match(line):
            section, comment = SECTION.match(line)[1], []
        elif line.startswith("//"):
            comment.append(re.sub(r"^// ?", "", line))
        elif not line.strip():
            comment = []
        elif line == "#ifdef __cplusplus":  # what C++ has in place of what follows
            while lines[i] not in ("#else", "#endif"):
                i += 1
        elif line.startswith("#"):
            i, macro = whole_macro(lines, i)
            if re.match("#define (RHEOS|rheos)_", macro) and "_H\n" not in macro + "\n":
                yield section, "\n".join(comment), macro, ""
        elif line.startswith(('extern "C"', "}")):
            comment = []
        else:
            i, declared, beside = whole_declaration(lines, i)
            yield section, "\n".join(comment), declared, beside
        i += 1


def whole_macro(lines, i):
    text = [lines[i]]
    while lines[i].endswith("\\"):
        i += 1
        text.append(lines[i])
    return i, "\n".join(text)


def whole_declaration(lines, i):
    """The lines up to a ';' or '}' outside of braces, and the comment at their end."""
    text, depth, beside = [], 0, ""
    while True:
        bare = re.sub(r'"[^"]*"', "", lines[i].split("//")[0])
        depth += bare.count("{") - bare.count("}")
        text.append(lines[i])
        if depth == 0 and bare.rstrip().endswith((";", "}")) or i + 1 == len(lines):
            break
        i += 1
    if len(text) == 1 or not any("{" in line for line in text):
        beside = " ".join(line.split("//", 1)[1].strip() for line in text if "//" in line)
        text = [line.split("//")[0].rstrip() for line in text]
    return i, "\n".join(text), beside


def name_of(declared):
    """(kind, name) of a declaration; (None, None) of what is no one's business."""
    macro = re.match(r"#define (\w+)", declared)
    if macro:
        return "macro", macro[1]
    kind = re.match(r"(?:typedef )?(struct|enum|union)\s*(\w*)", declared)
    if kind and "{" in declared:
        # An enumeration without a name: its first constant stands for it.
        name = kind[2] or re.search(r"(\w*);\s*$", declared)[1] or constants(declared)[0]
        return kind[1], name
    if declared.startswith("typedef"):
        name = re.search(r"\(\*(\w+)\)", declared) or re.search(r"(\w+);", declared)
        return "type", name[1]
    found = DECLARED.search(bare(declared))
    return ("function", found[1]) if found else (None, None)


def constants(declared):
    """Those of an enumeration."""
    body = re.sub(r"//.*|=[^,}]*", "", declared.partition("{")[2])
    return re.findall(r"\b[A-Z]\w+\b", body)


def bare(declared):
    """A declaration without what only compilers read, and without a body."""
    if declared.startswith("#"):
        return declared
    if not re.match(r"(typedef )?(struct|enum|union)\b[^(;]*\{", declared):
        declared = re.split(r"\s*\{", declared)[0].rstrip().rstrip(";") + ";"
    declared = declared.replace("RHEOS_STATUS ", "rheos_status *")
    for _ in range(4):
        declared = DROPPED.sub("", declared)
    declared = re.sub(r"\s+RHEOS_PRINTF\([^)]*\)", "", declared)
    return re.sub(r"\s+RHEOS_LEFT_OUT", "", declared).strip()


def opening(text):
    """The comment at the top of a header."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


class Reference:
    """The pages of the C names: one for each name, one for each header."""

    def __init__(self, folder, links):
        self.links, self.headers, self.names = links, {}, {}
        for path in sorted(folder.glob("*.h")):
            self.read(path)

    def read(self, path):
        text = path.read_text()
        first, parts = opening(text), {}
        header = f"<rheos/{path.name}>"
        for section, comment, declared, beside in declarations(text):
            kind, name = name_of(declared)
            if not name or name.endswith(("_", "_sized")):
                continue
            about = "\n\n".join(filter(None, ("" if comment == first else comment, beside)))
            if name not in self.names:
                self.names[name] = {"kind": kind, "header": header, "parts": []}
                parts.setdefault(section, []).append(name)
                self.links.add(name, self.links.page("c", name))
            known = self.names[name]["parts"]
            if about or bare(declared) not in [bare(one) for _, one in known]:
                known.append((about, declared))
            for constant in constants(declared) if kind == "enum" else ():
                self.links.add(constant, self.links.by_name[name])
        self.headers[header] = (first, parts)
        self.links.add(header, self.links.page("c", path.name))

    def about(self, name):
        return next((about for about, _ in self.names[name]["parts"] if about), "")

    def mentions(self, name):
        """The functions whose declarations name a type."""
        word = re.compile(rf"\b{name}\b")
        return [
            other for other, entry in self.names.items()
            if entry["kind"] == "function" and any(word.search(d) for _, d in entry["parts"])
        ]  # fmt: skip

    def name_page(self, name):
        entry = self.names[name]
        path = self.links.by_name[name]
        write = Writer(self.links, path)
        leads = {name, *(c for _, d in entry["parts"] if entry["kind"] == "enum"
                         for c in constants(d))}  # fmt: skip
        page = Page(path, name, f"C, {entry['kind']}", sorted(leads))
        page.add(f"<p>In {write.link(entry['header'])}.</p>")
        for about, declared in entry["parts"]:
            page.add(write.code("c", bare(declared)), write.text(about))
        if entry["kind"] not in ("function", "macro"):
            page.add_section("Functions that speak of it", write.list(self.mentions(name)))
        return page

    def header_page(self, header):
        first, parts = self.headers[header]
        path = self.links.by_name[header]
        write = Writer(self.links, path)
        page = Page(path, header, "C, header", [header])
        page.add(write.text(first))
        for section, names in parts.items():
            rows = [(write.link(name), write.summary(self.about(name))) for name in names]
            shown = table((), rows)
            page.add_section(section, shown) if section else page.add(shown)
        return page

    def index(self):
        write = Writer(self.links)
        page = Page("c/index.html", "C", "C")
        page.add(
            "<p>What the public headers declare. Of each op there is a function besides, in "
            '<code>&lt;rheos/ops.h&gt;</code>: see <a href="../ops/index.html">the ops</a>. '
            'C++ has <a href="../../docs/guide/c/9-cpp.html">a chapter</a> of the guide.</p>'
        )
        rows = [
            (write.link(header), write.summary(first), str(sum(map(len, parts.values()))))
            for header, (first, parts) in self.headers.items()
        ]
        page.add(table(("header", "", "names"), rows))
        return page

    def pages(self):
        yield self.index()
        yield from map(self.header_page, self.headers)
        yield from map(self.name_page, self.names)
