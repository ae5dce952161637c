"""Optimizer updates: every op of every optimizer, from one description each."""
from .common import *  # noqa: F403

W = [[1, -2], [3, 0.5], [-0.25, 4]]
GRAD = [[0.1, -0.2], [0.3, 0], [-1.5, 0.01]]
SLOTS = {  # what a slot holds before
    "accum": [[0.1, 0.1], [1, 2], [0.5, 3]],
    "accum_update": [[0, 0.1], [0.2, 0.3], [1, 0.01]],
    "gradient_accumulator": [[0.5, -0.1], [0, 2], [1, -1]],
    "gradient_squared_accumulator": [[0.1, 0.1], [1, 2], [3, 0.5]],
    "linear": [[0, 0.5], [-2, 0.1], [0.01, -0.3]],
    "m": [[0, 0.1], [-0.2, 0.3], [1, -1]],
    "v": [[0, 0.1], [0.2, 0.3], [1, 2]],
    "vhat": [[0, 0.1], [5, 0.3], [0, 2]],
    "ms": [[1, 1], [0.5, 2], [3, 1]],
    "mg": [[0.1, -0.1], [0.2, 0], [1, 0.5]],
    "mom": [[0, 0.1], [0.2, 0.3], [-1, 0]],
}
NUMBERS = {"alpha": 0.5, "lr": 0.1, "momentum": 0.9, "rho": 0.9, "beta1_power": 0.9,
           "beta2_power": 0.999, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-3, "l1": 0.05,
           "l2": 0.2, "l2_shrinkage": 0.1, "lr_power": -0.5, "global_step": 3, "sign_decay": 0.9,
           "beta": 0.8, "logbase": 1.0}
ADAM = "beta1_power beta2_power lr beta1 beta2 epsilon GRAD"
# name: (which ops, cells, other inputs of the dense ops, attributes and numbers of variations)
D, RD, S, RS = "Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"
ALL = (D, RD, S, RS)
ROWS = {
    "GradientDescent": ((D, RD), "", "alpha GRAD", {}),
    "ProximalGradientDescent": (ALL, "", "alpha l1 l2 GRAD", {"no_l1": {"l1": 0}}),
    "Momentum": (ALL, "accum", "lr GRAD momentum", {"nesterov": {"use_nesterov": True}}),
    "KerasMomentum": ((RD, RS), "accum", "lr GRAD momentum",
                      {"nesterov": {"use_nesterov": True}}),
    "Adagrad": (ALL, "accum", "lr GRAD", {"no_slots": {"update_slots": False}}),
    "AdagradV2": (ALL, "accum", "lr epsilon GRAD", {"no_slots": {"update_slots": False}}),
    "ProximalAdagrad": (ALL, "accum", "lr l1 l2 GRAD", {"no_l1": {"l1": 0}}),
    "AdagradDA": (ALL, "gradient_accumulator gradient_squared_accumulator",
                  "GRAD lr l1 l2 global_step",
                  {"no_l1": {"l1": 0}, "zero_step": {"global_step": 0}}),
    "Adadelta": (ALL, "accum accum_update", "lr rho epsilon GRAD", {"no_rho": {"rho": 0}}),
    "RMSProp": (ALL, "ms mom", "lr rho momentum epsilon GRAD", {"no_rho": {"rho": 0}}),
    "CenteredRMSProp": (ALL, "mg ms mom", "lr rho momentum epsilon GRAD", {"no_momentum":
                                                                            {"momentum": 0}}),
    "Adam": ((D, RD), "m v", ADAM, {"nesterov": {"use_nesterov": True}}),
    "AdamWithAmsgrad": ((RD,), "m v vhat", ADAM, {"beta": {"beta2": 0.5}}),
    "AdaMax": ((D, RD), "m v", "beta1_power lr beta1 beta2 epsilon GRAD", {"beta": {"beta2": 0.5}}),
    "Ftrl": (ALL, "accum linear", "GRAD lr l1 l2 lr_power", {"power": {"lr_power": -0.3},
                                                              "no_l1": {"l1": 0}}),
    "FtrlV2": (ALL, "accum linear", "GRAD lr l1 l2 l2_shrinkage lr_power",
               {"power": {"lr_power": -0.3}, "no_shrinkage": {"l2_shrinkage": 0}}),
    "AddSign": ((D, RD), "m", "lr alpha sign_decay beta GRAD", {"no_decay": {"sign_decay": 0}}),
    "PowerSign": ((D, RD), "m", "lr logbase sign_decay beta GRAD", {"no_decay":
                                                                     {"sign_decay": 0}}),
}
HALF_ONLY_FLOATS = ("ProximalGradientDescent", "ProximalAdagrad", "AdagradDA")


