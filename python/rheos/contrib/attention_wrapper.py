"""A cell that looks at a memory in each step: AttentionWrapper of tf.contrib.seq2seq."""

import collections

from rheos.contrib.attention import AttentionMechanism, size_of
from rheos.contrib.framework_ops import with_same_shape
from rheos.framework import dtypes, nest
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.core import Dense
from rheos.layers.rnn_cells import RNNCell, assert_like_rnncell, zero_tensors
from rheos.ops.array import array_ops
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import check_ops, math_ops


class AttentionWrapperState(
    collections.namedtuple(
        "AttentionWrapperState",
        (
            "cell_state",
            "attention",
            "time",
            "alignments",
            "alignment_history",
            "attention_state",
        ),
    )
):
    """The state of an AttentionWrapper; the last three are tuples where there are several."""

    def clone(self, **kwargs):
        """The state with some parts changed for others of the same shapes."""

        def checked(old, new):
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                return with_same_shape(old, new)
            return new

        return nest.map_structure(checked, self, self._replace(**kwargs))


def _compute_attention(mechanism, cell_output, attention_state, attention_layer):
    """(attention, alignments, next attention state) for the output of a cell."""
    alignments, next_state = mechanism(cell_output, state=attention_state)
    seen = math_ops.matmul(array_ops.expand_dims(alignments, 1), mechanism.values)
    seen = array_ops.squeeze(seen, [1])
    if attention_layer is not None:
        seen = attention_layer(array_ops.concat([cell_output, seen], 1))
    return seen, alignments, next_state


def _checked_mechanisms(mechanism, is_multi):
    mechanisms = tuple(mechanism) if is_multi else (mechanism,)
    for one in mechanisms:
        if not isinstance(one, AttentionMechanism):
            what = "an AttentionMechanism or list of multiple AttentionMechanism instances"
            if is_multi:
                what = "only instances of AttentionMechanism"
            verb = "contain" if is_multi else "be"
            raise TypeError(
                f"attention_mechanism must {verb} {what}, saw type: {type(one).__name__}"
            )
    return mechanisms


def _tuple_of(value):
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


_TILE = "Are you using the BeamSearchDecoder? "


