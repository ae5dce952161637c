"""RunMetadata: what a step took, op by op, and the graph that it ran."""

import json

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.training.timeline import Timeline

# A card runs other kernels, and copies.
ON_CPU = tf.ConfigProto(device_count={"GPU": 0})

CPU = "/job:localhost/replica:0/task:0/device:CPU:%d"
FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


@pytest.fixture
def model():
    """(x, y, train op) of a dense layer, with a session that runs each op by itself."""
    config = tf.ConfigProto(device_count={"GPU": 0})
    config.graph_options.rewrite_options.remapping = 2  # OFF
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(tf.ones([3, 4]), name="w")
        y = tf.nn.relu(tf.matmul(x, w) + tf.get_variable("b", [4]), name="y")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        session.run(tf.global_variables_initializer())
        session.x, session.y, session.train = x, y, train
        yield session


def run(session, fetches, options=FULL, feed=((1, 2, 3), (4, 5, 6))):
    metadata = tf.RunMetadata()
    session.run(fetches, {session.x: feed}, options, metadata)
    return metadata


def nodes_of(metadata):
    return {
        node.node_name: node
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    }


def test_a_step_tells_what_each_node_did(model):
    metadata = run(model, [model.y, model.train])
    assert [device.device for device in metadata.step_stats.dev_stats] == [CPU % 0]
    nodes = nodes_of(metadata)
    assert nodes["MatMul"].timeline_label == "MatMul = MatMul(_arg_x_0_0, w)"
    assert nodes["y"].timeline_label == "y = Relu(add)"
    assert nodes["GradientDescent/update_w/ApplyGradientDescent"].timeline_label.startswith(
        "GradientDescent/update_w/ApplyGradientDescent = ApplyGradientDescent(w, "
    )
    assert nodes["_retval_y_0_0"].timeline_label == "_retval_y_0_0 = _Retval(y)"
    (output,) = nodes["y"].output
    description = output.tensor_description
    assert description.dtype == tf.float32.as_datatype_enum
    assert [d.size for d in description.shape.dim] == [2, 4]
    assert description.allocation_description.requested_bytes == 32
    for node in nodes.values():
        assert node.all_start_micros == node.all_start_nanos // 1000 > 1.5e15
        assert 0 <= node.op_end_rel_nanos <= node.all_end_rel_nanos < 1e10
    assert sum(node.op_end_rel_nanos for node in nodes.values()) > 0


def test_what_runs_as_one_has_the_name_of_the_last():
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        session.x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.nn.relu(tf.matmul(session.x, tf.ones([3, 4])), name="y")
        nodes = nodes_of(run(session, y))
    assert nodes["y"].timeline_label.startswith("y = _FusedMatMul(_arg_x_0_0, ")
    assert "MatMul" not in nodes


def test_times_are_in_order_and_within_the_step(model):
    nodes = nodes_of(run(model, model.y))
    matmul, y = nodes["MatMul"], nodes["y"]
    assert matmul.all_start_nanos + matmul.all_end_rel_nanos <= y.all_start_nanos
    assert (
        nodes["_arg_x_0_0"].all_start_nanos
        <= matmul.all_start_nanos
        <= nodes["_retval_y_0_0"].all_start_nanos
    )


def test_shapes_that_come_late_are_told():
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        session.x = tf.placeholder(tf.int32, [None])
        unique, _ = tf.unique(session.x)
        metadata = run(session, tf.identity(unique * 2, name="out"), feed=[1, 2, 1, 3])
    sizes = {
        name: [[d.size for d in o.tensor_description.shape.dim] for o in node.output]
        for name, node in nodes_of(metadata).items()
    }
    assert sizes["Unique"] == [[3], [4]]
    assert sizes["mul"] == [[3]]


def test_nothing_is_told_unless_asked(model):
    for options in (None, tf.RunOptions(), tf.RunOptions(timeout_in_ms=10000)):
        assert run(model, model.y, options) == tf.RunMetadata()
    metadata = run(model, model.y)
    model.run(model.y, {model.x: [[1, 2, 3]]}, run_metadata=metadata)
    assert metadata == tf.RunMetadata()  # what was there is gone


def test_every_level_traces(model):
    for level in (1, 2, 3):
        assert nodes_of(run(model, model.y, tf.RunOptions(trace_level=level)))["y"]


def test_the_graph_as_it_was_run(model):
    metadata = run(model, [model.y], tf.RunOptions(output_partition_graphs=True))
    assert not metadata.HasField("step_stats")
    (graph,) = metadata.partition_graphs
    nodes = {node.name: node for node in graph.node}
    assert list(nodes["MatMul"].input) == ["_arg_x_0_0", "w"]
    assert nodes["_arg_x_0_0"].op == "_Arg" and nodes["_arg_x_0_0"].attr["T"].type == 1
    assert list(nodes["_retval_y_0_0"].input) == ["y"]
    assert all(node.device == CPU % 0 for node in graph.node)
    assert not any("GradientDescent" in name for name in nodes)
    assert graph.versions.producer > 20


