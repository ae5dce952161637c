"""Ranks: processes of one program that mpirun has started, each a task of a cluster."""

import atexit
import sys

from rheos import _core
from rheos.framework.eager import join_server
from rheos.training.cluster import ClusterSpec
from rheos.training.cluster_resolver import SimpleClusterResolver

_JOB = "worker"
RPC_LAYER = "mpi"  # of their resolver


def are_there():
    """Whether mpirun has started this process, as one of several."""
    return _core._Ranks.are_there()


class _Joined:
    """The ranks, which a process joins once, and their number."""

    ranks = None


def join():
    """Joins the other ranks, and has operations that run at once take part in their collectives.

    RuntimeError if one ran already; tf.errors.UnimplementedError where MPI is not installed.
    """
    if _Joined.ranks is None:
        ranks = _core._Ranks()
        atexit.register(_leave, ranks)
        join_server(ranks)
        _Joined.ranks = ranks
    ranks = _Joined.ranks
    # MPI knows where they are: addresses are but names.
    spec = ClusterSpec({_JOB: [f"mpi-rank:{rank}" for rank in range(ranks.count)]})
    return SimpleClusterResolver(spec, task_type=_JOB, task_id=ranks.rank, rpc_layer=RPC_LAYER)


def _leave(ranks):
    """Waits for the others to be done too. Who ends by an error does not wait, and ends them."""
    if getattr(sys, "last_type", None) is None:
        ranks.leave()
        return
    sys.stdout.flush()
    sys.stderr.flush()
    ranks.abort()
