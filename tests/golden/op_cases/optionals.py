"""Optionals: made, asked, taken apart; elements compressed."""
from .common import *  # noqa: F403

PARTS = (("scalar", i(7)), ("float", f([1, -2.5])), ("empty", empty(F32, (0, 3))),
         ("string", s(["a", "", "long"])), ("double", d([[NAN, INF]])), ("bool", b([True, False])))


def holding(*components):
    return Node("OptionalFromValue", [Const(c) for c in components])


def types_of(*components):
    return ["string" if c.dtype == object else c.dtype.type for c in components]


def got(optional, *components):
    return Node("OptionalGetValue", optional, output_types=types_of(*components),
                output_shapes=[c.shape for c in components])


def asked(t, tag, node):
    t.add("OptionalHasValue", tag, node)


def taken(t, tag, node, *components, **attrs):
    known = {"output_types": types_of(*components), "output_shapes": [c.shape for c in components]}
    t.add("OptionalGetValue", tag, node, **{**known, **attrs})


def cases():
    t = Table()
    none = Node("OptionalNone")
    t.add("OptionalNone", "none", last=[Node("OptionalHasValue", OP)])
    identity = Node("Identity", OP, T="variant")
    nested = Node("OptionalFromValue", OP, Toutput_types=["variant"])
    inner = Node("OptionalGetValue", nested, output_types=["variant"], output_shapes=[[]])
    for tag, node in (("identity", identity), ("nested", nested), ("inner", inner),
                      ("inner_identity", Node("Identity", inner, T="variant"))):
        t.add("OptionalNone", tag, last=[Node("OptionalHasValue", node)])
    asked(t, "none", none)
    for tag, value in PARTS:
        t.add("OptionalFromValue", tag, [value], last=[got(OP, value)])
        asked(t, tag, holding(value))
        taken(t, tag, holding(value), value)
    several = [value for _, value in PARTS]
    t.add("OptionalFromValue", "several", several, last=[got(OP, *several)])
    taken(t, "several", holding(*several), *several)
    taken(t, "handed_on", Node("Identity", holding(*several), T="variant"), *several)
    x = d([0.5, -2])
    taken(t, "any_shape", holding(x), x, output_shapes=[None])
    taken(t, "bad_none", none, x)
    taken(t, "bad_fewer", holding(x), x, x)
    taken(t, "bad_dtype", holding(x), f([1, 2]))
    taken(t, "bad_shape", holding(x), d([1]))
    taken(t, "bad_lists", holding(x), x, output_shapes=[[2], [2]])
    compressed(t)
    return t.cases


def unpacked(node, *components):
    return Node("UncompressElement", node, output_types=types_of(*components),
                output_shapes=[c.shape for c in components])


def compressed(t):
    def packed(*components):
        return Node("CompressElement", [Const(c) for c in components])

    several = [value for _, value in PARTS]
    long = f([k % 7 for k in range(3000)])
    parts = [([v], tag) for tag, v in PARTS] + [(several, "several"), ([long], "long")]
    for values, tag in parts:
        known = {"output_types": types_of(*values), "output_shapes": [c.shape for c in values]}
        t.add("CompressElement", tag, values, last=[unpacked(OP, *values)])
        t.add("UncompressElement", tag, packed(*values), **known)
    x = d([0.5, -2])
    for tag, node, values in (("bad_fewer", packed(x), [x, x]), ("bad_dtype", packed(x), [f([1])]),
                              ("bad_kind", Node("OptionalNone"), [x])):
        t.add("UncompressElement", tag, node, output_types=types_of(*values),
              output_shapes=[c.shape for c in values])
    t.add("UncompressElement", "any_shape", packed(x), output_types=types_of(x),
          output_shapes=[None])
