"""Checkpoints as files, and what savers can be told: as TensorFlow 1.15 answers."""

import os
import time

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden", "checkpoints")


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return str(tmp_path)


def two_variables(session):
    w = tf.get_variable("w", initializer=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.get_variable("b", initializer=7)
    session.run(tf.global_variables_initializer())
    return w, b


# ---- Reading


@pytest.mark.parametrize("name", ["sliced", "v1_sliced", "v1_shard-?????-of-00002"])
def test_checkpoint_reader__reads_both_kinds(name):
    reader = tf.train.NewCheckpointReader(os.path.join(GOLDEN, name))
    assert reader.get_variable_to_shape_map()["t"] == [4, 3]
    assert reader.get_variable_to_dtype_map()["t"] == tf.float32
    assert reader.has_tensor("t") and not reader.has_tensor("none")
    np.testing.assert_array_equal(reader.get_tensor(b"t"), np.arange(12).reshape(4, 3))
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        reader.get_tensor("none")


def test_checkpoint_reader__debug_string_and_strings():
    reader = tf.train.NewCheckpointReader(os.path.join(GOLDEN, "v1_shapes"))
    assert reader.debug_string() == (
        b"empty (DT_FLOAT) [0,3]\nscalar (DT_FLOAT) []\nwords (DT_STRING) [1,2]\n"
    )
    assert reader.get_tensor("words").tolist() == [[b"", b"one"]]
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for"):
        tf.train.NewCheckpointReader(os.path.join(GOLDEN, "nothing"))


def test_variables_are_listed_and_loaded(folder):
    with tf.Session() as session:
        two_variables(session)
        path = tf.train.Saver().save(session, folder + "/m", 5)
    for where in (folder, path):
        assert tf.train.list_variables(where) == [("b", []), ("w", [2, 3])]
        assert tf.contrib.framework.list_variables(where) == [("b", []), ("w", [2, 3])]
        assert tf.train.load_variable(where, "b:0") == 7
        assert tf.train.load_checkpoint(where).get_tensor("w").tolist() == [[1, 2, 3], [4, 5, 6]]
    os.mkdir("empty")
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in"):
        tf.train.load_checkpoint("empty")


@pytest.mark.parametrize(
    "name", ["m-5", "./m-5", "m-5.index", "m-5.data-00000-of-00001", "{}/m-5", "{}/m-5.index", ".",
             "{}", "{}/", "below/../m-5"]
)  # fmt: skip
def test_any_name_of_a_checkpoint_is_taken(folder, name):
    name = name.format(folder)
    os.mkdir("below")
    with tf.Session() as session:
        _, b = two_variables(session)
        saver = tf.train.Saver()
        saver.save(session, folder + "/m", 5)
        session.run(b.assign(0))
        saver.restore(session, name)
        assert session.run(b) == 7
    assert tf.train.list_variables(name) == [("b", []), ("w", [2, 3])]
    assert tf.train.load_variable(name, "b") == 7
    assert tf.train.NewCheckpointReader(name).get_tensor("b") == 7
    assert name.endswith("/") or tf.train.checkpoint_exists(name)
    tf.reset_default_graph()
    late = tf.get_variable("late", [], tf.int32)
    tf.train.init_from_checkpoint(name, {"b": late})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(late) == 7


def test_names_of_no_checkpoint_are_refused(folder):
    with tf.Session() as session:
        two_variables(session)
        saver = tf.train.Saver()
        for name in ("none", "none.index", "none.data-00000-of-00001"):
            with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint"):
                saver.restore(session, name)
            with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching"):
                tf.train.NewCheckpointReader(name)
        with pytest.raises(tf.errors.NotFoundError, match="has no checkpoint"):
            saver.restore(session, folder)


# ---- The list of checkpoints


def test_checkpoint_state__keeps_times(folder):
    paths, times = [folder + "/old"], [1.5, 2.5]
    tf.train.update_checkpoint_state(folder, folder + "/m-5", paths, "other", times, 7.0)
    with open("other") as file:
        assert file.read() == (
            f'model_checkpoint_path: "{folder}/m-5"\n'
            f'all_model_checkpoint_paths: "{folder}/old"\n'
            f'all_model_checkpoint_paths: "{folder}/m-5"\n'
            "all_model_checkpoint_timestamps: 1.5\n"
            "all_model_checkpoint_timestamps: 2.5\n"
            "last_preserved_timestamp: 7.0\n"
        )
    state = tf.train.get_checkpoint_state(folder, "other")
    assert state.all_model_checkpoint_timestamps == times
    assert state.last_preserved_timestamp == 7
    with pytest.raises(ValueError, match="Checkpoint timestamps, if provided, must match"):
        tf.train.update_checkpoint_state(folder, folder + "/m-5", paths, None, [1.5])


def test_checkpoint_state__of_relative_folders():
    state = tf.train.generate_checkpoint_state_proto("logs", "logs/m-1", ["logs/m-0"])
    assert state.model_checkpoint_path == "m-1"
    assert state.all_model_checkpoint_paths == ["m-0", "m-1"]


def test_relative_paths_are_kept(folder):
    with tf.Session() as session:
        two_variables(session)
        saver = tf.train.Saver(save_relative_paths=True)
        assert saver.save(session, folder + "/m") == folder + "/m"
        with open("checkpoint") as file:
            assert file.read() == 'model_checkpoint_path: "m"\nall_model_checkpoint_paths: "m"\n'
        assert saver.save(session, "below/r") == "below/r"  # one folder is made
        with pytest.raises(ValueError, match="Parent directory of a/b/m doesn't exist"):
            saver.save(session, "a/b/m")
    assert tf.train.latest_checkpoint("below") == "below/r"


# ---- Savers


def test_savers_of_the_first_kind(folder):
    with tf.Session() as session:
        w, b = two_variables(session)
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1, max_to_keep=2)
        paths = [saver.save(session, folder + "/m", i) for i in range(3)]
        kept = ["checkpoint", "m-1", "m-1.meta", "m-2", "m-2.meta"]
        assert sorted(os.listdir(folder)) == kept
        assert tf.train.checkpoint_exists(paths[2]) and not tf.train.checkpoint_exists(paths[0])
        assert tf.train.latest_checkpoint(folder) == paths[2]
        session.run([w.assign(w * 0), b.assign(0)])
        saver.restore(session, paths[1])
        assert session.run(b) == 7 and session.run(w)[1, 2] == 6
    ops = {op.name: op.type for op in tf.get_default_graph().get_operations()}
    assert ops["save/save"] == "SaveSlices" and ops["save/RestoreV2"] == "RestoreV2"
    assert ops["save/save/shapes_and_slices"] == "Const"


