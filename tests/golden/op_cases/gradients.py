"""The ops that gradients of elementwise ops are made of."""
from .common import *  # noqa: F403

# name: values of the first and of the second input; both are of one shape
PAIRS = {
    "TanhGrad": ([-0.9, -0.3, 0.1, 0.75], [1, 2, -1, 0.5]),
    "SigmoidGrad": ([0.1, 0.3, 0.5, 0.95], [1, 2, -1, 0.5]),
    "SqrtGrad": ([0.1, 1, 2, 7.5], [1, 2, -1, 0.5]),
    "RsqrtGrad": ([0.1, 1, 2, 7.5], [1, 2, -1, 0.5]),
    "ReciprocalGrad": ([-0.5, 1, 2, 7.5], [1, 2, -1, 0.5]),
    "InvGrad": ([-0.5, 1, 2, 7.5], [1, 2, -1, 0.5]),
    "ReluGrad": ([1, 2, -1, 0.5], [-2, 0.5, 3, -0.1]),
    "Relu6Grad": ([1, 2, -1, 0.5], [-2, 0.5, 7, 3]),
    "EluGrad": ([1, 2, -1, 0.5], [-0.9, 0.5, 3, -0.1]),
    "SeluGrad": ([1, 2, -1, 0.5], [-0.9, 0.5, 3, -0.1]),
    "LeakyReluGrad": ([1, 2, -1, 0.5], [-2, 0.5, 3, -0.1]),
    "SoftplusGrad": ([1, 2, -1, 0.5], [-2, 0.5, 3, -0.1]),
    "SoftsignGrad": ([1, 2, -1, 0.5], [-2, 0.5, 3, -0.1]),
}
SECOND_ORDER = ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad",
                "ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "LeakyReluGrad", "SoftplusGrad")


def cases():
    t = Table()
    for op, (x, y) in PAIRS.items():
        producer = 16 if op == "InvGrad" else 21
        add = lambda tag, *v, **o: t.add(op, tag, *v, producer=producer, **o)  # noqa: E731
        add("float", f(x), f(y))
        add("double", d(x, (2, 2)), d(y, (2, 2)), g=op in SECOND_ORDER)
        add("half", h(x), h(y))
        add("scalar", f(x[3]), f(y[3]))
        add("empty", empty(F32, (2, 0)), empty(F32, (2, 0)))
        add("long", np.resize(f(x), 37), np.resize(f(y), 37))
        add("corners", f([0, -0.0, 1, NAN]), f([1, 1, 0, 1]))
        add("bad_shapes", f([1, 2]), f([1, 2, 3]))
        if op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad"):
            add("corners_features", f([1, 1, 1, 1, 1]), f([0, -0.0, 6, INF, NAN]))
    t.add("LeakyReluGrad", "alpha", f([1, 2]), f([-1, 1]), alpha=0.1)
    t.add("LeakyReluGrad", "alpha_double", d([1, 2]), d([-1, 1]), alpha=0.1, g=True)
    return t.cases
