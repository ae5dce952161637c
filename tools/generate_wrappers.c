// Writes the typed wrappers of every op from the op table: <rheos/ops.h> for C, <rheos/cpp/ops.hpp>
// for C++, and a list of them for the tests.
//
// Each op gets a struct of arguments (graph/op_args.h); an inline function on that struct; and a
// macro that makes the struct from a call's arguments and notes the caller's line. In C++ it gets a
// struct of what may be left out, and a function that takes the rest by position.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_args.h"

// Names of functions that the library has already.
static const struct {
  const char *op, *name;
} renamed[] = {
    {"Variable", "variable_op"},
    {"Shape", "shape_op"},
    {"Case", "case_op"},
};

// What TensorFlow's Python writes as one word (matmul, sparse_matmul).
static const char *const words[] = {"MatMul",      "ArgMax",   "ArgMin",  "LinSpace",
                                    "FloorDiv",    "FloorMod", "RealDiv", "TruncateDiv",
                                    "TruncateMod", "NextAfter"};

// Whether a word begins at op[i].
static bool begins_word(const char *op, size_t i) {
  if (i == 0 || !isupper((unsigned char)op[i])) return false;
  for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k) {
    const char *word = words[k];
    size_t inside = 1;
    while (word[inside] != '\0' && !isupper((unsigned char)word[inside])) ++inside;
    if (i >= inside && strncmp(op + i - inside, word, strlen(word)) == 0) return false;
  }
  bool is_version = op[i] == 'V' && isdigit((unsigned char)op[i + 1]);
  return is_version || islower((unsigned char)op[i - 1]) ||
         (op[i - 1] != '_' && islower((unsigned char)op[i + 1]));
}

// As TensorFlow's Python spells it: "SparseMatMul" -> "sparse_matmul", "TopKV2" -> "top_k_v2".
static void c_name(const char *op, char *out, size_t size) {
  for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; ++i) {
    if (strcmp(op, renamed[i].op) == 0) {
      snprintf(out, size, "%s", renamed[i].name);
      return;
    }
  }
  size_t length = 0;
  for (size_t i = 0; op[i] != '\0' && length + 2 < size; ++i) {
    if (begins_word(op, i)) out[length++] = '_';
    out[length++] = (char)tolower((unsigned char)op[i]);
  }
  out[length] = '\0';
}

// Names of arguments that are words of C or C++.
static const char *field_name(const char *name) {
  static const char *const taken[][2] = {{"default", "default_"}, {"template", "template_"},
                                         {"switch", "switch_"},   {"class", "class_"},
                                         {"bool", "bool_"},       {"name", "name_"}};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; ++i) {
    if (strcmp(name, taken[i][0]) == 0) return taken[i][1];
  }
  return name;
}

static bool is_list(const rheos__arg *arg) {
  return arg->number_attr >= 0 || arg->type_list_attr >= 0;
}

// Text on one line: a default may hold a newline.
static void print_text(FILE *out, const char *text, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; ++i) {
    if (text[i] == '\n')
      fputs("\\n", out);
    else
      fputc(text[i], out);
  }
}

static void print_default(FILE *out, const rheos_attr_value *value) {
  switch (value->kind) {
    case RHEOS_ATTR_INT: fprintf(out, "; the default: %lld", (long long)value->i); break;
    case RHEOS_ATTR_FLOAT: fprintf(out, "; the default: %g", (double)value->f); break;
    case RHEOS_ATTR_BOOL: fprintf(out, "; %s by default", value->b ? "on" : "off"); break;
    case RHEOS_ATTR_TYPE:
      fprintf(out, "; 0: the default, %s", rheos_dtype_name(value->type));
      break;
    case RHEOS_ATTR_STRING:
      fputs("; NULL: the default, \"", out);
      print_text(out, value->s.data, value->s.size_bytes);
      fputc('"', out);
      break;
    default: fprintf(out, "; NULL: the default"); break;
  }
}

static const struct {
  const char *type, *count_type;  // count_type "char": no count follows
} field_types[] = {
#define TYPES(kind, type, count_type) [RHEOS__FIELD_##kind] = {#type, #count_type},
    RHEOS__OP_FIELDS(TYPES)
#undef TYPES
};

static bool has_count(const rheos__op_field *field) {
  return strcmp(field_types[field->kind].count_type, "char") != 0;
}

static bool is_input(const rheos__op_field *field) { return field->kind <= RHEOS__FIELD_INPUTS; }