def test_restore_lists_all_that_does_not_fit(folder):
    with tf.Session() as session:
        two_variables(session)
        path = tf.train.Saver().save(session, folder + "/m")
    tf.reset_default_graph()
    with tf.Session() as session:
        tf.get_variable("net/w", [2, 3])
        tf.get_variable("b", [4], tf.int32)
        tf.get_variable("other", [1])
        saver = tf.train.Saver()
        with pytest.raises(tf.errors.NotFoundError) as caught:
            saver.restore(session, path)
        assert (
            "Key net/w not found in checkpoint; 2 missing: net/w (nearest: w), other; 1 of another "
            "shape: b is [4], there []; not asked for: w (checkpoint" in str(caught.value)
        )
        assert caught.value.op.name == "save/RestoreV2"
    # An imported saver, whose variables nobody knows
    tf.train.export_meta_graph("graph.meta", saver_def=saver.as_saver_def())
    tf.reset_default_graph()
    with tf.Session() as session:
        saver = tf.train.import_meta_graph("graph.meta")
        with pytest.raises(tf.errors.NotFoundError, match=r"net/w \(nearest: w\), other; 1 of ano"):
            saver.restore(session, path)


@pytest.mark.parametrize("use_resource", [False, True])
def test_restore_lists_all_other_shapes(folder, use_resource):
    with tf.Session() as session:
        two_variables(session)
        path = tf.train.Saver().save(session, folder + "/m")
    tf.reset_default_graph()
    with tf.Session() as session:
        tf.get_variable("w", [3, 2], use_resource=use_resource)
        tf.get_variable("b", [1], tf.int32, use_resource=use_resource)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.train.Saver().restore(session, path)
        assert "a mismatch between the current graph and the graph from the" in str(caught.value)
        assert (
            "Assign requires shapes of both tensors to match. lhs shape= [1] rhs shape= []; 2 of "
            "another shape: b is [1], there [], w is [3,2], there [2,3]" in str(caught.value)
        )


