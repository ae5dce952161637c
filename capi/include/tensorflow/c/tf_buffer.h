// Bytes with what frees them: messages of protocol buffers mostly.
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include <tensorflow/c/c_api_macros.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Buffer {
  const void *data;
  size_t length;
  void (*data_deallocator)(void *data, size_t length);
} TF_Buffer;
TF_CAPI_EXPORT TF_Buffer *TF_NewBufferFromString(const void *proto, size_t proto_len);
TF_CAPI_EXPORT TF_Buffer *TF_NewBuffer(void);
TF_CAPI_EXPORT void TF_DeleteBuffer(TF_Buffer *);
TF_CAPI_EXPORT TF_Buffer TF_GetBuffer(TF_Buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_BUFFER_H_
