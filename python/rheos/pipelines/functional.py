"""Datasets that call functions of the program."""

import os

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.eager import executing_eagerly
from rheos.framework.op_call import op1, op_list
from rheos.pipelines import nest, structure
from rheos.pipelines.base import DatasetSpec
from rheos.pipelines.traced import TracedFunction

AUTOTUNE = -1


def call_attrs(function, name="f"):
    """The attributes of an operation that calls a function."""
    return {name: function.name, "Targuments": [tensor.dtype for tensor in function.captured]}


def is_deterministic(dataset, deterministic):
    """Whether elements have to come in their order, by an argument or by options."""
    if deterministic is None:
        deterministic = dataset.options().deterministic
    return deterministic is None or bool(deterministic)


def map_dataset(dataset, map_func, num_parallel_calls=None, deterministic=None):
    """Dataset.map."""
    function = TracedFunction(map_func, "Dataset.map", dataset.element_spec)
    attrs = call_attrs(function)
    attrs["preserve_cardinality"] = dataset._map_preserves_cardinality
    if num_parallel_calls is None:
        return dataset._derive("MapDataset", function.captured, spec=function.output_spec, **attrs)
    return dataset._derive(
        "ParallelMapDataset",
        function.captured,
        convert_to_tensor(num_parallel_calls, dtypes.int32, name="num_parallel_calls"),
        spec=function.output_spec,
        sloppy=not is_deterministic(dataset, deterministic),
        **attrs,
    )


def dataset_function(map_func, transformation, dataset):
    """A function that gives a dataset of each element, and the spec of that one's elements."""
    function = TracedFunction(map_func, transformation, dataset.element_spec)
    if not isinstance(function.output_spec, DatasetSpec):
        raise TypeError(
            f"The function for {transformation} must return a Dataset object, it returned "
            f"{function.output_spec}."
        )
    return function, function.output_spec.element_spec


def flat_map(dataset, map_func):
    """Dataset.flat_map."""
    function, spec = dataset_function(map_func, "Dataset.flat_map", dataset)
    return dataset._derive("FlatMapDataset", function.captured, spec=spec, **call_attrs(function))


def _cycle_length(cycle_length, num_parallel_calls):
    if cycle_length is not None and cycle_length != AUTOTUNE:
        return cycle_length
    cores = os.cpu_count() or 1
    if num_parallel_calls is None or num_parallel_calls == AUTOTUNE:
        return cores
    return min(num_parallel_calls, cores)


def interleave(
    dataset, map_func, cycle_length, block_length, num_parallel_calls=None, deterministic=None
):
    """Dataset.interleave."""
    function, spec = dataset_function(map_func, "Dataset.interleave", dataset)
    length = _cycle_length(cycle_length, num_parallel_calls)
    inputs = [
        function.captured,
        convert_to_tensor(length, dtypes.int64, name="cycle_length"),
        convert_to_tensor(
            1 if block_length is None else block_length, dtypes.int64, name="block_length"
        ),
    ]
    attrs = call_attrs(function)
    if num_parallel_calls is None:
        return dataset._derive("InterleaveDataset", *inputs, spec=spec, **attrs)
    return dataset._derive(
        "ParallelInterleaveDatasetV2",
        *inputs,
        convert_to_tensor(num_parallel_calls, dtypes.int64, name="num_parallel_calls"),
        spec=spec,
        sloppy=not is_deterministic(dataset, deterministic),
        **attrs,
    )


def parallel_interleave(
    dataset,
    map_func,
    cycle_length,
    block_length=1,
    sloppy=False,
    buffer_output_elements=None,
    prefetch_input_elements=None,
):
    """tf.data.experimental.parallel_interleave of a dataset."""
    function, spec = dataset_function(
        map_func, "tf.data.experimental.parallel_interleave()", dataset
    )
    if buffer_output_elements is None:
        buffer_output_elements = 2 * block_length
    if prefetch_input_elements is None:
        prefetch_input_elements = 2 * cycle_length
    int64 = dtypes.int64
    return dataset._derive(
        "ParallelInterleaveDataset",
        function.captured,
        convert_to_tensor(cycle_length, int64, name="cycle_length"),
        convert_to_tensor(block_length, int64, name="block_length"),
        convert_to_tensor(sloppy, dtypes.bool, name="sloppy"),
        convert_to_tensor(buffer_output_elements, int64, name="buffer_output_elements"),
        convert_to_tensor(prefetch_input_elements, int64, name="prefetch_input_elements"),
        spec=spec,
        **call_attrs(function),
    )


