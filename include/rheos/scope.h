// Scopes: how code adds operations to a graph.
//
// A scope holds the graph, the current name scope, device, control dependencies and colocations,
// and a sticky status: after the first error every further call does nothing and returns "none", so
// a program checks once, with rheos_scope_finish(). Names, devices and dependencies nest: each push
// is undone by one rheos_scope_pop().
#ifndef RHEOS_SCOPE_H
#define RHEOS_SCOPE_H

#include <rheos/op_def.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_scope rheos_scope;

RHEOS_API rheos_scope *rheos_scope_new(rheos_graph *graph);  // NULL when memory is short
RHEOS_API void rheos_scope_free(rheos_scope *scope);
RHEOS_API rheos_graph *rheos_scope_graph(const rheos_scope *scope);

// The first error since the scope was made or last finished, NULL if there was none.
RHEOS_API const rheos_status *rheos_scope_status(const rheos_scope *scope);

// Hands the first error to the caller and clears it, so that the scope can be used on.
RHEOS_STATUS rheos_scope_finish(rheos_scope *scope);

// Makes `status` (taken) the scope's error if it has none yet.
RHEOS_API void rheos_scope_fail_take(rheos_scope *scope, rheos_status *status);

// ---- Name scopes, with TensorFlow's rules
//
// Opens "outer" inside the current scope, made unique ("outer_1") if the name is in use. A name
// that ends in "/" re-opens that scope as it stands; "" or NULL goes back to the top.
RHEOS_API void rheos_push_name_scope(rheos_scope *scope, const char *name);

// The current prefix without the last "/", "" at the top. Returns the length, cut as snprintf does.
RHEOS_API size_t rheos_scope_name(const rheos_scope *scope, char *buffer, size_t size_bytes);

// The name an operation would get now; with `mark_as_used`, the name is taken. A scope error is not
// set; returns 0 and "" when the name is not valid or memory is short.
RHEOS_API size_t rheos_scope_unique_name(rheos_scope *scope, const char *name, bool mark_as_used,
                                         char *buffer, size_t size_bytes);

// Whether operations may be called anything, as TensorFlow's C interface lets them: what has no
// ":", does not begin with "^", and has no empty part between the "/"s. Else letters, digits and a
// few signs, as its Python does.
RHEOS_API void rheos_scope_take_any_name(rheos_scope *scope, bool takes);

// ---- Devices: "/job:ps/task:1/device:CPU:0", "/cpu:0", "gpu:1", "" . An inner device overrides
// the fields it names and leaves the others as the outer ones say; NULL clears them all.
RHEOS_API void rheos_push_device(rheos_scope *scope, const char *device);

// ---- Control dependencies: operations made inside also wait for these. count 0 with
// `operations` NULL clears the outer ones, and leaves the branch or loop (<rheos/control_flow.h>).
RHEOS_API void rheos_push_control_dependencies(rheos_scope *scope,
                                               const rheos_operation *operations, size_t count);

// ---- Colocation: operations made inside get `_class = ["loc:@name"]` and the device of
// `operation` (its own `_class`, if it has one, in place of its name). Nested ones add up; none
// clears them.
RHEOS_API void rheos_push_colocation(rheos_scope *scope, rheos_operation operation);

// ---- Source lines: operations made next are said to come from here. The wrappers of <rheos/ops.h>
// do this themselves. `file` is copied (interned).
RHEOS_API void rheos_scope_set_source(rheos_scope *scope, const char *file, int32_t line);

// ---- Any attributes added to every operation made inside, e.g. "_gradient_op_type". "container",
// a string, is that of the operations that have one and say none: where resources lie that they
// name.
RHEOS_API void rheos_push_attr(rheos_scope *scope, rheos_attr attr);
// As rheos_push_attr(), for the operations of one type only.
RHEOS_API void rheos_push_attr_of_type(rheos_scope *scope, const char *op_type, rheos_attr attr);

// Undoes the latest push that is not yet undone.
RHEOS_API void rheos_scope_pop(rheos_scope *scope);

// ---- Operations

