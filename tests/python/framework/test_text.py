"""Strings and lookup tables from Python. What is expected is what TensorFlow 1.15 answers."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(fetches, feed_dict)


def listed(array):
    return array.tolist()


# ---- Strings


def test_strings__joined_and_reduced():
    x = tf.constant([["a", "b"], ["c", "d"]])
    assert run(tf.string_join(["x", x], separator="-")).tolist()[1] == [b"x-c", b"x-d"]
    assert run(tf.reduce_join(x)) == b"abcd"
    assert listed(run(tf.reduce_join(x, 0))) == [b"ac", b"bd"]
    assert listed(run(tf.reduce_join(x, axis=[1], keep_dims=True))) == [[b"ab"], [b"cd"]]
    fed = tf.placeholder(tf.string)
    assert run(tf.reduce_join(fed, separator="."), {fed: [["a", "b"]]}) == b"a.b"


def test_strings__split_are_sparse():
    parts = tf.string_split(["a b", "", "c"])
    assert parts.indices.shape.as_list() == [None, 2]
    value = run(parts)
    assert isinstance(value, tf.SparseTensorValue)
    assert listed(value.indices) == [[0, 0], [0, 1], [2, 0]]
    assert listed(value.values) == [b"a", b"b", b"c"]
    assert listed(value.dense_shape) == [3, 2]
    assert listed(run(tf.strings.split(["a,b,c"], ",", maxsplit=1)).values) == [b"a", b"b,c"]


def test_strings__one_by_one():
    x = tf.constant([" Ab ", "h\u00e9"])
    assert listed(run(tf.string_strip(x))) == [b"Ab", "h\u00e9".encode()]
    assert listed(run(tf.strings.length(x, unit="UTF8_CHAR"))) == [4, 2]
    assert listed(run(tf.strings.upper(x, encoding="utf-8"))) == [b" AB ", "H\u00c9".encode()]
    assert listed(run(tf.strings.lower(x)))[0] == b" ab "
    assert listed(run(tf.substr(x, 1, 2, unit="UTF8_CHAR"))) == [b"Ab", "\u00e9".encode()]
    assert listed(run(tf.regex_replace(x, "[A-Z](.)", r"\1!"))) == [b" b! ", "h\u00e9".encode()]
    assert listed(run(tf.strings.regex_full_match(x, tf.constant("h.")))) == [False, True]
    assert run(tf.regex_replace("aa", "a", "b", replace_global=False)) == b"ba"


def test_strings__numbers_and_text():
    assert listed(run(tf.as_string([1.5, 2.25], precision=2))) == [b"1.50", b"2.25"]
    assert listed(run(tf.string_to_number(["1", "-2.5"]))) == [1.0, -2.5]
    assert run(tf.string_to_number("7", tf.int64)).dtype == np.int64
    text = tf.strings.format("{} and {}", (tf.constant([1, 2]), tf.constant("x")))
    assert run(text) == b'[1 2] and "x"'
    with pytest.raises(tf.errors.InvalidArgumentError, match="correctly convert string: x"):
        run(tf.string_to_number("x"))


def test_strings__hashes_are_tensorflows():
    fast = tf.string_to_hash_bucket_fast(["a", "b", "c", "d"], 10)
    assert listed(run(fast)) == [9, 2, 2, 5]
    strong = tf.string_to_hash_bucket_strong(["a"], 1000, key=[1, 2])
    assert 0 <= run(strong)[0] < 1000
    assert run(tf.decode_base64(tf.encode_base64("ab\xff"))) == "ab\xff".encode()


# ---- Tables


def test_table__static():
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    table = tf.lookup.StaticHashTable(init, -1)
    keys = tf.constant([["b", "z"]])
    found = table.lookup(keys)
    assert found.shape.as_list() == [1, 2] and found.dtype == tf.int64
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            session.run(found)
        session.run(tf.tables_initializer())
        assert listed(session.run(found)) == [[2, -1]]
        assert session.run(table.size()) == 2
        session.run(tf.tables_initializer())
    assert found.op.name == "hash_table_Lookup/LookupTableFindV2" or "Lookup" in found.op.name


def test_table__of_a_sparse_tensor_and_with_buckets():
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=3)
    ids = table.lookup(tf.string_split(["b a", "zz"]))
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        values = session.run(ids).values
        assert listed(values[:2]) == [1, 0] and 2 <= values[2] < 5
        assert session.run(table.size()) == 5


def test_table__from_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"a\tx\t1\r\nb\ty\t2\nc\tz\t3")
    ids = tf.contrib.lookup.index_table_from_file(str(path), key_column_index=1)
    words = tf.contrib.lookup.index_to_string_table_from_file(str(path), value_column_index=0)
    column = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 2), -1
    )
    fetches = [
        ids.lookup(tf.constant(["z", "q"])),
        words.lookup(tf.constant([1, 9], tf.int64)),
        column.lookup(tf.constant(["a", "c"])),
    ]
    assert [listed(x) for x in run(fetches)] == [[2, -1], [b"b", b"UNK"], [1, 3]]
    assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 3


@pytest.mark.parametrize(
    "text, key, value, more, error",
    [
        ("a\nb\n", 0, 1, {}, tf.errors.InvalidArgumentError),
        ("a\tx\n", 0, 1, {}, tf.errors.InvalidArgumentError),
        ("", -2, -1, {}, tf.errors.OutOfRangeError),
        ("a\nb\n", -2, -1, {"vocab_size": 3}, tf.errors.InvalidArgumentError),
        ("a\nb\n", -2, -1, {"delimiter": "ab"}, tf.errors.InvalidArgumentError),
        ("a\na\n", -2, -1, {}, tf.errors.FailedPreconditionError),
    ],
)
def test_table__bad_files(tmp_path, text, key, value, more, error):
    path = tmp_path / "words.txt"
    path.write_text(text)
    init = tf.lookup.TextFileInitializer(str(path), tf.string, key, tf.int64, value, **more)
    tf.lookup.StaticHashTable(init, -1)
    with pytest.raises(error):
        run(tf.no_op())


def test_table__mutable():
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.float32, [0.0, 0.5])
    insert = table.insert(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    remove = table.remove(["a"])
    found = table.lookup(tf.constant(["a", "z"]))
    keys, values = table.export()
    with tf.Session() as session:
        assert session.run(table.size()) == 0
        session.run(insert)
        assert listed(session.run(found)) == [[1.0, 2.0], [0.0, 0.5]]
        session.run(remove)
        assert listed(session.run(keys)) == [b"b"] and listed(session.run(values)) == [[3.0, 4.0]]
    with tf.Session() as session:  # each session has tables of its own
        assert session.run(table.size()) == 0


def test_table__dense():
    table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, -2)
    key = tf.placeholder(tf.int64, [1])
    with tf.Session() as session:
        session.run(table.insert(tf.constant([5, 6], tf.int64), tf.constant([50, 60], tf.int64)))
        assert listed(session.run(table.lookup(tf.constant([6, 7], tf.int64)))) == [60, -1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
            session.run(table.lookup(key), {key: [0]})


def test_table__dense_of_lookup():
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$")
    assert table.key_dtype == tf.string and table.name == "MutableDenseHashTable"
    assert len(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)) == 1
    with tf.Session() as session:
        session.run(table.insert_or_assign(["a", "b"], [1, 2]))
        session.run(table.insert(["a"], [3]))
        assert session.run(table.size()) == 2
        session.run(table.erase(["b"]))
        assert listed(session.run(table.lookup(tf.constant(["a", "b"])))) == [3, -1]


def test_table__old_handles_are_references():
    handle = tf.raw_ops.HashTable(key_dtype=tf.int64, value_dtype=tf.string)
    fill = tf.raw_ops.InitializeTable(
        table_handle=handle, keys=tf.constant([1], tf.int64), values=tf.constant(["one"])
    )
    found = tf.raw_ops.LookupTableFind(
        table_handle=handle, keys=tf.constant([1, 2], tf.int64), default_value=tf.constant("?")
    )
    with tf.Session() as session:
        session.run(fill)
        assert listed(session.run(found)) == [b"one", b"?"]


def test_table__wrong_handles_and_types_are_errors():
    variable = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[])
    table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    other = tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, shared_name="HashTableV2"
    )
    bad = [
        tf.raw_ops.LookupTableSizeV2(table_handle=variable),
        tf.raw_ops.ReadVariableOp(resource=table, dtype=tf.float32),
        tf.raw_ops.LookupTableSizeV2(table_handle=other),
        tf.raw_ops.LookupTableFindV2(
            table_handle=table, keys=tf.constant([1]), default_value=tf.constant(1, tf.int64)
        ),
        tf.raw_ops.LookupTableInsertV2(
            table_handle=other, keys=tf.constant(["a"]), values=tf.constant([1, 2], tf.int64)
        ),
        tf.raw_ops.LookupTableSizeV2(
            table_handle=tf.raw_ops.HashTableV2(key_dtype=tf.resource, value_dtype=tf.int64)
        ),
    ]
    with tf.Session() as session:
        session.run(tf.raw_ops.LookupTableSizeV2(table_handle=table))
        for tensor in bad:
            with pytest.raises(tf.errors.OpError):
                session.run(tensor)
