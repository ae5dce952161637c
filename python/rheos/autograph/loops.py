"""What `while` and `for` become: loops of Python, or of the graph if they depend on a tensor."""

from rheos.autograph.branches import scalar_condition
from rheos.autograph.builtins import Together
from rheos.autograph.state import (
    LOOPS,
    check_same,
    filled_like,
    is_value,
    placeholder_like,
    scratch,
    spec_of,
    to_tensors,
)
from rheos.autograph.values import UndefinedReturn, is_symbolic, is_undefined
from rheos.framework import errors, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, constant_op
from rheos.ops.flow import control_flow_ops, flow_structures
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor


def loop_options(
    parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None
):
    """The options that a program sets for a loop."""
    return {
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "maximum_iterations": maximum_iterations,
        "shape_invariants": shape_invariants,
    }


class Loop:
    """A loop of the graph: its test and body, and the variables that it changes.

    symbols: their names. options: what loop_options() gives, or None. before_body, a function of
    the values that the graph's loop has of its own (`counters`), sets what the body needs of them;
    it returns their next values.
    """

    def __init__(self, body, get_state, set_state, symbols, options):
        self._body = body
        self._get_state = get_state or (lambda: ())
        self._set_state = set_state or (lambda values: None)
        self._symbols = symbols
        self._options = options or {}
        self._specs = {}  # {number of a variable: what the first trip gives it}

    def add(self, test, counters=(), step=None, at_least_once=None):
        """Adds the loop, and sets the variables to what they are after it.

        test: a function of the counters. step: a function of the counters that runs the body and
        gives their next values. at_least_once: a function that says whether there is a trip.
        """
        step = step or self._step_without_counters
        with LOOPS.entered():
            before, needed = self._filled(counters, step)
            if needed and at_least_once is not None:
                before = self._with_a_trip(before, needed, at_least_once())
            variables = (tuple(counters), tuple(before), constant_op.constant(0))
            after = control_flow_ops.while_loop(
                lambda c, v, z: self._test(test, c, v),
                lambda c, v, z: (*self._trip(step, c, v), z),
                variables,
                shape_invariants=self._invariants(variables),
                return_same_structure=True,
                **self._passed_on(),
            )
        self._set_state(after[1])
        return after[0]

    def fold(self, element, body, fold):
        """A loop that something else makes: `fold(before, step)` gives the variables after it.

        element: an item that stands for all. step: a function of the variables, as a tuple, and of
        an item, that gives the next ones.
        """

        def trip(item):
            body(item)
            return ()

        def step(values, item):
            # A fold finds the shapes that all steps have in common.
            return (values[0], *self._trip(trip, (item,), values[1:], keeps_shapes=False)[1])

        with LOOPS.entered():
            before, _ = self._filled((element,), trip)
            before = (constant_op.constant(0), *before)
            after = fold(
                flow_structures.without_arrays(before),
                lambda values, item: flow_structures.without_arrays(
                    step(flow_structures.with_arrays(before, values), item)
                ),
            )
        self._set_state(tuple(flow_structures.with_arrays(before, after)[1:]))

    def _step_without_counters(self):
        self._body()
        return ()

    def _test(self, test, counters, values):
        self._set_state(values)
        result = test(*counters)
        if not is_symbolic(result):
            result = convert_to_tensor(bool(result))
        return scalar_condition(result, "loop")

    def _trip(self, step, counters, values, keeps_shapes=True):
        self._set_state(values)
        following = step(*counters)
        left = self._get_state()
        places = ("before the loop", "after one iteration")
        for name, value, new in zip(self._symbols, values, left):
            if new is None:
                raise ValueError(f"'{name}' is None at the end of the iteration.")
            self._check_value(name, new, "at the end of the iteration")
            shape_too = keeps_shapes and not self._has_invariant
            check_same(name, value, new, places, shape_too=shape_too)
        return tuple(following), tuple(map(to_tensors, left))

    def _check_value(self, name, value, where):
        if is_undefined(value):
            raise ValueError(f"'{name}' has no value {where}")
        if not is_value(value):
            raise TypeError(f"'{name}' is {value!r} {where}, which a loop of the graph cannot keep")

    # Variables without a value

    def _filled(self, counters, step):
        """The variables before the loop, zeros where one has no value, and the names of these."""
        before = list(self._get_state())
        missing = [i for i, v in enumerate(before) if v is None or is_undefined(v)]
        if missing:
            with scratch():
                left = self._left_by_a_trip(counters, step, missing)
            self._set_state(tuple(before))
            for index in missing:
                if is_undefined(left[index]) or not is_value_or_spec(left[index]):
                    self._refuse(index, before[index])
                before[index] = filled_like(left[index])
                self._specs[index] = left[index]
        for name, value in zip(self._symbols, before):
            self._check_value(name, value, "before the loop")
        returned = [i for i in missing if isinstance(self._get_state()[i], UndefinedReturn)]
        return list(map(to_tensors, before)), [
            self._symbols[i] for i in missing if i not in returned
        ]

    def _left_by_a_trip(self, counters, step, missing):
        """What a trip leaves, as spec_of() tells it, whatever values the variables have before."""
        now = enumerate(self._get_state())
        self._set_state(tuple(v if i in missing else placeholder_like(v) for i, v in now))
        try:
            step(*counters)
        except (UnboundLocalError, AttributeError, KeyError, IndexError) as error:
            symbols = [self._symbols[index] for index in missing]
            if not isinstance(error, UnboundLocalError) and all(map(str.isidentifier, symbols)):
                raise
            names = ", ".join(f"'{name}'" for name in symbols)
            raise ValueError(f"{names} must be defined before the loop: {error}") from error
        return [spec_of(value) for value in self._get_state()]

    def _refuse(self, index, value):
        name = self._symbols[index]
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop")
        if isinstance(value, UndefinedReturn):
            raise NotImplementedError(
                "a return statement in this loop of the graph gives what such a loop cannot keep"
            )
        raise ValueError(f"'{name}' must be defined before the loop")

    def _with_a_trip(self, before, names, is_entered):
        """The variables before the loop, which fail where it is not entered."""
        text = ", ".join(names)
        check = control_flow_ops.Assert(
            is_entered, [f"loop must iterate at least once to initialize {text}"]
        )
        with control_dependencies([check]):
            return [
                nest.map_leaves(array_ops.identity, value) if name in names else value
                for name, value in zip(self._symbols, before)
            ]

    # Options

    @property
    def _has_invariant(self):
        return self._options.get("shape_invariants") is not None

    def _passed_on(self):
        passed = {}
        for name in ("parallel_iterations", "swap_memory", "maximum_iterations"):
            if self._options.get(name) is not None:
                passed[name] = self._options[name]
        return passed

    def _invariants(self, variables):
        if not self._has_invariant and not self._specs:
            return None
        options = self._options.get("shape_invariants") or ()
        wanted = {id(value): shape for value, shape in options}
        shapes = []
        for index, value in enumerate(self._get_state()):
            if id(value) in wanted:
                shapes.append(nest.map_leaves(TensorShape, [wanted[id(value)]])[0])
            else:
                shapes.append(_shapes_of(self._specs.get(index, variables[1][index])))
        return (_shapes_of(variables[0]), tuple(shapes), TensorShape([]))


