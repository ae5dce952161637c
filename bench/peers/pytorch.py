"""PyTorch: a forward pass traced, frozen and optimized for inference, with weights that are
constants; a training step by autograd and its optimizers. Pictures keep their channels last.
"""

import torch
import torch.nn.functional as F
from recorded import NODES, Peer


class PyTorch(Peer):
    name = "PyTorch"
    left_out = ("adds, a node", "graph of 5,000")

    add, sub, mul = map(staticmethod, (torch.add, torch.sub, torch.mul))
    neg, exp, tanh, sigmoid = map(staticmethod, (torch.neg, torch.exp, torch.tanh, torch.sigmoid))
    erf, rsqrt, square, abs = map(staticmethod, (torch.erf, torch.rsqrt, torch.square, torch.abs))
    relu = staticmethod(torch.relu)

    def softmax(self, x):
        return torch.softmax(x, -1)

    def constant(self, value):
        return torch.from_numpy(value)

    def matmul(self, x, y, transpose_b):
        return torch.matmul(x, y.transpose(-1, -2) if transpose_b else y)

    def mean(self, x, axes, keepdims):
        return x.mean() if axes is None else x.mean(axes, keepdim=keepdims)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def transpose(self, x, order):
        return x.permute(order)

    # PyTorch pads alike on all sides, TensorFlow's SAME one more after than before: as much work.
    def conv(self, x, weights, stride):
        y = F.conv2d(x.permute(0, 3, 1, 2), weights, None, stride, int(weights.shape[-1]) // 2)
        return y.permute(0, 2, 3, 1)

    def max_pool(self, x, size, stride):
        return F.max_pool2d(x.permute(0, 3, 1, 2), size, stride, size // 2 if size % 2 else 0) \
            .permute(0, 2, 3, 1)

    def batch_norm(self, x, scale, offset, mean=None, variance=None, is_training=False):
        y = F.batch_norm(
            x.permute(0, 3, 1, 2), mean, variance, scale, offset, is_training, eps=1e-3)
        return y.permute(0, 2, 3, 1)

    def cross_entropy(self, logits, labels):
        return F.cross_entropy(logits, labels.long(), reduction="none")

    def _variables(self):
        weights_of_convs = {n.args[1].id for n in NODES if n.kind == "conv"}
        values = {}
        for node in self.variables():
            value = torch.from_numpy(node.attrs["value"].copy())
            if node.id in weights_of_convs:
                value = value.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
            values[node.id] = value
        return values

    def step(self, fetches, feeds):
        torch.set_num_threads(self.threads)
        variables = self._variables()
        train, outputs = self.trained(fetches)
        make = self._training if train else self._forward
        return make(train, outputs, feeds, variables)

    def _forward(self, train, outputs, feeds, variables):
        peer, keys = self, list(feeds)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                for key, value in variables.items():
                    self.register_buffer(f"v{key}", value)

            def forward(self, *inputs):
                values = {key: getattr(self, f"v{key}") for key in variables}
                values.update((k.id, x) for k, x in zip(keys, inputs))
                return peer.evaluate(values, outputs)[0]

        examples = tuple(torch.as_tensor(value) for value in feeds.values())
        with torch.no_grad():
            traced = torch.jit.trace(Model().eval(), examples, check_trace=False)
            traced = torch.jit.optimize_for_inference(torch.jit.freeze(traced))

        def run(*values):
            with torch.inference_mode():
                return traced(*map(torch.as_tensor, values)).numpy()

        return run

    def _training(self, train, outputs, feeds, variables):
        parameters = [value.requires_grad_() for value in variables.values()]
        kind = {"GradientDescentOptimizer": torch.optim.SGD, "AdamOptimizer": torch.optim.Adam}
        optimizer = kind[train.attrs["optimizer"]](parameters, lr=train.attrs["rate"])
        keys = list(feeds)

        def run(*values):
            given = {k.id: torch.as_tensor(value) for k, value in zip(keys, values)}
            optimizer.zero_grad(set_to_none=True)
            (loss,) = self.evaluate({**variables, **given}, outputs)
            loss.backward()
            optimizer.step()
            return loss.detach().numpy()

        return run


PEER = PyTorch
