// Writes the typed C wrapper of every op, <rheos/ops.h> and its source, from the op table.
//
// Each op gets a struct of arguments, inputs first, then attributes that have no default and cannot be
// inferred, then those that have one, then `name`; a function on that struct; and a macro that makes
// the struct from a call's arguments and notes the caller's line. What the inputs tell (dtypes, list
// lengths) is no argument.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_def.h"

// Names that are taken, or that read better otherwise.
static const struct {
  const char *op, *name;
} renamed[] = {
    {"MatMul", "matmul"},
    {"BatchMatMul", "batch_matmul"},
    {"BatchMatMulV2", "batch_matmul_v2"},
    {"Variable", "variable_op"},
    {"Shape", "shape_op"},
};

// "Conv2DBackpropInput" -> "conv2d_backprop_input"
static void c_name(const char *op, char *out, size_t size) {
  for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; ++i) {
    if (strcmp(op, renamed[i].op) == 0) {
      snprintf(out, size, "%s", renamed[i].name);
      return;
    }
  }
  size_t length = 0;
  for (size_t i = 0; op[i] != '\0' && length + 2 < size; ++i) {
    bool upper = isupper((unsigned char)op[i]) != 0;
    bool after_lower = i > 0 && islower((unsigned char)op[i - 1]);
    bool starts_word = i > 0 && op[i - 1] != '_' && islower((unsigned char)op[i + 1]);
    if (upper && (after_lower || starts_word)) out[length++] = '_';
    out[length++] = (char)tolower((unsigned char)op[i]);
  }
  out[length] = '\0';
}

// Names of arguments that are words of C or C++.
static const char *field_name(const char *name) {
  static const char *const words[][2] = {{"default", "default_"}, {"template", "template_"},
                                         {"switch", "switch_"},   {"class", "class_"},
                                         {"bool", "bool_"},       {"name", "name_"}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    if (strcmp(name, words[i][0]) == 0) return words[i][1];
  }
  return name;
}

static bool is_list(const rheos__arg *arg) {
  return arg->number_attr >= 0 || arg->type_list_attr >= 0;
}

static bool is_inferred(const rheos__signature *s, int attr) {
  for (int i = 0; i < s->num_inputs; ++i) {
    if (s->inputs[i].type_attr == attr || s->inputs[i].number_attr == attr ||
        s->inputs[i].type_list_attr == attr) {
      return true;
    }
  }
  return false;
}

// How an attribute stands in the struct; NULL if wrappers do not carry its kind.
static const char *field_type(const rheos__attr_def *attr) {
  switch (attr->kind) {
    case RHEOS_ATTR_INT: return "int64_t ";
    case RHEOS_ATTR_FLOAT: return "float ";
    case RHEOS_ATTR_BOOL:
      return attr->has_default && attr->default_value.b ? "rheos_choice " : "bool ";
    case RHEOS_ATTR_TYPE: return "rheos_dtype ";
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_FUNC: return "const char *";
    case RHEOS_ATTR_SHAPE: return "const rheos_shape *";
    case RHEOS_ATTR_TENSOR: return "rheos_tensor *";
    case RHEOS_ATTR_LIST_INT: return "const int64_t *";
    case RHEOS_ATTR_LIST_FLOAT: return "const float *";
    case RHEOS_ATTR_LIST_BOOL: return "const bool *";
    case RHEOS_ATTR_LIST_TYPE: return "const rheos_dtype *";
    case RHEOS_ATTR_LIST_SHAPE: return "const rheos_shape *";
    case RHEOS_ATTR_LIST_STRING: return "const rheos_string *";
    default: return NULL;
  }
}

static bool is_list_kind(rheos_attr_kind kind) { return kind >= RHEOS_ATTR_LIST_STRING; }

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
    case RHEOS_ATTR_INT: fprintf(out, "; 0: the default, %lld", (long long)value->i); break;
    case RHEOS_ATTR_FLOAT: fprintf(out, "; 0: the default, %g", (double)value->f); break;
    case RHEOS_ATTR_BOOL:
      if (value->b) fprintf(out, "; 0: the default, yes");
      break;
    case RHEOS_ATTR_TYPE:
      fprintf(out, "; 0: the default, %s", rheos_dtype_name(value->type));
      break;
    case RHEOS_ATTR_STRING:
      fputs("; NULL: the default, \"", out);
      print_text(out, value->s.data, value->s.size_bytes);
      fputc('"', out);
      break;
    default: fprintf(out, "; the default"); break;
  }
}

static bool zero_is_default(const rheos_attr_value *value) {
  return (value->kind == RHEOS_ATTR_INT && value->i == 0) ||
         (value->kind == RHEOS_ATTR_FLOAT && value->f == 0) ||
         (value->kind == RHEOS_ATTR_BOOL && !value->b);
}

