// Shapes and tensors as protobuf messages.
#ifndef RHEOS_SRC_FORMAT_MESSAGE_TENSOR_PROTO_H
#define RHEOS_SRC_FORMAT_MESSAGE_TENSOR_PROTO_H

#include "format/message/protobuf.h"
#include "tensor.pb-c.h"
#include "tensor/tensor.h"

// A NULL message is a scalar.
rheos_status *rheos__shape_from_proto(const Tensorflow__TensorShapeProto *proto,
                                      rheos_shape *out_shape);
// In the arena.
rheos_status *rheos__shape_to_proto(const rheos_shape *shape, rheos__arena *arena,
                                    Tensorflow__TensorShapeProto **out_proto);

rheos_status *rheos__tensor_from_proto(const Tensorflow__TensorProto *proto,
                                       rheos_tensor **out_tensor);
// In the arena, except the bytes of the elements, which may stay the tensor's. Small and unusual
// dtypes go to the typed lists and vectors of numbers to `tensor_content`, as TensorFlow's Python
// writes them.
rheos_status *rheos__tensor_to_proto(const rheos_tensor *tensor, rheos__arena *arena,
                                     Tensorflow__TensorProto **out_proto);

// Fills only the list for the dtype, which may stay the tensor's.
rheos_status *rheos__tensor_to_lists(const rheos_tensor *tensor, rheos__arena *arena,
                                     Tensorflow__TensorProto *proto);
// The elements in the list for the dtype.
size_t rheos__tensor_proto_length(const Tensorflow__TensorProto *proto, rheos_dtype dtype);

// A dtype that tensors can have, as a file gives it; a status naming the number if there is none.
rheos_status *rheos__dtype_from_proto(int64_t number, rheos_dtype *out_dtype);

#endif  // RHEOS_SRC_FORMAT_MESSAGE_TENSOR_PROTO_H
