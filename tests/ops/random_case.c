// Draws calls: nonsense, and calls that fit their signature.
#include "ops/random_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_def.h"
#include "ops/op_harness.h"

enum { LARGEST_ALLOCATION = 16 << 20, MAX_LIST = 4 };

static void *capped_allocate(void *user, size_t size_bytes) {
  (void)user;
  return size_bytes > LARGEST_ALLOCATION ? NULL : malloc(size_bytes);
}
static void *capped_reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user;
  return size_bytes > LARGEST_ALLOCATION ? NULL : realloc(memory, size_bytes);
}
static void plain_release(void *user, void *memory) {
  (void)user;
  free(memory);
}

void random_case_cap_memory(bool cap) {
  const rheos_allocator capped = {capped_allocate, capped_reallocate, plain_release, NULL};
  rheos_set_allocator(cap ? &capped : NULL);
}

const int64_t random_case_odd_integers[] = {
    -1, -2, 0, 1, 7, 1000000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
const int random_case_num_odd_integers =
    sizeof random_case_odd_integers / sizeof *random_case_odd_integers;

void random_case_store_integer(rheos_tensor *tensor, int64_t index, int64_t value) {
  void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: ((float *)data)[index] = (float)value; break;
    case RHEOS_DOUBLE: ((double *)data)[index] = (double)value; break;
    case RHEOS_HALF: ((uint16_t *)data)[index] = rheos__float_to_half((float)value); break;
    case RHEOS_BFLOAT16: ((uint16_t *)data)[index] = rheos__float_to_bfloat16((float)value); break;
    case RHEOS_INT64:
    case RHEOS_UINT64: ((int64_t *)data)[index] = value; break;
    case RHEOS_INT32:
    case RHEOS_UINT32:
    case RHEOS_QINT32: ((int32_t *)data)[index] = (int32_t)value; break;
    case RHEOS_INT16:
    case RHEOS_UINT16:
    case RHEOS_QINT16:
    case RHEOS_QUINT16: ((int16_t *)data)[index] = (int16_t)value; break;
    case RHEOS_INT8:
    case RHEOS_UINT8:
    case RHEOS_QINT8:
    case RHEOS_QUINT8: ((int8_t *)data)[index] = (int8_t)value; break;
    default: break;
  }
}

static uint64_t random_state;

void random_case_seed(uint64_t seed) {
  random_state = seed != 0 ? seed : 1;
  for (int i = 0; i < 8; i++) random_case_draw(2);
}

uint64_t random_case_draw(uint64_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (random_state >> 11) % below;
}

static int64_t draw_integer(void) {
  if (random_case_draw(4) == 0)
    return random_case_odd_integers[random_case_draw((uint64_t)random_case_num_odd_integers)];
  return (int64_t)random_case_draw(9) - 2;
}

static float draw_number(void) {
  static const float odd[] = {0, -0.0F, -1, 0.5F, 1e-30F, 1e30F, NAN, INFINITY, -INFINITY};
  if (random_case_draw(3) == 0) return odd[random_case_draw(sizeof odd / sizeof *odd)];
  return (float)random_case_draw(1000) / 100 - 4;
}

static rheos_shape draw_shape(void) {
  static const uint8_t dims[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 7};
  rheos_shape shape = RHEOS_SCALAR;
  shape.rank = (int32_t)random_case_draw(random_case_draw(8) == 0 ? 9 : 5);
  for (int32_t k = 0; k < shape.rank; k++) shape.dims[k] = dims[random_case_draw(sizeof dims)];
  return shape;
}

