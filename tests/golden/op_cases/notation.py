"""Every dtype through ops that change nothing: the notation of the files."""
from .common import *  # noqa: F403


def cases():
    t = Table()
    t.add("Identity", "complex64", a(C64, [[1 + 2j, -0.1], [complex(NAN, INF), 3j]]), tol=0)
    t.add("Identity", "complex128", a(C128, [0.1 - 1e300j, 0]), tol=0)
    for dtype, values in ((QI8, [-128, 127]), (QU8, [0, 255]), (QI16, [-32768, 32767]),
                          (QU16, [0, 65535]), (QI32, [-2**31, 2**31 - 1])):
        t.add("Identity", dtype.names[0], q(dtype, values))
    t.add("Identity", "string_long", s(["x" * 300, "", "a\"b\\ c\n", "\x00"]))
    for dtype in (F32, F64, I32, np.bool_, C64):
        t.add("GuaranteeConst", np.dtype(dtype).name, a(dtype, [[1, 0, 3]]))
    t.add("GuaranteeConst", "scalar", f(NAN))
    t.add("GuaranteeConst", "empty", empty(F32, (0, 2)))
    t.add("GuaranteeConst", "string", s(["a", ""]))
    t.add("IdentityN", "mixed_lists", [f([1, 2]), s(["a"]), q(QU8, [[7]])])
    return t.cases
