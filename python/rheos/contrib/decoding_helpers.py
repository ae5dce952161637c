"""Helpers of tf.contrib.seq2seq: what a BasicDecoder chooses, and feeds to its cell next."""

import abc

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.rnn import transpose_batch_time
from rheos.ops.array import array_ops, embedding_ops
from rheos.ops.flow.control_flow_ops import cond
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.random import random_ops


class Helper(abc.ABC):
    """What chooses ids of outputs and makes the next inputs; all tensors are of a batch."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The size of the batch, an int32 scalar."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The TensorShape of the ids, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """The dtype of the ids."""

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs); finished: booleans (batch,)."""

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """The ids of outputs."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """(finished, next inputs, next state)."""


class _OfIds(Helper):
    """A helper whose ids are int32 scalars for each element of the batch."""

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return TensorShape([])

    @property
    def sample_ids_dtype(self):
        return dtypes.int32


# ---- Choosing at random


def _drawn(draw, sample_shape, event_shape):
    """draw(n) in the shape of samples; sample_shape: () or a scalar; event_shape: of one sample."""
    with name_scope(None, "call_sampler", [sample_shape]):
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        is_scalar = math_ops.cast(math_ops.equal(array_ops.rank(shape), 0), dtypes.int32)
        shape = array_ops.reshape(
            shape,
            array_ops.pad(array_ops.shape(shape), paddings=[[is_scalar, 0]], constant_values=1),
        )
        shape.set_shape([0 if isinstance(sample_shape, tuple) else 1])
        samples = draw(math_ops.reduce_prod(shape))
        rows = TensorShape([1 if isinstance(sample_shape, tuple) else None])
        samples.set_shape(rows.concatenate(event_shape))
        event = array_ops.shape(samples)[1:]
        samples = array_ops.reshape(samples, array_ops.concat([shape, event], 0))
        rows = TensorShape([] if isinstance(sample_shape, tuple) else [None])
        samples.set_shape(rows.concatenate(event_shape))
        return samples


def _drawn_yes_or_no(probs, dtype, sample_shape, seed):
    probs = convert_to_tensor(probs, name="probs")
    batch = array_ops.shape(probs)

    def draw(count):
        shape = array_ops.concat([[count], batch], 0)
        uniform = random_ops.random_uniform(shape, seed=seed, dtype=probs.dtype)
        return math_ops.cast(math_ops.less(uniform, probs), dtype)

    return _drawn(draw, sample_shape, probs.shape)


def _drawn_class(logits, seed):
    """A class for each row of logits, int32."""
    logits = convert_to_tensor(logits, name="logits")
    classes = array_ops.shape(logits)[-1]
    batch = array_ops.shape(logits)[:-1]

    def draw(count):
        rows = logits if logits.shape.ndims == 2 else array_ops.reshape(logits, [-1, classes])
        dtype = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        drawn = random_ops.multinomial(rows, count, seed=seed, output_dtype=dtype)
        drawn = array_ops.transpose(drawn)
        drawn = array_ops.reshape(drawn, array_ops.concat([[count], batch], 0))
        return math_ops.cast(drawn, dtypes.int32)

    return _drawn(draw, (), logits.shape[:-1])


# ---- Helpers


class CustomHelper(Helper):
    """A helper of functions: initialize_fn(), sample_fn(time, outputs, state) and
    next_inputs_fn(time, outputs, state, sample_ids).

    sample_ids_shape, sample_ids_dtype: int32 scalars by default. ValueError where the size of the
    batch is asked for before initialize().
    """

    def __init__(
        self,
        initialize_fn,
        sample_fn,
        next_inputs_fn,
        sample_ids_shape=None,
        sample_ids_dtype=None,
    ):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = None
        self._ids_shape = TensorShape(sample_ids_shape or [])
        self._ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._ids_shape

    @property
    def sample_ids_dtype(self):
        return self._ids_dtype

    def _scope(self, name, what, *values):
        return name_scope(name, type(self).__name__ + what, nest.flatten(values))

    def initialize(self, name=None):
        with self._scope(name, "Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array_ops.size(finished)
        return finished, inputs

    def sample(self, time, outputs, state, name=None):
        with self._scope(name, "Sample", time, outputs, state):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with self._scope(name, "NextInputs", time, outputs, state):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


def _array_of(x):
    return TensorArray(
        dtype=x.dtype, size=array_ops.shape(x)[0], element_shape=x.shape[1:]
    ).unstack(x)


class TrainingHelper(_OfIds):
    """Feeds the inputs of the right answer, whatever the outputs were; the ids are the likeliest.

    inputs: (batch, time, ...), or (time, batch, ...) with time_major. sequence_length: (batch,).
    """

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with name_scope(name, "TrainingHelper", nest.flatten([inputs, sequence_length])):
            inputs = self._inputs = convert_to_tensor(inputs, name="inputs")
            if not time_major:
                inputs = transpose_batch_time(inputs)
            self._array = _array_of(inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zeros = array_ops.zeros_like(inputs[0, :])
            self._batch_size = array_ops.size(sequence_length)

    @property
    def inputs(self):
        """The inputs, as they were given."""
        return self._inputs

    @property
    def sequence_length(self):
        """The lengths, int32 (batch,)."""
        return self._sequence_length

    def initialize(self, name=None):
        with name_scope(name, "TrainingHelperInitialize"):
            finished = math_ops.equal(0, self._sequence_length)
            done = math_ops.reduce_all(finished)
            return finished, cond(done, lambda: self._zeros, lambda: self._array.read(0))

    def sample(self, time, outputs, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperSample", nest.flatten([time, outputs])):
            return math_ops.cast(math_ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, name=None, **unused_kwargs):
        values = nest.flatten([time, outputs, state])
        with name_scope(name, "TrainingHelperNextInputs", values):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            done = math_ops.reduce_all(finished)
            inputs = cond(done, lambda: self._zeros, lambda: self._array.read(next_time))
            return finished, inputs, state


def _checked_probability(value):
    probability = convert_to_tensor(value, name="sampling_probability")
    if probability.shape.ndims not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{probability.shape}"
        )
    return probability


def _places(chosen):
    return math_ops.cast(array_ops.where(chosen), dtypes.int32)


def _put_together(places, parts, shape):
    """Rows at two sets of places, in one tensor."""
    first, second = [
        array_ops.scatter_nd(indices=at, updates=part, shape=shape)
        for at, part in zip(places, parts)
    ]
    return first + second


def _embedding_function(embedding):
    if callable(embedding):
        return embedding
    return lambda ids: embedding_ops.embedding_lookup(embedding, ids)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """TrainingHelper that sometimes feeds the embedding of a class drawn from the outputs.

    embedding: a tensor, or a function of ids. sampling_probability: how often, a scalar or
    (batch,). seed: of the classes; scheduling_seed: of when. Ids where nothing was drawn are -1.
    """

    def __init__(
        self,
        inputs,
        sequence_length,
        embedding,
        sampling_probability,
        time_major=False,
        seed=None,
        scheduling_seed=None,
        name=None,
    ):
        values = [] if callable(embedding) else nest.flatten(embedding)
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [*values, sampling_probability]):
            self._embedding_fn = _embedding_function(embedding)
            self._probability = _checked_probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        values = nest.flatten([time, outputs, state])
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", values):
            drawn = _drawn_yes_or_no(
                self._probability, dtypes.bool, self.batch_size, self._scheduling_seed
            )
            return array_ops.where(
                drawn,
                _drawn_class(outputs, self._seed),
                op1("Fill", None, [self.batch_size], -1),
            )

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        values = nest.flatten([time, outputs, state, sample_ids])
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", values):
            finished, given, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )

            def mixed():
                drawn = _places(sample_ids > -1)
                others = _places(sample_ids <= -1)
                ids = array_ops.gather_nd(sample_ids, drawn)
                rest = array_ops.gather_nd(given, others)
                embedded = self._embedding_fn(ids)
                shape = array_ops.shape(given)
                return _put_together((drawn, others), (embedded, rest), shape)

            done = math_ops.reduce_all(finished)
            return finished, cond(done, lambda: given, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """TrainingHelper that sometimes feeds the outputs.

    sampling_probability: how often, a scalar or (batch,). next_inputs_fn: what makes inputs of
    outputs. auxiliary_inputs: joined to all inputs, like `inputs` in shape.
    """

    def __init__(
        self,
        inputs,
        sequence_length,
        sampling_probability,
        time_major=False,
        seed=None,
        next_inputs_fn=None,
        auxiliary_inputs=None,
        name=None,
    ):
        values = [inputs, sampling_probability]
        if auxiliary_inputs is not None:
            values.insert(1, auxiliary_inputs)
        with name_scope(name, "ScheduledOutputTrainingHelper", values):
            self._probability = _checked_probability(sampling_probability)
            self._auxiliary = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = array_ops.concat((inputs, auxiliary_inputs), -1)
                if not time_major:
                    auxiliary_inputs = transpose_batch_time(auxiliary_inputs)
                self._auxiliary = _array_of(auxiliary_inputs)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        values = nest.flatten([time, outputs, state])
        with name_scope(name, "ScheduledOutputTrainingHelperSample", values):
            return _drawn_yes_or_no(self._probability, dtypes.int32, self.batch_size, self._seed)

    def _with_auxiliary(self, outputs, time, places=None):
        if self._auxiliary is None:
            return outputs
        auxiliary = self._auxiliary.read(time + 1)
        if places is not None:
            auxiliary = array_ops.gather_nd(auxiliary, places)
        return array_ops.concat((outputs, auxiliary), -1)

    def _mixed(self, time, outputs, drawn, given):
        if self._next_inputs_fn is None:
            return array_ops.where(drawn, self._with_auxiliary(outputs, time), given)
        places = _places(drawn), _places(math_ops.logical_not(drawn))
        fed = array_ops.gather_nd(outputs, places[0])
        rest = array_ops.gather_nd(given, places[1])
        fed = self._with_auxiliary(self._next_inputs_fn(fed), time, places[0])
        return _put_together(places, (fed, rest), array_ops.shape(given))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        values = nest.flatten([time, outputs, state, sample_ids])
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", values):
            finished, given, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )
            drawn = math_ops.cast(sample_ids, dtypes.bool)
            done = math_ops.reduce_all(finished)
            none = math_ops.logical_not(math_ops.reduce_any(drawn))
            inputs = cond(
                math_ops.logical_or(done, none),
                lambda: given,
                lambda: self._mixed(time, outputs, drawn, given),
            )
            return finished, inputs, state


class GreedyEmbeddingHelper(_OfIds):
    """Feeds the embedding of the likeliest class, until that is end_token.

    embedding: a tensor, or a function of ids. start_tokens: int32 (batch,), what is fed first.
    ValueError unless start_tokens is a vector and end_token a scalar.
    """

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens = convert_to_tensor(
            start_tokens, dtype=dtypes.int32, name="start_tokens"
        )
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = array_ops.size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name=None):
        return array_ops.tile([False], [self._batch_size]), self._start_inputs

    @staticmethod
    def _check(outputs):
        if not isinstance(outputs, Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")

    def sample(self, time, outputs, state, name=None):
        self._check(outputs)
        return math_ops.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = math_ops.equal(sample_ids, self._end_token)
        done = math_ops.reduce_all(finished)
        inputs = cond(done, lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """GreedyEmbeddingHelper that draws the class by its logits, divided by softmax_temperature."""

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._temperature = softmax_temperature
        self._seed = seed

    def sample(self, time, outputs, state, name=None):
        self._check(outputs)
        if self._temperature is not None:
            outputs = outputs / self._temperature
        return _drawn_class(outputs, self._seed)


class InferenceHelper(Helper):
    """Feeds what sample_fn(outputs) makes, until end_fn(samples) says so.

    sample_shape, sample_dtype: of the samples, without the batch. next_inputs_fn: what makes inputs
    of samples.
    """

    def __init__(
        self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None
    ):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._ids_shape = TensorShape(sample_shape)
        self._ids_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = array_ops.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._ids_shape

    @property
    def sample_ids_dtype(self):
        return self._ids_dtype

    def initialize(self, name=None):
        return array_ops.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
