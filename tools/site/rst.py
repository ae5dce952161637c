"""Text in reStructuredText: what comments and docstrings say, as paragraphs and code."""

import re
import textwrap

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def literal(text):
    """Words as code, inside a line."""
    text = text.strip()
    return f"``{text}``" if text else ""


def escaped(text):
    return re.sub(r"([\\*|]|_(?=\W|$))", r"\\\1", text)


def prose(text):
    """A paragraph in which `words` are code and nothing else is markup."""
    parts = CODE.split(text.replace("``", "`"))
    shown = []
    for i, part in enumerate(parts):
        if i % 2 == 0:
            shown.append(escaped(part.replace("`", "\\`")))
            continue
        # Markup begins and ends beside spaces and some marks only; elsewhere a "\\ " parts it.
        before = "" if re.search(r"(^|[\s'\"(\[{<\-/:])$", parts[i - 1]) else "\\ "
        after = "" if re.match(r"$|[\s'\")\]}>\-/:.,;!?\\]", parts[i + 1]) else "\\ "
        shown.append(before + literal(part) + after)
    return "".join(shown)


def paragraphs(text):
    """A docstring or comment: what is indented, or begins with >>>, is code."""
    shown = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.rstrip().split("\n")
        first = next((i for i, line in enumerate(lines) if re.match(r" {2,}|>>>|\|", line)), None)
        if first is None:
            shown.append(prose("\n".join(lines)))
            continue
        if first:
            shown.append(prose("\n".join(lines[:first])))
        code = textwrap.dedent("\n".join(lines[first:]))
        shown.append(".. code-block:: none\n\n" + textwrap.indent(code, "   "))
    return "\n\n".join(shown)


def directive(name, argument, body, options=()):
    """A directive; its options stand at once behind its first line."""
    text = f".. {name}:: {argument}".rstrip() + "\n"
    text += "".join(f"   {option}\n" for option in options)
    body = body.strip("\n")
    return text + ("\n" + textwrap.indent(body, "   ") + "\n" if body else "")


def code(language, text):
    return directive("code-block", language, text)


def title(text, line="="):
    return f"{text}\n{line * max(3, len(text))}\n"


def table(head, rows):
    """A list table; nothing without rows."""
    if not rows:
        return ""
    lines = []
    for row in [head, *rows]:
        for i, cell in enumerate(row):
            lines.append(("* - " if i == 0 else "  - ") + (cell or "\\ "))
    return directive("list-table", "", "\n".join(lines), [":header-rows: 1"])
