#!/usr/bin/env python3
"""generate_random_calls.py OUT HEADER...: random calls of what TensorFlow's C interface has.

For each declaration of the headers it writes a C function that draws its arguments by their types
and names, calls, and puts the handles that come back into the pool of test_capi_random.c, which
says what `draw_...` gives. So a function that the headers get is called without a line here.
"""

import re
import sys
from pathlib import Path

from generate_null_calls import DECLARATION, NAME, ONLY_CPP, parameters_of

HANDLE = re.compile(r"(?:const )?(TFE?_\w+) \*$")
# Not called: they end what the test itself goes on using, or free what no handle stands for.
LEFT_OUT = {"TF_NewStatus", "TF_DeleteStatus", "TF_DeletePRunHandle", "TF_TensorMaybeMove"}
LEFT_OUT |= {"TF_NewWhile", "TF_FinishWhile", "TF_AbortWhile", "TF_DeleteShapeAndTypeListArray"}
# What is in a buffer or string is lost where these fill it.
LEFT_OUT |= {"TFE_MonitoringStringGaugeCellValue", "TFE_MonitoringSamplerCellValue"}
LEFT_OUT |= {"TF_StringInit"}
NOT_HANDLES = {"TF_Status", "TF_Output", "TF_Input", "TF_DataType", "TF_TString", "TF_WhileParams"}
NOT_HANDLES |= {"TFE_CancelCallback", "TFE_OpAttrs", "TF_FunctionOptions"}
# Handles that end with another, which has to be the first argument or what that one ends with.
DEPENDENT = {"TF_Operation", "TF_OperationDescription", "TFE_Op"}
BORROWED = {"TF_Operation", "TFE_Context"}
STRUCTS = {"TF_Output", "TF_Input", "TFE_CustomDevice", "TFE_CustomDeviceTensorHandle"}
FREED = {"TF_GraphDebugString", "TF_FunctionDebugString"}
FINISHED = {"TF_FinishOperation", "TF_FinishOperationLocked"}
ARRAYS = {
    "const int64_t *": "draw_dims(z)",
    "int64_t *": "draw_dims(z)",
    "const int *": "draw_ints(z)",
    "int *": "draw_ints(z)",
    "int **": "(void *)z->pointers",
    "const size_t *": "draw_lengths(z)",
    "size_t *": "draw_lengths(z)",
    "const float *": "z->floats",
    "float *": "z->floats",
    "const unsigned char *": "z->bools",
    "unsigned char *": "z->bools",
    "const TF_DataType *": "draw_types(z)",
    "TF_DataType *": "draw_types(z)",
    "const int64_t **": "draw_dim_lists(z)",
    "const int64_t *const *": "draw_dim_lists(z)",
    "int64_t **": "(void *)z->pointers",
    "const TF_Output *": "draw_outputs(z)",
    "TF_Output *": "draw_outputs(z)",
    "TF_Output **": "(void *)z->pointers",
    "TF_Operation **": "(void *)z->pointers",
    "TF_Operation ***": "(void *)z->pointers",
    "TF_Input *": "z->inputs",
    "const char **": "draw_texts(z)",
    "const char *const *": "draw_texts(z)",
    "const void *const *": "draw_texts(z)",
    "const char ***": "(void *)z->pointers",
    "void **": "(void *)z->pointers",
    "const void *": "draw_bytes(z)",
    "TF_TString *": "z->string",
    "const TF_TString *": "z->string",
    "const TF_Operation *const *": "draw_handles(z, KIND_TF_Operation)",
    "char ***": "NULL",
    "TF_ShapeAndTypeList ***": "NULL",
    "const TF_FunctionOptions *": "NULL",
    "const TFE_CancelCallback *": "&z->callback",
    "const TFE_OpAttrs *": "TFE_OpGetAttrs(draw(z, KIND_TFE_Op))",
}
NUMBERS = {
    "size_t": "draw_size(z)",
    "double": "draw_double(z)",
    "float": "(float)draw_double(z)",
    "TF_DataType": "draw_type(z)",
    "TF_Output": "draw_output(z)",
    "TF_Input": "draw_input(z)",
}


class Parameter:
    def __init__(self, text):
        if "(" in text:
            self.type, self.name = "function", re.search(r"\(\s*\*\s*(\w+)", text)[1]
        elif text.startswith("TF_PayloadVisitor"):
            self.type, self.name = "function", "visitor"
        else:
            found = re.match(r"(.*?)(\w*)$", text)
            self.type, self.name = found[1].strip(), found[2]
            if self.type in ("", "const", "unsigned") or not found[1].strip():
                self.type, self.name = text, ""

    def is_out(self):
        return not re.match(r"input|handles", self.name)


