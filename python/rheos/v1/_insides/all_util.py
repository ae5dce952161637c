"""What a module shows: tensorflow.python.util.all_util."""

import inspect
import re
import sys

_HIDDEN = {}
_REFERENCE = re.compile(r"^@@(\w+)", re.M)


def _module(name):
    return sys.modules[name]


def make_all(module_name, doc_string_modules=None):
    """The names that the docstrings of modules refer to as @@name, of those that a module has."""
    modules = [_module(module_name)] if doc_string_modules is None else doc_string_modules
    there = {name for name, _ in inspect.getmembers(_module(module_name))}
    texts = [module.__doc__ or "" for module in modules]
    return [name for text in texts for name in _REFERENCE.findall(text) if name in there]


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Deletes what a module has besides the names of make_all(), those allowed and private ones."""
    module = _module(module_name)
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in [name for name in dir(module) if not name.startswith("_")]:
        if name in kept or name in ("print_function", "division", "absolute_import"):
            continue
        _HIDDEN[f"{module_name}.{name}"] = module, getattr(module, name)
        delattr(module, name)


def reveal_undocumented(symbol_name, target_module=None):
    """Gives back what remove_undocumented() deleted. LookupError if it did not."""
    if symbol_name not in _HIDDEN:
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    module, value = _HIDDEN[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
