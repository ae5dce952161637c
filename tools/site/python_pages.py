"""Pages of the Python names: one for each name, one for each module or namespace."""

import re
from html import escape

from markup import Page, Writer, table

WIDTH = 90  # of a signature in one line
OPENING = (
    "<p>A program says <code>import tensorflow as tf</code> under <code>rheos run</code>, or "
    "<code>import rheos as tf</code> for TensorFlow 2, <code>import rheos.v1 as tf</code> for 1. "
    "A value of several names has one page, which tells the others.</p>"
)


class Reference:
    """Rows by name, as python_names.py tells them, and which names go with which op."""

    def __init__(self, rows, links):
        self.links, self.modules = links, {}
        self.names = {row["name"]: row for row in rows if row["kind"] != "module"}
        self.module_docs = {row["name"]: row["doc"] for row in rows if row["kind"] == "module"}
        self.others = {}
        for name, row in self.names.items():
            self.modules.setdefault(name.rpartition(".")[0], []).append(row)
            if row["kind"] == "alias":
                self.others.setdefault(row["same_as"], []).append(name)
        for module in self.modules:
            links.add(module, links.page("python", module))
        for name, row in self.names.items():
            if row["kind"] == "value":
                module, _, last = name.rpartition(".")
                links.add(name, f"{links.by_name[module]}#{last}")
            elif row["kind"] != "alias":
                page = links.add(name, links.page("python", name))
                for one in row.get("members", ()):
                    links.add(f"{name}.{one['name']}", f"{page}#{one['name']}")
        for name, row in self.names.items():
            if row["kind"] == "alias":
                self.lead_to(row["same_as"], name)
        self.find_ops()

    def lead_to(self, name, other):
        page = self.links.add(other, self.links.by_name[name])
        for one in self.names[name].get("members", ()):
            self.links.add(f"{other}.{one['name']}", f"{page}#{one['name']}")

    def find_ops(self):
        raw = {name.replace("_", "").lower(): last_of(name)
               for name in self.names if name.startswith("rheos.raw_ops.")}  # fmt: skip
        self.op_of, self.by_op = {}, {}
        for name, row in self.names.items():
            parent, _, last = name.rpartition(".")
            op = raw.get("rheos.rawops." + last.replace("_", "").lower())
            is_one = row["kind"] == "function" and last.islower() and parent.count(".") < 2
            if op and (parent == "rheos.raw_ops" or is_one):
                self.op_of[name] = op
                self.by_op.setdefault(op, []).append(name)

    def writer(self, name, own):
        return Writer(self.links, own, "rheos.v1" if name.startswith("rheos.v1") else "rheos")

    def name_page(self, name):
        row = self.names[name]
        path = self.links.by_name[name]
        write = self.writer(name, path)
        members = row.get("members", ())
        page = Page(path, name, f"Python, {row['kind']}", [name, *self.others.get(name, ())])
        page.names += [(f"{name}.{one['name']}", one["name"], "Python, member") for one in members]
        word = "class " if row["kind"] == "class" else ""
        page.add(write.code("python", word + wrapped(name, row["signature"])))
        page.add(write.text(row["doc"]))
        if name in self.op_of:
            page.add(f"<p>The op is {write.link('op ' + self.op_of[name], self.op_of[name])}.</p>")
        for one in members:
            page.add_section(one["name"], member(one, write), one["name"])
        module = name.rpartition(".")[0]
        others = ", ".join(f"<code>{escape(other)}</code>" for other in self.others.get(name, ()))
        page.add(f"<p class='other-names'>Also: {others}.</p>" if others else "")
        page.add(f"<p>In {write.link(module)}.</p>")
        return page

    def module_page(self, module):
        path = self.links.by_name[module]
        write = self.writer(module, path)
        page = Page(path, module, "Python, module", [module])
        page.add(write.text(self.module_docs.get(module, "")))
        inside = [one for one in self.modules if one.rpartition(".")[0] == module]
        page.add_section("Modules", self.module_table(inside, write))
        rows = sorted(self.modules[module], key=lambda row: row["name"].lower())
        for title, kind in (("Functions", "function"), ("Classes", "class")):
            chosen = [row for row in rows if row["kind"] == kind]
            page.add_section(title, table((), [
                (write.link(row["name"], short(row["name"])), write.summary(row["doc"]))
                for row in chosen
            ]))  # fmt: skip
        values = [row for row in rows if row["kind"] == "value"]
        page.add_section("Values", table((), [value_row(row) for row in values]))
        page.names += [(row["name"], last_of(row["name"]), "Python, value") for row in values]
        elsewhere = [row for row in rows if row["kind"] == "alias"]
        page.add_section("What has its page elsewhere", table((), [
            (short(row["name"]), write.link(row["same_as"])) for row in elsewhere
        ]))  # fmt: skip
        return page

    def module_table(self, modules, write):
        return table((), [
            (write.link(module), write.summary(self.module_docs.get(module, "")),
             str(len(self.modules[module]))) for module in sorted(modules)
        ])  # fmt: skip

    def index(self):
        write = Writer(self.links)
        page = Page("python/index.html", "Python", "Python")
        page.add(OPENING)
        for title, first in (("TensorFlow 2", False), ("TensorFlow 1", True)):
            chosen = [name for name in self.modules if name.startswith("rheos.v1") == first]
            page.add_section(title, self.module_table(chosen, write))
        return page

    def pages(self):
        yield self.index()
        yield from map(self.module_page, self.modules)
        for name, row in self.names.items():
            if row["kind"] in ("function", "class"):
                yield self.name_page(name)


def last_of(name):
    return name.rpartition(".")[2]


def short(name):
    return f"<code>{escape(last_of(name))}</code>"


def value_row(row):
    last = last_of(row["name"])
    name = f'<code id="{last}">{escape(last)}</code>'
    return name, f"<code>{escape(row['doc'])}</code>"


def wrapped(name, signature):
    """A signature, a parameter a line where it is long."""
    if len(name + signature) <= WIDTH or not signature.startswith("("):
        return name + signature
    parts, depth, start = [], 0, 1
    for i, letter in enumerate(signature):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 1 and letter == "," or depth == 0:
            parts.append(signature[start:i].strip())
            start = i + 1
    return name + "(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def member(one, write):
    if one["signature"] is None:
        return "<p>A property.</p>" + write.text(one["doc"])
    signature = re.sub(r"^\((self|cls)(, )?", "(", one["signature"])
    return write.code("python", wrapped(one["name"], signature)) + write.text(one["doc"])
