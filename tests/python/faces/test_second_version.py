"""What programs and libraries of TensorFlow 2 take for granted of its functions and classes."""

import inspect

import numpy as np
import pytest
import rheos as tf


class Scaled(tf.__internal__.types.Tensor, tf.__internal__.tracking.Trackable):
    """A variable of a program's own class."""

    _should_act_as_resource_variable = True
    dtype = "float32"

    def __init__(self, value):
        self.value = tf.Variable(value)

    @property
    def handle(self):
        return self.value.handle

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.convert_to_tensor(self.value, dtype, name=name)


def test_operations_take_what_says_its_tensor():
    x = Scaled([1.0, 2.0])
    assert tf.is_tensor(x)
    assert tf.add(x, 1.0).numpy().tolist() == [2, 3]
    assert tf.stack([x, [3.0, 4.0]]).shape == (2, 2)
    assert (tf.constant([2.0, 2.0]) * x).numpy().tolist() == [2, 4]


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_are_with_respect_to_the_variable_behind(traced):
    x = Scaled([1.0, 2.0])

    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x))
        return tape.gradient(loss, [x])[0]

    made = tf.function(gradient) if traced else gradient
    assert made().numpy().tolist() == [2, 4]


def test_an_object_holds_what_it_is_told_to():
    class Holder(tf.__internal__.tracking.AutoTrackable):
        @tf.__internal__.tracking.no_automatic_dependency_tracking
        def hide(self, v):
            self.hidden = v

    holder = Holder()
    holder.seen = tf.Variable(1.0)
    holder.hide(tf.Variable(2.0))
    named = tf.Variable(3.0)
    holder._track_trackable(named, "named")
    assert sorted(holder._trackable_children()) == ["named", "seen"]
    with pytest.raises(ValueError, match="already declared"):
        holder._track_trackable(tf.Variable(4.0), "named")
    holder.hidden = holder.hidden
    assert "hidden" in holder._trackable_children()


def test_text_says_an_operations_dtype():
    assert tf.argmax([1.0, 3.0], output_type="int32").dtype == tf.int32
    assert tf.cast(np.ones(2), "int64").dtype == tf.int64


def test_rows_are_mapped_without_a_signature():
    x = tf.reshape(tf.range(6.0), [2, 3])
    total, larger = tf.vectorized_map(lambda r: (tf.reduce_sum(r), r + 1), x)
    assert total.numpy().tolist() == [3, 12] and larger.shape == (2, 3)
    again = tf.vectorized_map(lambda pair: pair[0] + pair[1], (x, tf.ones([1, 3])))
    assert again.numpy().tolist() == (x.numpy() + 1).tolist()
    with pytest.raises(ValueError, match="same first dimension"):
        tf.vectorized_map(lambda pair: pair[0], (x, tf.ones([3])))


def test_a_range_of_floats_is_as_long_as_its_dtype_says():
    assert tf.range(0.1, 1.1, 0.1).shape == (10,)
    assert tf.range(0.1, 1.1, 0.1, dtype=tf.float64).shape == (10,)


def test_a_block_is_put_into_a_tensor():
    from rheos.ops.array.rearrange_ops import tensor_block_update

    x, block = tf.zeros([3, 4]), tf.ones([2, 2])
    expected = np.zeros((3, 4))
    expected[1:, 2:] = 1
    for starts in ([1, 2], tf.constant([5, 9])):  # moved so that it fits
        made = tensor_block_update(x, starts, block)
        assert made.numpy().tolist() == expected.tolist()
    with tf.GradientTape() as tape:
        tape.watch(block)
        total = tf.reduce_sum(3 * tensor_block_update(x, [0, 0], block))
    assert tape.gradient(total, block).numpy().tolist() == [[3, 3], [3, 3]]


