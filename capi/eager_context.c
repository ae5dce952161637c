// Contexts of eager execution, their functions, and handles of tensors.
#include "eager_handles.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- Options

TFE_ContextOptions *TFE_NewContextOptions(void) {
  TFE_ContextOptions *options = calloc(1, sizeof *options);
  if (options != NULL) options->policy = TFE_DEVICE_PLACEMENT_SILENT;
  return options;
}

void TFE_ContextOptionsSetConfig(TFE_ContextOptions *options, const void *proto, size_t proto_len,
                                 TF_Status *status) {
  TF_SetConfig(options == NULL ? NULL : &options->session, proto, proto_len, status);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions *options, unsigned char enable) {
  if (options != NULL) options->is_async = enable != 0;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions *options,
                                                TFE_ContextDevicePlacementPolicy policy) {
  if (options != NULL) options->policy = policy;
}

void TFE_ContextOptionsSetTfrt(TFE_ContextOptions *options, bool use_tfrt) {
  (void)options;
  (void)use_tfrt;  // there is one runtime
}

void TFE_DeleteContextOptions(TFE_ContextOptions *options) {
  if (options == NULL) return;
  free(options->session.target);
  free(options->session.config);
  free(options);
}

// ---- Contexts

TFE_Context *TFE_NewContext(const TFE_ContextOptions *opts, TF_Status *status) {
  static atomic_uint_fast64_t last_id;
  rheos_host *host = NULL;
  int64_t timeout_ms;
  capi_succeed(status);
  if (!capi_need(opts, "the options", status)) return NULL;
  TFE_Context *context = calloc(1, sizeof *context);
  if (context == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  rheos_session_options session = capi_session_options(&opts->session, &timeout_ms);
  rheos_gpu_device *cards;
  rheos_status *error = capi_session_cards(&opts->session, &session, &cards);
  const rheos_host_options host_options = {.num_cpu_devices = session.num_cpu_devices,
                                           .num_threads = session.num_threads,
                                           .num_gpu_devices = session.num_gpu_devices,
                                           .gpu_devices = session.gpu_devices};
  if (error == NULL) error = rheos_host_new(&host_options, &host);
  rheos_free(cards);
  if (error == NULL) {
    error = rheos_eager_new(&(rheos_eager_options){.host = host}, &context->eager);
  }
  rheos_host_unref(host);
  if (error == NULL) {
    context->scope = rheos_scope_new(rheos_eager_graph(context->eager));
    if (context->scope == NULL) {
      error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
    }
  }
  if (error == NULL) {
    context->executor = TFE_NewExecutor(opts->is_async, true, 0);
    if (context->executor == NULL) {
      error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
    }
  }
  if (!capi_take(status, error)) {
    rheos_scope_free(context->scope);
    rheos_eager_free(context->eager);
    free(context);
    return NULL;
  }
  pthread_mutex_init(&context->lock, NULL);
  context->policy = opts->policy;
  context->id = atomic_fetch_add(&last_id, 1) + 1;
  return context;
}

void TFE_DeleteContext(TFE_Context *context) {
  if (context == NULL) return;
  capi_free_executors(context);
  rheos_trace_free(context->trace);
  rheos_scope_free(context->scope);
  rheos_eager_free(context->eager);
  pthread_mutex_destroy(&context->lock);
  free(context);
}

uint64_t TFE_GetContextId(TFE_Context *context) { return context == NULL ? 0 : context->id; }

TF_DeviceList *TFE_ContextListDevices(TFE_Context *context, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(context, "the context", status)) return NULL;
  const rheos_host *host = rheos_eager_host(context->eager);
  size_t count = (size_t)rheos_host_num_devices(host);
  rheos_device_attributes *devices = calloc(count + 1, sizeof *devices);
  if (devices == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    devices[i] = (rheos_device_attributes){.name = rheos_host_device(host, (int32_t)i),
                                           .type = "CPU",
                                           .memory_limit_bytes = 256 << 20};
  }
  TF_DeviceList *list = capi_device_list(devices, count, status);
  free(devices);
  return list;
}

void TFE_ContextClearCaches(TFE_Context *context) {
  if (context != NULL) rheos_eager_clear(context->eager);
}

void TFE_ContextSetThreadLocalDevicePlacementPolicy(TFE_Context *context,
                                                    TFE_ContextDevicePlacementPolicy policy) {
  if (context != NULL) context->policy = policy;
}

TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context *context) {
  return context == NULL ? TFE_DEVICE_PLACEMENT_EXPLICIT : context->policy;
}

void TFE_ContextStartStep(TFE_Context *context) { (void)context; }

void TFE_ContextEndStep(TFE_Context *context) { (void)context; }

// ---- Functions

void TFE_ContextAddFunctionDef(TFE_Context *context, const char *serialized_function_def,
                               size_t size, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(context, "the context", status) ||
      !capi_need(serialized_function_def, "the FunctionDef", status)) {
    return;
  }
  pthread_mutex_lock(&context->lock);
  capi_take(status, capi_add_function(context->scope, serialized_function_def, size));
  pthread_mutex_unlock(&context->lock);
}