// Files and messages inside strings: a byte changed, the end cut off, a piece twice. The name of a
// file stays in the cases' folder: its first bytes are kept.
static void tangle_string(rheos_tensor *tensor, int64_t index) {
  const rheos_string *from = (const rheos_string *)rheos_tensor_data(tensor) + index;
  const size_t folder_bytes = strlen(op_cases_folder());
  const bool is_name =
      from->size_bytes >= folder_bytes && memcmp(from->data, op_cases_folder(), folder_bytes) == 0;
  if (is_name && from->size_bytes == folder_bytes) return;
  const size_t kept_bytes = is_name ? folder_bytes + 1 : 0;
  const size_t size_bytes = from->size_bytes - kept_bytes;
  char *whole = calloc(2 * from->size_bytes + 16, 1);
  if (!whole) return;
  if (from->size_bytes > 0) memcpy(whole, from->data, from->size_bytes);
  char *text = whole + kept_bytes;
  size_t new_bytes = size_bytes;
  const uint64_t how = random_case_draw(4);
  if (how == 0 || size_bytes == 0) {
    new_bytes = random_case_draw(12);
    for (size_t i = 0; i < new_bytes; i++) text[i] = (char)random_case_draw(256);
  } else if (how == 1) {
    new_bytes = random_case_draw(size_bytes);
  } else if (how == 2) {
    const size_t at = random_case_draw(size_bytes);
    memcpy(text + size_bytes, text + at, size_bytes - at);
    new_bytes += size_bytes - at;
  } else {
    for (uint64_t k = random_case_draw(4) + 1; k > 0; k--)
      text[random_case_draw(size_bytes)] = (char)random_case_draw(256);
  }
  rheos_status_free(rheos_tensor_set_string(tensor, index, whole, kept_bytes + new_bytes));
  free(whole);
}

static void tangle_element(rheos_tensor *tensor, int64_t index) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  void *data = rheos_tensor_data(tensor);
  if (dtype == RHEOS_STRING) {
    tangle_string(tensor, index);
  } else if (dtype == RHEOS_FLOAT) {
    ((float *)data)[index] = draw_number();
  } else if (dtype == RHEOS_DOUBLE) {
    ((double *)data)[index] = draw_number();
  } else if (dtype == RHEOS_BOOL) {
    ((bool *)data)[index] = random_case_draw(2) == 1;
  } else {
    random_case_store_integer(tensor, index, draw_integer());
  }
}

// Another shape with drawn values, or the values of some elements.
void random_case_tangle_input(op_input *input) {
  rheos_tensor *tensor = NULL;
  rheos_status *status = NULL;
  const bool anew = !input->tensor || random_case_draw(2) == 0;
  if (anew) {
    status = rheos_tensor_new(input->dtype, draw_shape(), &tensor);
    if (!status && input->dtype != RHEOS_STRING) {
      memset(rheos_tensor_data(tensor), 0, rheos_tensor_size_bytes(tensor));
    }
  } else {
    status = rheos_tensor_copy(input->tensor, &tensor);
  }
  rheos_status_free(status);
  if (!tensor) return;
  const int64_t count = rheos_tensor_num_elements(tensor);
  if (anew) {
    for (int64_t i = 0; i < count; i++) tangle_element(tensor, i);
  } else if (count > 0) {
    for (uint64_t k = random_case_draw(3) + 1; k > 0; k--) {
      tangle_element(tensor, (int64_t)random_case_draw((uint64_t)count));
    }
  }
  rheos_tensor_unref(input->tensor);
  input->tensor = tensor;
  input->shape = *rheos_tensor_shape(tensor);
  if (input->kind == INPUT_UNSET) input->kind = INPUT_VARIABLE;
}

void random_case_tangle_attr(op_case *c, rheos_attr *attr) {
  const rheos__signature *signature = rheos__signature_by_name(c->op);
  rheos_attr_value *value = &attr->value;
  switch (value->kind) {
    case RHEOS_ATTR_INT: value->i = draw_integer(); break;
    case RHEOS_ATTR_FLOAT: value->f = draw_number(); break;
    case RHEOS_ATTR_BOOL: value->b = !value->b; break;
    case RHEOS_ATTR_SHAPE:
      *(rheos_shape *)(uintptr_t)value->shape =
          random_case_draw(5) ? draw_shape() : RHEOS_UNKNOWN_SHAPE;
      break;
    case RHEOS_ATTR_LIST_INT:
      for (int32_t k = 0; k < value->count; k++) {
        if (random_case_draw(2)) ((int64_t *)(uintptr_t)value->ints)[k] = draw_integer();
      }
      break;
    case RHEOS_ATTR_STRING:
      for (int32_t k = 0; k < signature->num_attrs; k++) {
        const rheos__attr_def *def = &signature->attrs[k];
        if (strcmp(def->name, attr->name) != 0 || !def->allowed_strings) continue;
        uint64_t count = 0;
        while (def->allowed_strings[count]) count++;
        free(value->s.data);
        value->s.data = strdup(def->allowed_strings[random_case_draw(count)]);
        value->s.size_bytes = value->s.data ? strlen(value->s.data) : 0;
      }
      break;
    default: break;
  }
}

