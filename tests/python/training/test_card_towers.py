"""Towers of version 1 on two parts of a graphics card, and datasets whose elements go to cards in
sessions and in functions."""

from card_process import check_program

FRAME = """
import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)

Parts = tf.GPUOptions.Experimental
TWO = tf.ConfigProto(
    allow_soft_placement=True,
    gpu_options=tf.GPUOptions(experimental=Parts(
        virtual_devices=[Parts.VirtualDevices(memory_limit_mb=[256, 256])])))
HARD = tf.ConfigProto(gpu_options=TWO.gpu_options)
rng = np.random.RandomState(0)
"""


def test_averaged_gradients_of_two_towers():
    check_program(
        FRAME
        + """
images, labels = rng.rand(12, 8, 8, 1).astype("f"), rng.randint(0, 3, 12)


def init(shape, dtype=tf.float32, partition_info=None):
    return tf.constant(np.sin(np.arange(np.prod(shape))).reshape(shape) / 10, dtype)


def loss_of(x, y):
    h = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, kernel_initializer=init)
    h = tf.layers.batch_normalization(h, training=True, fused=True)
    h = tf.layers.max_pooling2d(h, 2, 2)
    logits = tf.layers.dense(tf.layers.flatten(h), 3, kernel_initializer=init)
    return tf.losses.sparse_softmax_cross_entropy(y, logits)


def average_gradients(towers):
    averaged = []
    for pairs in zip(*towers):
        stacked = tf.concat([tf.expand_dims(g, 0) for g, _ in pairs], 0)
        averaged.append((tf.reduce_mean(stacked, 0), pairs[0][1]))
    return averaged


def train(devices, variables_on, colocate):
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(6)
        iterator = tf.data.make_initializable_iterator(data)
        towers, losses = [], []
        setter = (lambda op: variables_on if op.type in ("VariableV2", "VarHandleOp") else device)
        for i, device in enumerate(devices):
            x, y = iterator.get_next() if i == 0 else (x, y)
            shard = slice(3 * i, 3 * i + 3)
            with tf.device(setter), tf.name_scope(f"tower_{i}"), tf.variable_scope(
                "net", reuse=i > 0
            ):
                losses.append(loss_of(x[shard], y[shard]))
                towers.append(optimizer.compute_gradients(
                    losses[-1], colocate_gradients_with_ops=colocate))
        train = optimizer.apply_gradients(average_gradients(towers), step)
        with tf.Session(config=TWO) as session:
            session.run([tf.global_variables_initializer(), iterator.initializer])
            found = [session.run([tf.add_n(losses), train])[0] for _ in range(8)]
            assert session.run(step) == 8
            return found


on_cpu = train(["/cpu:0"] * 2, "/cpu:0", False)
assert on_cpu[-1] < on_cpu[0]
for variables_on in "/cpu:0", "/gpu:0":
    for colocate in False, True:
        found = train(["/gpu:0", "/gpu:1"], variables_on, colocate)
        np.testing.assert_allclose(found, on_cpu, rtol=1e-4)
"""
    )


def test_values_and_variables_of_two_parts():
    check_program(
        FRAME
        + """
variables, sums = [], []
for i in 0, 1:
    with tf.device(f"/gpu:{i}"):
        variables.append(tf.get_variable(f"v{i}", [3], initializer=tf.zeros_initializer(),
                                         use_resource=bool(i)))
x = tf.placeholder(tf.float32, [3])
step = [tf.assign_add(v, x * (i + 1.0)) for i, v in enumerate(variables)]
with tf.device("/gpu:1"):
    crossed = variables[0] * 10 + variables[1]
with tf.device("/gpu:0"):
    back = tf.reduce_sum(crossed - variables[1])
trace = tf.RunMetadata()
with tf.Session(config=HARD) as session:
    names = [d.name[-5:] for d in session.list_devices()]
    assert names == ["CPU:0", "GPU:0", "GPU:1"], names
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        session.run(step, {x: [1, 2, 3]})
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    values = session.run([crossed, back], options=full, run_metadata=trace)
    assert values[0].tolist() == [24, 48, 72] and values[1] == 120
    assert {d.device[-5:] for d in trace.step_stats.dev_stats} >= {"GPU:0", "GPU:1"}
"""
    )


