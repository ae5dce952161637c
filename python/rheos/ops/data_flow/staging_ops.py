"""Barriers, staging areas and RecordInput: what hands tensors on beside queues."""

from rheos.framework import dtypes as _dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, name_scope
from rheos.framework.op_call import apply_op, op1, op_list, op_results
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.data_flow.data_flow_ops import _dtype_list, _shape_list
from rheos.ops.flow.control_flow_ops import no_op


class Barrier:
    """Completes elements whose components, of dtypes `types`, are inserted one by one under keys.

    shapes: of the components, fully known, or None.
    """

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        self._types = _dtype_list(types)
        if shapes is None:
            self._shapes = [TensorShape(None) for _ in self._types]
        else:
            self._shapes = _shape_list(shapes)
            if len(self._shapes) != len(self._types):
                raise ValueError(
                    f"Expected {len(self._types)} shapes, one for each component, got "
                    f"{len(self._shapes)}"
                )
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(
                        f"Empty tensors are not supported, but received shape '{shape}' at "
                        f"index {i}"
                    )
        self._barrier_ref = op1(
            "Barrier",
            name,
            component_types=self._types,
            shapes=self._shapes if shapes is not None else [],
            shared_name=shared_name,
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self):
        """The tensor that stands for the barrier."""
        return self._barrier_ref

    @property
    def name(self):
        """The name of the op that makes the barrier."""
        return self._barrier_ref.op.name

    def insert_many(self, component_index, keys, values, name=None):
        """An operation that gives the elements of `keys` one component: the rows of `values`."""
        name = name or f"{self._name}_BarrierInsertMany"
        return apply_op(
            "BarrierInsertMany",
            name,
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
        )

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """(indices, keys, values) of complete elements as rows, when there are so many."""
        name = name or f"{self._name}_BarrierTakeMany"
        taken = op_results(
            "BarrierTakeMany",
            name,
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=timeout,
        )
        op = taken[0].op
        rows = TensorShape([None if allow_small_batch else constant_value(op.inputs[1])])
        op.outputs[0].set_shape(rows)
        op.outputs[1].set_shape(rows)
        for output, shape in zip(op.outputs[2:], self._shapes):
            output.set_shape(rows.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation after which no new keys come in; if it cancels, nothing more at all."""
        return apply_op(
            "BarrierClose",
            name or f"{self._name}_BarrierClose",
            self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
        )

    def ready_size(self, name=None):
        """How many elements are complete, an int32 tensor."""
        return op1("BarrierReadySize", name or f"{self._name}_BarrierReadySize", self._barrier_ref)

    def incomplete_size(self, name=None):
        """How many elements are not complete, an int32 tensor."""
        name = name or f"{self._name}_BarrierIncompleteSize"
        return op1("BarrierIncompleteSize", name, self._barrier_ref)


class BaseStagingArea:
    """What both staging areas have: tuples of tensors that wait, at most `capacity` of them and at
    most `memory_limit` bytes (0: without limit)."""

    def __init__(
        self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0
    ):
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = [_dtypes.as_dtype(dtype) for dtype in dtypes]
        if shapes is not None:
            if len(shapes) != len(dtypes):
                raise ValueError("StagingArea shapes must be the same length as dtypes")
            self._shapes = [TensorShape(shape) for shape in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in dtypes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = list(names) if names is not None else None
        self._capacity = capacity
        self._memory_limit = memory_limit
        with name_scope(f"{self._name}_root"):
            self._coloc_op = no_op()

    @property
    def name(self):
        """The name of the area, which its ops share."""
        return self._name

    @property
    def dtypes(self):
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components, as far as they are known."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    @property
    def capacity(self):
        """How many tuples fit; 0: any number."""
        return self._capacity

    @property
    def memory_limit(self):
        """How many bytes fit; 0: any number."""
        return self._memory_limit

    def _attrs(self, **more):
        return dict(
            more,
            shared_name=self._name,
            capacity=self._capacity,
            memory_limit=self._memory_limit,
        )

    def _chosen(self, vals, indices):
        """The values to put and the places of their components."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals) <= set(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. Dictionary: "
                    f"({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            indices = [i for i, name in enumerate(self._names) if name in vals]
            return [vals[self._names[i]] for i in indices], indices
        if self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        if indices is None:
            raise ValueError("Indices must be supplied when inserting a list of tensors")
        if not isinstance(vals, (list, tuple)):
            return [vals], [0]
        if len(indices) != len(vals):
            raise ValueError(
                f"Number of indices '{len(indices)}' doesn't match number of values '{len(vals)}'"
            )
        return vals, indices

    def _check_put(self, vals, indices=None):
        vals, indices = self._chosen(vals, indices)
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        tensors = []
        for value, i in zip(vals, indices):
            if value.dtype != self._dtypes[i]:
                raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{self._dtypes[i]}'")
            value.shape.assert_is_compatible_with(self._shapes[i])
            tensors.append(convert_to_tensor(value, self._dtypes[i], name=f"component_{i}"))
        return tensors, list(indices)

    def _moved(self, tensors):
        """The tensors, on the device that is asked for now."""
        if no_op().device != self._coloc_op.device:
            return [array_ops.identity(tensor) for tensor in tensors]
        return list(tensors)

    def _returned(self, tensors, indices):
        tensors = self._moved(tensors)
        for output, i in zip(tensors, indices):
            output.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: tensor for tensor, i in zip(tensors, indices)}
        return tensors

    @staticmethod
    def _scope_values(vals):
        if isinstance(vals, dict):
            return list(vals.values())
        return list(vals) if isinstance(vals, (list, tuple)) else [vals]


