"""Functions around functions, by which these are found: tensorflow.python.util.tf_decorator."""

import inspect


class TFDecorator:
    """What is known of a decorated function: the function, the decorator's name and argspec."""

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        for field in ("__name__", "__qualname__", "__module__", "__doc__"):
            if hasattr(target, field):
                setattr(self, field, getattr(target, field))
        if decorator_doc:
            self.__doc__ = decorator_doc

    def __get__(self, instance, owner):
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self):
        """The function that was decorated."""
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target):
        self._decorated_target = target

    @property
    def decorator_name(self):
        """The name of the decorator."""
        return self._decorator_name

    @property
    def decorator_doc(self):
        """The docstring that it gave."""
        return self._decorator_doc

    @property
    def decorator_argspec(self):
        """The arguments that it gave, None for the function's own."""
        return self._decorator_argspec


def make_decorator(
    target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None
):
    """`decorator_func`, marked as one around `target`: with its name, docstring and arguments.

    decorator_name: by default that of the function that calls this one.
    """
    if decorator_name is None:
        decorator_name = inspect.currentframe().f_back.f_code.co_name
    mark = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = mark
    for field in ("__name__", "__module__"):
        if hasattr(target, field):
            setattr(decorator_func, field, getattr(target, field))
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = mark.__doc__
    decorator_func.__wrapped__ = target
    if decorator_argspec is not None:
        decorator_func.__signature__ = _signature(decorator_argspec)
    return decorator_func


def _signature(spec):
    """A FullArgSpec as a signature."""
    kind = inspect.Parameter
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ())))
    parameters = [
        kind(name, kind.POSITIONAL_OR_KEYWORD, default=defaults.get(name, kind.empty))
        for name in spec.args
    ]
    if spec.varargs:
        parameters.append(kind(spec.varargs, kind.VAR_POSITIONAL))
    given = getattr(spec, "kwonlydefaults", None) or {}
    parameters += [
        kind(name, kind.KEYWORD_ONLY, default=given.get(name, kind.empty))
        for name in getattr(spec, "kwonlyargs", ())
    ]
    last = getattr(spec, "varkw", None) or getattr(spec, "keywords", None)
    if last:
        parameters.append(kind(last, kind.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _mark_of(value):
    if isinstance(value, TFDecorator):
        return value
    return getattr(value, "_tf_decorator", None)


def unwrap(maybe_tf_decorator):
    """(the marks of the decorators, the outermost first; the function inside all of them)."""
    marks, found = [], maybe_tf_decorator
    while (mark := _mark_of(found)) is not None:
        marks.append(mark)
        found = mark.decorated_target
    return marks, found


def rewrap(decorator_func, previous_target, new_target):
    """Has the innermost decorator around `previous_target` be one around `new_target`."""
    found, innermost = decorator_func, None
    while found is not previous_target and (mark := _mark_of(found)) is not None:
        innermost, outer, found = mark, found, mark.decorated_target
    if innermost is None:
        return new_target
    innermost.decorated_target = new_target
    outer.__wrapped__ = new_target
    return decorator_func
