"""Operations without outputs that run at once give None; in a function they give an operation."""

import pytest
import rheos as tf


def makers(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -2, -3)
    queue = tf.queue.FIFOQueue(10, [tf.int32], shapes=[[]])
    ordered = tf.queue.PriorityQueue(5, [tf.string], [[]])
    variable = tf.Variable(1.0)
    one, text = tf.constant([1], tf.int64), str(tmp_path / "x")
    return {
        "no_op": lambda: tf.raw_ops.NoOp(),
        "insert": lambda: table.insert(one, one),
        "remove": lambda: table.remove(one),
        "dense_insert": lambda: dense.insert(one, one),
        "dense_erase": lambda: dense.erase(one),
        "enqueue": lambda: queue.enqueue(1),
        "enqueue_many": lambda: queue.enqueue_many([[2, 3]]),
        "enqueue_in_order": lambda: ordered.enqueue((one[0], "a")),
        "close": lambda: queue.close(),
        "write_file": lambda: tf.io.write_file(text, "a"),
        "save": lambda: tf.data.Dataset.range(3).save(text + "d"),
        "records": lambda: tf.data.experimental.TFRecordWriter(text).write(
            tf.data.Dataset.from_tensors("a")
        ),
        "assert": lambda: tf.raw_ops.Assert(condition=True, data=["a"]),
        "assign": lambda: tf.raw_ops.AssignVariableOp(resource=variable.handle, value=3.0),
        "stage": lambda: tf.raw_ops.Stage(values=[1]),
        "array": lambda: tf.TensorArray(tf.float32, 1).close(),
    }


def test_what_runs_at_once_without_outputs_gives_none(tmp_path):
    for name, make in makers(tmp_path).items():
        assert make() is None, name
    assert tf.numpy_function(lambda: None, [], []) is None
    assert tf.py_function(lambda: None, [], []) == []


@pytest.mark.parametrize("name", ["no_op", "insert", "enqueue", "close", "write_file"])
def test_in_a_function_it_gives_an_operation(name, tmp_path):
    make, made = makers(tmp_path)[name], []

    @tf.function
    def traced():
        made.append(make())

    traced()
    assert isinstance(made[0], tf.Operation)


def test_queues_give_many_elements_at_once():
    queue = tf.queue.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], [1]], names=["a", "b"])
    queue.enqueue_many({"a": [1, 2, 3, 4], "b": [["w"], ["x"], ["y"], ["z"]]})
    many = queue.dequeue_many(2)
    assert many["a"].numpy().tolist() == [1, 2] and many["b"].numpy().tolist() == [[b"w"], [b"x"]]
    queue.close()
    assert queue.dequeue_up_to(5)["a"].numpy().tolist() == [3, 4]
    with pytest.raises(tf.errors.OutOfRangeError):
        queue.dequeue_many(1)

    @tf.function
    def rows(count):
        other = tf.queue.RandomShuffleQueue(10, 0, [tf.int32], shapes=[[2]])
        other.enqueue_many([tf.zeros([3, 2], tf.int32)])
        return other.dequeue_many(2), other.dequeue_up_to(count)

    known, unknown = rows.get_concrete_function(tf.TensorSpec([], tf.int32)).structured_outputs
    assert known.shape == (2, 2) and unknown.shape.as_list() == [None, 2]
