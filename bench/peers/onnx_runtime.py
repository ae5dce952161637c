"""ONNX Runtime: forward passes, as an ONNX model whose weights are constants. Convolutions have
channels first there, so transposes stand around them, which its optimizer removes.
"""

import os
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from recorded import Peer

FIRST, LAST = [0, 3, 1, 2], [0, 2, 3, 1]


class OnnxRuntime(Peer):
    name = "ONNX Runtime"
    left_out = ("adds, a node", "SGD", "Adam", "regression")

    def step(self, fetches, feeds):
        self.nodes, self.weights = [], []
        inputs = [helper.make_tensor_value_info(f"n{key.id}", TensorProto.FLOAT, key.shape)
                  for key in feeds]
        values = {key.id: f"n{key.id}" for key in feeds}
        for node in self.variables():
            values[node.id] = self._weight(node.attrs["value"])
        outputs = self.evaluate(values, fetches)
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "model", inputs, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            onnx.save(model, path)
            session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        names = [value.name for value in inputs]
        return lambda *values: session.run(
            outputs, dict(zip(names, map(np.asarray, values))))[0]

    def _weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _node(self, kind, *inputs, **attrs):
        inputs = [x if isinstance(x, str) else self._weight(np.float32(x)) for x in inputs]
        name = f"o{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attrs))
        return name

    def _channels_first(self, kind, x, *inputs, **attrs):
        y = self._node("Transpose", x, perm=FIRST)
        return self._node("Transpose", self._node(kind, y, *inputs, **attrs), perm=LAST)

    def constant(self, value):
        return self._weight(value)

    def rsqrt(self, x):
        return self._node("Reciprocal", self._node("Sqrt", x))

    def square(self, x):
        return self._node("Mul", x, x)

    def softmax(self, x):
        return self._node("Softmax", x, axis=-1)

    def matmul(self, x, y, transpose_b):
        if transpose_b:  # of four dimensions, in these models
            y = self._node("Transpose", y, perm=[0, 1, 3, 2])
        return self._node("MatMul", x, y)

    def mean(self, x, axes, keepdims):
        return self._node("ReduceMean", x, axes=axes, keepdims=int(keepdims))

    def reshape(self, x, shape):
        return self._node("Reshape", x, self._weight(np.array(shape, np.int64)))

    def transpose(self, x, order):
        return self._node("Transpose", x, perm=order)

    def conv(self, x, weights, stride):
        index = int(weights[1:])
        value = numpy_helper.to_array(self.weights[index])
        self.weights[index] = numpy_helper.from_array(
            np.ascontiguousarray(value.transpose(3, 2, 0, 1)), weights)
        return self._channels_first(
            "Conv", x, weights, strides=[stride, stride], auto_pad="SAME_UPPER")

    def max_pool(self, x, size, stride):
        return self._channels_first("MaxPool", x, kernel_shape=[size, size],
                                    strides=[stride, stride], auto_pad="SAME_UPPER")

    def batch_norm(self, x, scale, offset, mean, variance, is_training):
        return self._channels_first(
            "BatchNormalization", x, scale, offset, mean, variance, epsilon=1e-3)


def _direct(kind):
    return lambda self, *inputs: self._node(kind, *inputs)


for _name in ("Add", "Sub", "Mul", "Neg", "Exp", "Tanh", "Sigmoid", "Erf", "Abs", "Relu"):
    setattr(OnnxRuntime, _name.lower(), _direct(_name))

PEER = OnnxRuntime
