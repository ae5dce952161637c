// Tensors: elements in row-major order.
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tensorflow/c/c_api_macros.h>
#include <tensorflow/c/tf_datatype.h>
#include <tensorflow/c/tf_status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_AllocatorAttributes {
  size_t struct_size;

  TF_Bool on_host;
} TF_AllocatorAttributes;
#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)
typedef struct TF_Tensor TF_Tensor;
TF_CAPI_EXPORT TF_Tensor *TF_NewTensor(TF_DataType, const int64_t *dims, int num_dims, void *data,
                                       size_t len,
                                       void (*deallocator)(void *data, size_t len, void *arg),
                                       void *deallocator_arg);
TF_CAPI_EXPORT size_t TF_TensorDefaultAlignment(void);
TF_CAPI_EXPORT TF_Tensor *TF_AllocateTensor(TF_DataType, const int64_t *dims, int num_dims,
                                            size_t len);
TF_CAPI_EXPORT TF_Tensor *TF_TensorMaybeMove(TF_Tensor *tensor);
TF_CAPI_EXPORT void TF_DeleteTensor(TF_Tensor *);
TF_CAPI_EXPORT TF_DataType TF_TensorType(const TF_Tensor *);
TF_CAPI_EXPORT void TF_SetShape(TF_Tensor *tensor, const int64_t *dims, int num_dims);
TF_CAPI_EXPORT int TF_NumDims(const TF_Tensor *);
TF_CAPI_EXPORT int64_t TF_Dim(const TF_Tensor *tensor, int dim_index);
TF_CAPI_EXPORT size_t TF_TensorByteSize(const TF_Tensor *);
TF_CAPI_EXPORT void *TF_TensorData(const TF_Tensor *);
TF_CAPI_EXPORT int64_t TF_TensorElementCount(const TF_Tensor *tensor);
TF_CAPI_EXPORT void TF_TensorBitcastFrom(const TF_Tensor *from, TF_DataType type, TF_Tensor *to,
                                         const int64_t *new_dims, int num_new_dims,
                                         TF_Status *status);
TF_CAPI_EXPORT bool TF_TensorIsAligned(const TF_Tensor *);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_TENSOR_H_