class Update:
    """The inputs of one op: cells by position, then numbers and gradient by name."""

    def __init__(self, form, name, cells, others):
        self.op = form + name
        self.handles = form.startswith("Resource")
        self.sparse = "Sparse" in form
        self.cells = ["var"] + cells.split()
        self.others = others.replace("GRAD", "GRAD INDICES" if self.sparse else "GRAD").split()

    def cell(self, name, dtype, index):
        value = a(dtype, W if name == "var" else SLOTS[name])
        return (Handle if self.handles else Variable)(value[index])

    def inputs(self, dtype, index=slice(None), grad=GRAD, indices=(2, 0), **numbers):
        values = [self.cell(name, dtype, index) for name in self.cells]
        grad = a(dtype, grad)[index] if not self.sparse else a(dtype, grad)[:len(indices)]
        for name in self.others:
            if name == "GRAD":
                values.append(grad)
            elif name == "INDICES":
                values.append(i(indices))
            else:
                kind = I64 if name == "global_step" else dtype
                values.append(a(kind, numbers.get(name, NUMBERS[name])))
        return values


def add_wrong(t, u):
    def add(tag, place, value):
        inputs = u.inputs(F32)
        inputs[place] = value
        t.add(u.op, tag, *inputs)

    grad = len(u.cells) + u.others.index("GRAD")
    kind = Handle if u.handles else Variable
    unset = UninitializedHandle if u.handles else Uninitialized
    add("bad_shape", grad, f([[1, 2, 3]]))
    add("bad_unset", len(u.cells) - 1, unset(F32, [3, 2]))
    if len(u.cells) > 1:
        add("bad_slot", 1, kind(f([[1, 2]])))
    if u.others[-1] != "INDICES" or len(u.others) > 2:
        number = next(n for n in u.others if n not in ("GRAD", "INDICES", "global_step"))
        add("bad_number", len(u.cells) + u.others.index(number), f([0.5, 1]))
    if u.sparse:
        add("bad_index", len(u.cells) + u.others.index("INDICES"), i([0, 3]))
        add("bad_negative", len(u.cells) + u.others.index("INDICES"), i([-1, 0]))
        add("bad_length", len(u.cells) + u.others.index("INDICES"), i([0, 1, 2]))


def add_update(t, u, name, variations):
    floats = (F32, F64) if name in HALF_ONLY_FLOATS else (F32, F64, F16, BFLOAT16)
    for dtype in floats:
        # TensorFlow rounds every step of the formula, here only the results are.
        tol = 1 if dtype in (F32, F64) else 16 if u.sparse else 4
        if dtype is BFLOAT16 and (u.sparse or name == "AdaMax"):
            continue
        t.add(u.op, np.dtype(dtype).name + "s", *u.inputs(dtype), runs=2, tol=tol)
    # TensorFlow's dense Ftrl makes 0 of NaN, its sparse one NaN.
    if not (u.sparse and name.startswith("Ftrl")):
        t.add(u.op, "not_finite", *u.inputs(F32, grad=[[NAN, -0.2], [INF, 0], [-INF, 0.01]]),
              tol=1)
    for tag, change in variations.items():
        if u.sparse and tag == "zero_step":
            continue  # TensorFlow divides by it here, and not in the dense op
        attrs = {k: v for k, v in change.items() if isinstance(v, bool)}
        numbers = {k: v for k, v in change.items() if not isinstance(v, bool)}
        t.add(u.op, tag, *u.inputs(F32, **numbers), runs=2, tol=1, **attrs)
    if u.sparse:
        t.add(u.op, "twice", *u.inputs(F32, indices=(1, 1, 0)), tol=1)
        t.add(u.op, "no_rows", *u.inputs(F32, indices=()), tol=0)
    else:
        t.add(u.op, "one", *u.inputs(F32, index=(1, 0)), runs=3, tol=1)
        t.add(u.op, "none", *u.inputs(F32, index=slice(0, 0)), tol=0)
    add_wrong(t, u)


def cases():
    t = Table()
    for name, (forms, cells, others, variations) in ROWS.items():
        for form in forms:
            add_update(t, Update(form, name, cells, others), name, variations)
    return t.cases