def test_savers_may_reshape(folder):
    with tf.Session() as session:
        w, _ = two_variables(session)
        path = tf.train.Saver().save(session, folder + "/m")
        flat = tf.get_variable("flat", [6])
        wrong = tf.train.Saver({"w": flat})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Restoring from checkpoint"):
            wrong.restore(session, path)
        tf.train.Saver({"w": flat}, reshape=True).restore(session, path)
        assert session.run(flat).tolist() == [1, 2, 3, 4, 5, 6]


SHARDED = """save/filename/input Const [] ''
save/filename PlaceholderWithDefault [save/filename/input] ''
save/Const PlaceholderWithDefault [save/filename] ''
save/StringJoin/inputs_1 Const [] ''
save/StringJoin StringJoin [save/Const save/StringJoin/inputs_1] ''
save/num_shards Const [] ''
save/ShardedFilename/shard Const [] '/device:CPU:0'
save/ShardedFilename ShardedFilename [save/StringJoin save/ShardedFilename/shard save/num_shards] '/device:CPU:0'
save/SaveV2/tensor_names Const [] '/device:CPU:0'
save/SaveV2/shape_and_slices Const [] '/device:CPU:0'
save/SaveV2 SaveV2 [save/ShardedFilename save/SaveV2/tensor_names save/SaveV2/shape_and_slices a] '/device:CPU:0'
save/control_dependency Identity [save/ShardedFilename ^save/SaveV2] '/device:CPU:0'
save/ShardedFilename_1/shard Const [] '/device:CPU:0'
save/ShardedFilename_1 ShardedFilename [save/StringJoin save/ShardedFilename_1/shard save/num_shards] '/device:CPU:0'
save/SaveV2_1/tensor_names Const [] '/device:CPU:0'
save/SaveV2_1/shape_and_slices Const [] '/device:CPU:0'
save/SaveV2_1 SaveV2 [save/ShardedFilename_1 save/SaveV2_1/tensor_names save/SaveV2_1/shape_and_slices b c/Read/ReadVariableOp] '/device:CPU:0'
save/control_dependency_1 Identity [save/ShardedFilename_1 ^save/SaveV2_1] '/device:CPU:0'
save/MergeV2Checkpoints/checkpoint_prefixes Pack [save/ShardedFilename save/ShardedFilename_1 ^save/control_dependency ^save/control_dependency_1] '/device:CPU:0'
save/MergeV2Checkpoints MergeV2Checkpoints [save/MergeV2Checkpoints/checkpoint_prefixes save/Const] '/device:CPU:0'
save/Identity Identity [save/Const ^save/MergeV2Checkpoints ^save/control_dependency ^save/control_dependency_1] '/device:CPU:0'
save/RestoreV2/tensor_names Const [] '/device:CPU:0'
save/RestoreV2/shape_and_slices Const [] '/device:CPU:0'
save/RestoreV2 RestoreV2 [save/Const save/RestoreV2/tensor_names save/RestoreV2/shape_and_slices] '/device:CPU:0'
save/Assign Assign [a save/RestoreV2] '/device:CPU:0'
save/restore_shard NoOp [^save/Assign] '/device:CPU:0'
save/RestoreV2_1/tensor_names Const [] '/device:CPU:0'
save/RestoreV2_1/shape_and_slices Const [] '/device:CPU:0'
save/RestoreV2_1 RestoreV2 [save/Const save/RestoreV2_1/tensor_names save/RestoreV2_1/shape_and_slices] '/device:CPU:0'
save/Assign_1 Assign [b save/RestoreV2_1] '/device:CPU:1'
save/Identity_1 Identity [save/RestoreV2_1:1] '/device:CPU:1'
save/AssignVariableOp AssignVariableOp [c save/Identity_1] '/device:CPU:1'
save/restore_shard_1 NoOp [^save/AssignVariableOp ^save/Assign_1] '/device:CPU:1'
save/restore_all/NoOp NoOp [^save/restore_shard] '/device:CPU:0'
save/restore_all/NoOp_1 NoOp [^save/restore_shard_1] '/device:CPU:1'
save/restore_all NoOp [^save/restore_all/NoOp ^save/restore_all/NoOp_1] ''"""  # fmt: skip  # noqa: E501


