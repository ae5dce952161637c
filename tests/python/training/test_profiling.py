"""tf.profiler.experimental, and the graphs that tf.summary.trace_export() writes."""

import glob

import pytest
import rheos.v2
from rheos.framework import messages

tf = rheos.v2
profiler = tf.profiler.experimental


@tf.function
def doubled(x):
    return x * 2.0


def profile_in(folder):
    (path,) = glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    with open(path, "rb") as file:
        (plane,) = messages.XSpace.FromString(file.read()).planes
    names = {number: one.name for number, one in plane.event_metadata.items()}
    stats = {number: one.name for number, one in plane.stat_metadata.items()}
    return [
        (names[e.metadata_id], e, {stats[s.metadata_id]: s.int64_value for s in e.stats})
        for line in plane.lines
        for e in line.events
    ]


def test_calls_and_named_parts_are_recorded(tmp_path):
    doubled(tf.constant(1.0))
    with profiler.Profile(str(tmp_path)):
        for step in range(2):
            with profiler.Trace("train", step_num=step):
                doubled(tf.constant(1.0))
    doubled(tf.constant(1.0))
    events = profile_in(tmp_path)
    calls = [e for name, e, _ in events if "doubled" in name]
    steps = [(e, stats) for name, e, stats in events if name == "train"]
    assert len(calls) == 2 and [stats["step_num"] for _, stats in steps] == [0, 1]
    for call, (step, _) in zip(calls, steps):
        assert step.offset_ps <= call.offset_ps
        assert call.offset_ps + call.duration_ps <= step.offset_ps + step.duration_ps


def test_profiles_do_not_nest_nor_end_twice(tmp_path):
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    with pytest.raises(tf.errors.UnavailableError):
        profiler.stop()
    assert not list(tmp_path.iterdir())
    with profiler.Trace("nobody records it"):
        pass


def test_functions_are_fast_again_behind_a_profile(tmp_path):
    doubled(tf.constant(1.0))
    with profiler.Profile(str(tmp_path)):
        assert float(doubled(tf.constant(3.0))) == 6.0
    assert float(doubled(tf.constant(4.0))) == 8.0


def events_in(folder):
    (path,) = glob.glob(f"{folder}/events.*")
    records = tf.data.TFRecordDataset(path)
    return [messages.Event.FromString(record.numpy()) for record in records]


def test_graphs_of_called_functions_are_written(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    doubled(tf.constant(1.0))
    tf.summary.trace_on()
    doubled(tf.constant(1.0))
    with writer.as_default():
        tf.summary.trace_export("mine", step=3)
    writer.close()
    event = events_in(tmp_path)[-1]
    (value,) = event.summary.value
    assert (event.step, value.tag) == (3, "mine")
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    metadata = messages.RunMetadata.FromString(value.tensor.string_val[0])
    (graphs,) = metadata.function_graphs
    assert "Mul" in {node.op for node in graphs.pre_optimization_graph.node}
    with pytest.raises(ValueError, match="Must enable trace"):
        tf.summary.trace_export("again", step=4)


def test_a_trace_can_be_dropped(tmp_path):
    tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
    doubled(tf.constant(1.0))
    tf.summary.trace_off()
    tf.summary.trace_off()
    assert not list(tmp_path.iterdir())
    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=str(tmp_path / "p"))
    doubled(tf.constant(1.0))
    with tf.summary.create_file_writer(str(tmp_path / "s")).as_default():
        tf.summary.trace_export("both", step=0)
    assert any("doubled" in name for name, _, _ in profile_in(tmp_path / "p"))


def test_settings_of_the_optimizer_of_graphs_are_kept():
    optimizer = tf.config.optimizer
    assert optimizer.get_jit() == ""
    optimizer.set_jit(True)
    assert optimizer.get_jit() == "autoclustering"
    optimizer.set_jit(False)
    with pytest.raises(ValueError):
        optimizer.set_jit("sometimes")
    optimizer.set_experimental_options({"constant_folding": False})
    assert optimizer.get_experimental_options()["constant_folding"] is False
    assert (tf.errors.OK, tf.errors.ABORTED) == (0, 10)
