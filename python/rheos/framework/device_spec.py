"""Names of devices, taken apart: job, replica, task, kind and number."""


def _integer(value):
    return None if value is None else int(value)


def _text(value):
    return None if value is None else str(value)


def _kind(value):
    """The kind of a device; "cpu" and "gpu" are in capitals, whatever else is as it was given."""
    if value is None:
        return None
    value = str(value)
    return value.upper() if value in ("cpu", "gpu") else value


_FIELDS = {
    "job": _text,
    "replica": _integer,
    "task": _integer,
    "device_type": _kind,
    "device_index": _integer,
}


def _parsed(spec):
    """The fields that a string such as "/job:a/task:1/device:GPU:0" names."""
    found = {}
    for part in spec.split("/"):
        pieces = part.split(":")
        if pieces == [""]:
            continue
        key, rest = pieces[0], pieces[1:]
        if key in ("job", "replica", "task") and len(rest) == 1:
            found[key] = _FIELDS[key](rest[0])
            continue
        if key == "device" and len(rest) == 2:
            kind, number = rest
        elif key.upper() in ("CPU", "GPU") and len(rest) <= 1:
            kind, number = key.upper(), rest[0] if rest else "*"
        else:
            raise ValueError(
                f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'."
            )
        if "device_type" in found:
            raise ValueError(f"Cannot specify multiple device types: {spec}")
        found["device_type"] = _kind(kind)
        found["device_index"] = None if number == "*" else int(number)
    return found


class DeviceSpec:
    """A device, or what is said of one: each field may be None, which says nothing.

    job: a name. replica, task, device_index: integers; ValueError if they are not. device_type:
    such as "CPU". `tf.device` takes one.
    """

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    def __setattr__(self, name, value):
        if name not in _FIELDS:
            raise AttributeError(f"'DeviceSpec' object has no attribute '{name}'")
        object.__setattr__(self, name, _FIELDS[name](value))

    def _fields(self):
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_string(cls, spec):
        """The DeviceSpec of a string such as "/job:a/task:1/gpu:0"; ValueError if it is none."""
        return cls(**_parsed(spec))

    def parse_from_string(self, spec):
        """Takes all fields from a string, as from_string(). Returns itself."""
        fields = dict.fromkeys(_FIELDS)
        fields.update(_parsed(spec))
        for name, value in fields.items():
            setattr(self, name, value)
        return self

    def merge_from(self, dev):
        """Takes the fields that another DeviceSpec has."""
        for name, value in dev._fields().items():
            if value is not None:
                setattr(self, name, value)

    def make_merged_spec(self, dev):
        """A new DeviceSpec: the fields of `dev`, and its own where that one says nothing."""
        merged = type(self)(**self._fields())
        DeviceSpec.merge_from(merged, dev)
        return merged

    def replace(self, **kwargs):
        """A new DeviceSpec with these fields changed; None takes one away."""
        fields = self._fields()
        unknown = set(kwargs) - set(fields)
        if unknown:
            raise TypeError(f"unexpected keyword argument '{sorted(unknown)[0]}'")
        return type(self)(**{**fields, **kwargs})

    def to_string(self):
        """The string form, such as "/job:a/task:1/device:GPU:*"."""
        text = "".join(
            f"/{name}:{getattr(self, name)}"
            for name in ("job", "replica", "task")
            if getattr(self, name) is not None
        )
        if self.device_type is not None:
            number = "*" if self.device_index is None else self.device_index
            text += f"/device:{self.device_type}:{number}"
        return text

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())
