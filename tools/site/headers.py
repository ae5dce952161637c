"""Pages of the C reference: what the public headers declare, with the comments above and beside."""

import re

import rst

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
            if macro.startswith("#define RHEOS_") and "_H\n" not in macro + "\n":
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


def signature(text):
    """A function's declaration as Sphinx reads it."""
    text = re.sub(r"\s+", " ", re.split(r"\s*\{", text)[0]).strip().rstrip(";")
    text = text.replace("RHEOS_STATUS ", "rheos_status *")
    for _ in range(4):
        text = DROPPED.sub("", text)
    return re.sub(r" RHEOS_PRINTF\([^)]*\)", "", text).strip()


def entry(comment, declared, beside):
    """The name of a declaration, and its text on the page."""
    body = "\n\n".join(filter(None, (rst.paragraphs(comment), rst.prose(beside))))
    macro = re.match(r"#define (\w+)(\([^)]*\))?", declared)
    if macro:
        body += "\n\n" + rst.code("c", declared)
        return macro[1], rst.directive("c:macro", macro[1] + (macro[2] or ""), body)
    kind = re.match(r"(?:typedef )?(struct|enum|union)\s*(\w*)", declared)
    if kind and "{" in declared:
        name = kind[2] or re.search(r"(\w*);\s*$", declared)[1]
        body += "\n\n" + rst.code("c", re.sub(r"\s+RHEOS_LEFT_OUT", "", declared))
        if not name:  # an enumeration without a name: its first constant stands for it
            name = re.search(r"\{[^A-Z]*(\w+)", re.sub(r"//.*", "", declared))[1]
            return name, rst.directive("c:macro", name, body)
        return name, rst.directive("c:" + kind[1], name, body)
    if declared.startswith("typedef"):
        name = re.search(r"\(\*(\w+)\)", declared) or re.search(r"(\w+);", declared)
        return name[1], rst.directive("c:type", name[1], body + "\n\n" + rst.code("c", declared))
    shown = signature(declared)
    found = DECLARED.search(shown)
    if not found:
        return None, ""
    return found[1], rst.directive("c:function", shown, body)


def opening(text):
    """The comment at the top of a header."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def page(path):
    """(the page of a header, what it declares)."""
    text = path.read_text()
    first = opening(text)
    parts = [rst.title(f"<rheos/{path.name}>"), rst.paragraphs(first)]
    names, last = set(), None
    for section, comment, declared, beside in declarations(text):
        if section != last:
            parts.append(rst.title(section, "-"))
            last = section
        name, shown = entry("" if comment == first else comment, declared, beside)
        if name and name not in names and not name.endswith(("_", "_sized")):
            names.add(name)
            parts.append(shown)
    return "\n\n".join(parts) + "\n", names
