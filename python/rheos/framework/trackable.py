"""Objects that hold others by name: what checkpoints and saved models keep of a program.

A tracked object is a variable, a list, tuple or dict with such parts, an AutoTrackable, or any
object with a method `_trackable_children()` that gives {name: object}.
"""

import functools

from rheos.framework.operation import _VariableBase


def _is_tracked(value):
    if isinstance(value, (_VariableBase, Trackable)) or hasattr(value, "_trackable_children"):
        return True
    if isinstance(value, dict):
        return any(isinstance(key, str) and _is_tracked(one) for key, one in value.items())
    return isinstance(value, (list, tuple)) and any(map(_is_tracked, value))


def _variable_behind(value):
    """The variable of an object of a program's own class that acts as one; else the object."""
    if isinstance(value, _VariableBase):
        return value
    if getattr(value, "_should_act_as_resource_variable", False):
        inner = value.value
        return inner if isinstance(inner, _VariableBase) else value
    return value


def children_of(value, save_type="checkpoint"):
    """{name: object} of the tracked objects that a tracked object holds, in order.

    save_type: what they are asked for, "checkpoint" or "savedmodel".
    """
    if isinstance(value, _VariableBase):
        return {}
    own = getattr(value, "_trackable_children", None)
    if own is not None:
        held = own() if save_type == "checkpoint" else own(save_type)
        return {name: _variable_behind(child) for name, child in held.items()}
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if isinstance(k, str) and _is_tracked(v)}
    if isinstance(value, (list, tuple)):
        return {str(i): v for i, v in enumerate(value) if _is_tracked(v)}
    return {}


class Trackable:
    """An object that may hold others by name."""

    _self_setattr_tracking = True

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """{name: object} of what it holds. save_type: "checkpoint" or "savedmodel"."""
        return dict(self.__dict__.get("_self_tracked", ()))

    def _track_trackable(self, trackable, name, overwrite=False):
        """Has the object hold another one by a name; ValueError if the name is taken."""
        if not _is_tracked(trackable) and not isinstance(trackable, (list, tuple, dict)):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type "
                f"Trackable. Got type {type(trackable)}."
            )
        held = self.__dict__.setdefault("_self_tracked", {})
        if name in held and held[name] is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                "this name is already declared as a dependency. Names must be unique (or "
                "overwrite=True)."
            )
        held[name] = trackable
        _tell_pending(self, name, trackable)
        return trackable

    def _lookup_dependency(self, name, cached_dependencies=None):
        """What the object holds by a name; None if there is nothing."""
        return (cached_dependencies or self._trackable_children()).get(name)


def _tell_pending(holder, name, value):
    """Tells what waits to be restored that an object holds a value now."""
    if "_self_pending" in holder.__dict__:
        for restore, node in list(holder._self_pending):
            restore.attribute_was_set(node, name, value)


def no_automatic_dependency_tracking(method):
    """A method that may set attributes without having the object hold their values."""

    @functools.wraps(method)
    def untracked(self, *args, **kwargs):
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return untracked


class ListWrapper(list):
    """A list that objects hold as one of theirs."""

    def __repr__(self):
        return f"ListWrapper({super().__repr__()})"


class _DictWrapper(dict):
    """A dict that objects hold as one of theirs."""

    def __repr__(self):
        return f"DictWrapper({super().__repr__()})"


class TrackableView:
    """The objects that can be reached from a tracked object."""

    def __init__(self, root):
        self._root = root

    @classmethod
    def children(cls, obj, save_type="checkpoint", **kwargs):
        """{name: object} of what an object holds."""
        return children_of(obj, save_type)

    @property
    def root(self):
        """The object where it begins."""
        return self._root

    def descendants(self):
        """All the objects, the root first, nearest first."""
        found, seen = [self._root], {id(self._root)}
        for value in found:  # which grows
            for child in self.children(value).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    found.append(child)
        return found


class AutoTrackable(Trackable):
    """An object whose attributes are tracked."""

    _ignored_children = ()

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """{name: object} of the attributes that are tracked."""
        found = {
            name: value
            for name, value in vars(self).items()
            if name not in self._ignored_children
            and not name.startswith("_self_")
            and _is_tracked(value)
        }
        untracked = self.__dict__.get("_self_untracked", ())
        for name in untracked:
            found.pop(name, None)
        found.update(super()._trackable_children(save_type, **kwargs))
        return found

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if not name.startswith("_self_"):
            self._note_attribute(name, value)

    def _note_attribute(self, name, value):
        state = self.__dict__
        if not self._self_setattr_tracking:
            state.setdefault("_self_untracked", set()).add(name)
            return
        if "_self_untracked" in state:
            state["_self_untracked"].discard(name)
        if "_self_pending" in state and _is_tracked(value):
            _tell_pending(self, name, value)

    def __delattr__(self, name):
        self.__dict__.get("_self_tracked", {}).pop(name, None)
        super().__delattr__(name)


class TrackableResource(AutoTrackable):
    """Something of the engine's behind a handle, such as a table, as objects hold it.

    A class of a program's own makes the handle in `_create_resource()`, and may fill what is
    behind it in `_initialize()`.
    """

    def __init__(self, device=""):
        self._resource_handle = None
        self._resource_device = device

    def _create_resource(self):
        """The handle of a new resource."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self):
        """Fills the resource."""

    def _destroy_resource(self):
        """Ends the resource; nothing is to be done, the last handle ends it."""

    @property
    def resource_handle(self):
        """The handle of the resource, made when it is first asked for."""
        if self._resource_handle is None:
            self._resource_handle = self._create_resource()
        return self._resource_handle


def descendants(root):
    """(object, path from the root) of all tracked objects, nearest first; each once."""
    found = [(root, ())]
    seen = {id(root)}
    for value, path in found:  # which grows
        for name, child in children_of(value).items():
            if id(child) not in seen:
                seen.add(id(child))
                found.append((child, (*path, name)))
    return found