def is_value_or_spec(value):
    """Whether what a trip leaves, as spec_of() tells it, can be a loop's variable."""
    return value is not None and all(
        hasattr(leaf, "dtype") or nest.is_composite(leaf) for leaf in nest.flatten(value)
    )


def _shapes_of(structure):
    def shape(leaf):
        return TensorShape([]) if isinstance(leaf, TensorArray) else leaf.shape

    return nest.map_leaves(shape, structure)


def while_stmt(test, body, get_state, set_state, symbols, options):
    """`while test(): body()`; of a test that gives a tensor, a loop of the graph."""
    while True:
        with scratch():
            first = test()
        if is_symbolic(first):  # the graph goes on from here
            loop = Loop(body, get_state, set_state, symbols, options)
            loop.add(test, at_least_once=lambda: scalar_condition(test(), "loop"))
            return
        if not first:
            return
        body()


def for_stmt(items, goes_on, body, get_state, set_state, symbols, options):
    """`for item in items: body(item)`, as long as `goes_on()` holds if that is not None."""
    for kind, make in FOR_LOOPS:
        if kind(items):
            make(items, goes_on, body, Loop(body, get_state, set_state, symbols, options))
            return
    _python_for(items, goes_on, body)


def _python_for(items, goes_on, body):
    if goes_on is None:
        for item in items:
            body(item)
        return
    if _goes_on(goes_on):
        for item in items:
            body(item)
            if not _goes_on(goes_on):
                break


