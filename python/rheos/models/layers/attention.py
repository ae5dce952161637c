"""Attention: means of values, weighted by how keys fit queries."""

import math

from rheos.framework import tensor_shape
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import objects, random_numbers
from rheos.models.layers.core import Dropout, in_training, seed_generator
from rheos.models.layers.einsum import EinsumDense
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops

_layer = objects.known("layer")


def _lower_triangle(scores):
    """True where a query may see a key: at its own place and before."""
    shape = array_ops.shape(scores)
    return _seen_in_order(array_ops.ones(array_ops.stack([1, shape[-2], shape[-1]]), dtype="int32"))


def _seen_in_order(ones):
    rows = math_ops.cumsum(ones, -2)
    return math_ops.greater_equal(rows, math_ops.cumsum(ones, -1))


class _BaseAttention(Layer):
    """Attention of [query, value] or [query, value, key], with masks of query and value."""

    def __init__(self, causal=False, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.causal = causal
        self.dropout = dropout
        self.seed = seed
        self.seed_generator = seed_generator(seed) if dropout else None
        self.supports_masking = True

    def _dropped(self, weights):
        if self.seed_generator is None:
            return nn_ops.dropout(weights, rate=self.dropout)
        return random_numbers.dropout(weights, self.dropout, seed=self.seed_generator)

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
                lambda: self._dropped(weights),
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
        if score_mode not in ("dot", "concat"):
            raise ValueError(f'`score_mode` is "dot" or "concat", not {score_mode!r}')
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


@_layer
class MultiHeadAttention(Layer):
    """Attention by several heads, each of its own projections of query, key and value.

    query (batch, ..., n), value and key (batch, ..., m); returns (batch, ..., n), or of
    `output_shape`.
    """

    _SAVED_AS = {f"_{x}_dense": f"{x}_dense" for x in ("query", "key", "value", "output")}

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
        seed=None,
        **kwargs,
    ):
        super().__init__(**resolved({"activity_regularizer": activity_regularizer}), **kwargs)
        self.supports_masking = True
        self.seed = seed
        self.num_heads = values.check_positive("num_heads", num_heads)
        self.key_dim = values.check_positive("key_dim", key_dim)
        self.value_dim = value_dim or key_dim
        self.dropout = dropout
        self.use_bias = use_bias
        self._given_shape = output_shape
        self.attention_axes = attention_axes
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

    def _projection(self, shape, num_in, rank, name):
        """inputs of a rank (..., n) as (..., *shape); of the last `num_in` dimensions at once."""
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        kept = "".join(next(letters) for _ in range(rank - 1))
        summed = "".join(next(letters) for _ in range(num_in))
        made = "".join(next(letters) for _ in shape)
        settings = {
            f"{part}_{kind}": getattr(self, f"{part}_{kind}")
            for part in ("kernel", "bias")
            for kind in ("initializer", "regularizer", "constraint")
        }
        first = settings["kernel_initializer"]
        if hasattr(first, "from_config"):  # each draws numbers of its own
            settings["kernel_initializer"] = type(first).from_config(first.get_config())
        return EinsumDense(
            f"{kept}{summed},{summed}{made}->{kept}{made}",
            [*[None] * (rank - 2), *shape],
            bias_axes=made if self.use_bias else None,
            name=name,
            dtype=self.dtype,
            **settings,
        )

    def build(self, input_shape):
        shape = tensor_shape.as_shape(input_shape)
        rank, given = shape.ndims, self._given_shape
        out = [shape.size_at(-1)] if given is None else given
        out = [out] if isinstance(out, int) else list(out)
        heads = self.num_heads
        self._query_dense = self._projection([heads, self.key_dim], 1, rank, "query")
        self._key_dense = self._projection([heads, self.key_dim], 1, rank, "key")
        self._value_dense = self._projection([heads, self.value_dim], 1, rank, "value")
        self._dropout_layer = Dropout(self.dropout, seed=self.seed) if self.dropout else None
        self._output_dense = self._projection(out, 2, rank, "attention_output")
        self.built = True

    def _as_sequences(self, x):
        """(batch, ..., heads, size) as (batch, others, time, heads, size), by the axes."""
        rank = x.shape.ndims
        axes = self._axes(rank)
        others = [i for i in range(1, rank - 2) if i not in axes]
        order = [0, *others, *axes, rank - 2, rank - 1]
        x = array_ops.transpose(x, order)
        shape = array_ops.shape(x)
        split = 1 + len(others)
        return array_ops.reshape(
            x, array_ops.concat([shape[:1], [-1], [math_ops.reduce_prod(shape[split : rank - 2])],
                                 shape[rank - 2 :]], 0)
        ), (order, shape)  # fmt: skip

    def _axes(self, rank):
        axes = self.attention_axes
        if axes is None:
            return list(range(1, rank - 2))
        return [a % (rank - 1) for a in ([axes] if isinstance(axes, int) else axes)]

    def _mask(self, query, value, attention_mask, use_causal_mask, q, k):
        found = attention_mask
        if found is not None and found.dtype.base_dtype != "bool":
            found = math_ops.cast(found, "bool")
        for x, axis in ((query, 2), (value, 1)):
            mask = getattr(x, "_keras_mask", None)
            if mask is not None:
                mask = array_ops.expand_dims(mask, axis)
                found = mask if found is None else math_ops.logical_and(found, mask)
        if use_causal_mask:
            rows, columns = array_ops.shape(q)[1], array_ops.shape(k)[1]
            seen = _seen_in_order(array_ops.ones([1, rows, columns], dtype="int32"))
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
        if q.shape.ndims != 4:
            outputs, weights = self._over_axes(q, k, v, training)
        else:
            mask = self._mask(query, value, attention_mask, use_causal_mask, q, k)
            outputs, weights = self._mixed(q, k, v, mask, training)
        outputs = self._output_dense(outputs)
        return (outputs, weights) if return_attention_scores else outputs

    def _mixed(self, q, k, v, mask, training):
        """The means of values by queries, and the weights; mask: what a query may see."""
        scores = linalg_ops.einsum("bthd,bshd->bhts", q, k)
        if mask is not None:
            hidden = 1.0 - math_ops.cast(array_ops.expand_dims(mask, 1), scores.dtype)
            scores += hidden * (-1e9 if scores.dtype.base_dtype != "float16" else -3e4)
        weights = nn_ops.softmax(scores)
        used = weights
        if self._dropout_layer is not None:
            used = self._dropout_layer(weights, training=training)
        return linalg_ops.einsum("bhts,bshd->bthd", used, v), weights

    def _over_axes(self, q, k, v, training):
        """Attention along several axes, or one of several; masks are not there."""
        (q, (order, shape)), (k, _), (v, _) = (self._as_sequences(x) for x in (q, k, v))
        size = array_ops.shape(v)[-1]

        def flat(x):
            inner = array_ops.shape(x)
            return array_ops.reshape(x, array_ops.concat([[-1], inner[2:]], 0))

        mixed, weights = self._mixed(flat(q), flat(k), flat(v), None, training)
        mixed = array_ops.reshape(mixed, array_ops.concat([shape[:-1], [size]], 0))
        back = [order.index(i) for i in range(len(order))]
        mixed = array_ops.transpose(mixed, back)
        mixed.set_shape([*[None] * (len(order) - 2), self.num_heads, self.value_dim])
        return mixed, weights

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
        return {**config, "output_shape": self._given_shape, "seed": self.seed}