def filter_dataset(dataset, predicate, op_type="FilterDataset", method="filter"):
    """Dataset.filter and Dataset.take_while."""
    function = TracedFunction(predicate, f"Dataset.{method}", dataset.element_spec)
    if not function.returns_scalar(dtypes.bool):
        raise ValueError(
            f"`predicate` of Dataset.{method} must return a scalar bool tensor, it returns "
            f"{function.output_spec}."
        )
    return dataset._derive(op_type, function.captured, **call_attrs(function, "predicate"))


# ---- Functions with a state


def _check_state(transformation, state_spec, new_spec):
    """TypeError unless a state may follow the other, shapes aside."""
    try:
        nest.assert_same_structure(state_spec, new_spec)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"The function for {transformation} must return a state of the structure of the "
            f"initial one: {state_spec}, it returned {new_spec}."
        ) from error
    for one, other in zip(nest.flatten(state_spec), nest.flatten_up_to(state_spec, new_spec)):
        same = type(one) is type(other)
        if not same or one._to_legacy_output_types() != other._to_legacy_output_types():
            raise TypeError(
                f"The element types for the new state must match the initial state. Expected "
                f"{state_spec}; got {new_spec}: for {transformation}"
            )


def trace_with_state(func, transformation, state_spec, element_spec, state_of):
    """A function of a state and an element, and the spec that all states have.

    state_of(output_spec): the spec of the new state within what the function returns. It is called
    again with less known of the shapes until all states have the spec.
    """
    while True:
        function = TracedFunction(func, transformation, (state_spec, element_spec), finish=False)
        new_spec = state_of(function.output_spec)
        _check_state(transformation, state_spec, new_spec)
        wider = structure.most_specific(state_spec, new_spec)
        if wider == state_spec:
            function.finish()
            return function, state_spec
        state_spec = wider


def _initial(state):
    state = structure.normalize_element(state)
    spec = structure.element_spec(state)
    return spec, structure.to_tensor_list(spec, state)


def scan(dataset, initial_state, scan_func):
    """Dataset.scan."""
    spec, tensors = _initial(initial_state)

    def state_of(returned):
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise TypeError(
                "The scan function must return a pair comprising the new state and the output "
                f"value, it returned {returned}."
            )
        return returned[0]

    function, _ = trace_with_state(scan_func, "Dataset.scan", spec, dataset.element_spec, state_of)
    return dataset._derive(
        "ScanDataset",
        tensors,
        function.captured,
        spec=function.output_spec[1],
        Tstate=[tensor.dtype for tensor in tensors],
        preserve_cardinality=True,
        **call_attrs(function),
    )


def reduce(dataset, initial_state, reduce_func):
    """Dataset.reduce."""
    spec, tensors = _initial(initial_state)
    function, spec = trace_with_state(
        reduce_func, "Dataset.reduce", spec, dataset.element_spec, lambda returned: returned
    )
    results = op_list(
        "ReduceDataset",
        None,
        dataset._variant_tensor,
        tensors,
        function.captured,
        f=function.name,
        Tstate=[tensor.dtype for tensor in tensors],
        Targuments=[tensor.dtype for tensor in function.captured],
        output_types=structure.flat_types(spec),
        output_shapes=structure.flat_shapes(spec),
    )
    return structure.from_tensor_list(spec, results)


def as_text(tensor):
    """The string of an eager tensor as a str; other tensors as they are."""
    return tensor.numpy().decode() if executing_eagerly() else tensor


def explain(dataset, elements, seconds):
    """Dataset.explain."""
    return as_text(
        op1(
            "ExplainDataset",
            "explain",
            dataset._variant_tensor,
            convert_to_tensor(elements, dtypes.int64, name="max_elements"),
            convert_to_tensor(seconds, dtypes.float64, name="max_seconds"),
        )
    )


def single_element(dataset, name=None):
    """The only element of a dataset."""
    spec = dataset.element_spec
    results = op_list(
        "DatasetToSingleElement",
        name,
        dataset._variant_tensor,
        output_types=structure.flat_types(spec),
        output_shapes=structure.flat_shapes(spec),
    )
    return structure.from_tensor_list(spec, results)
