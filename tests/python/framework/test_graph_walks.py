"""tf.contrib.graph_editor: walks, choices and copies, as TensorFlow 1.15 makes them."""

import pytest
import rheos.v1 as tf

ge = tf.contrib.graph_editor


def names(ones):
    return sorted(one.name for one in ones)


@pytest.fixture
def parts():
    """e = ((a + b) a)^2."""
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    c = tf.add(a, b, name="c")
    d = tf.multiply(c, a, name="d")
    return {"a": a, "b": b, "c": c, "d": d, "e": tf.square(d, name="e")}


def test_walks_go_both_ways(parts):
    a, c, d, e = (parts[name] for name in "acde")
    back, forth = ge.get_backward_walk_ops, ge.get_forward_walk_ops
    assert names(back(e)) == list("abcde") and names(back([e.op], inclusive=False)) == list("abcd")
    assert names(back([e], stop_at_ts=[c])) == list("ade")
    assert names(back([d], within_ops=[d.op, c.op])) == list("cd")
    assert names(back(e, within_ops_fn=lambda op: op.name != "c")) == list("ade")
    assert names(forth(a)) == list("cde") and names(forth(c, inclusive=False)) == ["e"]
    assert names(forth([c.op])) == list("cde")
    assert names(ge.get_walks_intersection_ops([a], [d])) == ["c", "d"]
    assert names(ge.get_walks_union_ops([c], [d])) == list("abcde")
    with tf.control_dependencies([e]):
        late = tf.no_op("late")
    assert names(back(late, control_inputs=True)) == [*"abcde", "late"]
    waiting = ge.ControlOutputs(tf.get_default_graph())
    assert names(forth(d, control_outputs=waiting)) == ["e", "late"]
    assert back(late) == [late]


def test_operations_and_tensors_are_chosen(parts):
    graph = tf.get_default_graph()
    c, d, e = (parts[name] for name in "cde")
    assert names(ge.select_ops("^[cd]$", graph=graph)) == ["c", "d"]
    assert names(ge.select_ts("^[cd]:0", c, graph=graph)) == ["c:0", "d:0"]
    assert names(ge.filter_ts_from_regex(graph, "^[cd]:0")) == ["c:0", "d:0"]
    kept = ge.filter_ts([c.op, d.op, e.op], positive_filter=lambda t: t.name != "d:0")
    assert names(kept) == ["a:0", "b:0", "c:0", "e:0"]
    assert names(ge.filter_ops(graph, lambda op: op.type == "Const")) == ["a", "b"]
    assert names(ge.get_consuming_ops(c)) == ["d"] and names(ge.get_generating_ops([c])) == ["c"]
    with pytest.raises(TypeError):
        ge.filter_ts([c, d], None)
    with pytest.raises(ValueError, match="graph"):
        ge.select_ops("c")
    view = ge.sgv([c.op, d.op])
    assert [names(view.ops), names(view.inputs), names(view.outputs)] == [
        ["c", "d"], ["a:0", "b:0"], ["d:0"],
    ]  # fmt: skip
    assert view.find_op_by_name("c") is c.op and names(ge.sgv("^c$", graph=graph).ops) == ["c"]


def test_copies_take_other_tensors(parts, sess):
    a, c, d, e = (parts[name] for name in "acde")
    f = tf.constant(10.0, name="f")
    copied, info = ge.copy_with_input_replacements(ge.sgv([c.op, d.op]), {a: f})
    assert names(copied.ops) == ["c_1", "d_1"] and info.transformed(d).name == "d_1:0"
    assert info.original(info.transformed(d)) is d
    assert sess.run([info.transformed(d), d]) == [120.0, 3.0]
    replaced = ge.graph_replace(e, {c: f})
    assert replaced.name == "e_1:0" and sess.run([replaced, e]) == [100.0, 9.0]
    assert sess.run(ge.graph_replace({"e": e, "d": [d]}, {a: f})) == {"e": 14400.0, "d": [120.0]}
    copied, info = ge.copy_with_input_replacements(
        ge.sgv([c.op]), {a: f}, dst_scope="other", src_scope=""
    )
    assert names(copied.ops) == ["other/c"]
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(parts["b"], {f: a})
