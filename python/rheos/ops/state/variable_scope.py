"""Variable scopes: names for shared variables, and what new ones get by default."""

import functools
import threading

from rheos.framework import dtypes, replicas, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import _Default, get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies, graph_from_inputs, name_scope
from rheos.framework.operation import Tensor
from rheos.framework.thread_state import inherited
from rheos.ops.state import init_ops, partitioned_variables as partitioned
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import Variable, VariableAggregation, VariableSynchronization


class _ReuseMode:
    """AUTO_REUSE: make the variable if there is none yet, else use the one there is."""

    def __repr__(self):
        return "_ReuseMode.AUTO_REUSE"


AUTO_REUSE = _ReuseMode()

# rheos_reuse
_REUSE_NO, _REUSE_YES, _REUSE_AUTO = 1, 2, 3


class VariableScope:
    """A prefix for the names of shared variables, and defaults for new ones."""

    def __init__(
        self,
        reuse,
        name="",
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        name_scope="",
        dtype=dtypes.float32,
        use_resource=None,
        constraint=None,
    ):
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtypes.as_dtype(dtype)
        self._use_resource = use_resource
        self._constraint = constraint

    @property
    def name(self):
        """The names of the scopes, with "/" between them."""
        return self._name

    @property
    def original_name_scope(self):
        """The name scope that was opened with it, with a final "/"."""
        return self._name_scope

    @property
    def reuse(self):
        """Whether get_variable() gives a variable that is there: True, False or `tf.AUTO_REUSE`."""
        return self._reuse

    @property
    def initializer(self):
        """What get_variable() fills variables with by default, or None."""
        return self._initializer

    @property
    def dtype(self):
        """The dtype of variables by default."""
        return self._dtype

    @property
    def use_resource(self):
        """Whether variables are resources; None: as the program has set."""
        return self._use_resource

    @property
    def regularizer(self):
        """What makes a loss of each new variable by default, or None."""
        return self._regularizer

    @property
    def caching_device(self):
        """The device where variables are read, or None."""
        return self._caching_device

    @property
    def partitioner(self):
        """What says how variables are split by default, or None."""
        return self._partitioner

    @property
    def custom_getter(self):
        """The function that get_variable() calls in place of its own, or None."""
        return self._custom_getter

    @property
    def constraint(self):
        """What is applied to a variable after each update by default, or None."""
        return self._constraint

    def reuse_variables(self):
        """From now on, asking for a variable that does not exist is an error."""
        self._reuse = True

    def set_initializer(self, initializer):
        """Sets what get_variable() fills variables with by default."""
        self._initializer = initializer

    def set_dtype(self, dtype):
        """Sets the dtype of variables by default."""
        self._dtype = dtypes.as_dtype(dtype)

    def set_use_resource(self, use_resource):
        """Sets whether variables are resources."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        """Sets what makes a loss of each new variable by default."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Sets the device where variables are read."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        """Sets what says how variables are split by default."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        """Sets the function that get_variable() calls in place of its own."""
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The items of a collection whose names are in this scope."""
        scope = self._name + "/" if self._name else self._name
        return get_default_graph().get_collection(name, scope)

    def trainable_variables(self):
        """The variables of the scope that optimizers change, a list."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        """The variables of the scope that savers keep, a list."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """The variables of the scope that belong to this process, a list."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store,
        name,
        shape=None,
        dtype=None,
        initializer=None,
        regularizer=None,
        reuse=None,
        trainable=None,
        collections=None,
        caching_device=None,
        partitioner=None,
        validate_shape=True,
        use_resource=None,
        custom_getter=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
    ):
        """The shared variable of that name in this scope; makes it or finds it."""
        if regularizer is None:
            regularizer = self._regularizer
        if caching_device is None:
            caching_device = self._caching_device
        if partitioner is None:
            partitioner = self._partitioner
        if custom_getter is None:
            custom_getter = self._custom_getter
        if not (custom_getter is None or callable(custom_getter)):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        if reuse is None:
            reuse = self._reuse
        name = name.decode() if isinstance(name, bytes) else name
        full_name = self._name + "/" + name if self._name else name
        # The names of variables follow variable scopes, not name scopes.
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtypes.as_dtype(dtype).base_dtype:
                    raise ValueError(
                        f"Initializer type '{found}' and explicit dtype '{dtype}' don't match."
                    )
            if initializer is None:
                initializer = self._initializer
            if constraint is None:
                constraint = self._constraint
            if dtype is None:
                dtype = self._dtype
            if use_resource is None:
                use_resource = self._use_resource
            arguments = {
                "name": full_name,
                "shape": shape,
                "dtype": dtype,
                "initializer": initializer,
                "regularizer": regularizer,
                "reuse": reuse,
                "trainable": trainable,
                "collections": collections,
                "caching_device": caching_device,
                "partitioner": partitioner,
                "validate_shape": validate_shape,
                "use_resource": use_resource,
                "synchronization": synchronization,
                "aggregation": aggregation,
            }
            if custom_getter is None:
                return _shared_variable(**arguments, constraint=constraint)
            if _accepts(custom_getter, "constraint"):
                arguments["constraint"] = constraint
            return custom_getter(getter=_shared_variable, **arguments)