def two_devices(session):
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", [2, 3], initializer=tf.constant_initializer(1))
    with tf.device("/cpu:1"):
        b = tf.get_variable("b", [4], initializer=tf.constant_initializer(2))
        c = tf.get_variable("c", [1], initializer=tf.constant_initializer(3), use_resource=True)
    session.run(tf.global_variables_initializer())
    return a, b, c


def lose_and_restore(session, saver, path, variables):
    session.run([v.assign(v * 0) for v in variables])
    saver.restore(session, path)
    return [session.run(v).ravel()[-1] for v in variables]


def test_sharded_savers_add_the_nodes_of_tensorflow(folder):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        variables = two_devices(session)
        saver = tf.train.Saver(sharded=True)
        nodes = [n for n in tf.get_default_graph().as_graph_def().node if n.name[:5] == "save/"]
        shown = []
        for node in nodes:
            inputs = [i for i in node.input if i[0] != "^"]
            inputs += sorted(i for i in node.input if i[0] == "^")
            shown.append(f"{node.name} {node.op} [{' '.join(inputs)}] {node.device!r}")
        assert sorted(shown) == sorted(SHARDED.splitlines())
        assert saver.as_saver_def().sharded
        assert saver.save(session, "sh", write_meta_graph=False) == "sh"
        assert sorted(os.listdir(".")) == [
            "checkpoint", "sh.data-00000-of-00002", "sh.data-00001-of-00002", "sh.index",
        ]  # fmt: skip
        for name in ("sh", "sh.data-00001-of-00002", "."):
            assert lose_and_restore(session, saver, name, variables) == [1, 2, 3]
        plain = tf.train.Saver()
        assert lose_and_restore(session, plain, "sh", variables) == [1, 2, 3]


def test_sharded_savers_of_the_first_kind(folder):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        variables = two_devices(session)
        saver = tf.train.Saver(sharded=True, write_version=1, max_to_keep=1)
        for step in range(2):
            path = saver.save(session, folder + "/sv", step)
        assert path == folder + "/sv-1-?????-of-00002"
        assert sorted(os.listdir(".")) == [
            "checkpoint", "sv-1-00000-of-00002", "sv-1-00001-of-00002", "sv-1.meta",
        ]  # fmt: skip
        assert tf.train.latest_checkpoint(folder) == path
        assert lose_and_restore(session, saver, path, variables) == [1, 2, 3]
        assert lose_and_restore(session, saver, folder, variables) == [1, 2, 3]


def test_sharded_savers_with_one_device(folder):
    with tf.Session() as session:
        variables = two_variables(session)
        saver = tf.train.Saver(sharded=True)
        path = saver.save(session, "below/one", write_meta_graph=False)
        assert sorted(os.listdir("below")) == ["checkpoint", "one.data-00000-of-00001", "one.index"]
        assert lose_and_restore(session, saver, path, variables) == [6, 7]


SAVES_FOR_EVER = """
import rheos.v1 as tf
step = tf.get_variable("step", initializer=0)
large = tf.get_variable("large", initializer=tf.zeros([20000], tf.int32))
both = [step.assign_add(1), large.assign_add(tf.ones([20000], tf.int32))]
saver = tf.train.Saver(max_to_keep=1)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    newest = tf.train.latest_checkpoint(".")
    if newest:
        saver.restore(session, newest)
    for _ in range(100000):
        saved = session.run(both)[0]
        saver.save(session, "model", global_step=step)
        print(saved, flush=True)
"""


