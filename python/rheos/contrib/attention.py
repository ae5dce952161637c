"""Attention of tf.contrib.seq2seq: how much a query looks at each step of a memory."""

import functools
import math

import numpy as np

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.layers import base
from rheos.layers.core import Dense
from rheos.layers.rnn_cells import zero_tensors
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow.functional_ops import scan
from rheos.ops.math import check_ops, clip_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import get_variable, variable_scope


def size_of(tensor, axis):
    """The size of a dimension: a number if it is known, else a tensor."""
    return tensor.shape.size_at(axis) or array_ops.shape(tensor)[axis]


def hardmax(logits, name=None):
    """1 at the largest element of each row of logits (..., n), 0 elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.shape.size_at(-1)
        if depth is None:
            depth = array_ops.shape(logits)[-1]
        return array_ops.one_hot(math_ops.argmax(logits, -1), depth, dtype=logits.dtype)


def safe_cumprod(x, *args, **kwargs):
    """The cumulative product of numbers from 0 to 1, as the exponential of a sum of logarithms.

    The other arguments are those of cumsum().
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        logs = math_ops.log(clip_ops.clip_by_value(x, tiny, 1))
        return math_ops.exp(math_ops.cumsum(logs, *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """The attention (batch, time) that never goes back (Raffel and others, 2017).

    p_choose_i: (batch, time), with what probability it stops at a step; previous_attention: where
    it was. mode: "recursive" goes over the steps, "parallel" is faster and less exact, "hard" is
    for probabilities of 0 and 1. ValueError for others.
    """
    p_choose_i = convert_to_tensor(p_choose_i, name="p_choose_i")
    before = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch_size = size_of(p_choose_i, 0)
        ones = array_ops.ones((batch_size, 1))
        passed = array_ops.concat([ones, 1 - p_choose_i[:, :-1]], 1)
        steps = scan(
            lambda x, yz: array_ops.reshape(yz[0] * x + yz[1], (batch_size,)),
            [array_ops.transpose(passed), array_ops.transpose(before)],
            array_ops.zeros((batch_size,)),
        )
        return p_choose_i * array_ops.transpose(steps)
    if mode == "parallel":
        passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        chosen = p_choose_i * passed
        ratio = before / clip_ops.clip_by_value(passed, 1e-10, 1.0)
        return chosen * math_ops.cumsum(ratio, axis=1)
    if mode == "hard":
        p_choose_i *= math_ops.cumsum(before, axis=1)
        passed = math_ops.cumprod(1 - p_choose_i, axis=1, exclusive=True)
        return p_choose_i * passed
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


# ---- The memory


def _masked_memory(memory, lengths, check_inner_dims_defined):
    """The memory, with zeros after the ends of its sequences."""
    memory = nest.map_leaves(lambda m: convert_to_tensor(m, name="memory"), memory)
    if lengths is not None:
        lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.shape[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {m.name} to have fully defined inner dims, but saw shape: "
                    f"{m.shape}"
                )
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = rearrange_ops.sequence_mask(lengths, maxlen=array_ops.shape(first)[1], dtype=first.dtype)

    def masked(m):
        rank = m.shape.ndims
        rank = array_ops.rank(m) if rank is None else rank
        ones = array_ops.ones(rank - 2, dtype=dtypes.int32)
        shape = array_ops.concat((array_ops.shape(mask), ones), 0)
        return m * array_ops.reshape(mask, shape)

    return nest.map_leaves(masked, memory)


def _masked_score(score, lengths, mask_value):
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with control_dependencies([check_ops.assert_positive(lengths, message=message)]):
        mask = rearrange_ops.sequence_mask(lengths, maxlen=array_ops.shape(score)[1])
    masked = mask_value * array_ops.ones_like(score)
    return array_ops.where(mask, score, masked)


class AttentionMechanism:
    """What a query and a state give alignments for: see BahdanauAttention and LuongAttention."""

    @property
    def alignments_size(self):
        """The size of the alignments."""
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state."""
        raise NotImplementedError


class BaseAttentionMechanism(AttentionMechanism):
    """Attention to a memory (batch, time, ...), of which a layer makes keys.

    query_layer, memory_layer: layers, or None. probability_fn: what makes alignments (batch, time)
    of scores and the previous alignments. memory_sequence_length: (batch,), after which nothing is
    looked at: the score is score_mask_value there. custom_key_value_fn: what changes keys and
    values. TypeError for what is no layer or no function.
    """

    def __init__(
        self,
        query_layer,
        memory,
        probability_fn,
        memory_sequence_length=None,
        memory_layer=None,
        check_inner_dims_defined=True,
        score_mask_value=None,
        custom_key_value_fn=None,
        name=None,
    ):
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, base.Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _masked_score(score, memory_sequence_length, score_mask_value), previous
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _masked_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self):
        """The layer that makes keys."""
        return self._memory_layer

    @property
    def query_layer(self):
        """The layer that queries go through."""
        return self._query_layer

    @property
    def values(self):
        """The memory, zeros after the ends."""
        return self._values

    @property
    def keys(self):
        """What queries are compared with, (batch, time, num_units)."""
        return self._keys

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def alignments_size(self):
        return self._alignments_size

    @property
    def state_size(self):
        return self._alignments_size

    def initial_alignments(self, batch_size, dtype):
        """The alignments before the first step, zeros (batch_size, time)."""
        return zero_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size, dtype):
        """The state before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)


def _dense(num_units, name, dtype):
    return Dense(num_units, name=name, use_bias=False, dtype=dtype)


# ---- Scores


def _attention_gain(query):
    return get_variable(
        "attention_g", dtype=query.dtype, initializer=init_ops.ones_initializer, shape=()
    )


class _Luong(BaseAttentionMechanism):
    """Scores that are products of the query and the keys, times `attention_g` if `scale`."""

    def _score(self, query):
        depth, units = query.shape.size_at(-1), self._keys.shape.size_at(-1)
        gain = _attention_gain(query) if self._scale else None
        if depth is None or depth != units:
            raise ValueError(
                "Incompatible or unknown inner dimensions between query and keys.  Query "
                f"({query}) has units: {depth}.  Keys ({self._keys}) have units: {units}.  Perhaps "
                f"you need to set num_units to the keys' dimension ({units})?"
            )
        score = math_ops.matmul(array_ops.expand_dims(query, 1), self._keys, transpose_b=True)
        score = array_ops.squeeze(score, [1])
        return score if gain is None else gain * score


class _Bahdanau(BaseAttentionMechanism):
    """Scores that are sums of attention_v * tanh(keys + query), normalized if `normalize`."""

    def _variables(self, dtype):
        """(v, g, b), the last two None unless normalized."""
        v = get_variable("attention_v", [self._num_units], dtype=dtype)
        if not self._normalize:
            return v, None, None
        length = init_ops.constant_initializer(math.sqrt(1.0 / self._num_units))
        g = get_variable("attention_g", dtype=dtype, initializer=length, shape=())
        zeros = init_ops.zeros_initializer()
        return v, g, get_variable("attention_b", [self._num_units], dtype=dtype, initializer=zeros)

    def _score(self, query):
        dtype = query.dtype
        processed = self.query_layer(query) if self.query_layer else query
        v, g, b = self._variables(dtype)
        expanded = array_ops.expand_dims(processed, 1)
        if g is None:
            return math_ops.reduce_sum(v * math_ops.tanh(self._keys + expanded), [2])
        v = g * v * math_ops.rsqrt(math_ops.reduce_sum(math_ops.square(v)))
        return math_ops.reduce_sum(v * math_ops.tanh(self._keys + expanded + b), [2])


def _of_score_alone(probability_fn):
    probability_fn = probability_fn or nn_ops.softmax
    return lambda score, previous: probability_fn(score)


class LuongAttention(_Luong):
    """Multiplicative attention (Luong, Pham and Manning, 2015).

    num_units: of the queries and keys. memory, memory_sequence_length, score_mask_value,
    custom_key_value_fn: as of all mechanisms. scale: by a variable. probability_fn: what makes
    alignments of scores, softmax by default.
    """

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        scale=False,
        probability_fn=None,
        score_mask_value=None,
        dtype=None,
        custom_key_value_fn=None,
        name="LuongAttention",
    ):
        super().__init__(
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype or dtypes.float32),
            memory=memory,
            probability_fn=_of_score_alone(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query, state):
        """(alignments, next state) of a query (batch, num_units)."""
        with variable_scope(None, "luong_attention", [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauAttention(_Bahdanau):
    """Additive attention (Bahdanau, Cho and Bengio, 2015).

    num_units: of what is compared. normalize: with weight normalization. The rest is as for
    LuongAttention.
    """

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        normalize=False,
        probability_fn=None,
        score_mask_value=None,
        dtype=None,
        custom_key_value_fn=None,
        name="BahdanauAttention",
    ):
        dtype = dtype or dtypes.float32
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_of_score_alone(probability_fn),
            custom_key_value_fn=custom_key_value_fn,
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def __call__(self, query, state):
        """(alignments, next state) of a query (batch, n)."""
        with variable_scope(None, "bahdanau_attention", [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


# ---- Monotonic


def _monotonic_probability(score, previous, sigmoid_noise, mode, seed=None):
    if sigmoid_noise > 0:
        shape = array_ops.shape(score)
        noise = random_ops.random_normal(shape, dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    if mode == "hard":
        p_choose_i = math_ops.cast(score > 0, score.dtype)
    else:
        p_choose_i = math_ops.sigmoid(score)
    return monotonic_attention(p_choose_i, previous, mode)


class _Monotonic(BaseAttentionMechanism):
    """Attention that starts at the first step and never goes back."""

    def initial_alignments(self, batch_size, dtype):
        """The alignments before the first step: all at the start."""
        starts = array_ops.zeros((batch_size,), dtype=dtypes.int32)
        return array_ops.one_hot(starts, self._alignments_size, dtype=dtype)

    def _attend(self, scope, query, state):
        with variable_scope(None, scope, [query]):
            score = self._score(query)
            score += get_variable(
                "attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init
            )
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauMonotonicAttention(_Monotonic, _Bahdanau):
    """BahdanauAttention that never goes back: see monotonic_attention() for `mode`.

    sigmoid_noise: the deviation of noise added to the scores; score_bias_init: what their bias
    starts with.
    """

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        normalize=False,
        score_mask_value=None,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        dtype=None,
        name="BahdanauMonotonicAttention",
    ):
        dtype = dtype or dtypes.float32
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query, state):
        """(alignments, next state) of a query (batch, n)."""
        return self._attend("bahdanau_monotonic_attention", query, state)


class LuongMonotonicAttention(_Monotonic, _Luong):
    """LuongAttention that never goes back; the arguments are as of BahdanauMonotonicAttention."""

    def __init__(
        self,
        num_units,
        memory,
        memory_sequence_length=None,
        scale=False,
        score_mask_value=None,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        dtype=None,
        name="LuongMonotonicAttention",
    ):
        super().__init__(
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype or dtypes.float32),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query, state):
        """(alignments, next state) of a query (batch, num_units)."""
        return self._attend("luong_monotonic_attention", query, state)
