// Fitting a node to its op's signature: which input is which argument's, what inputs tell about
// attributes, defaults, and whether all of it is allowed.
#include "graph/node_build.h"

#include <string.h>

#include "graph/build.h"

// ---- Words for messages

const char *rheos__attr_kind_name(rheos_attr_kind kind) {
  static const char *const names[] = {
      "none",        "string",     "int",        "float",       "bool",         "type",
      "shape",       "tensor",     "func",       "placeholder", "list(string)", "list(int)",
      "list(float)", "list(bool)", "list(type)", "list(shape)", "list(tensor)", "list(func)"};
  return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "invalid";
}

bool rheos__attr_kind_is_list(rheos_attr_kind kind) {
  return kind >= RHEOS_ATTR_LIST_STRING && kind <= RHEOS_ATTR_LIST_FUNC;
}

const char *rheos__python_dtype(rheos_dtype dtype) {
  switch ((int)dtype) {
    case RHEOS_HALF: return "float16";
    case RHEOS_FLOAT: return "float32";
    case RHEOS_DOUBLE: return "float64";
    case RHEOS_HALF + RHEOS_REF: return "float16_ref";
    case RHEOS_FLOAT + RHEOS_REF: return "float32_ref";
    case RHEOS_DOUBLE + RHEOS_REF: return "float64_ref";
    default: return rheos_dtype_name(dtype);
  }
}

void rheos__words_add(rheos__words *buffer, const char *text) {
  size_t length = strlen(text), room = sizeof buffer->text - 1 - buffer->length;
  if (length > room) length = room;
  memcpy(buffer->text + buffer->length, text, length);
  buffer->length += length;
  buffer->text[buffer->length] = '\0';
}

void rheos__words_add_item(rheos__words *buffer, const char *text) {
  if (buffer->length != 0) rheos__words_add(buffer, ", ");
  rheos__words_add(buffer, text);
}

static void append_types(rheos__words *buffer, uint64_t types) {
  for (int dtype = 1; dtype < 64; dtype++) {
    if (types >> dtype & 1) rheos__words_add_item(buffer, rheos__python_dtype((rheos_dtype)dtype));
  }
}

// ---- Inputs against the signature

// The attribute that says how long a list argument is; -1 for an argument that is no list.
static int32_t length_attr(const rheos__arg *arg) {
  return arg->number_attr >= 0 ? arg->number_attr : arg->type_list_attr;
}

int64_t rheos__known_length(const rheos__node_build *b, const rheos__arg *arg) {
  int32_t attr = length_attr(arg);
  if (attr < 0) return 1;
  const rheos_attr_value *value = &b->values[attr];
  if (value->kind == RHEOS_ATTR_INT) return value->i < 0 ? 0 : value->i;
  return value->kind == RHEOS_ATTR_LIST_TYPE ? value->count : -1;
}

static rheos_status *wrong_number(const rheos__node_build *b, int64_t expected) {
  return RHEOS_INVALID("'%s' Op takes %lld inputs, got %d", rheos__op_name_of(b),
                       (long long)expected, b->num_inputs);
}

// Finds the length of all lists that no attribute tells: there may be one such attribute, and the
// lists of that length share the inputs that are left. `*out_length` is -1 if there is none.
static rheos_status *solve_length(const rheos__node_build *b, int64_t *out_length) {
  int64_t fixed = 0, shares = 0;
  int32_t unknown = -1;
  *out_length = -1;
  for (int32_t i = 0; i < b->signature->num_inputs; i++) {
    const rheos__arg *arg = &b->signature->inputs[i];
    int64_t length = rheos__known_length(b, arg);
    if (length >= 0) {
      if (length > RHEOS__MAX_NODE_OUTPUTS) return wrong_number(b, length);
      fixed += length;
    } else if (unknown >= 0 && unknown != length_attr(arg)) {
      return RHEOS_INVALID("'%s' Op has several lists: attribute '%s' or '%s' must be given",
                           rheos__op_name_of(b), b->signature->attrs[unknown].name,
                           b->signature->attrs[length_attr(arg)].name);
    } else {
      unknown = length_attr(arg);
      shares++;
    }
  }
  int64_t left = b->num_inputs - fixed;
  if (shares == 0) return left == 0 ? NULL : wrong_number(b, fixed);
  if (left < 0) return wrong_number(b, fixed);
  if (left % shares != 0) {
    return RHEOS_INVALID("'%s' Op takes %lld lists of one length, got %lld inputs for them",
                         rheos__op_name_of(b), (long long)shares, (long long)left);
  }
  *out_length = left / shares;
  return NULL;
}

