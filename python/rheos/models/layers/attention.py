"""Attention: means of values, weighted by how keys fit queries."""

import math

from rheos.framework import tensor_shape
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.layers.core import Dropout, in_training
from rheos.models.layers.settings import config_of, resolved
from rheos.ops import array_ops, linalg_ops, math_ops, nn_ops

_layer = objects.known("layer")


def _lower_triangle(scores):
    """True where a query may see a key: at its own place and before."""
    shape = array_ops.shape(scores)
    ones = array_ops.ones(array_ops.stack([1, shape[-2], shape[-1]]), dtype="int32")
    rows = math_ops.cumsum(ones, -2)
    return math_ops.greater_equal(rows, math_ops.cumsum(ones, -1))


class _BaseAttention(Layer):
    """Attention of [query, value] or [query, value, key], with masks of query and value."""

    def __init__(self, causal=False, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.causal = causal
        self.dropout = dropout
        self.supports_masking = True

    def _scores(self, query, key):
        raise NotImplementedError

    def call(
        self,
        inputs,
        mask=None,
        training=None,
        return_attention_scores=False,
        use_causal_mask=False,
    ):
        self._validate(inputs, mask)
        query, value = inputs[:2]
        key = inputs[2] if len(inputs) > 2 else value
        scores = self._scores(query, key)
        hidden = None
        if mask and mask[1] is not None:
            hidden = array_ops.expand_dims(mask[1], -2)
        if self.causal or use_causal_mask:
            seen = _lower_triangle(scores)
            hidden = seen if hidden is None else math_ops.logical_and(hidden, seen)
        if hidden is not None:
            scores -= 1e9 * math_ops.cast(math_ops.logical_not(hidden), scores.dtype)
        weights = nn_ops.softmax(scores)
        if self.dropout > 0:
            weights = in_training(
                training,
                lambda: nn_ops.dropout(weights, rate=self.dropout),
                lambda: array_ops.identity(weights),
            )
        result = math_ops.matmul(weights, value)
        if mask and mask[0] is not None:
            result *= math_ops.cast(array_ops.expand_dims(mask[0], -1), result.dtype)
        return (result, weights) if return_attention_scores else result

    def _validate(self, inputs, mask):
        name = type(self).__name__
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or "
                "[query, value, key]."
            )
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or "
                f"[query, value, key]. Given length: {len(inputs)}"
            )
        if mask is not None and not isinstance(mask, (list, tuple)):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask].")

    def compute_mask(self, inputs, mask=None):
        return mask[0] if mask else None

    def compute_output_shape(self, input_shape):
        query, value = (tensor_shape.as_shape(s) for s in input_shape[:2])
        return query[:-1].concatenate([value[-1]])

    def get_config(self):
        config = {**super().get_config(), "causal": self.causal}
        return {**config, **({"dropout": self.dropout} if self.dropout else {})}