def test_datasets_feed_cards_in_sessions():
    check_program(
        FRAME
        + """
experimental = tf.data.experimental
values = np.arange(12, dtype="f").reshape(6, 2), np.arange(6)


def elements(session, fetches):
    found = []
    try:
        while True:
            found.append(session.run(fetches))
    except tf.errors.OutOfRangeError:
        return found


for move in experimental.prefetch_to_device, experimental.copy_to_device:
    for config in TWO, HARD:
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            data = tf.data.Dataset.from_tensor_slices(values).batch(2).apply(move("/gpu:1"))
            iterator = tf.data.make_initializable_iterator(data)
            x, y = iterator.get_next()
            with tf.device("/gpu:1"):
                sums = tf.reduce_sum(x * 2, 1)
            for _ in range(2):  # it begins anew
                session.run(iterator.initializer)
                found = elements(session, [sums, y])
                assert [s.tolist() for s, _ in found] == [[2, 10], [18, 26], [34, 42]], found
                assert [y.tolist() for _, y in found] == [[0, 1], [2, 3], [4, 5]]

            # An iterator that takes several datasets, and one that is told by a handle.
            either = tf.data.Iterator.from_structure(tf.float32, [None])
            ranges = [tf.data.Dataset.range(n).map(lambda i: tf.cast(i, tf.float32)).batch(2)
                      .apply(move("/gpu:0")) for n in (2, 4)]
            element = either.get_next()
            with tf.device("/gpu:0"):
                doubled = element * 2
            for data, expected in zip(ranges, ([[0, 2]], [[0, 2], [4, 6]])):
                session.run(either.make_initializer(data))
                assert [v.tolist() for v in elements(session, doubled)] == expected
            handle = tf.placeholder(tf.string, [])
            told = tf.data.Iterator.from_string_handle(handle, tf.float32, [None])
            once = tf.data.make_one_shot_iterator(ranges[1])
            element = told.get_next()
            with tf.device("/gpu:0"):
                shifted = element + 1
            name = session.run(once.string_handle())
            assert session.run(shifted, {handle: name}).tolist() == [1, 2]
            assert session.run(shifted, {handle: name}).tolist() == [3, 4]
"""
    )


def test_an_iterator_of_several_devices_feeds_towers():
    check_program(
        FRAME
        + """
raw = tf.raw_ops
kind = {"output_types": [tf.float32], "output_shapes": [[2]]}
data = tf.data.Dataset.from_tensor_slices(np.arange(12, dtype="f").reshape(6, 2))
iterator = raw.MultiDeviceIterator(
    devices=["/gpu:0", "/gpu:1"], shared_name="shards", container="", **kind)
begin = raw.MultiDeviceIteratorInit(
    dataset=data._variant_tensor, multi_device_iterator=iterator, max_buffer_size=1)
number = tf.placeholder(tf.int64, [])
sums = []
for shard in 0, 1:
    with tf.device("/cpu:0"):
        (x,) = raw.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=iterator, shard_num=shard, incarnation_id=number, **kind)
    with tf.device(f"/gpu:{shard}"):
        sums.append(tf.reduce_sum(tf.square(x)))
with tf.Session(config=TWO) as session:
    incarnation = session.run(begin)
    for k in range(3):
        first = 4.0 * k
        assert session.run(sums, {number: incarnation}) == [
            first**2 + (first + 1) ** 2, (first + 2) ** 2 + (first + 3) ** 2]
    try:
        session.run(sums, {number: incarnation})
    except tf.errors.OutOfRangeError:
        pass
    else:
        raise AssertionError("there were six elements")
"""
    )


def test_prefetching_inside_a_function():
    check_program(
        """
import numpy as np
import rheos.v2 as tf

if not tf.config.list_physical_devices("GPU"):
    raise SystemExit(77)

move = tf.data.experimental.prefetch_to_device("/gpu:0")


@tf.function
def total(n):
    data = tf.data.Dataset.range(n).map(lambda i: tf.cast(i, tf.float32)).batch(2).apply(move)
    sum = 0.0
    for x in data:
        sum += tf.reduce_sum(tf.square(x))
    return sum


assert float(total(tf.constant(5, tf.int64))) == 30
assert float(total(tf.constant(3, tf.int64))) == 5
with tf.device("/gpu:0"):
    w = tf.Variable([[1.0], [1.0]])


@tf.function
def epoch(data):
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        w.assign_sub(0.5 * tape.gradient(loss, w))
    return loss


rng = np.random.RandomState(0)
x = rng.rand(32, 2).astype("f")
y = x @ np.array([[2.0], [-1.0]], "f")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).apply(move)
losses = [float(epoch(data)) for _ in range(30)]
assert losses[-1] < 0.05 * losses[0], losses
"""
    )
