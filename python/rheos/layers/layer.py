"""What every layer is: variables made in build(), operations in call(), what is inside it.

A layer is found by being an attribute of another one, in a list or a dict too; so are variables.
"""

import re
import weakref

import numpy as np

from rheos.framework import dtypes, nest, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import EagerTensor
from rheos.framework.graph import init_scope, name_scope
from rheos.framework.operation import Tensor
from rheos.layers import nodes, values
from rheos.layers.input_spec import InputSpec
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.state.module import Module
from rheos.ops.state.partitioned_variables import PartitionedVariable, parts_of
from rheos.ops.state.variables import Variable, VariableAggregation, VariableSynchronization

_KEYWORDS = (
    "input_dim",
    "input_shape",
    "batch_input_shape",
    "batch_size",
    "weights",
    "activity_regularizer",
    "autocast",
    "sparse",
)


def snake_case(name):
    """ThisName as this_name, as layers are named after their class."""
    follows = "a-z0-9" if values.runs_in_session() else "a-z"  # Keras 3 has conv_lstm2d
    parted = re.sub(f"(.)([A-Z][{follows}]+)", r"\1_\2", name)
    parted = re.sub("([a-z])([A-Z])", r"\1_\2", parted).lower()
    return "private" + parted if parted.startswith("_") else parted


def depends_on(made, sources):
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


def each_once(items):
    """A list without what was there before, by identity."""
    seen, result = set(), []
    for item in items:
        if id(item) not in seen:
            seen.add(id(item))
            result.append(item)
    return result


def _shape_of(x):
    return x.shape if hasattr(x, "shape") else tensor_shape.TensorShape([])


class _Parameters:
    """The names of the parameters of a call(), and which positional arguments are some of them."""

    __slots__ = ("names", "training", "mask")

    def __init__(self, names):
        self.names = names
        self.training = names.index("training") - 1 if "training" in names else None
        self.mask = names.index("mask") - 1 if "mask" in names else None


_call_parameters = {}  # by weak references to functions


def _parameters(function):
    key = weakref.ref(getattr(function, "__func__", function))
    found = _call_parameters.get(key)
    if found is None:
        key = weakref.ref(key(), lambda gone: _call_parameters.pop(gone, None))
        found = _call_parameters[key] = _Parameters(_parameters_of(function))
    return found