static const rheos__attr_def *attr_of(const rheos__signature *s, const rheos__op_field *field) {
  return is_input(field) ? NULL : &s->attrs[field->index];
}

// The name in the signature.
static const char *argument_name(const rheos__signature *s, const rheos__op_field *field) {
  return is_input(field) ? s->inputs[field->index].name : s->attrs[field->index].name;
}

static void print_field_name(FILE *out, const rheos__signature *s, const rheos__op_field *field) {
  const char *name = argument_name(s, field);
  const bool is_not = field->kind == RHEOS__FIELD_NOT_BOOL;
  fprintf(out, "%s%s", is_not ? "not_" : "", is_not ? name : field_name(name));
}

static void print_field(FILE *out, const rheos__signature *s, const rheos__op_field *field) {
  fprintf(out, "  %s ", field_types[field->kind].type);
  print_field_name(out, s, field);
  const rheos__attr_def *attr = attr_of(s, field);
  const bool is_optional = attr != NULL && attr->has_default;
  const char *initializer = is_optional ? " RHEOS_LEFT_OUT" : "";
  fprintf(out, "%s;", initializer);
  if (has_count(field)) {
    fprintf(out, "\n  %s num_%s%s;", field_types[field->kind].count_type, argument_name(s, field),
            initializer);
  }
  if (is_optional) {
    fputs("  // optional", out);
    print_default(out, &attr->default_value);
  }
  fputc('\n', out);
}

// Whether the argument may be written as a literal in braces, whose commas separate arguments of a
// macro.
static bool may_have_braces(const rheos__op_field *field) {
  return has_count(field) || field->kind == RHEOS__FIELD_SHAPE;
}

// What a call must give by position: each field, and the count behind it where it has one.
typedef struct required {
  const rheos__signature *signature;
  rheos__op_field field;  // the one that `next_required` found
  bool at_count;
} required;

static bool next_required(required *at) {
  if (at->field.kind != RHEOS__FIELD_NONE && !at->at_count && has_count(&at->field)) {
    return at->at_count = true;
  }
  at->at_count = false;
  if (!rheos__next_op_field(at->signature, &at->field) || at->field.kind >= RHEOS__FIELD_END) {
    return false;
  }
  const rheos__attr_def *attr = attr_of(at->signature, &at->field);
  return attr == NULL || !attr->has_default;
}

static void print_required_name(FILE *out, const required *at) {
  if (at->at_count) {
    fprintf(out, "num_%s", argument_name(at->signature, &at->field));
  } else {
    print_field_name(out, at->signature, &at->field);
  }
}

static int count_required(const rheos__signature *s, bool *out_may_have_braces) {
  int count = 0;
  *out_may_have_braces = false;
  for (required at = {.signature = s}; next_required(&at); ++count) {
    *out_may_have_braces |= may_have_braces(&at.field);
  }
  return count;
}

// The start of a macro whose first `count` arguments behind the scope have names, and of what it
// does.
static void print_macro_start(FILE *out, const char *name, int count) {
  fprintf(out, "#define rheos_%s(scope, ", name);
  for (int i = 1; i <= count; ++i) fprintf(out, "arg_%d, ", i);
  fputs("...) \\\n  (rheos_scope_set_source((scope), __FILE__, __LINE__), \\\n   ", out);
}

// `.a = arg_1, .b = arg_2, ` of the first `count` that are required.
static void print_named(FILE *out, required *at, int count) {
  for (int i = 1; i <= count && next_required(at); ++i) {
    fputc('.', out);
    print_required_name(out, at);
    fprintf(out, " = arg_%d, ", i);
  }
}

// `.a = arg_1, .b = arg_2, .c = ` of all that are required. The last one takes `...`, which may not
// be empty then: so too few arguments do not compile, and C17 and C++17 have nothing to say where
// there are no more.
static void print_all_named(FILE *out, const rheos__signature *s, int count) {
  required at = {.signature = s};
  print_named(out, &at, count - 1);
  if (!next_required(&at)) return;
  fputc('.', out);
  print_required_name(out, &at);
  fputs(" = ", out);
}

static void print_cpp_macro(FILE *out, const rheos__signature *s, const char *name) {
  bool has_braces;
  const int count = count_required(s, &has_braces);
  print_macro_start(out, name, count > 0 ? count - 1 : 0);
  fprintf(out, "__extension__ rheos_%s_with((scope), rheos_%s_args{", name, name);
  print_all_named(out, s, count);
  fputs("__VA_ARGS__}))\n", out);
}

