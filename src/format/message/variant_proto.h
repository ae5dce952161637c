// Tensors of variants as messages, as TensorFlow has them in the files of datasets: a variant is a
// VariantTensorDataProto, the name of its kind with the tensors that it holds. There are messages
// of the parts of sparse tensors, of ragged tensors, optionals and lists of tensors.
#ifndef RHEOS_SRC_FORMAT_MESSAGE_VARIANT_PROTO_H
#define RHEOS_SRC_FORMAT_MESSAGE_VARIANT_PROTO_H

#include "codec/buffer.h"
#include "tensor/variant.h"

// Appends the TensorProto of a tensor of any dtype. RHEOS_UNIMPLEMENTED for what has no message, as
// datasets and resources; something may have been appended then.
rheos_status *rheos__tensor_message_put(rheos__buffer *buffer, const rheos_tensor *tensor);
// The tensor of a TensorProto, of variants too, from bytes that may be hostile.
rheos_status *rheos__tensor_message_parse(const char *bytes, size_t size_bytes,
                                          rheos_tensor **out_tensor);

// As rheos__tensor_message_put() and rheos__tensor_message_parse(), of element `index` of a tensor
// of variants, and a VariantTensorDataProto. An element that is NULL is an empty message.
rheos_status *rheos__variant_message_put(rheos__buffer *buffer, const rheos_tensor *variants,
                                         int64_t index);
rheos_status *rheos__variant_message_parse(const char *bytes, size_t size_bytes,
                                           rheos__variant **out_variant);

#endif  // RHEOS_SRC_FORMAT_MESSAGE_VARIANT_PROTO_H