def _parameters_of(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None:
        import inspect

        parameters = list(inspect.signature(function).parameters.values())
        return [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    is_method = names[:1] == ["self"] or getattr(function, "__self__", None) is not None
    return names[1:] if is_method else names


class Layer(Module):
    """A layer: build() makes the variables, call() the operations.

    name: by default from the class, made unique. dtype: of the variables; by default that of the
    first input. trainable: whether training changes the variables.
    """

    _UNTRACKED = frozenset(
        ("_inbound_nodes", "_outbound_nodes", "_trainable_weights", "_non_trainable_weights",
         "_losses", "_updates", "_called_with", "_metrics", "_kept_losses", "_list",
         "_self_pending", "_built_for", "_given")
    )  # fmt: skip

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        if cls._KEEPS_ARGUMENTS and not values.runs_in_session():
            made.__dict__["_given"] = (args, kwargs)  # for get_config()
        return made

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        owner = next(c for c in cls.__mro__ if "get_config" in vars(c))
        cls._KEEPS_ARGUMENTS = vars(owner).get("_KEEPS_ARGUMENTS", False)

    _KEEPS_ARGUMENTS = True  # whether the class has no get_config() of its own

    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        for key in kwargs:
            if key not in _KEYWORDS:
                raise TypeError(f"Keyword argument not understood: {key}")
        if not isinstance(trainable, (bool, int, np.bool_)) and not values.runs_in_session():
            raise ValueError(f"`trainable` is a boolean, not {trainable!r}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a layer is a string, not {name!r}")
        self._trainable = trainable
        self._dynamic = dynamic
        self.built = False
        self.stateful = False
        self.input_spec = None
        self.supports_masking = False
        regularizer = kwargs.pop("activity_regularizer", None)
        if isinstance(regularizer, (str, dict)):
            regularizer = _made(regularizer, "regularizer")
        self.activity_regularizer = regularizer
        self._compute_dtype = None  # where it is another than that of the variables
        policy = dtype
        if not values.runs_in_session():
            policy = self._settle_policy(dtype)
        self._dtype = None if policy is None else dtypes.as_dtype(_dtype_name(policy)).name
        self._name = self._pick_name(name)
        self._trainable_weights = []
        self._non_trainable_weights = []
        self._losses = []
        self._loss_functions = []
        self._updates = []
        self._metrics = []
        self._kept_losses = []  # the layers inside that added losses in the call before
        self._unconditional = set()  # ids of the losses and updates that depend on no input
        self._called_with = ()  # the inputs, during a call
        self._inbound_nodes = []
        self._outbound_nodes = []
        self._initial_weights = kwargs.get("weights")
        self._note_input_shape(kwargs)

    def _settle_policy(self, dtype):
        """A dtype, or a policy with one for variables: by default the one that was set."""
        settings = values.root_graph().__dict__
        policy = settings.get("_dtype_policy") if dtype is None else dtype
        if policy is None:
            policy = settings.get("_floatx", "float32")
        if isinstance(policy, str) and policy.startswith("mixed_"):
            policy = values.Policy(policy)
        compute = getattr(policy, "compute_dtype", None)
        if compute is not None and compute != policy.variable_dtype:
            self._compute_dtype = compute
        return policy

    def _note_input_shape(self, kwargs):
        if "input_dim" in kwargs and "input_shape" not in kwargs:
            kwargs["input_shape"] = (kwargs["input_dim"],)
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            shape = kwargs["input_shape"]
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            self._batch_input_shape = (kwargs.get("batch_size"), *shape)

    def _pick_name(self, name):
        return name or values.unique_name(snake_case(type(self).__name__))

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

    def compute_mask(self, inputs, mask=None):
        """The mask of the outputs for one of the inputs; TypeError where masks are not known."""
        if not self.supports_masking:
            if any(m is not None for m in nest.flatten(mask)):
                raise TypeError(
                    f"Layer {self.name} does not support masking, but was passed an input_mask: "
                    f"{mask}"
                )
            return None
        return mask

    def get_config(self):
        """What makes a layer like this by from_config(), its variables' values aside."""
        import inspect

        if "_given" in vars(self) and type(self).__init__ is not Layer.__init__:
            return self._config_of_arguments()
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        config = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        others = [n for n in names if n not in config and n not in ("kwargs", "args", "dynamic")]
        if others and type(self).get_config is Layer.get_config:
            raise NotImplementedError(
                "Layers with arguments in `__init__` must override `get_config`."
            )
        return config

    def _config_of_arguments(self):
        """The configuration of a class that has no get_config(): what __init__() was given.

        NotImplementedError if that is nothing that a file can hold.
        """
        import inspect

        args, kwargs = self._given
        parameters = inspect.signature(type(self).__init__)
        bound = parameters.bind(self, *args, **kwargs)
        bound.apply_defaults()
        kinds = {name: p.kind for name, p in parameters.parameters.items()}
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        if inspect.Parameter.VAR_KEYWORD not in kinds.values():
            config = {key: value for key, value in config.items() if key in kinds}
        for name, value in list(bound.arguments.items())[1:]:
            if kinds[name] == inspect.Parameter.VAR_KEYWORD or name in config:
                continue
            is_named = kinds[name] not in (
                inspect.Parameter.VAR_POSITIONAL,
                inspect.Parameter.POSITIONAL_ONLY,
            )
            if not is_named and value or not _is_plain(value):
                raise NotImplementedError(
                    f"{type(self).__name__} has no get_config() and its argument `{name}` is "
                    "nothing that a configuration can hold by itself: it must override "
                    "get_config()"
                )
            if is_named:
                config[name] = value
        return config

    @classmethod
    def from_config(cls, config):
        """A layer like the one whose get_config() this was."""
        return cls(**config)

    # -- What they are

    @property
    def name(self):
        """The name given, or one of its own."""
        return self._name

    @property
    def dtype(self):
        """The name of the dtype of the variables, None before it is known."""
        return self._dtype

    variable_dtype = dtype

    @property
    def compute_dtype(self):
        """The name of the dtype that it computes in."""
        return self._compute_dtype or self._dtype

    @property
    def dtype_policy(self):
        """The dtypes of variables and of what is computed."""
        if self._compute_dtype is None:
            return values.Policy(self._dtype or "float32")
        return values.Policy(f"mixed_{self._compute_dtype}")

    @property
    def dynamic(self):
        """Whether it is made of code that only runs eagerly."""
        return self._dynamic

    @property
    def trainable(self):
        """Whether training changes the variables of the layer and of those inside it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)
        for layer in self._sublayers():
            layer.trainable = value

    def _attributes(self, kind):
        """The objects of a kind among the attributes, those in lists and dicts too, in order."""
        found = []
        for name, value in vars(self).items():
            if name not in self._UNTRACKED:
                _gather(value, kind, found)
        return each_once(found)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """{name: object} of the layers and variables inside, as checkpoints name them."""
        found = {}
        for name, value in vars(self).items():
            kept = []
            if name not in self._UNTRACKED:
                _gather(value, _is_saved, kept)
            if kept:
                found[name] = value
        return found

    def _sublayers(self):
        """The layers inside, those inside them aside."""
        return self._attributes(_is_layer)

    def _own_variables(self):
        """(trainable, not trainable) of the layer's own."""
        known = {id(v) for v in self._trainable_weights + self._non_trainable_weights}
        found = [v for v in self._attributes(values.is_variable) if id(v) not in known]
        trainable = [v for v in found if v.trainable]
        others = [v for v in found if not v.trainable]
        return self._trainable_weights + trainable, self._non_trainable_weights + others

    @property
    def trainable_weights(self):
        """The variables that training changes."""
        if not self.trainable:
            return []
        own, _ = self._own_variables()
        return each_once(own + [v for x in self._sublayers() for v in x.trainable_weights])

    @property
    def non_trainable_weights(self):
        """The other variables."""
        own, others = self._own_variables()
        if self.trainable:
            inside = [v for x in self._sublayers() for v in x.non_trainable_weights]
            return each_once(others + inside)
        return each_once(own + others + [v for x in self._sublayers() for v in x.weights])

    @property
    def weights(self):
        """All variables, the trainable ones first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self):
        """The variables that training changes."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        """The other variables."""
        return self.non_trainable_weights

    @property
    def variables(self):
        """All variables, the trainable ones first."""
        return self.weights

    def get_weights(self):
        """The values of `weights`, as arrays."""
        return values.get_values(self.weights)

    def set_weights(self, weights):
        """Sets `weights` to arrays; ValueError if their number or shapes do not fit."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights):
            if variable.shape.as_list() != list(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        values.set_values(zip(variables, weights))

    def count_params(self):
        """The number of elements of all variables; ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. "
                f"You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(int(v.shape.num_elements()) for v in self.weights)

    @property
    def submodules(self):
        """All layers inside, at any depth."""
        found, todo = [], self._sublayers()[::-1]
        while todo:
            layer = todo.pop()
            found.append(layer)
            todo.extend(layer._sublayers()[::-1])
        return tuple(each_once(found))

    def _with_submodules(self):
        return each_once([self, *self.submodules])

    # -- Losses, updates and metrics

    @property
    def losses(self):
        """The losses of the layer and of those inside: of regularizers, and added by add_loss()."""
        found = []
        for layer in self._with_submodules():
            found += layer._losses
            found += [loss for loss in (f() for f in layer._loss_functions) if loss is not None]
        return found

    @property
    def updates(self):
        """The operations that keep averages, which training has to run."""
        found = []
        for layer in self._with_submodules():
            if layer.trainable or layer.stateful:
                found += layer._updates
        return found

    @property
    def metrics(self):
        """The metrics added by add_metric(), and those that are attributes."""
        return [m for layer in self._with_submodules() for m in layer._metrics]

    def get_losses_for(self, inputs):
        """The losses that depend on these tensors; None: those that depend on no input."""
        return self._kept_for(self.losses, inputs)

    def get_updates_for(self, inputs):
        """The updates that depend on these tensors; None: those that depend on no input."""
        return self._kept_for(self.updates, inputs)

    def _kept_for(self, kept, inputs):
        free = set().union(*(x._unconditional for x in self._with_submodules()))
        if inputs is None:
            return [x for x in kept if id(x) in free]
        return [x for x in kept if id(x) not in free and depends_on(x, inputs)]

    def add_loss(self, losses, inputs=None):
        """Adds losses: tensors, or functions without arguments that make them."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if callable(loss):
                self._loss_functions.append(self._unconditionally(loss))
                continue
            if not values.runs_in_session():
                call = values.first_call()
                (call.layer if call else self)._kept_losses.append(self)
            if not values.is_tensor(loss):
                loss = convert_to_tensor(loss, self._dtype or "float32")
            self._losses.append(loss)
            if not values.runs_in_session():
                continue
            if not (self._called_with and depends_on(loss, self._called_with)) and inputs is None:
                self._unconditional.add(id(loss))

    def _forget_losses(self):
        """Forgets the losses of the call before, where operations run as they are made."""
        for layer in self._kept_losses:
            layer._losses.clear()
        self._kept_losses.clear()

    def _unconditionally(self, function):
        def loss():
            made = function()
            if made is not None:
                self._unconditional.add(id(made))
                self._kept_alive = [*getattr(self, "_kept_alive", ())[-64:], made]
            return made

        return loss

    def add_update(self, updates, inputs=None):
        """Adds operations that training runs; functions are called."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            if not values.runs_in_session() and not callable(update):
                continue
            if callable(update):
                update = update()
            if not values.runs_in_session():
                continue
            operation = getattr(update, "op", update)
            self._updates.append(operation)
            if not depends_on(operation, self._called_with):
                self._unconditional.add(id(operation))

    def add_metric(self, value, aggregation=None, name=None):
        """Adds a metric of the mean of a tensor, which training reports under `name`."""
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        if aggregation is None and getattr(value, "_metric_obj", None) is None:
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` is not "
                "supported; pass `aggregation='mean'` with a tensor"
            )
        metric = getattr(value, "_metric_obj", None) or _mean_metric(name)
        if metric not in self._metrics:
            self._metrics.append(metric)
        if getattr(value, "_metric_obj", None) is None:
            metric(value)

    # -- Making variables

    def add_weight(
        self,
        name=None,
        shape=None,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=None,
        constraint=None,
        partitioner=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        **kwargs,
    ):
        """A variable of the layer; without an initializer by Glorot's. Returns it.

        ValueError for one that is trained but only put together when it is read (ON_READ).
        """
        if not isinstance(name, (str, type(None))):  # Keras 3 has the shape first
            name, shape = (shape if isinstance(shape, str) else None), name
        dtype = dtypes.as_dtype(dtype or self._dtype or "float32")
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        on_read = synchronization == VariableSynchronization.ON_READ
        if on_read and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        if trainable is None:
            trainable = not on_read
        initializer = _make_initializer(initializer, dtype, name)
        dims = [int(d) for d in tensor_shape.as_shape(() if shape is None else shape).as_list()]
        variable = Variable(
            initial_value=lambda: initializer(dims, dtype=dtype),
            name=name,
            trainable=trainable,
            dtype=dtype,
            constraint=constraint,
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        kept += parts_of(variable)
        if regularizer is not None:
            self._regularize(name, variable, _made(regularizer, "regularizer"))
        return variable

    add_variable = add_weight

    def _regularize(self, name, variable, regularizer):
        def loss():
            with name_scope(f"{name}/Regularizer"):
                return regularizer(variable)

        self.add_loss(loss)

    # -- Calling

    def _call_scope(self):
        """The context in which build() and call() run."""
        return name_scope(self._name)

    def __call__(self, *args, **kwargs):
        """The output for the inputs, the first argument; the first call makes the variables."""
        if not args:
            first = _parameters(self.call).names[:1]
            if not first or first[0] not in kwargs:
                raise TypeError(f"layer {self.name} is called without inputs")
            args = (kwargs.pop(first[0]),)
        outer = values.current_call()
        if _are_values(args) and _are_values(kwargs.values()):
            return self._run(args[0], args[1:], kwargs, outer, False)
        inputs, args = self._as_inputs(args[0]), args[1:]
        is_connected = outer is None and _connect((inputs, args, kwargs))
        if is_connected:
            graph = nodes.graph_of((inputs, args, kwargs))
            if graph is not get_default_graph():
                with graph.as_default():
                    return self._run(inputs, args, kwargs, outer, True)
        return self._run(inputs, args, kwargs, outer, is_connected)

    def _run(self, inputs, args, kwargs, outer, is_connected):
        """Builds the layer, calls it, and notes what it made of what."""
        if outer is None and self._kept_losses and not values.runs_in_session():
            self._forget_losses()
        given, inputs_given = dict(kwargs) if is_connected else None, inputs
        parameters = _parameters(self.call)
        training = self._settle_training(parameters, args, kwargs, outer)
        masks = self._settle_mask(parameters, inputs, args, kwargs)
        with values.Call(self, training), self._call_scope():
            self._check(inputs)
            if not self.built:
                self._maybe_build(inputs)
                self._check(inputs)
            if self._compute_dtype is None and self._dtype is not None:
                inputs = self._in_own_dtype(inputs)
            state = self.__dict__  # what is set here is nobody's to track
            state["_called_with"] = inputs
            try:
                if self._compute_dtype is None:
                    outputs = self.call(inputs, *args, **kwargs)
                else:
                    outputs = self._call_mixed(inputs, args, kwargs)
            finally:
                state["_called_with"] = ()
            if self.activity_regularizer is not None:
                self._regularize_activity(outputs)
            self._set_masks(inputs, outputs, masks)
        if is_connected:
            outputs = nest.map_leaves(_own_output, outputs)
            nodes.Node(self, (inputs_given, *args), given, outputs)
            if not values.runs_in_session():
                self._forget_losses()  # they are made anew each time it runs
        return outputs

    _WHOLE_PRECISION = False  # whether it computes in its variables' dtype, whatever the policy

    def _call_mixed(self, inputs, args, kwargs):
        """call() in the dtype to compute in, with variables in that dtype for its time."""
        if self._WHOLE_PRECISION:
            outputs = self.call(_in_dtype(inputs, self._dtype), *args, **kwargs)
            return _in_dtype(outputs, self._compute_dtype)
        held = {}
        for name, value in list(vars(self).items()):
            if values.is_variable(value) and value.dtype.is_floating:
                held[name] = value
                self.__dict__[name] = math_ops.cast(value, self._compute_dtype)
        try:
            return self.call(_in_dtype(inputs, self._compute_dtype), *args, **kwargs)
        finally:
            self.__dict__.update(held)

    def _in_own_dtype(self, inputs):
        """Inputs of version 2 with floating point numbers in the dtype of the layer's own."""
        for x in (inputs,) if isinstance(inputs, Tensor) else nest.flatten(inputs):
            dtype = getattr(x, "dtype", None)
            if dtype is None or dtype.name == self._dtype:
                continue
            if dtype.is_floating and dtype.base_dtype.name != self._dtype:
                break
        else:
            return inputs
        is_own = dtypes.as_dtype(self._dtype).is_floating and not values.runs_in_session()
        return _in_dtype(inputs, self._dtype) if is_own else inputs

    def _as_inputs(self, inputs):
        def converted(x):
            if isinstance(x, (np.ndarray, float, int, np.generic)):
                return convert_to_tensor(x)
            return x

        if isinstance(inputs, (Tensor, dict)):
            return inputs
        if isinstance(inputs, (list, tuple)):
            return nest.map_leaves(converted, inputs)
        return converted(inputs)

    def _takes(self, name):
        return name in _parameters(self.call).names

    @staticmethod
    def _settle_training(parameters, args, kwargs, outer):
        """Whether this is training: as the call says, or that of the layer outside."""
        place = parameters.training
        if place is None:
            training = kwargs.pop("training", None)
        elif 0 <= place < len(args):
            return args[place] if args[place] is not None or outer is None else outer.training
        else:
            training = kwargs.get("training")
        if training is None and outer is not None:
            training = outer.training
        if place is not None and training is not None:
            kwargs["training"] = training
        return training

    @staticmethod
    def _settle_mask(parameters, inputs, args, kwargs):
        """The masks of the inputs, which call() gets where it takes a mask."""
        masks = kwargs.get("mask")
        if masks is None and isinstance(inputs, Tensor):
            masks = getattr(inputs, "_keras_mask", None)
        elif masks is None:
            leaves = nest.flatten(inputs)
            found = [getattr(x, "_keras_mask", None) for x in leaves]
            if any(m is not None for m in found):
                masks = nest.pack_sequence_as(inputs, found)
        if parameters.mask is None:
            kwargs.pop("mask", None)
        elif masks is not None and kwargs.get("mask") is None and parameters.mask >= len(args):
            kwargs["mask"] = masks
        return masks

    def _set_masks(self, inputs, outputs, masks):
        if type(self).compute_mask is Layer.compute_mask:
            if masks is None or not self.supports_masking:
                return
        leaves = nest.flatten(outputs)
        if all(getattr(x, "_keras_mask", None) is not None for x in leaves):
            return
        made = self.compute_mask(inputs, masks)
        for x, mask in zip(leaves, nest.flatten(made)):
            if mask is not None and isinstance(x, Tensor):
                x._keras_mask = mask

    def _maybe_build(self, inputs):
        if self.built:
            return
        if self._dtype is None:
            found = [x.dtype for x in nest.flatten(inputs) if hasattr(x, "dtype")]
            if found:
                self._dtype = dtypes.as_dtype(found[0]).base_dtype.name
                is_float = dtypes.as_dtype(found[0]).is_floating
                if is_float and not values.runs_in_session():
                    self._dtype = values.root_graph().__dict__.get("_floatx", "float32")
        with init_scope():
            self._built_for = nest.map_leaves(_shape_of, inputs)
            self.build(self._built_for)
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _check(self, inputs):
        spec = self.input_spec
        if spec is None:
            return
        if type(spec) is InputSpec and isinstance(inputs, Tensor):
            spec.check(inputs, self.name)
            return
        specs = nest.flatten(self.input_spec)
        leaves = nest.flatten(inputs)
        if len(specs) != len(leaves):
            raise ValueError(
                f"Layer {self.name} expects {len(specs)} inputs, but it received {len(leaves)} "
                f"input tensors. Inputs received: {inputs}"
            )
        for spec, x in zip(specs, leaves):
            if spec is not None and values.is_tensor(x):
                spec.check(x, self.name)

    def _regularize_activity(self, outputs):
        for output in nest.flatten(outputs):
            with name_scope("ActivityRegularizer"):
                loss = self.activity_regularizer(output)
                # The mean over the batch, as the losses of variables are sums over theirs.
                rows = math_ops.cast(array_ops.shape(output)[0], loss.dtype)
                self.add_loss(loss / rows, inputs=output)

    def apply(self, inputs, *args, **kwargs):
        """The output for `inputs`: calls the layer."""
        return self(inputs, *args, **kwargs)

    # -- Where it was called

    def _node(self, index):
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        if not 0 <= index < len(self._inbound_nodes):
            raise ValueError(
                f"Asked to get a call at node {index}, but the layer has only "
                f"{len(self._inbound_nodes)} inbound nodes."
            )
        return self._inbound_nodes[index]

    def _only_node(self, what):
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        if len(self._inbound_nodes) > 1:
            raise AttributeError(
                f'Layer "{self.name}" has multiple inbound nodes, hence the notion of "layer '
                f'{what}" is ill-defined. Use `get_{what}_at(node_index)` instead.'
            )
        return self._inbound_nodes[0]

    def get_input_at(self, node_index):
        """The inputs of that call."""
        return _one_or_all(self._node(node_index).input_tensors)

    def get_output_at(self, node_index):
        """The outputs of that call."""
        return _one_or_all(self._node(node_index).output_tensors)

    def get_input_shape_at(self, node_index):
        """The shapes of the inputs of that call, as tuples."""
        return _one_or_all([_tuple_of(x.shape) for x in self._node(node_index).input_tensors])

    def get_output_shape_at(self, node_index):
        """The shapes of the outputs of that call, as tuples."""
        return _one_or_all([_tuple_of(x.shape) for x in self._node(node_index).output_tensors])

    def get_input_mask_at(self, node_index):
        """The masks of the inputs of that call."""
        tensors = self._node(node_index).input_tensors
        return _one_or_all([getattr(x, "_keras_mask", None) for x in tensors])

    def get_output_mask_at(self, node_index):
        """The masks of the outputs of that call."""
        tensors = self._node(node_index).output_tensors
        return _one_or_all([getattr(x, "_keras_mask", None) for x in tensors])

    @property
    def input(self):
        """The inputs of the only call; AttributeError if there were none, or several."""
        return _one_or_all(self._only_node("input").input_tensors)

    @property
    def output(self):
        """The outputs of the only call; AttributeError if there were none, or several."""
        return _one_or_all(self._only_node("output").output_tensors)

    def _shapes(self, what, tensors):
        if not self._inbound_nodes:
            raise AttributeError(f"The layer has never been called and thus has no defined {what}.")
        found = {_hashable(tensors(node)) for node in self._inbound_nodes}
        if len(found) != 1:
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, with different {what}s. '
                f'Hence the notion of "{what}" is ill-defined for the layer. Use '
                f"`get_{what.replace(' ', '_')}_at(node_index)` instead."
            )
        return _one_or_all(list(found.pop()))

    @property
    def input_shape(self):
        """The shapes of the inputs, as tuples; AttributeError where calls differ."""
        return self._shapes("input shape", lambda node: node.input_tensors)

    @property
    def output_shape(self):
        """The shapes of the outputs, as tuples; AttributeError where calls differ."""
        return self._shapes("output shape", lambda node: node.output_tensors)

    @property
    def input_mask(self):
        """The masks of the inputs of the only call."""
        tensors = self._only_node("input").input_tensors
        return _one_or_all([getattr(x, "_keras_mask", None) for x in tensors])

    @property
    def output_mask(self):
        """The masks of the outputs of the only call."""
        tensors = self._only_node("output").output_tensors
        return _one_or_all([getattr(x, "_keras_mask", None) for x in tensors])

    @property
    def inbound_nodes(self):
        """The calls of the layer on what other layers made."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self):
        """The calls of other layers on what this one made."""
        return self._outbound_nodes


def _is_plain(value):
    """Whether a value is made of numbers, texts, lists and dicts."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    return value is None or isinstance(value, (str, int, float, bool))


def _dtype_name(dtype):
    """The name of a dtype, or of that which a policy says for variables."""
    return getattr(dtype, "variable_dtype", dtype)


def _in_dtype(structure, dtype):
    """A structure with floating point tensors in a dtype."""

    def leaf(x):
        if not isinstance(x, Tensor) or not x.dtype.is_floating:
            return x
        if x.dtype.base_dtype.name == dtype:
            return x
        found = math_ops.cast(x, dtype)
        if getattr(x, "_keras_mask", None) is not None:
            found._keras_mask = x._keras_mask
        return found

    return nest.map_leaves(leaf, structure)


def _one_or_all(items):
    return items[0] if len(items) == 1 else list(items)


def _hashable(tensors):
    return tuple(_tuple_of(x.shape) for x in tensors)


def _tuple_of(shape):
    return None if shape.ndims is None else tuple(shape.as_list())


def _is_layer(value):
    return isinstance(value, Layer)


def _is_saved(value):
    return values.is_variable(value) or hasattr(type(value), "_trackable_children")


_CONTAINERS = (list, tuple, dict, set)


def _gather(value, kind, found):
    """Adds the objects of a kind in a value, which may have lists and dicts, to a list."""
    if kind(value):
        found.append(value)
    elif isinstance(value, PartitionedVariable):
        found += filter(kind, value)
    elif isinstance(value, _CONTAINERS):
        for item in list(value.values() if isinstance(value, dict) else value):
            _gather(item, kind, found)


def _own_output(x):
    """A tensor of its own for an output that some layer made before."""
    return array_ops.identity(x) if nodes.is_connected(x) else x


_VALUES = frozenset((EagerTensor, type(None), bool))


def _are_values(arguments):
    """Whether there is nothing but tensors with values, settings, and lists of these."""
    for x in arguments:
        if type(x) not in _VALUES and not (type(x) in (list, tuple) and _are_values(x)):
            return False
    return True


def _connect(structure):
    """Whether arguments have tensors that layers made; what was made of such becomes layers."""
    leaves = [x for x in nest.flatten(structure) if isinstance(x, Tensor)]
    leaves = [x for x in leaves if not getattr(x, "_is_eager", False)]
    if not leaves or not any("_has_layers" in x.graph.__dict__ for x in leaves):
        return False
    if not all(nodes.is_connected(x) for x in leaves) and _connect_operations is not None:
        _connect_operations(leaves)
    return any(nodes.is_connected(x) for x in leaves)


# What modules above this one make: see register().
_connect_operations = None
_mean_metric = None
_made = None


def register(connect_operations, mean_metric, made):
    """Takes what is above: how operations become layers, a metric, an object of what names it."""
    global _connect_operations, _mean_metric, _made
    _connect_operations, _mean_metric, _made = connect_operations, mean_metric, made


def _make_initializer(initializer, dtype, name):
    if initializer is None:
        if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
            raise ValueError(f"An initializer for variable {name} of type {dtype} is required")
        initializer = "glorot_uniform" if dtype.is_floating else "zeros"
    made = _made(initializer, "initializer")
    if values.is_tensor(made) or not callable(made):
        return lambda shape, dtype: convert_to_tensor(made, dtype)
    return made
