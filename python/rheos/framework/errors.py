"""Exceptions of running a graph: one class for each of TensorFlow's error codes."""

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An error of a running graph: a message, a code, and the operation it happened in."""

    def __init__(self, node_def, op, message, error_code):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self):
        """What went wrong, and at which node if one is known."""
        return self._message

    @property
    def op(self):
        """The operation that failed, None if it is not known."""
        return self._op

    @property
    def error_code(self):
        """The number of the code, as in `tf.errors.NOT_FOUND`."""
        return self._error_code

    @property
    def node_def(self):
        """The NodeDef of the operation that failed, or None."""
        if self._node_def is None and self._op is not None:
            return self._op.node_def
        return self._node_def

    def __str__(self):
        return str(self._message)


_BY_CODE = {}


def _define(name, code, doc, also=()):
    def __init__(self, node_def, op, message):
        OpError.__init__(self, node_def, op, message, code)

    def __reduce__(self):
        return type(self), (None, None, self._message)

    cls = type(
        name,
        (OpError, *also),
        {"__init__": __init__, "__reduce__": __reduce__, "__doc__": doc, "__module__": __name__},
    )
    _BY_CODE[code] = cls
    return cls


CancelledError = _define("CancelledError", CANCELLED, "A step was cancelled.")
UnknownError = _define("UnknownError", UNKNOWN, "An error of no known kind.")
InvalidArgumentError = _define(
    "InvalidArgumentError", INVALID_ARGUMENT, "An operation got a value it cannot work with."
)
DeadlineExceededError = _define(
    "DeadlineExceededError", DEADLINE_EXCEEDED, "A deadline passed before a step was done."
)
NotFoundError = _define("NotFoundError", NOT_FOUND, "A file or another thing was not found.")
AlreadyExistsError = _define("AlreadyExistsError", ALREADY_EXISTS, "A thing exists already.")
PermissionDeniedError = _define(
    "PermissionDeniedError", PERMISSION_DENIED, "The caller may not do this."
)
ResourceExhaustedError = _define(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or another resource ran out."
)
FailedPreconditionError = _define(
    "FailedPreconditionError",
    FAILED_PRECONDITION,
    "The state does not allow it, e.g. a variable is not initialized.",
)
AbortedError = _define("AbortedError", ABORTED, "A step was aborted.")
OutOfRangeError = _define("OutOfRangeError", OUT_OF_RANGE, "Past the end of the input.")
UnimplementedError = _define("UnimplementedError", UNIMPLEMENTED, "This is not implemented.")
InternalError = _define("InternalError", INTERNAL, "A broken invariant of the library.")
UnavailableError = _define("UnavailableError", UNAVAILABLE, "The runtime cannot be reached.")
DataLossError = _define("DataLossError", DATA_LOSS, "Data is lost or damaged.")
UnauthenticatedError = _define(
    "UnauthenticatedError", UNAUTHENTICATED, "The request carries no valid credentials."
)


class InaccessibleTensorError(ValueError, TypeError):
    """A tensor of another graph was used, which is not around the function that uses it."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked for the value of a tensor while a graph was being built."""


def exception_type_from_error_code(error_code):
    """The error class of the number of a code; KeyError if there is none."""
    return _BY_CODE[error_code]


def error_code_from_exception_type(cls):
    """The number of the code of an error class, None for other classes."""
    for code, known in _BY_CODE.items():
        if cls is known:
            return code
    return None


BY_CODE = _BY_CODE
