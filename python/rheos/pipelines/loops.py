"""`for` over datasets in converted functions, a reduction, which a `break` ends early, and over
the iterators of datasets, a loop of the graph."""

from rheos.autograph.loops import register_for_loop
from rheos.autograph.state import filled_like
from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.ops.array import constant_op
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.pipelines.base import DatasetBase
from rheos.pipelines.optional import Optional, get_next_as_optional
from rheos.pipelines.owned import OwnedIterator


def _is_dataset(value):
    return isinstance(value, DatasetBase) and not get_default_graph()._is_eager


def _reduced_while(dataset, before, step, goes_on):
    """The same as long as `goes_on()` holds after a step; one element more is taken."""

    def scanned(state, element):
        values, goes = state

        def run():
            return (*step(values, element), convert_to_tensor(goes_on()))

        after = control_flow_ops.cond(goes, run, lambda: (*values, goes), strict=True)
        return (tuple(after[:-1]), after[-1]), (tuple(after[:-1]), goes)

    steps = dataset.scan((before, constant_op.constant(True)), scanned)
    steps = steps.take_while(lambda values, goes: goes)
    return steps.reduce(before, lambda last, new: new[0])


def _for_dataset(dataset, goes_on, body, loop):
    loop_over(dataset, nest.map_leaves(filled_like, dataset.element_spec), goes_on, body, loop)


def loop_over(dataset, element, goes_on, body, loop):
    """A loop over a dataset. element: what its variable is before the first trip."""

    def fold(before, step):
        if goes_on is None:
            return dataset.reduce(before, step)
        return _reduced_while(dataset, before, step, goes_on)

    loop.fold(element, body, fold)


register_for_loop(_is_dataset, _for_dataset)


# ---- Over iterators


def _is_iterator(value):
    return isinstance(value, OwnedIterator) and not get_default_graph()._is_eager


def _for_iterator(iterator, goes_on, body, loop):
    """Takes the next element at the end of a trip, and only if there is to be another."""
    spec = iterator.element_spec

    def following():
        return get_next_as_optional(iterator)._variant_tensor

    def test(variant):
        there = Optional(variant, spec).has_value()
        return there if goes_on is None else math_ops.logical_and(there, goes_on())

    def step(variant):
        body(Optional(variant, spec).get_value())
        if goes_on is None:
            return (following(),)
        nothing = Optional.empty(spec)._variant_tensor
        return (control_flow_ops.cond(convert_to_tensor(goes_on()), following, lambda: nothing),)

    first = following()
    loop.add(test, (first,), step, lambda: Optional(first, spec).has_value())


register_for_loop(_is_iterator, _for_iterator)
