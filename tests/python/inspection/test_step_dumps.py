"""Steps that RunOptions have dumped, as DebugDumpDir finds them."""

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1._insides import debug as tf_debug

ALL_OPS = ["DebugIdentity", "DebugNanCount", "DebugNumericSummary"]


@pytest.fixture
def layer():
    """(placeholder, hidden, result)"""
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.name_scope("layer"):
        hidden = tf.multiply(x, 2.0, name="hidden")
        result = tf.log(hidden, name="result")
    return x, hidden, result


def _dump(folder, fetches, feeds, session=None, **kwargs):
    options = tf.RunOptions()
    graph = tf.get_default_graph()
    tf_debug.watch_graph(options, graph, debug_urls=f"file://{folder}", **kwargs)
    with session or tf.Session() as sess:
        value = sess.run(fetches, feeds, options=options)
    return value, tf_debug.DebugDumpDir(str(folder))


def test_a_step_is_dumped(layer, tmp_path):
    x, _, result = layer
    value, dump = _dump(tmp_path, result, {x: [0, 1, 2]}, debug_ops=ALL_OPS, global_step=7)
    np.testing.assert_array_equal(dump.get_tensors("layer/result", 0, "DebugIdentity")[0], value)
    np.testing.assert_array_equal(dump.get_tensors("x", 0, "DebugIdentity")[0], [0, 1, 2])
    assert dump.get_tensors("layer/result", 0, "DebugNanCount") == [0]
    summary = dump.get_tensors("layer/result", 0, "DebugNumericSummary")[0]
    finite = np.log([2.0, 4.0])
    np.testing.assert_allclose(
        summary,
        [1, 3, 0, 1, 0, 0, 2, 0, finite[0], finite[1], finite.mean(), finite.var(), 1, 1, 3],
        rtol=1e-6,
    )
    assert dump.core_metadata.global_step == 7
    assert dump.core_metadata.input_names == ["x:0"]
    assert dump.core_metadata.output_names == ["layer/result:0"]
    assert [d.node_name for d in dump.find(tf_debug.has_inf_or_nan)] == ["layer/result"]


def test_what_is_fed_comes_first_and_once(layer, tmp_path):
    x, _, result = layer
    _, dump = _dump(tmp_path, result, {x: [1, 1, 2]})
    names = [d.node_name for d in dump.dumped_tensor_data]
    assert names[0] == "x" and names.count("x") == 1
    assert names.index("layer/hidden") < names.index("layer/result")


def test_trips_of_loops_are_dumped_one_after_the_other(tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    looped = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.add(v, 1, name="more")), [0, x], name="loop"
    )
    _, dump = _dump(tmp_path, looped, {x: 10.0})
    assert dump.get_tensors("loop/more", 0, "DebugIdentity") == [11, 12, 13]


def test_values_in_functions_are_of_no_node(tmp_path):
    @tf.function
    def double(v):
        return tf.multiply(v, 2.0, name="x")

    x = tf.placeholder(tf.float32, [], name="x")
    _, dump = _dump(tmp_path, double(x), {x: 1.0})
    assert dump.get_tensors("x", 0, "DebugIdentity") == [1.0]


def test_patterns_say_what_is_dumped(layer, tmp_path):
    x, _, result = layer
    feeds = {x: [1, 2, 3]}
    by_name = _dump(tmp_path / "a", result, feeds, node_name_regex_whitelist="layer/h")[1]
    assert {d.node_name for d in by_name.dumped_tensor_data} == {"layer/hidden", "layer/hidden/y"}
    by_type = _dump(tmp_path / "b", result, feeds, op_type_regex_allowlist="(Log|Mul)$")[1]
    assert {d.node_name for d in by_type.dumped_tensor_data} == {"layer/hidden", "layer/result"}
    options = tf.RunOptions()
    graph = tf.get_default_graph()
    tf_debug.watch_graph_with_blacklists(options, graph, node_name_regex_blacklist="layer/")
    assert [w.node_name for w in options.debug_options.debug_tensor_watch_opts] == ["x"]


def test_bounds_and_healthy_tensors(layer, tmp_path):
    x, _, result = layer
    op = "DebugNumericSummary(lower_bound=0.5;upper_bound=3;mute_if_healthy=true)"
    _, dump = _dump(tmp_path, result, {x: [1, 1.25, 1.5]}, debug_ops=op)
    summaries = {d.node_name: d.get_tensor() for d in dump.dumped_tensor_data}
    assert set(summaries) == {"layer/hidden"}  # 2, 2.5, 3: one reaches the upper bound
    assert summaries["layer/hidden"][3:8].tolist() == [0, 0, 0, 2, 1]


