"""Programs over names of TensorFlow 2 that are seldom used: recorded as those of face_programs.

`programs()` gives {name: source}; sources see `tf` and `np`.
"""

_WRITTEN = '''
== solutions_by_lu
a = tf.constant([[[4.0, 1, 2], [1, 5, 3], [2, 3, 6]], [[0.0, 1, 2], [1, 5, 3], [9, 3, 6]]])
lu, p = tf.linalg.lu(tf.cast(a, tf.float64))
b = tf.reshape(tf.range(6.0), [3, 2])
b = tf.cast(b, tf.float64)
print(np.round(tf.linalg.lu_solve(lu, p, b).numpy(), 8))
print(np.round(tf.linalg.lu_solve(lu[0], p[0], tf.stack([b, -b]), validate_args=True).numpy(), 8))
print(np.round(tf.linalg.lu_reconstruct(lu, p).numpy(), 8))
print(np.round(tf.linalg.lu_matrix_inverse(lu, p).numpy(), 8))
== solutions_of_narrow_triangles
lower = tf.constant([[4.0, 5, 6, 7], [9, 1, 2, 3], [9, 9, 1, 2]])
upper = tf.constant([[1.0, 2, 9, 9], [1, 2, 3, 9], [4, 5, 6, 7]])
r = tf.constant([[1.0], [2], [3], [4]])
for adjoint in (True, False):
    for is_lower, bands in ((True, lower), (False, upper)):
        x = tf.linalg.banded_triangular_solve(bands, r, lower=is_lower, adjoint=adjoint)
        print(np.round(x.numpy().ravel(), 4))
print(np.round(tf.linalg.banded_triangular_solve(tf.stack([lower, -lower]), r).numpy(), 4))
d = tf.constant([[1.0, 2, 0], [4, 5, 6], [0, 1, 2]])
print(np.round(tf.linalg.tridiagonal_solve(d, tf.constant([1.0, 2, 3])).numpy(), 4))
== conjugate_gradients
a = tf.constant([[4.0, 1, 2], [1, 5, 3], [2, 3, 6]], tf.float64)
op = tf.linalg.LinearOperatorFullMatrix(a, is_self_adjoint=True, is_positive_definite=True)
solve = tf.linalg.experimental.conjugate_gradient
for b, more in (([1.0, 2, 3], {}), ([[1.0, 2, 3], [0, 1, 0]], {"max_iter": 2})):
    b = tf.constant(b, tf.float64)
    s = solve(op, b, x=tf.ones_like(b), **more)
    print(s.i.numpy(), *(np.round(part.numpy(), 6) for part in s[1:]))
weak = tf.linalg.LinearOperatorDiag(
    tf.constant([4.0, 5, 6], tf.float64), is_self_adjoint=True, is_positive_definite=True
)
s = solve(op, tf.constant([1.0, 2, 3], tf.float64), preconditioner=weak, max_iter=2)
print(s.i.numpy(), np.round(s.x.numpy(), 6), s.gamma.shape)
try:
    solve(tf.linalg.LinearOperatorFullMatrix(a), tf.constant([1.0, 2, 3], tf.float64))
except ValueError as error:
    print(error)
== operators_of_three_diagonals
d = tf.constant([[[1.0, 2, 9], [4, 5, 6], [9, 3, 2]], [[2.0, 1, 9], [5, 5, 7], [9, 1, 1]]])
op = tf.linalg.LinearOperatorTridiag(d)
x = tf.constant([[[1.0, 0], [2, 1], [3, -1]], [[1, 1], [0, 2], [2, 5]]])
print(op.shape, op.is_square, op.diagonals_format, op.to_dense().numpy())
for adjoint in (False, True):
    print(op.matmul(x, adjoint=adjoint).numpy(), np.round(op.solve(x, adjoint=adjoint).numpy(), 4))
print(op.matmul(tf.linalg.matrix_transpose(x), adjoint_arg=True).numpy())
print(op.diag_part().numpy(), op.trace().numpy(), np.round(op.determinant().numpy(), 3))
other = tf.linalg.LinearOperatorTridiag(op.to_dense(), diagonals_format="matrix")
print(np.round(other.solvevec(x[..., 0]).numpy(), 4))
parts = [d[0, 0], d[0, 1], d[0, 2]]
third = tf.linalg.LinearOperatorTridiag(parts, diagonals_format="sequence")
print(third.shape, third.matvec(x[0, :, 0]).numpy())
== operators_of_permutations
op = tf.linalg.LinearOperatorPermutation([[2, 0, 1], [1, 0, 2]])
x = tf.constant([[1.0, 10], [2, 20], [3, 30]])
print(op.shape, op.to_dense().numpy(), op.matmul(x).numpy(), op.solve(x).numpy())
print(op.determinant().numpy(), op.log_abs_determinant().numpy(), op.matvec(x[:, 0]).numpy())
print(op.matmul(x, adjoint=True).numpy(), op.is_non_singular)
== operators_of_blocks_below
full = tf.linalg.LinearOperatorFullMatrix
a = full([[2.0, 1], [0, 3]])
op = tf.linalg.LinearOperatorBlockLowerTriangular([[a], [full([[1.0, 5]]), full([[4.0]])]])
x = tf.constant([[1.0], [2], [3]])
print(op.shape, op.to_dense().numpy(), np.round(op.solve(x).numpy(), 5), op.matmul(x).numpy())
print(op.determinant().numpy(), op.diag_part().numpy(), op.matmul(x, adjoint=True).numpy())
print(np.round(op.log_abs_determinant().numpy(), 4), op.domain_dimension)
== modified_cosine_transforms
x = tf.range(16.0)
for norm in (None, "ortho"):
    made = tf.signal.mdct(x, 8, norm=norm)
    print(np.round(made.numpy(), 3) + 0.0)
    print(np.round(tf.signal.inverse_mdct(made, norm=norm).numpy(), 3))
print(np.round(tf.signal.mdct(tf.range(10.0), 8, pad_end=True, window_fn=None).numpy(), 3))
print(np.round(tf.signal.vorbis_window(8).numpy(), 5))
print(np.round(tf.signal.kaiser_bessel_derived_window(8, beta=4.0).numpy(), 5))
print(np.round(tf.signal.dct([1.0, 2, 3], type=4).numpy(), 4))
print(np.round(tf.signal.idct([1.0, 2, 3], type=4, norm="ortho").numpy(), 4))
try:
    tf.signal.mdct(x, 6)
except ValueError as error:
    print(error)
== seeds_of_seeds
print(tf.random.split([1, 2], 3).numpy(), tf.random.fold_in([1, 2], 3).numpy())
seed = tf.constant([1, 2], tf.int64)
print(tf.random.split(seed).numpy(), tf.random.fold_in(seed, 2**40).numpy())
again = tf.random.experimental
print(again.stateless_split([5, 6]).numpy(), again.stateless_fold_in([5, 6], 1).numpy())
print(again.stateless_shuffle(tf.range(6), [1, 2]).numpy())
print(again.stateless_shuffle(tf.reshape(tf.range(6), [3, 2]), [7, 8]).numpy())
print(tf.random.stateless_uniform([2], [1, 2], None, None, tf.int32).numpy())
== quantized_along_an_axis
x = tf.constant([[1.0, 2], [3.5, 2]])
made = tf.quantization.quantize(x, [0.0, 0], [4.0, 7], tf.quint8, axis=0)
print(made.output.dtype, tf.cast(made.output, tf.int32).numpy(), made.output_max.numpy())
print(tf.quantization.dequantize(made.output, [0.0, 0], [4.0, 7], axis=0).numpy())
print(tf.quantization.quantize_and_dequantize(x, 0.0, 4.0).numpy())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.quantization.quantize_and_dequantize_v2(x, 0.0, 3.0, range_given=True, num_bits=4)
print(y.numpy(), tape.gradient(y, x).numpy())
== configuration
config = tf.config.experimental
cpu = tf.config.list_physical_devices()[0]
print(config.get_device_details(cpu), config.get_memory_info("CPU:0"), config.get_device_policy())
print(config.get_memory_usage("CPU:0"), config.tensor_float_32_execution_enabled())
for call in (
    lambda: config.get_memory_info("foo"),
    lambda: config.get_memory_info("GPU:9"),
    lambda: config.get_device_details("a"),
    lambda: config.set_device_policy("foo"),
):
    try:
        call()
    except ValueError as error:
        print(str(error)[:40])
config.set_device_policy("explicit")
print(config.get_device_policy(), config.get_synchronous_execution())
config.set_device_policy(None)
print(tf.debugging.is_traceback_filtering_enabled(), tf.debugging.get_log_device_placement())
== arguments_that_say_their_trace_type
traces = []

class Kind(tf.types.experimental.TraceType):
    def __init__(self, value):
        self.value = value

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context=None):
        return self.value

    def __eq__(self, other):
        return type(other) is Kind and type(self.value) is type(other.value)

    def __hash__(self):
        return hash(type(self.value))

class Fruit:
    def __tf_tracing_type__(self, context):
        return Kind(self)

class Apple(Fruit):
    flavor = 1

class Mango(Fruit):
    flavor = 2

@tf.function
def mixed(one, other):
    traces.append(1)
    return one.flavor + 10 * other.flavor

print(mixed(Apple(), Mango()).numpy(), mixed(Apple(), Mango()).numpy(), len(traces))
print(mixed(Mango(), Mango()).numpy(), mixed(Mango(), Mango()).numpy(), len(traces))
print(isinstance(Apple(), tf.types.experimental.SupportsTracingProtocol))
== types_of_programs_row_by_row
class Net(tf.experimental.BatchableExtensionType):
    shape: tf.TensorShape
    work: tf.Tensor

    def __init__(self, work):
        self.work = tf.convert_to_tensor(work)
        self.shape = self.work.shape[:-1]

n = Net([[1.0, 2], [3, 4]])
rows = tf.data.Dataset.from_tensor_slices(n)
for x in rows:
    print(x.shape, x.work.numpy())
for x in rows.batch(2):
    print(x.shape, x.work.numpy())
made = tf.map_fn(lambda t: Net(t.work * 2), n)
print(made.shape, made.work.numpy())
print(tf.map_fn(lambda t: tf.reduce_sum(t.work), n, fn_output_signature=tf.float32).numpy())
made = tf.map_fn(lambda t: (Net(t[0].work + t[1]), t[1]), (n, tf.constant([1.0, 2])))
print(made[0].work.numpy(), made[1].numpy())
print(tf.map_fn(lambda x: x * 2, tf.ragged.constant([[1, 2], [3]])).to_list())
== types_of_programs_in_saved_models
import tempfile

class Masked(tf.experimental.ExtensionType):
    __name__ = "programs.Masked"
    values: tf.Tensor
    mask: tf.Tensor

class Doubled(tf.Module):
    @tf.function
    def double(self, x):
        return Masked(x.values * 2, x.mask)

m = Doubled()
spec = Masked.Spec(tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.bool))
m.double.get_concrete_function(spec)
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(m, folder)
    made = tf.saved_model.load(folder).double(Masked([1.0, 2], [True, False]))
print(type(made).__qualname__, made.values.numpy(), made.mask.numpy())
== saved_variables_keep_what_was_said
import tempfile

m = tf.Module()
m.v = tf.Variable(
    1.0,
    synchronization=tf.VariableSynchronization.NONE,
    aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    trainable=False,
)
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(m, folder)
    v = tf.saved_model.load(folder).v
    print(v.synchronization.name, v.aggregation.name, v.trainable, v.numpy())
== ragged_rows_of_one_length
values = tf.RaggedTensor.from_row_splits(tf.range(10, 20), [0, 3, 5, 9, 10])
rt = tf.RaggedTensor.from_uniform_row_length(values, uniform_row_length=2)
print(rt.to_list(), rt.shape, rt.uniform_row_length.numpy(), (rt + 1).shape, rt[1].shape)
print(values.uniform_row_length, rt.to_tensor().shape, rt.bounding_shape().numpy())
print(tf.reduce_sum(rt, axis=1).to_list(), tf.concat([rt, rt], 0).shape)
print(tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape)
== lists_that_are_no_tensor
for value in (
    [[1, 2], [3]], [[1], [2, 3]], [1, [2]], [[1, 2], 3], ["a", 1], [1.5, "a"], [[1], ["a"]]
):
    for make in (tf.constant, tf.convert_to_tensor, lambda one: tf.constant(one, tf.float32)):
        try:
            print(make(value))
        except Exception as error:
            print(type(error).__name__, error)
try:
    tf.ragged.constant([["one", "two"], [3, 4]])
except ValueError as error:
    print(error)
== names_of_datasets
r = tf.data.Dataset.range(6)
text = tf.data.TextLineDataset("x")
for d in (r, r.batch(2), r.padded_batch(2), r.cache(), text, r.batch(3).rebatch(2), r.take(1)):
    print(repr(d).split()[0])
'''


def programs():
    """{name: source}."""
    found = {}
    for part in _WRITTEN.split("\n== ")[1:]:
        name, _, source = part.partition("\n")
        found[name] = source + "\n"
    return found