// What makes a node. Only `type` is needed. `inputs` are flat: the elements of a list argument
// stand one after the other, and lengths and element types of lists follow from the inputs where
// the signature lets them, else from the attributes. Attributes left out get their defaults.
typedef struct rheos_op_args {
  const char *type;
  const char *name RHEOS_LEFT_OUT;  // NULL: the type; made unique inside the current scope; "a/b/"
                                    // is used as it is
  const rheos_output *inputs RHEOS_LEFT_OUT;
  size_t num_inputs RHEOS_LEFT_OUT;
  const rheos_attr *attrs RHEOS_LEFT_OUT;
  size_t num_attrs RHEOS_LEFT_OUT;
  const rheos_operation *control_inputs RHEOS_LEFT_OUT;
  size_t num_control_inputs RHEOS_LEFT_OUT;
  const char *device RHEOS_LEFT_OUT;  // NULL: the scope's
} rheos_op_args;

// Adds any op by name. Returns none and sets the scope's error if the op does not exist, or the
// inputs, attributes, dtypes or shapes do not fit.
static inline rheos_operation rheos_op(rheos_scope *scope, const rheos_op_args *args);

// As rheos_op(), with the arguments in the op's own struct, rheos_matmul_args and so on, of
// `args_bytes`: what the functions of <rheos/ops.h> call.
RHEOS_API rheos_operation rheos_op_from_struct(rheos_scope *scope, const char *type,
                                               const void *args, size_t args_bytes);

// Constants. The tensor is counted, not copied.
RHEOS_API rheos_output rheos_constant(rheos_scope *scope, rheos_tensor *value, const char *name);
RHEOS_API rheos_output rheos_constant_float(rheos_scope *scope, float value, const char *name);
RHEOS_API rheos_output rheos_constant_int(rheos_scope *scope, int32_t value, const char *name);
// Of an array with as many values as the shape has, as rheos_tensor_from_values() takes them.
RHEOS_API rheos_output rheos_constant_values(rheos_scope *scope, rheos_dtype dtype,
                                             rheos_shape shape, const void *values,
                                             const char *name);
// Of texts that end with NUL: one makes a scalar, another number a vector.
RHEOS_API rheos_output rheos_constant_texts(rheos_scope *scope, const char *const *texts,
                                            size_t count, const char *name);

// Of the values themselves: rheos_const_f32(s, 2) is a scalar, rheos_const_f32(s, 1, 2, 3) a
// vector; for other shapes and names there is rheos_constant_values(). `scope` is evaluated twice.
#define rheos_const_f32(scope, ...) RHEOS_CONST_(scope, RHEOS_FLOAT, float, __VA_ARGS__)
#define rheos_const_f64(scope, ...) RHEOS_CONST_(scope, RHEOS_DOUBLE, double, __VA_ARGS__)
#define rheos_const_i32(scope, ...) RHEOS_CONST_(scope, RHEOS_INT32, int32_t, __VA_ARGS__)
#define rheos_const_i64(scope, ...) RHEOS_CONST_(scope, RHEOS_INT64, int64_t, __VA_ARGS__)
#define rheos_const_bool(scope, ...) RHEOS_CONST_(scope, RHEOS_BOOL, bool, __VA_ARGS__)
#define rheos_const_text(scope, ...) RHEOS_CONST_TEXT_(scope, __VA_ARGS__)

static inline rheos_output rheos_constant_list_(rheos_scope *scope, rheos_dtype dtype,
                                                const void *values, size_t count) {
  rheos_shape shape = RHEOS_SCALAR;
  if (count != 1) {
    shape.rank = 1;
    shape.dims[0] = (int64_t)count;
  }
  return rheos_constant_values(scope, dtype, shape, values, NULL);
}
#define RHEOS_CONST_(scope, dtype, type, ...)           \
  (rheos_scope_set_source((scope), __FILE__, __LINE__), \
   RHEOS_CONST_LIST_((scope), dtype, type, __VA_ARGS__))
#define RHEOS_CONST_TEXT_(scope, ...)                   \
  (rheos_scope_set_source((scope), __FILE__, __LINE__), \
   RHEOS_CONST_TEXT_LIST_((scope), __VA_ARGS__))