@_layer
class Attention(_BaseAttention):
    """Luong's attention: the dot products of queries and keys."""

    def __init__(self, use_scale=False, score_mode="dot", **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.score_mode = score_mode

    def build(self, input_shape):
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight("scale", shape=(), initializer="ones")
        self.concat_score_weight = None
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(
                "concat_score_weight", shape=(), initializer="ones"
            )
        self.built = True

    def _scores(self, query, key):
        if self.score_mode == "concat":
            sums = array_ops.expand_dims(query, -2) + array_ops.expand_dims(key, -3)
            sums = sums if self.scale is None else self.scale * sums
            return self.concat_score_weight * math_ops.reduce_sum(math_ops.tanh(sums), axis=-1)
        scores = math_ops.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def get_config(self):
        config = {**super().get_config(), "use_scale": self.use_scale}
        return {**config, **({"score_mode": "concat"} if self.score_mode == "concat" else {})}


@_layer
class AdditiveAttention(_BaseAttention):
    """Bahdanau's attention: the sum of tanh(query + key)."""

    def __init__(self, use_scale=True, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        self.scale = None
        if self.use_scale:
            size = tensor_shape.as_shape(input_shape[1]).size_at(-1)
            self.scale = self.add_weight("scale", shape=[size], initializer="glorot_uniform")
        self.built = True

    def _scores(self, query, key):
        sums = array_ops.expand_dims(query, -2) + array_ops.expand_dims(key, -3)
        scale = 1.0 if self.scale is None else self.scale
        return math_ops.reduce_sum(scale * math_ops.tanh(sums), axis=-1)

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}


class _Projection(Layer):
    """inputs (..., n) @ kernel (n, heads, size) + bias (heads, size), or back from these."""

    def __init__(self, shape, num_in, use_bias, settings, **kwargs):
        super().__init__(**kwargs)
        self._shape = shape
        self._num_in = num_in  # how many dimensions are summed over
        self.use_bias = use_bias
        self._settings = settings

    def build(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()[-self._num_in :]
        settings = self._settings
        self.kernel = self.add_weight(
            "kernel",
            shape=[*dims, *self._shape],
            initializer=settings["kernel_initializer"],
            regularizer=settings["kernel_regularizer"],
            constraint=settings["kernel_constraint"],
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=self._shape,
                initializer=settings["bias_initializer"],
                regularizer=settings["bias_regularizer"],
                constraint=settings["bias_constraint"],
            )
        self.built = True

    def call(self, inputs):
        rank, count = inputs.shape.ndims, self._num_in
        axes = [list(range(rank - count, rank)), list(range(count))]
        outputs = math_ops.tensordot(inputs, self.kernel, axes)
        outputs.set_shape(inputs.shape[: rank - count].concatenate(self._shape))
        return outputs if self.bias is None else outputs + self.bias


@_layer
class MultiHeadAttention(Layer):
    """Attention by several heads, each of its own projections of query, key and value.

    query (batch, ..., n), value and key (batch, ..., m); returns (batch, ..., n), or of
    `output_shape`.
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            **resolved({"activity_regularizer": activity_regularizer}), **kwargs
        )
        self.supports_masking = True
        self.num_heads = num_heads
        self.key_dim = key_dim
        self.value_dim = value_dim or key_dim
        self.dropout = dropout
        self.use_bias = use_bias
        self._given_shape = output_shape
        self.attention_axes = attention_axes
        if attention_axes not in (None, 1, (1,), [1]):
            raise NotImplementedError(
                f"MultiHeadAttention attends along axis 1 only, not attention_axes={attention_axes}"
            )
        settings = {
            "kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint,
        }
        for key, value in resolved(settings).items():
            setattr(self, key, value)
        self._query_dense = self._key_dense = None

    def _projection(self, shape, num_in, name):
        names = ("initializer", "regularizer", "constraint")
        settings = {
            f"{part}_{kind}": getattr(self, f"{part}_{kind}")
            for part in ("kernel", "bias")
            for kind in names
        }
        return _Projection(shape, num_in, self.use_bias, settings, name=name, dtype=self.dtype)

    def build(self, input_shape):
        size = tensor_shape.as_shape(input_shape).size_at(-1)
        given = self._given_shape
        out = [size] if given is None else [given] if isinstance(given, int) else list(given)
        self._query_dense = self._projection([self.num_heads, self.key_dim], 1, "query")
        self._key_dense = self._projection([self.num_heads, self.key_dim], 1, "key")
        self._value_dense = self._projection([self.num_heads, self.value_dim], 1, "value")
        self._output_dense = self._projection(out, 2, "attention_output")
        self._dropout_layer = Dropout(self.dropout) if self.dropout else None
        self.built = True

    def _mask(self, query, value, attention_mask, use_causal_mask, scores):
        found = attention_mask
        if found is not None and found.dtype.base_dtype != "bool":
            found = math_ops.cast(found, "bool")
        for x, axis in ((query, 2), (value, 1)):
            mask = getattr(x, "_keras_mask", None)
            if mask is not None:
                mask = array_ops.expand_dims(mask, axis)
                found = mask if found is None else math_ops.logical_and(found, mask)
        if use_causal_mask:
            seen = _lower_triangle(scores[:, 0])
            found = seen if found is None else math_ops.logical_and(found, seen)
        return found

    def call(
        self,
        query,
        value,
        key=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        key = value if key is None else key
        q = self._query_dense(query)  # (batch, time, heads, size)
        k, v = self._key_dense(key), self._value_dense(value)
        q = q * (1.0 / math.sqrt(float(self.key_dim)))
        scores = linalg_ops.einsum("bthd,bshd->bhts", q, k)
        mask = self._mask(query, value, attention_mask, use_causal_mask, scores)
        if mask is not None:
            hidden = 1.0 - math_ops.cast(array_ops.expand_dims(mask, 1), scores.dtype)
            scores += hidden * -1e9
        weights = nn_ops.softmax(scores)
        used = weights
        if self._dropout_layer is not None:
            used = self._dropout_layer(weights, training=training)
        mixed = linalg_ops.einsum("bhts,bshd->bthd", used, v)
        outputs = self._output_dense(mixed)
        return (outputs, weights) if return_attention_scores else outputs

    def compute_mask(self, inputs, mask=None):
        return getattr(inputs, "_keras_mask", None)

    def compute_output_shape(self, query_shape, *others):
        shape = tensor_shape.as_shape(query_shape)
        given = self._given_shape
        if given is None:
            return shape
        return shape[:-1].concatenate([given] if isinstance(given, int) else list(given))

    def get_config(self):
        names = (
            "num_heads", "key_dim", "value_dim", "dropout", "use_bias", "attention_axes",
            "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer",
            "activity_regularizer", "kernel_constraint", "bias_constraint",
        )  # fmt: skip
        config = {**super().get_config(), **config_of(self, names)}
        return {**config, "output_shape": self._given_shape}