def _accepts(function, argument):
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == argument or p.kind is p.VAR_KEYWORD for p in parameters)


def _wrap_getter(inner, outer):
    """A getter that calls `inner`, whose own getter then is `outer`."""
    if outer is None:
        return inner

    def wrapped(getter, *args, **kwargs):
        def next_getter(*args, **kwargs):
            return outer(getter, *args, **kwargs)

        return inner(next_getter, *args, **kwargs)

    return wrapped


# ---- Making and finding


def _default_initializer(name, dtype):
    if dtype.is_floating:
        return init_ops.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype == dtypes.string:
        return init_ops.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _initial_value(name, initializer, shape, dtype, partition_info):
    """(initial value, dtype) for a new variable."""
    if initializer is None:
        initializer = _default_initializer(name, dtype)
    elif not callable(initializer):
        return initializer, None
    if isinstance(initializer, type):
        initializer = initializer()
    if shape.is_fully_defined():
        dims = shape.as_list()
        if partition_info is not None and _accepts(initializer, "partition_info"):
            info = {"partition_info": partition_info}
        else:
            info = {}
        return lambda: initializer(dims, dtype=dtype, **info), dtype.base_dtype
    if not isinstance(initializer, init_ops.Initializer) and _needs_no_arguments(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` "
        "should be fully defined."
    )


def _needs_no_arguments(function):
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )


def _shared_variable(
    name,
    shape=None,
    dtype=dtypes.float32,
    initializer=None,
    regularizer=None,
    reuse=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    constraint=None,
    synchronization=None,
    aggregation=None,
):
    """The variable of that full name, in parts if there is a partitioner."""
    arguments = {
        "regularizer": regularizer,
        "trainable": trainable,
        "collections": collections,
        "caching_device": caching_device,
        "validate_shape": validate_shape,
        "use_resource": use_resource,
        "constraint": constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    is_scalar = isinstance(shape, (list, tuple)) and not shape
    if partitioner is not None and not is_scalar:
        if not callable(partitioner):
            raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
        with name_scope(None):
            return _parts(name, shape, dtype, initializer, reuse, partitioner, arguments)
    graph = get_default_graph()._root
    if reuse is True and name in graph._partitioned_variables:
        return _parts(name, shape, dtype, initializer, reuse, None, arguments)
    if name in graph._partitioned_variables:
        raise ValueError(
            "No partitioner was provided, but a partitioned version of the variable was found: "
            f"{name}/part_0. Perhaps a variable of the same name was already created with "
            "partitioning?"
        )
    return _single_variable(name, shape, dtype, initializer, reuse, None, arguments)


def _parts(name, shape, dtype, initializer, reuse, partitioner, arguments):
    """The PartitionedVariable of that full name."""
    graph = get_default_graph()._root
    if graph._find_variable(name, _REUSE_AUTO, 0, None) is not None:
        raise ValueError(
            "A partitioner was provided, but an unpartitioned version of the variable was found: "
            f"{name}.  Perhaps a variable of the same name was already created without "
            "partitioning?"
        )
    dtype = dtypes.as_dtype(dtype).base_dtype
    shape = tensor_shape.as_shape(shape)
    if isinstance(initializer, Tensor):
        shape = shape.merge_with(initializer.shape)
    counts = None
    if not reuse or partitioner:
        counts = partitioned.call_partitioner(partitioner, shape, dtype)
    if name in graph._partitioned_variables:
        return _known_parts(name, shape, dtype, counts, reuse)
    if reuse is True:
        raise ValueError(
            f"PartitionedVariable {name} does not exist, or was not created with "
            "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
        )
    full_shape, variables = shape.as_list(), []
    for i, (offset, part) in enumerate(partitioned.slices(full_shape, counts)):
        part_shape, value = part, initializer
        if initializer is not None and not callable(initializer):
            with name_scope(f"{name}/part_{i}/PartitionedInitializer"):
                value = partitioned.part_of(initializer, offset, part, dtype)
            part_shape = None
        info = partitioned.PartitionInfo(full_shape, offset)
        variable = _single_variable(
            f"{name}/part_{i}", part_shape, dtype, value, reuse, info, arguments
        )
        variable._set_save_slice_info(partitioned.SaveSliceInfo(name, full_shape, offset, part))
        variables.append(variable)
    whole = partitioned.PartitionedVariable(name, shape, dtype, variables, counts)
    graph._partitioned_variables[name] = whole
    return whole


def _known_parts(name, shape, dtype, counts, reuse):
    if reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set "
            "reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
        )
    known = get_default_graph()._root._partitioned_variables[name]
    for what, wanted, found, fits in (
        ("shape", shape, known.shape, shape.is_compatible_with(known.shape)),
        ("dtype", dtype.name, known.dtype.name, dtype.is_compatible_with(known.dtype)),
        ("partitions", counts, known._get_partitions(), counts in (None, known._get_partitions())),
    ):
        if not fits:
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified {what} {wanted} and "
                f"found {what} {found}."
            )
    return known


def _single_variable(name, shape, dtype, initializer, reuse, partition_info, arguments):
    """The variable of that full name, in one part."""
    if shape is not None and initializer is not None and not callable(initializer):
        raise ValueError("If initializer is a constant, do not specify shape.")
    graph = get_default_graph()._root
    if graph._is_eager and reuse is True:
        raise RuntimeError(
            "When eager execution is enabled variable reuse is only supported when an "
            "EagerVariableStore is active. See the documentation on EagerVariableStore for "
            "example usage."
        )
    dtype = dtypes.as_dtype(dtype).base_dtype
    shape = tensor_shape.as_shape(shape)
    mode = _REUSE_AUTO if reuse is AUTO_REUSE else _REUSE_YES if reuse else _REUSE_NO
    context = replicas.current()
    if context is not None and context._copy_number:  # the first replica has made it
        mode = _REUSE_AUTO
    index = graph._find_variable(name, mode, dtype, shape)
    if index is not None:
        found = graph._variables.get(index)
        found = Variable._adopt(graph, index) if found is None else found
        found = replicas.container_of(found)
        if context is not None:
            context._take_made(found)
        return found
    with control_dependencies(None):
        value, value_dtype = _initial_value(name, initializer, shape, dtype, partition_info)
        given = dict(arguments)
        regularizer = given.pop("regularizer")
        variable = Variable(initial_value=value, name=name, dtype=value_dtype, **given)
    if not graph._is_eager:  # who makes one there keeps it
        graph._share_variable(name, variable.values[0] if variable._is_distributed else variable)
    if regularizer is not None:
        with colocate_with(variable), name_scope(name + "/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


# ---- The current scope


class _Store(threading.local):
    """The current variable scope of a thread in a graph, and how often scopes were opened."""

    def __init__(self):
        self.scope = VariableScope(False)
        self.counts = {}

    def opened(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inner(self, name):
        for key in self.counts:
            if not name or key.startswith(name + "/"):
                self.counts[key] = 0


def _store(graph=None):
    graph = graph or get_default_graph()._root
    if graph._variable_scope is None:
        graph._variable_scope = inherited(_Store())
    return graph._variable_scope


def get_variable_scope():
    """The current variable scope."""
    return _store().scope


def get_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """The shared variable of that name in the current variable scope: makes it, or finds it.

    initializer: a callable of shape and dtype, or a value. The scope's `reuse` says whether the
    variable may or has to exist.

    >>> with tf.variable_scope("layer"):
    ...     kernel = tf.get_variable("kernel", [2, 3])
    >>> print(kernel.name, kernel.shape)
    layer/kernel:0 (2, 3)
    """
    return get_variable_scope().get_variable(
        None,
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def get_local_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=False,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """Like get_variable, for a variable that is local and never trainable."""
    return get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=False,
        collections=[*(collections or []), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def _unique_scope_name(store, prefix):
    base = store.scope.name + "/" + prefix if store.scope.name else prefix
    if not store.counts.get(base):
        return prefix
    number = 1
    while store.counts.get(f"{base}_{number}"):
        number += 1
    return f"{prefix}_{number}"


class variable_scope:
    """A context in which get_variable() works under a prefix, with defaults of its own.

    name_or_scope: a name, or a VariableScope to re-enter. default_name: used, made unique, if
    that is None. reuse: True, False, None (as outside) or AUTO_REUSE.

    >>> with tf.variable_scope("net"):
    ...     w = tf.get_variable("w", [2])
    >>> with tf.variable_scope("net", reuse=True):
    ...     print(tf.get_variable("w", [2]) is w)
    True
    """

    def __init__(
        self,
        name_or_scope,
        default_name=None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource=None,
        constraint=None,
        auxiliary_name_scope=True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if reuse not in (None, False, True, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = values or []
        self._settings = {
            "_initializer": initializer,
            "_regularizer": regularizer,
            "_caching_device": caching_device,
            "_partitioner": partitioner,
            "_use_resource": use_resource,
            "_constraint": constraint,
        }
        self._custom_getter = custom_getter
        self._dtype = dtype
        self._reuse = None if reuse is False else reuse
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._auxiliary_name_scope = auxiliary_name_scope
        self._exits = []

    def __enter__(self):
        exits = []
        graph = graph_from_inputs(self._values)
        try:
            if graph is not get_default_graph():
                default = _Default("graphs", graph)
                default.__enter__()
                exits.append(lambda: default.__exit__())
            scope = self._enter(graph, exits)
        except BaseException:
            for leave in reversed(exits):
                leave()
            raise
        store = _store(graph)
        self._exits.append((store, store.scope, exits))
        return scope

    def __exit__(self, *exc_info):
        store, entered, exits = self._exits[-1]
        if store.scope is not entered:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._exits.pop()
        for leave in reversed(exits):
            leave()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return wrapped

    def _open_name_scope(self, name, exits):
        if not self._auxiliary_name_scope:
            current = get_default_graph()._scope_name()
            return current
        scope = name_scope(name)
        text = scope.__enter__()
        exits.append(lambda: scope.__exit__(None, None, None))
        return text

    def _enter(self, graph, exits):
        store = _store(graph)
        given = self._name_or_scope
        if given is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            name_scope_text = self._open_name_scope(self._default_name, exits)
            return self._enter_pure(
                store, _unique_scope_name(store, self._default_name), name_scope_text, exits
            )
        if isinstance(given, str):
            label = given
        else:
            label = given.name.split("/")[-1]
        name_scope_text = None
        if label:
            name_scope_text = self._open_name_scope(label, exits)
            if not isinstance(given, str):
                name_scope_text = given.original_name_scope
        return self._enter_pure(store, given, name_scope_text, exits)

    def _enter_pure(self, store, given, name_scope_text, exits):
        old = store.scope
        if isinstance(given, VariableScope):
            source, name = given, given.name
            reuse = self._reuse or given.reuse
            text = given.original_name_scope if name_scope_text is None else name_scope_text
            counts = dict(store.counts)
            exits.append(lambda: setattr(store, "counts", counts))
        else:
            source = old
            name = old.name + "/" + given if old.name else given
            reuse = self._reuse or old.reuse
            text = name_scope_text if name_scope_text is not None else given
            exits.append(lambda: store.close_inner(name))
        store.opened(name)
        scope = VariableScope(
            reuse,
            name=name,
            initializer=source.initializer,
            regularizer=source.regularizer,
            caching_device=source.caching_device,
            partitioner=source.partitioner,
            custom_getter=source.custom_getter,
            name_scope=text,
            dtype=source.dtype,
            use_resource=source.use_resource,
            constraint=source.constraint,
        )
        for attribute, value in self._settings.items():
            if value is not None:
                setattr(scope, attribute, value)
        if self._dtype is not None:
            scope.set_dtype(self._dtype)
        if self._custom_getter is not None:
            scope.set_custom_getter(_wrap_getter(self._custom_getter, source.custom_getter))
        store.scope = scope
        exits.append(lambda: setattr(store, "scope", old))
        return scope


def create_partitioned_variables(
    shape,
    slicing,
    initializer,
    dtype=dtypes.float32,
    trainable=True,
    collections=None,
    name=None,
    reuse=None,
):
    """A list of variables that are the parts of one of that shape, slicing[i] along axis i."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: " + str(shape))
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        return list(
            _shared_variable(
                scope.name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                reuse=scope.reuse,
                trainable=trainable,
                collections=collections,
                partitioner=lambda **unused: slicing,
            )
        )


def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    """The old spelling of variable_scope."""
    return variable_scope(name_or_scope, default_name=default_name, values=values, **kwargs)


def no_regularizer(_):
    """A regularizer that adds nothing."""
    return None
