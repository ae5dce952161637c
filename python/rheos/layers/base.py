"""What all layers of tf.layers share: variable scopes, variables, regularizers, reuse.

A layer opens a variable scope when it is made or first called, named after its class unless it has
a name. Its variables are those of get_variable() in that scope. Calling it again re-uses them.
"""

import contextlib

from rheos.framework import dtypes, nest, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor, _VariableBase
from rheos.layers import layer
from rheos.layers.input_spec import InputSpec  # noqa: F401
from rheos.layers.layer import depends_on, snake_case
from rheos.ops.state import variable_scope
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.partitioned_variables import PartitionedVariable
from rheos.ops.state.variables import VariableAggregation, VariableSynchronization

_NO_SCOPE = contextlib.nullcontext()


def _unique_name(base_name):
    """dense_1, dense_2 and so on, in the default graph."""
    counts = get_default_graph()._layer_counts
    counts[base_name] = counts.get(base_name, 0) + 1
    return f"{base_name}_{counts[base_name]}"


class Layer(layer.Layer):
    """A layer: build() makes the variables, call() the operations.

    name: of its variable scope; by default from the class, made unique. dtype: of the variables; by
    default that of the first input. trainable: whether they are in TRAINABLE_VARIABLES.
    """

    _has_scope = True  # its variables are those of a scope, which models do not train

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        self._reuse = kwargs.pop("_reuse", None)
        scope = kwargs.pop("_scope", None)
        self._base_name = name or snake_case(type(self).__name__)
        super().__init__(trainable, name, dtype, **kwargs)
        self._graph = None
        self._scope = None
        self._current_scope = None
        self._reusing = None
        if scope is not None:
            with variable_scope.variable_scope(scope) as captured:
                self._scope = captured

    def _pick_name(self, name):
        return name or _unique_name(self._base_name)

    def _sublayers(self):
        return []

    # -- What they are

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
    def losses(self):
        """The losses of the regularizers."""
        return list(self._losses)

    @property
    def updates(self):
        """The operations that keep averages, which training has to run."""
        return list(self._updates)

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
            if not depends_on(operation, self._called_with):
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

    def _call_scope(self):
        return _NO_SCOPE

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
                return super().__call__(inputs, *args, **kwargs)

    def _as_inputs(self, inputs):
        if isinstance(inputs, (list, tuple, dict, Tensor)):
            return inputs
        return convert_to_tensor(inputs)

    def _check(self, inputs):
        if self.input_spec is not None and isinstance(inputs, (Tensor, _VariableBase)):
            self.input_spec.check(inputs, self.name)


def channel_count(input_shape, axis, layer_name="layers"):
    """The size of the channels, which has to be known: ValueError otherwise."""
    size = tensor_shape.as_shape(input_shape).size_at(axis)
    if size is None:
        raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
    return size


def apply_once(kind, arguments, *of_call):
    """What a layer gives, made for `inputs` alone, in the variable scope of its name.

    kind: its class. arguments: the locals() of a function that takes what the layer does, and
    inputs, reuse, and of_call: what the layer is called with.
    """
    inputs, reuse = arguments.pop("inputs"), arguments.pop("reuse")
    called_with = {name: arguments.pop(name) for name in of_call}
    layer = kind(**arguments, _reuse=reuse, _scope=arguments["name"])
    return layer.apply(inputs, **called_with)
