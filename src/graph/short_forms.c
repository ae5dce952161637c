// Constants, and the short forms of build.h.
#include "graph/build.h"

#include <string.h>

#include "graph/graph_impl.h"

rheos_operation rheos__op_n(rheos_scope *s, const char *type, const char *name,
                            const rheos_output *inputs, size_t num_inputs, const rheos_attr *attrs,
                            size_t num_attrs) {
  rheos_op_args args = {.type = type,
                        .name = name,
                        .inputs = inputs,
                        .num_inputs = num_inputs,
                        .attrs = attrs,
                        .num_attrs = num_attrs};
  return rheos_op(s, &args);
}

static rheos_output first_output(rheos_operation operation) {
  return (rheos_output){operation.graph, operation.id, 0};
}

static rheos_output op_of(rheos_scope *s, const char *type, const rheos_output *inputs,
                          size_t num_inputs) {
  return first_output(rheos__op_n(s, type, NULL, inputs, num_inputs, NULL, 0));
}

rheos_output rheos__op_1(rheos_scope *s, const char *type, rheos_output a) {
  return op_of(s, type, &a, 1);
}

rheos_output rheos__op_2(rheos_scope *s, const char *type, rheos_output a, rheos_output b) {
  return op_of(s, type, (rheos_output[]){a, b}, 2);
}

rheos_output rheos__op_3(rheos_scope *s, const char *type, rheos_output a, rheos_output b,
                         rheos_output c) {
  return op_of(s, type, (rheos_output[]){a, b, c}, 3);
}

// ---- Constants

rheos_output rheos_constant(rheos_scope *scope, rheos_tensor *value, const char *name) {
  if (value == NULL) {
    rheos_scope_fail_take(scope, RHEOS_INVALID("the value of a constant is NULL"));
    return (rheos_output){0};
  }
  rheos_attr attrs[] = {rheos_attr_tensor("value", value), rheos_attr_type("dtype", value->dtype)};
  return first_output(rheos__op_n(scope, "Const", name, NULL, 0, attrs, 2));
}

// Takes the tensor, or the error of making it.
static rheos_output constant_take(rheos_scope *s, rheos_status *status, rheos_tensor *value,
                                  const char *name) {
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return (rheos_output){0};
  }
  rheos_output output = rheos_constant(s, value, name);
  rheos_tensor_unref(value);
  return output;
}

static rheos_output constant_of(rheos_scope *s, rheos_dtype dtype, rheos_shape shape,
                                const void *values, const char *name) {
  rheos_tensor *value = NULL;
  if (rheos_scope_status(s) != NULL) return (rheos_output){0};
  rheos_status *status = rheos_tensor_from_values(dtype, shape, values, &value);
  return constant_take(s, status, value, name);
}

rheos_output rheos_constant_float(rheos_scope *scope, float value, const char *name) {
  return constant_of(scope, RHEOS_FLOAT, RHEOS_SCALAR, &value, name);
}

rheos_output rheos_constant_int(rheos_scope *scope, int32_t value, const char *name) {
  return constant_of(scope, RHEOS_INT32, RHEOS_SCALAR, &value, name);
}

rheos_output rheos_constant_values(rheos_scope *scope, rheos_dtype dtype, rheos_shape shape,
                                   const void *values, const char *name) {
  return constant_of(scope, dtype, shape, values, name);
}

static rheos_status *tensor_of_texts(const char *const *texts, size_t count,
                                     rheos_tensor **out_value) {
  *out_value = NULL;
  RHEOS_NEED_TEXTS(texts, count);
  const rheos_shape shape = count == 1 ? RHEOS_SCALAR : RHEOS_SHAPE((int64_t)count);
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, shape, out_value));
  rheos_status *status = NULL;
  for (size_t i = 0; i < count && status == NULL; i++) {
    status = rheos_tensor_set_string(*out_value, (int64_t)i, texts[i], strlen(texts[i]));
  }
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_value);
  *out_value = NULL;
  return status;
}

rheos_output rheos_constant_texts(rheos_scope *scope, const char *const *texts, size_t count,
                                  const char *name) {
  rheos_tensor *value = NULL;
  if (rheos_scope_status(scope) != NULL) return (rheos_output){0};
  rheos_status *status = tensor_of_texts(texts, count, &value);
  return constant_take(scope, status, value, name);
}

rheos_output rheos__const_ints(rheos_scope *s, const int32_t *values, int64_t count,
                               const char *name) {
  return constant_of(s, RHEOS_INT32, RHEOS_SHAPE(count), values, name);
}