def _goes_on(goes_on):
    result = goes_on()
    try:
        return bool(result)
    except errors.OperatorNotAllowedInGraphError as error:
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in "
            "Python for loops. Did you intend to make it a TF loop?"
        ) from error


def _counted(count, goes_on, body, loop, item_of):
    """A loop over the numbers below `count`; item_of gives the item of a number."""

    def test(index):
        below = math_ops.less(index, count)
        if goes_on is None:
            return below
        more = goes_on()
        return math_ops.logical_and(below, more) if is_symbolic(more) or not more else below

    def step(index):
        body(item_of(index))
        return (index + 1,)

    zero = constant_op.constant(0, dtype=count.dtype.base_dtype)
    loop.add(test, (zero,), step, lambda: math_ops.greater(count, 0))


def _for_range(tensor, goes_on, body, loop):
    """Over the numbers of a Range operation, which are not made."""
    start, limit, delta = tensor.op.inputs

    def test(number):
        zero = constant_op.constant(0, dtype=delta.dtype)
        up = math_ops.logical_and(delta > zero, number < limit)
        down = math_ops.logical_and(delta < zero, number > limit)
        inside = math_ops.logical_or(up, down)
        if goes_on is None:
            return inside
        more = goes_on()
        return math_ops.logical_and(inside, more) if is_symbolic(more) or not more else inside

    def step(number):
        body(number)
        return (number + delta,)

    loop.add(test, (start,), step, lambda: test(start))


def _for_tensor(tensor, goes_on, body, loop):
    """Over the rows of a tensor."""
    tensor = convert_to_tensor(tensor)
    if tensor.shape.ndims == 0:
        raise ValueError("a loop over a tensor needs one with dimensions, not a scalar")
    shape = tensor.shape
    count = shape.dims[0].value if shape.dims is not None else None
    count = array_ops.shape(tensor)[0] if count is None else constant_op.constant(count)
    array = TensorArray(tensor.dtype.base_dtype, size=count, clear_after_read=False)
    array = array.unstack(tensor)

    def item(index):
        row = array.read(index)
        if shape.dims is not None:
            row.set_shape(shape[1:])
        return row

    _counted(count, goes_on, body, loop, item)


def _for_array(array, goes_on, body, loop):
    """Over the elements of an array of tensors."""
    _counted(array.size(), goes_on, body, loop, array.read)


def _for_ragged(ragged, goes_on, body, loop):
    """Over the rows of a ragged tensor."""
    _counted(ragged.nrows(), goes_on, body, loop, lambda index: ragged[index])


def _for_together(together, goes_on, body, loop):
    """Over tensors at once; before their rows the numbers of enumerate(), if it is one."""
    counts = [array_ops.shape(tensor)[0] for tensor in together.tensors]
    count = counts[0] if len(counts) == 1 else math_ops.reduce_min(array_ops.stack(counts))
    arrays = [
        TensorArray(t.dtype.base_dtype, size=c, clear_after_read=False).unstack(t)
        for t, c in zip(together.tensors, counts)
    ]

    def item(index):
        rows = tuple(array.read(index) for array in arrays)
        return rows if together.start is None else (index + together.start, *rows)

    _counted(count, goes_on, body, loop, item)


def _is_tensor(value):
    return isinstance(value, (Tensor, _VariableBase)) and is_symbolic(value)


def _is_range(value):
    return isinstance(value, Tensor) and not value._is_eager and value.op.type == "Range"


# (which values, how a loop over them is made), of which the first that fits is taken.
FOR_LOOPS = [
    (_is_range, _for_range),
    (_is_tensor, _for_tensor),
    (lambda value: isinstance(value, TensorArray), _for_array),
    (lambda value: isinstance(value, RaggedTensor), _for_ragged),
    (lambda value: isinstance(value, Together), _for_together),
]


def register_for_loop(kind, make):
    """Adds a kind of values that `for` goes over in the graph.

    kind: a predicate. make: a function of the value, of a function that says whether to go on (or
    None), of the body, and of the Loop.
    """
    FOR_LOOPS.insert(0, (kind, make))
