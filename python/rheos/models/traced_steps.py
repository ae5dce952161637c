"""Steps of optimizers that run at once, as one traced function for each list of variables.

The first step of a list of variables makes what the optimizer keeps; the following ones are traced.
Who changes an attribute of the optimizer has them traced anew.
"""

import weakref

import numpy as np

from rheos import _core
from rheos.framework.operation import Tensor
from rheos.layers import values
from rheos.tracing.function import Function

_MOST = 16  # lists of variables


class TracedSteps:
    """The traced steps of one optimizer."""

    def __init__(self):
        self._seen = {}  # {ids of variables: the traced step; None after the first step}

    def __deepcopy__(self, memo):
        return TracedSteps()  # those of the copy are its own

    def __reduce__(self):
        return TracedSteps, ()

    def clear(self):
        """Forgets them: the optimizer was changed."""
        self._seen.clear()

    def run(self, optimizer, pairs):
        """Makes the step, a list of (gradient, variable), if it is one of those; whether it was."""
        if not values.runs_now() or _core._listeners() or not _is_known(type(optimizer)):
            return False
        if not all(map(_is_plain, optimizer._hyper.values())):
            return False
        for grad, variable in pairs:
            if not isinstance(grad, Tensor) or not variable._is_eager or variable.constraint:
                return False
        key = tuple([id(variable) for _, variable in pairs])
        if key not in self._seen:
            if len(self._seen) >= _MOST:
                self._seen.clear()
            self._seen[key] = None
            return False
        step = self._seen[key]
        if step is None:
            step = self._seen[key] = _traced(optimizer, [variable for _, variable in pairs])
        step(*[grad for grad, _ in pairs])
        return True


def _is_known(kind):
    """Whether what a class does in a step is the package's own: a program's may have effects."""
    return kind.__module__.partition(".")[0] == "rheos"


def _is_plain(hyper):
    """Whether a hyperparameter is a number or a schedule of the package."""
    return isinstance(hyper, (int, float, np.number)) or _is_known(type(hyper))


def _traced(optimizer, variables):
    reference = weakref.ref(optimizer)

    def step(*grads):
        reference()._step(list(zip(grads, variables)), None)

    return Function(step, f"{optimizer.name}_step", autograph=False)