static void print_attr_fields(FILE *out, const rheos__signature *s, bool optional) {
  for (int i = 0; i < s->num_attrs; ++i) {
    const rheos__attr_def *attr = &s->attrs[i];
    const char *type = field_type(attr);
    if (attr->has_default != optional || is_inferred(s, i) || type == NULL) continue;
    fprintf(out, "  %s%s;", type, field_name(attr->name));
    if (is_list_kind(attr->kind)) fprintf(out, "\n  int32_t num_%s;", attr->name);
    if (optional) {
      fprintf(out, "  // optional");
      if (!zero_is_default(&attr->default_value)) print_default(out, &attr->default_value);
    }
    fprintf(out, "\n");
  }
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
  for (int i = 0; i < s->num_inputs; ++i) {
    const char *input = field_name(s->inputs[i].name);
    if (is_list(&s->inputs[i])) {
      fprintf(out, "  const rheos_output *%s;\n  size_t num_%s;\n", input, s->inputs[i].name);
    } else {
      fprintf(out, "  rheos_output %s;\n", input);
    }
  }
  print_attr_fields(out, s, false);
  print_attr_fields(out, s, true);
  fprintf(out, "  const char *name;\n  char end_;\n} rheos_%s_args;\n", name);
  if (strncmp(result, "rheos_output", 13) != 0 && strcmp(result, "rheos_operation") != 0) {
    fprintf(out, "typedef struct %s {\n", result);
    for (int i = 0; i < s->num_outputs; ++i) {
      fprintf(out, "  rheos_output %s;\n", field_name(s->outputs[i].name));
    }
    fprintf(out, "} %s;\n", result);
  }
  fprintf(out, "RHEOS_API %s rheos_%s_with(rheos_scope *scope, rheos_%s_args args);\n", result,
          name, name);
  fprintf(out,
          "#define rheos_%s(scope, ...)                             \\\n"
          "  (rheos_scope_set_source((scope), __FILE__, __LINE__), \\\n"
          "   rheos_%s_with((scope), (rheos_%s_args){__VA_ARGS__, .end_ = 0}))\n",
          name, name, name);
}

// The statement that adds one attribute to the array, if it was given.
static void print_attr_setting(FILE *out, const rheos__attr_def *attr) {
  const char *field = field_name(attr->name);
  const char *member = NULL;
  char condition[200] = "true";
  switch (attr->kind) {
    case RHEOS_ATTR_INT:
      member = "i";
      if (attr->has_default) snprintf(condition, sizeof condition, "args.%s != 0", field);
      break;
    case RHEOS_ATTR_FLOAT:
      member = "f";
      if (attr->has_default) snprintf(condition, sizeof condition, "args.%s != 0", field);
      break;
    case RHEOS_ATTR_BOOL:
      fprintf(out, "  if (args.%s != 0) {\n", field);
      fprintf(out, "    attrs[count] = (rheos_attr){\"%s\", {RHEOS_ATTR_BOOL, 0, {0}}};\n",
              attr->name);
      fprintf(out, "    attrs[count++].value.b = %s;\n  }\n",
              attr->has_default && attr->default_value.b ? "false" : "true");
      return;
    case RHEOS_ATTR_TYPE:
      member = "type";
      snprintf(condition, sizeof condition, "args.%s != RHEOS_INVALID_DTYPE", field);
      break;
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_FUNC:
      fprintf(out, "  if (args.%s != NULL) {\n", field);
      fprintf(out, "    attrs[count] = rheos_attr_string(\"%s\", args.%s, strlen(args.%s));\n",
              attr->name, field, field);
      fprintf(out, "    attrs[count++].value.kind = %s;\n  }\n",
              attr->kind == RHEOS_ATTR_FUNC ? "RHEOS_ATTR_FUNC" : "RHEOS_ATTR_STRING");
      return;
    case RHEOS_ATTR_SHAPE:
      member = "shape";
      snprintf(condition, sizeof condition, "args.%s != NULL", field);
      break;
    case RHEOS_ATTR_TENSOR:
      member = "tensor";
      snprintf(condition, sizeof condition, "args.%s != NULL", field);
      break;
    default: {
      static const char *const members[] = {"strings", "ints",  "floats",
                                            "bools",   "types", "shapes"};
      member = members[attr->kind - RHEOS_ATTR_LIST_STRING];
      if (attr->has_default) snprintf(condition, sizeof condition, "args.%s != NULL", field);
      fprintf(out, "  if (%s) {\n", condition);
      fprintf(out,
              "    attrs[count] = (rheos_attr){\"%s\", {(rheos_attr_kind)%d, args.num_%s, {0}}};\n",
              attr->name, (int)attr->kind, attr->name);
      fprintf(out, "    attrs[count++].value.%s = args.%s;\n  }\n", member, field);
      return;
    }
  }
  fprintf(out, "  if (%s) {\n", condition);
  fprintf(out, "    attrs[count] = (rheos_attr){\"%s\", {(rheos_attr_kind)%d, 0, {0}}};\n",
          attr->name, (int)attr->kind);
  fprintf(out, "    attrs[count++].value.%s = args.%s;\n  }\n", member, field);
}

