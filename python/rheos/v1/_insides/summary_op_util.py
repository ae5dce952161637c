"""What operations of summaries share: tensorflow.python.ops.summary_op_util."""

import contextlib

from rheos.ops.io import summary_ops
from rheos.ops.io.summary_ops import clean_tag


def collect(val, collections, default_collections):
    """Adds a summary to collections of the graph; to the default ones for None."""
    summary_ops._collect(val, collections, default_collections)


def skip_summary():
    """Whether a replica leaves summaries to another one: there is one only."""
    return False


@contextlib.contextmanager
def summary_scope(name, family=None, default_name=None, values=None):
    """A name scope for a summary; gives (the tag, the scope)."""
    with summary_ops._summary_scope(name, family, default_name, values) as found:
        yield found