// The case with the attributes that it leaves at their defaults written out.
void random_case_spell_defaults(const op_case *c, op_case *out) {
  const rheos__signature *signature = rheos__signature_by_name(c->op);
  op_case longer = *c;
  rheos_attr attrs[CASE_MAX_ATTRS];
  if (c->num_attrs > 0) memcpy(attrs, c->attrs, (size_t)c->num_attrs * sizeof *attrs);
  longer.attrs = attrs;
  for (int32_t k = 0; k < signature->num_attrs && longer.num_attrs < CASE_MAX_ATTRS; k++) {
    const rheos__attr_def *def = &signature->attrs[k];
    bool given = !def->has_default || def->kind == RHEOS_ATTR_TYPE ||
                 def->kind == RHEOS_ATTR_TENSOR;  // a view, which is not to be kept
    for (int i = 0; i < c->num_attrs; i++) given |= strcmp(c->attrs[i].name, def->name) == 0;
    if (!given) attrs[longer.num_attrs++] = (rheos_attr){def->name, def->default_value};
  }
  op_case_copy(&longer, out);
}

// ---- Calls that fit the signature

// What one call is drawn with.
typedef struct drawing {
  const rheos__signature *signature;
  op_case *c;
  rheos_shape base;  // most inputs have this shape, or one that broadcasts with it
  bool edges;        // some values are NaN, infinite, the smallest or the largest
  // Of each attribute of the signature, where inputs follow from it.
  rheos_dtype types[RHEOS__MAX_SIGNATURE_ITEMS];
  int32_t lengths[RHEOS__MAX_SIGNATURE_ITEMS];
  rheos_dtype lists[RHEOS__MAX_SIGNATURE_ITEMS][MAX_LIST];
} drawing;

static bool one_in(uint64_t n) { return random_case_draw(n) == 0; }

static void *must(void *memory) {
  if (!memory) abort();
  return memory;
}

static double draw_value(bool edges) {
  static const double odd[] = {0,     -0.0,  NAN, INFINITY, -INFINITY, 1e30,
                               -1e30, 1e-30, 1.0, -1.0,     255.5,     0.5};
  if (edges && one_in(4)) return odd[random_case_draw(sizeof odd / sizeof *odd)];
  if (one_in(3)) return (double)random_case_draw(7) - 2;
  return (double)random_case_draw(1000) / 100 - 4;
}

static int64_t draw_whole(rheos_dtype dtype, bool edges) {
  const int bits = (int)rheos_dtype_size(dtype) * 8;
  if (!edges || !one_in(4)) return (int64_t)random_case_draw(7) - (one_in(3) ? 3 : 0);
  const int64_t smallest = INT64_MIN >> (64 - bits), largest = INT64_MAX >> (64 - bits);
  const int64_t odd[] = {smallest, largest, -1, 0, smallest + 1, largest - 1, largest / 2 + 1};
  return odd[random_case_draw(sizeof odd / sizeof *odd)];
}

static void draw_text(rheos_tensor *tensor, int64_t index) {
  static const char *const texts[] = {"",     "a",   "ab",   "hello world", "1",
                                      "-2.5", "nan", "1e40", "\xff\xfe",    "\xc3\xa9t\xc3\xa9",
                                      "a,b",  "[1]", " x "};
  const char *text = texts[random_case_draw(sizeof texts / sizeof *texts)];
  rheos_status_free(rheos_tensor_set_string(tensor, index, text, strlen(text)));
}

static void draw_element(rheos_tensor *tensor, int64_t index, bool edges) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  void *data = rheos_tensor_data(tensor);
  switch (dtype) {
    case RHEOS_STRING: draw_text(tensor, index); break;
    case RHEOS_BOOL: ((bool *)data)[index] = one_in(2); break;
    case RHEOS_FLOAT: ((float *)data)[index] = (float)draw_value(edges); break;
    case RHEOS_DOUBLE: ((double *)data)[index] = draw_value(edges); break;
    case RHEOS_HALF:
      ((uint16_t *)data)[index] = rheos__float_to_half((float)draw_value(edges));
      break;
    case RHEOS_BFLOAT16:
      ((uint16_t *)data)[index] = rheos__float_to_bfloat16((float)draw_value(edges));
      break;
    case RHEOS_COMPLEX64:
      for (int k = 0; k < 2; k++) ((float *)data)[2 * index + k] = (float)draw_value(edges);
      break;
    case RHEOS_COMPLEX128:
      for (int k = 0; k < 2; k++) ((double *)data)[2 * index + k] = draw_value(edges);
      break;
    default: random_case_store_integer(tensor, index, draw_whole(dtype, edges)); break;
  }
}