// Where an argument may be a literal in braces, whose commas the preprocessor counts, none is
// named, and the macro asks that there are enough: a struct in C takes what is left out as zeros.
static void print_c_macro(FILE *out, const rheos__signature *s, const char *name) {
  bool has_braces;
  const int count = count_required(s, &has_braces);
  print_macro_start(out, name, count > 0 && !has_braces ? count - 1 : 0);
  if (count > 1 && has_braces) {
    fprintf(out, "RHEOS__ENOUGH(RHEOS__NTH_%d(__VA_ARGS__", count);
    for (int i = 0; i < count; ++i) fputs(", ", out);
    fputs(", 0)), \\\n   ", out);
  }
  fprintf(out, "rheos_%s_with((scope), (rheos_%s_args){", name, name);
  if (!has_braces) print_all_named(out, s, count);
  fputs(count > 0 ? "__VA_ARGS__, .end_ = 0}))\n" : ".end_ = 0, __VA_ARGS__}))\n", out);
}

static void print_macros(FILE *out, const rheos__signature *s, const char *name) {
  fputs("#ifdef __cplusplus\n", out);
  print_cpp_macro(out, s, name);
  fputs("#else\n", out);
  print_c_macro(out, s, name);
  fputs("#endif\n", out);
}

static bool has_list_output(const rheos__signature *s) {
  for (int i = 0; i < s->num_outputs; ++i) {
    if (is_list(&s->outputs[i])) return true;
  }
  return false;
}

// "rheos_output", "rheos_operation" or "rheos_top_k_outputs"
static void result_type(const rheos__signature *s, const char *name, char *out, size_t size) {
  if (s->num_outputs == 0 || has_list_output(s)) {
    snprintf(out, size, "rheos_operation");
  } else if (s->num_outputs == 1) {
    snprintf(out, size, "rheos_output");
  } else {
    snprintf(out, size, "rheos_%s_outputs", name);
  }
}

static void print_declaration(FILE *out, const rheos__signature *s, const char *name) {
  char result[160];
  result_type(s, name, result, sizeof result);
  fprintf(out, "\n// %s: %s\n//   ", s->op->name, s->op->doc);
  print_text(out, s->op->signature, strlen(s->op->signature));
  fputc('\n', out);
  fprintf(out, "typedef struct rheos_%s_args {\n", name);
  rheos__op_field field = {.kind = RHEOS__FIELD_NONE};
  while (rheos__next_op_field(s, &field) && field.kind < RHEOS__FIELD_END) {
    print_field(out, s, &field);
  }
  fprintf(out,
          "  char end_ RHEOS_LEFT_OUT;\n  const char *name RHEOS_LEFT_OUT;\n} rheos_%s_args;\n",
          name);
  const bool has_struct =
      strcmp(result, "rheos_output") != 0 && strcmp(result, "rheos_operation") != 0;
  if (has_struct) {
    fprintf(out, "typedef struct %s {\n", result);
    for (int i = 0; i < s->num_outputs; ++i) {
      fprintf(out, "  rheos_output %s;\n", field_name(s->outputs[i].name));
    }
    fprintf(out, "} %s;\n", result);
  }
  fprintf(out, "static inline %s rheos_%s_with(rheos_scope *scope, rheos_%s_args args) {\n", result,
          name, name);
  fprintf(
      out,
      "  rheos_operation operation = rheos_op_from_struct(scope, \"%s\", &args, sizeof args);\n",
      s->op->name);
  if (has_struct) {
    fprintf(out, "  %s outputs = {", result);
    for (int i = 0; i < s->num_outputs; ++i) {
      fprintf(out, "%srheos_operation_output(operation, %d)", i > 0 ? ", " : "", i);
    }
    fprintf(out, "};\n  return outputs;\n}\n");
  } else if (strcmp(result, "rheos_output") == 0) {
    fprintf(out, "  return rheos_operation_output(operation, 0);\n}\n");
  } else {
    fprintf(out, "  return operation;\n}\n");
  }
  print_macros(out, s, name);
}

// ---- C++