def test_a_kill_leaves_the_newest_checkpoint(folder):
    import random
    import subprocess
    import sys

    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    last = 0
    random.seed(1)
    for _ in range(int(os.environ.get("RHEOS_KILLS", "6")) // 3):
        program = subprocess.Popen(
            [sys.executable, "-c", SAVES_FOR_EVER], stdout=subprocess.PIPE, env=environment
        )
        program.stdout.readline()
        time.sleep(random.random() * 0.3)
        program.kill()
        shown = program.stdout.read().split()
        program.wait()
        done = int(shown[-1]) if shown else last + 1
        newest = tf.train.latest_checkpoint(".")
        found = int(newest.rpartition("-")[2])
        assert found in (done, done + 1)
        assert tf.train.load_variable(newest, "step") == found
        assert (tf.train.load_variable(newest, "large") == found).all()
        last = found


def test_saver_def__names_the_nodes(folder):
    with tf.Session() as session:
        w, b = two_variables(session)
        saver = tf.train.Saver(max_to_keep=3, keep_checkpoint_every_n_hours=2, name="keep")
        saver_def = saver.as_saver_def()
        assert saver_def.filename_tensor_name == "keep/Const:0"
        assert saver_def.save_tensor_name == "keep/control_dependency:0"
        assert saver_def.restore_op_name == "keep/restore_all"
        assert saver_def.max_to_keep == 3 and saver_def.version == tf.train.SaverDef.V2
        assert saver.to_proto("keep").restore_op_name == "restore_all"
        assert saver.to_proto("other") is None
        again = tf.train.Saver.from_proto(saver.to_proto("keep"), "keep")
        path = again.save(session, folder + "/m")
        session.run(b.assign(0))
        tf.train.Saver(saver_def=saver_def).restore(session, path)
        assert session.run(b) == 7
    assert tf.train.Saver([w], filename="there").saver_def.max_to_keep == 5


def test_savers_take_over_checkpoints(folder):
    with tf.Session() as session:
        two_variables(session)
        saver = tf.train.Saver(max_to_keep=2)
        paths = [saver.save(session, folder + "/m", i) for i in range(2)]
        other = tf.train.Saver(max_to_keep=2)
        other.recover_last_checkpoints([*paths, folder + "/none"])
        assert other.last_checkpoints == paths
        other.save(session, folder + "/m", 2)
        assert not tf.train.checkpoint_exists(paths[0])
        other.set_last_checkpoints([paths[1]])
        assert other.last_checkpoints == [paths[1]]
        with pytest.raises(AssertionError):
            other.set_last_checkpoints("m")
        assert len(tf.train.get_checkpoint_mtimes([paths[1], folder + "/none"])) == 1


def test_savers_that_cannot_be(folder):
    with tf.Session() as session:
        w, b = two_variables(session)
        with pytest.raises(ValueError, match="At least two variables have the same name: w"):
            tf.train.Saver([w, w])
        with pytest.raises(ValueError, match="The same saveable will be restored with two names"):
            tf.train.Saver({"a": w, "b": w})
        with pytest.raises(TypeError, match="Variable to save is not a Variable"):
            tf.train.Saver([tf.zeros([])])
        saver = tf.train.Saver()
        with pytest.raises(TypeError, match="'sess' must be a Session; x"):
            saver.save("x", folder + "/m")
        with pytest.raises(ValueError, match="'latest_filename' collides with 'save_path'"):
            saver.save(session, folder + "/checkpoint")
        path = saver.save(session, folder + "/m")
        with pytest.raises(tf.errors.NotFoundError, match="a Variable name or other graph key"):
            tf.train.Saver({"none": b}).restore(session, path)


def test_parts_are_saved_and_restored_by_ops(folder):
    raw = tf.raw_ops
    rows = tf.constant([[1.0, 2.0]])
    with tf.Session() as session:
        session.run(
            raw.SaveV2(prefix="v2", tensor_names=["t", "t"],
                       shape_and_slices=["2 2 0,1:-", "2 2 1,1:-"], tensors=[rows, rows * 3])
        )  # fmt: skip
        session.run(
            raw.SaveSlices(filename="v1", tensor_names=["t", "t"],
                           shapes_and_slices=["2 2 0,1:-", "2 2 1,1:-"], data=[rows, rows * 3])
        )  # fmt: skip
        for prefix in ("v1", "v2"):
            column = raw.RestoreV2(prefix=prefix, tensor_names=["t"],
                                   shape_and_slices=["2 2 -:1,1"], dtypes=[tf.float32])  # fmt: skip
            assert column[0].shape.as_list() == [2, 1]
            assert session.run(column[0]).tolist() == [[2], [6]]
        part = raw.RestoreSlice(file_pattern="v?", tensor_name="t", shape_and_slice="2 2 1,1:-",
                                dt=tf.float32)  # fmt: skip
        assert session.run(part).tolist() == [[3, 6]]
    with pytest.raises(tf.errors.InternalError, match="Extent in dimension 0 out of bounds"):
        raw.RestoreSlice(file_pattern="v1", tensor_name="t", shape_and_slice="2 2 2,1:-",
                         dt=tf.float32)  # fmt: skip


# ---- Initial values


def test_variables_start_with_values_of_a_checkpoint(folder):
    with tf.Session() as session:
        two_variables(session)
        path = tf.train.Saver().save(session, folder + "/m")
    tf.reset_default_graph()
    mine = tf.get_variable("mine", [2, 3])
    with tf.variable_scope("new"):
        b = tf.get_variable("b", [], tf.int32)
    other = tf.get_variable("other", [], initializer=tf.constant_initializer(4.0))
    tf.train.init_from_checkpoint(folder, {"w": mine, "/": "new/"})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([mine, b, other])[1:] == [7, 4]
        assert session.run(mine)[1, 1] == 5
    tf.train.init_from_checkpoint(path, {"b": "new/b"})
    with pytest.raises(ValueError, match=r"Shape of variable new/b:0 .* doesn't match with shape"):
        tf.train.init_from_checkpoint(path, {"w": "new/b"})
    with pytest.raises(ValueError, match="Tensor none is not found in"):
        tf.train.init_from_checkpoint(path, {"none": mine})
    with pytest.raises(ValueError, match="Assignment map with scope only name"):
        tf.train.init_from_checkpoint(path, {"/": "new"})
    with pytest.raises(ValueError, match="Tensor none is not found in .*\n.*2 missing: none, nor"):
        tf.train.init_from_checkpoint(path, {"none": mine, "nor": mine, "w": "new/b"})


# ---- Checkpoints by object, tables, builders


def test_checkpoints_of_objects_are_restored_by_name(folder):
    path = os.path.join(GOLDEN, "objects")
    assert tf.train.list_variables(path)[1:] == [
        ("model/b/.ATTRIBUTES/VARIABLE_VALUE", [3]),
        ("model/w/.ATTRIBUTES/VARIABLE_VALUE", [2, 3]),
        ("step/.ATTRIBUTES/VARIABLE_VALUE", []),
    ]
    w = tf.get_variable("layer/kernel", [2, 3])
    b = tf.get_variable("layer/bias", [3])
    renamed = tf.get_variable("renamed", [], tf.int64, initializer=tf.zeros_initializer())
    with tf.Session() as session:
        saver = tf.train.Saver({"layer/kernel": w, "layer/bias": b, "step": renamed})
        for _ in range(2):
            session.run(tf.global_variables_initializer())
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(w), np.arange(6).reshape(2, 3))
            assert session.run([renamed])[0] == 7 and session.run(b).tolist() == [1, 2, 3]
        with pytest.raises(tf.errors.NotFoundError, match="none are named renamed"):
            tf.train.Saver().restore(session, path)


