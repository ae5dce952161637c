// What contexts of eager execution and handles have beside operations: metadata of runs, settings,
// memory of devices.
#include "eager_handles.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- Metadata of runs

static void enable_trace(TFE_Context *context, bool enable) {
  if (context == NULL) return;
  pthread_mutex_lock(&context->lock);
  if (enable && context->trace == NULL) {
    context->trace = rheos_trace_new(RHEOS_TRACE_STEPS | RHEOS_TRACE_PARTITION_GRAPHS);
  } else if (!enable) {
    rheos_trace_free(context->trace);
    context->trace = NULL;
  }
  pthread_mutex_unlock(&context->lock);
}

void TFE_ContextEnableRunMetadata(TFE_Context *context) { enable_trace(context, true); }

void TFE_ContextDisableRunMetadata(TFE_Context *context) { enable_trace(context, false); }

void TFE_ContextEnableGraphCollection(TFE_Context *context) { enable_trace(context, true); }

void TFE_ContextDisableGraphCollection(TFE_Context *context) { enable_trace(context, false); }

// What ran since the last export.
void TFE_ContextExportRunMetadata(TFE_Context *context, TF_Buffer *buf, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(context, "the context", status)) return;
  pthread_mutex_lock(&context->lock);
  if (context->trace == NULL) {
    capi_buffer_copy(buf, "", 0, status);
  } else if (capi_take(status, rheos_trace_to_run_metadata(context->trace, &bytes, &size))) {
    rheos_trace_clear(context->trace);
    capi_buffer_take(buf, bytes, size, status);
  }
  pthread_mutex_unlock(&context->lock);
}

// ---- Settings

// There is one kind of device, and no compiler of operations to be asked for: what these choose
// between are the same.
static void take_setting(TFE_Context *context, TF_Status *status) {
  capi_succeed(status);
  capi_need(context, "the context", status);
}

void TFE_ContextSetSoftDevicePlacement(TFE_Context *context, unsigned char enable,
                                       TF_Status *status) {
  (void)enable;
  take_setting(context, status);
}

void TFE_ContextSetRunEagerOpAsFunction(TFE_Context *context, unsigned char enable,
                                        TF_Status *status) {
  (void)enable;
  take_setting(context, status);
}

void TFE_ContextSetJitCompileRewrite(TFE_Context *context, unsigned char enable,
                                     TF_Status *status) {
  (void)enable;
  take_setting(context, status);
}

void TFE_HostAddressSpace(TFE_Context *context, TF_Buffer *buf) {
  static const char address[] = "/job:localhost/replica:0/task:0";
  if (context != NULL) capi_buffer_copy(buf, address, strlen(address), NULL);
}

// ---- Handles

TFE_TensorHandle *TFE_NewTensorHandleFromDeviceMemory(
    TFE_Context *context, const char *device_name, TF_DataType dtype, const int64_t *dims,
    int num_dims, void *data, size_t len, void (*deallocator)(void *data, size_t len, void *arg),
    void *deallocator_arg, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(context, "the context", status) ||
      !capi_need_device(context, device_name, status)) {
    return NULL;
  }
  TF_Tensor *tensor = TF_NewTensor(dtype, dims, num_dims, data, len, deallocator, deallocator_arg);
  if (tensor == NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "%zu bytes are no tensor of type %d and %d dimensions",
              len, (int)dtype, num_dims);
    return NULL;
  }
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}

struct TFE_TensorDebugInfo {
  rheos_shape shape;
};

TFE_TensorDebugInfo *TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle *h, TF_Status *status) {
  if (!capi_need_handle(h, status)) return NULL;
  TFE_TensorDebugInfo *info = malloc(sizeof *info);
  if (info == NULL) {
    capi_fail_for_memory(status);
  } else {
    info->shape = *rheos_tensor_shape(h->value);
  }
  return info;
}

void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo *info) { free(info); }

int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo *info) {
  return info == NULL ? -1 : info->shape.rank;
}

int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo *info, int dim_index) {
  if (info == NULL || dim_index < 0 || dim_index >= info->shape.rank) return -1;
  return info->shape.dims[dim_index];
}

// There are none.
bool TFE_IsCustomDevice(TFE_Context *context, const char *device_name) {
  (void)context;
  (void)device_name;
  return false;
}

// ---- Programs and servers

// There is nothing to be set up, and no flag that is Rheos's.
void TF_InitMain(const char *usage, int *argc, char ***argv) {
  (void)usage;
  (void)argc;
  (void)argv;
}

// A port of this machine on which nobody listens at this moment; 0 if there is none.
int TF_PickUnusedPortOrDie(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int made = socket(AF_INET, SOCK_STREAM, 0), port = 0;
  if (made < 0) return 0;
  if (bind(made, (struct sockaddr *)&address, length) == 0 &&
      getsockname(made, (struct sockaddr *)&address, &length) == 0) {
    port = ntohs(address.sin_port);
  }
  close(made);
  return port;
}

TF_Buffer *TFE_GetServerDef(const char *text_proto, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(text_proto, "the text", status)) return NULL;
  rheos_status *error =
      rheos_message_from_text("ServerDef", text_proto, strlen(text_proto), &bytes, &size);
  if (error != NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Invalid text proto for ServerDef: %s",
              rheos_status_message(error));
    rheos_status_free(error);
    return NULL;
  }
  TF_Buffer *buffer = TF_NewBuffer();
  if (buffer == NULL) {
    rheos_free(bytes);
    capi_fail_for_memory(status);
    return NULL;
  }
  capi_buffer_take(buffer, bytes, size, status);
  return buffer;
}
