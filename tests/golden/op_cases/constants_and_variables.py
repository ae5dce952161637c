"""Ops that make variables, hold constants, print or do nothing."""
from .common import *  # noqa: F403

DTYPES = (F32, F64, F16, BFLOAT16, I8, I16, I32, I64, U8, U16, U32, U64, C64, C128, np.bool_)


def variables(t):
    for op in ("Variable", "VariableV2"):
        for dtype in DTYPES:
            name = dtype.__name__.rstrip("_")
            t.add(op, name, shape=[2, 2], dtype=dtype, fetched=False,
                  first=[Node("Assign", OP, Const(ramp(dtype, [2, 2], 0)))],
                  last=[Node("Identity", OP, T=dtype)])
        t.add(op, "string", shape=[2], dtype="string", fetched=False,
              first=[Node("Assign", OP, Const(s(["a", ""])))],
              last=[Node("Identity", OP, T="string")])
        t.add(op, "scalar", shape=[], dtype=F32, first=[Node("Assign", OP, Const(f(7)))], runs=2)
        t.add(op, "empty", shape=[0, 3], dtype=F32,
              first=[Node("Assign", OP, Const(empty(F32, (0, 3))))])
        t.add(op, "bad_unset", shape=[2], dtype=F32)
    t.add("VariableV2", "any_shape", shape=None, dtype=F32,
          first=[Node("Assign", OP, Const(f([1, 2, 3])), validate_shape=False)])
    t.add("VariableV2", "shared", shape=[2], dtype=F32, shared_name="one",
          first=[Node("Assign", OP, Const(f([1, 2])))],
          last=[Node("Identity", Node("VariableV2", shape=[2], dtype=F32, shared_name="one"),
                     T=F32)])
    for dtype in DTYPES:
        name = dtype.__name__.rstrip("_")
        t.add("VarHandleOp", name, shape=[2, 2], dtype=dtype,
              first=[Node("AssignVariableOp", OP, Const(ramp(dtype, [2, 2], 0)))],
              last=[Node("ReadVariableOp", OP, dtype=dtype)])
    t.add("VarHandleOp", "string", shape=[2], dtype="string",
          first=[Node("AssignVariableOp", OP, Const(s(["a", ""])))],
          last=[Node("ReadVariableOp", OP, dtype="string")])
    t.add("VarHandleOp", "unset", shape=[2], dtype=F32,
          last=[Node("VarIsInitializedOp", OP), Node("ReadVariableOp", OP, dtype=F32)])
    t.add("VarHandleOp", "shared", shape=[2], dtype=F32, shared_name="one",
          first=[Node("AssignVariableOp", OP, Const(f([1, 2])))],
          last=[Node("ReadVariableOp", Node("VarHandleOp", shape=[2], dtype=F32,
                                            shared_name="one"), dtype=F32)])
    t.add("VarHandleOp", "any_shape", shape=None, dtype=F32,
          first=[Node("AssignVariableOp", OP, Const(f([1, 2])))],
          last=[Node("ReadVariableOp", OP, dtype=F32)])
    t.add("VarHandleOp", "scalar", shape=[], dtype=I64,
          first=[Node("AssignVariableOp", OP, Const(l(3)))],
          last=[Node("ReadVariableOp", OP, dtype=I64)])


def temporaries(t):
    for dtype in DTYPES:
        name = dtype.__name__.rstrip("_")
        made = Node("TemporaryVariable", shape=[2, 2], dtype=dtype, var_name="v")
        filled = Node("Assign", made, Const(ramp(dtype, [2, 2], 0)))
        t.add("DestroyTemporaryVariable", name, filled, T=dtype, var_name="v")
        filled = Node("Assign", OP, Const(ramp(dtype, [2, 2], 0)))
        t.add("TemporaryVariable", name, shape=[2, 2], dtype=dtype, var_name="v", fetched=False,
              last=[Node("DestroyTemporaryVariable", filled, T=dtype, var_name="v")])
    made = Node("TemporaryVariable", shape=[], dtype=F32, var_name="v")
    added = Node("AssignAdd", Node("Assign", made, Const(f(2))), Const(f(5)))
    t.add("DestroyTemporaryVariable", "changed", added, T=F32, var_name="v")
    t.add("DestroyTemporaryVariable", "again", added, T=F32, var_name="v", runs=3)
    t.add("DestroyTemporaryVariable", "bad_name", added, T=F32, var_name="w")


def others(t):
    for dtype in DTYPES:
        t.add("Const", dtype.__name__.rstrip("_"), dtype=dtype, value=ramp(dtype, [2, 3], 0))
    t.add("Const", "string", dtype="string", value=s(["a", "", "\0\u00ff"]))
    t.add("Const", "scalar", dtype=F32, value=f(NAN))
    t.add("Const", "empty", dtype=F32, value=empty(F32, (0, 3)))
    t.add("Const", "bad_dtype", dtype=I32, value=f([1]))
    for tag, x, data in (("one", f([1, 2]), [f([1])]),
                         ("several", i(3), [l([1, 2, 3, 4, 5]), b(True)]),
                         ("string", s("x"), [s(["a", "b"])]), ("empty", empty(F32, (0, 2)), [f(1)]),
                         ("nothing", f(2), [])):
        t.add("Print", tag, x, data, message="", first_n=0, **({} if data else {"U": []}))
    t.add("NoOp", "twice", runs=2)
    t.add("NoOp", "then", last=[Node("Identity", Const(f(1)))])
    t.add("NoOp", "thrice", runs=3)
    t.add("NoOp", "unfetched", fetched=False)
    t.add("StatelessRandomGetAlg", "twice", runs=2)
    t.add("StatelessRandomGetAlg", "thrice", runs=3)
    t.add("StatelessRandomGetAlg", "then", last=[Node("Identity", OP, T=I32)])
    t.add("StatelessRandomGetAlg", "unfetched", fetched=False)


def cases():
    t = Table()
    variables(t)
    temporaries(t)
    others(t)
    return t.cases