// One element of `dtype` with that value; false for dtypes that are no numbers.
static bool encode_number(rheos_dtype dtype, double value, void *element) {
  switch ((int)dtype) {
#define ENCODE(constant, type) \
  case constant: *(type *)element = (type)value; return true;
    ENCODE(RHEOS_FLOAT, float)
    ENCODE(RHEOS_DOUBLE, double)
    ENCODE(RHEOS_INT8, int8_t)
    ENCODE(RHEOS_INT16, int16_t)
    ENCODE(RHEOS_INT32, int32_t)
    ENCODE(RHEOS_INT64, int64_t)
    ENCODE(RHEOS_UINT8, uint8_t)
    ENCODE(RHEOS_UINT16, uint16_t)
    ENCODE(RHEOS_UINT32, uint32_t)
    ENCODE(RHEOS_UINT64, uint64_t)
    ENCODE(RHEOS_BOOL, bool)
#undef ENCODE
    case RHEOS_HALF: *(uint16_t *)element = rheos__float_to_half((float)value); return true;
    case RHEOS_BFLOAT16: *(uint16_t *)element = rheos__float_to_bfloat16((float)value); return true;
    case RHEOS_COMPLEX64:
      ((float *)element)[0] = (float)value;
      ((float *)element)[1] = 0;
      return true;
    case RHEOS_COMPLEX128:
      ((double *)element)[0] = value;
      ((double *)element)[1] = 0;
      return true;
    default: return false;
  }
}

static rheos_status *filled(rheos_dtype dtype, rheos_shape shape, double value,
                            rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  union {
    double parts[2];
    char bytes[16];
  } element;
  if (!encode_number(dtype, value, &element)) {
    return RHEOS_INVALID("cannot make a constant %g of dtype %s", value, rheos_dtype_name(dtype));
  }
  if (rheos_shape_num_elements(&shape) == 0) return rheos_tensor_new(dtype, shape, out_tensor);
  rheos_tensor one;
  rheos__tensor_init_view(&one, dtype, &RHEOS_SCALAR, element.bytes);
  return rheos_tensor_filled(&one, shape, out_tensor);
}

rheos_output rheos__const_fill(rheos_scope *s, rheos_dtype dtype, rheos_shape shape, double value,
                               const char *name) {
  rheos_tensor *tensor = NULL;
  if (rheos_scope_status(s) != NULL) return (rheos_output){0};
  rheos_status *status = filled(dtype, shape, value, &tensor);
  return constant_take(s, status, tensor, name);
}

rheos_output rheos__const_scalar(rheos_scope *s, rheos_dtype dtype, double value,
                                 const char *name) {
  return rheos__const_fill(s, dtype, RHEOS_SCALAR, value, name);
}

static rheos_output const_strings(rheos_scope *s, const char *const *values, int64_t count,
                                  rheos_shape shape, const char *name) {
  rheos_tensor *tensor = NULL;
  if (rheos_scope_status(s) != NULL) return (rheos_output){0};
  rheos_status *status = rheos_tensor_new(RHEOS_STRING, shape, &tensor);
  for (int64_t i = 0; status == NULL && i < count; i++) {
    status = rheos_tensor_set_string(tensor, i, values[i], strlen(values[i]));
  }
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    tensor = NULL;
  }
  return constant_take(s, status, tensor, name);
}

rheos_output rheos__const_strings(rheos_scope *s, const char *const *values, int64_t count,
                                  const char *name) {
  return const_strings(s, values, count, RHEOS_SHAPE(count), name);
}

rheos_output rheos__const_string(rheos_scope *s, const char *value, const char *name) {
  return const_strings(s, &value, 1, RHEOS_SCALAR, name);
}

// ---- Shapes and names

// A shape that is known is a constant, named as the operation would be.
static rheos_output const_shape(rheos_scope *s, const rheos_shape *shape, rheos_dtype out_type) {
  int32_t narrow[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < shape->rank; i++) narrow[i] = (int32_t)shape->dims[i];
  const void *values = out_type == RHEOS_INT32 ? (const void *)narrow : (const void *)shape->dims;
  return constant_of(s, out_type, RHEOS_SHAPE(shape->rank), values, "Shape");
}

rheos_output rheos__shape_of(rheos_scope *s, rheos_output x, rheos_dtype out_type) {
  if (rheos_scope_status(s) != NULL) return (rheos_output){0};
  rheos_shape shape = rheos_output_shape(x);
  bool is_index = out_type == RHEOS_INT32 || out_type == RHEOS_INT64;
  if (is_index && x.graph == s->graph && rheos_shape_is_known(&shape)) {
    return const_shape(s, &shape, out_type);
  }
  rheos_attr attr = rheos_attr_type("out_type", out_type);
  return first_output(rheos__op_n(s, "Shape", NULL, &x, 1, &attr, 1));
}

char *rheos__name_with_suffix(rheos_scope *s, rheos_operation operation, const char *suffix) {
  if (rheos_scope_status(s) != NULL) return NULL;
  size_t length = rheos_operation_name(operation, NULL, 0), suffix_length = strlen(suffix);
  char *name = rheos__alloc(length + suffix_length + 1);
  if (name == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return NULL;
  }
  rheos_operation_name(operation, name, length + 1);
  memcpy(name + length, suffix, suffix_length + 1);
  return name;
}
