"""AutoGraph at the edges: variables that only a trip or a branch makes, loops that return."""

import pytest
import rheos as tf


def created_in_a_loop(n):
    i = 0
    while i < n:
        rows = tf.range(i)
        grid = tf.zeros([1, tf.random.uniform((), i, i + 1, tf.int32), 2])
        i += 1
    return rows, grid


def test_a_variable_that_a_loop_makes_may_change_its_shape():
    rows, grid = tf.function(created_in_a_loop)(tf.constant(3))
    assert rows.numpy().tolist() == [0, 1] and grid.shape == (1, 2, 2)


def test_a_loop_without_a_trip_leaves_a_variable_without_a_value():
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once"):
        tf.function(created_in_a_loop)(tf.constant(0))


def test_a_variable_that_a_trip_reads_first_is_defined_before_the_loop():
    @tf.function
    def reads_first(n):
        for i in range(n):
            if i == 0:
                a = 1
            else:
                a = a + 1  # noqa: F821
        return a

    with pytest.raises(ValueError, match="must be defined before the loop"):
        reads_first(tf.constant(2))


def test_a_place_that_one_branch_fills_is_refused():
    @tf.function
    def fills(a):
        x = {"a": a}
        if x["a"] > 0:
            x["b"] = 1
        return x

    with pytest.raises(ValueError, match=r"'x\['b'\]' must also be initialized in the else"):
        fills(tf.constant(1))


def test_a_place_that_one_branch_fills_is_empty_in_the_other():
    seen = []

    @tf.function
    def fills(a):
        x = {"a": a}
        if a > 0:
            x["b"] = a
        else:
            seen.append("b" in x)
            x["b"] = -a
        return x["b"]

    assert fills(tf.constant(-3)).numpy() == 3 and not any(seen)


def test_a_loop_that_returns_needs_a_trip():
    @tf.function
    def first(n):
        for i in tf.range(n):
            return i + 1

    assert first(tf.constant(2)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="the function return value"):
        first(tf.constant(0))


def test_a_loop_with_a_return_behind_it_checks_nothing():
    @tf.function
    def found(n):
        for i in tf.range(n):
            if i > 2:
                return i
        return -1

    assert [found(tf.constant(k)).numpy() for k in (0, 5)] == [-1, 3]
    types = {op.type for op in found.get_concrete_function(tf.constant(0)).graph.get_operations()}
    assert "Assert" not in types and "While" not in types


def test_a_loop_over_a_dataset_fills_arrays():
    @tf.function
    def squares(dataset):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=())
        for i in dataset:
            array = array.write(array.size(), i * i)
        return array.stack()

    dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3])
    assert squares(dataset).numpy().tolist() == [1, 4, 9]


def test_a_sparse_variable_grows_dimensions_in_a_loop():
    @tf.function
    def grows(n):
        v = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [3, 3])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape(None))])
            v = tf.sparse.expand_dims(v)
        return v

    assert grows(tf.constant(2)).dense_shape.numpy().tolist() == [3, 3, 1, 1]


def test_generators_are_refused_by_name(monkeypatch):
    def numbers():
        yield 1

    with pytest.raises(NotImplementedError, match="function numbers: generators"):
        tf.autograph.to_graph(numbers)
    monkeypatch.setenv("AUTOGRAPH_STRICT_CONVERSION", "1")
    with pytest.raises(NotImplementedError, match="generators"):
        tf.function(numbers)()


def test_a_row_that_a_ragged_tensor_does_not_have_ends_its_loop():
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert [row.numpy().tolist() for row in ragged] == [[1], [2, 3]]
    with pytest.raises(IndexError, match="out of bounds"):
        ragged[2]


def listed(values):
    return len([value for value in values])


@pytest.mark.parametrize("autograph", [False, True])
def test_loops_of_python_over_what_a_graph_computes_are_refused(autograph):
    rows, dataset = tf.constant([1, 2]), tf.data.Dataset.range(9)

    def traced(function, *args):
        return tf.function(function, autograph=autograph)(*args)

    for unbounded in [dataset, iter(dataset)]:
        for loop in [listed, list, lambda values: [*values]]:
            with pytest.raises(ValueError, match="unusually high number"):
                traced(loop, unbounded)
            with pytest.raises(ValueError, match="unusually high number"):
                traced(lambda: loop(unbounded))  # noqa: B023
    for tensor in [rows, tf.Variable([1, 2])]:
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
            traced(lambda: listed(tensor))  # noqa: B023
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        traced(listed, rows)


def test_a_program_may_ask_an_iterator_for_many_elements():
    @tf.function
    def total(iterator):
        return sum([next(iterator) for _ in range(50)])

    assert int(total(iter(tf.data.Dataset.range(50)))) == 1225
