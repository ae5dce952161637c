"""Optimizers of tf.contrib.opt."""

import inspect

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies
from rheos.framework.op_call import apply_op, op1
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.state import state_ops
from rheos.ops.state.variable_lists import global_variables
from rheos.ops.state.variables import Variable
from rheos.training.moving_averages import ExponentialMovingAverage
from rheos.training.optimizers import AdamOptimizer, MomentumOptimizer, Optimizer
from rheos.training.saver import Saver


class _Rows:
    """Reads and writes rows of variables of either kind."""

    def __init__(self, var, use_locking):
        self._is_resource = var._is_resource
        self._use_locking = use_locking

    def _change(self, op_type, variable, indices, values):
        if not self._is_resource:
            return op1(op_type, None, variable, indices, values, use_locking=self._use_locking)
        change = {
            "ScatterUpdate": state_ops.scatter_update,
            "ScatterAdd": state_ops.scatter_add,
        }[op_type]
        with control_dependencies([change(variable, indices, values)]):
            return variable.value()

    def update(self, variable, indices, values):
        return self._change("ScatterUpdate", variable, indices, values)

    def add(self, variable, indices, values):
        return self._change("ScatterAdd", variable, indices, values)


class _AdamLike(AdamOptimizer):
    """Adam whose updates of rows a subclass defines, for variables of either kind."""

    def _in_dtype(self, var, *names):
        dtype = var.dtype.base_dtype
        return [math_ops.cast(getattr(self, name), dtype) for name in names]

    def _corrected_rate(self, var):
        """The learning rate that makes up for means that started at 0."""
        powers = [math_ops.cast(p, var.dtype.base_dtype) for p in self._get_beta_accumulators()]
        (rate,) = self._in_dtype(var, "_lr_t")
        return rate * math_ops.sqrt(1 - powers[1]) / (1 - powers[0])

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_rows(grad, handle, indices)


class LazyAdamOptimizer(_AdamLike):
    """Adam that, for a gradient of rows, changes the means of these rows only."""

    def _apply_rows(self, values, var, indices):
        rows = _Rows(var, self._use_locking)
        rate = self._corrected_rate(var)
        beta1, beta2, epsilon = self._in_dtype(var, "_beta1_t", "_beta2_t", "_epsilon_t")
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * array_ops.gather(m, indices) + (1 - beta1) * values
        v_rows = beta2 * array_ops.gather(v, indices) + (1 - beta2) * math_ops.square(values)
        updates = [rows.update(m, indices, m_rows), rows.update(v, indices, v_rows)]
        step = rate * m_rows / (math_ops.sqrt(v_rows) + epsilon)
        return control_flow_ops.group(rows.add(var, indices, -step), *updates)