def test_tables_are_saved_and_restored(folder):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="tab")
    tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="left", checkpoint=False)
    v = tf.Variable(0.0, name="v")
    saver = tf.train.Saver()
    found = table.lookup(tf.constant(["a", "b", "z"]))
    with tf.Session() as session:
        saver.restore(session, os.path.join(GOLDEN, "table"))
        assert session.run(v) == 1.0 and session.run(found).tolist() == [5, 6, -1]
        session.run(table.insert(tf.constant(["z"]), tf.constant([9], tf.int64)))
        path = saver.save(session, folder + "/m")
    assert tf.train.list_variables(path) == [("tab-keys", [3]), ("tab-values", [3]), ("v", [])]
    with tf.Session() as session:  # a table of its own, and nodes that the meta graph names
        saver.restore(session, path)
        assert session.run(found).tolist() == [5, 6, 9]
    tf.reset_default_graph()
    saver = tf.train.import_meta_graph(path + ".meta")
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run("v:0") == 1.0


@pytest.mark.parametrize("version", [1, 2])
def test_tables_are_saved_in_shards(folder, version):
    with tf.device("/cpu:0"):
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="tab")
    v = tf.Variable(3.0, name="v")
    saver = tf.train.Saver(sharded=True, write_version=version)
    found = table.lookup(tf.constant(["a", "b"]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.insert(tf.constant(["a"]), tf.constant([5], tf.int64)))
        path = saver.save(session, folder + "/m")
    assert tf.train.list_variables(path) == [("tab-keys", [1]), ("tab-values", [1]), ("v", [])]
    assert sum("-of-00002" in name for name in os.listdir(folder)) == 2
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run(found).tolist() == [5, -1] and session.run(v) == 3.0


def test_of_tables_with_one_name_the_last_is_saved(folder):
    for value in 1, 2:
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, value)
    with pytest.warns(UserWarning, match="'MutableHashTable' is the name of two objects"):
        saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(table.insert(tf.constant(["z"]), tf.constant([9], tf.int64)))
        path = saver.save(session, folder + "/m")
    assert tf.train.load_variable(path, "MutableHashTable-values").tolist() == [9]