// NULL where such a tensor cannot be had.
static rheos_tensor *draw_tensor(rheos_dtype dtype, rheos_shape shape, bool edges) {
  rheos_tensor *tensor = NULL;
  rheos_status_free(rheos_tensor_new(dtype, shape, &tensor));
  const int64_t count = tensor ? rheos_tensor_num_elements(tensor) : 0;
  for (int64_t i = 0; i < count; i++) draw_element(tensor, i, edges);
  return tensor;
}

static rheos_shape draw_base(void) {
  static const uint8_t dims[] = {0, 1, 2, 2, 3, 3, 4, 5, 8};
  rheos_shape shape = RHEOS_SCALAR;
  shape.rank = (int32_t)random_case_draw(6);
  for (int32_t k = 0; k < shape.rank; k++) {
    // One without elements is seldom what is meant.
    shape.dims[k] = dims[one_in(6) ? 0 : 1 + random_case_draw(sizeof dims - 1)];
  }
  return shape;
}

// The base, or its last dimensions, or it with a 1; integers are often axes and sizes.
static rheos_shape draw_related(const drawing *d, rheos_dtype dtype) {
  rheos_shape shape = d->base;
  if (rheos_dtype_is_integer(dtype) && one_in(2)) {
    return one_in(2) ? RHEOS_SCALAR : RHEOS_SHAPE(d->base.rank);
  }
  const uint64_t how = random_case_draw(10);
  if (how == 0) return draw_base();
  if (how == 1) return RHEOS_SCALAR;
  if (shape.rank == 0) return shape;
  const int32_t axis = (int32_t)random_case_draw((uint64_t)shape.rank);
  if (how == 2) shape.dims[axis] = 1;
  if (how == 3) {
    memmove(shape.dims, shape.dims + axis, (size_t)(shape.rank - axis) * sizeof *shape.dims);
    shape.rank -= axis;
  }
  if (how == 4) return RHEOS_SHAPE(shape.dims[axis]);
  return shape;
}

static rheos_dtype draw_type(uint64_t allowed) {
  static const uint8_t usual[] = {RHEOS_FLOAT, RHEOS_FLOAT,    RHEOS_DOUBLE, RHEOS_INT32,
                                  RHEOS_INT64, RHEOS_STRING,   RHEOS_BOOL,   RHEOS_HALF,
                                  RHEOS_UINT8, RHEOS_COMPLEX64};
  for (int tries = 0; tries < 100; tries++) {
    const rheos_dtype dtype = one_in(2) ? (rheos_dtype)usual[random_case_draw(sizeof usual)]
                                        : (rheos_dtype)(1 + random_case_draw(RHEOS_UINT64));
    const bool is_value = dtype != RHEOS_RESOURCE && dtype != RHEOS_VARIANT;
    if (is_value && (allowed == 0 || allowed >> dtype & 1)) return dtype;
  }
  return RHEOS_FLOAT;
}

static rheos_attr *add_attr(op_case *c, const char *name, rheos_attr_kind kind) {
  c->attrs = must(realloc(c->attrs, (size_t)(c->num_attrs + 1) * sizeof *c->attrs));
  rheos_attr *attr = &c->attrs[c->num_attrs++];
  memset(attr, 0, sizeof *attr);
  attr->name = must(strdup(name));
  attr->value.kind = kind;
  return attr;
}

// What inputs follow from, and says so.
static void draw_typing(drawing *d, int32_t index) {
  const rheos__attr_def *def = &d->signature->attrs[index];
  if (def->kind == RHEOS_ATTR_TYPE) {
    d->types[index] =
        def->has_default && one_in(3) ? def->default_value.type : draw_type(def->allowed_types);
    add_attr(d->c, def->name, def->kind)->value.type = d->types[index];
  } else if (def->kind == RHEOS_ATTR_LIST_TYPE) {
    d->lengths[index] = (int32_t)random_case_draw(MAX_LIST);
    rheos_attr *attr = add_attr(d->c, def->name, def->kind);
    for (int32_t k = 0; k < d->lengths[index]; k++) {
      d->lists[index][k] = draw_type(def->allowed_types);
    }
    attr->value.count = d->lengths[index];
    attr->value.types = must(malloc(sizeof d->lists[index]));
    memcpy((void *)(uintptr_t)attr->value.types, d->lists[index], sizeof d->lists[index]);
  }
}