def test_folded_nodes_are_constants_in_the_graph():
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        session.x = tf.placeholder(tf.float32, [])
        y = session.x * tf.add(tf.constant(2.0), tf.constant(3.0), name="five")
        metadata = run(session, y, tf.RunOptions(output_partition_graphs=True), feed=2)
    nodes = {node.name: node for node in metadata.partition_graphs[0].node}
    assert nodes["five"].op == "Const" and not nodes["five"].input
    assert tf.make_ndarray(nodes["five"].attr["value"].tensor) == 5
    assert "Const" not in nodes


def test_devices_have_their_own_nodes():
    config = tf.ConfigProto(device_count={"GPU": 0, "CPU": 3})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.x = tf.placeholder(tf.float32, [2])
        with tf.device("/cpu:1"):
            y = tf.sqrt(session.x)
        with tf.device("/cpu:2"):
            z = tf.exp(y)
        metadata = run(session, z, feed=[1, 2])
    names = {
        device.device: [node.node_name for node in device.node_stats]
        for device in metadata.step_stats.dev_stats
    }
    assert "Sqrt" in names[CPU % 1] and "Exp" in names[CPU % 2] and "Exp" not in names[CPU % 1]


def test_a_failed_step_leaves_the_metadata(model):
    metadata = tf.RunMetadata()
    with pytest.raises(tf.errors.InvalidArgumentError):
        model.run(tf.check_numerics(tf.log(model.x), "no"), {model.x: [[-1, 0, 0]]}, FULL, metadata)
    assert metadata == tf.RunMetadata()


def test_callables_take_options_and_metadata(model):
    function = model.make_callable(model.y, [model.x], accept_options=True)
    metadata = tf.RunMetadata()
    result = function(np.ones([2, 3], np.float32), options=FULL, run_metadata=metadata)
    assert result.shape == (2, 4) and "MatMul" in nodes_of(metadata)
    with pytest.raises(TypeError):
        model.make_callable(model.y, [model.x])(np.ones([2, 3]), run_metadata=metadata)


def test_timeline_shows_nodes_flows_and_memory(model):
    metadata = run(model, [model.y, model.train])
    for memory in (False, True):
        text = Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=memory)
        events = json.loads(text)["traceEvents"]
        kinds = {event["ph"] for event in events}
        assert kinds >= {"M", "X", "s", "t"} and ("C" in kinds) == memory == ("O" in kinds)
        (matmul,) = [e for e in events if e["ph"] == "X" and e["args"]["name"] == "MatMul"]
        assert matmul["args"] == {
            "name": "MatMul",
            "op": "MatMul",
            "input0": "_arg_x_0_0",
            "input1": "w",
        }
    flat = Timeline(metadata.step_stats).generate_chrome_trace_format(show_dataflow=False)
    assert not {e["ph"] for e in json.loads(flat)["traceEvents"]} & {"s", "t"}


def test_timeline_finds_the_most_that_was_held(model):
    metadata = run(model, model.y, feed=np.ones([1000, 3]))
    most = Timeline(metadata.step_stats).analyze_step_stats().allocator_maximums["cpu"]
    assert most.num_bytes >= 28000 and most.timestamp > 0  # the feed and the product
    assert most.tensors & {"MatMul", "add", "y"}


def test_timeline_takes_labels_that_are_no_operations():
    metadata = tf.RunMetadata()
    node = metadata.step_stats.dev_stats.add(device="/job:worker/cpu:0").node_stats.add()
    node.node_name, node.timeline_label = "RecvTensor", "[16B] a from b to c"
    node.all_start_micros, node.op_end_rel_micros = 12345, 42
    events = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())
    (region,) = [e for e in events["traceEvents"] if e["ph"] == "X"]
    assert region["dur"] == 42 and region["ts"] == 12345


def test_costs_of_the_graph():
    config = tf.ConfigProto(device_count={"GPU": 0})
    config.graph_options.build_cost_model = 1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(tf.ones([3, 4]), name="w")
        product = tf.matmul(session.x, w, name="product")
        with tf.control_dependencies([tf.Assert(tf.reduce_all(session.x > 0), ["less"])]):
            y = tf.nn.relu(product, name="y")
        session.run(w.initializer)
        metadata = run(session, y, None)
        assert not metadata.HasField("step_stats") and not metadata.partition_graphs
        nodes = {node.name: node for node in metadata.cost_graph.node}
        number = {node.id: node.name for node in metadata.cost_graph.node}
        (info,) = nodes["product"].output_info
        assert info.dtype == 1 and info.size == 32 and [d.size for d in info.shape.dim] == [2, 4]
        assert info.alias_input_port == -1
        assert [number.get(i.preceding_node) for i in nodes["y"].input_info] == ["product"]
        assert nodes["y"].is_final and not nodes["product"].is_final
        assert any("Assert" in number[i] for i in nodes["y"].control_input)
        assert all(node.device == CPU % 0 and node.compute_cost >= 0 for node in nodes.values())
        assert run(session, y, FULL, np.ones([5, 3])).HasField("step_stats")
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.x = tf.placeholder(tf.float32, [1 << 20], name="x")
        metadata = run(session, tf.tanh(session.x, name="y"), None, np.ones(1 << 20))
        costs = {node.name: node.compute_cost for node in metadata.cost_graph.node}
        assert costs["y"] > 0


