"""Optimizers. The library's own work in C; the base class lets programs write theirs in Python."""

import itertools

from rheos.framework import dtypes
from rheos.framework.graph import (
    IndexedSlices,
    Tensor,
    _VariableBase,
    colocate_with,
    control_dependencies,
    convert_to_tensor,
    get_default_graph,
    name_scope,
)
from rheos.framework.op_call import op1
from rheos.ops import control_flow_ops, init_ops, math_ops, segment_ops, state_ops
from rheos.ops.gradients import from_core, gradients, to_core
from rheos.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from rheos.ops.variables import (
    GraphKeys,
    Variable,
    adopt_new_variables,
    trainable_variables,
)

_identities = itertools.count(1)


def _call(value):
    return value() if callable(value) else value


class Optimizer:
    """Changes variables by the gradients of a loss.

    Programs may subclass it: `_create_slots` makes the variables it keeps, `_prepare` its tensors,
    `_apply_dense` and `_apply_sparse` give the operation that updates one variable.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots = {}  # slot name -> variable -> slot
        self._non_slot_dict = {}

    def get_name(self):
        return self._name

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ):
        """An operation that changes the variables in `var_list` (all trainable ones) once.

        global_step: a variable that it adds 1 to.
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(g is None for g, _ in grads_and_vars):
            names = [str(v) for _, v in grads_and_vars]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {names} and loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        """A list of (gradient, variable); the gradient is None where there is none."""
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        if callable(loss):
            loss = loss()
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = trainable_variables()
        else:
            var_list = list(control_flow_ops._flatten([var_list]))
        if not var_list:
            raise ValueError("No variables to optimize.")
        for variable in var_list:
            if not isinstance(variable, (Variable, Tensor)):
                raise TypeError(f"Argument is not a tf.Variable: {variable}")
        grads = gradients(
            loss,
            [v._ref() if isinstance(v, Variable) else v for v in var_list],
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = control_flow_ops.tuple(grads)
        grads_and_vars = list(zip(grads, var_list))
        self._assert_valid_dtypes([v for g, v in grads_and_vars if g is not None])
        return grads_and_vars

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that changes each variable by its gradient."""
        pairs = self._checked(grads_and_vars)
        var_list = [v for g, v in pairs if g is not None]
        with control_dependencies(None):
            self._create_slots(var_list)
        updates = []
        with name_scope(name, self._name, [v for v in var_list]) as scope:
            self._prepare()
            for grad, variable in pairs:
                if grad is None:
                    continue
                with name_scope("update_" + variable.op.name), colocate_with(variable):
                    updates.append(self._update(grad, variable))
            if global_step is None:
                done = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    with colocate_with(global_step):
                        done = state_ops.assign_add(
                            global_step,
                            convert_to_tensor(1, global_step.dtype.base_dtype, name="value"),
                            name=scope,
                        )
        return self._enlist(done.op if isinstance(done, Tensor) else done)

    @staticmethod
    def _enlist(operation):
        train_ops = operation.graph.get_collection_ref(GraphKeys.TRAIN_OP)
        if operation not in train_ops:
            train_ops.append(operation)
        return operation

    @staticmethod
    def _checked(grads_and_vars):
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        converted = []
        for grad, variable in pairs:
            if grad is not None and not isinstance(grad, (Tensor, IndexedSlices)):
                try:
                    grad = convert_to_tensor(grad)
                except TypeError:
                    raise TypeError(
                        "Gradient must be convertible to a Tensor or IndexedSlices, or None: "
                        f"{grad}"
                    ) from None
            if not isinstance(variable, Variable):
                raise NotImplementedError("Trying to optimize unsupported type ", variable)
            converted.append((grad, variable))
        if all(g is None for g, _ in converted):
            names = [str(v) for _, v in converted]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        return converted

    def _update(self, grad, variable):
        if isinstance(grad, IndexedSlices):
            if variable.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            return self._apply_sparse_duplicate_indices(grad, variable)
        update = self._apply_dense(grad, variable)
        if variable.constraint is None:
            return update
        with control_dependencies([update]):
            return variable.assign(variable.constraint(variable._ref()))

    # Slots

    def variables(self):
        """The variables that the optimizer keeps."""
        graph = get_default_graph()
        found = [v for v in self._non_slot_dict.values() if v.graph is graph]
        for slots in self._slots.values():
            found += [v for v in slots.values() if v.graph is graph]
        return sorted(found, key=lambda v: v.name)

    def get_slot(self, var, name):
        """The variable kept for `var` under a name; None if there is none."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self):
        return sorted(self._slots)

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        slots = self._slot_dict(slot_name)
        if var not in slots:
            slots[var] = _create_slot(var, val, op_name)
        return slots[var]

    def _get_or_make_slot_with_initializer(
        self, var, initializer, shape, dtype, slot_name, op_name
    ):
        slots = self._slot_dict(slot_name)
        if var not in slots:
            slots[var] = _create_slot(var, initializer, op_name, shape, dtype)
        return slots[var]

    def _zeros_slot(self, var, slot_name, op_name):
        return self._get_or_make_slot_with_initializer(
            var,
            init_ops.zeros_initializer(),
            var.shape,
            var.dtype.base_dtype,
            slot_name,
            op_name,
        )

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        key = (name, colocate_with.graph)
        variable = self._non_slot_dict.get(key)
        if variable is None:
            with get_default_graph().colocate_with(colocate_with):
                variable = Variable(initial_value, name=name, trainable=False)
            self._non_slot_dict[key] = variable
        return variable

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slot_dict.get((name, graph))

    # What subclasses define

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for t in tensors:
            if t.dtype.base_dtype not in valid:
                raise ValueError(
                    "Invalid type %r for %s, expected: %s."
                    % (t.dtype.base_dtype, t.name, [v for v in valid])
                )

    def _valid_dtypes(self):
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _create_slots(self, var_list):
        pass

    def _prepare(self):
        pass

    def _apply_dense(self, grad, var):
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad, var):
        from rheos.ops import array_ops

        indices, places = array_ops.unique(grad.indices)
        values = segment_ops.unsorted_segment_sum(
            grad.values, places, array_ops.shape(indices)[0]
        )
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _apply_sparse(self, grad, var):
        raise NotImplementedError()

    def _finish(self, update_ops, name_scope):
        return control_flow_ops.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param):
        return _call(param)


