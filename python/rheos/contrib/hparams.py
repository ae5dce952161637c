"""Hyperparameters by name, which a command line can change: tf.contrib.training.HParams."""

import json
import numbers
import re

from rheos.framework import messages
from rheos.framework.messages import is_message

_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)"
    r"(?:\[\s*(?P<index>\d+)\s*\])?"
    r"\s*=\s*"
    r"(?:(?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])"
    r"(?:$|,\s*)"
)
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


def _boolean(text):
    return _BOOLEANS[text] if text in _BOOLEANS else bool(int(text))


def _parsed(name, text, kind, values):
    try:
        return (_boolean if kind is bool else kind)(text)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in "
            f"{values}"
        ) from None


def _once(condition, name, values):
    if not condition:
        raise ValueError(f"Multiple assignments to variable '{name}' in {values}")


def parse_values(values, type_map, ignore_unknown=False):
    """{name: value} of a text such as "a=1,b=[1,2],c[0]=3"; c is {0: 3} there.

    type_map: {name: type}, of the elements for lists. ignore_unknown: other names are left out.
    ValueError for what does not parse, for unknown names and for a value that is given twice.
    """
    found, position = {}, 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name, index = match["name"], match["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        if match["values"] is not None:
            if index is not None:
                raise ValueError("Assignment of a list to a list index.")
            _once(name not in found, name, values)
            items = [item for item in re.split("[ ,]", match["values"]) if item]
            found[name] = [_parsed(name, item, kind, values) for item in items]
            continue
        value = _parsed(name, match["value"], kind, values)
        if index is None:
            _once(name not in found, name, values)
            found[name] = value
            continue
        by_index = found.setdefault(name, {})
        _once(isinstance(by_index, dict), name, values)
        _once(int(index) not in by_index, f"{name}[{index}]", values)
        by_index[int(index)] = value
    return found


def _cast(name, kind, value):
    """The value as that type, if nothing is lost and nothing becomes a number that was none."""
    if type(value) is kind or kind is type(None):
        return value
    is_text = issubclass(kind, (str, bytes)) and not isinstance(value, (str, bytes))
    is_boolean = issubclass(kind, bool) != isinstance(value, bool)
    is_fraction = issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral)
    is_other = issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number)
    if is_text or is_boolean or is_fraction or is_other:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


# The fields of an HParamDef.
_FIELDS = {int: "int64", float: "float", str: "bytes", bool: "bool"}


def _values_of(hparam_def):
    """{name: value} of an HParamDef."""
    if not is_message(hparam_def, "HParamDef"):
        raise TypeError(f"expected an HParamDef, got {type(hparam_def)}")
    values = {}
    for name, entry in hparam_def.hparam.items():
        field = entry.WhichOneof("kind")
        if field is None:
            raise ValueError(f"hparam '{name}' has no value")
        value = getattr(entry, field)
        found = list(value.value) if field.endswith("_list") else [value]
        if field.startswith("bytes"):
            found = [item.decode() for item in found]
        values[name] = found if field.endswith("_list") else found[0]
    return values


class HParams:
    """Named values; each is an attribute. A value keeps the type that it is given first.

    hparam_def: an HParamDef with the values, then no others are taken. Types are int, float, bool,
    str and lists of these. ValueError for a name that methods have.
    """

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self._hparam_types = {}  # name -> (type, whether it is a list)
        self._model_structure = model_structure
        if hparam_def is not None:
            kwargs = _values_of(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds a hyperparameter. ValueError if there is one, and for an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = type(value[0]), True
        else:
            self._hparam_types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Changes a value. KeyError for an unknown name, ValueError for another type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) and not is_list:
            raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
        if is_list and not isinstance(value, list):
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        if is_list:
            value = [_cast(name, kind, item) for item in value]
        else:
            value = _cast(name, kind, value)
        setattr(self, name, value)

    def del_hparam(self, name):
        """Takes a hyperparameter away; fine if there is none."""
        if name in self._hparam_types:
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Changes values as a text such as "rate=0.1,sizes=[3,4]" says; gives itself."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict):
        """Changes values; gives itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map):
        """The same."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure):
        """Keeps a description of the model beside the values."""
        self._model_structure = model_structure

    def get_model_structure(self):
        """What set_model_structure() was given, or None."""
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """The values as a JSON object."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def to_proto(self, export_scope=None):
        """The values as an HParamDef. ValueError for a type that it has no field for."""
        message = messages.HParamDef()
        for name, (kind, is_list) in self._hparam_types.items():
            field = _FIELDS.get(kind)
            if field is None:
                raise ValueError(f"Unsupported type for hparam '{name}': {kind}")
            value = getattr(self, name)
            values = [v.encode() if kind is str else v for v in (value if is_list else [value])]
            entry = message.hparam[name]
            if is_list:
                getattr(entry, f"{field}_list").value.extend(values)
            else:
                setattr(entry, f"{field}_value", values[0])
        return message

    @staticmethod
    def from_proto(hparam_def, import_scope=None):
        """HParams with the values of an HParamDef."""
        return HParams(hparam_def=hparam_def)

    def parse_json(self, values_json):
        """Changes values as a JSON object says; gives itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self):
        """{name: value}"""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """A value, or the default if there is no such name. ValueError if its type differs."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            text = f"list<{kind}>" if is_list else str(kind)
            wrong = f"Hparam '{key}' of type '{text}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(wrong)
            try:
                for item in default if is_list else [default]:
                    _cast(key, kind, item)
            except ValueError as error:
                raise ValueError(f"{wrong}. {error}") from None
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self):
        return f"{type(self).__name__}({sorted(self.values().items())})"
