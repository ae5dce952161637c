"""Objects that hold others by name: what checkpoints and saved models keep of a program.

A tracked object is a variable, a list, tuple or dict with such parts, an AutoTrackable, or any
object with a method `_trackable_children()` that gives {name: object}.
"""

from rheos.framework.operation import _VariableBase


def _is_tracked(value):
    if isinstance(value, (_VariableBase, AutoTrackable)) or hasattr(value, "_trackable_children"):
        return True
    if isinstance(value, dict):
        return any(isinstance(key, str) and _is_tracked(one) for key, one in value.items())
    return isinstance(value, (list, tuple)) and any(map(_is_tracked, value))


def children_of(value):
    """{name: object} of the tracked objects that a tracked object holds, in order."""
    if isinstance(value, _VariableBase):
        return {}
    own = getattr(value, "_trackable_children", None)
    if own is not None:
        return own()
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if isinstance(k, str) and _is_tracked(v)}
    if isinstance(value, (list, tuple)):
        return {str(i): v for i, v in enumerate(value) if _is_tracked(v)}
    return {}


class AutoTrackable:
    """An object whose attributes are tracked."""

    _ignored_children = ()

    def _trackable_children(self):
        """{name: object} of the attributes that are tracked."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in self._ignored_children
            and not name.startswith("_self_")
            and _is_tracked(value)
        }

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if "_self_pending" in self.__dict__ and _is_tracked(value):
            for restore, node in list(self._self_pending):
                restore.attribute_was_set(node, name, value)


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
