#!/usr/bin/env python3
"""generate_calls.py OUT HEADER...: calls of every public function, for test_interface.c.

Parses the declarations and structs of the public headers and writes C: for each function one that
calls it with the choices it is given, a number for each parameter, and a row of a table. Choice 0
is a value as it should be; the others are wrong or strange: NULL, a handle of another graph, a huge
count. Values of handles and numbers come from given.h; those of structs and lists are put together
here, field by field, each field with its own choices. A parameter of a type that nobody can give is
an error: then given.h, or a table below, needs a line.
"""

import re
import sys
from pathlib import Path

# Functions that are not called, and why.
LEFT_OUT = {
    "rheos_set_allocator": "the process's; test_failing_allocator has it",
    "rheos_free": "frees what others return",
    "rheos_checkpoint_state_deinit": "takes what rheos_checkpoint_state_read() gave; follows it",
    "rheos_server_join": "waits until another thread has stopped the server",
    "rheos_status_new": "has a variable number of arguments; every error calls it",
}
# What a function does with an argument that is a handle: it is gone afterwards.
CONSUMES = re.compile(
    r"_(free|unref|take|abandon)$|_(reader|writer)_close$|checkpoint_writer_finish$"
)
# Handles that the caller owns when they come back, and what frees them.
OWNED = {
    "rheos_tensor": "rheos_tensor_unref",
    "rheos_session": "rheos_session_free",
    "rheos_callable": "rheos_callable_free",
    "rheos_host": "rheos_host_unref",
    "rheos_server": "rheos_server_free",
    "rheos_ranks": "rheos_ranks_free",
    "rheos_eager": "rheos_eager_free",
    "rheos_region": "rheos_region_unref",
    "rheos_tape": "rheos_tape_free",
    "rheos_graph": "rheos_graph_unref",
    "rheos_scope": "rheos_scope_free",
    "rheos_trace": "rheos_trace_free",
    "rheos_profile": "rheos_profile_free",
    "rheos_cancellation": "rheos_cancellation_free",
    "rheos_watch": "rheos_watch_free",
    "rheos_run_log": "rheos_run_log_free",
    "rheos_growth": "rheos_growth_free",
    "rheos_lint": "rheos_lint_free",
    "rheos_event_writer": "drop_event_writer",
    "rheos_event_writer_cache": "rheos_event_writer_cache_free",
    "rheos_event_reader": "rheos_event_reader_close",
    "rheos_dataset_iterator": "rheos_dataset_iterator_free",
    "rheos_example": "rheos_example_free",
    "rheos_example_builder": "rheos_example_builder_free",
    "rheos_record_writer": "drop_record_writer",
    "rheos_record_reader": "rheos_record_reader_close",
    "rheos_checkpoint_reader": "rheos_checkpoint_reader_free",
    "rheos_checkpoint_writer": "rheos_checkpoint_writer_abandon",
    "rheos_checkpoint_keeper": "rheos_checkpoint_keeper_free",
    "rheos_npz": "rheos_npz_free",
    "rheos_meta_graph": "rheos_meta_graph_free",
    "rheos_saved_model_def": "rheos_saved_model_def_free",
    "rheos_saved_model": "rheos_saved_model_free",
    "rheos_saved_model_builder": "rheos_saved_model_builder_free",
    "rheos_function": "rheos_function_free",
    "rheos_object_name": "rheos_free",
    "rheos_variable": "rheos_free",
    "rheos_gradient": "rheos_free",
    "rheos_placement": "rheos_free",
    "char": "rheos_free",
    "void": "rheos_free",
}
# Functions whose out_* pointers stay the library's.
BORROWED = {"rheos_event_writer_cache_get"}
# Texts that a parameter or field of this name is by itself; for others "x".
TEXTS = {
    "type": "Identity", "op_type": "Identity", "device": "/cpu:0", "folder": "folder",
    "logdir": "logs", "path": "file", "prefix": "saved/model", "checkpoint": "saved/model",
    "target": "", "key": "variables", "full_name": "v", "slot_name": "momentum", "text": "",
    "optimizer_name": "Momentum", "signature": "serving_default", "tags": "serve",
    "shape_and_slice": "4 0,2", "scope": "x", "op_list": "", "to": "", "from": "/",
    "filename": "model", "file_name": "checkpoint", "latest_filename": "checkpoint",
}  # fmt: skip
TEXTS_OF = {
    ("rheos_message_to_text", "type"): "GraphDef",
    ("rheos_message_from_text", "type"): "GraphDef",
    ("rheos_message_check", "type"): "GraphDef",
    ("rheos_dtype_from_name", "name"): "float",
    ("rheos_graph_output", "name"): "x:0",
    ("rheos_saved_model_load", "folder"): "golden saved_models/mlp",
    ("rheos_saved_model_read", "folder"): "golden saved_models/mlp",
    ("rheos_meta_graph_read", "path"): "golden meta_graphs/training.meta",
    ("rheos_graph_def_read", "path"): "golden graphs/training.pb",
    ("rheos_graph_read", "path"): "golden graphs/constants.pb",
    ("rheos_event_reader_open", "path"): "golden events/all.tfevents",
    ("rheos_checkpoint_reader_open", "prefix"): "golden checkpoints/dtypes",
    ("rheos_saver_restore", "prefix"): "golden checkpoints/dtypes",
    ("rheos_latest_checkpoint", "folder"): "saved",
}
# Types of functions of the program: none is given.
FUNCTIONS = {"rheos_program_function", "rheos_gradient_function", "rheos_capture_function",
             "rheos_backward_function", "rheos_server_event_function",
             "rheos_watch_function"}  # fmt: skip