// What a field is as a parameter of C++, and as one that may be left out.
static const struct {
  const char *parameter, *optional;
} cpp_types[] = {
    [RHEOS__FIELD_INPUT] = {"const rheos_output &", "Output"},
    [RHEOS__FIELD_INPUTS] = {"Outputs", "Outputs"},
    [RHEOS__FIELD_INT] = {"int64_t", "int64_t"},
    [RHEOS__FIELD_OPTIONAL_INT] = {"int64_t", "std::optional<int64_t>"},
    [RHEOS__FIELD_FLOAT] = {"float", "float"},
    [RHEOS__FIELD_OPTIONAL_FLOAT] = {"float", "std::optional<float>"},
    [RHEOS__FIELD_BOOL] = {"bool", "bool"},
    [RHEOS__FIELD_NOT_BOOL] = {"bool", "bool"},
    [RHEOS__FIELD_DTYPE] = {"rheos_dtype", "rheos_dtype"},
    [RHEOS__FIELD_TEXT] = {"Text", "Text"},
    [RHEOS__FIELD_SHAPE] = {"const Shape &", "std::optional<Shape>"},
    [RHEOS__FIELD_TENSOR] = {"TensorRef", "TensorRef"},
    [RHEOS__FIELD_LIST_STRING] = {"Span<const rheos_string>", "Span<const rheos_string>"},
    [RHEOS__FIELD_LIST_INT] = {"Span<const int64_t>", "Span<const int64_t>"},
    [RHEOS__FIELD_LIST_FLOAT] = {"Span<const float>", "Span<const float>"},
    [RHEOS__FIELD_LIST_BOOL] = {"Span<const bool>", "Span<const bool>"},
    [RHEOS__FIELD_LIST_TYPE] = {"Span<const rheos_dtype>", "Span<const rheos_dtype>"},
    [RHEOS__FIELD_LIST_SHAPE] = {"Span<const Shape>", "Span<const Shape>"},
};

static bool is_optional_field(const rheos__signature *s, const rheos__op_field *field) {
  const rheos__attr_def *attr = attr_of(s, field);
  return attr != NULL && attr->has_default;
}

// The start of `args.x = `, and what is assigned, of a parameter x or the member of `options_`.
static void print_cpp_assignment(FILE *out, const rheos__signature *s,
                                 const rheos__op_field *field) {
  const bool is_optional = is_optional_field(s, field);
  const char *from = is_optional ? "options_." : "";
  fputs("  args_.", out);
  print_field_name(out, s, field);
  fputs(" = ", out);
  const bool by_number =
      field->kind == RHEOS__FIELD_OPTIONAL_INT || field->kind == RHEOS__FIELD_OPTIONAL_FLOAT;
  if (is_optional && by_number) {
    fputs("given(", out);
  } else if (field->kind == RHEOS__FIELD_SHAPE) {
    fputs(is_optional ? "detail::address(" : "&", out);
  }
  fputs(from, out);
  print_field_name(out, s, field);
  if (has_count(field)) {
    fputs(".data();\n", out);
    fprintf(out, "  args_.num_%s = static_cast<%s>(%s", argument_name(s, field),
            field_types[field->kind].count_type, from);
    print_field_name(out, s, field);
    fputs(".size());\n", out);
    return;
  }
  if (field->kind == RHEOS__FIELD_TENSOR) fputs(".get()", out);
  if (is_optional && (by_number || field->kind == RHEOS__FIELD_SHAPE)) fputc(')', out);
  fputs(";\n", out);
}

static bool next_cpp_field(const rheos__signature *s, rheos__op_field *field) {
  return rheos__next_op_field(s, field) && field->kind < RHEOS__FIELD_END;
}

static void print_cpp(FILE *out, const rheos__signature *s, const char *name) {
  static const char *const taken[] = {"assert", "const", "for", "if", "switch", "while"};
  const char *behind = "";
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; ++i) {
    if (strcmp(name, taken[i]) == 0) behind = "_";
  }
  fprintf(out, "\n// %s: %s\nstruct %s_options {\n", s->op->name, s->op->doc, name);
  for (rheos__op_field field = {.kind = RHEOS__FIELD_NONE}; next_cpp_field(s, &field);) {
    if (!is_optional_field(s, &field)) continue;
    fprintf(out, "  %s ", cpp_types[field.kind].optional);
    print_field_name(out, s, &field);
    fputs(" = {};  // optional", out);
    print_default(out, &attr_of(s, &field)->default_value);
    fputc('\n', out);
  }
  char result[160];
  result_type(s, name, result, sizeof result);
  const char *type = strcmp(result, "rheos_output") == 0      ? "Output"
                     : strcmp(result, "rheos_operation") == 0 ? "Operation"
                                                              : result;
  fprintf(out, "  Text name = {};\n};\ninline %s %s%s(At s_, ", type, name, behind);
  for (rheos__op_field field = {.kind = RHEOS__FIELD_NONE}; next_cpp_field(s, &field);) {
    if (is_optional_field(s, &field)) continue;
    const char *parameter = cpp_types[field.kind].parameter;
    fprintf(out, "%s%s", parameter, strchr(parameter, '&') != NULL ? "" : " ");
    print_field_name(out, s, &field);
    fputs(", ", out);
  }
  fprintf(out, "const %s_options &options_ = {}) {\n  rheos_%s_args args_ = {};\n", name, name);
  for (rheos__op_field field = {.kind = RHEOS__FIELD_NONE}; next_cpp_field(s, &field);) {
    print_cpp_assignment(out, s, &field);
  }
  fprintf(out, "  args_.name = options_.name;\n  return rheos_%s_with(s_, args_);\n}\n", name);
}

