"""Numbers that TensorFlow refuses or lets pass where one would not think of it."""
from .common import *  # noqa: F403


def V(values):
    return Variable(f(values))


def H(values):
    return Handle(f(values))


def rates(t):
    good = {"lr": 0.5, "l1": 0.1, "l2": 0.2, "l2_shrinkage": 0.3, "lr_power": -0.5}
    bad = [("lr", 0), ("lr", -1), ("lr", NAN), ("l1", -1), ("l2", -1), ("l2", NAN),
           ("l2_shrinkage", -1), ("lr_power", 1)]
    x, grad = [[1, 2], [3, 4]], f([[0.1, 0.2]])
    for make, prefix in ((V, ""), (H, "Resource")):
        def proximal(tag, numbers, rows):
            slots = [make(x), make(x)]
            three = [f(numbers[k]) for k in ("lr", "l1", "l2")]
            if rows:
                t.add(prefix + "SparseApplyProximalAdagrad", tag, *slots, *three, grad, i([1]))
            else:
                t.add(prefix + "ApplyProximalAdagrad", tag, *slots, *three, f(x))

        def ftrl(tag, numbers, v2, **attrs):
            names = ("lr", "l1", "l2", "l2_shrinkage", "lr_power")
            t.add(prefix + "SparseApplyFtrl" + ("V2" if v2 else ""), tag, make(x), make(x), make(x),
                  grad, i([1]), *[f(numbers[k]) for k in names if v2 or k != "l2_shrinkage"],
                  **attrs)

        for name, value in bad:
            numbers = dict(good, **{name: value})
            tag = "bad_%s_%s" % (name, str(value).replace("-", "minus_"))
            for rows in (False, True):
                if name in ("lr", "l1", "l2"):
                    proximal(tag, numbers, rows)
                if rows or name != "l2_shrinkage":
                    ftrl(tag, numbers, rows)
        ftrl("rate_of_zero", dict(good, lr=0), True, multiply_linear_by_lr=True)


def slices(t):
    for make, prefix in ((V, ""), (H, "Resource")):
        op = prefix + "StridedSliceAssign"
        x = [[0, 1, 2], [3, 4, 5]]
        t.add(op, "nothing", make(x), Const([1, 1]), Const([1, 3]), Const([1, 1]), f([[7, 8, 9]]))
        t.add(op, "nothing_fed", make(x), i([0, 2]), i([2, 1]), i([1, 1]), f([7]))


def pictures(t):
    box = [[0, 0, 1, 1], [0.2, 0.3, NAN, 1]]
    t.add("CropAndResize", "bad_nan", ramp(F32, (1, 3, 3, 1)), f(box), i([0, 0]), Const([2, 2]))
    t.add("CropAndResize", "bad_infinite", ramp(F32, (1, 3, 3, 1)), f([[0, 0, INF, 1]]), i([0]),
          Const([2, 2]))
    colors = [[0.9, 0.2, 0.5], [0.8, 0.5, 0.1], [0.1, 0.9, 0.4], [0.3, 0.7, 0.6], [0.2, 0.3, 0.8],
              [0.6, 0.1, 0.7]]
    t.add("RGBToHSV", "gradient", d(colors), g=True)
    t.add("RGBToHSV", "gradient_rank_3", d(colors, (2, 3, 3)), g=True)


def solving(t):
    lower = [[2, 0], [1, 3]]
    t.add("BatchMatrixTriangularSolve", "broadcast", f([lower, lower]), f([[[1, 2], [3, 4]]]),
          producer=10)
    t.add("BatchMatrixTriangularSolve", "broadcast_rank", f([lower]), f([[1, 2], [3, 4]]),
          producer=10)


def casts(t):
    far = [1e19, 1.8446744e19, 2e19, 1e30, INF, -1, -1e10, -1e30, NAN, 9.3e18, 4.5, -0.5]
    for dtype in (F32, F64, F16):
        with np.errstate(over="ignore"):
            t.add("Cast", "far_%s_to_uint64" % dtype.__name__, np.asarray(far).astype(dtype),
                  DstT=U64)


def complex_gradients(t):
    """Where the conjugates are in the gradients of gradients."""
    x = np.asarray([1 + 2j, -0.5 + 0.3j, 0.7 - 1.1j], C128)
    y = np.asarray([0.3 - 0.2j, 0.7 + 0.1j, -0.4 + 0.9j], C128)
    for op in ("SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad", "TanhGrad", "SigmoidGrad"):
        t.add(op, "complex_gradient", x, y, g=op in ("SqrtGrad", "RsqrtGrad", "InvGrad",
                                                     "ReciprocalGrad"))


def cases():
    t = Table()
    complex_gradients(t)
    casts(t)
    rates(t)
    slices(t)
    pictures(t)
    solving(t)
    return t.cases