def test_variables_strings_and_updates_are_dumped(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")
    step = tf.assign_add(w, [1.0, 1.0], name="step")
    text = tf.identity(tf.constant([b"a", b"bc"]), name="text")
    one = tf.identity(tf.constant(b"a\0"), name="one")
    sess = tf.Session()
    sess.run(w.initializer)
    _, dump = _dump(tmp_path, [step, text, one], {}, session=sess)
    np.testing.assert_array_equal(dump.get_tensors("step", 0, "DebugIdentity")[0], [2, 3])
    assert dump.get_tensors("text", 0, "DebugIdentity")[0].tolist() == [b"a", b"bc"]
    assert dump.get_tensors("one", 0, "DebugIdentity")[0].item() == b"a\0"


def test_handles_queues_and_datasets_are_no_hindrance(tmp_path):
    w = tf.get_variable("w", [2], use_resource=True, initializer=tf.ones_initializer())
    queue = tf.FIFOQueue(1, [tf.float32], shapes=[[]])
    looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w), [0, w])[1]
    slope = tf.gradients(looped, w)[0]
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(looped))
    sess = tf.Session()
    sess.run([tf.global_variables_initializer(), queue.enqueue(5.0)])
    fetches = [slope, element, tf.identity(queue.dequeue(), name="taken"), step]
    values, dump = _dump(tmp_path, fetches, {}, session=sess)
    assert values[0].tolist() == [4, 4] and values[1] == 0
    assert dump.get_tensors("taken", 0, "DebugIdentity") == [5.0]


def test_an_op_that_cannot_be_asked_is_an_error_unless_that_is_tolerated(layer, tmp_path):
    x, hidden, _ = layer
    whole = tf.cast(hidden, tf.int32, name="whole")
    feeds = {x: [1, 2, 3]}
    with pytest.raises(tf.errors.FailedPreconditionError, match="DebugNanCount.*whole:0.*int32"):
        _dump(tmp_path / "a", whole, feeds, debug_ops="DebugNanCount")
    _, dump = _dump(
        tmp_path / "b", whole, feeds, debug_ops=["DebugNanCount"],
        tolerate_debug_op_creation_failures=True,
    )  # fmt: skip
    assert dump.debug_watch_keys("layer/hidden") and not dump.debug_watch_keys("whole")


@pytest.mark.parametrize(
    "kwargs, error, text",
    [
        ({"debug_ops": "DebugNothing"}, tf.errors.UnimplementedError, "DebugNothing"),
        ({"debug_ops": "DebugNanCount(x)"}, tf.errors.InvalidArgumentError, "name=value"),
    ],
)
def test_debug_ops_that_are_none(layer, tmp_path, kwargs, error, text):
    x, _, result = layer
    with pytest.raises(error, match=text):
        _dump(tmp_path, result, {x: [1, 2, 3]}, **kwargs)


def test_other_urls_and_nodes_that_are_not_there(layer):
    x, _, result = layer
    with tf.Session() as sess:
        options = tf.RunOptions()
        tf_debug.add_debug_tensor_watch(options, "x", debug_urls="grpc://localhost:1")
        with pytest.raises(tf.errors.UnimplementedError, match="grpc://localhost:1"):
            sess.run(result, {x: [1, 2, 3]}, options=options)
        options = tf.RunOptions()
        tf_debug.add_debug_tensor_watch(options, "nope", debug_urls="file:///nowhere")
        with pytest.raises(ValueError, match="nope"):
            sess.run(result, {x: [1, 2, 3]}, options=options)


def test_too_many_bytes_are_an_error(layer, tmp_path, monkeypatch):
    x, _, result = layer
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "100")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="TFDBG_DISK_BYTES_LIMIT"):
        _dump(tmp_path, result, {x: [1, 2, 3]}, reset_disk_byte_usage=True)


def test_metadata_has_the_nodes_that_dumps_are_of(layer, tmp_path):
    x, _, result = layer
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    tf_debug.watch_graph(options, result.graph, debug_urls=f"file://{tmp_path}")
    with tf.Session() as sess:
        sess.run(result, {x: [1, 2, 3]}, options=options, run_metadata=metadata)
    dump = tf_debug.DebugDumpDir(str(tmp_path), partition_graphs=metadata.partition_graphs)
    assert dump.node_inputs("layer/result") == ["layer/hidden"] and dump.size == 4


def test_steps_behind_it_are_not_watched(layer, tmp_path):
    x, _, result = layer
    sess = tf.Session()
    _dump(tmp_path, result, {x: [1, 2, 3]}, session=sess)
    assert not sess._watches
