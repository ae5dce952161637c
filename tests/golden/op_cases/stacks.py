"""Stacks, by reference and by handle."""
from .common import *  # noqa: F403

VALUES = (("float", f([1, 2])), ("int", i(7)), ("string", s(["a", ""])), ("double", d([[1], [2]])),
          ("none", empty(F32, (0, 2))))


def dtype(value):
    return "string" if value.dtype == object else value.dtype.type


def add_version(t, suffix):
    def stack(kind, most=-1):
        if suffix:
            return Node("StackV2", Const(most), elem_type=kind)
        return Node("Stack", elem_type=kind)

    def push(handle, value, *waits):
        return Node("StackPush" + suffix, handle, Const(value), waits=waits)

    def pop(handle, kind, *waits):
        return Node("StackPop" + suffix, handle, elem_type=kind, waits=waits)

    for tag, value in VALUES:
        kind = dtype(value)
        inputs = [Const(-1)] if suffix else []
        t.add("Stack" + suffix, tag, *inputs, elem_type=kind, fetched=False)
        handle = stack(kind)
        t.add("StackPush" + suffix, tag, handle, value)
        t.add("StackPush" + suffix, tag + "_swapped", handle, value, swap_memory=True)
        t.add("StackPop" + suffix, tag, handle, elem_type=kind, waits=[push(handle, value)])
        t.add("StackClose" + suffix, tag, handle, waits=[push(handle, value)])
    handle = stack(F32)
    first = push(handle, f(1))
    second = push(handle, f([2, 3]), first)
    t.add("StackPop" + suffix, "latest", handle, elem_type=F32, waits=[second])
    t.add("StackPop" + suffix, "first", handle, elem_type=F32, waits=[pop(handle, F32, second)])
    t.add("StackPop" + suffix, "bad_empty", handle, elem_type=F32)
    t.add("StackPop" + suffix, "bad_emptied", handle, elem_type=F32,
          waits=[pop(handle, F32, push(handle, f(1)))])
    t.add("StackPop" + suffix, "bad_dtype", handle, elem_type=F64, waits=[first])
    t.add("StackPush" + suffix, "bad_dtype", handle, i(1))
    close = Node("StackClose" + suffix, handle)
    t.add("StackPush" + suffix, "bad_closed", handle, f(1), waits=[close])
    t.add("StackPop" + suffix, "bad_closed", handle, elem_type=F32, waits=[close])
    if suffix:
        small = stack(F32, 1)
        t.add("StackPushV2", "full", small, f(1))
        t.add("StackPushV2", "bad_full", small, f(2), waits=[push(small, f(1))])
        t.add("StackV2", "bad_vector", Const([1]), elem_type=F32, fetched=False)


def cases():
    t = Table()
    add_version(t, "")
    add_version(t, "V2")
    return t.cases
