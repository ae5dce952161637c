"""Small eager programs: what each prints is recorded from TensorFlow and has to be printed here.

`programs()` gives {name: source}. A source sees `tf` and `np`; rounding keeps what it prints apart
from the last bits of kernels.
"""

_WRITTEN = '''
== constant
print(tf.constant([1, 2, 3]))
print(repr(tf.constant([[1.5, 2], [3, 4]])))
== constant_dtype
print(tf.constant([1, 2], dtype=tf.float64), tf.constant(7, tf.int64), tf.constant(True))
== constant_string
print(tf.constant("text"), tf.constant(["a", "bc"]))
print(repr(tf.constant(b"bytes")))
== constant_shape
print(tf.constant(3.0, shape=[2, 2]))
== scalar_forms
x = tf.constant(2.5)
print(float(x), int(x), bool(x), x.numpy(), type(x.numpy()).__name__)
== index_of_python
print([10, 20, 30][tf.constant(1)])
== length_and_iteration
x = tf.constant([[1, 2], [3, 4], [5, 6]])
print(len(x), [row.numpy().tolist() for row in x])
== shape_forms
x = tf.zeros([2, 3])
print(x.shape, x.shape[0], x.shape.as_list(), x.ndim, tf.rank(x), tf.size(x), tf.shape(x))
== dtype_forms
print(tf.float32, tf.constant(1.0).dtype, tf.constant(1.0).dtype.name, tf.as_dtype("int8"))
== arithmetic
x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])
print(x + y, x - y, x * y, x / y)
print(x // y, x % y, x ** y, -x, abs(-x))
== arithmetic_with_python
x = tf.constant([1.0, 2.0])
print(x + 1, 1 + x, 2 - x, x * 2, 1 / x, 2 ** x, x @ tf.constant([[1.0], [2.0]]) if False else 0)
== integer_division
x = tf.constant([7, -7])
print(x / 2, x // 2, x % 3)
== with_numpy
x = tf.constant([1.0, 2.0])
print(x + np.array([1, 2], np.float32), np.array([1, 2], np.float32) + x)
== comparison
x = tf.constant([1, 2, 3])
print(x > 2, x <= 2, x == 2, x != 2)
== equality_of_scalars
print(bool(tf.constant(1) == tf.constant(1)), tf.constant(1) == None)
== logical
a, b = tf.constant([True, False]), tf.constant([True, True])
print(a & b, a | b, ~a, a ^ b)
== matmul
a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(a @ a)
print(tf.matmul(a, a, transpose_b=True))
== index
x = tf.constant([[1, 2, 3], [4, 5, 6]])
print(x[0], x[1, 2], x[:, 1], x[..., -1], x[::-1, 0:2])
== index_newaxis
x = tf.constant([1, 2, 3])
print(x[tf.newaxis, :].shape, x[:, None].shape)
== index_by_tensor
x = tf.constant([1, 2, 3])
i = tf.constant(1)
print(x[i], x[i:], x[:i])
== numpy_roundtrip
x = tf.constant([[1.0, 2.0]])
print(np.asarray(x), x.numpy() * 2, np.add(x, 1))
== convert
print(tf.convert_to_tensor([1, 2]), tf.convert_to_tensor(np.arange(3)))
== convert_mixed
x = tf.constant(1.0)
print(tf.convert_to_tensor([x, 2.0, 3.0]))
== cast
print(tf.cast([1.7, -1.7], tf.int32), tf.cast([0, 2], tf.bool))
== range
print(tf.range(5), tf.range(2, 9, 3), tf.range(0.0, 1.0, 0.25))
== fill
print(tf.fill([2, 2], 7), tf.ones([2], tf.int32), tf.zeros_like([1, 2]), tf.ones_like([1.0]))
== eye
print(tf.eye(2), tf.eye(2, 3, dtype=tf.int32))
== linspace
print(tf.linspace(0.0, 1.0, 5))
== reshape
print(tf.reshape(tf.range(6), [2, 3]), tf.reshape(tf.range(6), [-1, 2]).shape)
== transpose
print(tf.transpose([[1, 2], [3, 4]]), tf.transpose(tf.zeros([2, 3, 4]), [2, 0, 1]).shape)
== expand_squeeze
x = tf.zeros([2, 1, 3])
print(tf.expand_dims(x, 0).shape, tf.squeeze(x).shape, tf.squeeze(x, 1).shape)
== concat
print(tf.concat([[1, 2], [3]], 0), tf.concat([[[1], [2]], [[3], [4]]], axis=1))
== stack
print(tf.stack([[1, 2], [3, 4]], axis=1),
      [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]])])
== split
print([t.numpy().tolist() for t in tf.split(tf.range(6), 3)])
print([t.numpy().tolist() for t in tf.split(tf.range(6), [1, 2, 3])])
== tile
print(tf.tile([[1, 2]], [2, 2]), tf.repeat([1, 2], 2))
== pad
print(tf.pad([[1, 2]], [[1, 0], [0, 1]], constant_values=9))
== reverse
print(tf.reverse([[1, 2], [3, 4]], [1]), tf.roll([1, 2, 3], 1, 0))
== gather
print(tf.gather([10, 20, 30], [2, 0]), tf.gather([[1, 2], [3, 4]], [1], axis=1))
== gather_nd
print(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
== boolean_mask
print(tf.boolean_mask([1, 2, 3], [True, False, True]))
== where
print(tf.where([True, False], [1, 2], [3, 4]), tf.where([True, False, True]))
== where_broadcast
print(tf.where([[True], [False]], [1.0, 2.0], 0.0))
== one_hot
print(tf.one_hot([0, 2], 3), tf.one_hot([1], 2, on_value=5, off_value=0))
== unique
y, i = tf.unique([1, 1, 2, 4, 4])
print(y, i)
== reduce
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.reduce_sum(x, axis=1, keepdims=True))
print(tf.reduce_mean(x), tf.reduce_max(x, 1), tf.reduce_min(x), tf.reduce_prod(x))
== reduce_bool
print(tf.reduce_all([True, False]), tf.reduce_any([[True], [False]], axis=1))
== logsumexp
print(np.round(tf.reduce_logsumexp([1.0, 2.0, 3.0]), 4))
== argmax
print(tf.argmax([[1, 5, 2], [7, 0, 1]], axis=1), tf.argmin([3, 1, 2]))
== count_nonzero
print(tf.math.count_nonzero([0, 1, 2]))
== cumsum
print(tf.cumsum([1, 2, 3]), tf.cumsum([1, 2, 3], exclusive=True, reverse=True))
== clip
print(tf.clip_by_value([1.0, 5.0, 9.0], 2.0, 6.0), tf.clip_by_norm([3.0, 4.0], 1.0))
== sort
print(tf.sort([3, 1, 2]), tf.argsort([3, 1, 2], direction="DESCENDING"))
== top_k
values, indices = tf.math.top_k([1.0, 9.0, 5.0], k=2)
print(values, indices)
== segment
print(tf.math.segment_sum([1, 2, 3, 4], [0, 0, 1, 1]),
      tf.math.unsorted_segment_max([1, 5, 2], [0, 0, 1], 2))
== bincount
print(tf.math.bincount([1, 1, 2]))
== einsum
a = tf.constant([[1, 2], [3, 4]])
print(tf.einsum("ij,jk->ik", a, a))
== tensordot
print(tf.tensordot([[1, 2], [3, 4]], [[1, 2], [3, 4]], axes=1))
== norm
print(tf.norm([3.0, 4.0]))
== linalg
a = tf.constant([[4.0, 1.0], [2.0, 3.0]])
print(np.round(tf.linalg.inv(a), 4), np.round(tf.linalg.det(a), 4), tf.linalg.diag_part(a),
      tf.linalg.trace(a))
== linalg_diag
print(tf.linalg.diag([1, 2]), tf.linalg.band_part([[1, 2], [3, 4]], 0, -1))
== strings
print(tf.strings.join(["a", "b"], separator="-"), tf.strings.length(["abc", ""]),
      tf.strings.upper("abc"))
print(tf.strings.split("a b c"), tf.strings.to_number("2.5"), tf.strings.substr("hello", 1, 3))
== as_string
print(tf.as_string([1, 2]), tf.strings.regex_replace("banana", "an", "x"))
== bitwise
print(tf.bitwise.bitwise_and(6, 3), tf.bitwise.left_shift(1, 4))
== nn_softmax
print(np.round(tf.nn.softmax([1.0, 2.0, 3.0]), 4), np.round(tf.nn.log_softmax([1.0, 2.0]), 4))
== nn_relu
print(tf.nn.relu([-1.0, 2.0]), tf.nn.relu6([7.0]), np.round(tf.nn.elu([-1.0]), 4),
      tf.nn.leaky_relu([-1.0]))
== nn_cross_entropy
print(
    np.round(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[1.0, 2.0]]), 4))
print(np.round(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[1.0, 2.0]]), 4))
print(np.round(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.5]), 4))
== nn_conv
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
k = tf.ones([2, 2, 1, 1])
print(tf.nn.conv2d(x, k, strides=1, padding="VALID")[0, :, :, 0])
print(tf.nn.max_pool2d(x, 2, 2, "VALID")[0, :, :, 0])
== nn_moments
m, v = tf.nn.moments(tf.constant([1.0, 2.0, 3.0]), axes=[0])
print(m, np.round(v, 4))
== l2
print(tf.nn.l2_loss([3.0, 4.0]), tf.math.l2_normalize([3.0, 4.0]))
== tape
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.gradient(y, x))
== tape_variable
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * v)
print(tape.gradient(y, v))
== tape_structure
w, b = tf.Variable(2.0), tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = w * 3.0 + b
g = tape.gradient(y, {"w": w, "b": b})
print(g["w"], g["b"])
== tape_persistent
x = tf.constant([1.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y))
== tape_second
x = tf.Variable(1.5)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy = t1.gradient(y, x)
print(dy, t2.gradient(dy, x))
== tape_none
x, y = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    z = y * y
print(tape.gradient(z, x))
== tape_zero
x, y = tf.Variable([1.0, 1.0]), tf.Variable(2.0)
with tf.GradientTape() as tape:
    z = y * y
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
== tape_output_gradients
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.gradient(y, x, output_gradients=tf.constant([10.0, 1.0])))
== tape_control_flow
x = tf.constant(1.0)
v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    result = v0 if x > 0.0 else v1 ** 2
print(tape.gradient(result, [v0, v1]))
== tape_stop_recording
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
    with tape.stop_recording():
        z = x * x * x
    y = y + x
print(tape.gradient(y, x))
== tape_reset
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
    tape.reset()
    z = x * 5.0
print(tape.gradient(z, x))
== tape_watched
x, y = tf.Variable(2.0, name="a"), tf.Variable(1.0, name="b", trainable=False)
with tf.GradientTape() as tape:
    z = x * y
print([v.name for v in tape.watched_variables()], tape.gradient(z, y))
== tape_no_access
x = tf.Variable(2.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    y = x * x
print(tape.gradient(y, x))
== tape_used_up
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
try:
    tape.gradient(y, x)
except RuntimeError as error:
    print(error)
== tape_gather
x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.gather(x, [1, 1]))
print(tf.convert_to_tensor(tape.gradient(y, x)))
== tape_broadcast
x, y = tf.Variable([[1.0], [2.0]]), tf.Variable([3.0, 4.0])
with tf.GradientTape() as tape:
    z = tf.reduce_sum(x * y)
print(tape.gradient(z, [x, y]))
== tape_jacobian
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.stack([x[0] * x[1], x[0] + x[1]])
print(tape.jacobian(y, x))
== tape_batch_jacobian
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.batch_jacobian(y, x))
== tape_stop_gradient
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * tf.stop_gradient(x)
print(tape.gradient(y, x))
== custom_gradient
@tf.custom_gradient
def clip(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return y, backward
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    out = clip(v * v)
print(tape.gradient(out, v))
== custom_gradient_log1pexp
@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))
    return tf.math.log(1 + e), grad
x = tf.constant(100.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = log1pexp(x)
print(tape.gradient(y, x))
== variable
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
print(v)
print(v.shape, v.dtype, v.name, v.trainable)
print(v.numpy())
== variable_assign
v = tf.Variable([2.0, 3.0])
v.assign([1, 2])
print(v)
print(v.assign_add([2, 3]).numpy(), v.assign_sub([7.0, 9.0]).numpy())
== variable_bad_assign
v = tf.Variable([2.0, 3.0])
try:
    v.assign([1.0, 2.0, 3.0])
except ValueError as error:
    print(error)
== variable_operators
v = tf.Variable([1.0, 2.0])
print(v + 1, 2 * v, v ** 2, -v, v[0], v > 1)
== variable_index
v = tf.Variable([1.0, 2.0, 3.0])
print(v[1:], v[0], len(v.numpy()))
== variable_sliced_assign
v = tf.Variable([1.0, 2.0, 3.0])
v[0].assign(10.0)
v[1:].assign([5.0, 6.0])
print(v.numpy())
== variable_scatter
v = tf.Variable([1.0, 2.0, 3.0])
v.scatter_nd_add([[0], [2]], [10.0, 20.0])
print(v.numpy())
v.scatter_update(tf.IndexedSlices([7.0], [1]))
print(v.numpy())
== variable_copy
a = tf.Variable([2.0, 3.0])
b = tf.Variable(a)
a.assign([5, 6])
print(a.numpy(), b.numpy())
== variable_name
with tf.name_scope("scope"):
    v = tf.Variable(1.0, name="mine")
print(v.name)
== variable_callable
v = tf.Variable(lambda: tf.ones([2]), dtype=tf.float32)
print(v)
== variable_shape
v = tf.Variable([1.0], shape=tf.TensorShape([None]))
v.assign([1.0, 2.0])
print(v.shape, v.numpy())
== variable_in_functions
v = tf.Variable([1.0, 2.0])
print(tf.reduce_sum(v), tf.argmax(v), tf.convert_to_tensor(v), tf.reshape(v, [1, 2]))
== sgd_by_hand
w = tf.Variable(0.0)
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = (w - 3.0) ** 2
    w.assign_sub(0.1 * tape.gradient(loss, w))
print(np.round(w.numpy(), 4))
== random_seed
tf.random.set_seed(5)
print(tf.random.uniform([2], -1, 1), tf.random.uniform([2]))
tf.random.set_seed(5)
print(tf.random.uniform([2], -1, 1))
== random_op_seed
tf.random.set_seed(1)
print(tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1))
== random_functions
tf.random.set_seed(4)
@tf.function
def one():
    return tf.random.uniform([2], seed=1)
@tf.function
def other():
    return tf.random.uniform([2], seed=1)
@tf.function
def both():
    return tf.random.uniform([2], seed=5), tf.random.uniform([2], seed=5)
@tf.function
def loop():
    total = tf.zeros([2])
    for i in tf.range(2):
        total += tf.random.uniform([2], seed=5) * tf.cast(10 ** i, tf.float32)
    return total
@tf.function
def side(left):
    if left:
        return tf.random.uniform([2], seed=5)
    return tf.random.uniform([2], seed=5)
@tf.function
def shuffled():
    return tf.random.shuffle(tf.range(8), seed=4)
@tf.function
def like(x):
    return tf.random.uniform([2], seed=1) + tf.zeros_like(x)
for function in (one, other, one, other, both, both, loop, loop, shuffled, shuffled):
    print(function.__name__, *np.round(function(), 5).tolist())
for left in (True, False, True, False):
    print(np.round(side(tf.constant(left)), 5).tolist())
for size in (2, 1, 2, 1):
    print(np.round(like(tf.zeros([size])), 5).tolist())
dataset = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([], 0, 100, tf.int32, seed=3))
print([int(x) for x in dataset.repeat(3)])
== random_functions_start_anew
@tf.function
def inner():
    return tf.random.uniform([])
@tf.function
def drawn():
    return inner() + tf.random.uniform([])
for seed in (7, 8, 7):
    tf.random.set_seed(seed)
    print(float(drawn()), float(drawn()))
@tf.function
def first():
    return tf.random.uniform([], seed=3)
for seed in (7, 7):
    tf.random.set_seed(seed)
    print(float(first()), float(first()), float(tf.random.uniform([], seed=3)))
== random_integers
tf.random.set_seed(3)
print(tf.random.uniform([4], maxval=10, dtype=tf.int32))
== random_shuffle
tf.random.set_seed(2)
print(tf.random.shuffle([1, 2, 3, 4, 5]))
== random_truncated
tf.random.set_seed(2)
print(np.round(tf.random.truncated_normal([3]), 5))
== random_stateless
print(tf.random.stateless_uniform([2], seed=(1, 2)),
      np.round(tf.random.stateless_normal([2], seed=[3, 4]), 5))
== error_shapes
try:
    tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
except tf.errors.InvalidArgumentError as error:
    print(type(error).__name__)
== error_dtypes
try:
    tf.constant(1.0) + tf.constant(1)
except tf.errors.InvalidArgumentError as error:
    print(error.message)
== error_bool
try:
    bool(tf.constant([1, 2]))
except ValueError as error:
    print(type(error).__name__)
== error_hash
try:
    {tf.constant(1): 2}
except TypeError as error:
    print(type(error).__name__)
== error_name
try:
    tf.constant(1).name
except AttributeError as error:
    print(error)
== error_iterate_scalar
try:
    list(tf.constant(1))
except TypeError as error:
    print(error)
== error_immutable
try:
    tf.constant([1, 2])[0] = 3
except TypeError as error:
    print(type(error).__name__)
== ref
x = tf.constant(1)
print(x.ref() == x.ref(), {x.ref(): "a"}[x.ref()], x.ref().deref() is x)
== py_function
print(tf.py_function(lambda x: x * 2, [tf.constant([1, 2])], tf.int32))
== numpy_function
print(tf.numpy_function(lambda x: x + 1, [tf.constant([1.0, 2.0])], tf.float32))
== cond
print(tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2)))
== while_loop
print(tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [tf.constant(0)]))
== map_fn
print(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])))
== executing_eagerly
print(tf.executing_eagerly())
with tf.Graph().as_default():
    print(tf.executing_eagerly())
== nest
print(tf.nest.flatten({"b": 1, "a": [2, 3]}), tf.nest.map_structure(lambda x: x + 1, (1, [2])))
== sparse
s = tf.sparse.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
print(tf.sparse.to_dense(s))
print(s)
== ragged
r = tf.ragged.constant([[1, 2], [3]])
print(r, r.shape, r[0], tf.reduce_sum(r, axis=1))
== indexed_slices
print(
    tf.convert_to_tensor(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]),
          tf.constant([3, 1]))))
== tensor_array
a = tf.TensorArray(tf.float32, size=2)
a = a.write(0, 1.0).write(1, 2.0)
print(a.stack(), a.read(0))
== dlpack
c = tf.experimental.dlpack.to_dlpack(tf.constant([1.0, 2.0]))
print(tf.experimental.dlpack.from_dlpack(c))
== device
with tf.device("/CPU:0"):
    print(tf.constant(1).device)
== name_scope
with tf.name_scope("a"):
    print(tf.constant(1) + 1)
== scatter_nd
print(tf.scatter_nd([[1], [3]], [9, 10], [5]), tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]))
== meshgrid
x, y = tf.meshgrid([1, 2], [3, 4])
print(x, y)
== broadcast_to
print(tf.broadcast_to([1, 2], [2, 2]),
      tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])))
== confusion
print(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]))
== format
print("%.2f" % tf.constant(1.2345), f"{tf.constant(2)}")
'''

_UNARY = (
    "abs acos acosh asin asinh atan atanh cos cosh digamma erf erfc exp expm1 floor ceil lgamma "
    "log log1p negative reciprocal rint rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh "
    "round log_sigmoid bessel_i0e"
)


def programs():
    """{name: source}."""
    found = {}
    for part in _WRITTEN.split("\n== ")[1:]:
        name, _, source = part.partition("\n")
        found[name] = source + "\n"
    for function in _UNARY.split():
        values = "[1.25, 1.5]" if function == "acosh" else "[0.25, 0.75]"
        found[f"math_{function}"] = (
            f"x = tf.constant({values})\n"
            "with tf.GradientTape() as tape:\n"
            "    tape.watch(x)\n"
            f"    y = tf.math.{function}(x)\n"
            "g = tape.gradient(y, x)\n"
            "print(y.dtype, np.round(np.asarray(y, np.float64), 4).tolist())\n"
            "print(None if g is None else np.round(np.asarray(g, np.float64), 3).tolist())\n"
        )
    return found
