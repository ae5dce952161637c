"""Tensors and variables of TensorFlow 2's programs on graphics cards: where they lie, how they are
copied, and which device operations choose."""

from card_process import check_program

FRAME = """
import numpy as np
import rheos.v2 as tf

if not tf.config.list_physical_devices("GPU"):
    raise SystemExit(77)

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
"""


def test_tensors_lie_where_they_were_computed():
    check_program(
        FRAME
        + """
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
assert x.device == CPU
with tf.device("/gpu:0"):
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    product = tf.matmul(a, x)
    numbers, text = tf.constant([1, 2]), tf.constant("a")
assert a.device == product.device == a.backing_device == GPU
assert numbers.device == text.device == CPU  # as TensorFlow keeps int32
assert product.numpy().tolist() == [[7, 10], [15, 22]]
assert np.array(memoryview(product)).tolist() == product.numpy().tolist()

with tf.device("/cpu:0"):
    here = tf.identity(product)
    total = product + 1
with tf.device("/gpu:0"):
    there = tf.identity(x)
assert [t.device for t in (here, total, there)] == [CPU, CPU, GPU]
assert here.numpy().tolist() == product.numpy().tolist()
assert there.numpy().tolist() == x.numpy().tolist()

assert product.cpu().device == CPU and product.cpu().gpu().device == GPU
assert x.cpu() is x
for missing in (1, 7):
    try:
        x.gpu(missing)
    except tf.errors.InvalidArgumentError as error:
        assert f"GPU:{missing}" in str(error) and GPU in str(error), error
    else:
        raise AssertionError("there is one card")

with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(x.gpu() ** 2)
np.testing.assert_allclose(tape.gradient(loss, x), 2 * x)
"""
    )


def test_operations_choose_a_device():
    check_program(
        FRAME
        + """
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
assert (x * 2).device == GPU  # it has a kernel, and this is of floats
assert (tf.constant([1, 2]) * 2).device == CPU  # whole numbers stay
assert tf.strings.upper(["a"]).device == CPU
assert tf.shape(x * 2).device == CPU

guesses, labels = tf.argmax(x * 2, 1), tf.constant([1, 0], tf.int64)
right = tf.equal(guesses, labels)  # beside the guesses, so that nothing waits for them
assert [t.device for t in (guesses, right, tf.reduce_sum(tf.cast(right, tf.int32)))] == 3 * [GPU]
assert tf.as_string(guesses).device == CPU
assert right.numpy().tolist() == [True, False] and int(tf.reduce_sum(guesses)) == 2

@tf.function
def both(x):
    return tf.tanh(x) + 1, tf.shape(x) * 2

def where(*context):
    return [t.device for t in both(x)]

assert where() == [GPU, CPU]
for device, expected in ("/cpu:0", [CPU, CPU]), ("/gpu:0", [GPU, CPU]), ("/cpu:0", [CPU, CPU]):
    with tf.device(device):
        assert where() == expected, device

@tf.function
def outer(x):
    return both(x)[0], tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), [0, x])[1]

def places():
    return [t.device for t in outer(x)]

assert places() == [GPU, GPU]
with tf.device("/cpu:0"):
    assert places() == [CPU, CPU]

# What a dataset calls runs on the host.
data = tf.data.Dataset.from_tensor_slices(tf.range(3.0)).map(lambda x: x * 2)
assert [(float(x), x.device) for x in data] == [(0, CPU), (2, CPU), (4, CPU)]
"""
    )


def test_variables_stay_on_the_card():
    check_program(
        FRAME
        + """
with tf.device("/gpu:0"):
    v, w = tf.Variable(tf.ones([3, 2])), tf.Variable([1.0, 2.0])
assert v.device == w.device == v.read_value().device == w.read_value().device == GPU
v.assign_add(tf.ones([3, 2]))
assert v.read_value().device == GPU and v.numpy().tolist() == [[2, 2]] * 3
before = v.read_value()
v.assign(tf.zeros([3, 2]))
assert before.numpy().tolist() == [[2, 2]] * 3 and v.numpy().tolist() == [[0, 0]] * 3
v.assign_sub(tf.ones([3, 2]))

optimizer = tf.keras.optimizers.Adam(0.1)
free = tf.Variable([3.0, -2.0])  # asks for nothing: the first update takes it to the card

@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v) + tf.reduce_sum(free**2)
    variables = [v, free]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

losses = [float(step()) for _ in range(5)]
assert losses == sorted(losses, reverse=True)
assert v.read_value().device == free.read_value().device == GPU

checkpoint = tf.train.Checkpoint(v=v, free=free)
import tempfile
with tempfile.TemporaryDirectory() as folder:
    path = checkpoint.save(folder + "/c")
    kept = v.numpy(), free.numpy()
    step()
    checkpoint.restore(path)
    np.testing.assert_array_equal(v.numpy(), kept[0])
    np.testing.assert_array_equal(free.numpy(), kept[1])
"""
    )


