// What the handles of TensorFlow's C interface are, and what its files share.
//
// Each handle stands for one thing of Rheos's public interface. What a program may give wrongly and
// the library can know is an error of the call's status; a status of NULL is not written.
#ifndef RHEOS_CAPI_HANDLES_H
#define RHEOS_CAPI_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>

#include <rheos/control_flow.h>
#include <rheos/eager.h>
#include <rheos/format.h>
#include <rheos/function.h>
#include <rheos/gradients.h>
#include <rheos/host.h>
#include <rheos/op_def.h>
#include <rheos/saved_model.h>
#include <rheos/session.h>
#include <rheos/trace.h>

#include <tensorflow/c/c_api.h>
#include <tensorflow/c/c_api_experimental.h>
#include <tensorflow/c/eager/c_api_experimental.h>

// ---- Statuses

// TF_OK, which a function says first.
void capi_succeed(TF_Status *status);
void capi_fail(TF_Status *status, TF_Code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void capi_fail_for_memory(TF_Status *status);
// Tells an error of Rheos (taken), if it is one. Whether there was none.
bool capi_take(TF_Status *status, rheos_status *error);
// Tells that an argument is NULL. Whether it is not.
bool capi_need(const void *argument, const char *name, TF_Status *status);

// ---- Buffers

// Gives `bytes` (taken, of rheos_free()) to an empty buffer.
void capi_buffer_take(TF_Buffer *buffer, void *bytes, size_t size_bytes, TF_Status *status);
// Gives a copy to an empty buffer.
void capi_buffer_copy(TF_Buffer *buffer, const void *bytes, size_t size_bytes, TF_Status *status);

// ---- Memory that goes at once: copies of what a description or options were given

typedef struct capi_block capi_block;
typedef struct capi_pool {
  capi_block *blocks;
} capi_pool;

void *capi_pool_get(capi_pool *pool, size_t size_bytes);  // zeros; NULL when memory is short
void *capi_pool_copy(capi_pool *pool, const void *bytes, size_t size_bytes);
char *capi_pool_text(capi_pool *pool, const char *text, size_t length);
void capi_pool_free(capi_pool *pool);

// Makes room for one more element in an array of `count`; false when memory is short.
bool capi_grow(void *array, size_t count, size_t element_bytes);

// ---- Tensors

// A program's bytes that are no tensor of Rheos, counted: TF_TStrings, which it may still write,
// and elements of types that Rheos does not have.
typedef struct capi_bytes {
  atomic_int references;
  void *data;
  size_t length;
  void (*deallocator)(void *data, size_t length, void *argument);
  void *argument;
} capi_bytes;

struct TF_Tensor {
  TF_DataType dtype;
  rheos_shape shape;
  size_t length;        // in bytes, of the memory that it was given
  rheos_tensor *value;  // or
  capi_bytes *bytes;
  bool is_own;  // of TF_AllocateTensor()
};

// A tensor of Rheos with the values that a tensor has now, for rheos_tensor_unref().
rheos_status *capi_tensor_value(const TF_Tensor *tensor, rheos_tensor **out_value);
// Another tensor of the same memory, for TF_DeleteTensor(); NULL where memory is short.
TF_Tensor *capi_tensor_share(const TF_Tensor *tensor);
// A tensor of a value, which it counts.
rheos_status *capi_tensor_of(rheos_tensor *value, TF_Tensor **out_tensor);
// A shape of dimensions as programs give them; false for one that Rheos cannot hold.
bool capi_shape(const int64_t *dims, int num_dims, rheos_shape *out_shape);

// ---- Graphs

struct TF_Operation {
  TF_Graph *graph;
  int32_t id;
  char *device;  // a text that names none, as it was given; else NULL
  char name[];
};

struct TF_Graph {
  pthread_mutex_t lock;  // recursive
  rheos_graph *graph;
  rheos_scope *scope;
  TF_Operation **operations;  // by id; NULL: nobody has asked for it
  size_t num_operations;
  int num_users;  // sessions
  bool is_deleted;
};

void capi_graph_use(TF_Graph *graph);
void capi_graph_leave(TF_Graph *graph);
// Puts another graph in the place of an empty one.
rheos_status *capi_graph_replace(TF_Graph *graph, rheos_graph *by);

// The handle of an operation; NULL for none, or when memory is short.
TF_Operation *capi_operation(TF_Graph *graph, rheos_operation operation);
TF_Output capi_output(TF_Graph *graph, rheos_output output);
// Asks for a device. TensorFlow's C interface takes any text, of which steps tell later: what names
// no device is kept with the handle, and nothing else looks at it.
void capi_operation_set_device(TF_Operation *oper, const char *device);
// Whether an operation has the name, or one inside it.
bool capi_prefix_is_in_use(TF_Graph *graph, const char *prefix);
// Which operations the outputs need, by id, for free(); NULL when memory is short.
bool *capi_needed_by(TF_Graph *graph, const rheos_output *outputs, size_t count);

static inline rheos_operation capi_operation_of(const TF_Operation *oper) {
  return oper == NULL ? (rheos_operation){0}
                      : (rheos_operation){.graph = oper->graph->graph, .id = oper->id};
}
// Of no operation none, of an output that it does not have none.
rheos_output capi_output_of(TF_Output output);
// As capi_output_of(), with an error that names what is wrong.
bool capi_output_get(TF_Graph *graph, TF_Output output, rheos_output *out_output,
                     TF_Status *status);

// ---- Attributes that a program sets, for operations of graphs and for those that run at once

typedef struct capi_attrs {
  capi_pool pool;
  rheos_attr *attrs;
  size_t count;
  rheos_tensor **tensors;  // that they hold
  size_t num_tensors;
  rheos_status *error;  // the first, told when the operation is made
  bool keeps_first;     // what is set later under a name that is set counts for nothing
} capi_attrs;

// Sets one, in place of what the name had. The value is copied; NULL values are an error.
void capi_attrs_set(capi_attrs *attrs, const char *name, rheos_attr_value value);
const rheos_attr *capi_attrs_find(const capi_attrs *attrs, const char *name);
void capi_attrs_remove(capi_attrs *attrs, const char *name);  // whether it is there or not
void capi_attrs_fail_take(capi_attrs *attrs, rheos_status *error);
void capi_attrs_free(capi_attrs *attrs);

// Values of what programs give; parts lie in the pool.
rheos_attr_value capi_string_value(const void *value, size_t length);
void capi_attrs_set_strings(capi_attrs *attrs, const char *name, const void *const *values,
                            const size_t *lengths, int num_values);
void capi_attrs_set_bools(capi_attrs *attrs, const char *name, const unsigned char *values,
                          int num_values);
void capi_attrs_set_list(capi_attrs *attrs, const char *name, rheos_attr_kind kind,
                         const void *values, int num_values);
void capi_attrs_set_func(capi_attrs *attrs, const char *name, const char *value, size_t length);
void capi_attrs_set_shape(capi_attrs *attrs, const char *name, const int64_t *dims, int num_dims);
void capi_attrs_set_shapes(capi_attrs *attrs, const char *name, const int64_t *const *dims,
                           const int *num_dims, int num_shapes);
void capi_attrs_set_tensors(capi_attrs *attrs, const char *name, TF_Tensor *const *values,
                            int num_values, bool is_list);

// Holds a tensor (taken) as long as the attributes; NULL with an error when memory is short.
rheos_tensor *capi_attrs_hold_take(capi_attrs *attrs, rheos_tensor *value);
// Where the op's signature has a list that was given these elements, sets the attributes that say
// how long it is and of what types, if they are not set.
void capi_attrs_infer(capi_attrs *attrs, rheos_op_argument argument, const rheos_dtype *types,
                      int count);

// ---- Protocol buffers' wire, for the few fields that no function of Rheos tells

typedef struct capi_wire {
  const uint8_t *at, *end;
} capi_wire;

typedef struct capi_field {
  int number;
  int type;  // 0: varint, 1: eight bytes, 2: bytes, 5: four bytes
  uint64_t value;
  capi_wire bytes;
} capi_field;

static inline capi_wire capi_wire_of(const void *bytes, size_t size_bytes) {
  return (capi_wire){bytes, (const uint8_t *)bytes + size_bytes};
}
static inline size_t capi_wire_size(capi_wire wire) { return (size_t)(wire.end - wire.at); }
// The next field; false at the end, and where the bytes are no message.
bool capi_wire_next(capi_wire *wire, capi_field *out_field);
bool capi_wire_varint(capi_wire *wire, uint64_t *out_value);
// The last field of that number and of bytes; false if there is none.
bool capi_wire_find(capi_wire wire, int number, capi_wire *out_bytes);

// A shape of a TensorShapeProto; false if it is none that Rheos can hold.
bool capi_read_shape(capi_wire wire, rheos_shape *out_shape);
// Sets an attribute to what an AttrValue says; false with an error, which is not kept.
bool capi_attrs_set_proto(capi_attrs *attrs, const char *name, const void *proto, size_t proto_len,
                          TF_Status *status);

// A message that grows; zeros at first, `bytes` are of malloc().
typedef struct capi_message {
  uint8_t *bytes;
  size_t size, capacity;
  bool failed;  // memory was short
} capi_message;

// Adds bytes that are fields already.
void capi_write_fields(capi_message *message, const void *bytes, size_t size_bytes);
void capi_write_bytes(capi_message *message, int field, const void *bytes, size_t size_bytes);
void capi_write_text(capi_message *message, int field, const char *text);
void capi_write_number(capi_message *message, int field, uint64_t value);
void capi_write_message(capi_message *message, int field, capi_message *part);  // frees the part

// ---- Options

struct TF_SessionOptions {
  char *target;
  void *config;  // a ConfigProto
  size_t config_bytes;
};

// What a session of this process has of a ConfigProto: the rest means nothing to it. A session on a
// server has all of it.
rheos_session_options capi_session_options(const TF_SessionOptions *options,
                                           int64_t *out_timeout_ms);
// Which graphics cards a session in this process has, as its ConfigProto says: `*out_cards`, for
// rheos_free(), is what the options have then.
rheos_status *capi_session_cards(const TF_SessionOptions *options, rheos_session_options *to,
                                 rheos_gpu_device **out_cards);
// A list of devices, which it copies.
TF_DeviceList *capi_device_list(const rheos_device_attributes *devices, size_t count,
                                TF_Status *status);

// ---- Functions

struct TF_Function {
  char *name;
  void *def;  // the bytes of a FunctionDef
  size_t def_bytes;
};

// Adds a FunctionDef to a graph's library.
rheos_status *capi_add_function(rheos_scope *scope, const void *bytes, size_t size_bytes);
// A function of a FunctionDef, which it copies; NULL with an error.
TF_Function *capi_function_of(const void *bytes, size_t size_bytes, TF_Status *status);

#endif  // RHEOS_CAPI_HANDLES_H