def test_a_builder_adds_the_nodes(folder):
    from rheos.ops.state.saveables import BaseSaverBuilder, SaveableObject, SaveSpec

    class Doubled(SaveableObject):
        """Saves twice the variable."""

        def __init__(self, variable, name):
            super().__init__(variable, [SaveSpec(variable * 2.0, "", name)], name)

        def restore(self, restored_tensors, restored_shapes):
            return self.op.assign(restored_tensors[0] / 2.0)

    class Builder(BaseSaverBuilder):
        def save_op(self, filename_tensor, saveables):
            return super().save_op(filename_tensor, saveables[::-1])

    w = tf.Variable([1.0, 2.0], name="w")
    b = tf.Variable([[3.0]], name="b")
    saver = tf.train.Saver([Doubled(w, "twice"), b], builder=Builder())
    assert saver.saver_def.version == 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, folder + "/m")
        assert tf.train.load_variable(path, "twice").tolist() == [2.0, 4.0]
        session.run([w.assign([0.0, 0.0]), b.assign([[0.0]])])
        saver.restore(session, path)
        assert session.run(w).tolist() == [1.0, 2.0] and session.run(b).tolist() == [[3.0]]
        saver = tf.train.Saver([Doubled(w, "twice")], write_version=1)
        first = saver.save(session, folder + "/old")
        assert tf.train.load_variable(first, "twice").tolist() == [2.0, 4.0]


def test_a_saver_of_nothing_still_writes_the_graph(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant(1, name="c")
        saver = tf.train.Saver(allow_empty=True)
        assert saver.save(session, str(tmp_path / "m"), global_step=7) is None
        assert saver.save(session, str(tmp_path / "n"), write_meta_graph=False) is None
        assert [path.name for path in tmp_path.iterdir()] == ["m-7.meta"]
        assert saver.last_checkpoints == [] and tf.train.latest_checkpoint(str(tmp_path)) is None
    with tf.Graph().as_default() as graph:
        assert tf.train.import_meta_graph(str(tmp_path / "m-7.meta")) is None
        assert [op.name for op in graph.get_operations()] == ["c"]


def test_a_list_of_checkpoints_that_names_none_is_refused(tmp_path):
    (tmp_path / "checkpoint").write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from"):
        tf.train.get_checkpoint_state(str(tmp_path))