def test_counts_of_sparse_and_ragged_values():
    rows = tf.sparse.from_dense([[1, 1, 0], [0, 0, 3]])
    assert tf.math.bincount(rows, axis=-1).numpy().tolist() == [[0, 2, 0, 0], [0, 0, 0, 1]]
    counted = tf.sparse.bincount([[1, 1, 3], [0, 0, 0]], axis=-1)
    assert counted.indices.numpy().tolist() == [[0, 1], [0, 3], [1, 0]]
    assert counted.values.numpy().tolist() == [2, 1, 3]
    counted = tf.sparse.bincount(rows, axis=-1, minlength=9, binary_output=True)
    assert counted.indices.numpy().tolist() == [[0, 1], [1, 3]]
    assert counted.dense_shape.numpy().tolist() == [2, 9]
    counted = tf.sparse.bincount(tf.ragged.constant([[1, 1], [], [3]]), [0.5, 0.5, 2.0], axis=-1)
    assert counted.indices.numpy().tolist() == [[0, 1], [2, 3]]
    assert counted.values.numpy().tolist() == [1.0, 2.0]
    large = tf.sparse.bincount(tf.constant([2**33, 1], tf.int64))
    assert large.values.dtype == tf.int64
    assert large.indices.numpy().tolist() == [[1], [2**33]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no length"):
        tf.sparse.bincount(tf.constant([2**63 - 1], tf.int64))
    assert tf.math.bincount([1, 1, 3], binary_output=True).numpy().tolist() == [0, 1, 0, 1]


def test_binomial_numbers_follow_from_seeds_and_generators():
    drawn = tf.random.stateless_binomial([3, 2], [1, 2], [10, 100], [0.5, 0.25])
    same = tf.raw_ops.StatelessRandomBinomial(
        shape=[3, 2], seed=[1, 2], counts=[10.0, 100.0], probs=[0.5, 0.25], dtype=tf.int32
    )
    assert drawn.dtype == tf.int32
    assert drawn.numpy().tolist() == same.numpy().tolist()
    generator = tf.random.Generator.from_seed(1)
    first = generator.binomial([5000], 100.0, 0.25).numpy()
    second = generator.binomial([5000], 100.0, 0.25).numpy()
    assert (first != second).any()
    assert abs(first.mean() - 25) < 0.5


def test_critical_sections_run_at_once_and_in_functions():
    section = tf.CriticalSection()
    variable = tf.Variable(0.0)
    assert float(section.execute(lambda: variable.assign_add(2.0))) == 2.0

    @tf.function
    def add():
        return section.execute(lambda: variable.assign_add(3.0))

    assert [float(add()), float(add())] == [5.0, 8.0]
    with pytest.raises(ZeroDivisionError):
        section.execute(lambda: 1 / 0)
    assert float(section.execute(lambda: variable.read_value())) == 8.0


def test_tables_are_filled_and_changed_at_once():
    first = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    fixed = tf.lookup.StaticHashTable(first, -1)
    assert fixed.lookup(tf.constant(["b", "z"])).numpy().tolist() == [2, -1]
    one, two = (
        tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=0)
        for _ in range(2)
    )
    one.insert(tf.constant(["x"]), tf.constant([5], tf.int64))
    assert one.size().numpy() == 1 and two.size().numpy() == 0
    looked = tf.function(lambda keys: one.lookup(keys))
    assert looked(tf.constant(["x", "y"])).numpy().tolist() == [5, 0]


def test_and_or_and_not_are_of_integers_bits():
    x = tf.constant([5, 6])
    assert (x | 1).numpy().tolist() == [5, 7] and (4 & x).numpy().tolist() == [4, 4]
    assert (~x).numpy().tolist() == [-6, -7] and (x ^ 1).numpy().tolist() == [4, 7]
    traced = tf.function(lambda v: (v | 1, ~v, True ^ (v > 5)))
    assert [part.numpy().tolist() for part in traced(x)] == [[5, 7], [-6, -7], [True, False]]
    assert (tf.constant([True]) | False).numpy().tolist() == [True]


def test_a_shape_of_tensors_becomes_integers():
    made = tf.reshape(tf.range(6.0), (tf.constant(2.0), tf.constant(3.0)))
    assert made.shape == (2, 3)


def test_products_are_computed_in_the_dtype_asked_for():
    a, b = tf.constant([[1, 2]], tf.int8), tf.constant([[3], [100]], tf.int8)
    made = tf.matmul(a, b, output_type=tf.int32)
    assert made.dtype == tf.int32 and made.numpy().tolist() == [[203]]


def test_convolutions_take_one_number_and_groups():
    x, filters = tf.ones([1, 5, 4]), tf.ones([3, 2, 6])
    made = tf.nn.convolution(x, filters, strides=2, padding="VALID", dilations=1)
    assert made.shape == (1, 2, 6) and made.numpy().max() == 6
    with pytest.raises(ValueError, match="input channels"):
        tf.nn.convolution(x, tf.ones([3, 3, 6]), padding="VALID")


