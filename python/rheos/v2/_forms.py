"""Functions in TensorFlow 2's form: the same function with other names and order of arguments."""

import ast


def form(function, signature, **names):
    """The function with another signature.

    Each argument of `signature` is handed on by its name; names: by argument what the function
    calls it, None for one that it does not have.
    """
    parsed = ast.parse(f"def f({signature}): pass").body[0].args
    own = [a.arg for a in (*parsed.args, *parsed.kwonlyargs)]
    handed = [(names.get(a, a), a) for a in own if names.get(a, a) is not None]
    call = ", ".join(f"{theirs}={mine}" for theirs, mine in handed)
    scope = {"function": function}
    exec(f"def made({signature}):\n    return function({call})", scope)
    made = scope["made"]
    made.__name__ = made.__qualname__ = function.__name__
    made.__module__ = function.__module__  # AutoGraph knows by that whose it is
    made.__doc__ = function.__doc__
    return made
