"""Averages of variables and tensors over the steps of a training."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import (
    colocate_with,
    control_dependencies,
    count_operations,
    init_scope,
    name_scope,
)
from rheos.framework.operation import Tensor
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.state import init_ops, state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_lists import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope
from rheos.ops.state.variables import Variable
from rheos.training.slots import create_slot, create_zeros_slot

_FLOATS = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def _unused(name):
    """The name, or its first variant that no variable of the scope has."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    candidate, number = name, 0
    while f"{scope.name}/{candidate}" in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _kept_beside(variable, name, shape):
    return get_variable(
        _unused(name),
        shape=shape,
        dtype=variable.dtype.base_dtype,
        initializer=init_ops.zeros_initializer(),
        trainable=False,
        use_resource=variable._is_resource,
    )


def _debiased(variable, value, weight):
    """The average that forgets that it started at 0 (Adam, Kingma and Ba 2015)."""
    with variable_scope(variable.op.name, values=[variable, value, weight]):
        with colocate_with(variable), control_dependencies(None):
            biased = _kept_beside(variable, "biased", variable.shape)
            step = _kept_beside(variable, "local_step", [])
    biased_now = state_ops.assign_sub(biased, (biased - value) * weight)
    step_now = state_ops.assign_add(step, 1)
    return biased_now / (1 - math_ops.pow(1.0 - weight, step_now))


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """An operation that sets variable to variable * decay + value * (1 - decay).

    zero_debias: corrects for the variable's having been 0 at the start.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        weight = convert_to_tensor(1.0 - decay, name="decay")
        if weight.dtype != variable.dtype.base_dtype:
            weight = math_ops.cast(weight, variable.dtype.base_dtype)
        if zero_debias:
            average = _debiased(variable, value, weight)
            return state_ops.assign(variable, average, name=scope)
        change = (variable - value) * weight
        return state_ops.assign_sub(variable, change, name=scope)


def _bare_name(variable):
    return variable.name.partition(":")[0]


class ExponentialMovingAverage:
    """Keeps, for each variable or tensor, a mean in which older values count less and less.

    num_updates: a counter of the steps; the decay then is at most (1 + n) / (10 + n), for averages
    that follow quickly at the start. zero_debias: averages of tensors forget their start at 0.
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages = {}

    @property
    def name(self):
        """The name, which those of the averages end in."""
        return self._name

    def _new_average(self, var):
        if getattr(var, "_is_eager", False):
            return self._new_eager_average(var)
        if isinstance(var, Variable):
            average = create_slot(var, var.initialized_value(), self.name)
            if not var._is_resource:
                count_operations(12)  # the conditionals that guard what it begins with
            get_default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return average
        beside = var.op.type in ("Variable", "VariableV2", "VarHandleOp")
        return create_zeros_slot(var, self.name, colocate=beside)

    def _new_eager_average(self, var):
        """A variable beside another one, outside of functions that are traced."""
        if not isinstance(var, Variable):
            raise TypeError(
                "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                "eager execution is enabled."
            )
        with init_scope():
            name = f"{_bare_name(var)}/{self.name}"
            return Variable(var.read_value(), trainable=False, name=name)

    def apply(self, var_list=None):
        """An operation that updates the averages of `var_list` (all trainable variables)."""
        if var_list is None:
            var_list = trainable_variables()
        debiased = set()
        for var in var_list:
            if var.dtype.base_dtype not in _FLOATS:
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if getattr(var, "_is_eager", False) and isinstance(var, Tensor):
                self._new_eager_average(var)
            if var in self._averages:
                continue
            with control_dependencies(None):
                average = self._new_average(var)
            if self._zero_debias and not isinstance(var, Variable):
                debiased.add(average)
            self._averages[var] = average
        with name_scope(self.name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                count = math_ops.cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = math_ops.minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [
                assign_moving_average(
                    self._averages[var], var, decay, self._averages[var] in debiased
                )
                for var in var_list
            ]
            return control_flow_ops.group(*updates, name=scope)

    def average(self, var):
        """The variable that holds the average; None before apply()."""
        return self._averages.get(var)

    def average_name(self, var):
        """The name of the variable that holds the average, or would."""
        if var in self._averages:
            return _bare_name(self._averages[var])
        if getattr(var, "_is_eager", False):
            return f"{_bare_name(var)}/{self.name}"
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables=None):
        """A dict for a Saver that restores the averages into the variables themselves."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = list(dict.fromkeys(moving_avg_variables))
        by_name = {self.average_name(v): v for v in averaged}
        names = {v.name for v in averaged}
        for v in dict.fromkeys(global_variables()):
            if v.name not in names:
                by_name.setdefault(v.op.name, v)
        return by_name