def test_threads_ask_for_devices_of_their_own():
    check_program(
        FRAME
        + """
import threading
found, x = {}, tf.constant([1.0, 2.0])
inside, seen = threading.Event(), threading.Event()

def other():
    inside.wait()
    with tf.device("/cpu:0"):
        found["other"] = (x * 3).device
    seen.set()

thread = threading.Thread(target=other)
thread.start()
with tf.device("/gpu:0"):
    inside.set()
    seen.wait()
    found["main"] = (tf.constant([2]) * 3).device
thread.join()
assert found == {"other": CPU, "main": GPU}, found
"""
    )


def test_elements_of_datasets_are_put_on_a_card():
    check_program(
        FRAME
        + """
values = np.arange(12, dtype="f").reshape(6, 2), np.arange(6)
data = tf.data.Dataset.from_tensor_slices(values).batch(2)
for move in tf.data.experimental.prefetch_to_device, tf.data.experimental.copy_to_device:
    pairs = list(data.apply(move("/gpu:0")))
    assert [t.device for pair in pairs for t in pair] == [GPU] * 6
    np.testing.assert_array_equal(np.concatenate([x.numpy() for x, _ in pairs]), values[0])
    np.testing.assert_array_equal(np.concatenate([y.numpy() for _, y in pairs]), values[1])
(x, y), = data.apply(tf.data.experimental.copy_to_device("/gpu:0")).take(1)
assert x.device == y.device == GPU
x, y = next(iter(data.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))))
assert x.device == y.device == CPU

@tf.function
def total(pairs):
    sum = tf.zeros([2])
    for x, y in pairs:
        sum += tf.reduce_sum(x, 0)
    return sum

moved = data.apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
assert total(moved).numpy().tolist() == [30, 36]
"""
    )


def test_attention_of_einsums_stays_on_the_card():
    """As TensorFlow's own Keras writes it, forth and back; nothing may go to the host."""
    check_program(
        FRAME
        + """
rng = np.random.RandomState(0)
x, wanted = rng.randn(2, 4, 10, 16).astype("float32")
start = [0.3 * rng.randn(*shape).astype("float32") for shape in 3 * [(16, 2, 8)] + [(2, 8, 16)]]
tf.config.set_soft_device_placement(False)


def einsum(equation, *inputs):
    return tf.raw_ops.Einsum(inputs=inputs, equation=equation)


def train(device):
    with tf.device(device):
        inputs, target = tf.constant(x), tf.constant(wanted)
        weights = [tf.Variable(w) for w in start]

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                queries, keys, values = (einsum("abc,cde->abde", inputs, w) for w in weights[:3])
                scores = einsum("aecd,abcd->acbe", keys, queries) / 8**0.5
                mixed = einsum("acbe,aecd->abcd", tf.nn.softmax(scores), values)
                loss = tf.reduce_mean((einsum("abcd,cde->abe", mixed, weights[3]) - target) ** 2)
            slopes = tape.gradient(loss, weights)
            for w, slope in zip(weights, slopes):
                w.assign_sub(0.5 * slope)
            return loss, slopes

        losses = [step()[0].numpy() for _ in range(5)]
        types = [op.type for op in step.get_concrete_function().graph.get_operations()]
        return types, losses, step()


types, losses, (loss, slopes) = train("/gpu:0")
assert types.count("Einsum") == 18, types
assert {t.device for t in (loss, *slopes)} == {GPU}
_, on_cpu, _ = train("/cpu:0")
np.testing.assert_allclose(losses, on_cpu, rtol=1e-5)
assert losses[-1] < 0.9 * losses[0]
"""
    )
