"""Calls of tf.experimental.numpy, and tensors that behave as NumPy's arrays.

`programs()` gives {name: source}, recorded as those of face_programs. Since the behaviour is the
process's, they are run in their order in a process of their own.
"""

_WRITTEN = '''
== creation
array(1); array(1.5); array([1, 2.5]); array([[1, 2], [3, 4]], dtype=np.float32); array(True)
array([np.int8(1), np.int8(2)]); array([1, 2], ndmin=3); array(tf.constant([1, 2])); array(1 + 2j)
array([tf.constant(1.5), 2]); asarray([1], dtype=tnp.int16); copy([1, 2]); zeros(3); ones([2, 2])
zeros((2, 1), dtype=np.int32); zeros_like([1, 2]); ones_like([1.5, 2], dtype=int); empty_like([3])
full(2, 7); full([2, 2], [1.5, 2]); full_like([1, 2], 2.7); full_like([1.0], 3, dtype=np.int64)
eye(2); eye(2, 3, k=1, dtype=np.int32); identity(2); tri(3, k=-1); tri(2, 3, dtype=np.int64)
arange(4); arange(1, 2, 0.25); arange(5, 1, -2); arange(3, dtype=np.float32); arange(2.5)
diag([1, 2]); diag([1, 2], k=1); diag([1, 2], -1); diag([[1, 2], [3, 4]])
diag([[1, 2], [3, 4]], 1); diagonal(arange(12).reshape([2, 2, 3]), 1, 1, 2)
diagflat([[1, 2], [3, 4]]); diag_indices(3); linspace(0, 1, 5); linspace(0, 1, 4, endpoint=False)
linspace(0, 10, 3, retstep=True); linspace(array([0, 1]), 4, 3, axis=1); logspace(0, 2, 3)
geomspace(1, 8, 4); geomspace(-1, -8, 4); vander([1, 2, 3]); vander([1.0, 2], 3, increasing=True)
ix_([0, 1], [2, 3]); meshgrid([1, 2], [3, 4]); ndim([[1]]); shape([[1, 2]]); size([[1, 2]])
isscalar(1.5); isscalar([1]); issubdtype(np.int32, np.integer)
str(promote_types(np.int32, np.float32)); result_type(np.int8, 1.5)
result_type([1, 2], np.float32); iscomplexobj(1j); isrealobj([1.5]); arange(3, 1)
== one
sqrt(4); sqrt([1, 4]); exp(np.float32(1)); exp2([1, 2]); expm1(1); log(2); log2([1, 8])
log10(1000); log1p(1); sin(1); cos([1.0]); tan(1); sinh(1); cosh(1); tanh(1); arcsin(0.5)
arccos(0.5); arctan(1); arcsinh(1); arccosh(2); arctanh(0.5); floor([1.5, -1.5]); ceil([1.5, 2])
floor([1, 2]); fix([1.7, -1.7]); fabs([-1, 2]); negative([1, -2]); positive([1]); abs([-1, 2])
abs([-1.5]); square([2, 3]); conj(1 + 2j); conjugate([1, 2]); bitwise_not([1, 2])
reciprocal([2.0, 4]); cbrt([8, -27]); deg2rad([180, 90]); rad2deg(array([3.0])); sinc([0, 0.5])
sign([-1, 0, 5]); sign([-1.5]); around([1.55, 2.45], 1); around(127, -1); round([0.5, 1.5, 2.5])
angle([1j, -1]); angle(1j, deg=True); real([1 + 2j]); imag([1 + 2j]); imag([1.5]); real([1, 2])
isreal([1, 1j]); iscomplex([1, 1j]); isfinite([1, np.inf]); isinf(array([1, -np.inf]))
isnan([np.nan, 1]); isposinf(array([np.inf, -np.inf])); isneginf(array([np.inf, -np.inf]))
signbit([-1.0, 1, -0.0]); signbit([1, -1]); logical_not([0, 2]); clip([1, 5, 9], 2, 6)
clip([1.5, 5], None, 2); clip([1, 5], 2.5, None); sqrt(True); exp([True, False]); isfinite([1, 2])
== two
add(1, 2); add(1, 2.5); add([1, 2], np.float32(1)); add(np.int8(1), np.int32(2)); add(True, False)
add(np.int32(1), np.float32(2)); subtract([5, 6], [1, 2]); multiply([2], [3.5])
multiply(True, True); divide(1, 2); divide(np.float32(1), np.float32(2)); true_divide([1, 2], 2)
floor_divide(7, 2); floor_divide(-7.0, 2); mod(-7, 3); mod(7.5, 2); remainder(5, [3, 4])
power(2, 3); power(2.0, 3); power([2, 3], 2.0); float_power(2, 3); divmod(7, 3)
maximum([1, 5], 3); minimum([1.5, 5], 3); maximum(True, False); arctan2(1.0, [1, -1]); hypot(3, 4)
logaddexp(1, 2); logaddexp2(1.0, 2.0); heaviside([-1, 0, 2], 0.5); gcd(12, 18)
gcd([12, 7, 0], [18, 21, 5]); lcm(4, 6); lcm([3, 0], [5, 4]); bitwise_and(6, 3)
bitwise_or([6], 3); bitwise_xor(6, 3); bitwise_and(True, False); equal([1, 2], [1, 3])
not_equal(1, 2.0); greater([1, 3], 2); greater_equal(2, 2); less(1.5, 2); less_equal(3, 2)
greater(True, False); logical_and([1, 0], [2, 3]); logical_or(0, [0, 4])
logical_xor([1, 1], [0, 2]); isclose([1.0, 1.1], [1.0, 1.0]); isclose(1, 1)
isclose(np.nan, np.nan, equal_nan=True); allclose([1.0], [1.0]); array_equal([1, 2], [1, 2])
array_equal([1], [1, 2]); nextafter(1.0, 2.0); add(np.uint8(200), np.uint8(100))
add(np.uint64(1), np.int64(2)); add([1], 1j)
== products
matmul([[1, 2], [3, 4]], [[1.5], [2]]); matmul([1, 2], [3, 4]); matmul([[1, 2]], [3, 4])
dot([1, 2], [3, 4]); dot([[1, 2], [3, 4]], [1, 2]); dot(2, [1, 2])
dot(arange(12).reshape([2, 2, 3]), arange(6).reshape([3, 2])); vdot([[1, 2]], [[3, 4]])
inner([1, 2], [3, 4]); inner([[1, 2], [3, 4]], [1, 2]); outer([1, 2], [3.5, 4])
tensordot([[1, 2]], [[3], [4]], 1); kron([1, 2], [1, 10]); kron([[1, 2]], [[1], [3]])
cross([1, 2, 3], [4, 5, 6]); cross([1, 2], [3, 4]); cross([[1.0, 2, 3]], [[4, 5, 6]])
cross([1, 2], [3, 4, 5]); einsum("ij,j->i", [[1, 2]], [3, 4.5]); polyval([1, 2, 3], 2)
polyval([1.0, 0], [1, 2]); trace([[1, 2], [3, 4]]); trace([[1, 2], [3, 4]], 1); average([1, 2, 3])
average([1, 2], weights=[3, 1]); average([[1, 2], [3, 4]], axis=0, weights=[1, 3])
average([1.0, 3], returned=True)
== reductions
sum([1, 2]); sum([[1, 2], [3, 4]], axis=0); sum([1.5, 2]); sum([True, True])
sum(np.ones([2, 2], np.int8)); sum([[1, 2]], keepdims=True); sum([1, 2], dtype=np.float32)
sum(np.ones(2, np.uint8)); prod([2, 3]); prod([[2.0, 3]], axis=1); mean([1, 2])
mean([[1, 2], [3, 4]], axis=1); mean(np.float32([1, 2]))
mean([1, 2], dtype=np.float32, keepdims=True); max([1, 5, 3]); min([[1, 5], [0, 3]], axis=0)
amax([1, 2]); amin([[1, 2]], axis=1, keepdims=True); max([True, False]); ptp([1, 5]); all([1, 0])
any([[1, 0], [0, 0]], axis=1); count_nonzero([1, 0, 2]); count_nonzero([[1, 0]], axis=0)
var([1, 2, 4]); std([[1, 2], [3, 5]], axis=0); std([1, 2, 4])
argmax([1, 5, 3]); argmin([[1, 0]], axis=1); argmax([[1, 5], [7, 3]]); argmax([False, True])
cumsum([1, 2, 3]); cumsum([[1, 2], [3, 4]], axis=1); cumprod([1.5, 2]); cumsum([[1, 2], [3, 4]])
cumsum(np.ones(3, np.int8)); nansum([1, np.nan]); nanprod([2, np.nan, 3]); nanmean([1, np.nan, 4])
nanmean([1, 2]); diff([1, 4, 9]); diff([1, 4, 9], n=2); diff([[1, 2], [4, 8]], axis=0)
diff([True, False])
== shapes
reshape([1, 2, 3, 4], (2, 2)); reshape(arange(6), [2, 3], order="F"); ravel([[1, 2]])
flatten([[1, 2], [3, 4]], "F"); expand_dims([1], 0); squeeze([[1]]); squeeze([[1, 2]], 0)
transpose([[1, 2]]); transpose(zeros([2, 3, 4]), [0, 2, 1]); swapaxes([[1, 2]], 0, 1)
moveaxis(zeros([2, 3, 4]), 0, -1); moveaxis(zeros([2, 3, 4]), [0, 1], [-1, 0])
concatenate([[1], [2.5]]); concatenate([[[1]], [[2]]], axis=1); append([1], [2, 3])
append([[1]], [[2]], axis=0); stack([[1, 2], [3, 4.5]], axis=1); stack([1, 2]); atleast_1d(1)
atleast_1d(1, [2]); atleast_2d([1, 2]); atleast_3d([1, 2]); atleast_3d([[1, 2]])
vstack([[1, 2], [3, 4]]); hstack([[1], [2]]); hstack([[[1]], [[2]]]); dstack([[1, 2], [3, 4]])
split([1, 2, 3, 4], 2); split([1, 2, 3, 4], [1, 3]); vsplit(array([[1], [2]]), 2)
hsplit(array([[1, 2]]), 2); dsplit(array([[[1, 2]]]), 2); broadcast_to([1, 2], (2, 2))
broadcast_arrays([1, 2], [[3]]); tile([1, 2], 2); tile([1, 2], (2, 1)); repeat([1, 2], 2)
repeat([[1, 2]], [1, 2], axis=1)
pad([[1, 2]], ((0, 1), (1, 0)), "constant", constant_values=9)
flip([1, 2]); flip([[1, 2], [3, 4]])
flip([[1, 2]], 1); flipud([[1], [2]]); fliplr([[1, 2]]); rot90([[1, 2], [3, 4]])
rot90([[1, 2], [3, 4]], 2); rot90([[1, 2], [3, 4]], 3); roll([1, 2, 3], 1)
roll([[1, 2], [3, 4]], 1); roll([[1, 2], [3, 4]], 1, axis=1); tril([[1, 2], [3, 4]])
triu([[1, 2], [3, 4]], 1); tril(ones([2, 3]), -1)
== places
sort([3, 1, 2]); sort([[3, 1], [0, 2]], axis=0); sort([[3, 1], [0, 2]], axis=None)
argsort([3, 1, 2]); argsort([[2, 1]], axis=None); nonzero([[1, 0], [2, 3]])
where([True, False], 1, 2.5); where([1, 0, 2]); where([[True], [False]], [1, 2], [3, 4])
take([1, 2, 3], [0, 2]); take([[1, 2], [3, 4]], 1, axis=1); take([1, 2, 3], [5], mode="clip")
take([1, 2, 3], [4, -1], mode="wrap"); take_along_axis([[3, 1, 2]], [[1, 2, 0]], 1)
take_along_axis([[1, 2], [3, 4]], [[1, 0]], 0); take_along_axis([3, 4], [1, 0], None)
compress([True, False, True], [1, 2, 3]); compress([0, 1], [[1, 2], [3, 4]], axis=1)
select([[True, False]], [[1, 2]], 9)
== behaviour
tf.constant([1, 2]) + tf.constant([1.5, 2]); tf.constant(1, tf.int8) * 2
tf.constant([1]) / tf.constant([2]); tf.constant(2, tf.int8) + np.int32(5); 2.5 - tf.constant([1])
7 // tf.constant(2); 2 ** tf.constant([1.5]); tf.constant([1]) == 1.0
np.float32([1]) + tf.constant([1], tf.int32); tf.constant([1, 2]) < 1.5; tf.constant(5) % 3
tf.constant([[1, 2]]) @ tf.constant([1.5, 2]); tf.constant([1, 2]).astype(np.float32)
tf.constant([[1, 2]]).T; tf.constant([[1, 2]]).reshape(-1); tf.constant([1, 2]).reshape((2, 1))
tf.constant([[1, 2]]).ravel(); tf.constant([1, 7]).clip(2, 5); tf.constant([1, 2]).mean()
tf.constant([1, 2]).max(); tf.constant([1, 2]).min(); tf.constant([[1, 2]]).transpose()
tf.constant([1, 2]).size; tf.constant([1, 2]).tolist(); tf.constant([[1, 2]]).ndim
tf.constant([[1, 2]]).flatten(); arange(24).reshape(2, 3, 4)[1, tnp.newaxis, 1:3, ...]
arange(24).reshape(2, 3, 4)[:, (True, False, True)]
arange(24).reshape(2, 3, 4)[1, (0, 0, 1), tnp.asarray([0, 1, 1])]; arange(6)[[0, -1]]
arange(6)[arange(6) > 3]; arange(6).reshape(2, 3)[:, [2, 0]]; arange(6).reshape(2, 3)[[1, 0]]
arange(6).reshape(2, 3)[arange(6).reshape(2, 3) > 2]
arange(24).reshape(2, 3, 4)[[0, 1], :, [1, 2]]; arange(6)[2:4]
arange(24).reshape(2, 3, 4)[..., [0, 3]]; arange(6)[tf.constant(2)]
tf.function(lambda x: x + 1.5)(tf.constant([1]))
tf.function(lambda x: x.reshape(2, 1) * x.mean())(tf.constant([1, 2])); tf.Variable([1]) + 2.5
tf.abs(tf.constant([-1])); tf.add(tf.constant(1), tf.constant(2))
== floats_of_32_bits
tnp.experimental_enable_numpy_behavior(prefer_float32=True); array(1.5); array(1); add(1., 2.)
sqrt(4); mean([1, 2]); ones(2); divide(1, 2); array(1j); arange(2.0)
result_type(np.int32, np.float32); linspace(0, 1, 3)
tnp.experimental_enable_numpy_behavior(prefer_float32=False); array(1.5)
'''

_SHOW = """
def show(value):
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(show, value)) + "]"
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        return f"{type(value).__name__} {value}"
    known = np.asarray(value)
    known = known.round(5) if known.dtype.kind in "fc" else known
    return f"{value.dtype.name} {tuple(value.shape)} {known.tolist()}"

def tried(text):
    try:
        return show(eval(text, {"tf": tf, "np": np, "tnp": tnp, **names}))
    except Exception as error:
        return type(error).__name__

tnp = tf.experimental.numpy
names = {name: getattr(tnp, name) for name in dir(tnp) if not name.startswith("_")}
"""


def programs():
    """{name: source}, in the order to run them."""
    found = {"begins": "tf.experimental.numpy.experimental_enable_numpy_behavior()\n"}
    for part in _WRITTEN.split("\n== ")[1:]:
        name, _, lines = part.partition("\n")
        calls = [call for line in lines.splitlines() for call in line.split("; ")]
        made = "".join(f"print({call!r}, '=>', tried({call!r}))\n" for call in calls)
        found[name] = _SHOW + made
    return found
