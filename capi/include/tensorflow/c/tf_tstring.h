// Elements of string tensors. What they are made of: tsl/platform/ctstring.h.
#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include <tensorflow/c/c_api_macros.h>
#include <tensorflow/c/tf_tensor.h>
#include <tsl/platform/ctstring.h>

#ifdef __cplusplus
extern "C" {
#endif

TF_CAPI_EXPORT void TF_StringInit(TF_TString *t);
TF_CAPI_EXPORT void TF_StringCopy(TF_TString *dst, const char *src, size_t size);
TF_CAPI_EXPORT void TF_StringAssignView(TF_TString *dst, const char *src, size_t size);
TF_CAPI_EXPORT const char *TF_StringGetDataPointer(const TF_TString *tstr);
TF_CAPI_EXPORT TF_TString_Type TF_StringGetType(const TF_TString *str);
TF_CAPI_EXPORT size_t TF_StringGetSize(const TF_TString *tstr);
TF_CAPI_EXPORT size_t TF_StringGetCapacity(const TF_TString *str);
TF_CAPI_EXPORT void TF_StringDealloc(TF_TString *tstr);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_TSTRING_H_