# Functions given to functions: given.h has one that does its work, none, one that does nothing.
BUILDERS = {"rheos_branch_function", "rheos_condition_function", "rheos_body_function",
            "rheos_row_function"}  # fmt: skip
NUMBERS = ("double", "float", "int", "int32_t", "uint16_t", "uint32_t", "int64_t", "bool",
           "rheos_dtype")  # fmt: skip
# Structs that given.h gives whole.
WHOLE = {
    "rheos_output", "rheos_operation", "rheos_variable", "rheos_optimizer", "rheos_attr",
    "rheos_shape", "rheos_string", "rheos_feature", "rheos_summary_value", "rheos_default_value",
    "rheos_saver", "rheos_item", "rheos_func", "rheos_fetch", "rheos_checkpoint_state",
    "rheos_array",
}  # fmt: skip
# Structs that are described by the library and only read: their pointer is a handle.
DESCRIPTIONS = {"rheos_meta_graph", "rheos_saved_model_def", "rheos_summary_value",
                "rheos_default_value", "rheos_feature"}  # fmt: skip


def without_comments(text):
    text = re.sub(r"//[^\n]*| RHEOS_LEFT_OUT\b", "", text)
    text = text.replace("RHEOS_STATUS ", "RHEOS_API RHEOS_MUST_USE rheos_status *")
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    return text


def split_type(declaration):
    """ "const char *const *names" -> ("const char *const *", "names")"""
    declaration = " ".join(declaration.split())
    function = re.match(r"(.*)\(\*(\w+)\)\((.*)\)$", declaration)
    if function:
        return "function", function[2]
    match = re.match(r"(.*?[\s*])(\w+)(\[[^\]]*\])?$", declaration)
    kind = match[1].strip() + (" *" if match[3] else "")
    return re.sub(r"\s*\*\s*", "*", kind).replace("struct ", ""), match[2]


class Interface:
    def __init__(self, texts):
        self.functions, self.structs, self.enums = [], {}, {}
        for text in map(without_comments, texts):
            for body, name in re.findall(r"typedef struct \w+ \{(.*?)\n\} (\w+);", text, re.DOTALL):
                self.structs[name] = self.fields(body)
            for body, name in re.findall(r"typedef enum \w+ \{(.*?)\} (\w+);", text, re.DOTALL):
                self.enums[name] = re.findall(r"(RHEOS_\w+)", body)
            pattern = (
                r"(?:RHEOS_API|static inline)\s+(?:RHEOS_MUST_USE\s+)?([^;{}()=]*?)"
                r"\b(rheos_\w+)\(((?:[^()]|\([^()]*\))*)\)"
            )
            text = text.replace("RHEOS_MUST_USE static inline", "static inline")
            for result, name, parameters in re.findall(pattern, text):
                self.add_function(result, name, parameters)

    @staticmethod
    def fields(body):
        if "{" in body:  # a union or a struct inside: given.h has to give it
            return None
        fields = []
        for line in filter(None, (part.strip() for part in body.split(";"))):
            if "(" in line:
                fields.append(split_type(line))
                continue
            first, *more = line.split(",")
            kind, name = split_type(first)
            fields.append((kind, name))
            for declarator in more:
                stars = declarator.count("*")
                fields.append((kind.rstrip("*") + "*" * stars, declarator.strip(" *")))
        return [f for f in fields if not f[1].endswith("_")]

    def add_function(self, result, name, parameters):
        # What is inline over a _sized one is declared, and defined at the foot of the header.
        is_known = any(name == known for _, known, _ in self.functions)
        if name in LEFT_OUT or name.endswith("_sized") or is_known:
            return
        parts = re.split(r",(?![^()]*\))", parameters)
        parts = [] if parameters.strip() == "void" else parts
        result = re.sub(r"\s*\*\s*", "*", " ".join(result.split()))
        self.functions.append((result, name, [split_type(p) for p in parts]))