static rheos_status *check_allowed_type(const rheos__node_build *b, int32_t attr, rheos_dtype dtype,
                                        const char *parameter) {
  uint64_t allowed = b->signature->attrs[attr].allowed_types;
  if (allowed == 0 || allowed >> dtype & 1) return NULL;
  rheos__words list = {.length = 0};
  append_types(&list, allowed);
  return RHEOS_INVALID(
      "Value passed to parameter '%s' has DataType %s not in list of allowed "
      "values: %s",
      parameter, rheos__python_dtype(dtype), list.text);
}

static rheos_status *mismatch(const rheos__node_build *b, const rheos__arg *arg, int32_t first,
                              int32_t count, int32_t at, rheos_dtype expected) {
  const char *dtype = rheos__python_dtype(rheos_dtype_base(b->input_dtypes[at]));
  int32_t told_by = arg->type_attr >= 0 ? b->told_by[arg->type_attr] : -1;
  const rheos__arg *teller = told_by >= 0 ? &b->signature->inputs[told_by] : NULL;
  if (teller == arg) {
    rheos__words list = {.length = 0};
    for (int32_t i = first; i < first + count; i++) {
      rheos__words_add_item(&list, rheos__python_dtype(rheos_dtype_base(b->input_dtypes[i])));
    }
    return RHEOS_INVALID(
        "Tensors in list passed to '%s' of '%s' Op have types [%s] that don't all "
        "match.",
        arg->name, rheos__op_name_of(b), list.text);
  }
  if (teller != NULL) {
    return RHEOS_INVALID(
        "Input '%s' of '%s' Op has type %s that does not match type %s of "
        "argument '%s'.",
        arg->name, rheos__op_name_of(b), dtype, rheos__python_dtype(expected), teller->name);
  }
  return RHEOS_INVALID("Input '%s' of '%s' Op has type %s that does not match expected type of %s.",
                       arg->name, rheos__op_name_of(b), dtype, rheos__python_dtype(expected));
}

static rheos_status *bind_one(rheos__node_build *b, int32_t arg_index, int32_t first, int32_t count,
                              int32_t at) {
  const rheos__arg *arg = &b->signature->inputs[arg_index];
  rheos_dtype actual = b->input_dtypes[at], base = rheos_dtype_base(actual);
  if (arg->is_ref && !rheos_dtype_is_ref(actual)) {
    return RHEOS_INVALID(
        "'%s' Op requires that input '%s' be a mutable tensor (a variable that is not a resource)",
        rheos__op_name_of(b), arg->name);
  }
  if (arg->type_attr < 0) {
    return base == arg->dtype || base == RHEOS_INVALID_DTYPE
               ? NULL
               : mismatch(b, arg, first, count, at, arg->dtype);
  }
  rheos_attr_value *value = &b->values[arg->type_attr];
  if (value->kind == RHEOS_ATTR_NONE) {
    RHEOS_TRY(check_allowed_type(b, arg->type_attr, base, arg->name));
    *value = (rheos_attr_value){.kind = RHEOS_ATTR_TYPE, .type = base};
    b->told_by[arg->type_attr] = arg_index;
    return NULL;
  }
  if (value->kind != RHEOS_ATTR_TYPE || value->type == base || base == RHEOS_INVALID_DTYPE) {
    return NULL;
  }
  return mismatch(b, arg, first, count, at, value->type);
}

static rheos_status *bind_type_list(rheos__node_build *b, const rheos__arg *arg, int32_t first,
                                    int32_t count) {
  rheos_attr_value *value = &b->values[arg->type_list_attr];
  if (value->kind == RHEOS_ATTR_LIST_TYPE) {
    for (int32_t i = 0; i < count; i++) {
      rheos_dtype base = rheos_dtype_base(b->input_dtypes[first + i]);
      if (base != value->types[i] && base != RHEOS_INVALID_DTYPE) {
        return mismatch(b, arg, first, count, first + i, value->types[i]);
      }
    }
    return NULL;
  }
  rheos_dtype *types = rheos__build_work(b, (size_t)count, sizeof *types);
  if (types == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; i++) {
    types[i] = rheos_dtype_base(b->input_dtypes[first + i]);
    RHEOS_TRY(check_allowed_type(b, arg->type_list_attr, types[i], arg->name));
  }
  *value = (rheos_attr_value){.kind = RHEOS_ATTR_LIST_TYPE, .count = count, .types = types};
  return NULL;
}