def test_generators_yield_sparse_and_ragged_tensors():
    def generate():
        yield tf.sparse.from_dense([[1, 0], [0, 2]]), tf.ragged.constant([[1, 2], [3]])
        yield tf.sparse.from_dense([[0, 3]]), tf.ragged.constant([[4]])

    signature = (
        tf.SparseTensorSpec([None, 2], tf.int32),
        tf.RaggedTensorSpec([None, None], tf.int32),
    )
    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    found = [(tf.sparse.to_dense(s).numpy().tolist(), r.to_list()) for s, r in dataset]
    assert found == [([[1, 0], [0, 2]], [[1, 2], [3]]), ([[0, 3]], [[4]])]
    wrong = tf.data.Dataset.from_generator(
        lambda: iter([tf.ragged.constant([[1.0]])]),
        output_signature=tf.RaggedTensorSpec([None, None], tf.int32),
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected"):
        next(iter(wrong))


def test_rows_become_a_tensor_of_the_shape_asked_for():
    rows = tf.ragged.constant([[1, 2], [3]])
    assert rows.to_tensor(shape=[None, 3]).numpy().tolist() == [[1, 2, 0], [3, 0, 0]]
    assert rows.to_tensor(shape=(2, 1)).numpy().tolist() == [[1], [3]]


def test_the_names_of_operations_may_have_an_angle():
    with tf.Graph().as_default(), tf.name_scope("a>b"):
        assert tf.constant(1, name="c").op.name == "a>b/c"


def test_rows_of_rows_are_merged():
    rows = tf.ragged.constant([[[1, 2], [3]], [[4]]])
    assert rows.merge_dims(0, 1).to_list() == [[1, 2], [3], [4]]
    assert rows.merge_dims(1, 2).to_list() == [[1, 2, 3], [4]]
    assert rows.merge_dims(0, 2).numpy().tolist() == [1, 2, 3, 4]
    inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert inner.merge_dims(1, 2).to_list() == [[1, 2, 3, 4], [5, 6]]
    with pytest.raises(ValueError, match="less than or equal"):
        rows.merge_dims(2, 1)


def test_a_partition_tells_which_values_are_in_which_row():
    partition = tf.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
    assert partition.row_splits().numpy().tolist() == [0, 2, 2, 3, 3]
    assert partition.row_lengths().numpy().tolist() == [2, 0, 1, 0]
    assert partition.offsets_in_rows().numpy().tolist() == [0, 1, 0]
    starts = tf.experimental.RowPartition.from_row_starts([0, 1], nvals=3)
    limits = tf.experimental.RowPartition.from_row_limits([1, 3])
    lengths = tf.experimental.RowPartition.from_row_lengths([1, 2])
    for other in (starts, limits, lengths):
        assert other.row_splits().numpy().tolist() == [0, 1, 3] and other.dtype == tf.int64
    uniform = tf.experimental.RowPartition.from_uniform_row_length(2, nvals=4)
    assert uniform.value_rowids().numpy().tolist() == [0, 0, 1, 1]


def test_a_window_of_kaiser_is_numpys():
    for length, beta in ((5, 3.0), (8, 12.0), (1, 2.0)):
        made = tf.signal.kaiser_window(length, beta).numpy()
        np.testing.assert_allclose(made, np.kaiser(length, beta), rtol=1e-5)


def test_inverses_of_erf():
    x = tf.constant([-0.5, 0.0, 0.9])
    np.testing.assert_allclose(tf.math.erf(tf.math.erfinv(x)), x, atol=1e-6)
    np.testing.assert_allclose(tf.math.erfc(tf.math.erfcinv(x + 0.6)), x + 0.6, atol=1e-6)


def test_a_device_is_seen_as_several():
    (device,) = tf.config.list_physical_devices("CPU")
    one = tf.config.LogicalDeviceConfiguration()
    tf.config.set_logical_device_configuration(device, [one, one])
    names = [device.name for device in tf.config.list_logical_devices()]
    assert [name for name in names if "CPU" in name] == ["/device:CPU:0", "/device:CPU:1"]
    tf.config.set_logical_device_configuration(device, [one])
    assert tf.config.get_logical_device_configuration(device) == [one]
    assert not tf.sysconfig.get_build_info()["is_cuda_build"]


def test_what_acts_as_a_variable_is_saved_as_one(tmp_path):
    class Layer(tf.__internal__.tracking.AutoTrackable):
        def __init__(self):
            self.kernel = Scaled([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def serve(self, x):
            return x * self.kernel

    layer = Layer()
    path = tf.train.Checkpoint(layer=layer).save(str(tmp_path / "values"))
    names = dict(tf.train.list_variables(path))
    assert "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names
    layer.kernel.value.assign([5.0, 5.0])
    tf.train.Checkpoint(layer=layer).restore(path).assert_consumed()
    assert layer.kernel.value.numpy().tolist() == [1, 2]
    options = tf.saved_model.SaveOptions(extra_tags="more")
    tf.saved_model.save(layer, str(tmp_path / "model"), options=options)
    loaded = tf.saved_model.load(str(tmp_path / "model"), tags=["serve", "more"])
    assert loaded.serve(tf.constant([3.0, 4.0])).numpy().tolist() == [3, 8]
    view = tf.train.TrackableView(layer)
    assert view.descendants() == [layer, layer.kernel.value]


def test_libraries_know_what_a_function_is():
    function = tf.function(lambda x: x + 1)
    assert isinstance(function, tf.types.experimental.GenericFunction)
    traced = function.get_concrete_function(tf.TensorSpec([]))
    assert isinstance(traced, tf.types.experimental.ConcreteFunction)
    assert tf.experimental.numpy.finfo("float32").eps == np.finfo("float32").eps
    chosen = tf.experimental.numpy.select(
        [[True, False, False], [True, True, False]], [[1, 2, 3], [4.0, 5.0, 6.0]], 7
    )
    assert chosen.numpy().tolist() == [1, 5, 7]


def test_the_shape_of_rows_tells_what_is_uniform():
    shape = tf.shape(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1))
    assert shape[0].numpy() == 2 and shape[-1].numpy() == 2 and shape.rank == 3
    with pytest.raises(ValueError, match="not uniform"):
        shape[1]


def test_traces_know_the_sizes_of_sparse_arguments():
    seen = []

    @tf.function
    def dense(x):
        seen.append(x.shape.as_list())
        return tf.sparse.to_dense(x)

    for rows in ([[1, 0]], [[1, 0], [0, 2]], [[3, 0]]):
        assert dense(tf.sparse.from_dense(rows)).numpy().tolist() == rows
    assert seen == [[1, 2], [2, 2]]


@pytest.mark.parametrize("traced", [False, True])
def test_loops_carry_optionals(traced):
    def last(n):
        start = tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
        _, found = tf.while_loop(
            lambda i, _: i < n,
            lambda i, _: (i + 1, tf.experimental.Optional.from_value(i * 2)),
            [tf.constant(0), start],
        )
        return found.get_value()

    assert (tf.function(last) if traced else last)(tf.constant(3)).numpy() == 4


def test_transforms_keep_twice_the_precision():
    x = tf.constant(np.arange(16.0) / 3)
    spectra = tf.signal.stft(x, 8, 4)
    assert spectra.dtype == tf.complex128 and tf.signal.irfft(spectra).dtype == tf.float64
    assert tf.signal.inverse_stft(spectra, 8, 4).dtype == tf.float64
    np.testing.assert_allclose(tf.signal.rfft(x), np.fft.rfft(x.numpy()), atol=1e-12)


def test_places_are_of_numbers_that_are_not_zero():
    assert tf.where(tf.constant([1, 0, 2])).numpy().tolist() == [[0], [2]]


def test_rows_of_sparse_and_ragged_tensors_are_mapped():
    table = tf.reshape(tf.range(6.0), [3, 2])
    looked = tf.nn.embedding_lookup(table, tf.ragged.constant([[0, 1], [2]]))
    assert looked.to_list() == [[[0, 1], [2, 3]], [[4, 5]]]
    sparse = tf.sparse.from_dense([[1, 0], [0, 2]])
    doubled = tf.map_fn(lambda s: tf.sparse.to_dense(s) * 2, sparse, fn_output_signature=tf.int32)
    assert doubled.numpy().tolist() == [[2, 0], [0, 4]]
    rows = tf.ragged.constant([[1, 2], [3]])

    @tf.function
    def sums(rows, more):
        return tf.map_fn(
            lambda pair: tf.reduce_sum(pair[0]) + pair[1], (rows, more),
            fn_output_signature=tf.int32,
        )  # fmt: skip

    assert sums(rows, tf.constant([10, 20])).numpy().tolist() == [13, 23]


def test_a_recomputed_function_takes_keywords():
    scaled = tf.recompute_grad(lambda x, scale=1.0: x * x * scale)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x, scale=2.0)
    assert tape.gradient(y, x).numpy() == 12


def test_a_traced_method_has_the_signature_of_a_method():
    class Model:
        @tf.function
        def call(self, inputs, scale=1.0):
            return inputs * scale

    assert str(inspect.signature(Model().call)) == "(inputs, scale=1.0)"
    assert str(inspect.signature(tf.function(lambda x: x))) == "(x)"


def test_lines_are_pooled_by_windows():
    x = tf.reshape(tf.range(6.0), [1, 6, 1])
    for form in (None, "NWC"):
        made = tf.nn.pool(x, [2], "MAX", strides=[2], padding="VALID", data_format=form)
        assert made.numpy().ravel().tolist() == [1, 3, 5]


def test_a_model_says_what_it_is_served_by(tmp_path):
    class Model(tf.Module):
        @property
        def _default_save_signature(self):
            return tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([], name="x")])

    tf.saved_model.save(Model(), str(tmp_path))
    served = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    assert served(x=tf.constant(2.0))["output_0"].numpy() == 3


