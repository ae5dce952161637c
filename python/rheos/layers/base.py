"""What all layers share: variable scopes, variables, regularizers, reuse.

A layer opens a variable scope when it is made or first called, named after its class unless it has
a name. Its variables are those of get_variable() in that scope. Calling it again re-uses them.
"""

import re

from rheos.framework import dtypes, nest, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops import array_ops, math_ops, variable_scope
from rheos.ops.graph_keys import GraphKeys
from rheos.ops.partitioned_variables import PartitionedVariable
from rheos.ops.variables import VariableAggregation, VariableSynchronization


class InputSpec:
    """What a layer asks of its input: dtype, shape, number of dimensions, size of some axes."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = dtypes.as_dtype(dtype).name if dtype is not None else None
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {} if axes is None else {int(k): v for k, v in axes.items()}

    def check(self, tensor, layer_name):
        """ValueError unless a tensor is what is asked for."""
        rank = tensor.shape.ndims
        said = f"Input 0 of layer {layer_name} is incompatible with the layer: "
        if rank is None:
            if self.ndim is not None or self.max_ndim is not None or self.min_ndim is not None:
                raise ValueError(said + "its rank is undefined, but the layer requires a defined "
                                 "rank.")  # fmt: skip
            return
        full = f"Full shape received: {tensor.shape.as_list()}"
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(f"{said}expected ndim={self.ndim}, found ndim={rank}. {full}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(f"{said}expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(
                f"{said}: expected min_ndim={self.min_ndim}, found ndim={rank}. {full}"
            )
        if self.dtype is not None and tensor.dtype.base_dtype.name != self.dtype:
            raise ValueError(
                f"{said}expected dtype={self.dtype}, found dtype={tensor.dtype.base_dtype.name}"
            )
        dims = tensor.shape.as_list()
        if self.shape is not None and not tensor.shape.is_compatible_with(self.shape):
            raise ValueError(f"{said}expected shape={self.shape}, found shape={dims}")
        for axis, size in self.axes.items():
            if size is not None and dims[axis] not in (None, size):
                raise ValueError(
                    f"{said}expected axis {axis} of input shape to have value {size} but received "
                    f"input with shape {dims}"
                )


def _depends_on(made, sources):
    """Whether an operation or tensor needs one of some tensors."""
    wanted = {getattr(source, "op", source) for source in nest.flatten(sources)}
    todo, seen = [getattr(made, "op", made)], set()
    while todo:
        op = todo.pop()
        if op in wanted:
            return True
        if op not in seen:
            seen.add(op)
            todo.extend(x.op for x in op.inputs)
    return False


def snake_case(name):
    """ThisName as this_name, as layers are named after their class."""
    parted = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", parted).lower()


def _unique_name(base_name):
    """dense_1, dense_2 and so on, in the default graph."""
    counts = get_default_graph()._layer_counts
    counts[base_name] = counts.get(base_name, 0) + 1
    return f"{base_name}_{counts[base_name]}"


class Layer:
    """A layer: build() makes the variables, call() the operations.

    name: of its variable scope; by default from the class, made unique. dtype: of the variables; by
    default that of the first input. trainable: whether they are in TRAINABLE_VARIABLES.
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        reuse = kwargs.pop("_reuse", None)
        scope = kwargs.pop("_scope", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {next(iter(kwargs))}")
        self.trainable = trainable
        self.built = False
        self.input_spec = None
        self._unconditional = set()  # ids of the losses and updates that depend on no input
        self._called_with = ()  # the inputs, during a call
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._base_name = name or snake_case(type(self).__name__)
        self._name = name or _unique_name(self._base_name)
        self._reuse = reuse
        self._graph = None
        self._scope = None
        self._current_scope = None
        self._reusing = None
        self._trainable_weights = []
        self._non_trainable_weights = []
        self._losses = []
        self._updates = []
        if scope is not None:
            with variable_scope.variable_scope(scope) as captured:
                self._scope = captured

    # -- What subclasses define

    def build(self, input_shape):
        """Makes the variables for inputs of that TensorShape."""
        self.built = True

    def call(self, inputs, *args, **kwargs):
        """Adds the operations; returns the output."""
        return inputs

    def compute_output_shape(self, input_shape):
        """The TensorShape of the output for inputs of that shape."""
        raise NotImplementedError(f"compute_output_shape of {type(self).__name__}")

    # -- What they are

    @property
    def name(self):
        """The name given, or one of its own; the variables have that of the scope."""
        return self._name

    @property
    def dtype(self):
        """The name of the dtype of the variables, None before it is known."""
        return self._dtype

    @property
    def graph(self):
        """The graph that the layer was first called in."""
        return self._graph

    @property
    def scope_name(self):
        """The name of the variable scope; ValueError before there is one."""
        if self._scope is None:
            raise ValueError(
                'No name available for layer scope because the layer "%s" has not been used yet. '
                "The scope name is determined the first time the layer instance is called. You "
                "must therefore call the layer before querying `scope_name`." % self.name
            )
        return self._scope.name

    @property
    def trainable_weights(self):
        """The variables that training changes."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self):
        """The other variables."""
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self):
        """All variables, the trainable ones first."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    @property
    def losses(self):
        """The losses of the regularizers."""
        return list(self._losses)

    @property
    def updates(self):
        """The operations that keep averages, which training has to run."""
        return list(self._updates)

    def get_losses_for(self, inputs):
        """The losses that depend on these tensors; None: those that depend on no input."""
        return self._kept_for(self._losses, inputs)

    def get_updates_for(self, inputs):
        """The updates that depend on these tensors; None: those that depend on no input."""
        return self._kept_for(self._updates, inputs)

    def _kept_for(self, kept, inputs):
        if inputs is None:
            return [x for x in kept if id(x) in self._unconditional]
        return [x for x in kept if id(x) not in self._unconditional and _depends_on(x, inputs)]

    def count_params(self):
        """The number of elements of all variables; ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built."
            )
        return sum(v.shape.num_elements() for v in self.weights)

    # -- Making variables and operations

    def add_weight(
        self,
        name,
        shape,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        partitioner=None,
        **kwargs,
    ):
        """A variable of the layer: get_variable() in its scope. Returns it.

        ValueError for one that is trained but only put together when it is read (ON_READ).
        """
        if dtype is None:
            dtype = self._dtype or "float32"
        on_read = synchronization == VariableSynchronization.ON_READ
        if on_read and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        if trainable is None:
            trainable = not on_read
        self._set_scope(None)
        reuse = self.built or self._reuse
        graph = get_default_graph()
        before = len(graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES))
        with variable_scope.variable_scope(
            self._scope, reuse=reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = variable_scope.get_variable(
                    name,
                    shape=shape,
                    dtype=dtypes.as_dtype(dtype),
                    initializer=initializer,
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                is_new = len(graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)) > before
                if regularizer is not None and is_new:
                    self._regularize(name, variable, regularizer)
        # A getter of the program's may have made it another one than was asked for.
        trainable = trainable and getattr(variable, "trainable", True)
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        if not any(v is variable for v in kept):
            kept.append(variable)
        return variable

    add_variable = add_weight

    def _regularize(self, name, variable, regularizer):
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            with name_scope(name + "/Regularizer"):
                loss = regularizer(part)
            if loss is not None:
                self.add_loss(loss)

    def add_loss(self, losses, inputs=None):
        """Adds losses to the layer and to the collection REGULARIZATION_LOSSES."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            self._losses.append(loss)
            if inputs is None:
                self._unconditional.add(id(loss))
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates, inputs=None):
        """Adds operations to the layer and to the collection UPDATE_OPS."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            operation = getattr(update, "op", update)
            self._updates.append(operation)
            if not _depends_on(operation, self._called_with):
                self._unconditional.add(id(operation))
            get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, operation)

    def _set_scope(self, scope):
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope.variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope.variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def _name_scope(self):
        return self._current_scope.original_name_scope

    def _maybe_build(self, inputs):
        if self.built:
            return
        if self._dtype is None:
            self._dtype = nest.flatten(inputs)[0].dtype.base_dtype.name
        self.build(nest.map_structure(lambda x: x.shape, inputs))
        self.built = True

    def __call__(self, inputs, *args, **kwargs):
        """The output for `inputs`; the first call makes the variables."""
        self._set_scope(kwargs.pop("scope", None))
        if self._graph is None:
            self._graph = get_default_graph()
        if self.built:
            # What is built has its variables: a later call may only find them.
            if self._reusing is None:
                self._reusing = variable_scope.variable_scope(
                    self._scope, reuse=True, auxiliary_name_scope=False
                )
            opened = self._reusing
        else:
            opened = variable_scope.variable_scope(
                self._scope, reuse=self._reuse, auxiliary_name_scope=False
            )
        with opened as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                if not isinstance(inputs, (list, tuple, dict, Tensor)):
                    inputs = convert_to_tensor(inputs)
                self._check(inputs)
                self._maybe_build(inputs)
                self._check(inputs)
                self._called_with = inputs
                try:
                    outputs = self.call(inputs, *args, **kwargs)
                finally:
                    self._called_with = ()
                if self.activity_regularizer is not None:
                    self._regularize_activity(outputs)
        return outputs

    def _check(self, inputs):
        if self.input_spec is not None and isinstance(inputs, (Tensor, _VariableBase)):
            self.input_spec.check(inputs, self.name)

    def _regularize_activity(self, outputs):
        with name_scope("ActivityRegularizer"):
            loss = self.activity_regularizer(outputs)
            # The mean over the batch, as the losses of variables are sums over theirs.
            rows = math_ops.cast(array_ops.shape(outputs)[0], loss.dtype)
            self.add_loss(loss / rows, inputs=outputs)

    def apply(self, inputs, *args, **kwargs):
        """The output for `inputs`: calls the layer."""
        return self(inputs, *args, **kwargs)


def channel_count(input_shape, axis, layer_name="layers"):
    """The size of the channels, which has to be known: ValueError otherwise."""
    size = tensor_shape.as_shape(input_shape)[axis].value
    if size is None:
        raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
    return size
