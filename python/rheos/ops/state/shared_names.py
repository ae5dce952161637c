"""The names by which resources are found."""

import itertools

from rheos.framework.defaults import get_default_graph

_numbers = itertools.count()


def shared_or_own(shared_name, kind="table"):
    """The name of a resource; where operations run at once each has its own, unless it is given."""
    if shared_name is None and get_default_graph()._is_eager:
        return f"{kind}_{next(_numbers)}"
    return shared_name