def test_integers_of_four_bits_keep_the_lowest_bits():
    int4, uint4 = tf.dtypes.experimental.int4, tf.dtypes.experimental.uint4
    wide = tf.constant([0, 7, 8, 15, 16, -1, -9])
    assert tf.cast(wide, int4).numpy().tolist() == [0, 7, -8, -1, 0, -1, 7]
    assert tf.cast(wide, uint4).numpy().tolist() == [0, 7, 8, 15, 0, 15, 7]
    assert tf.constant([1, -8], int4).dtype.min == -8 and uint4.max == 15 and int4.is_integer
    with pytest.raises(tf.errors.UnimplementedError, match="Cast int4 to float is not supported"):
        tf.cast(tf.constant([1], int4), tf.float32)
    with pytest.raises(AttributeError):
        tf.int4  # noqa: B018

    @tf.function
    def there_and_back(x):
        return tf.cast(tf.cast(x + 1, int4), tf.int32) * 2

    many = np.arange(100_000, dtype=np.int32)
    expected = ((many + 1 + 8) % 16 - 8) * 2
    for _ in range(3):
        assert (there_and_back(tf.constant(many)).numpy() == expected).all()


@pytest.mark.parametrize("rank", [1, 4, 5, 7, 8])
def test_the_gradient_of_tile_takes_every_rank(rank):
    shape = [2 if d % 3 == 0 else 1 for d in range(rank)]
    multiples = [1 + d % 2 for d in range(rank)]
    x = tf.reshape(tf.range(float(np.prod(shape))), shape)
    weights = tf.reshape(
        tf.range(float(np.prod(shape) * np.prod(multiples))),
        [s * m for s, m in zip(shape, multiples)],
    )
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.tile(x, multiples) * weights)
    expected = weights.numpy()
    for d, (size, multiple) in enumerate(zip(shape, multiples)):
        parts = expected.reshape(*expected.shape[:d], multiple, size, *expected.shape[d + 1 :])
        expected = parts.sum(axis=d)
    assert (tape.gradient(loss, x).numpy() == expected).all()