void TFE_ContextAddFunction(TFE_Context *context, TF_Function *function, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(function, "the function", status)) return;
  TFE_ContextAddFunctionDef(context, function->def, function->def_bytes, status);
}

void TFE_ContextRemoveFunction(TFE_Context *context, const char *name, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(context, "the context", status) || !capi_need(name, "the name", status)) return;
  pthread_mutex_lock(&context->lock);
  rheos_status *error = rheos_graph_remove_function(rheos_eager_graph(context->eager), name);
  pthread_mutex_unlock(&context->lock);
  if (error != NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Tried to remove non-existent function '%s'.", name);
    rheos_status_free(error);
  }
}

static rheos_status *function_def(TFE_Context *context, const char *name, void **out_bytes,
                                  size_t *out_size) {
  pthread_mutex_lock(&context->lock);
  rheos_status *error =
      rheos_graph_function_def(rheos_eager_graph(context->eager), name, out_bytes, out_size);
  pthread_mutex_unlock(&context->lock);
  return error;
}

unsigned char TFE_ContextHasFunction(TFE_Context *context, const char *name) {
  void *bytes = NULL;
  size_t size;
  if (context == NULL || name == NULL) return 0;
  rheos_status *error = function_def(context, name, &bytes, &size);
  rheos_free(bytes);
  rheos_status_free(error);
  return error == NULL;
}

void TFE_ContextGetFunctionDef(TFE_Context *context, const char *function_name, TF_Buffer *buf,
                               TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(context, "the context", status) || !capi_need(function_name, "the name", status) ||
      !capi_take(status, function_def(context, function_name, &bytes, &size))) {
    return;
  }
  capi_buffer_take(buf, bytes, size, status);
}

TF_Function *TFE_ContextGetFunction(TFE_Context *context, const char *name, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(context, "the context", status) || !capi_need(name, "the name", status) ||
      !capi_take(status, function_def(context, name, &bytes, &size))) {
    return NULL;
  }
  TF_Function *function = capi_function_of(bytes, size, status);
  rheos_free(bytes);
  return function;
}

// ---- Handles of tensors

TFE_TensorHandle *capi_tensor_handle(rheos_tensor *value, TF_Status *status) {
  TFE_TensorHandle *handle = calloc(1, sizeof *handle);
  if (handle == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  if (value != NULL) handle->value = rheos_tensor_ref(value);
  return handle;
}

// A handle of a value, which is taken, and of the texts that it was made of, or NULL.
static TFE_TensorHandle *handle_take(rheos_tensor *value, const TF_Tensor *texts,
                                     TF_Status *status) {
  TFE_TensorHandle *handle = capi_tensor_handle(value, status);
  rheos_tensor_unref(value);
  if (handle != NULL && texts != NULL && (handle->texts = capi_tensor_share(texts)) == NULL) {
    capi_fail_for_memory(status);
    TFE_DeleteTensorHandle(handle);
    return NULL;
  }
  return handle;
}

TFE_TensorHandle *TFE_NewTensorHandle(const TF_Tensor *t, TF_Status *status) {
  rheos_tensor *value = NULL;
  capi_succeed(status);
  if (!capi_take(status, capi_tensor_value(t, &value))) return NULL;
  return handle_take(value, t->dtype == TF_STRING ? t : NULL, status);
}

TFE_TensorHandle *TFE_NewTensorHandleFromTensor(TFE_Context *context, TF_Tensor *t,
                                                TF_Status *status) {
  (void)context;
  return TFE_NewTensorHandle(t, status);
}

TFE_TensorHandle *TFE_NewTensorHandleFromScalar(TF_DataType data_type, void *data, size_t len,
                                                TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(data, "the data", status)) return NULL;
  TF_Tensor *tensor = TF_AllocateTensor(data_type, NULL, 0, len);
  if (tensor == NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "%zu bytes are no scalar of type %d", len,
              (int)data_type);
    return NULL;
  }
  memcpy(TF_TensorData(tensor), data, len);
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}

void TFE_DeleteTensorHandle(TFE_TensorHandle *h) {
  if (h == NULL) return;
  rheos_tensor_unref(h->value);
  TF_DeleteTensor(h->texts);
  TF_DeleteStatus(h->error);
  free(h);
}

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle *h) {
  return h == NULL || h->value == NULL ? (TF_DataType)0 : (TF_DataType)rheos_tensor_dtype(h->value);
}

bool capi_need_handle(const TFE_TensorHandle *h, TF_Status *status) {
  capi_succeed(status);
  if (h == NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Invalid handle");
  } else if (h->value == NULL) {
    TF_SetStatus(status, TF_GetCode(h->error), TF_Message(h->error));
  } else {
    return true;
  }
  return false;
}

