"""Datasets saved in files, loaded from there, and kept by snapshots: TensorFlow's files."""

import os
import pathlib
import resource
import shutil
import signal

import numpy as np
import pytest
import rheos as tf
from rheos.pipelines.traced import TracedFunction

SAVED = pathlib.Path("tests/golden/datasets/files/saved")
ELEMENTS = [(n, str(n).encode()) for n in range(5)]
KINDS = [("plain", None, None), ("gzip", "GZIP", None), ("shards", None, lambda x, _: x % 3)]


def numbers(count=5):
    return tf.data.Dataset.range(count).map(lambda x: (x, tf.strings.as_string(x)))


def all_of(dataset):
    return [tuple(one) for one in dataset.as_numpy_iterator()]


def by_turns(shards):
    return shards.interleave(lambda shard: shard, cycle_length=2)


@pytest.mark.parametrize(("name", "compression", "shard_func"), KINDS)
def test_a_dataset_that_tensorflow_saved_is_loaded(name, compression, shard_func):
    loaded = tf.data.Dataset.load(str(SAVED / name), compression=compression)
    assert sorted(all_of(loaded)) == ELEMENTS
    assert loaded.cardinality().numpy() == 5
    assert loaded.element_spec == numbers().element_spec


@pytest.mark.parametrize(("name", "compression", "shard_func"), KINDS)
def test_a_dataset_is_saved_and_loaded(name, compression, shard_func, tmp_path):
    numbers().save(str(tmp_path), compression, shard_func)
    loaded = tf.data.Dataset.load(str(tmp_path), compression=compression, reader_func=by_turns)
    golden = tf.data.Dataset.load(str(SAVED / name), compression=compression, reader_func=by_turns)
    assert all_of(loaded) == all_of(golden)
    shards = [sorted(p.name for p in f.glob("*/*.shard")) for f in (tmp_path, SAVED / name)]
    assert shards[0] == shards[1]
    assert (tmp_path / "dataset_spec.pb").read_bytes() == (
        SAVED / name / "dataset_spec.pb"
    ).read_bytes()


def test_saving_again_replaces_what_was_saved(tmp_path):
    numbers(5).save(str(tmp_path))
    numbers(3).save(str(tmp_path))
    assert all_of(tf.data.Dataset.load(str(tmp_path))) == ELEMENTS[:3]


def test_what_was_saved_differently_is_refused(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(str(tmp_path))
    numbers().save(str(tmp_path))
    other = (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string))
    with pytest.raises(tf.errors.InvalidArgumentError, match="other dtypes"):
        all_of(tf.data.Dataset.load(str(tmp_path), other))
    with pytest.raises(tf.errors.DataLossError):
        all_of(tf.data.Dataset.load(str(tmp_path), compression="GZIP"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression must be"):
        numbers().save(str(tmp_path), compression="ZSTD")
    (tmp_path / "snapshot.metadata").unlink()
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(str(tmp_path))


def test_a_snapshot_of_tensorflow_is_read():
    (folder,) = (SAVED / "snapshot").glob("*/snapshot.metadata")
    spec = numbers().element_spec
    kept = tf.data.Dataset.load(str(folder.parent), spec, compression="AUTO")
    assert sorted(all_of(kept)) == ELEMENTS


@pytest.mark.parametrize("compression", ["AUTO", "GZIP", None])
def test_a_snapshot_is_written_once_and_read_then(compression, tmp_path):
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    def kept(scale=1, count=4):
        base = tf.data.Dataset.range(count).map(lambda x: tf.py_function(note, [x], tf.int64))
        return base.map(lambda x: x * scale).snapshot(str(tmp_path), compression)

    assert list(kept().as_numpy_iterator()) == [0, 1, 2, 3]
    assert sorted(calls) == [0, 1, 2, 3]
    dataset = kept()
    assert list(dataset.as_numpy_iterator()) == [0, 1, 2, 3]
    written = len(calls)
    assert list(dataset.repeat(2).as_numpy_iterator()) == [0, 1, 2, 3] * 2
    assert len(calls) == written
    assert list(kept(10).as_numpy_iterator()) == [0, 10, 20, 30]  # another pipeline
    assert list(kept(1, 2).as_numpy_iterator()) == [0, 1]


def test_a_snapshot_that_was_given_up_is_written_by_the_next(tmp_path):
    def kept():
        return tf.data.Dataset.range(4).snapshot(str(tmp_path))

    iterator = iter(kept())
    assert next(iterator).numpy() == 0
    assert list(kept().as_numpy_iterator()) == [0, 1, 2, 3]  # leaves it to the other
    del iterator
    for _ in range(2):
        assert list(kept().as_numpy_iterator()) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["plain", "gzip", "snapshot"])
def test_damaged_files_are_refused_or_read(name, tmp_path):
    source = SAVED / name
    if name == "snapshot":
        (source,) = (f.parent for f in source.glob("*/snapshot.metadata"))
    compression = {"plain": None, "gzip": "GZIP", "snapshot": "AUTO"}[name]
    spec = numbers().element_spec
    folder = tmp_path / "damaged"
    shutil.copytree(source, folder)
    refused = 0
    for path in [folder / "snapshot.metadata", *folder.glob("*/*/*.snapshot")]:
        sound = path.read_bytes()
        for at in range(0, len(sound), 3):
            for damaged in (sound[:at], sound[:at] + bytes([sound[at] ^ 0x55]) + sound[at + 1 :]):
                path.write_bytes(damaged)
                try:
                    all_of(tf.data.Dataset.load(str(folder), spec, compression=compression))
                except tf.errors.OpError:
                    refused += 1
        path.write_bytes(sound)
    assert refused > 50
    assert sorted(all_of(tf.data.Dataset.load(str(folder), spec, compression))) == ELEMENTS


def test_in_a_graph_saving_is_an_operation(tmp_path):
    with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.data.Dataset.range(3).save(str(tmp_path)))
    assert list(tf.data.Dataset.load(str(tmp_path)).as_numpy_iterator()) == [0, 1, 2]


