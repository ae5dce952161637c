"""Steps of the library's optimizers over variables whose values are there, in no graph.

The steps of graphs are made in C, which keeps variables by their nodes; here the same ops are
called on the variables' handles, at once or in the function that is being traced.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.state import init_ops

_L1_L2 = ("l1_regularization_strength", "l2_regularization_strength")


def is_direct(variables):
    """Whether the first of the variables is in no graph."""
    return bool(variables) and getattr(variables[0], "_is_eager", False)


def group_of(updates, name):
    """One operation that has all of them done; None where they were done at once."""
    if get_default_graph()._is_eager:
        return None
    return control_flow_ops.group(*updates, name=name)


class DirectStep:
    """One kind's steps, for an optimizer that has its slots and numbers."""

    def __init__(self, optimizer, kind, parts, numbers):
        self._op, self._letters, self._slots, named = parts
        self._names = [name for name, _ in named]
        self._optimizer, self._numbers = optimizer, numbers
        self._has_powers = kind == "Adam"
        self._powers = ()

    def make_slots(self, variables):
        """Makes what is not there yet: the slots of the variables, Adam's powers."""
        optimizer = self._optimizer
        if self._has_powers:
            first = min(variables, key=lambda v: v.name)
            self._powers = tuple(
                optimizer._create_non_slot_variable(
                    float(self._number(name)), name + "_power", first
                )
                for name in ("beta1", "beta2")
            )
        for variable in variables:
            for name, start in self._slots:
                optimizer._get_or_make_slot_with_initializer(
                    variable,
                    init_ops.constant_initializer(start),
                    variable.shape,
                    variable.dtype.base_dtype,
                    name,
                    self._numbers.get(name + "_name") or optimizer._name,
                )

    def prepare(self):
        """The numbers of this step as tensors, in the order that subclasses know."""
        return [convert_to_tensor(self._number(name), name=name) for name in self._names]

    def _number(self, name):
        value = self._numbers[name]
        return value() if callable(value) else value

    def _inputs(self, variable, gradient, numbers):
        dtype = variable.dtype.base_dtype
        slots = [self._optimizer.get_slot(variable, name).handle for name, _ in self._slots]
        for letter in self._letters:  # those of the C library's rheos_optimizer_parts
            if letter in "abc":
                yield slots["abc".index(letter)]
            elif letter == "g":
                yield from gradient
            elif letter in "pq":
                yield math_ops.cast(self._powers["pq".index(letter)].value(), dtype)
            elif letter in "lm":
                yield convert_to_tensor(self._number(_L1_L2["lm".index(letter)]), dtype)
            elif letter == "s":
                step = self._numbers["global_step"]
                yield math_ops.cast(convert_to_tensor(step), dtypes.int64) + 1
            else:
                yield math_ops.cast(numbers[int(letter)], dtype)

    def update(self, variable, gradient, numbers):
        """Changes the variable by its gradient: a tensor, or IndexedSlices whose rows differ."""
        is_rows = isinstance(gradient, IndexedSlices)
        if is_rows and self._op in ("GradientDescent", "Adam"):
            rows = self._descend_rows if self._op == "GradientDescent" else self._adam_rows
            return rows(variable, gradient, [math_ops.cast(n, variable.dtype) for n in numbers])
        parts = (gradient.values, gradient.indices) if is_rows else (gradient,)
        attrs = {"use_locking": self._optimizer._use_locking}
        if self._op == "Momentum":
            attrs["use_nesterov"] = self._numbers["use_nesterov"]
        return apply_op(
            f"Resource{'Sparse' if is_rows else ''}Apply{self._op}",
            None,
            variable.handle,
            *self._inputs(variable, parts, numbers),
            **attrs,
        )

    def _descend_rows(self, variable, gradient, numbers):
        return variable.scatter_sub(IndexedSlices(gradient.values * numbers[0], gradient.indices))

    def _adam_rows(self, variable, gradient, numbers):
        rate, beta1, beta2, epsilon = numbers
        power1, power2 = (math_ops.cast(p.value(), variable.dtype) for p in self._powers)
        rate = rate * math_ops.sqrt(1 - power2) / (1 - power1)
        values, indices = gradient.values, gradient.indices
        m, v = (self._optimizer.get_slot(variable, name) for name in ("m", "v"))
        for slot, beta, added in ((m, beta1, values), (v, beta2, values * values)):
            slot.assign(slot.value() * beta)
            slot.scatter_add(IndexedSlices(added * (1 - beta), indices))
        change = rate * m.value() / (math_ops.sqrt(v.value()) + epsilon)
        return variable.assign_sub(change, read_value=False)

    def finish(self, updates, name):
        """Ends the step: Adam's powers go on."""
        for power, beta in zip(self._powers, ("beta1", "beta2")):
            updates.append(power.assign(power.value() * self._number(beta), read_value=False))
        return group_of(updates, name)
