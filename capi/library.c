// What belongs to no graph: the version, the ops and their definitions.
#include "handles.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const char *TF_Version(void) { return "2.21.0"; }

// ---- Libraries of ops. Those of TensorFlow define ops by C++ that is not here, and do not load.

struct TF_Library {
  void *handle;
};

TF_Library *TF_LoadLibrary(const char *library_filename, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(library_filename, "the library's name", status)) return NULL;
  TF_Library *library = calloc(1, sizeof *library);
  if (library == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  library->handle = dlopen(library_filename, RTLD_NOW | RTLD_LOCAL);
  if (library->handle != NULL) return library;
  const char *reason = dlerror();
  capi_fail(status, TF_NOT_FOUND, "%s", reason == NULL ? library_filename : reason);
  free(library);
  return NULL;
}

// None: there is no way to define one.
TF_Buffer TF_GetOpList(TF_Library *lib_handle) {
  (void)lib_handle;
  return (TF_Buffer){0};
}

// What it defines stays, as in TensorFlow.
void TF_DeleteLibraryHandle(TF_Library *lib_handle) { free(lib_handle); }

// ---- The list of all ops: an OpList, whose field 1 is an OpDef. An OpDef's field 5 is what it is
// for, in a line, which code generators want.

static void write_op(capi_message *list, const char *type) {
  void *bytes = NULL;
  size_t size = 0;
  capi_message def = {0};
  const char *description = rheos_op_def_description(rheos_op_def_find(NULL, type));
  rheos_status *error = rheos_op_to_op_def(type, &bytes, &size);
  list->failed |= error != NULL;
  if (error == NULL) capi_write_fields(&def, bytes, size);
  if (description[0] != '\0') capi_write_text(&def, 5, description);
  capi_write_message(list, 1, &def);
  rheos_status_free(error);
  rheos_free(bytes);
}

TF_Buffer *TF_GetAllOpList(void) {
  capi_message list = {0};
  for (int32_t i = 0; i < rheos_num_ops(); i++) {
    write_op(&list, rheos_op_type(i));
  }
  TF_Buffer *buffer = list.failed ? NULL : TF_NewBufferFromString(list.bytes, list.size);
  free(list.bytes);
  return buffer;
}

// ---- Kernels: a KernelList's field 1 is a KernelDef, of an op (1) and a type of devices (2)

static void write_kernel(capi_message *list, const char *op) {
  capi_message kernel = {0};
  if (!rheos_op_def_has_kernel(rheos_op_def_find(NULL, op))) return;
  capi_write_text(&kernel, 1, op);
  capi_write_text(&kernel, 2, "CPU");
  capi_write_message(list, 1, &kernel);
}

static TF_Buffer *kernels_of(capi_message *list, TF_Status *status) {
  TF_Buffer *buffer = list->failed ? NULL : TF_NewBufferFromString(list->bytes, list->size);
  free(list->bytes);
  if (buffer == NULL) capi_fail_for_memory(status);
  return buffer;
}

TF_Buffer *TF_GetAllRegisteredKernels(TF_Status *status) {
  capi_message list = {0};
  capi_succeed(status);
  for (int32_t i = 0; i < rheos_num_ops(); i++) write_kernel(&list, rheos_op_type(i));
  return kernels_of(&list, status);
}

TF_Buffer *TF_GetRegisteredKernelsForOp(const char *name, TF_Status *status) {
  capi_message list = {0};
  capi_succeed(status);
  if (!capi_need(name, "the op", status)) return NULL;
  write_kernel(&list, name);
  return kernels_of(&list, status);
}

// ---- What is asked of one op

int TF_OpIsStateful(const char *op_type, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op_type, "the op", status)) return 0;
  const rheos_op_def *op = rheos_op_def_find(NULL, op_type);
  if (op == NULL) {
    capi_fail(status, TF_NOT_FOUND, "Op type not registered '%s'", op_type);
    return 0;
  }
  return rheos_op_def_is_stateful(op);
}

const char *TF_GetNumberAttrForOpListInput(const char *op_name, int input_index,
                                           TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op_name, "the op", status)) return NULL;
  const rheos_op_def *op = rheos_op_def_find(NULL, op_name);
  if (op == NULL) {
    capi_fail(status, TF_NOT_FOUND, "Op type not registered '%s'", op_name);
  } else if (input_index < 0 || input_index >= rheos_op_def_num_inputs(op)) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Op '%s' has no input %d", op_name, input_index);
  } else {
    return rheos_op_def_input(op, input_index).number_attr;
  }
  return NULL;
}

// ---- Graphs and functions as text, of malloc()

static char *text_of(const char *type, const void *bytes, size_t size_bytes, size_t *len) {
  char *text = NULL, *copy = NULL;
  size_t size = 0;
  rheos_status *error = rheos_message_to_text(type, bytes, size_bytes, &text, &size);
  rheos_status_free(error);
  if (text != NULL) copy = malloc(size + 1);
  if (copy != NULL) memcpy(copy, text, size + 1);
  rheos_free(text);
  if (len != NULL) *len = copy == NULL ? 0 : size;
  return copy;
}

const char *TF_GraphDebugString(TF_Graph *graph, size_t *len) {
  TF_Buffer *buffer = TF_NewBuffer();
  if (buffer != NULL && graph != NULL) TF_GraphToGraphDef(graph, buffer, NULL);
  char *text = buffer == NULL || buffer->data == NULL
                   ? NULL
                   : text_of("GraphDef", buffer->data, buffer->length, len);
  TF_DeleteBuffer(buffer);
  return text;
}

char *TF_FunctionDebugString(TF_Function *func, size_t *len) {
  return func == NULL ? NULL : text_of("FunctionDef", func->def, func->def_bytes, len);
}

// ---- Messages that programs give to sessions

// A ConfigProto with the number of CPUs; the rest means nothing here.
TF_Buffer *TF_CreateConfig(unsigned char enable_xla_compilation,
                           unsigned char gpu_memory_allow_growth, unsigned int num_cpu_devices) {
  (void)enable_xla_compilation;
  (void)gpu_memory_allow_growth;
  capi_message count = {0}, config = {0};
  capi_write_text(&count, 1, "CPU");
  capi_write_number(&count, 2, num_cpu_devices);
  capi_write_message(&config, 1, &count);
  TF_Buffer *buffer = config.failed ? NULL : TF_NewBufferFromString(config.bytes, config.size);
  free(config.bytes);
  return buffer;
}

// A RunOptions with its trace level: all or nothing.
TF_Buffer *TF_CreateRunOptions(unsigned char enable_full_trace) {
  return TF_NewBufferFromString(enable_full_trace ? "\x08\x03" : "\x08\x00", 2);
}