class _WithDenseOp(_AdamLike):
    """Dense gradients go to an op of its own, which takes the powers of the betas first."""

    _DENSE_ATTRS = {}

    def _dense(self, op_type, grad, *places):
        powers = self._get_beta_accumulators()
        powers = powers if isinstance(powers, tuple) else (powers,)
        numbers = (*powers, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return apply_op(
            op_type,
            None,
            *places,
            *[math_ops.cast(number, grad.dtype.base_dtype) for number in numbers],
            grad,
            use_locking=self._use_locking,
            **self._DENSE_ATTRS,
        )

    def _apply_dense(self, grad, var):
        slots = self.get_slot(var, "m"), self.get_slot(var, "v")
        return self._dense(self._DENSE_OP, grad, var, *slots)

    def _resource_apply_dense(self, grad, handle):
        places = handle, self.get_slot(handle, "m"), self.get_slot(handle, "v")
        handles = [place.handle for place in places]
        return self._dense("Resource" + self._DENSE_OP, grad, *handles)


class NadamOptimizer(_WithDenseOp):
    """Adam with Nesterov's momentum (Dozat 2015)."""

    _DENSE_OP = "ApplyAdam"
    _DENSE_ATTRS = {"use_nesterov": True}

    def _apply_rows(self, values, var, indices):
        rows = _Rows(var, self._use_locking)
        rate = self._corrected_rate(var)
        beta1, beta2, epsilon = self._in_dtype(var, "_beta1_t", "_beta2_t", "_epsilon_t")
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = values * (1 - beta1)
        with control_dependencies([_assign(m, m * beta1, self._use_locking)]):
            m_now = rows.add(m, indices, scaled)
        ahead = scaled + beta1 * array_ops.gather(m_now, indices)
        with control_dependencies([_assign(v, v * beta2, self._use_locking)]):
            v_now = rows.add(v, indices, values * values * (1 - beta2))
        step = rate * ahead / (math_ops.sqrt(array_ops.gather(v_now, indices)) + epsilon)
        return control_flow_ops.group(rows.add(var, indices, -step), ahead, v_now)


class AdaMaxOptimizer(_WithDenseOp):
    """Adam with the largest gradient in place of the mean square (Kingma and Ba 2015)."""

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self):
        return self._get_non_slot_variable("beta1_power", get_default_graph())

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    _DENSE_OP = "ApplyAdaMax"

    def _apply_rows(self, values, var, indices):
        rows = _Rows(var, self._use_locking)
        power = math_ops.cast(self._get_beta_accumulators(), var.dtype.base_dtype)
        rate, beta1, beta2, epsilon = self._in_dtype(
            var, "_lr_t", "_beta1_t", "_beta2_t", "_epsilon_t"
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = array_ops.gather(m, indices) * beta1 + values * (1 - beta1)
        v_rows = math_ops.maximum(array_ops.gather(v, indices) * beta2, math_ops.abs(values))
        updates = [rows.update(m, indices, m_rows), rows.update(v, indices, v_rows)]
        step = -rate / (1 - power) * (m_rows / (v_rows + epsilon))
        return control_flow_ops.group(rows.add(var, indices, step), *updates)

    def _finish(self, update_ops, name_scope):
        with control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with colocate_with(power):
                update = _assign(power, power * self._beta1_t, self._use_locking)
        return control_flow_ops.group(*update_ops, update, name=name_scope)


def _assign(variable, value, use_locking):
    return variable.assign(value, use_locking=use_locking)


# ---- Weights that decay apart from the gradient (Loshchilov and Hutter 2017)


class DecoupledWeightDecayExtension:
    """Put before an optimizer among the bases of a class: takes weight_decay * variable off.

    decay_var_list of minimize() and apply_gradients(): the variables that decay, by default all.
    """

    def __init__(self, weight_decay, **kwargs):
        self._decay_var_list = self._decay_of_minimize = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor = None
        super().__init__(**kwargs)

    def minimize(self, loss, *args, decay_var_list=None, **kwargs):
        """As of the optimizer."""
        self._decay_of_minimize = decay_var_list
        try:
            return super().minimize(loss, *args, **kwargs)
        finally:
            self._decay_of_minimize = None

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """As of the optimizer."""
        decay_var_list = decay_var_list or self._decay_of_minimize
        self._decay_var_list = list(decay_var_list) if decay_var_list else None
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self):
        decay = self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(
            decay() if callable(decay) else decay, name="weight_decay"
        )
        super()._prepare()

    def _decays(self, var):
        return not self._decay_var_list or any(var is v for v in self._decay_var_list)

    def _decayed(self, var):
        if not self._decays(var):
            return []
        return [var.assign_sub(self._weight_decay * var, use_locking=self._use_locking)]

    def _decayed_rows(self, var, indices):
        if not self._decays(var):
            return []
        rows = _Rows(var, self._use_locking)
        return [rows.add(var, indices, -self._weight_decay * array_ops.gather(var, indices))]

    def _apply_dense(self, grad, var):
        with control_dependencies(self._decayed(var)):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, handle):
        with control_dependencies(self._decayed(handle)):
            return super()._resource_apply_dense(grad, handle)

    def _apply_sparse(self, grad, var):
        with control_dependencies(self._decayed_rows(var, grad.indices)):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, handle, indices):
        with control_dependencies(self._decayed_rows(handle, indices)):
            return super()._resource_apply_sparse(grad, handle, indices)


def extend_with_decoupled_weight_decay(base_optimizer):
    """A class of optimizers like `base_optimizer` whose first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """An optimizer that lets weights decay too."""

        def __init__(self, weight_decay, *args, **kwargs):
            if args:
                names = list(inspect.signature(base_optimizer).parameters)
                kwargs.update(zip(names, args))
            super().__init__(weight_decay, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weights that decay."""

    def __init__(
        self,
        weight_decay,
        learning_rate,
        momentum,
        use_locking=False,
        name="MomentumW",
        use_nesterov=False,
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with weights that decay."""

    def __init__(
        self,
        weight_decay,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="AdamW",
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )


class MovingAverageOptimizer(Optimizer):
    """Another optimizer, and moving averages of the variables that it trains.

    The saver that swapping_saver() makes saves the averages under the names of the variables.
    """

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        super().__init__(False, "MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped = None  # name -> name of what is saved in its place
        self._is_sequential = sequential_update

    def compute_gradients(self, *args, **kwargs):
        """As of the other optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that trains and then averages."""
        grads_and_vars = list(grads_and_vars)
        train = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        trained = [v for g, v in grads_and_vars if g is not None]
        with control_dependencies([train] if self._is_sequential else []):
            average = self._ema.apply(trained)
        self._swapped = {}
        for variable in trained:
            names = variable.op.name, self._ema.average(variable).op.name
            self._swapped.update([names, names[::-1]])
        return control_flow_ops.group(train, average, name="train_with_avg")

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A saver that saves averages for variables. RuntimeError before apply_gradients()."""
        if self._swapped is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        if var_list is None:
            var_list = global_variables()
        if not isinstance(var_list, dict):
            var_list = {v.op.name if isinstance(v, Variable) else v.name: v for v in var_list}
        swapped = {}
        for key in var_list:
            other = self._swapped.get(key, key)
            if other not in var_list:
                raise ValueError(
                    f"Variable to swap {other} is not part of variables to save. This breaks "
                    "MovingAverageOptimizer."
                )
            swapped[key] = var_list[other]
        return Saver(swapped, name=name, **kwargs)