static rheos_status *check_length(const rheos__node_build *b, const rheos__arg *arg,
                                  int32_t count) {
  const rheos__attr_def *def = &b->signature->attrs[length_attr(arg)];
  if (!def->has_minimum || count >= def->minimum) return NULL;
  return RHEOS_INVALID(
      "List argument '%s' to '%s' Op with length %d shorter than minimum length "
      "%lld.",
      arg->name, rheos__op_name_of(b), count, (long long)def->minimum);
}

rheos_status *rheos__bind_inputs(rheos__node_build *b) {
  int64_t solved;
  RHEOS_TRY(solve_length(b, &solved));
  int32_t first = 0;
  for (int32_t i = 0; i < b->signature->num_inputs; i++) {
    const rheos__arg *arg = &b->signature->inputs[i];
    int64_t known = rheos__known_length(b, arg);
    int32_t count = (int32_t)(known >= 0 ? known : solved);
    if (length_attr(arg) >= 0) RHEOS_TRY(check_length(b, arg, count));
    if (arg->number_attr >= 0 && b->values[arg->number_attr].kind == RHEOS_ATTR_NONE) {
      b->values[arg->number_attr] = (rheos_attr_value){.kind = RHEOS_ATTR_INT, .i = count};
    }
    if (arg->type_list_attr >= 0) {
      RHEOS_TRY(bind_type_list(b, arg, first, count));
    } else {
      for (int32_t k = 0; k < count; k++) RHEOS_TRY(bind_one(b, i, first, count, first + k));
    }
    first += count;
  }
  return NULL;
}

// ---- Attributes complete and checked

static rheos_status *check_string(const rheos__node_build *b, const rheos__attr_def *def,
                                  const rheos_string *string) {
  rheos__words list = {.length = 0};
  for (const char *const *allowed = def->allowed_strings; *allowed != NULL; allowed++) {
    if (strlen(*allowed) == string->size_bytes &&
        (string->size_bytes == 0 || memcmp(*allowed, string->data, string->size_bytes) == 0)) {
      return NULL;
    }
    rheos__words_add(&list, list.length != 0 ? "\", \"" : "");
    rheos__words_add(&list, *allowed);
  }
  return RHEOS_INVALID("Attr '%s' of '%s' Op passed string '%.*s' not in: \"%s\".", def->name,
                       rheos__op_name_of(b), (int)string->size_bytes,
                       string->data != NULL ? string->data : "", list.text);
}

static rheos_status *check_minimum(const rheos__node_build *b, const rheos__attr_def *def,
                                   const rheos_attr_value *value) {
  if (value->kind == RHEOS_ATTR_INT && value->i < def->minimum) {
    return RHEOS_INVALID("Attr '%s' of '%s' Op passed %lld less than minimum %lld.", def->name,
                         rheos__op_name_of(b), (long long)value->i, (long long)def->minimum);
  }
  if (rheos__attr_kind_is_list(value->kind) && value->count < def->minimum) {
    return RHEOS_INVALID("Attr '%s' of '%s' Op passed list of length %d less than minimum %lld.",
                         def->name, rheos__op_name_of(b), value->count, (long long)def->minimum);
  }
  return NULL;
}

static rheos_status *check_attr(const rheos__node_build *b, int32_t index) {
  const rheos__attr_def *def = &b->signature->attrs[index];
  const rheos_attr_value *value = &b->values[index];
  if (def->has_minimum) RHEOS_TRY(check_minimum(b, def, value));
  if (def->allowed_types != 0 && value->kind == RHEOS_ATTR_TYPE) {
    RHEOS_TRY(check_allowed_type(b, index, value->type, def->name));
  }
  for (int32_t i = 0; value->kind == RHEOS_ATTR_LIST_TYPE && i < value->count; i++) {
    RHEOS_TRY(check_allowed_type(b, index, value->types[i], def->name));
  }
  if (def->allowed_strings == NULL) return NULL;
  if (value->kind == RHEOS_ATTR_STRING) return check_string(b, def, &value->s);
  for (int32_t i = 0; value->kind == RHEOS_ATTR_LIST_STRING && i < value->count; i++) {
    RHEOS_TRY(check_string(b, def, &value->strings[i]));
  }
  return NULL;
}

rheos_status *rheos__complete_attrs(rheos__node_build *b) {
  for (int32_t i = 0; i < b->signature->num_attrs; i++) {
    const rheos__attr_def *def = &b->signature->attrs[i];
    if (b->values[i].kind == RHEOS_ATTR_NONE) {
      if (!def->has_default) {
        return RHEOS_INVALID("'%s' Op needs the attribute '%s' (%s)", rheos__op_name_of(b),
                             def->name, rheos__attr_kind_name(def->kind));
      }
      b->values[i] = def->default_value;
    }
    RHEOS_TRY(check_attr(b, i));
  }
  return NULL;
}