static bool is_length(const rheos__signature *signature, int32_t index) {
  for (int32_t k = 0; k < signature->num_inputs; k++) {
    if (signature->inputs[k].number_attr == index) return true;
  }
  for (int32_t k = 0; k < signature->num_outputs; k++) {
    if (signature->outputs[k].number_attr == index) return true;
  }
  return false;
}

// The attribute as it is in `like`, or drawn anew where that is a number or a choice.
static void draw_attr(drawing *d, int32_t index, const op_case *like) {
  const rheos__attr_def *def = &d->signature->attrs[index];
  if (def->kind == RHEOS_ATTR_TYPE || def->kind == RHEOS_ATTR_LIST_TYPE) {
    draw_typing(d, index);
    return;
  }
  if (is_length(d->signature, index)) {
    d->lengths[index] = (int32_t)random_case_draw(MAX_LIST);
    add_attr(d->c, def->name, def->kind)->value.i = d->lengths[index];
    return;
  }
  for (int k = 0; k < like->num_attrs; k++) {
    if (strcmp(like->attrs[k].name, def->name) != 0) continue;
    op_case one = {.attrs = &like->attrs[k], .num_attrs = 1}, copy;
    op_case_copy(&one, &copy);
    if (one_in(2)) random_case_tangle_attr(d->c, &copy.attrs[0]);
    d->c->attrs = must(realloc(d->c->attrs, (size_t)(d->c->num_attrs + 1) * sizeof *copy.attrs));
    d->c->attrs[d->c->num_attrs++] = copy.attrs[0];
    free(copy.attrs);
    copy.attrs = NULL;
    copy.num_attrs = 0;
    op_case_free(&copy);
    return;
  }
}

// False where there is no room, or nothing to draw.
static bool draw_input(drawing *d, rheos_dtype dtype, bool is_ref) {
  op_case *c = d->c;
  if (c->num_inputs == CASE_MAX_INPUTS) return false;
  const rheos_shape shape = draw_related(d, dtype);
  rheos_tensor *tensor = draw_tensor(dtype, shape, d->edges);
  if (tensor == NULL) return false;
  c->inputs = must(realloc(c->inputs, (size_t)(c->num_inputs + 1) * sizeof *c->inputs));
  c->inputs[c->num_inputs++] = (op_input){.kind = is_ref      ? INPUT_VARIABLE
                                                  : one_in(2) ? INPUT_FEED
                                                              : INPUT_CONST,
                                          .dtype = dtype,
                                          .shape = shape,
                                          .tensor = tensor};
  return true;
}

static bool draw_argument(drawing *d, const rheos__arg *arg) {
  int32_t count = 1;
  if (arg->number_attr >= 0) count = d->lengths[arg->number_attr];
  if (arg->type_list_attr >= 0) count = d->lengths[arg->type_list_attr];
  for (int32_t k = 0; k < count; k++) {
    rheos_dtype dtype = arg->dtype;
    if (arg->type_attr >= 0) dtype = d->types[arg->type_attr];
    if (arg->type_list_attr >= 0) dtype = d->lists[arg->type_list_attr][k];
    if (!draw_input(d, dtype, arg->is_ref)) return false;
  }
  return true;
}

// Everything from the signature, but attributes that say what kind of text or list they want.
static bool draw_from_signature(const op_case *like, op_case *out) {
  drawing d = {.signature = rheos__signature_by_name(like->op), .c = out};
  memset(out, 0, sizeof *out);
  memcpy(out->op, like->op, sizeof out->op);
  snprintf(out->tag, sizeof out->tag, "from the signature");
  out->num_runs = 1;
  out->has_files = like->has_files;
  d.base = draw_base();
  d.edges = one_in(3);
  op_case spelled;
  random_case_spell_defaults(like, &spelled);
  for (int32_t k = 0; k < d.signature->num_attrs; k++) draw_attr(&d, k, &spelled);
  op_case_free(&spelled);
  bool fits = true;
  for (int32_t k = 0; k < d.signature->num_inputs && fits; k++) {
    fits = draw_argument(&d, &d.signature->inputs[k]);
  }
  if (!fits) op_case_free(out);
  return fits;
}