def test_work_of_other_threads_shows_on_them():
    config = tf.ConfigProto(device_count={"GPU": 0}, intra_op_parallelism_threads=3)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session.x = tf.placeholder(tf.float32, [1 << 20])
        y = tf.tanh(session.x, name="y")
        for _ in range(100):  # a worker may come too late to find any work
            metadata = run(session, y, feed=np.ones(1 << 20))
            (device,) = metadata.step_stats.dev_stats
            parts = [node for node in device.node_stats if node.node_name == "y"]
            if len(parts) > 1:
                break
    whole = parts[-1]
    assert whole.thread_id == 0 and len(whole.output) == 1 and len(parts) > 1
    assert device.thread_names[0] == "step"
    for part in parts[:-1]:
        assert part.thread_id in (1, 2) and not part.output
        assert device.thread_names[part.thread_id] == f"worker {part.thread_id}"
        assert part.timeline_label == whole.timeline_label
        assert whole.all_start_nanos <= part.all_start_nanos
        assert (
            part.all_start_nanos + part.all_end_rel_nanos
            <= whole.all_start_nanos + whole.all_end_rel_nanos
        )
    Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True)


def test_metadata_goes_into_event_files(model, tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_run_metadata(run(model, model.y), "step 1", 1)
    (path,) = tmp_path.iterdir()
    event = list(tf.train.summary_iterator(str(path)))[-1]
    read = tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata)
    assert event.tagged_run_metadata.tag == "step 1" and nodes_of(read)["y"].output


@pytest.mark.parametrize("as_functions", [False, True])
def test_trace__counts_trips_and_goes_on_behind_a_loop(as_functions):
    if as_functions:
        tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [2], name="x")
        _, y = tf.while_loop(
            lambda i, _: i < 5, lambda i, v: (i + 1, tf.cos(v, name="inside")), [0, x]
        )
        z = tf.add(y, [1.0, 2.0], name="behind")
        w = tf.tensordot(z, z, 1, name="last")
    finally:
        tf.disable_control_flow_v2()
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    config = tf.ConfigProto(device_count={"GPU": 0})
    config.graph_options.build_cost_model = 1
    with tf.Session(config=config) as session:
        session.run(w, {x: [1.0, 2.0]}, options=options, run_metadata=metadata)
    names = [
        node.node_name.split("/")[-1]
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    ]
    assert names.count("inside") == 5
    assert names.count("behind") == 1
    assert any(name.startswith("MatMul") for name in names)
    costs = [node.name for node in metadata.cost_graph.node]
    assert "behind" in costs
    assert len(costs) == len(set(costs))
    assert not any("inside" in node.name for node in metadata.partition_graphs[0].node)


def test_loops_on_tokens_tell_each_trip():
    """A queue in its body keeps a loop of version 1 as its nodes."""
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        queue = tf.FIFOQueue(10, [tf.float32], shapes=[[2]])

        def body(trip, value):
            with tf.control_dependencies([queue.enqueue(value)]):
                return trip + 1, tf.tanh(value, name="tanh")

        end = tf.while_loop(lambda trip, _: trip < 4, body, [0, tf.ones([2])])
        metadata = tf.RunMetadata()
        session.run(end, None, FULL, metadata)
    (device,) = metadata.step_stats.dev_stats
    names = [node.node_name for node in device.node_stats]
    counts = [names.count("while/" + name) for name in ("tanh", "NextIteration", "Switch", "Exit")]
    assert counts == [4, 4, 5, 1]
    for node in device.node_stats:
        if node.node_name == "while/tanh":
            (output,) = node.output
            assert [d.size for d in output.tensor_description.shape.dim] == [2]


def test_bodies_that_wait_for_each_other_are_told_with_their_callers():
    with tf.Graph().as_default(), tf.Session(config=ON_CPU) as session:
        there, back = (tf.FIFOQueue(1, [tf.float32], shapes=[[]]) for _ in range(2))

        @tf.function
        def asks(value):
            with tf.control_dependencies([there.enqueue(tf.exp(value))]):
                return tf.sqrt(back.dequeue())

        @tf.function
        def answers():
            taken = tf.square(there.dequeue())
            with tf.control_dependencies([back.enqueue(taken)]):
                return tf.identity(taken)

        fetches = [asks(tf.constant(1.0)), answers()]
        metadata = tf.RunMetadata()
        session.run(fetches, None, FULL, metadata)
    (device,) = metadata.step_stats.dev_stats
    names = [node.node_name.split("/")[-1] for node in device.node_stats]
    assert [names.count(name) for name in ("Exp", "Sqrt", "Square")] == [1, 1, 1]
    assert json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
