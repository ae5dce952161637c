"""Pages of the Python names: one for each module or namespace."""

import re

import rst


class Names(dict):
    """Rows by name, as python_names.py tells them; which names go with an op, by its name."""

    def __init__(self, rows):
        super().__init__((row["name"], row) for row in rows)
        self.by_op = {}
        ops = {name.rpartition(".")[2].replace("_", "").lower(): name.rpartition(".")[2]
               for name in self if name.startswith("rheos.raw_ops.")}  # fmt: skip
        for name, row in self.items():
            parent, _, last = name.rpartition(".")
            op = ops.get(last.replace("_", "").lower())
            if op and "same_as" not in row and row["kind"] == "function" and last.islower():
                if parent.count(".") < 2 and parent != "rheos.raw_ops":
                    self.by_op.setdefault(op, []).append(name)
        self.op_of = {name: op for op, names in self.by_op.items() for name in names}


def member(one):
    if one["signature"] is None:
        return rst.directive("py:property", one["name"], rst.paragraphs(one["doc"]))
    signature = re.sub(r"^\((self|cls)(, )?", "(", one["signature"])
    return rst.directive("py:method", one["name"] + signature, rst.paragraphs(one["doc"]))


def entry(row, names):
    name = row["name"]
    if "same_as" in row:
        other = f":py:obj:`{row['same_as']}`, under another name."
        return rst.directive("py:function", name + "(...)", other)
    body = [rst.paragraphs(row["doc"])]
    op = names.op_of.get(name) or (name.rpartition(".")[2] if ".raw_ops." in name else None)
    if op:
        body.append(f"The op is :op:`{op}`.")
    body += [member(one) for one in row.get("members", ())]
    kind = "py:class" if row["kind"] == "class" else "py:function"
    return rst.directive(kind, name + row["signature"], "\n\n".join(filter(None, body)))


def pages(names):
    """(name of a module, its page), those that programs import first before those inside."""
    modules = {}
    for name, row in names.items():
        modules.setdefault(name.rpartition(".")[0], []).append(row)
    for module, rows in sorted(modules.items()):
        rows.sort(key=lambda row: ("same_as" in row, row["name"].lower()))
        parts = [rst.title(module), rst.directive("py:module", module, "")]
        yield module, "\n\n".join(parts + [entry(row, names) for row in rows]) + "\n"
