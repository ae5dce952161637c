"""tf.Module: an object with variables and modules, and a scope for the names of what it makes."""

import functools
import re

from rheos.framework import nest
from rheos.framework.graph import name_scope
from rheos.framework.operation import _VariableBase
from rheos.framework.trackable import AutoTrackable
from rheos.ops.state.partitioned_variables import PartitionedVariable

_WORDS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


def _snake(name):
    return _WORDS.sub(r"_\1", name).lower()


def _is_identifier(name):
    return re.match(r"^[A-Za-z_]\w*$", name) is not None


class Module(AutoTrackable):
    """A base for layers and models: knows the variables and modules among its attributes.

    name: a Python identifier, by default the class's name in lower case; ValueError for others.

    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         self.slope = tf.Variable(2.0)
    >>> len(Line().trainable_variables)
    1
    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_self_pending",))

    def __init__(self, name=None):
        name = _snake(type(self).__name__) if name is None else name
        if not _is_identifier(name):
            raise ValueError(f"{name!r} is not a valid module name: module names are identifiers")
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self):
        """The name that it was given."""
        return self._name

    @property
    def name_scope(self):
        """A context in which the names of operations begin with the module's."""
        return name_scope(self._scope_name)

    @property
    def variables(self):
        """The variables of the module and of modules in it, sorted by attributes, as a tuple."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self):
        """Those of `variables` that are trained."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and _is_trained(v)))

    @property
    def non_trainable_variables(self):
        """Those of `variables` that are not trained."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and not _is_trained(v)))

    @property
    def submodules(self):
        """The modules in the module, and those in them, as a tuple."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self,
        recursive=True,
        predicate=None,
        attribute_traversal_key=None,
        with_path=False,
        expand_composites=False,
    ):
        """What the attributes hold that fits the predicate; with_path: (path, value) of each."""
        todo, seen = [((), self)], {id(self)}
        while todo:
            prefix, module = todo.pop()
            inside = []
            names = sorted(vars(module), key=attribute_traversal_key)
            for name in names:
                if name in module._TF_MODULE_IGNORED_PROPERTIES:
                    continue
                for path, leaf in _leaves(vars(module)[name], expand_composites):
                    path = (*prefix, name, *path)
                    if id(leaf) in seen:
                        continue
                    if predicate is None or predicate(leaf):
                        seen.add(id(leaf))
                        yield (path, leaf) if with_path else leaf
                    if recursive and isinstance(leaf, Module):
                        seen.add(id(leaf))
                        inside.append((path, leaf))
            todo += inside[::-1]  # each with all that is in it before the next

    @classmethod
    def with_name_scope(cls, method):
        """A method whose operations and variables have names that begin with the module's."""

        @functools.wraps(method)
        def scoped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _leaves(value, expand_composites):
    """(path, leaf) of a structure; of what has no order, the value itself."""
    try:
        return _leaves_in(value, ())
    except TypeError:
        return [((), value)]


def _leaves_in(value, path):
    if isinstance(value, dict):
        keys = sorted(value)
        return [leaf for key in keys for leaf in _leaves_in(value[key], (*path, key))]
    if nest.is_nested(value) or isinstance(value, PartitionedVariable):
        return [leaf for i, part in enumerate(value) for leaf in _leaves_in(part, (*path, i))]
    return [(path, value)]


def _is_variable(value):
    return isinstance(value, _VariableBase)


def _is_trained(variable):
    return bool(getattr(variable, "trainable", getattr(variable, "_trainable", False)))