def test_the_op_that_saves_while_it_is_gone_over_gives_the_elements(tmp_path):
    dataset = numbers()
    function = TracedFunction(lambda x, _: x % 2, "Dataset.save", dataset.element_spec)
    saved = dataset._derive(
        "SaveDatasetV2",
        tf.constant(str(tmp_path)),
        function.captured,
        shard_func=function.name,
        use_shard_func=True,
        Tshard_func_args=[],
    )
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(str(tmp_path), dataset.element_spec)
    assert all_of(saved) == ELEMENTS
    assert sorted(all_of(tf.data.Dataset.load(str(tmp_path), dataset.element_spec))) == ELEMENTS
    assert len(list(tmp_path.glob("*/*.shard"))) == 2


def numbers_of(dataset, most=None):
    """The first numbers of the elements, and the errors that came instead of some."""
    got, errors = [], []
    iterator = iter(dataset)
    for _ in range(1000):
        try:
            got.append(int(next(iterator)[0]))
        except StopIteration:
            break
        except tf.errors.ResourceExhaustedError as error:
            errors.append(error)
            if len(errors) == most:
                break
    return got, errors


def files_below(folder):
    return {
        os.path.join(where, name): os.path.getsize(os.path.join(where, name))
        for where, _, names in os.walk(folder)
        for name in names
    }