class AttentionWrapper(RNNCell):
    """A cell with attention: its inputs are joined to what it saw, and it looks at the memory.

    attention_mechanism: one, or a list. attention_layer_size: of a Dense layer over output and what
    is seen, or attention_layer: layers of the program's own; a list where the mechanisms are; else
    the attention is what is seen. alignment_history: keeps the alignments of all steps in an array.
    cell_input_fn: what makes the cell's inputs of (inputs, attention), by default joins them.
    output_attention: the output is the attention instead of the cell's. initial_cell_state: of the
    cell, as zero_state() gives it. attention_fn: in the place of all the above, (mechanism, output,
    state, layer) to (attention, alignments, next state). TypeError and ValueError for others.
    """

    def __init__(
        self,
        cell,
        attention_mechanism,
        attention_layer_size=None,
        alignment_history=False,
        cell_input_fn=None,
        output_attention=True,
        initial_cell_state=None,
        name=None,
        attention_layer=None,
        attention_fn=None,
        dtype=None,
    ):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = _checked_mechanisms(attention_mechanism, self._is_multi)
        if cell_input_fn is None:
            cell_input_fn = self._joined
        elif not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._cell = cell
        self._set_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or _compute_attention
        self._cell_input_fn = cell_input_fn
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state = None
        with name_scope(name, "AttentionWrapperInit"):
            if initial_cell_state is not None:
                batch_size = size_of(nest.flatten(initial_cell_state)[-1], 0)
                checks = self._batch_size_checks(
                    batch_size,
                    f"When constructing AttentionWrapper {self._base_name}: Non-matching batch "
                    "sizes between the memory (encoder output) and initial_cell_state.  "
                    f"{_TILE} You may need to tile your initial state via the "
                    "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.",
                )
                with control_dependencies(checks):
                    self._initial_cell_state = nest.map_leaves(
                        lambda s: array_ops.identity(s, name="check_initial_cell_state"),
                        initial_cell_state,
                    )

    @staticmethod
    def _joined(inputs, attention):
        return array_ops.concat([inputs, attention], -1)

    def _set_layers(self, sizes, layers):
        """The attention layers, and the size of the attention."""
        mechanisms = self._mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        seen = [mechanism.values.shape.size_at(-1) for mechanism in mechanisms]
        self._attention_layers = None
        if sizes is not None:
            sizes = _tuple_of(sizes)
            self._check_count("attention_layer_size", "integer", sizes)
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(sizes, mechanisms)
            )
        elif layers is not None:
            self._attention_layers = _tuple_of(layers)
            self._check_count("attention_layer", "layer", self._attention_layers)
            output = self._cell.output_size
            shapes = [TensorShape([None, output + size]) for size in seen]
            sizes = [
                layer.compute_output_shape(shape).size_at(-1)
                for layer, shape in zip(self._attention_layers, shapes)
            ]
        else:
            sizes = seen
        self._attention_size = sum(sizes)

    def _check_count(self, what, kind, values):
        if len(values) != len(self._mechanisms):
            raise ValueError(
                f"If provided, {what} must contain exactly one {kind} per attention_mechanism, "
                f"saw: {len(values)} vs {len(self._mechanisms)}"
            )

    def _batch_size_checks(self, batch_size, message):
        return [
            check_ops.assert_equal(batch_size, mechanism.batch_size, message=message)
            for mechanism in self._mechanisms
        ]

    def _one_or_all(self, values):
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self):
        return self._attention_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        sizes = [mechanism.alignments_size for mechanism in self._mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_size,
            alignments=self._one_or_all(sizes),
            attention_state=self._one_or_all(m.state_size for m in self._mechanisms),
            alignment_history=self._one_or_all(
                size if self._alignment_history else () for size in sizes
            ),
        )

    def zero_state(self, batch_size, dtype):
        """The state at the start: that of the cell, or initial_cell_state, and zeros.

        The batch_size has to be that of the memory: with a BeamSearchDecoder it is the batch's
        times beam_width, and the memory has to be tiled by tile_batch(). Running fails otherwise.
        """
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            checks = self._batch_size_checks(
                batch_size,
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching "
                "batch sizes between the memory (encoder output) and the requested batch size.  "
                f"{_TILE} If so, make sure your encoder output has been tiled to beam_width via "
                "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state "
                "is batch_size * beam_width.",
            )
            with control_dependencies(checks):
                cell_state = nest.map_leaves(
                    lambda s: array_ops.identity(s, name="checked_cell_state"), cell_state
                )
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=array_ops.zeros([], dtype=dtypes.int32),
                attention=zero_tensors(self._attention_size, batch_size, dtype),
                alignments=self._one_or_all(alignments),
                attention_state=self._one_or_all(
                    m.initial_state(batch_size, dtype) for m in self._mechanisms
                ),
                alignment_history=self._one_or_all(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=one.shape)
                    if self._alignment_history
                    else ()
                    for one in alignments
                ),
            )

    def _checked_output(self, inputs, state):
        """The output and state of the cell, after a check of the size of the batch."""
        fed = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(fed, state.cell_state)
        checks = self._batch_size_checks(
            size_of(output, 0),
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the "
            f"memory (encoder output) and the query (decoder output).  {_TILE} You may need to "
            "tile your memory input via the tf.contrib.seq2seq.tile_batch function with argument "
            "multiple=beam_width.",
        )
        with control_dependencies(checks):
            return array_ops.identity(output, name="checked_cell_output"), cell_state

    def call(self, inputs, state):
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        output, cell_state = self._checked_output(inputs, state)
        before, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            before, histories = [before], [histories]
        layers = self._attention_layers or [None] * len(self._mechanisms)
        rows = []
        for mechanism, old, history, layer in zip(self._mechanisms, before, histories, layers):
            attention, alignments, new = self._attention_fn(mechanism, output, old, layer)
            if self._alignment_history:
                history = history.write(state.time, alignments)
            rows.append((attention, alignments, new, history if self._alignment_history else ()))
        attentions, alignments, states, histories = zip(*rows)
        attention = array_ops.concat(list(attentions), 1)
        after = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._one_or_all(states),
            alignments=self._one_or_all(alignments),
            alignment_history=self._one_or_all(histories),
        )
        return attention if self._output_attention else output, after
