"""Templates: functions that make their variables when they are called first and share them then."""

import functools

from rheos.framework.defaults import get_default_graph
from rheos.ops.state import variable_scope
from rheos.ops.state.graph_keys import GraphKeys


def make_template(
    name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs
):
    """A function that calls `func_` with `kwargs`, and with the same variables at each call.

    name_: of the scope of the variables (made unique, unless unique_name_ is given instead) and of
    the operations of each call. create_scope_now_: settles the variables' scope here, not at the
    first call. custom_getter_: for the scope's variables. ValueError if a later call makes
    trainable variables of its own: those that `tf.Variable` makes are not shared.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class Template:
    """What make_template() returns."""

    def __init__(
        self, name, func, create_scope_now=False, unique_name=None, custom_getter=None
    ):  # fmt: skip
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope = None
        self._was_called = False
        if create_scope_now:
            with self._new_scope(auxiliary_name_scope=False) as self._scope:
                pass

    def _new_scope(self, **kwargs):
        return variable_scope.variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter, **kwargs
        )

    def __call__(self, *args, **kwargs):
        if self._scope is None:
            scope = self._new_scope()
        else:
            scope = variable_scope.variable_scope(
                self._scope, reuse=True if self._was_called else variable_scope.AUTO_REUSE
            )
        trainable = len(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES))
        with scope as entered:
            if self._scope is None:
                self._scope = entered
            result = self._func(*args, **kwargs)
        made = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)[trainable:]
        if self._was_called and made:
            raise ValueError(
                "New variable(s) created when not expected when calling the template "
                f"'{self._name}': {[variable.name for variable in made]}"
            )
        self._was_called = True
        return result

    @property
    def name(self):
        """The name given."""
        return self._name

    @property
    def func(self):
        """The function given."""
        return self._func

    @property
    def variable_scope(self):
        """The scope of the variables; None before it is settled."""
        return self._scope

    @property
    def variable_scope_name(self):
        """The name of that scope, with a slash behind it; None before it is settled."""
        name = self._scope and self._scope.name
        return name + "/" if name and not name.endswith("/") else name

    def _collected(self, key):
        if self._scope is None:
            return []
        prefix = self._scope.name + "/" if self._scope.name else ""
        return get_default_graph().get_collection(key, prefix)

    @property
    def global_variables(self):
        """The variables made in its scope."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self):
        """The local variables made in its scope."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self):
        """All variables made in its scope."""
        return self.global_variables + self.local_variables

    weights = variables

    @property
    def trainable_variables(self):
        """Those of them that optimizers train."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        """The other variables."""
        trained = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self.variables if id(variable) not in trained]

    non_trainable_weights = non_trainable_variables