def test_a_failed_comparison_of_values_tells_where_they_differ():
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.debugging.assert_equal([1, 2, 3, 4, 5], [1, 3, 4, 4, 9], message="look", summarize=2)
    assert str(raised.value).split("\n") == [
        "look", "Condition x == y did not hold.", "Indices of first 2 different values:", "[[1]",
        " [2]]", "Corresponding x values:", "[2 3]", "Corresponding y values:", "[3 4]",
        "First 2 elements of x:", "[1 2]", "First 2 elements of y:", "[1 3]",
    ]  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.debugging.assert_positive([1, -2, 3, 4])
    assert "x (shape=(4,) dtype=int32) = \n['1', '-2', '3', '...']" in str(raised.value)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"data: 0, 1, 2, \.\.\.\nb'x'"):
        tf.debugging.Assert(False, [tf.range(20), "x"])
    with pytest.raises(ValueError, match=r"^Tensor  must have rank 2.  Received rank 1"):
        tf.debugging.assert_rank([1], 2)
    with pytest.raises(TypeError, match="tensor must be of type tf.float32; got tf.int32"):
        tf.debugging.assert_type(1, tf.float32)


def test_the_parts_of_a_sparse_tensor_fit_each_other():
    for places, count, rank in [([[0, 5]], [1], [2]), ([[0, 5]], [1, 2], [2, 2])]:
        with pytest.raises(ValueError, match="are incompatible"):
            tf.SparseTensor(places, count, rank)