class StagingArea(BaseStagingArea):
    """Tuples, first in first out: put() waits for room, get() for a tuple."""

    def put(self, values, name=None):
        """An operation that puts a tuple (a list, or a dict where there are names) in."""
        with name_scope(name, f"{self._name}_put", self._scope_values(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._check_put(values, list(range(len(values))))
            with colocate_with(self._coloc_op):
                return apply_op("Stage", scope, tensors, **self._attrs())

    def get(self, name=None):
        """The first tuple, which leaves the area, when there is one."""
        with colocate_with(self._coloc_op):
            name = name or f"{self._name}_get"
            taken = op_list("Unstage", name, **self._attrs(dtypes=self._dtypes))
        return self._returned(taken, range(len(self._dtypes)))

    def peek(self, index, name=None):
        """Tuple number `index`, which stays in the area, when there is one."""
        with colocate_with(self._coloc_op):
            name = name or f"{self._name}_peek"
            seen = op_list("StagePeek", name, index, **self._attrs(dtypes=self._dtypes))
        return self._returned(seen, range(len(self._dtypes)))

    def size(self, name=None):
        """How many tuples there are, an int32 tensor."""
        name = name or f"{self._name}_size"
        return op1("StageSize", name, **self._attrs(dtypes=self._dtypes))

    def clear(self, name=None):
        """An operation that removes all tuples."""
        name = name or f"{self._name}_clear"
        return apply_op("StageClear", name, **self._attrs(dtypes=self._dtypes))


class MapStagingArea(BaseStagingArea):
    """Tuples under int64 keys, whose components may be put and taken in parts.

    ordered: whether get() without a key gives the tuple of the least key.
    """

    def __init__(
        self,
        dtypes,
        shapes=None,
        names=None,
        shared_name=None,
        ordered=False,
        capacity=0,
        memory_limit=0,
    ):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ordered = ordered
        self._prefix = "OrderedMap" if ordered else "Map"

    def put(self, key, vals, indices=None, name=None):
        """An operation that puts values under `key`: a dict, or a list with `indices`."""
        with name_scope(name, f"{self._name}_put", self._scope_values(vals)) as scope:
            tensors, indices = self._check_put(vals, indices)
            with colocate_with(self._coloc_op):
                attrs = self._attrs(dtypes=self._dtypes)
                return apply_op(f"{self._prefix}Stage", scope, key, indices, tensors, **attrs)

    def _places(self, indices):
        if indices is None:
            return list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(i, str) for i in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided '{indices}', but this Staging Area was not created "
                    "with names."
                )
            for name in indices:
                if name not in self._names:
                    raise ValueError(
                        f"Named index '{name}' not in Staging Area names '{self._names}'"
                    )
            return [self._names.index(name) for name in indices]
        if all(isinstance(i, int) for i in indices):
            return list(indices)
        raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")

    def _taken(self, base, name, key, indices):
        places = self._places(indices)
        attrs = self._attrs(dtypes=[self._dtypes[i] for i in places])
        inputs = [places] if key is None else [key, places]
        with colocate_with(self._coloc_op):
            outputs = op_list(f"{self._prefix}{base}", name, *inputs, **attrs)
        if key is None:
            (key,), outputs = self._moved(outputs[:1]), outputs[1:]
        return key, self._returned(outputs, places)

    def peek(self, key, indices=None, name=None):
        """The values under `key`, which stay, when they are there."""
        return self._taken("Peek", name or f"{self._name}_pop", key, indices)[1]

    def get(self, key=None, indices=None, name=None):
        """(key, values) of the tuple under `key`, or of any; the values leave the area."""
        if key is None:
            return self._taken("UnstageNoKey", name or f"{self._name}_get_nokey", None, indices)
        return self._taken("Unstage", name or f"{self._name}_get", key, indices)

    def size(self, name=None):
        """How many tuples are complete, an int32 tensor."""
        name = name or f"{self._name}_size"
        return op1(f"{self._prefix}Size", name, **self._attrs(dtypes=self._dtypes))

    def incomplete_size(self, name=None):
        """How many tuples are not complete, an int32 tensor."""
        name = name or f"{self._name}_incomplete_size"
        return op1(f"{self._prefix}IncompleteSize", name, **self._attrs(dtypes=self._dtypes))

    def clear(self, name=None):
        """An operation that removes all tuples."""
        name = name or f"{self._name}_clear"
        return apply_op(f"{self._prefix}Clear", name, **self._attrs(dtypes=self._dtypes))


# By TFRecordCompressionType.
_COMPRESSIONS = {0: "", 1: "ZLIB", 2: "GZIP"}


class RecordInput:
    """Batches of records of the files that match a pattern, in random order, for ever."""

    def __init__(
        self,
        file_pattern,
        batch_size=1,
        buffer_size=1,
        parallelism=1,
        shift_ratio=0,
        seed=0,
        name=None,
        batches=None,
        compression_type=None,
    ):
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches = batches
        self._name = name
        self._attrs = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "batch_size": self._batch_size,
            "file_random_seed": seed,
            "compression_type": _COMPRESSIONS.get(compression_type, compression_type),
        }

    def get_yield_op(self):
        """The next records, a string vector; with `batches`, so many lists of string scalars."""
        records = op1("RecordInput", self._name, **self._attrs)
        if self._batches is None:
            return records
        with name_scope(self._name):
            split = array_ops.split(records, self._batch_size, 0)
            scalars = [array_ops.reshape(record, []) for record in split]
        return [scalars[i :: self._batches] for i in range(self._batches)]
