// Tensors as messages (TensorProto) in strings, for ops.
#ifndef RHEOS_SRC_OPS_IO_TENSOR_MESSAGE_H
#define RHEOS_SRC_OPS_IO_TENSOR_MESSAGE_H

#include "tensor/tensor.h"

// Puts the message of `tensor` into element `index` of a string tensor.
rheos_status *rheos__put_tensor_message(const rheos_tensor *tensor, rheos_tensor *strings,
                                        int64_t index);
// The tensor that a message holds; invalid argument if it is none.
rheos_status *rheos__tensor_of_message(const rheos_string *bytes, rheos_tensor **out_tensor);

#endif  // RHEOS_SRC_OPS_IO_TENSOR_MESSAGE_H