// ---- Recorded calls with something else in the same place everywhere

// The elements of `from` again and again.
static rheos_tensor *repeated(rheos_tensor *from, rheos_dtype dtype, rheos_shape shape,
                              bool edges) {
  rheos_tensor *tensor = draw_tensor(dtype, shape, edges);
  const int64_t count = rheos_tensor_num_elements(from);
  if (tensor == NULL || rheos_tensor_dtype(from) != dtype || dtype == RHEOS_STRING) return tensor;
  const size_t size = rheos_dtype_size(dtype);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor) && count > 0; i++) {
    memcpy((char *)rheos_tensor_data(tensor) + (size_t)i * size,
           (const char *)rheos_tensor_data(from) + (size_t)(i % count) * size, size);
  }
  return tensor;
}

static void replace_tensor(op_input *input, rheos_tensor *tensor) {
  if (tensor == NULL) return;
  rheos_tensor_unref(input->tensor);
  input->tensor = tensor;
  input->dtype = rheos_tensor_dtype(tensor);
  input->shape = *rheos_tensor_shape(tensor);
}

// One length of the dimensions becomes another one, in all inputs.
static void change_length(op_case *c) {
  static const uint8_t lengths[] = {0, 1, 1, 2, 3, 4, 5, 6, 9, 17};
  int64_t from = -1;
  for (int i = 0; i < c->num_inputs; i++) {
    const rheos_shape *shape = &c->inputs[i].shape;
    if (!c->inputs[i].tensor || shape->rank == 0) continue;
    if (from < 0 || one_in(2)) from = shape->dims[random_case_draw((uint64_t)shape->rank)];
  }
  const int64_t to = lengths[random_case_draw(sizeof lengths)];
  for (int i = 0; i < c->num_inputs && from >= 0; i++) {
    op_input *input = &c->inputs[i];
    rheos_shape shape = input->shape;
    if (!input->tensor || input->kind == INPUT_NODE) continue;
    for (int32_t k = 0; k < shape.rank; k++) {
      if (shape.dims[k] == from) shape.dims[k] = to;
    }
    replace_tensor(input, repeated(input->tensor, input->dtype, shape, false));
  }
}

// One dtype becomes another one, in inputs and attributes.
static void change_dtype(op_case *c) {
  const int which = (int)random_case_draw((uint64_t)c->num_inputs);
  const rheos_dtype from = c->inputs[which].dtype, to = draw_type(0);
  for (int i = 0; i < c->num_inputs; i++) {
    op_input *input = &c->inputs[i];
    if (!input->tensor || input->dtype != from || input->kind == INPUT_NODE) continue;
    replace_tensor(input, draw_tensor(to, input->shape, false));
  }
  for (int i = 0; i < c->num_attrs; i++) {
    rheos_attr_value *value = &c->attrs[i].value;
    if (value->kind == RHEOS_ATTR_TYPE && value->type == from) value->type = to;
    for (int32_t k = 0; value->kind == RHEOS_ATTR_LIST_TYPE && k < value->count; k++) {
      rheos_dtype *type = (rheos_dtype *)(uintptr_t)&value->types[k];
      if (*type == from) *type = to;
    }
  }
}

// Other values in one input.
static void change_values(op_case *c) {
  op_input *input = &c->inputs[random_case_draw((uint64_t)c->num_inputs)];
  if (!input->tensor || input->kind == INPUT_NODE) return;
  replace_tensor(input, draw_tensor(input->dtype, input->shape, one_in(2)));
}

static void change_recorded(const op_case *like, op_case *out) {
  random_case_spell_defaults(like, out);
  for (uint64_t n = random_case_draw(4); n > 0 && out->num_inputs > 0; n--) {
    const uint64_t how = random_case_draw(8);
    if (how < 3) change_length(out);
    if (how == 3) change_dtype(out);
    if (how == 4 || how == 5) change_values(out);
    if (how == 6 && out->num_attrs > 0) {
      random_case_tangle_attr(out, &out->attrs[random_case_draw((uint64_t)out->num_attrs)]);
    }
    if (how == 7) {
      op_input *input = &out->inputs[random_case_draw((uint64_t)out->num_inputs)];
      if (input->kind != INPUT_NODE) random_case_tangle_input(input);
    }
  }
  for (int i = 0; i < out->num_inputs; i++) {
    op_input *input = &out->inputs[i];
    if (input->kind == INPUT_FEED || input->kind == INPUT_CONST) {
      input->kind = one_in(2) ? INPUT_FEED : INPUT_CONST;
    }
  }
}