static const char cpp_start[] =
    "// Every op as a function of C++: rheos::matmul(s, x, w, {.transpose_b = true, .name = "
    "\"logits\"}).\n"
    "// Inputs and required attributes by position, the rest in a struct; lists are borrowed for "
    "the "
    "call.\n"
    "// Names that C++ has itself end with \"_\". Generated from the op table. After an error (in "
    "the\n"
    "// scope's status) the result is none.\n"
    "#ifndef RHEOS_CPP_OPS_HPP\n#define RHEOS_CPP_OPS_HPP\n\n#include <rheos/cpp/scope.hpp>\n\n"
    "RHEOS_CPP_BEGIN\n";

// ---- The files

static const char header_start[] =
    "// Every op as a function: rheos_matmul(scope, x, w, .transpose_b = true, .name = "
    "\"logits\").\n"
    "// Inputs and required attributes by position, the rest by name; in C++ in the order of the "
    "struct,\n"
    "// `.name` last. rheos_matmul_with(scope, args) takes the struct, and notes no line of the "
    "program.\n"
    "// Generated from the op table. After an error (in the scope's status) the result is none.\n"
    "#ifndef RHEOS_OPS_H\n#define RHEOS_OPS_H\n\n#include <rheos/scope.h>\n\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#else\n"
    "// Fails to compile where the last argument that a call needs is empty.\n"
    "#define RHEOS__ENOUGH(last) \\\n"
    "  ((void)sizeof(struct { \\\n"
    "    _Static_assert(sizeof(last) > 1, \"too few arguments for the op\"); \\\n"
    "    char end_; \\\n"
    "  }))\n";

enum { MAX_COUNTED = 20 };

// RHEOS__NTH_3(a, b, c, ...): "c", for calls in C.
static void print_counting(FILE *out) {
  for (int count = 2; count <= MAX_COUNTED; ++count) {
    fprintf(out, "#define RHEOS__NTH_%d(", count);
    for (int i = 1; i <= count; ++i) fprintf(out, "arg_%d, ", i);
    fprintf(out, "...) #arg_%d\n", count);
  }
  fputs("#endif\n", out);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: generate_wrappers HEADER CPP_HEADER LIST\n");
    return 2;
  }
  FILE *header = fopen(argv[1], "w"), *cpp = fopen(argv[2], "w"), *list = fopen(argv[3], "w");
  if (header == NULL || cpp == NULL || list == NULL) {
    perror("generate_wrappers");
    return 1;
  }
  fputs(header_start, header);
  print_counting(header);
  fputs(cpp_start, cpp);
  fputs("// X(op, name of its wrapper): generated from the op table.\n", list);
  for (int32_t i = 0; i < rheos__op_table_size; ++i) {
    const rheos__signature *s = rheos__signature_at(i);
    if (s == NULL) {
      fprintf(stderr, "generate_wrappers: the signature of %s cannot be read\n",
              rheos__op_table[i]->name);
      return 1;
    }
    if (s->op->name[0] == '_') continue;
    char name[128];
    c_name(s->op->name, name, sizeof name);
    print_declaration(header, s, name);
    print_cpp(cpp, s, name);
    fprintf(list, "X(%s, %s)\n", s->op->name, name);
  }
  fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif  // RHEOS_OPS_H\n", header);
  fputs("\nRHEOS_CPP_END\n\n#endif  // RHEOS_CPP_OPS_HPP\n", cpp);
  return (fclose(header) | fclose(cpp) | fclose(list)) != 0;
}