#ifdef __cplusplus
}  // templates have no C linkage
template <typename Value, typename... Values>
inline rheos_output rheos_constant_of_(rheos_scope *scope, rheos_dtype dtype, Values... values) {
  const Value list[] = {static_cast<Value>(values)...};
  return rheos_constant_list_(scope, dtype, list, sizeof...(values));
}
template <typename... Texts>
inline rheos_output rheos_constant_of_texts_(rheos_scope *scope, Texts... texts) {
  const char *const list[] = {texts...};
  return rheos_constant_texts(scope, list, sizeof...(texts), nullptr);
}
extern "C" {
#define RHEOS_CONST_LIST_(scope, dtype, type, ...) \
  rheos_constant_of_<type>(scope, dtype, __VA_ARGS__)
#define RHEOS_CONST_TEXT_LIST_(scope, ...) rheos_constant_of_texts_(scope, __VA_ARGS__)
#else
#define RHEOS_CONST_LIST_(scope, dtype, type, ...)                \
  rheos_constant_list_(scope, dtype, (const type[]){__VA_ARGS__}, \
                       sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define RHEOS_CONST_TEXT_LIST_(scope, ...)                        \
  rheos_constant_texts(scope, (const char *const[]){__VA_ARGS__}, \
                       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), NULL)
#endif

// ---- Attribute values, for rheos_op_args
static inline rheos_attr rheos_attr_int(const char *name, int64_t value) {
  rheos_attr attr = {name, {RHEOS_ATTR_INT, 0, {0}}};
  attr.value.i = value;
  return attr;
}
static inline rheos_attr rheos_attr_float(const char *name, float value) {
  rheos_attr attr = {name, {RHEOS_ATTR_FLOAT, 0, {0}}};
  attr.value.f = value;
  return attr;
}
static inline rheos_attr rheos_attr_bool(const char *name, bool value) {
  rheos_attr attr = {name, {RHEOS_ATTR_BOOL, 0, {0}}};
  attr.value.b = value;
  return attr;
}
static inline rheos_attr rheos_attr_type(const char *name, rheos_dtype value) {
  rheos_attr attr = {name, {RHEOS_ATTR_TYPE, 0, {0}}};
  attr.value.type = value;
  return attr;
}
static inline rheos_attr rheos_attr_string(const char *name, const char *value, size_t size_bytes) {
  rheos_attr attr = {name, {RHEOS_ATTR_STRING, 0, {0}}};
  attr.value.s.data = (char *)(uintptr_t)value;
  attr.value.s.size_bytes = size_bytes;
  return attr;
}
static inline rheos_attr rheos_attr_shape(const char *name, const rheos_shape *value) {
  rheos_attr attr = {name, {RHEOS_ATTR_SHAPE, 0, {0}}};
  attr.value.shape = value;
  return attr;
}
static inline rheos_attr rheos_attr_tensor(const char *name, rheos_tensor *value) {
  rheos_attr attr = {name, {RHEOS_ATTR_TENSOR, 0, {0}}};
  attr.value.tensor = value;
  return attr;
}
static inline rheos_attr rheos_attr_func(const char *name, const rheos_func *value) {
  rheos_attr attr = {name, {RHEOS_ATTR_FUNC, 0, {0}}};
  attr.value.func = value;
  return attr;
}
static inline rheos_attr rheos_attr_ints(const char *name, const int64_t *values, int32_t count) {
  rheos_attr attr = {name, {RHEOS_ATTR_LIST_INT, count, {0}}};
  attr.value.ints = values;
  return attr;
}
static inline rheos_attr rheos_attr_types(const char *name, const rheos_dtype *values,
                                          int32_t count) {
  rheos_attr attr = {name, {RHEOS_ATTR_LIST_TYPE, count, {0}}};
  attr.value.types = values;
  return attr;
}

// A NoOp that runs after all of `operations` (TensorFlow's tf.group); `name` NULL: "group_deps".
RHEOS_API rheos_operation rheos_group(rheos_scope *scope, const rheos_operation *operations,
                                      size_t count, const char *name);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API rheos_operation rheos_op_sized(rheos_scope *scope, const rheos_op_args *args,
                                         size_t args_bytes);
static inline rheos_operation rheos_op(rheos_scope *scope, const rheos_op_args *args) {
  return rheos_op_sized(scope, args, sizeof *args);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_SCOPE_H
