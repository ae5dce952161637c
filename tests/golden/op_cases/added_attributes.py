"""Attributes that TensorFlow 2 added to ops of TensorFlow 1."""
from .common import *  # noqa: F403

C = Const
PLACES = [[1], [7], [0], [-1]]


def policies(t):
    for policy in ("IGNORE", "ERROR", "DEFAULT"):
        tag = policy.lower() if policy == "IGNORE" else "bad_" + policy.lower()
        options = {"bad_indices_policy": policy}
        t.add("GatherNd", tag, f([[1, 2], [3, 4]]), i(PLACES), **options)
        t.add("ScatterNd", tag, i(PLACES), f([5, 6, 7, 8]), C([3]), **options)
        for op in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate",
                   "TensorScatterMin", "TensorScatterMax", "ScatterNdNonAliasingAdd"):
            t.add(op, tag, f([1, 9, 3]), i(PLACES), f([5, 6, 7, 8]), **options)
        for op in ("Add", "Sub", "Update"):
            t.add("ScatterNd" + op, tag, Variable(f([1, 9, 3])), i(PLACES), f([5, 6, 7, 8]),
                  **options)
            t.add("ResourceScatterNd" + op, tag, Handle(f([1, 9, 3])), i(PLACES), f([5, 6, 7, 8]),
                  T=F32, **options)
    t.add("GatherNd", "ignore_strings", s(["a", "b"]), i([[1], [2]]), bad_indices_policy="IGNORE")
    t.add("ScatterNd", "bad_policy", i([[1]]), f([5]), C([3]), bad_indices_policy="LATER")
    t.add("GatherNd", "ignore_none", empty(F32, (0, 2)), empty(I32, (0, 1)),
          bad_indices_policy="IGNORE")


def ftrl(t):
    var, accum, linear = f([1, -2, 0.5]), f([0.1, 1, 0.3]), f([0.2, -3, 4])
    grad, numbers = f([0.1, -0.5, 2]), [f(0.5), f(0.2), f(0.3)]
    rows = i([2, 0])
    for flag in (False, True):
        options = {"multiply_linear_by_lr": flag}
        tag = "scaled" if flag else "plain"
        for power in (-0.5, -0.25):
            tag += "_quarter" if power == -0.25 else ""
            for suffix, more in (("Ftrl", []), ("FtrlV2", [f(0.1)])):
                cells = [Variable(v.copy()) for v in (var, accum, linear)]
                last = numbers + more + [f(power)]
                t.add("Apply" + suffix, "linear_" + tag, *cells, grad, *last, **options)
                t.add("SparseApply" + suffix, "linear_" + tag, *cells, grad[:2], rows, *last,
                      **options)
                cells = [Handle(v.copy()) for v in (var, accum, linear)]
                t.add("ResourceApply" + suffix, "linear_" + tag, *cells, grad, *last, **options)
                t.add("ResourceSparseApply" + suffix, "linear_" + tag, *cells, grad[:2], rows,
                      *last, **options)


def others(t):
    t.add("MatMul", "marked", f([[1, 2]]), f([[3], [4]]), grad_a=True, grad_b=True)
    t.add("BatchMatMulV2", "marked", f([[[1, 2]]]), f([[3], [4]]), grad_x=True)
    t.add("AssignVariableOp", "same_shape", Handle(f([1, 2])), f([3, 4]), dtype=F32,
          validate_shape=True)
    t.add("SparseSegmentSum", "sparse_gradient", f([[1, 2], [3, 4]]), i([0, 1]), i([0, 0]),
          sparse_gradient=True)


def cases():
    t = Table()
    policies(t)
    ftrl(t)
    others(t)
    return t.cases
