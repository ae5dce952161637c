"""Einsum and Cross."""
from .common import *  # noqa: F403

EQUATIONS = {
    # tag: equation, shapes, whether the gradient is checked
    "product": ("ij,jk->ik", [(2, 3), (3, 4)], True),
    "product_turned": ("ij,jk->ki", [(2, 3), (3, 2)], True),
    "batch": ("bij,bkj->bik", [(2, 2, 3), (2, 3, 3)], True),
    "attention": ("bqhd,bkhd->bhqk", [(1, 2, 2, 2), (1, 3, 2, 2)], True),
    "two_batches": ("abij,baj->iab", [(2, 3, 2, 2), (3, 2, 2)], True),
    "outer": ("i,j->ij", [(3,), (2,)], True),
    "inner": ("i,i->", [(4,), (4,)], True),
    "scalars": (",->", [(), ()], True),
    "scalar_vector": (",i->i", [(), (3,)], True),
    "elementwise": ("ij,ij->ij", [(2, 3), (2, 3)], True),
    "elementwise_turned": ("ij,ji->ij", [(2, 3), (3, 2)], True),
    "sum_own": ("ik,jl->ij", [(2, 3), (2, 2)], True),
    "sum_all": ("ij->", [(2, 3)], True),
    "sum_first": ("ij->j", [(2, 3)], True),
    "transpose": ("ijk->kij", [(2, 3, 2)], True),
    "identity": ("i->i", [(3,)], True),
    "scalar": ("->", [()], True),
    "trace": ("ii->", [(3, 3)], True),
    "diagonal": ("ii->i", [(3, 3)], True),
    "diagonal_batch": ("bii->bi", [(2, 2, 2)], True),
    "put_on_diagonal": ("i->ii", [(3,)], True),
    "diagonals": ("iij->ijj", [(2, 2, 3)], True),
    "repeated": ("ij,ij->jji", [(2, 3), (2, 3)], True),
    "repeated_summed": ("iij,jk->k", [(2, 2, 3), (3, 2)], True),
    "ellipsis": ("...ij,...jk->...ik", [(2, 1, 2, 2), (3, 2, 2)], True),
    "ellipsis_broadcast": ("...,...->...", [(2, 1), (1, 3)], True),
    "ellipsis_first_only": ("...i,i->...", [(2, 2, 3), (3,)], True),
    "ellipsis_second_only": ("ij,...j->...i", [(2, 3), (2, 3)], True),
    "ellipsis_ends": ("i...,...i->...", [(2, 3), (3, 2)], True),
    "ellipsis_moved": ("i...->...i", [(2, 3, 2)], True),
    "ellipsis_empty": ("i->...i", [(3,)], True),
    "ellipsis_sum": ("...i->...", [(2, 3)], True),
    "ellipsis_sum_inner": ("i...j->j...", [(2, 3, 2)], True),
    "ellipsis_unneeded": ("...i->i", [(3,)], False),
    "letters": ("Ab,bA->A", [(2, 3), (3, 2)], False),
    "odd_labels": ("i1,1@->@i", [(2, 3), (3, 2)], False),
}


def einsum(t):
    for tag, (equation, shapes, gradient) in EQUATIONS.items():
        inputs = [wave(F64, s, phase=0.3 + k) for k, s in enumerate(shapes)]
        t.add("Einsum", tag, inputs, equation=equation, g=gradient)
    x, y = wave(F64, (2, 3)), wave(F64, (3, 2), phase=1)
    for dtype in (F32, F16, BFLOAT16):
        t.add("Einsum", "product_" + np.dtype(dtype).name, [x.astype(dtype), y.astype(dtype)],
              equation="ij,jk->ik")
        t.add("Einsum", "sum_" + np.dtype(dtype).name, [x.astype(dtype)], equation="ij->i")
    for dtype in (I32, I64):
        t.add("Einsum", "product_" + dtype.__name__,
              [ramp(dtype, (2, 3), -2), ramp(dtype, (3, 2))], equation="ij,jk->ik")
        t.add("Einsum", "sum_" + dtype.__name__, [ramp(dtype, (2, 3), -2)], equation="ij->j")
    t.add("Einsum", "wide", [wave(F32, (9, 11)), wave(F32, (11, 7), phase=2)],
          equation="ij,jk->ki")
    t.add("Einsum", "special", [f([[1, INF], [2, 3]]), f([1, NAN])], equation="ij,i->i")
    t.add("Einsum", "empty", [empty(F32, (2, 0)), empty(F32, (0, 3))], equation="ij,jk->ik")
    t.add("Einsum", "empty_result", [empty(F32, (0, 2)), f([[1], [2]])], equation="ij,jk->ik")
    t.add("Einsum", "empty_sum", [empty(F32, (0, 2))], equation="ij->j")
    a, b = ramp(F32, (2, 3)), ramp(F32, (3, 2))
    for tag, equation, inputs in (
            ("no_arrow", "ij,jk", [a, b]), ("two_arrows", "ij->ij->i", [a]),
            ("three", "i,j,k->ijk", [f([1]), f([1]), f([1])]), ("too_few", "i,j->ij", [f([1])]),
            ("too_many", "i->i", [f([1]), f([1])]), ("rank", "ij->i", [f([1])]),
            ("rank_high", "i->i", [a]), ("dims", "ij,jk->ik", [a, a]),
            ("no_broadcast", "ij,jk->ik", [a, ramp(F32, (1, 2))]), ("diagonal", "ii->i", [a]),
            ("broadcast", "...,...->...", [a, ramp(F32, (4, 3))]),
            ("no_ellipsis", "...i->i", [a]), ("blank", "ij, jk -> ik", [a, b]),
            ("rank_ellipsis", "ij...->i...", [f([1])])):
        t.add("Einsum", "bad_" + tag, inputs, equation=equation)


def cross(t):
    for dtype in (F32, F64, F16, BFLOAT16, I8, I16, I32, I64, U8, U16, U32, U64):
        t.add("Cross", np.dtype(dtype).name, a(dtype, [[1, 2, 3], [7, 1, 0]]),
              a(dtype, [[3, 1, 2], [2, 2, 5]]))
    t.add("Cross", "gradient", wave(F64, (2, 3)), wave(F64, (2, 3), phase=1), g=True)
    t.add("Cross", "one", f([1, 0, 0]), f([0, 1, 0]))
    t.add("Cross", "batch", wave(F32, (2, 2, 3)), wave(F32, (2, 2, 3), phase=2))
    t.add("Cross", "empty", empty(F32, (0, 3)), empty(F32, (0, 3)))
    t.add("Cross", "special", f([[INF, 1, NAN]]), f([[1, 2, 3]]))
    t.add("Cross", "bad_scalar", f(1), f(1))
    t.add("Cross", "bad_last", f([1, 2]), f([1, 2]))
    t.add("Cross", "bad_shapes", f([1, 2, 3]), f([[1, 2, 3]]))


def cases():
    t = Table()
    einsum(t)
    cross(t)
    return t.cases