static void print_inputs(FILE *out, const rheos__signature *s) {
  bool any_list = false;
  for (int i = 0; i < s->num_inputs; ++i) any_list |= is_list(&s->inputs[i]);
  if (!any_list) {
    if (s->num_inputs == 0) {
      fprintf(out, "  const rheos_output *inputs = NULL;\n  size_t num_inputs = 0;\n");
      return;
    }
    fprintf(out, "  const rheos_output inputs[] = {");
    for (int i = 0; i < s->num_inputs; ++i) {
      fprintf(out, "%sargs.%s", i > 0 ? ", " : "", field_name(s->inputs[i].name));
    }
    fprintf(out, "};\n  size_t num_inputs = %d;\n", s->num_inputs);
    return;
  }
  fprintf(out, "  const input_part parts[] = {\n");
  for (int i = 0; i < s->num_inputs; ++i) {
    const char *field = field_name(s->inputs[i].name);
    if (is_list(&s->inputs[i])) {
      fprintf(out, "      {args.%s, args.num_%s},\n", field, s->inputs[i].name);
    } else {
      fprintf(out, "      {&args.%s, 1},\n", field);
    }
  }
  fprintf(out, "  };\n  size_t num_inputs;\n");
  fprintf(out, "  rheos_output *inputs = join(scope, parts, %d, &num_inputs);\n", s->num_inputs);
}

static void print_definition(FILE *out, const rheos__signature *s, const char *name) {
  char result[160];
  result_type(s, name, result, sizeof result);
  bool any_list = false;
  for (int i = 0; i < s->num_inputs; ++i) any_list |= is_list(&s->inputs[i]);
  fprintf(out, "\n%s rheos_%s_with(rheos_scope *scope, rheos_%s_args args) {\n", result, name,
          name);
  print_inputs(out, s);
  fprintf(out, "  rheos_attr attrs[%d];\n  size_t count = 0;\n", s->num_attrs + 1);
  for (int i = 0; i < s->num_attrs; ++i) {
    if (!is_inferred(s, i) && field_type(&s->attrs[i]) != NULL)
      print_attr_setting(out, &s->attrs[i]);
  }
  fprintf(
      out,
      "  rheos_operation op = rheos_op(scope, &(rheos_op_args){.type = \"%s\", .name = args.name,\n"
      "      .inputs = inputs, .num_inputs = num_inputs, .attrs = attrs, .num_attrs = count});\n",
      s->op->name);
  if (any_list) fprintf(out, "  rheos_free(inputs);\n");
  if (strcmp(result, "rheos_operation") == 0) {
    fprintf(out, "  return op;\n}\n");
  } else if (strcmp(result, "rheos_output") == 0) {
    fprintf(out, "  return rheos_operation_output(op, 0);\n}\n");
  } else {
    fprintf(out, "  return (%s){", result);
    for (int i = 0; i < s->num_outputs; ++i) {
      fprintf(out, "%srheos_operation_output(op, %d)", i > 0 ? ", " : "", i);
    }
    fprintf(out, "};\n}\n");
  }
}

static const char header_start[] =
    "// Every op as a function: rheos_matmul(scope, x, w, .transpose_b = true, .name = "
    "\"logits\").\n"
    "// Inputs and required attributes by position, the rest by name. Generated from the op "
    "table.\n"
    "// After an error (in the scope's status) the result is none.\n"
    "#ifndef RHEOS_OPS_H\n#define RHEOS_OPS_H\n\n#include <rheos/scope.h>\n\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    "// An attribute that is on unless told otherwise.\n"
    "typedef enum rheos_choice { RHEOS_DEFAULT = 0, RHEOS_NO = 1 } rheos_choice;\n";

static const char source_start[] =
    "// Generated from the op table.\n#include <rheos/ops.h>\n#include <string.h>\n\n"
    "#include \"base/alloc.h\"\n#include \"base/status.h\"\n\n"
    "typedef struct input_part {\n  const rheos_output *outputs;\n  size_t count;\n} "
    "input_part;\n\n"
    "// The inputs one after the other; NULL and 0 after an error.\n"
    "static rheos_output *join(rheos_scope *scope, const input_part *parts, size_t num_parts,\n"
    "                          size_t *out_count) {\n"
    "  size_t count = 0;\n"
    "  for (size_t i = 0; i < num_parts; ++i) count += parts[i].count;\n"
    "  rheos_output *joined = rheos__alloc_array(count, sizeof *joined);\n"
    "  *out_count = 0;\n"
    "  if (joined == NULL) {\n    rheos_scope_fail_take(scope, rheos__out_of_memory());\n"
    "    return NULL;\n  }\n"
    "  for (size_t i = 0; i < num_parts; ++i) {\n"
    "    for (size_t k = 0; k < parts[i].count; ++k) joined[(*out_count)++] = "
    "parts[i].outputs[k];\n"
    "  }\n  return joined;\n}\n";

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: generate_wrappers HEADER SOURCE\n");
    return 2;
  }
  FILE *header = fopen(argv[1], "w"), *source = fopen(argv[2], "w");
  if (header == NULL || source == NULL) {
    perror("generate_wrappers");
    return 1;
  }
  fputs(header_start, header);
  fputs(source_start, source);
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
    print_definition(source, s, name);
  }
  fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif  // RHEOS_OPS_H\n", header);
  return fclose(header) != 0 || fclose(source) != 0;
}
