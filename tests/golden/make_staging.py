#!/usr/bin/env python3
"""Records what TensorFlow 1.15 makes of programs with barriers, staging areas and accumulators.

Usage: python make_staging.py      (a Python that has TensorFlow 1.15.5)

Writes staging.json; test_golden_staging.py runs the same programs, which are here.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_queues  # noqa: E402

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def inside(tf):
    """The module that has what no public name leads to."""
    if "rheos" in tf.__name__:
        from rheos.v1._insides import data_flow_ops
    else:
        from tensorflow.python.ops import data_flow_ops
    return data_flow_ops


# ---- Barriers


@program
def barrier_without_shapes(tf, log):
    b = inside(tf).Barrier((tf.float32, tf.int32), name="B")
    log.run(b.insert_many(0, ["a", "b"], [1.0, 2.0]))
    log.run([b.ready_size(), b.incomplete_size()])
    log.run(b.insert_many(1, ["a", "b"], [1, 2]))
    log.run([b.ready_size(), b.incomplete_size()])
    log.run(b.take_many(2))


@program
def barrier_in_another_order(tf, log):
    b = inside(tf).Barrier((tf.float32, tf.int32), shapes=((), (2,)), name="B", shared_name="x")
    log.run(b.insert_many(0, ["a", "b"], [1.0, 2.0]))
    log.run(b.insert_many(1, ["b"], [[1, 2]]))
    log.run(b.insert_many(1, ["a"], [[3, 4]]))
    log.run(b.take_many(2))


@program
def barrier_priorities(tf, log):
    b = inside(tf).Barrier((tf.string, tf.float64), shapes=((), ()))
    for keys in (["p", "q", "r"], ["s"], ["t", "u"]):
        log.run(b.insert_many(0, keys, keys))
    log.run(b.insert_many(1, ["u", "s", "t"], tf.constant([1.0, 2.0, 3.0], tf.float64)))
    log.run(b.take_many(2))
    log.run(b.insert_many(1, ["q", "p", "r"], tf.constant([4.0, 5.0, 6.0], tf.float64)))
    log.run(b.take_many(4))


@program
def barrier_key_twice(tf, log):
    b = inside(tf).Barrier((tf.float32, tf.int32), shapes=((), ()), shared_name="x")
    log.run(b.insert_many(0, ["c", "c"], [1.0, 2.0]))
    log.run(b.insert_many(0, ["c"], [3.0]))
    log.run([b.ready_size(), b.incomplete_size()])
    log.run(b.insert_many(1, ["c"], [3]))
    log.run(b.take_many(1))
    log.run(b.insert_many(0, ["c"], [7.0]))
    log.run(b.incomplete_size())


@program
def barrier_closed(tf, log):
    b = inside(tf).Barrier((tf.float32, tf.int32), shapes=((), (2,)), shared_name="x")
    log.run(b.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
    log.run(b.insert_many(1, ["a"], [[1, 2]]))
    log.run(b.close())
    log.run(b.insert_many(0, ["q"], [1.0]))
    log.run(b.insert_many(1, ["b"], [[3, 4]]))
    log.run(b.take_many(4))
    log.run(b.take_many(1))
    log.run(b.take_many(5, allow_small_batch=True))
    log.run(b.insert_many(1, ["c"], [[5, 6]]))
    log.run(b.insert_many(1, ["d"], [[5, 6]]))
    log.run(b.take_many(1))
    log.run(b.take_many(1, allow_small_batch=True))
    log.run(b.take_many(1))
    log.run(b.close())
    log.run(b.close(cancel_pending_enqueues=True))
    log.run(b.close(cancel_pending_enqueues=True))


@program
def barrier_cancelled(tf, log):
    b = inside(tf).Barrier((tf.float32, tf.int32), shapes=((), ()), shared_name="x")
    log.run(b.insert_many(0, ["a", "b"], [1.0, 2.0]))
    log.run(b.insert_many(1, ["a"], [5]))
    log.run(b.close(cancel_pending_enqueues=True))
    log.run([b.ready_size(), b.incomplete_size()])
    log.run(b.insert_many(1, ["b"], [5]))
    log.run(b.take_many(1))
    log.run(b.take_many(1, allow_small_batch=True))


@program
def barrier_taken_in_one_step(tf, log):
    b = inside(tf).Barrier((tf.float32,), shapes=((),))
    put = b.insert_many(0, ["k"], [4.0])
    log.run([b.take_many(1), put])


# ---- Accumulators


@program
def dense_mean(tf, log):
    a = tf.ConditionalAccumulator(tf.float32, shape=(3,), name="A")
    for grad in ([1.0, 2.0, 3.0], [0.5, 0.25, 0.1], [7.0, 0.3, 0.7]):
        log.run(a.apply_grad(grad))
    log.run(a.num_accumulated())
    log.run(a.take_grad(2))
    log.run(a.num_accumulated())


@program
def dense_sum(tf, log):
    a = tf.ConditionalAccumulator(tf.float64, shape=(), reduction_type="SUM")
    for grad in (0.1, 0.2, 0.3):
        log.run(a.apply_grad(tf.constant(grad, tf.float64)))
    log.run(a.take_grad(1))


@program
def dense_half(tf, log):
    a = tf.ConditionalAccumulator(tf.float16, shape=(2,))
    for grad in ([0.1, 100.0], [0.2, 0.03], [0.7, 0.03]):
        log.run(a.apply_grad(tf.constant(grad, tf.float16)))
    log.run(a.take_grad(3))


@program
def dense_steps(tf, log):
    a = tf.ConditionalAccumulator(tf.float32, shape=(1,))
    log.run(a.apply_grad([1.0], local_step=0))
    log.run(a.take_grad(1))
    log.run(a.apply_grad([2.0], local_step=0))
    log.run(a.num_accumulated())
    log.run(a.apply_grad([3.0], local_step=1))
    log.run(a.set_global_step(5))
    log.run(a.apply_grad([4.0], local_step=4))
    log.run(a.apply_grad([5.0], local_step=5))
    log.run(a.take_grad(1))
    log.run(a.set_global_step(3))
    log.run(a.apply_grad([6.0], local_step=3))
    log.run(a.take_grad(1))


@program
def dense_refused(tf, log):
    a = tf.ConditionalAccumulator(tf.float32, shape=(2,))
    grad = tf.placeholder(tf.float32)
    for value in (1.0, [1.0], [[1.0, 2.0]]):
        log.run(a.apply_grad(grad), {grad: value})
    b = tf.ConditionalAccumulator(tf.float32, shape=(None,))
    log.run(b.apply_grad(grad), {grad: [1.0]})
    log.run(b.apply_grad(grad), {grad: [1.0, 2.0]})
    log.run(b.take_grad(0))
    log.run(b.take_grad(-1))
    log.run(b.take_grad(1))
    log.run(b.apply_grad(grad, local_step=1), {grad: [1.0, 2.0]})
    log.run(b.take_grad(1))


@program
def dense_any_shape(tf, log):
    a = tf.ConditionalAccumulator(tf.float32)
    log.run(a.apply_grad([[1.0, 2.0], [3.0, 4.0]]))
    log.run(a.apply_grad([[1.0, 2.0], [3.0, 5.0]]))
    log.run(a.take_grad(2))


@program
def dense_taken_in_one_step(tf, log):
    a = tf.ConditionalAccumulator(tf.float32, shape=())
    add = a.apply_grad(3.0)
    log.run([a.take_grad(1), add])


@program
def slices_mean(tf, log):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=(4, 2), name="S")
    slices = tf.IndexedSlices([[1.0, 2.0], [3.0, 4.0]], tf.constant([0, 2], tf.int64))
    log.run(a.apply_indexed_slices_grad(slices))
    log.run(a.apply_grad([2, 3], [[0.5, 0.1], [9.0, 9.0]], grad_shape=[4, 2]))
    log.run(a.num_accumulated())
    taken = a.take_indexed_slices_grad(2)
    log.run([taken.indices, taken.values, taken.dense_shape])


@program
def slices_sum(tf, log):
    a = tf.SparseConditionalAccumulator(tf.float64, shape=(5,), reduction_type="SUM")
    for indices, values in (([4], [0.1]), ([0, 4], [0.2, 0.3]), ([1], [0.7])):
        log.run(a.apply_grad(indices, tf.constant(values, tf.float64)))
    log.run(list(a.take_grad(1)))


@program
def slices_unordered(tf, log):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=(4, 1))
    log.run(a.apply_grad([0], [[1.0]]))
    log.run(a.apply_grad([2, 0], [[1.0], [2.0]]))
    log.run(a.apply_grad([1, 1], [[1.0], [2.0]]))
    log.run(list(a.take_grad(1)))


@program
def slices_refused(tf, log):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=(4, 2))
    i, v = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    s = tf.placeholder(tf.int64)
    log.run(a.apply_grad(i, v, s), {i: [0], v: [[1.0, 2.0]], s: [4, 2]})
    for indices, values, shape in (
        ([4], [[1.0, 2.0]], [4, 2]),
        ([0], [[1.0, 2.0]], [5, 2]),
        ([0], [[1.0, 2.0]], [4]),
        ([0], [[1.0, 2.0, 3.0]], [4, 2]),
        ([0], [1.0], [4, 2]),
        ([0, 1], [[1.0, 2.0]], [4, 2]),
        (1, [[1.0, 2.0]], [4, 2]),
        ([1], 3.0, [4, 2]),
    ):
        log.run(a.apply_grad(i, v, s), {i: indices, v: values, s: shape})
    log.run(list(a.take_grad(1)))


@program
def slices_any_shape(tf, log):
    a = tf.SparseConditionalAccumulator(tf.float32, name="b")
    log.run(a.set_global_step(2))
    log.run(a.apply_grad([1], [[1.0]], local_step=1))
    log.run(a.apply_grad([1, 2], [[1.0], [3.0]], local_step=2))
    log.run(a.num_accumulated())
    log.run(list(a.take_grad(1)))


# ---- Staging areas


@program
def staged(tf, log):
    area = inside(tf).StagingArea([tf.float32, tf.int32], shapes=[[], [2]])
    put = area.put([tf.constant(1.5), tf.constant([1, 2])])
    log.run(put)
    log.run(area.size())
    log.run(area.get())
    log.run(area.size())
    log.run([area.get(), put])


@program
def staged_by_names(tf, log):
    area = inside(tf).StagingArea([tf.float32, tf.string], names=["x", "y"], shared_name="shared")
    x = tf.placeholder(tf.float32)
    put = area.put({"x": x, "y": tf.constant("text")})
    for i in range(3):
        log.run(put, {x: i})
    log.run(area.peek(2))
    log.run(area.get())
    log.run(area.size())
    log.run(area.clear())
    log.run(area.size())


@program
def staged_too_large(tf, log):
    area = inside(tf).StagingArea([tf.float32], memory_limit=8)
    log.run(area.put([tf.zeros([3])]))
    log.run(area.put([tf.zeros([2])]))
    log.run(area.get())


@program
def staged_ahead(tf, log):
    v = tf.Variable(0)
    area = inside(tf).StagingArea([tf.int32], capacity=2)
    put = area.put([tf.assign_add(v, 1) + 0])
    got = area.get()
    log.run(put)
    for _ in range(3):
        log.run([got, put])


@program
def mapped(tf, log):
    area = inside(tf).MapStagingArea([tf.float32, tf.int32], shapes=[[], [2]])
    key = tf.placeholder(tf.int64)
    put = area.put(key, [tf.constant(1.5), tf.constant([1, 2])], [0, 1])
    log.run(put, {key: 7})
    log.run([area.size(), area.incomplete_size()])
    log.run(area.peek(key), {key: 7})
    log.run(area.get(key), {key: 7})
    log.run(area.size())


@program
def mapped_in_parts(tf, log):
    area = inside(tf).MapStagingArea([tf.float32, tf.int32], names=["x", "y"], shared_name="m")
    key = tf.constant(3, tf.int64)
    log.run(area.put(key, {"x": tf.constant(2.0)}))
    log.run([area.size(), area.incomplete_size()])
    log.run(area.put(key, {"y": tf.constant([3, 4])}))
    log.run([area.size(), area.incomplete_size()])
    log.run(area.get(key, ["y"]))
    log.run(area.get(key, ["x"]))
    log.run(area.size())


@program
def mapped_in_order(tf, log):
    area = inside(tf).MapStagingArea([tf.string], ordered=True)
    key, text = tf.placeholder(tf.int64), tf.placeholder(tf.string)
    put = area.put(key, [text], [0])
    for k, t in ((9, "nine"), (2, "two"), (5, "five")):
        log.run(put, {key: k, text: t})
    log.run(area.get())
    log.run(area.get())
    log.run(area.clear())
    log.run(area.size())


@program
def mapped_refused(tf, log):
    area = inside(tf).MapStagingArea([tf.float32, tf.int32], memory_limit=16)
    key = tf.constant(1, tf.int64)
    x, y = tf.constant(1.0), tf.constant(2)
    log.run(area.put(key, [y, x][::-1], [0, 1]))
    log.run(area.put(tf.constant(2, tf.int64), [x], [0]))
    log.run(area.put(tf.constant(2, tf.int64), [x], [0]))
    log.run(area.get(key, [0]))
    log.run(area.get(key, [0]))
    log.run(area.get(key, [1]))
    log.run(area.put(tf.constant(4, tf.int64), [tf.zeros([9])], [0]))


# ---- Readers' states


@program
def reader_states(tf, log):
    queue = tf.FIFOQueue(10, tf.string, shapes=())
    log.run(queue.enqueue_many([["a", "b", "c"]]))
    reader = tf.IdentityReader()
    read = reader.read(queue)
    log.run(list(read))
    log.run(reader.serialize_state())
    log.run(reader.num_work_units_completed())
    log.run(list(read))
    state = tf.placeholder(tf.string)
    restore = reader.restore_state(state)
    log.run(restore, {state: b'\x08\x01\x10\x01\x18\x05"\x01a'})
    log.run([reader.num_records_produced(), reader.num_work_units_completed()])
    log.run(list(read))
    log.run(reader.reset())
    log.run(reader.serialize_state())
    log.run(restore, {state: b"\x10\x01"})


@program
def reader_without_state(tf, log):
    queue = tf.FIFOQueue(10, tf.string, shapes=())
    log.run(queue.enqueue_many([[log.file("lines", b"one\ntwo\n")] * 2]))
    reader = tf.TextLineReader()
    read = reader.read(queue)[1]
    log.run(read)
    log.run(reader.serialize_state())
    log.run(reader.restore_state("x"))
    log.run(reader.reset())
    log.run(reader.num_records_produced())
    log.run(read)


@program
def whole_files_states(tf, log):
    queue = tf.FIFOQueue(10, tf.string, shapes=())
    log.run(queue.enqueue_many([[log.file("one", b"1"), log.file("two", b"2")]]))
    reader = tf.WholeFileReader()
    log.run(reader.serialize_state())
    log.run(reader.read(queue)[1])
    log.run([reader.num_records_produced(), reader.num_work_units_completed()])


@program
def record_input(tf, log):
    for f in range(2):
        with tf.python_io.TFRecordWriter(os.path.join(log.folder, f"f{f}")) as writer:
            for i in range(5):
                writer.write(f"{f}.{i}".encode())
    path = os.path.join(log.folder, "f*")
    batch = inside(tf).RecordInput(path, batch_size=5, buffer_size=3).get_yield_op()
    seen = set()
    session = log._session()
    for _ in range(4):
        seen.update(session.run(batch).tolist())
    log.answers = sorted(text.decode() for text in seen)


def answer(tf, name):
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(7)
        log = make_queues.Log(tf)
        PROGRAMS[name](tf, log)
        nodes = []
        for node in graph.as_graph_def().node:
            attrs = sorted(key for key in node.attr if key not in ("file_pattern",))
            nodes.append([node.name, node.op, list(node.input), attrs])
        return {"nodes": nodes, "answers": log.answers}


def main():
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    recorded = {}
    for name in PROGRAMS:
        print(name, flush=True)
        recorded[name] = answer(tf, name)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "staging.json")
    with open(path, "w") as file:
        lines = [f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in recorded]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
