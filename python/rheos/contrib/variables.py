"""Variables with the collections and names of tf.contrib.framework, and how to find them."""

import functools
import re

from rheos.contrib.arg_scope import add_arg_scope
from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import device as _device
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.state import state_ops, variable_scope
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import Variable
from rheos.training.checkpoints import load_checkpoint
from rheos.training.saver import Saver


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable in LOCAL_VARIABLES, which training does not change. Returns it."""
    return Variable(
        initial_value,
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable in GLOBAL_VARIABLES, which training does not change. Returns it."""
    return Variable(
        initial_value,
        trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@add_arg_scope
def variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=True,
    collections=None,
    caching_device=None,
    device=None,
    partitioner=None,
    custom_getter=None,
    use_resource=None,
    synchronization=None,
    aggregation=None,
):
    """get_variable(), on `device`, in `collections` (GLOBAL_VARIABLES by default)."""
    kept = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    kept = list(dict.fromkeys(kept))
    getter = variable_scope.get_variable
    if custom_getter is not None:
        reuse = variable_scope.get_variable_scope().reuse
        getter = functools.partial(custom_getter, reuse=reuse)
    with _device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=kept,
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name,
    shape=None,
    dtype=dtypes.float32,
    initializer=None,
    regularizer=None,
    trainable=True,
    collections=None,
    caching_device=None,
    device=None,
    partitioner=None,
    custom_getter=None,
    use_resource=None,
    synchronization=None,
    aggregation=None,
):
    """get_variable() of a variable that is in GLOBAL_VARIABLES and MODEL_VARIABLES too."""
    kept = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=kept,
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def add_model_variable(var):
    """Adds a variable to MODEL_VARIABLES unless it is there."""
    graph = get_default_graph()
    if not any(v is var for v in graph.get_collection(GraphKeys.MODEL_VARIABLES)):
        graph.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    """The variables of a collection whose names begin with `scope` and end with `suffix`.

    scope: a name, a regular expression or a VariableScope; None for all. suffix: None for all.
    """
    if isinstance(scope, variable_scope.VariableScope):
        scope = scope.name
    if suffix is not None:
        suffix = suffix if ":" in suffix else suffix + ":0"
        scope = (scope or "") + ".*" + suffix
    return get_default_graph().get_collection(collection, scope)


def get_model_variables(scope=None, suffix=None):
    """The variables in MODEL_VARIABLES; see get_variables."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
    """The variables in LOCAL_VARIABLES; see get_variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    """The variables in TRAINABLE_VARIABLES; see get_variables."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    """The global variables in `scope` whose names end with `suffix`."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    """The global variables in `scope` whose last name is `given_name`."""
    suffix = "/" + given_name + ":|^" + given_name + ":"
    return get_variables(scope=scope, suffix=suffix)


def get_unique_variable(var_op_name):
    """The global variable of that name, the scope's own first. ValueError if there is none."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(include=None, exclude=None):
    """The global variables in the scopes `include` (None: all) and not in the scopes `exclude`."""
    for scopes, name in ((include, "include"), (exclude, "exclude")):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} must be a list of scopes.")
    if include is None:
        found = get_variables()
    else:
        found = [v for scope in include for v in get_variables(scope)]
    unwanted = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in found if id(v) not in unwanted]


def get_variable_full_name(var):
    """The name of a variable without the output number; of a part, that of the whole."""
    info = getattr(var, "_save_slice_info", None)
    return info.full_name if info else var.op.name


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    """The variables whose names fit a pattern of the first list and none of the second.

    include_patterns, exclude_patterns: regular expressions; None or empty means no such condition.
    reg_search: whether a pattern may fit anywhere in the name instead of at its start.
    """
    fits = re.search if reg_search else re.match

    def chosen(name):
        if include_patterns and not any(fits(p, name) for p in include_patterns):
            return False
        return not any(fits(p, name) for p in exclude_patterns or ())

    return [v for v in var_list if chosen(v.op.name)]


def assign_from_values(var_names_to_values):
    """(operation, feed): what gives variables, found by name, the values of a dict of arrays.

    Run the operation with the feed. ValueError for a name that no variable has.
    """
    feeds, assigns = {}, []

    for name, value in var_names_to_values.items():
        target = get_unique_variable(name)
        place = array_ops.placeholder(target.dtype.base_dtype, target.shape)
        assigns.append(target.assign(place))
        feeds[place] = value.reshape(target.shape.as_list())
    return control_flow_ops.group(*assigns), feeds


def assign_from_values_fn(var_names_to_values):
    """A function of a session that gives variables the values; see assign_from_values."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _by_name_in_checkpoint(var_list):
    """{name in the checkpoint: variable} of such a dict, or of a list of variables."""
    if isinstance(var_list, dict):
        return dict(var_list)
    return {get_variable_full_name(v): v for v in var_list}


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """(operation, feed): what gives variables the values of a checkpoint; see assign_from_values.

    var_list: variables, or a dict of names in the checkpoint to variables. ignore_missing_vars:
    whether variables that it does not have are left out; ValueError for these otherwise, and for
    values of another number of elements.
    """
    reader = load_checkpoint(model_path)
    feeds, assigns = {}, []
    for name, variable in _by_name_in_checkpoint(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        dims = variable.shape.as_list()
        if value.size != variable.shape.num_elements():
            raise ValueError(
                f"Total size of new array must be unchanged for {name} lh_shape: "
                f"[{list(value.shape)}], rh_shape: [{dims}]"
            )
        place = array_ops.placeholder(variable.dtype.base_dtype, variable.shape)
        assigns.append(variable.assign(place))
        feeds[place] = value.reshape(dims)
    return control_flow_ops.group(*assigns), feeds


def assign_from_checkpoint_fn(
    model_path, var_list, ignore_missing_vars=False, reshape_variables=False
):
    """A function of a session that gives variables the values of a checkpoint.

    Arguments are those of assign_from_checkpoint(); ValueError for no variables. None if none of
    them is in the checkpoint. reshape_variables: whether values may have another shape.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    variables = _by_name_in_checkpoint(var_list)
    if ignore_missing_vars:
        reader = load_checkpoint(model_path)
        variables = {n: v for n, v in variables.items() if reader.has_tensor(n)}
    if not variables:
        return None
    if reshape_variables:
        operation, feed = assign_from_checkpoint(model_path, variables)
        return lambda session: session.run(operation, feed)
    saver = Saver(variables)
    return lambda session: saver.restore(session, model_path)


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """Sets a variable to zeros; returns it, by reference, after that."""
    return state_ops.assign(ref, array_ops.zeros_like(ref), use_locking=use_locking, name=name)
