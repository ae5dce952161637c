"""How the items of a collection become messages in a MetaGraphDef, and come back."""

_REGISTERED = {}


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """Says how the items of a collection are written: to_proto(item, export_scope) gives a message
    of proto_type, or None to leave the item out; from_proto(message, import_scope) gives the item.

    TypeError for what cannot be called; KeyError if the collection has functions already.
    """
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be callable.")
    if collection_name in _REGISTERED:
        raise KeyError(f"Registering two proto functions with name '{collection_name}'!")
    _REGISTERED[collection_name] = (proto_type, to_proto, from_proto)


def proto_functions(collection_name):
    """(proto_type, to_proto, from_proto) of a collection; all None if nothing was registered."""
    return _REGISTERED.get(collection_name, (None, None, None))


def with_scope(name, scope):
    """A name inside an import scope: "x", "^x" or "loc:@x"."""
    if not scope:
        return name
    start = "^" if name.startswith("^") else "loc:@" if name.startswith("loc:@") else ""
    return f"{start}{scope.removesuffix('/')}/{name[len(start) :]}"


def without_scope(name, scope):
    """A name as it is inside an export scope; others, "scoped" and "scope" too, stay."""
    folder = f"{scope.removesuffix('/')}/" if scope else ""
    return name.removeprefix(folder).lstrip("/") if folder and name.startswith(folder) else name
