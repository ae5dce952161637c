"""Element types of tensors."""

import numpy as np

_REF = 100


class DType:
    """The element type of a tensor, e.g. `float32`; `float32_ref` is a variable of that type."""

    __slots__ = ("_type_enum", "_name", "_np")

    def __init__(self, type_enum, name=None, numpy_type=None):
        if name is None:  # made by a program, of TensorFlow's number alone
            known = as_dtype(int(type_enum))
            name, numpy_type = known._name, known._np
        self._type_enum = int(type_enum)
        self._name = name
        self._np = numpy_type

    @property
    def name(self):
        """The name, as in "float32"; that of a reference ends in "_ref"."""
        return self._name

    @property
    def as_datatype_enum(self):
        """TensorFlow's number of the type."""
        return self._type_enum

    @property
    def as_numpy_dtype(self):
        """The NumPy type of values; of bfloat16, int4 and uint4 that of ml_dtypes, if installed."""
        return _numpy_type_of(self.base_dtype)

    @property
    def base_dtype(self):
        """The type without the reference."""
        return self if self._type_enum < _REF else _BY_NUMBER[self._type_enum - _REF]

    @property
    def real_dtype(self):
        """The type of the parts of a complex number, else the type itself."""
        base = self.base_dtype
        if base is complex64:
            return float32
        return float64 if base is complex128 else self

    @property
    def _is_ref_dtype(self):
        return self._type_enum > _REF

    @property
    def _as_ref(self):
        return self if self._is_ref_dtype else _BY_NUMBER[self._type_enum + _REF]

    @property
    def is_numpy_compatible(self):
        """Whether NumPy can hold the values: all dtypes but resources and variants."""
        return self.base_dtype not in (resource, variant)

    @property
    def is_bool(self):
        """Whether it is bool, or a reference to it."""
        return self.base_dtype is bool

    @property
    def is_floating(self):
        """Whether it holds real floating-point numbers; complex ones do not count."""
        return self._type_enum % _REF in _FLOATING

    @property
    def is_complex(self):
        """Whether it is complex64 or complex128, or a reference to one."""
        return self.base_dtype in (complex64, complex128)

    @property
    def is_quantized(self):
        """Whether it is one of qint8, quint8, qint16, quint16 and qint32."""
        return self.base_dtype in (qint8, quint8, qint16, quint16, qint32)

    @property
    def is_integer(self):
        """Whether it holds plain integers; bool and quantized ones do not count."""
        return self._type_enum % _REF in _INTEGERS

    @property
    def is_numeric(self):
        """Whether it is of numbers, not of booleans, strings or handles."""
        return self.is_integer or self.is_floating or self.is_complex or self.is_quantized

    @property
    def is_unsigned(self):
        """Whether it holds integers that are never negative."""
        return self.base_dtype in (uint8, uint16, uint32, uint64, uint4)

    @property
    def min(self):
        """The lowest finite value."""
        return self._limit("min")

    @property
    def max(self):
        """The highest finite value."""
        return self._limit("max")

    def _limit(self, which):
        base = self.base_dtype
        if base is bfloat16:
            return float.fromhex("-0x1.FEp127" if which == "min" else "0x1.FEp127")
        if base in (int4, uint4):
            return {"min": 0, "max": 15}[which] if base is uint4 else {"min": -8, "max": 7}[which]
        if base.is_bool:
            return which == "max"
        if base.is_floating:
            return getattr(np.finfo(base._np), which)
        if base.is_integer or base.is_quantized:
            return getattr(np.iinfo(base._np), which)
        raise TypeError(f"Cannot find {which}imum value of {self}.")

    @property
    def limits(self):
        """(low, high): the range of values that images of this type have."""
        return (0, self.max) if self.is_integer else (0, 1)

    @property
    def size(self):
        """Bytes of one element."""
        base = self.base_dtype
        if base is bfloat16:
            return 2
        return 1 if base in (variant, resource) else np.dtype(base._np).itemsize

    def is_compatible_with(self, other):
        """Whether values of `other` can be used where this type is asked for."""
        other = as_dtype(other)
        return self._type_enum in (other._type_enum, other.base_dtype._type_enum)

    def __eq__(self, other):
        if self is other:
            return True
        if other is None:
            return False
        if not isinstance(other, DType):
            if any(other is kind for kind in (int, str, bytes, complex)):
                return False  # TensorFlow has no such Python types
            try:
                other = as_dtype(other)
            except TypeError:
                return False
        return self._type_enum == other._type_enum

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._type_enum

    def __int__(self):
        return self._type_enum

    def __reduce__(self):
        return as_dtype, (self._name,)

    def __str__(self):
        return f"<dtype: {self._name!r}>"

    def __repr__(self):
        return "tf." + self._name


def _numpy_type_of(dtype):
    if dtype not in (bfloat16, int4, uint4):
        return dtype._np
    try:
        import ml_dtypes
    except ImportError:
        return dtype._np
    return getattr(ml_dtypes, dtype.name)


