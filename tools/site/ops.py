"""Pages of the ops, from the table of docs/ops.md: one for each op."""

import re
from html import escape

from markup import Page, Writer, table

ROW = re.compile(r"^\| `(\w+)` \| (.*) \| `(.*)` \| (.*) \| (.*) \|$", re.MULTILINE)
WRAPPER = re.compile(r'rheos_op_from_struct\(scope, "(\w+)"')
FUNCTION = re.compile(r"\brheos_(\w+)_with\(rheos_scope \*scope")


def wrappers(header):
    """The C function of each op, by the generated header."""
    found, name = {}, None
    for line in header.split("\n"):
        function, op = FUNCTION.search(line), WRAPPER.search(line)
        name = function[1] if function else name
        if op and name:
            found[op[1]] = f"rheos_{name}"
    return found


def split_signature(text):
    """(inputs, outputs, attributes), each a list of (name, what it is)."""
    text = text.replace("\\|", "|")
    arguments, _, attributes = text.partition(";")
    inputs, _, outputs = arguments.partition("->")
    lists = []
    for part, separator in ((inputs, ","), (outputs, ","), (attributes, ";")):
        pairs = [one.partition(":") for one in part.split(separator) if one.strip()]
        lists.append([(name.strip(), what.strip()) for name, _, what in pairs])
    return lists


def differences(text):
    """What docs/ops.md says of ops whose answers differ, by the op."""
    found = {}
    for line in re.findall(r"^- (.*)$", text, re.MULTILINE):
        for name in set(re.findall(r"`([A-Z]\w+)`", line)):
            found.setdefault(name, []).append(line)
    return found


def code(text):
    return f"<code>{escape(text)}</code>" if text else ""


class Reference:
    """An op's page has what calls it, in C and in Python."""

    def __init__(self, text, header, python, links):
        self.links, self.python = links, python
        self.rows = {row[0]: row for row in ROW.findall(text)}
        self.functions, self.differs = wrappers(header), differences(text)
        for name in self.rows:
            page = links.add(f"op {name}", links.page("ops", name))
            links.add(name, page)
            if name in self.functions:
                links.add(self.functions[name], page)

    def op_page(self, name):
        _, what, signature, gradient, kernels = self.rows[name]
        path = self.links.by_name[f"op {name}"]
        write = Writer(self.links, path)
        page = Page(path, name, "op", [name])
        page.add(f"<p>{write.prose(what)}</p>")
        inputs, outputs, attributes = split_signature(signature)
        for head, pairs in (("input", inputs), ("output", outputs)):
            page.add(table((head, "dtype"), [(code(a), code(b)) for a, b in pairs]))
        heads = ("attribute", "what it takes, and its default")
        page.add(table(heads, [(code(a), code(b)) for a, b in attributes]))
        facts = [f"Gradient: {gradient or 'none is there'}.", f"Kernels: {kernels}."]
        facts += [f"Differs: {write.prose(line)}" for line in self.differs.get(name, ())]
        page.add("<ul>" + "".join(f"<li>{fact}</li>" for fact in facts) + "</ul>")
        if name in self.functions:
            function = self.functions[name]
            page.names.append((function, "c", "C, function"))
            call = ", ".join(["scope", *(one for one, _ in inputs), "..."])
            note = write.text("Inputs by position, the rest by name, as in `.name = \"y\"`.")
            page.add_section("In C", write.code("c", f"{function}({call})") + note, "c")
        callers = sorted(self.python.by_op.get(name, ()))
        page.add_section("In Python", write.list(callers), "python")
        return page

    def index(self):
        write = Writer(self.links)
        page = Page("ops/index.html", "Ops", "op")
        page.add(
            '<p>Every op. <a href="../../docs/ops.html">The page of the ops</a> says what all have '
            "in common.</p>"
        )
        letters = {}
        for name in self.rows:
            letters.setdefault(name.lstrip("_")[0].upper(), []).append(name)
        for letter, names in sorted(letters.items()):
            rows = [(write.link(f"op {one}", code(one)), write.summary(self.rows[one][1]))
                    for one in names]  # fmt: skip
            page.add_section(letter, table((), rows))
        return page

    def pages(self):
        yield self.index()
        yield from map(self.op_page, self.rows)