@pytest.fixture
def small_files():
    """A function that sets how large a file may become; None is without a limit."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(size):
        most = resource.RLIM_INFINITY if size is None else size
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    yield limit
    limit(None)
    signal.signal(signal.SIGXFSZ, before)


KEPT = {
    "cache": lambda dataset, path: dataset.cache(path + "/cache"),
    "snapshot": lambda dataset, path: dataset.snapshot(
        path, compression=None, shard_func=lambda x: np.int64(0)
    ),
    "packed snapshot": lambda dataset, path: dataset.snapshot(
        path, compression="SNAPPY", shard_func=lambda x: np.int64(0)
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_a_full_disk_cut_is_not_taken_for_whole(name, tmp_path, small_files):
    path = str(tmp_path)
    kept = tf.data.Dataset.range(30).map(lambda x: tf.random.stateless_uniform([8192], [x, 0]))
    kept = KEPT[name](kept.map(lambda x: tf.concat([[1.0], x], 0)), path)
    small_files(1 << 18)
    got, errors = numbers_of(kept, most=3)
    assert 0 < len(got) < 31 and len(errors) == 3  # blocks that are packed are written late
    assert "cannot write" in str(errors[-1])
    small_files(None)
    left = files_below(path)
    assert all(size < 1000 for size in left.values()), left  # a full disk has its space back
    assert [len(numbers_of(kept)[0]) for _ in range(2)] == [30, 30]
    assert not numbers_of(kept)[1]


def test_an_iterator_goes_on_to_fail_where_its_cache_lacks_an_element(tmp_path, small_files):
    dataset = tf.data.Dataset.range(30).map(lambda x: tf.fill([8192], x))
    kept = dataset.cache(str(tmp_path / "cache"))
    iterator = iter(kept)
    small_files(1 << 18)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        for _ in range(30):
            next(iterator)
    small_files(None)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        next(iterator)
    assert not files_below(tmp_path)


def test_saving_to_a_full_disk_fails_and_leaves_nothing_to_load(tmp_path, small_files):
    path = str(tmp_path / "saved")
    dataset = tf.data.Dataset.range(30).map(lambda x: tf.fill([8192], x))
    small_files(1 << 18)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        dataset.save(path)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        writer = tf.data.experimental.TFRecordWriter(str(tmp_path / "records"))
        writer.write(dataset.map(tf.io.serialize_tensor))
    small_files(None)
    with pytest.raises(tf.errors.FailedPreconditionError):
        list(tf.data.Dataset.load(path))
    assert sum(files_below(path).values()) < 1000
    dataset.save(path)
    assert [int(x[0]) for x in tf.data.Dataset.load(path)] == list(range(30))


@pytest.mark.parametrize("name", KEPT)
def test_a_function_that_fails_once_does_not_make_files_that_lack_an_element(name, tmp_path):
    v = tf.Variable(0)

    def fails_at_three(x):
        return tf.cond(
            (x == 3) & (v.assign_add(1) < 5),
            lambda: tf.fill([4], tf.debugging.check_numerics(np.float32("nan"), "three")),
            lambda: tf.fill([4], tf.cast(x, tf.float32)),
        )

    kept = KEPT[name](tf.data.Dataset.range(6).map(fails_at_three), str(tmp_path))
    iterator = iter(kept)
    with pytest.raises(tf.errors.InvalidArgumentError):
        for _ in range(6):
            next(iterator)
    del iterator
    assert numbers_of(kept)[0] == list(range(6))


# ---- Elements that are variants


def values_of(element):
    def one(part):
        if isinstance(part, tf.SparseTensor):
            parts = part.indices, part.values, part.dense_shape
            return tuple(np.asarray(p).tolist() for p in parts)
        if isinstance(part, tf.data.experimental.Optional):
            return values_of(part.get_value()) if bool(part.has_value()) else None
        return part.to_list() if hasattr(part, "to_list") else np.asarray(part).tolist()

    return [one(part) for part in tf.nest.flatten(element)]


VARIANTS = SAVED.parent / "variants"
MADE = [
    [[[1], [2, 3]], [b"ab", b"c"], ([[1]], [1.5], [2]), [[b"ab", b"c"]], None, 0],
    [[[4], []], [], ([[0]], [2.5], [2]), [[]], None, 1],
]


def test_elements_of_variants_that_tensorflow_saved_are_loaded(tmp_path):
    loaded = tf.data.Dataset.load(str(VARIANTS / "saved"))
    assert list(map(values_of, loaded)) == MADE
    shutil.copytree(VARIANTS, tmp_path / "copy")
    never = loaded.filter(lambda *_: False)
    cached = never.cache(str(tmp_path / "copy" / "cache"))
    assert list(map(values_of, cached)) == MADE


def test_the_files_of_elements_of_variants_are_tensorflows(tmp_path):
    loaded = tf.data.Dataset.load(str(VARIANTS / "saved"))
    loaded.save(str(tmp_path / "saved"))
    list(loaded.cache(str(tmp_path / "cache")))
    assert list(map(values_of, tf.data.Dataset.load(str(tmp_path / "saved")))) == MADE
    cached = loaded.filter(lambda *_: False).cache(str(tmp_path / "cache"))
    assert list(map(values_of, cached)) == MADE
    ours, theirs = (
        tf.data.Dataset.load(str(folder), loaded.element_spec).element_spec
        for folder in (tmp_path / "saved", VARIANTS / "saved")
    )
    assert ours == theirs
    assert (tmp_path / "saved/dataset_spec.pb").stat().st_size == (
        VARIANTS / "saved/dataset_spec.pb"
    ).stat().st_size


@pytest.mark.parametrize("compression", [None, "GZIP", "AUTO"])
def test_a_snapshot_keeps_elements_of_variants(compression, tmp_path):
    loaded = tf.data.Dataset.load(str(VARIANTS / "saved"))
    kept = loaded.snapshot(str(tmp_path / "kept"), compression=compression)
    assert [list(map(values_of, kept)) for _ in range(2)] == [MADE, MADE]


def test_what_files_cannot_have_is_refused(tmp_path):
    windows = tf.data.Dataset.range(4).window(2)
    with pytest.raises(tf.errors.UnimplementedError, match="a variant that holds a Dataset"):
        windows.save(str(tmp_path / "saved"))
