"""Optimizers. The library's own work in C; the base class lets programs write theirs in Python."""

import itertools

from rheos import _core
from rheos.framework import dtypes, nest, replicas
from rheos.framework.conversion import convert_to_tensor, convert_to_tensor_or_indexed_slices
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies, init_scope, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.operation import Operation, Tensor, _VariableBase
from rheos.ops.array import array_ops, segment_ops
from rheos.ops.differentiation.gradient_tape import GradientTape
from rheos.ops.differentiation.gradients import gradients, to_core
from rheos.ops.flow import control_flow_ops
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_lists import trainable_variables
from rheos.ops.state.variable_scope import get_variable_scope
from rheos.ops.state.variables import Variable, adopt_new_variables
from rheos.training.direct_steps import DirectStep, group_of, is_direct
from rheos.training.slots import create_slot, create_slot_with_initializer, create_zeros_slot

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
        """The name."""
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
        graph = get_default_graph()
        if graph._is_eager or callable(loss) and graph._root._is_eager:
            return self._compute_at_once(loss, var_list, grad_loss)
        if callable(loss):
            loss = loss()
        strategy = replicas.several()
        if strategy is not None:
            loss = strategy.share_of_loss(loss)
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = trainable_variables() + get_default_graph().get_collection(
                GraphKeys.TRAINABLE_RESOURCE_VARIABLES
            )
        else:
            var_list = nest.flatten(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        for variable in var_list:
            if not isinstance(variable, (_VariableBase, Tensor)):
                raise TypeError(f"Argument is not a tf.Variable: {variable}")
        grads = gradients(
            loss,
            [v._variable if isinstance(v, _VariableBase) else v for v in var_list],
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

    def _compute_at_once(self, loss, var_list, grad_loss):
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(nest.flatten(var_list))
            value = loss()
        var_list = tape.watched_variables() if var_list is None else nest.flatten(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        self._assert_valid_dtypes([value])
        return list(zip(tape.gradient(value, list(var_list), grad_loss), var_list))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that changes each variable by its gradient.

        Where operations run at once it does so, and gives None.
        """
        pairs = self._checked(grads_and_vars)
        if replicas.several() is not None:
            return self._apply_of_replicas(pairs, global_step, name)
        return self._apply_checked(pairs, global_step, name)

    def _apply_of_replicas(self, pairs, global_step, name):
        """The step of all replicas of a strategy, by the sums of their gradients."""
        pairs = [(g, v) for g, v in pairs if g is not None]
        grads, variables = [g for g, _ in pairs], [v for _, v in pairs]

        def step(strategy, *grads):
            summed = strategy.extended.sum_for_variables(grads, variables)
            return strategy.extended.for_each_copy(
                lambda own, copies, count: self._apply_checked(list(zip(own, copies)), count, name),
                (summed, variables, global_step),
            )

        context = replicas.current()
        if context is None:
            return step(replicas.several(), *grads)
        return context.merge_call(step, grads)

    def _apply_checked(self, pairs, global_step, name):
        pairs = [(g, v) for g, v in pairs if g is not None]
        var_list = [v for _, v in pairs]
        if is_direct(var_list):
            return self._apply_direct(pairs, var_list, global_step, name)
        with control_dependencies(None):
            self._create_slots(var_list)
        updates = []
        with name_scope(name, self._name) as scope:
            self._prepare()
            for grad, variable in pairs:
                with name_scope("update_" + variable.op.name), colocate_with(variable):
                    updates.append(self._update(grad, variable))
            if global_step is None:
                done = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    with colocate_with(global_step):
                        done = _count_step(global_step, scope)
        return self._enlist(done.op if isinstance(done, Tensor) else done)

    def _apply_direct(self, pairs, var_list, global_step, name):
        with init_scope():
            self._create_slots(var_list)
        with name_scope(name, self._name) as scope:
            self._prepare()
            done = self._finish([self._update(grad, v) for grad, v in pairs], scope)
            if global_step is None:
                return done
            with control_dependencies([] if done is None else [done]):
                counted = _count_step(global_step, None)
            return group_of([counted], None)

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
            if grad is not None:
                try:
                    grad = convert_to_tensor_or_indexed_slices(grad)
                except TypeError:
                    raise TypeError(
                        "Gradient must be convertible to a Tensor or IndexedSlices, or None: "
                        f"{grad}"
                    ) from None
            if isinstance(variable, Tensor):
                raise NotImplementedError("Trying to update a Tensor ", variable)
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
            if variable._is_resource:
                return self._resource_apply_sparse_duplicate_indices(
                    grad.values, variable, grad.indices
                )
            return self._apply_sparse_duplicate_indices(grad, variable)
        if variable._is_resource:
            update = self._resource_apply_dense(grad, variable)
        else:
            update = self._apply_dense(grad, variable)
        if variable.constraint is None:
            return update
        with control_dependencies([update]):
            return variable.assign(variable.constraint(variable))

    # Slots

    def variables(self):
        """The variables that the optimizer keeps."""
        graph = get_default_graph()
        found = list(self._non_slot_dict.values())
        for slots in self._slots.values():
            found += slots.values()
        return sorted((v for v in found if _is_of(v, graph)), key=lambda v: v.name)

    def get_slot(self, var, name):
        """The variable kept for `var` under a name; None if there is none."""
        return self._slots.get(name, {}).get(_var_key(var))

    def get_slot_names(self):
        """The names of the slots that were made, sorted."""
        return sorted(self._slots)

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            slots[key] = self._slot_made(var, slot_name, create_slot(var, val, op_name))
        return slots[key]

    def _get_or_make_slot_with_initializer(
        self, var, initializer, shape, dtype, slot_name, op_name
    ):
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            slot = create_slot_with_initializer(var, initializer, shape, dtype, op_name)
            slots[key] = self._slot_made(var, slot_name, slot)
        return slots[key]

    def _zeros_slot(self, var, slot_name, op_name):
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            slots[key] = self._slot_made(var, slot_name, create_zeros_slot(var, op_name))
        return slots[key]

    def _slot_made(self, var, slot_name, slot):
        return slot

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        key = (name, None if is_direct([colocate_with]) else colocate_with.graph)
        variable = self._non_slot_dict.get(key)
        if variable is None:
            with get_default_graph().colocate_with(colocate_with):
                variable = Variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=colocate_with._is_resource,
                )
            self._non_slot_dict[key] = variable
        return variable

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self):
        return list(self._non_slot_dict.values())

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
        rows = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(*rows, grad.dense_shape), var)

    def _apply_sparse(self, grad, var):
        raise NotImplementedError()

    def _resource_apply_dense(self, grad, handle):
        raise NotImplementedError()

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        return self._resource_apply_sparse(*_in_order(handle, *deduplicated(grad, indices)))

    def _resource_apply_sparse(self, grad, handle, indices):
        raise NotImplementedError()

    def _resource_scatter_add(self, x, i, v):
        with control_dependencies([x.scatter_add(IndexedSlices(v, i)).op]):
            return x.value()

    def _finish(self, update_ops, name_scope):
        return control_flow_ops.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param):
        return _call(param)


def _in_order(handle, values, indices):
    return values, handle, indices


def deduplicated(values, indices):
    """(values, indices) with each index once, the values of equal ones summed up."""
    unique, places = array_ops.unique(indices)
    return segment_ops.unsorted_segment_sum(values, places, array_ops.shape(unique)[0]), unique


def _count_step(global_step, name):
    if getattr(global_step, "_is_resource", False):
        one = convert_to_tensor(1, global_step.dtype)
        return global_step.assign_add(one, name=name, read_value=False)
    one = convert_to_tensor(1, global_step.dtype.base_dtype, name="value")
    return state_ops.assign_add(global_step, one, name=name)


def _is_of(variable, graph):
    return graph._root._is_eager if is_direct([variable]) else variable.graph is graph


def _var_key(var):
    if is_direct([var]):
        return var.ref()
    return var.op.graph, var.op.name


class _CoreOptimizer(Optimizer):
    """An optimizer that the C library knows, and whose slots and numbers it tells.

    Its hooks do their part of the step there, for subclasses that define some of them anew; one
    that defines none is done in one call. A number is an attribute under its name, `_decay`, and
    in the graph `_decay_tensor`.
    """

    _KIND = None  # the library's name
    _ATTRIBUTES = {}  # of the numbers that have another
    _TENSOR = "_tensor"  # behind the attribute's name, that of the number in the graph
    _DECIDING = ("centered", "l2_shrinkage_regularization_strength", "initial_accumulator_value")
    _HOOKS = (
        "_create_slots",
        "_prepare",
        "_apply_dense",
        "_apply_sparse",
        "_apply_sparse_duplicate_indices",
        "_resource_apply_dense",
        "_resource_apply_sparse",
        "_resource_apply_sparse_duplicate_indices",
        "_finish",
        "_zeros_slot",
        "_get_or_make_slot",
        "_get_or_make_slot_with_initializer",
        "_update",
    )

    def __init__(self, use_locking, name, **numbers):
        super().__init__(use_locking, name)
        self._numbers = numbers
        for key, value in numbers.items():
            setattr(self, self._attribute(key), value)
        deciding = {key: numbers.get(key) for key in self._DECIDING}
        # (op, its inputs, [(slot, its first value)], [(number, its default)])
        self._parts = _core.optimizer_parts({"kind": self._KIND, **deciding})
        self._identity = next(_identities)  # two optimizers of one name share no slots
        self._kept = []
        self._prepared = ()
        self._direct = False  # whether this step's variables are in no graph
        self._of_variables = None  # the steps of such variables

    def _attribute(self, number):
        return "_" + self._ATTRIBUTES.get(number, number)

    def _base(self):
        for base in type(self).__mro__:
            if base.__dict__.get("_KIND"):
                return base
        raise AssertionError("an optimizer without a kind")

    def _is_own(self, *hooks):
        base = self._base()
        return all(getattr(type(self), hook) is getattr(base, hook) for hook in hooks)

    def _options(self):
        return {
            "kind": self._KIND,
            "name": self._name,
            "identity": self._identity,
            "use_locking": self._use_locking,
            "slot_scope": get_variable_scope().name,
            **{key: _call(value) for key, value in self._numbers.items()},
        }

    def _step_options(self):
        return {**self._options(), "prepared": self._prepared}

    def _core_slot(self, graph, var, name):
        options = {"kind": self._KIND, "name": self._name, "identity": self._identity}
        index = graph._optimizer_slot(options, var, name)
        return None if index is None else graph._variables.get(index)

    def _slot_made(self, var, slot_name, slot):
        if is_direct([var]):
            return slot
        get_default_graph()._optimizer_set_slot(self._options(), var, slot_name, slot)
        return slot

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        variable = super()._create_non_slot_variable(initial_value, name, colocate_with)
        if is_direct([variable]):
            return variable
        colocate_with.graph._optimizer_set_slot(self._options(), None, name, variable)
        return variable

    def _apply_checked(self, pairs, global_step, name):
        self._direct = is_direct([v for g, v in pairs if g is not None])
        if self._direct:
            return super()._apply_checked(pairs, global_step, name)
        is_plain = self._is_own(*self._HOOKS) and all(v.constraint is None for _, v in pairs)
        if not is_plain or not (global_step is None or isinstance(global_step, Variable)):
            return super()._apply_checked(pairs, global_step, name)
        graph = pairs[0][1].graph
        with graph.as_default():
            first = graph._num_variables()
            done = graph._apply_gradients(
                self._options(),
                [v for _, v in pairs],
                [to_core(g) for g, _ in pairs],
                global_step,
                name,
            )
            self._adopt(graph, first)
        return self._enlist(done)

    def _adopt(self, graph, first):
        self._kept += adopt_new_variables(graph, first)

    def variables(self):
        graph = get_default_graph()
        mine = [v for v in self._kept if v.graph is graph]
        return sorted([*mine, *super().variables()], key=lambda v: v.name)

    def get_slot(self, var, name):
        found = super().get_slot(var, name)
        if found is None and isinstance(var, _VariableBase) and not is_direct([var]):
            found = self._core_slot(var.graph, var, name)
        return found

    def get_slot_names(self):
        slots = (name for name, _ in self._parts[2])
        return sorted({*super().get_slot_names(), *(slots if self._kept else ())})

    def _direct_step(self):
        if self._of_variables is None:
            self._of_variables = DirectStep(self, self._KIND, self._parts, self._numbers)
        return self._of_variables

    # The hooks

    def _create_slots(self, var_list):
        if self._direct:
            return self._direct_step().make_slots(var_list)
        graph = get_default_graph()
        first = graph._num_variables()
        graph._optimizer_make_slots(self._options(), var_list)
        self._adopt(graph, first)

    def _prepare(self):
        if self._direct:
            self._prepared = self._direct_step().prepare()
        else:
            self._prepared = get_default_graph()._optimizer_prepare(self._options())
        for (number, _), tensor in zip(self._parts[3], self._prepared):
            setattr(self, self._attribute(number) + self._TENSOR, tensor)

    def _core_update(self, grad, var):
        if self._direct:
            return self._direct_step().update(var, grad, self._prepared)
        return get_default_graph()._optimizer_update(self._step_options(), var, to_core(grad))

    def _apply_dense(self, grad, var):
        return self._core_update(grad, var)

    def _apply_sparse(self, grad, var):
        return self._core_update(grad, var)

    def _apply_sparse_duplicate_indices(self, grad, var):
        if not self._is_own("_apply_sparse"):
            return super()._apply_sparse_duplicate_indices(grad, var)
        return self._core_update(grad, var)

    def _resource_apply_dense(self, grad, handle):
        return self._core_update(grad, handle)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._core_update(IndexedSlices(grad, indices), handle)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        if self._direct and self._KIND != GradientDescentOptimizer._KIND:
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        if not self._is_own("_resource_apply_sparse"):
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        return self._core_update(IndexedSlices(grad, indices), handle)

    def _finish(self, update_ops, name_scope):
        if self._direct:
            return self._direct_step().finish(update_ops, name_scope)
        operations = [u if isinstance(u, Operation) else u.op for u in update_ops]
        return get_default_graph()._optimizer_finish(self._step_options(), operations, name_scope)


class GradientDescentOptimizer(_CoreOptimizer):
    """Subtracts the gradient times the learning rate.

    >>> x = tf.Variable(1.0)
    >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(x * x)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(train)
    ...     print(session.run(x))
    0.8
    """

    _KIND = "GradientDescent"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name, learning_rate=learning_rate)


class MomentumOptimizer(_CoreOptimizer):
    """Keeps a running sum of gradients, and moves along it."""

    _KIND = "Momentum"

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


class AdagradOptimizer(_CoreOptimizer):
    """Divides by the square root of the sum of squared gradients so far."""

    _KIND = "Adagrad"

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


class AdamOptimizer(_CoreOptimizer):
    """Adaptive moments: running means of the gradient and of its square.

    >>> x = tf.Variable(1.0)
    >>> train = tf.train.AdamOptimizer(0.1).minimize(x * x)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(train)
    ...     print(session.run(x))
    0.90000004
    """

    _KIND = "Adam"
    _ATTRIBUTES = {"learning_rate": "lr"}
    _TENSOR = "_t"

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

    def _get_beta_accumulators(self):
        graph = get_default_graph()
        names = ("beta1_power", "beta2_power")
        if self._direct:
            return tuple(self._get_non_slot_variable(name) for name in names)
        return tuple(self._core_slot(graph, None, name) for name in names)