int TFE_TensorHandleNumDims(TFE_TensorHandle *h, TF_Status *status) {
  return capi_need_handle(h, status) ? rheos_tensor_shape(h->value)->rank : -1;
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle *h, TF_Status *status) {
  return capi_need_handle(h, status) ? rheos_tensor_num_elements(h->value) : -1;
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle *h, int dim_index, TF_Status *status) {
  if (!capi_need_handle(h, status)) return -1;
  const rheos_shape *shape = rheos_tensor_shape(h->value);
  if (dim_index >= 0 && dim_index < shape->rank) return shape->dims[dim_index];
  capi_fail(status, TF_INVALID_ARGUMENT, "the tensor has no dimension %d", dim_index);
  return -1;
}

// Of a tensor in the host's memory, whatever host that is.
const char *TFE_TensorHandleDeviceName(TFE_TensorHandle *h, TF_Status *status) {
  if (!capi_need_handle(h, status)) return NULL;
  const char *device = rheos_tensor_device(h->value);
  return device[0] == '\0' ? "/job:localhost/replica:0/task:0/device:CPU:0" : device;
}

const char *TFE_TensorHandleBackingDeviceName(TFE_TensorHandle *h, TF_Status *status) {
  return TFE_TensorHandleDeviceName(h, status);
}

const char *TFE_TensorHandleDeviceType(TFE_TensorHandle *h, TF_Status *status) {
  return capi_need_handle(h, status) ? "CPU" : NULL;
}

int TFE_TensorHandleDeviceID(TFE_TensorHandle *h, TF_Status *status) {
  return capi_need_handle(h, status) ? 0 : -1;
}

void TFE_TensorHandleGetStatus(TFE_TensorHandle *h, TF_Status *status) {
  capi_need_handle(h, status);
}

TFE_TensorHandle *TFE_TensorHandleCopySharingTensor(TFE_TensorHandle *h, TF_Status *status) {
  if (!capi_need_handle(h, status)) return NULL;
  return handle_take(rheos_tensor_ref(h->value), h->texts, status);
}

TF_Tensor *TFE_TensorHandleResolve(TFE_TensorHandle *h, TF_Status *status) {
  TF_Tensor *tensor = NULL;
  if (!capi_need_handle(h, status)) return NULL;
  if (h->texts == NULL) {
    capi_take(status, capi_tensor_of(h->value, &tensor));
  } else if ((tensor = capi_tensor_share(h->texts)) == NULL) {
    capi_fail_for_memory(status);
  }
  return tensor;
}

// Whether a device of the context is meant: "CPU:0", "/device:CPU:0", the whole name, or none.
static bool is_device(TFE_Context *context, const char *name) {
  const rheos_host *host = rheos_eager_host(context->eager);
  if (name == NULL || name[0] == '\0') return true;
  const char *slash = strrchr(name, '/');
  const char *last = slash == NULL ? name : slash + 1;
  if (strncasecmp(last, "device:", 7) == 0) last += 7;
  for (int32_t i = 0; i < rheos_host_num_devices(host); i++) {
    const char *there = strstr(rheos_host_device(host, i), "device:");
    if (there != NULL && strcasecmp(there + 7, last) == 0) return true;
  }
  return false;
}

bool capi_need_device(TFE_Context *context, const char *name, TF_Status *status) {
  if (is_device(context, name)) return true;
  capi_fail(status, TF_INVALID_ARGUMENT, "%s unknown device.", name);
  return false;
}

TFE_TensorHandle *TFE_TensorHandleCopyToDevice(TFE_TensorHandle *h, TFE_Context *context,
                                               const char *device_name, TF_Status *status) {
  if (!capi_need_handle(h, status) || !capi_need(context, "the context", status) ||
      !capi_need_device(context, device_name, status)) {
    return NULL;
  }
  rheos_eager_op op = {.type = "Identity", .inputs = &h->value, .num_inputs = 1};
  rheos_tensor *value = NULL;
  rheos_status *error = rheos_eager_execute(context->eager, &op, &value, 1);
  if (!capi_take(status, error)) return NULL;
  return handle_take(value, h->texts, status);
}

void *TFE_TensorHandleDevicePointer(TFE_TensorHandle *h, TF_Status *status) {
  return capi_need_handle(h, status) ? rheos_tensor_data(h->value) : NULL;
}

size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle *h, TF_Status *status) {
  return capi_need_handle(h, status) ? rheos_tensor_size_bytes(h->value) : 0;
}

TF_Tensor *TFE_AllocateHostTensor(TFE_Context *context, TF_DataType dtype, const int64_t *dims,
                                  int num_dims, TF_Status *status) {
  (void)context;
  rheos_shape shape;
  capi_succeed(status);
  int64_t count =
      num_dims >= 0 && capi_shape(dims, num_dims, &shape) ? rheos_shape_num_elements(&shape) : -1;
  size_t size = dtype == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(dtype);
  TF_Tensor *tensor = count < 0 || (size > 0 && (size_t)count > SIZE_MAX / size)
                          ? NULL
                          : TF_AllocateTensor(dtype, dims, num_dims, (size_t)count * size);
  if (tensor == NULL) capi_fail(status, TF_INVALID_ARGUMENT, "there is no such tensor");
  return tensor;
}
