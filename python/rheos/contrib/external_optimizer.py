"""Optimizers outside of the graph, such as scipy's, that drive a session: tf.contrib.opt."""

import itertools
import math

import numpy as np

from rheos.framework import logging
from rheos.framework.defaults import get_default_session
from rheos.ops.array import array_ops
from rheos.ops.differentiation import gradients
from rheos.ops.state.variable_lists import trainable_variables


def _sizes(var):
    return tuple(var.get_shape().as_list())


def _gradients(target, variables):
    """The gradient by each variable, zeros where the target does not depend on it."""
    found = gradients.gradients(target, variables)
    return [
        array_ops.zeros_like(var) if gradient is None else gradient
        for var, gradient in zip(variables, found)
    ]


def _packed(tensors):
    """Tensors as one vector; None for no tensors."""
    flat = [array_ops.reshape(tensor, [-1]) for tensor in tensors]
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else array_ops.concat(flat, 0)


def _packed_bounds(variables, var_to_bounds):
    """[(lower, upper)] of every element of the packed variables."""
    bounds = []
    for var in variables:
        limits = var_to_bounds.get(var, (-np.inf, np.inf))
        lower, upper = (np.broadcast_to(limit, _sizes(var)).flat for limit in limits)
        bounds += zip(lower, upper)
    return bounds


class ExternalOptimizerInterface:
    """What a class of optimizers that work on one NumPy vector is derived from.

    loss: a scalar to minimize over var_list (the trainable variables, if it is not given).
    equalities, inequalities: scalars to be held at 0, and at 0 or above. var_to_bounds: a dict of
    pairs (lower, upper) of what broadcasts to the variable. Other arguments go to `_minimize`,
    which a derived class defines.
    """

    def __init__(
        self,
        loss,
        var_list=None,
        equalities=None,
        inequalities=None,
        var_to_bounds=None,
        **optimizer_kwargs,
    ):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = var_to_bounds and _packed_bounds(self._vars, var_to_bounds)
        self._update_placeholders = [
            array_ops.placeholder(var.dtype.base_dtype) for var in self._vars
        ]
        self._var_updates = [
            var.assign(array_ops.reshape(placeholder, _sizes(var)))
            for var, placeholder in zip(self._vars, self._update_placeholders)
        ]
        loss_gradients = _gradients(loss, self._vars)
        equality_gradients = [_gradients(each, self._vars) for each in self._equalities]
        inequality_gradients = [_gradients(each, self._vars) for each in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = _packed(self._vars)
        self._packed_loss_grad = _packed(loss_gradients)
        self._packed_equality_grads = [_packed(each) for each in equality_gradients]
        self._packed_inequality_grads = [_packed(each) for each in inequality_gradients]
        ends = list(itertools.accumulate((math.prod(_sizes(v)) for v in self._vars), initial=0))
        self._slices = [slice(*pair) for pair in zip(ends, ends[1:])]

    def minimize(
        self,
        session=None,
        feed_dict=None,
        fetches=None,
        step_callback=None,
        loss_callback=None,
        **run_kwargs,
    ):
        """Minimizes the loss now, by steps of a session, and sets the variables to the result.

        fetches: what is fetched with the loss, for loss_callback(*values). step_callback(vector) is
        called after each step of the optimizer. run_kwargs: for the step that sets the variables.
        """
        session = session or get_default_session()
        feed_dict, fetches = feed_dict or {}, fetches or []

        def function(tensors, callback=None):
            return self._function(tensors, session, feed_dict, fetches, callback)

        def functions(tensors):
            return [function([tensor]) for tensor in tensors]

        vector = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=functions(self._equalities),
            equality_grad_funcs=functions(self._packed_equality_grads),
            inequality_funcs=functions(self._inequalities),
            inequality_grad_funcs=functions(self._packed_inequality_grads),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [vector[part] for part in self._slices]
        feed = dict(zip(self._update_placeholders, values))
        session.run(self._var_updates, feed_dict=feed, **run_kwargs)

    def _minimize(
        self,
        initial_val,
        loss_grad_func,
        equality_funcs,
        equality_grad_funcs,
        inequality_funcs,
        inequality_grad_funcs,
        packed_bounds,
        step_callback,
        optimizer_kwargs,
    ):
        """The vector that minimizes; each function takes a vector and returns a list of values."""
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method."
        )

    def _function(self, tensors, session, feed_dict, fetches, callback):
        """A function of a vector that gives what `tensors` are with the variables' values there."""

        def evaluate(x):
            feed = {
                var: x[part].reshape(_sizes(var)) for var, part in zip(self._vars, self._slices)
            }
            values = session.run([*tensors, *fetches], feed_dict={**feed, **feed_dict})
            if callback is not None:
                callback(*values[len(tensors) :])
            return values[: len(tensors)]

        return evaluate


def _scipy_arguments(ours, optimizer_kwargs):
    """The keywords of scipy's minimize; ValueError for one of the program's that is ours."""
    for name in ours:
        if name == "bounds" and name in optimizer_kwargs:
            raise ValueError("Bounds must be set using the var_to_bounds argument")
        if name in optimizer_kwargs:
            raise ValueError(
                f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                "manually"
            )
    return {**ours, **optimizer_kwargs}


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """scipy.optimize.minimize on a session; `method` is "L-BFGS-B" unless it is given."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val,
        loss_grad_func,
        equality_funcs,
        equality_grad_funcs,
        inequality_funcs,
        inequality_grad_funcs,
        packed_bounds,
        step_callback,
        optimizer_kwargs,
    ):
        import scipy.optimize

        def loss_and_gradient(x):
            loss, gradient = loss_grad_func(x)
            return loss, gradient.astype("float64")  # the Fortran code takes no others

        options = dict(optimizer_kwargs)
        method = options.pop("method", self._DEFAULT_METHOD)
        constraints = [
            {"type": kind, "fun": value, "jac": gradient}
            for kind, values, by_x in (
                ("eq", equality_funcs, equality_grad_funcs),
                ("ineq", inequality_funcs, inequality_grad_funcs),
            )
            for value, gradient in zip(values, by_x)
        ]
        ours = {
            "jac": True,
            "callback": step_callback,
            "method": method,
            "constraints": constraints,
            "bounds": packed_bounds,
        }
        result = scipy.optimize.minimize(
            loss_and_gradient, initial_val, **_scipy_arguments(ours, options)
        )
        logging.info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f\n"
            "  Number of iterations: %s\n  Number of functions evaluations: %d",
            result.message,
            result.fun,
            getattr(result, "nit", "unknown"),
            result.nfev,
        )
        return result["x"]