// Inputs that can be made without nodes of their own.
static bool takes_values_only(const rheos__signature *signature) {
  for (int32_t k = 0; k < signature->num_inputs; k++) {
    const rheos_dtype dtype = signature->inputs[k].dtype;
    const bool is_table = dtype == RHEOS_STRING && signature->inputs[k].is_ref;
    if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT || is_table) return false;
  }
  return true;
}

void random_case_new(const op_cases *cases, size_t first, size_t end, op_case *out) {
  const op_case *like = &cases->items[first + random_case_draw(end - first)];
  const rheos__signature *signature = rheos__signature_by_name(like->op);
  if (takes_values_only(signature) && like->num_nodes == 0 && one_in(2) &&
      draw_from_signature(like, out)) {
    return;
  }
  change_recorded(like, out);
}

// ---- Telling what was drawn

static void print_attr(const rheos_attr *attr) {
  const rheos_attr_value *v = &attr->value;
  rheos__shape_text text;
  fprintf(stderr, "    attr %s kind %d", attr->name, (int)v->kind);
  if (v->kind == RHEOS_ATTR_INT) fprintf(stderr, " %lld", (long long)v->i);
  if (v->kind == RHEOS_ATTR_FLOAT) fprintf(stderr, " %g", (double)v->f);
  if (v->kind == RHEOS_ATTR_BOOL) fprintf(stderr, " %d", v->b);
  if (v->kind == RHEOS_ATTR_TYPE) fprintf(stderr, " %s", rheos_dtype_name(v->type));
  if (v->kind == RHEOS_ATTR_STRING) fprintf(stderr, " '%.*s'", (int)v->s.size_bytes, v->s.data);
  if (v->kind == RHEOS_ATTR_SHAPE) {
    fprintf(stderr, " %s", rheos__shape_text_of(v->shape, &text));
  }
  for (int32_t k = 0; k < v->count; k++) {
    if (v->kind == RHEOS_ATTR_LIST_INT) fprintf(stderr, " %lld", (long long)v->ints[k]);
    if (v->kind == RHEOS_ATTR_LIST_FLOAT) fprintf(stderr, " %g", (double)v->floats[k]);
    if (v->kind == RHEOS_ATTR_LIST_TYPE) fprintf(stderr, " %s", rheos_dtype_name(v->types[k]));
    if (v->kind == RHEOS_ATTR_LIST_SHAPE) {
      fprintf(stderr, " %s", rheos__shape_text_of(&v->shapes[k], &text));
    }
  }
  fputc('\n', stderr);
}

static void print_element(const rheos_tensor *tensor, int64_t index) {
  if (rheos_tensor_dtype(tensor) == RHEOS_STRING) {
    const rheos_string *text = (const rheos_string *)rheos_tensor_data(tensor) + index;
    fprintf(stderr, " '%.*s'", (int)text->size_bytes, text->data ? text->data : "");
  } else {
    fprintf(stderr, " %.9g", op_number_at(tensor, index));
  }
}

void random_case_print(const op_case *c) {
  static const char *const kinds[] = {"feed", "const", "var", "unset", "from"};
  fprintf(stderr, "    case %s like %s\n", c->op, c->tag);
  for (int i = 0; i < c->num_attrs; i++) print_attr(&c->attrs[i]);
  for (int i = 0; i < c->num_inputs; i++) {
    const op_input *input = &c->inputs[i];
    rheos__shape_text text;
    fprintf(stderr, "    %s%s %s %s", kinds[input->kind], input->is_handle ? " handle" : "",
            rheos_dtype_name(input->dtype), rheos__shape_text_of(&input->shape, &text));
    const int64_t count = input->tensor ? rheos_tensor_num_elements(input->tensor) : 0;
    for (int64_t k = 0; k < count && k < 24; k++) print_element(input->tensor, k);
    fputc('\n', stderr);
  }
}
