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
'''


def programs():
    """{name: source}."""
    found = {}
    for part in _WRITTEN.split("\n== ")[1:]:
        name, _, source = part.partition("\n")
        found[name] = source + "\n"
    return found