def test_numbers_are_divided_as_tensors():
    assert tf.math.divide(1, 0).numpy() == float("inf")
    assert tf.math.divide([1.0, 2.0], 4).numpy().tolist() == [0.25, 0.5]


class Thing:
    """What is no tensor."""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Thing(), "Attempt to convert a value .* with an unsupported type"),
        (None, r"Attempt to convert a value \(None\) with an unsupported type"),
        ([Thing()], "Attempt to convert a value .*Thing object.* with an unsupported type"),
        ({"a": 1}, "with an unsupported type .*dict"),
        (int, "with an unsupported type .*type"),
        (2**70, "out-of-range integer"),
        ([1, 2**70], "out-of-range integer"),
        (np.array([Thing()]), "Unsupported object type Thing"),
        (np.array(["a", 1], object), "Unsupported object type int"),
        (np.datetime64("2020-01-01"), "Unsupported numpy type"),
    ],
)
def test_what_is_no_tensor_at_once_is_a_value_error(value, words):
    for convert in (tf.constant, tf.convert_to_tensor):
        with pytest.raises(ValueError, match=words):
            convert(value)


def test_operators_at_once_tell_two_dtypes():
    x = tf.constant([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int32 tensor"):
        x + 1.5
    for compute in (lambda: x * 1.5, lambda: x - 0.5, lambda: 1.5 - x, lambda: x < 1.5):
        with pytest.raises(TypeError, match=r"Cannot convert [01]\.5 to EagerTensor of"):
            compute()


def test_a_constant_at_once_has_as_many_elements_as_its_shape():
    with pytest.raises(TypeError, match=r"has 3 elements, but got `shape` \(2, 2\) with 4"):
        tf.constant([1, 2, 3], shape=[2, 2])
    assert tf.constant(5, shape=[2, 2]).numpy().tolist() == [[5, 5], [5, 5]]
    assert tf.constant([1, 2], shape=[2, 1]).shape == [2, 1]


def test_numpys_size_is_of_all_or_of_an_axis():
    size, x = tf.experimental.numpy.size, tf.ones([2, 3, 4])
    assert (size(x), size(x, 1), size(x, -1)) == (24, 3, 4)
    traced = tf.function(lambda x: size(x, 0), input_signature=[tf.TensorSpec([None, 2])])
    assert int(traced(tf.ones([5, 2]))) == 5
    with pytest.raises(IndexError):
        size(x, 3)


def test_diagonals_of_booleans_are_padded_by_numbers():
    x = tf.constant([True, False])
    assert tf.linalg.diag(x).numpy().tolist() == [[True, False], [False, False]]
    square = tf.linalg.diag(x, k=1, padding_value=1)
    assert square.numpy().tolist() == [[True] * 3, [True, True, False], [True] * 3]
    assert tf.linalg.diag_part(square, k=(0, 1)).numpy().tolist() == [
        [False, True, False],
        [True, True, True],
    ]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "uint64"])
def test_small_and_unsigned_integers_are_added_and_divided(dtype):
    x = tf.cast([6, 3], dtype)
    wide = tf.float64 if x.dtype.size > 2 else tf.float32
    assert tf.add(x, x).dtype == tf.math.add(x, 1).dtype == x.dtype
    assert tf.add(x, x).numpy().tolist() == [12, 6]
    quotient = tf.math.divide_no_nan(x, tf.cast([4, 0], dtype))
    assert (quotient.dtype, quotient.numpy().tolist()) == (wide, [1.5, 0])
    assert tf.linspace(x, x, 2).dtype == wide


def test_strings_are_added_and_graphs_add_by_the_newer_op():
    assert tf.add(["a"], ["b"]).numpy().tolist() == [b"ab"]
    with tf.Graph().as_default():
        assert tf.add(tf.constant(1.0), 2.0).op.type == "AddV2"