# TensorFlow's numbers. NumPy has no type for bfloat16 and 4 bits: without ml_dtypes the values of
# these are float32 and of 8 bits.
_TABLE = (
    (1, "float32", np.float32),
    (2, "float64", np.float64),
    (3, "int32", np.int32),
    (4, "uint8", np.uint8),
    (5, "int16", np.int16),
    (6, "int8", np.int8),
    (7, "string", np.object_),
    (8, "complex64", np.complex64),
    (9, "int64", np.int64),
    (10, "bool", np.bool_),
    (11, "qint8", np.int8),
    (12, "quint8", np.uint8),
    (13, "qint32", np.int32),
    (14, "bfloat16", np.float32),
    (15, "qint16", np.int16),
    (16, "quint16", np.uint16),
    (17, "uint16", np.uint16),
    (18, "complex128", np.complex128),
    (19, "float16", np.float16),
    (20, "resource", np.object_),
    (21, "variant", np.object_),
    (22, "uint32", np.uint32),
    (23, "uint64", np.uint64),
    (29, "int4", np.int8),
    (30, "uint4", np.uint8),
)

_BY_NUMBER = {}
_BY_NAME = {}
for _number, _name, _numpy in _TABLE:
    _BY_NUMBER[_number] = _BY_NAME[_name] = DType(_number, _name, _numpy)
    _BY_NUMBER[_number + _REF] = DType(_number + _REF, _name + "_ref", _numpy)
    _BY_NAME[_name + "_ref"] = _BY_NUMBER[_number + _REF]

float32 = _BY_NAME["float32"]
float64 = _BY_NAME["float64"]
double = float64
int32 = _BY_NAME["int32"]
uint8 = _BY_NAME["uint8"]
int16 = _BY_NAME["int16"]
int8 = _BY_NAME["int8"]
string = _BY_NAME["string"]
complex64 = _BY_NAME["complex64"]
int64 = _BY_NAME["int64"]
qint8 = _BY_NAME["qint8"]
quint8 = _BY_NAME["quint8"]
qint32 = _BY_NAME["qint32"]
bfloat16 = _BY_NAME["bfloat16"]
qint16 = _BY_NAME["qint16"]
quint16 = _BY_NAME["quint16"]
uint16 = _BY_NAME["uint16"]
complex128 = _BY_NAME["complex128"]
float16 = _BY_NAME["float16"]
half = float16
resource = _BY_NAME["resource"]
variant = _BY_NAME["variant"]
uint32 = _BY_NAME["uint32"]
uint64 = _BY_NAME["uint64"]
int4 = _BY_NAME["int4"]
uint4 = _BY_NAME["uint4"]
bool = _BY_NAME["bool"]

_ALIASES = {
    "half": float16,
    "float": float32,
    "double": float64,
    "half_ref": float16._as_ref,
    "float_ref": float32._as_ref,
    "double_ref": float64._as_ref,
}
_FROM_PYTHON = {
    float: float32,
    int: int32,
    complex: complex128,
    type(True): bool,
    str: string,
    bytes: string,
    object: string,
}
_FROM_NUMPY = {
    np.dtype(numpy_type): _BY_NUMBER[number]
    for number, name, numpy_type in _TABLE
    if not name.startswith("q")
    and name not in ("bfloat16", "int4", "uint4", "resource", "variant", "string")
}
_FROM_NUMPY[np.dtype(np.object_)] = string


def as_dtype(value):
    """The DType of a DType, its number, a name, a Python type or a NumPy type.

    >>> tf.dtypes.as_dtype("float32").size
    4
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        found = _BY_NAME.get(value) or _ALIASES.get(value)
        if found is not None:
            return found
    elif isinstance(value, int) and value in _BY_NUMBER:
        return _BY_NUMBER[value]
    elif isinstance(value, type) and value in _FROM_PYTHON:
        return _FROM_PYTHON[value]
    try:
        numpy_type = np.dtype(value)
    except TypeError:
        pass
    else:
        if value is not None:
            found = _FROM_NUMPY.get(numpy_type)
            if found is not None:
                return found
            if numpy_type.kind in "SU":
                return string
            if numpy_type.name in ("bfloat16", "int4", "uint4"):
                return _BY_NAME[numpy_type.name]
    raise TypeError(f"Cannot convert value {value!r} to a TensorFlow DType.")


BY_NUMBER, BY_NAME = _BY_NUMBER, _BY_NAME

_INTEGERS = frozenset(
    t._type_enum for t in (int4, int8, int16, int32, int64, uint4, uint8, uint16, uint32, uint64)
)
_FLOATING = frozenset(t._type_enum for t in (float16, float32, float64, bfloat16))
QUANTIZED_DTYPES = frozenset((qint8, quint8, qint16, quint16, qint32))