class Writer:
    """Writes the functions that give values of a type, as they are needed."""

    def __init__(self, interface):
        self.interface, self.lines, self.known = interface, [], set()

    def choices(self, kind, owner, name):
        return self.given(kind, owner, name, None)[0]

    def given(self, kind, owner, name, choice):
        """(an expression for the number of choices, one for the value of a choice)"""
        bare = kind.removeprefix("const ").strip()
        if kind == "function" or kind in FUNCTIONS:
            return "1", "NULL"
        if bare == "char*" and kind.startswith("const"):
            text = TEXTS_OF.get((owner, name), TEXTS.get(name, "x"))
            return "CHOICES_text", f'given_text({choice}, "{text}")'
        if bare in BUILDERS:
            return f"CHOICES_{bare}", f"given_{bare}({choice})"
        if bare in ("char*const*", "char*const *"):
            text = f'given_text({{}}, "{TEXTS.get(name, "x")}")'
            return self.list_of("text", "const char *", text, choice, name)
        if bare == "size_t":
            if name == "size_bytes" and owner in ("buffer",):
                return "CHOICES_room", f"given_room({choice})"
            if re.match(r"num_|count$", name):
                return "CHOICES_count", f"given_count({choice}, sizeof(void *))"
            if re.search(r"bytes$", name):
                return "CHOICES_bytes", f"given_bytes({choice})"
            return "CHOICES_index", f"given_index({choice})"
        if bare == "int32_t" and name.startswith("num_") and owner in self.interface.structs:
            return "CHOICES_length", f"given_length({choice})"
        if bare in NUMBERS:
            return f"CHOICES_{bare}", f"given_{bare}({choice})"
        if bare in self.interface.enums:
            usual = self.interface.enums[bare][:2][-1]
            return "CHOICES_enum", f"({bare})given_enum({choice}, {usual})"
        if bare in WHOLE:
            return f"CHOICES_{bare}", f"given_{bare}({choice})"
        if bare in self.interface.structs and self.interface.structs[bare] is not None:
            self.struct(bare)
            return f"CHOICES_{bare}", f"given_{bare}({choice})"
        if bare == "void*":
            return "CHOICES_memory", f'given_memory({choice}, "{name}")'
        if bare.endswith("**"):
            return "CHOICES_out", f"given_out({choice})"
        is_const = kind.startswith("const ")
        if bare.endswith("*") and not is_const and re.match(r"out_|buffer$", name):
            return "CHOICES_out", f"given_out({choice})"
        if bare.endswith("*const*"):
            target = bare.removesuffix("*const*")
            handle = f"given_{target}_handle({{}})"
            return self.list_of(f"{target}_handle", f"{target} *", handle, choice, name)
        target = bare.removesuffix("*")
        has_values = {*self.interface.structs, *self.interface.enums, *NUMBERS}
        is_opaque = target.startswith("rheos_") and target not in has_values
        if target in DESCRIPTIONS or is_opaque:
            return f"CHOICES_{target}_handle", f"given_{target}_handle({choice})"
        if bare.endswith("*"):
            inner = self.given(target, owner, name, "{}")
            return self.list_of(target, target, inner[1], choice, name, inner[0])
        raise SystemExit(f"{owner}: nobody gives {kind} {name}")

    def list_of(self, tag, element, expression, choice, name, count=None):
        """An array of four, or NULL, or one whose first element is wrong."""
        count = count or f"CHOICES_{tag}"
        list_name = f"{tag}_{TEXTS.get(name, 'x')}" if tag == "text" else tag
        list_name = re.sub(r"\W", "_", list_name) + "_list"
        if list_name not in self.known:
            self.known.add(list_name)
            space = "" if element.endswith("*") else " "
            first, rest = expression.replace("{}", "first"), expression.replace("{}", "0")
            self.lines.append(
                f"enum {{ CHOICES_{list_name} = 1 + {count} }};\n"
                f"static {element}{space}*given_{list_name}(int choice) {{\n"
                f"  if (choice == 1) return NULL;\n"
                f"  const int first = choice == 0 ? 0 : choice - 1;\n"
                f"  {element} elements[4] = {{{first}, {rest}, {rest}, {rest}}};\n"
                f"  return kept(elements, sizeof elements);\n}}\n"
            )
        return f"CHOICES_{list_name}", f"given_{list_name}({choice})"

    def struct(self, name):
        """Options are all zeros by themselves, other structs have every field."""
        if name in self.known:
            return
        self.known.add(name)
        fields = self.interface.structs[name]
        is_options = name.endswith("_options")
        body, counts = [], ["1"]
        for index, (kind, field) in enumerate(fields):
            if kind == "function" or kind in FUNCTIONS:
                continue
            count, value = self.given(kind, name, field, "pick")
            counts.append(f"{count} - 1 + {int(is_options)}")
            follower = fields[index + 1] if index + 1 < len(fields) else ("", "")
            # A list goes with its count.
            is_list = kind.endswith("*") and kind != "const char*"
            has_count = is_options and is_list and follower[1].startswith("num_")
            pair = f" value.{follower[1]} = 1;" if has_count else ""
            offset = 0 if is_options else 1
            body.append(
                f"  if (choice >= 0 && choice < {count} - {offset}) {{\n"
                f"    const int pick = choice + {offset};\n"
                f"    value.{field} = {value};{pair}\n  }}\n  choice -= {count} - {offset};\n"
            )
        goods = (
            []
            if is_options
            else [
                f"  value.{field} = {self.given(kind, name, field, '0')[1]};\n"
                for kind, field in fields
                if kind != "function"
            ]
        )
        self.lines.append(
            f"enum {{ CHOICES_{name} = {' + '.join(counts)} }};\n"
            f"static {name} given_{name}(int choice) {{\n  {name} value;\n"
            f"  memset(&value, 0, sizeof value);\n{''.join(goods)}"
            f"  if (choice-- == 0) return value;\n{''.join(body)}"
            f"  (void)choice;\n  return value;\n}}\n"
        )

    def function(self, result, name, parameters):
        values, counts, after = [], [], []
        for index, (kind, parameter) in enumerate(parameters):
            owner = name
            if parameter == "size_bytes" and index and parameters[index - 1][1] == "buffer":
                owner = "buffer"
            count, value = self.given(kind, owner, parameter, f"choice[{index}]")
            counts.append(count)
            space = "" if kind.endswith("*") else " "
            shown = "void (*release)(void *)" if kind == "function" else f"{kind}{space}{parameter}"
            values.append(f"  {shown} = {value};\n")
            base = kind.rstrip("*")
            is_out = parameter.startswith("out_") and kind.endswith("**") and name not in BORROWED
            if CONSUMES.search(name) and kind.endswith("*") and index == len(parameters) - 1:
                values.append(f"  let_go({parameter});\n")
            if name == "rheos_eager_copy" and is_out:  # one more reference where it lies there
                after.append("  if (out_tensor != NULL && *out_tensor == tensor) {\n")
                after.append("    rheos_tensor_unref(tensor);\n  }\n")
            if name == "rheos_gpu_devices_from_config" and is_out:
                after.append(f"  drop_out({parameter}, rheos_free);\n")
            if is_out and base in OWNED:
                release = f"(void (*)(void *)){OWNED[base]}"
                after.append(f"  drop_out({parameter}, {release});\n")
            if kind in ("rheos_fetch*", "rheos_named_tensor*"):
                after.append(f"  drop_{kind[:-1]}({parameter});\n")
            if name == "rheos_checkpoint_state_read" and parameter == "out_state":
                after.append("  rheos_checkpoint_state_deinit(out_state);\n")
        call = f"{name}({', '.join(p for _, p in parameters)})"
        if result == "rheos_status*":
            body = f"  see_status({call});\n"
        elif result == "void":
            body = f"  {call};\n"
        elif result == "const char*":
            body = f"  see_text({call});\n"
        elif re.search(r"_(new|ref|begin)$", name) and result in {f"{handle}*" for handle in OWNED}:
            body = f"  {OWNED[result.rstrip('*')]}({call});\n"
        else:
            body = f"  (void){call};\n"
        self.lines.append(
            f"static void call_{name}(const int *choice) {{\n  (void)choice;\n"
            f"{''.join(values)}{body}{''.join(after)}}}\n"
        )
        choices = ", ".join(counts) or "0"
        return f'    {{"{name}", call_{name}, {{{choices}}}, {len(parameters)}}},\n'


def main():
    out, *headers = sys.argv[1:]
    interface = Interface([Path(h).read_text() for h in headers])
    writer = Writer(interface)
    rows = [writer.function(*f) for f in sorted(interface.functions, key=lambda f: f[1])]
    text = "// Generated by tests/interface/generate_calls.py.\n"
    text += "\n".join(writer.lines)
    text += "\nstatic const public_function functions[] = {\n" + "".join(rows) + "};\n"
    Path(out).write_text(text)


if __name__ == "__main__":
    main()
