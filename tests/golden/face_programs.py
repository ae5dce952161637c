"""Programs over TensorFlow 2's face: what each prints is recorded, as of eager_programs.

`programs()` gives {name: source}; sources see `tf` and `np`.
"""

_WRITTEN = '''
== shapes_are_numbers
x = tf.zeros([2, 3])
print(x.shape[0] * 2, [d for d in x.shape], tuple(x.shape), x.shape[1:], repr(x.shape))
s = tf.TensorSpec([None, 3], tf.int32)
print(s, s.shape[0], tf.TensorShape(None)[4], tf.TensorShape(None), tf.TensorShape([None, 2]))
print(tf.TensorShape([None, 2]).dims, tf.TensorShape([None]) == tf.TensorShape([None]))
print(tf.TensorShape([2]) != tf.TensorShape([None]), tf.TensorShape([2, 3]).num_elements())
== generator_seeds
g = tf.random.Generator.from_seed(1)
print(g.state.numpy(), g.algorithm, np.round(g.normal([3]).numpy(), 5), g.state.numpy())
print(np.round(g.uniform([2]).numpy(), 5), g.uniform([2], maxval=10, dtype=tf.int32).numpy())
print(np.round(tf.random.Generator.from_seed([3, 4]).uniform([3]).numpy(), 5))
print(tf.random.Generator.from_seed(2**70 + 5).state.numpy())
print(tf.random.create_rng_state([7, 8], 1), g.make_seeds(2).numpy())
g.reset_from_seed(9)
g.skip(100)
print(g.state.numpy(), [np.round(one.normal([]).numpy(), 4).item() for one in g.split(3)])
== generator_made_in_a_function
made = []

@tf.function
def draw():
    if not made:
        made.append(tf.random.Generator.from_seed(1))
    return made[0].normal([])

print(np.round(draw().numpy(), 5).item(), np.round(draw().numpy(), 5).item())
== sparse_arguments_of_functions
@tf.function
def product(a, b):
    return tf.sparse.sparse_dense_matmul(a, b)

a = tf.sparse.SparseTensor([[0, 3], [2, 4]], [15, 25], [3, 10])
print(product(a, tf.sparse.to_dense(tf.sparse.transpose(a))))
specs = tf.SparseTensorSpec([3, 10], tf.int32), tf.TensorSpec([10, 3], tf.int32)
print(product.get_concrete_function(*specs)(a, tf.ones([10, 3], tf.int32)))
== ragged_arguments_of_functions
@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
def ends(rt):
    return tf.reduce_max(rt, axis=-1), tf.reduce_min(rt, axis=-1)

@tf.function
def twice(rt):
    print("traced", rt.shape)
    return tf.concat([rt, rt * 10], axis=1)

rt = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
print(ends(rt), twice(rt), twice(tf.ragged.constant([[7], [8], [9]])))
== ragged_values
rt = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
print(rt, rt.to_list(), rt.numpy()[2], tf.square(rt))
texts = tf.ragged.constant([["a longer text", "and one"], ["more of it, and another line"] * 2])
print(repr(texts))
print(tf.ragged.constant([[[1], [2, 3]], [[]], []]), tf.ragged.constant([[1, 2], [3, 4]]).numpy())
print(tf.ragged.constant([[i] * (i % 3) for i in range(400)]))
== py_function_in_a_function
@tf.py_function(Tout=tf.float32)
def plus(x, y):
    print("eager", type(x).__name__, float(x))
    return x * x * y

@tf.function
def call(x, y):
    print("tracing")
    return plus(x, y)

x, y = tf.constant(3.0), tf.constant(2.0)
for f in (plus, call):
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        print(z, tape.gradient(z, [x, y]))
== py_function_in_map
d = tf.data.Dataset.range(3).map(lambda i: tf.py_function(lambda v: v * 2, [i], tf.int64))
print([int(v) for v in d])
== numpy_function_as_decorator
@tf.numpy_function(Tout=tf.int64)
def count(a):
    return np.int64(len(a))

print(count(tf.constant([1, 2, 3])), tf.function(lambda v: count(v))(tf.constant([1, 2])))
== python_prints_while_it_is_traced
@tf.function
def f(x):
    print("Tracing with", x)
    return x + 1

print(f(tf.constant(1)), f(tf.constant(2)), f(tf.constant(1.5)))
== custom_gradients_in_functions
@tf.custom_gradient
def clipped(x):
    y = tf.square(x)

    def grad(dy):
        return dy * y * 3.0

    return x * 2.0, grad

@tf.custom_gradient
def two(x, k):
    def grad(da, db):
        return da * 10.0 + db * x, None

    return (x * k, tf.cast(x, tf.int32), x + 1.0)[::2], grad

v = tf.Variable(3.0)

@tf.custom_gradient
def with_variable(x):
    def grad(dy, variables=None):
        print("variables", len(variables))
        return dy * 7.0, [dy * 5.0]

    return x * v, grad

@tf.function
def f(x):
    a, b = two(x, 4.0)
    y = a + b + clipped(x)
    for _ in tf.range(2):
        y = clipped(y) / 8.0
    if y > 0.0:
        y = y + clipped(x)
    return y

x = tf.constant(0.5)
for _ in range(2):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    print(np.round([y.numpy(), g.numpy(), outer.gradient(g, x).numpy()], 2).tolist())
g = tf.function(with_variable)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = g(x)
print(y, tape.gradient(y, [x, v]))

@tf.function
def inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clipped(x) * 3.0
    return tape.gradient(y, x)

print(inside(x))
== gradients_of_gradients_of_calls
def branch(x):
    if x > 0.0:
        x = tf.sin(tf.exp(x))
    return x

def loop(x):
    for _ in tf.range(2):
        x = tf.sin(tf.exp(x))
    return x

def both(x):
    for i in tf.range(3):
        if i % 2 == 0:
            x = tf.exp(x / 2.0) * x
    return branch(x) * loop(x)

def derivative(f, x, order):
    if order == 0:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = derivative(f, x, order - 1)
    return tape.gradient(y, x)

x = tf.constant(0.5)
for f in (branch, loop, both):
    f = tf.function(f)
    print([np.round(derivative(f, x, n).numpy(), 2).item() for n in range(4)])
== raw_bytes_and_lines
print(tf.io.decode_raw(tf.constant("Duck"), tf.uint8))
print(tf.io.decode_raw(["abcd", "ef"], tf.int16, fixed_length=4, little_endian=False))
print(tf.io.decode_csv(["1,2.5,x", ",,y"], [7, 0.5, "z"]))
print(tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-"))
print(tf.strings.reduce_join(tf.constant(["a", "b"])))
== parse_examples
example = tf.train.Example(features=tf.train.Features(feature={
    "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])),
    "t": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"b"]))}))
spec = {"n": tf.io.FixedLenFeature([], tf.int64), "t": tf.io.VarLenFeature(tf.string)}
one = tf.io.parse_single_example(example.SerializeToString(), spec)
print(one["n"], one["t"].values, one["t"].dense_shape)
many = tf.io.parse_example([example.SerializeToString()] * 2, spec)
print(many["n"], tf.sparse.to_dense(many["t"]))
== special_functions
x = tf.constant([0.25, 1.5, 4.0])
for name in ("bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e "
             "bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin "
             "spence").split():
    print(name, np.round(getattr(tf.math.special, name)(x).numpy(), 3).tolist())
p = tf.constant([0.1, 0.5, 0.9])
for f in (tf.math.erfinv, tf.math.erfcinv, tf.math.ndtri):
    print(np.round(f(p).numpy(), 4).tolist())
print(np.round(tf.math.xlog1py([0.0, 2.0], [-1.0, 3.0]).numpy(), 4).tolist())
== pictures_changed_by_seeds
picture = tf.reshape(tf.range(48.0) / 48, [4, 4, 3])
image = tf.image
for f in (lambda s: image.stateless_random_brightness(picture, 0.3, s),
          lambda s: image.stateless_random_contrast(picture, 0.5, 1.5, s),
          lambda s: image.stateless_random_saturation(picture, 0.5, 1.5, s),
          lambda s: image.stateless_random_hue(picture, 0.2, s),
          lambda s: image.stateless_random_flip_left_right(picture, s),
          lambda s: image.stateless_random_flip_up_down(tf.stack([picture] * 4), s),
          lambda s: image.stateless_random_crop(picture, [2, 3, 3], s)):
    for seed in ((1, 2), (3, 4), (5, 9)):
        y = f(seed)
        print(y.shape, np.round(tf.reduce_mean(y).numpy(), 4).item(),
              np.round(tf.reshape(y, [-1])[:4].numpy(), 3).tolist())
== pictures_cropped
picture = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
boxes = [[0.0, 0.0, 0.5, 1.0], [0.25, 0.25, 1.0, 1.0]]
print(np.round(tf.image.crop_and_resize(picture, boxes, [0, 0], [2, 2]).numpy(), 3).tolist())
print(tf.image.extract_glimpse(picture, [2, 2], [[0.0, 0.0]], noise="zero").numpy().tolist())
print(tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]],
                                   [[1.0]]).numpy().tolist())
keep, count = tf.image.non_max_suppression_padded(
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [0.0, 2.0, 1.0, 3.0]], [0.9, 0.8, 0.7], 3,
    pad_to_max_output_size=True)
print(keep, count)
== layers_of_windows
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
y, places = tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")
print(y.numpy().ravel().tolist(), places.numpy().ravel().tolist())
f = tf.ones([2, 2, 1])
print(tf.nn.dilation2d(x, f, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]).numpy().ravel().tolist())
print(tf.nn.erosion2d(x, f, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]).numpy().ravel().tolist())
y, rows, columns = tf.nn.fractional_max_pool(x, 1.5, pseudo_random=True, seed=7)
print(y.shape, rows.numpy()[0], columns.numpy()[0])
blocks = tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]])
print(blocks.shape, tf.batch_to_space(blocks, [2, 2], [[1, 0], [0, 1]]).numpy().ravel().tolist())
== initializers_by_name
print(tf.zeros_initializer()([2], tf.int32), tf.ones_initializer()(shape=[1]))
print(tf.constant_initializer(3.0)([2, 1]), tf.constant_initializer([1, 2])([2], tf.float32))
tf.random.set_seed(4)
print(np.round(tf.random_normal_initializer(1.0, 2.0, seed=3)([2]).numpy(), 4).tolist())
print(np.round(tf.random_uniform_initializer(seed=3)([2]).numpy(), 4).tolist())
print(tf.constant_initializer(3.0).get_config()["value"])
== what_is_traced_knows_it
print(tf.inside_function(), tf.function(lambda: tf.inside_function())() is not None)
with tf.name_scope("outer"), tf.name_scope("inner"):
    print(tf.get_current_name_scope())
print(tf.type_spec_from_value(tf.constant([1.0, 2.0])), tf.dtypes.float32, tf.dtypes.int8.max)
print(tf.random.stateless_poisson([3], (1, 2), 5.0).numpy().tolist())
== concrete_functions_take_tensors_in_order
f = tf.function(lambda m, x: x * m).get_concrete_function(2.0, tf.TensorSpec([], tf.float32))
g = tf.function(lambda a, b: a + b).get_concrete_function(tf.constant("a"), tf.constant("b"))
print(f(tf.constant(1.0)), f(2.0, tf.constant(1.0)), g(tf.constant("x"), tf.constant("y")))
print(g.function_type, g.inference_fn(tf.constant("p"), tf.constant("q")))
for call in (lambda: f(3.0, tf.constant(1.0)), lambda: f(tf.constant(1)),
             lambda: g(tf.constant(1), tf.constant("b")), lambda: g(tf.constant("a"))):
    try:
        call()
    except (TypeError, tf.errors.InvalidArgumentError) as error:
        print(type(error).__name__)
== leaked_tensors
leaked = []

@tf.function
def leak(x):
    leaked.append(x + 1)
    return x

leak(tf.constant(1))
for use in (lambda: leaked[0] + 1, lambda: tf.add(leaked[0], 1), lambda: tf.cast(leaked[0], "int8"),
            lambda: tf.function(lambda y: y + leaked[0])(tf.constant(2))):
    try:
        use()
    except TypeError as error:
        print("is out of scope and cannot be used here" in str(error))
== linspace_forms
print(tf.linspace(-2, 2, 5), tf.linspace(1.0, 2.0, 3), tf.linspace(3.0, 4.0, 1))
print(tf.linspace([0, 1], [2, 3], 3, axis=-1), tf.linspace([0.0], [10.0], 3).numpy().tolist())
== optimizers_of_version_1
w = tf.Variable([1.0, 2.0])

def loss():
    return tf.reduce_sum(tf.square(w))

for name in "GradientDescent Adam RMSProp Adagrad Ftrl Adadelta".split():
    optimizer = getattr(tf.compat.v1.train, name + "Optimizer")(0.1)
    optimizer.minimize(loss)
    g, v = optimizer.compute_gradients(loss, [w])[0]
    optimizer.apply_gradients([(g, v)])
    print(name, np.round(w.numpy(), 4).tolist(), [v.name for v in optimizer.variables()])
adam = tf.compat.v1.train.AdamOptimizer(0.1)

@tf.function
def step():
    adam.minimize(loss)
    return loss()

print(np.round([step().numpy(), step().numpy()], 5).tolist())
== loops_over_datasets_of_unknown_shapes
pairs = [(1, 3)] * 10

@tf.function
def total(dataset):
    found = tf.constant(0)
    for x, y in dataset:
        found += tf.abs(y - x)
    return found

@tf.function
def until(dataset):
    found = tf.constant(0)
    for x, y in dataset:
        found += tf.abs(y - x)
        if found > 7:
            break
    return found

made = tf.data.Dataset.from_generator(lambda: pairs, (tf.int32, tf.int32))
print(total(made), until(made))
== py_functions_without_arguments
calls = []

@tf.function
def f(i):
    tf.py_function(lambda: calls.append(len(calls)), [], ())
    return i

def mapped(i):
    tf.py_function(lambda: calls.append(10), [], ())
    return i

print(f(tf.constant(1)), f(tf.constant(2)), calls)
print([int(v) for v in tf.data.Dataset.range(2).map(mapped)], calls)
== rows_of_tables_for_ragged_ids
print(tf.nn.embedding_lookup(tf.constant([[1.0], [2.0], [3.0]]), tf.ragged.constant([[0, 1], [2]])))
== types_of_the_program
from typing import Tuple, Mapping, Union
class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    def replace_mask(self, new_value):
        return tf.where(self.mask, self.values, tf.cast(new_value, self.values.dtype))
    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)
m = Masked([1, 2, 3], [True, False, True])
print(m)
print(m.values, m.replace_mask(0))
try:
    m.values = 3
except AttributeError as error:
    print(error)
class Network(tf.experimental.ExtensionType):
    work: Mapping[str, tf.Tensor]
    sizes: Tuple[tf.Tensor, ...]
    name: str
    rate: float = 0.5
n = Network({"a": [1.0], "b": 2}, [1, [2]], "net")
print(n.name, n.rate, n.work["a"], n.sizes)
@tf.function
def double(x):
    print("traced")
    return Masked(x.values * 2, x.mask)
d = double(m)
print(d, double(Masked([4, 5, 6], [True, True, True])).values)
print(m == Masked([1, 2, 3], [True, False, True]), m == d, m != d)
@tf.function
def pick(n, x):
    if x > 0:
        y = Masked(tf.ones([2]), [True, True])
    else:
        y = Masked(tf.zeros([2]), [False, True])
    for _ in tf.range(2):
        y = Masked(y.values + x, y.mask)
    return y, n.work["a"] * n.rate
print(pick(n, tf.constant(1.0)))
class Vector(tf.experimental.ExtensionType):
    x: tf.Tensor
    label: Union[str, None] = None
    def __init__(self, x, scale=1.0):
        self.x = tf.convert_to_tensor(x) * scale
        self.label = "v"
print(Vector([1.0, 2.0], 3.0))
for bad in (lambda: Masked([1], [True, False]), lambda: Masked(mask=[True]),
            lambda: Network({}, [], 3), lambda: Network(3, [], "x")):
    try:
        bad()
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
class B(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    y: tf.Tensor
data = tf.data.Dataset.from_tensor_slices(B([[1.0], [2.0], [3.0]], [1, 2, 3]))
for one in data.map(lambda b: B(b.x * 2, b.y)).batch(2):
    print(one.x, one.y)
print(tf.nest.flatten(m, expand_composites=True))
spec = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))
print(spec, spec.values, tf.type_spec_from_value(m))
signed = tf.function(lambda x: x.values + 1, input_signature=[spec])
print(signed(m), signed(Masked([1], [True])), signed.get_concrete_function()(m))

class Sized(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    class Spec:
        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.mask = tf.TensorSpec(shape, tf.bool)

print(tf.function(lambda x: x.values).get_concrete_function(Sized.Spec([2]))(
    Sized([1.0, 2.0], [True, False])))
with tf.GradientTape() as tape:
    v = Vector([1.0, 2.0])
    tape.watch(v.x)
    l = tf.reduce_sum(v.x ** 2)
print(tape.gradient(l, v.x))
== gradients_through_captures_to_sources_around
def ask(y_of):
    @tf.function
    def outer(x):
        y = y_of(x)

        @tf.function
        def inner(z):
            first, = tf.gradients(y * z + x, x)
            return first, tf.gradients(first, x)[0]

        @tf.function
        def deeper():
            return tf.cond(tf.reduce_sum(x) > 0.0, lambda: inner(3.0)[0], lambda: x)

        found = inner(2.0)
        both = tf.gradients(found[0], x)[0]
        return [*found, deeper(), both]

    print([None if d is None else np.round(d.numpy(), 3).tolist() for d in outer(tf.constant(1.5))])

@tf.function
def called(x):
    if x > 1.0:
        x = tf.sin(x) * x
    return x * x

@tf.custom_gradient
def own(x):
    return x * x, lambda d: d * x * 10.0

v = tf.Variable(2.0)
ask(lambda x: x * x * v)
ask(lambda x: called(x))
ask(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1])
ask(lambda x: own(tf.exp(x)))
ask(lambda x: tf.reduce_sum(tf.gather(tf.stack([x * x, x, x * 3.0]), [0, 0, 2])))
ask(lambda x: tf.stop_gradient(x) * x * x)
== gradients_of_a_tape_around_asked_for_inside
@tf.function
def outer(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x

    @tf.function
    def inner():
        with tape:
            z = y * y
        with tf.GradientTape() as own:
            own.watch(x)
            w = y * x
        return tape.gradient(z, x), own.gradient(w, x), tf.gradients(z, x, stop_gradients=[y])

    total = tf.constant(0.0)
    for _ in tf.range(3):
        total += tf.gradients(y * total + y, x)[0]
    return inner(), total

print(outer(tf.constant(2.0)))
'''


def programs():
    """{name: source}."""
    found = {}
    for part in _WRITTEN.split("\n== ")[1:]:
        name, _, source = part.partition("\n")
        found[name] = source + "\n"
    return found
