"""ExtensionTypes whose annotations name types, some of which are made later."""

import typing

import pytest
import rheos.v2

tf = rheos.v2
Base = tf.experimental.ExtensionType


class Pair(Base):
    several: typing.Tuple[typing.Union["Pair", "Node"], ...]
    one: "Node"


class Node(Base):
    after: typing.Optional["Node"]
    value: tf.Tensor


class Tree(Base):
    value: "tf.Tensor"
    children: typing.Mapping[str, "Tree"]


class Unknown(Base):
    field: "NobodyKnows"  # noqa: F821


def test_names_of_types_that_are_made_later():
    first = Node(None, [1.0, 2.0])
    second = Node(first, 3)
    pair = Pair((first, Pair((), second)), first)
    assert int(pair.several[1].one.value) == 3 and second.after.value.shape == [2]
    assert int(Tree(1, {"a": Tree(2, {})}).children["a"].value) == 2
    assert len(tf.nest.flatten(Pair((first, second), first), expand_composites=True)) == 4
    assert bool(first == Node(None, [1.0, 2.0]))

    @tf.function
    def traced(x):
        return Pair((), Node(x.one, x.one.value + 1.0))

    assert traced(pair).one.value.numpy().tolist() == [2, 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pair((1,), Node(None, 1)),
        lambda: Pair((), 1),
        lambda: Node(1, 2),
        lambda: Tree(1, {"a": 2}),
    ],
)
def test_what_does_not_fit_the_named_types(make):
    with pytest.raises(TypeError):
        make()


def test_a_name_that_nobody_knows():
    with pytest.raises(TypeError, match="field: Unsupported type annotation 'NobodyKnows'"):
        Unknown(1)
