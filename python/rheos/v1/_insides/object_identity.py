"""Sets and dicts of objects by identity: tensorflow.python.util.object_identity."""

import collections.abc


class Reference:
    """An object by identity: equal to references to the same one."""

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        """The object."""
        return self._wrapped

    unwrapped = property(deref)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys are objects by identity."""

    def __init__(self, *args, **kwargs):
        self._storage = {}
        self.update(dict(*args, **kwargs))

    def __getitem__(self, key):
        return self._storage[Reference(key)]

    def __setitem__(self, key, value):
        self._storage[Reference(key)] = value

    def __delitem__(self, key):
        del self._storage[Reference(key)]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return (reference.deref() for reference in self._storage)


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set of objects by identity."""

    def __init__(self, *args):
        self._storage = {Reference(value) for value in (args[0] if args else ())}

    def __contains__(self, value):
        return Reference(value) in self._storage

    def add(self, value):
        """Adds an object."""
        self._storage.add(Reference(value))

    def discard(self, value):
        """Takes an object away, if it is there."""
        self._storage.discard(Reference(value))

    def update(self, values):
        """Adds objects."""
        self._storage.update(map(Reference, values))

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return (reference.deref() for reference in list(self._storage))