def value_of(p, handles):
    """The C expression that an argument is drawn by, and what is to be kept afterwards."""
    if p.type == "function":
        return "ignore_release" if p.name == "deallocator" else "NULL", None
    if p.type in ("TF_Status *", "const TF_Status *"):
        return "z->status", None
    listed = re.match(r"(?:const )?(TFE?_\w+) \*(?:const )?\*$", p.type)
    if listed and listed[1] in handles and p.type not in ARRAYS:
        kind = "KIND_" + listed[1]
        if "const *" in p.type or p.type.startswith("const") or not p.is_out():
            return f"draw_handles(z, {kind})", None
        return "clear_results(z)", kind
    if p.type == "const char **" and p.name == "handle":
        return "z->text", None
    if p.type == "int *" and p.name == "num_retvals":
        return "draw_ints(z)", None
    if p.type in ARRAYS:
        return ARRAYS[p.type], None
    handle = HANDLE.match(p.type)
    if handle and handle[1] in handles:
        return f"draw(z, KIND_{handle[1]})", None
    if p.type == "const char *":
        return "draw_text(z)", None
    if p.type == "char *":
        return "z->storage", None
    if p.type == "void *":
        return ("z->data" if p.name == "data" else "z->storage"), None
    if p.type in NUMBERS:
        return NUMBERS[p.type], None
    if p.type in STRUCTS:
        return f"({p.type}){{0}}", None
    return "draw_number(z)", None


def deletes(name, parameters, handles):
    """The kind of handles that a function deletes, or None."""
    kind = HANDLE.match(parameters[0].type) if parameters else None
    if kind is None or kind[1] not in handles or name.startswith("TF_DeletePluggable"):
        return None
    bare = re.sub(r"^TFE?_(Monitoring)?", "", kind[1])
    return kind[1] if re.match(rf"TFE?_(Monitoring)?Delete{bare}(Handle)?$", name) else None


def function(name, returned, parameters, handles):
    values = [value_of(p, handles) for p in parameters]
    lines = [f"static void call_{name}(fuzz *z) {{", "  (void)z;"]
    arguments = []
    for i, (p, (value, _)) in enumerate(zip(parameters, values, strict=True)):
        handle = HANDLE.match(p.type)
        if handle and handle[1] in handles:
            lines.append(f"  void *a{i} = {value};")
            arguments.append(f"a{i}")
        else:
            arguments.append(value)
    first = HANDLE.match(parameters[0].type) if parameters else None
    has_first = first is not None and first[1] in handles
    if has_first and (name in FINISHED or deletes(name, parameters, handles)):
        lines.append("  void *owner = owner_of(z, a0);\n  (void)owner;")
        lines.append("  take_out(z, a0);")
        owner = "owner"
    else:
        owner = "owner_of(z, a0)" if has_first else "NULL"
    call = f"{name}({', '.join(arguments)})"
    kind = HANDLE.match(returned)
    if name in FREED:
        lines.append(f"  free((void *)(uintptr_t){call});")
    elif kind and kind[1] in handles and not returned.startswith("const"):
        is_owned = kind[1] not in BORROWED and not kind[1].endswith("Cell")
        if kind[1] == "TFE_Context" and name.startswith("TFE_New"):
            is_owned = True
        depends = kind[1] in DEPENDENT or kind[1].endswith("Cell")
        lines.append(f"  void *result = {call};")
        kept = f"KIND_{kind[1]}, result, {owner if depends else 'NULL'}, {int(is_owned)}"
        lines.append(f"  keep(z, {kept});")
    else:
        lines.append(f"  (void){call};")
    lines += [f"  keep_results(z, {kept});" for _, kept in values if kept is not None]
    if any(value == "z->text" for value, _ in values):
        lines.append("  TF_DeletePRunHandle(z->text[0]);\n  z->text[0] = NULL;")
    return "\n".join([*lines, "}"])


def declarations(header):
    text = re.sub(r"//[^\n]*", "", ONLY_CPP.sub("", header.read_text()))
    for match in DECLARATION.finditer(text):
        declaration = re.sub(r"\s+", " ", match[1])
        name = NAME.search(declaration)
        inside = declaration[name.end() : declaration.rindex(")")]
        parameters = [Parameter(p) for p in parameters_of(inside)]
        yield name[1], declaration[: name.start()].strip(), parameters


def main():
    out, *headers = map(Path, sys.argv[1:])
    found = [d for header in headers for d in declarations(header)]
    types = [p.type for _, _, parameters in found for p in parameters]
    types += [returned for _, returned, _ in found]
    handles = sorted({m[1] for t in types if (m := HANDLE.match(t))} - NOT_HANDLES)
    deleters = {}
    for name, _, parameters in found:
        kind = deletes(name, parameters, handles)
        if kind is not None:
            deleters[kind] = (name, len(parameters))
    text = "#ifndef WITH_CALLS\nenum {\n" + "".join(f"  KIND_{h},\n" for h in handles)
    text += "};\n#else\nstatic void delete_handle(int kind, void *handle, TF_Status *status) {\n"
    text += "  (void)status;\n  switch (kind) {\n"
    for handle, (name, count) in deleters.items():
        text += f"    case KIND_{handle}: {name}(handle{', status' if count > 1 else ''}); break;\n"
    text += "    default: break;\n  }\n}\n"
    called = [d for d in found if d[0] not in LEFT_OUT]
    text += "\n".join(function(*d, handles) for d in called)
    text += "\nstatic const struct {\n  const char *name;\n  void (*call)(fuzz *z);\n}"
    text += " CALLS[] = {\n"
    text += "".join(f'  {{"{d[0]}", call_{d[0]}}},\n' for d in called) + "};\n#endif\n"
    out.write_text(text)


if __name__ == "__main__":
    main()