def _create_slot(primary, value, name, shape=None, dtype=None):
    """A variable PRIMARY/name that is kept with another one."""
    with variable_scope(None, primary.op.name + "/" + name):
        with colocate_with(primary):
            return get_variable("", initializer=value, trainable=False, shape=shape, dtype=dtype)


class _CoreOptimizer(Optimizer):
    """An optimizer that the C library knows.

    A subclass that changes how variables are updated goes the way of the base class instead.
    """

    _KIND = 0
    _HOOKS = (
        "_create_slots",
        "_prepare",
        "_apply_dense",
        "_apply_sparse",
        "_finish",
        "_apply_sparse_duplicate_indices",
        "_zeros_slot",
        "_get_or_make_slot",
    )

    def __init__(self, use_locking, name, **numbers):
        super().__init__(use_locking, name)
        self._numbers = numbers
        self._identity = next(_identities)  # two optimizers of one name share no slots
        self._kept = []

    def _is_plain(self):
        own = type(self)
        for base in own.__mro__:
            if base.__dict__.get("_KIND"):
                break
        return all(getattr(own, hook) is getattr(base, hook) for hook in self._HOOKS)

    def _options(self):
        options = {k: _call(v) for k, v in self._numbers.items()}
        return {
            "kind": self._KIND,
            "name": self._name,
            "identity": self._identity,
            "use_locking": self._use_locking,
            "slot_scope": get_variable_scope().name,
            **options,
        }

    def _core_slot(self, graph, var, name):
        options = {"kind": self._KIND, "name": self._name, "identity": self._identity}
        index = graph._optimizer_slot(options, var, name)
        return None if index is None else graph._variables.get(index)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that changes each variable by its gradient."""
        pairs = self._checked(grads_and_vars)
        if not self._is_plain() or any(v.constraint is not None for _, v in pairs):
            return super().apply_gradients(pairs, global_step, name)
        if global_step is not None and not isinstance(global_step, Variable):
            return super().apply_gradients(pairs, global_step, name)
        graph = pairs[0][1].graph
        first = graph._num_variables()
        done = graph._apply_gradients(
            self._options(),
            [v for _, v in pairs],
            [to_core(g) for g, _ in pairs],
            global_step,
            name,
        )
        self._kept += adopt_new_variables(graph, first)
        return self._enlist(done)

    def variables(self):
        graph = get_default_graph()
        mine = [v for v in self._kept if v.graph is graph]
        return sorted([*mine, *super().variables()], key=lambda v: v.name)

    def get_slot(self, var, name):
        found = super().get_slot(var, name)
        if found is None and isinstance(var, _VariableBase):
            found = self._core_slot(var.graph, var, name)
        return found

    def get_slot_names(self):
        names = super().get_slot_names()
        return names or (sorted(self._SLOTS) if self._kept else [])

    _SLOTS = ()

    def _tensor(self, key):
        return convert_to_tensor(_call(self._numbers[key]), name=key)


class GradientDescentOptimizer(_CoreOptimizer):
    """Subtracts the gradient times the learning rate."""

    _KIND = 1

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._learning_rate = learning_rate

    def _prepare(self):
        self._learning_rate_tensor = self._tensor("learning_rate")

    def _apply_dense(self, grad, var):
        rate = math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return op1("ApplyGradientDescent", None, var, rate, grad, use_locking=self._use_locking).op

    def _apply_sparse_duplicate_indices(self, grad, var):
        rate = math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking).op


class MomentumOptimizer(_CoreOptimizer):
    """Keeps a running sum of gradients, and moves along it."""

    _KIND = 2
    _SLOTS = ("momentum",)

    def __init__(
        self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False
    ):
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            momentum=momentum,
            use_nesterov=use_nesterov,
        )
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._learning_rate_tensor = self._tensor("learning_rate")
        self._momentum_tensor = self._tensor("momentum")

    def _apply_dense(self, grad, var):
        kind = var.dtype.base_dtype
        return op1(
            "ApplyMomentum",
            None,
            var,
            self.get_slot(var, "momentum"),
            math_ops.cast(self._learning_rate_tensor, kind),
            grad,
            math_ops.cast(self._momentum_tensor, kind),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        ).op


class AdagradOptimizer(_CoreOptimizer):
    """Divides by the square root of the sum of squared gradients so far."""

    _KIND = 3
    _SLOTS = ("accumulator",)

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        use_locking=False,
        name="Adagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            initial_accumulator_value=initial_accumulator_value,
        )
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v,
                init_ops.constant_initializer(self._initial_accumulator_value),
                v.shape,
                v.dtype.base_dtype,
                "accumulator",
                self._name,
            )

    def _prepare(self):
        self._learning_rate_tensor = self._tensor("learning_rate")

    def _apply_dense(self, grad, var):
        return op1(
            "ApplyAdagrad",
            None,
            var,
            self.get_slot(var, "accumulator"),
            math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
            grad,
            use_locking=self._use_locking,
        ).op


class AdamOptimizer(_CoreOptimizer):
    """Adaptive moments: running means of the gradient and of its square."""

    _KIND = 4
    _SLOTS = ("m", "v")

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
    ):
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self):
        graph = get_default_graph()
        found = (
            self._get_non_slot_variable("beta1_power", graph),
            self._get_non_slot_variable("beta2_power", graph),
        )
        if found[0] is None:
            found = tuple(
                self._core_slot(graph, None, name) for name in ("beta1_power", "beta2_power")
            )
        return found

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(_call(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(_call(self._beta2), "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        self._lr_t = self._tensor("learning_rate")
        self._beta1_t = self._tensor("beta1")
        self._beta2_t = self._tensor("beta2")
        self._epsilon_t = self._tensor("epsilon")

    def _apply_dense(self, grad, var):
        kind = var.dtype.base_dtype
        powers = self._get_beta_accumulators()
        return op1(
            "ApplyAdam",
            None,
            var,
            self.get_slot(var, "m"),
            self.get_slot(var, "v"),
            *(math_ops.cast(p.value(), kind) for p in powers),
            *(
                math_ops.cast(t, kind)
                for t in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
            ),
            grad,
            use_locking=self._use_locking,
        ).op

    def _apply_sparse(self, grad, var):
        kind = var.dtype.base_dtype
        power1, power2 = (math_ops.cast(p.value(), kind) for p in self._get_beta_accumulators())
        rate, beta1, beta2, epsilon = (
            math_ops.cast(t, kind)
            for t in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        rate = rate * math_ops.sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = state_ops.assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = state_ops.scatter_add(m, grad.indices, grad.values * (1 - beta1))
        v_t = state_ops.assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = state_ops.scatter_add(v, grad.indices, grad.values * grad.values * (1 - beta2))
        update = state_ops.assign_sub(
            var, rate * m_t / (math_ops.sqrt(v_t) + epsilon), use_locking=self._use_locking
        )
        return control_flow_ops.group(update, m_t, v_t)

    def _finish(self, update_ops, name_scope):
        powers = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(powers[0]):
            updates = [
                p.assign(p.value() * t, use_locking=self._use_locking)
                for p, t in zip(powers, (self._beta1_t, self._beta2_t))
            ]
        return control_flow_ops.group(*update_ops, *updates, name=name_scope)