def test_terms_and_quotients_of_two_dtypes_are_refused():
    whole, x = tf.constant([1]), tf.constant([1.5])
    for one, other in ((whole, 1.5), (x, whole), (1, x)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute AddV2"):
            tf.add(one, other)
    for one, other in ((whole, 2.5), (x, whole)):
        with pytest.raises(TypeError, match="must have the same dtype"):
            tf.math.divide_no_nan(one, other)
    np.testing.assert_allclose(tf.math.divide_no_nan(1, x), [2 / 3])


def test_the_angle_of_what_is_below_zero_is_pi():
    angles = tf.math.angle(tf.constant([-2.0, 0.0, 3.0, np.nan]))
    np.testing.assert_allclose(angles, [np.pi, 0, 0, 0])
    assert tf.math.angle(tf.constant([-1.0], tf.float16)).dtype == tf.float16
    np.testing.assert_allclose(tf.math.angle(tf.constant([1j, -1 + 0j])), [np.pi / 2, np.pi])


def test_a_number_is_a_shape_where_operations_run_at_once():
    x = tf.ones([3, 3])
    for shape in (9, -1, tf.constant(9), np.int64(9)):
        assert tf.reshape(x, shape).shape == [9]
    assert tf.reshape(tf.constant(1.0), 1).shape == [1]
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 0"):
        tf.function(lambda: tf.reshape(x, 9))()


def test_the_bounds_of_a_band_have_the_dtype_of_the_one_that_has_one():
    x = tf.ones([3, 3])
    traced = tf.function(lambda k: tf.linalg.band_part(x, -1, k))
    for dtype in (tf.int32, tf.int64):
        assert int(tf.reduce_sum(traced(tf.constant(1, dtype)))) == 8


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_a_dense_matrix_times_a_sparse_one_is_dense(dtype):
    dense = np.arange(12).reshape(3, 4).astype(dtype)
    other = np.array([[1, 0], [0, 2], [0, 0], [3, 4]], dtype)
    sparse = tf.sparse.from_dense(other)
    multiply = tf.sparse.sparse_dense_matmul
    assert multiply(dense, sparse).numpy().tolist() == (dense @ other).tolist()
    turned = multiply(dense.T.copy(), sparse, adjoint_a=True)
    assert turned.numpy().tolist() == (dense @ other).tolist()
    other_way = multiply(dense, tf.sparse.transpose(sparse), adjoint_b=True)
    assert other_way.numpy().tolist() == (dense @ other).tolist()
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        multiply(dense, other)


def test_a_variable_gives_and_takes_what_a_checkpoint_keeps():
    variable = tf.Variable(1.0)
    kept = variable._serialize_to_tensors()
    variable.assign(2.0)
    variable._restore_from_tensors(kept)
    assert float(variable) == 1
    assert list(kept) == ["VARIABLE_VALUE"]


def test_an_object_says_what_a_checkpoint_keeps_of_it(tmp_path):
    class Held(tf.__internal__.tracking.Trackable):
        def __init__(self, value):
            self.value = tf.Variable(value)

        def _serialize_to_tensors(self):
            return self.value._serialize_to_tensors()

        def _restore_from_tensors(self, restored_tensors):
            return self.value._restore_from_tensors(restored_tensors)

    first, second = Held([1, 2]), Held([0, 0])
    path = tf.train.Checkpoint(held=first).save(str(tmp_path / "kept"))
    tf.train.Checkpoint(held=second).restore(path)
    assert second.value.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("value", [2.0, [1.0, 2.0], lambda: tf.ones([2]), np.ones(2, np.float32)])
def test_a_function_over_elements_may_make_variables(value):
    made = []

    def scaled(x):
        if not made:
            made.append(tf.Variable(value))
        return x * made[0]

    dataset = tf.data.Dataset.from_tensors(tf.constant([3.0, 4.0])).repeat(2).map(scaled)
    first = [x.numpy().tolist() for x in dataset]
    assert first == [(made[0] * [3.0, 4.0]).numpy().tolist()] * 2
    made[0].assign_add(tf.ones_like(made[0]))
    assert [x.numpy().tolist() for x in dataset] != first
    with tf.Graph().as_default():
        assert not hasattr(tf.Variable(1.0), "numpy") or not tf.executing_eagerly()
