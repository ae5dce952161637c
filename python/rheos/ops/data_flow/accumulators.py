"""Conditional accumulators: gradients of several workers add up until there are enough of them."""

from rheos.framework import dtypes as _dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import apply_op, op1, op_results
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array.cast_ops import cast
from rheos.ops.state.shared_names import shared_or_own


class ConditionalAccumulatorBase:
    """What both accumulators have.

    dtype, shape: of the gradients, as far as it is known; accumulator_ref: the tensor that stands
    for the accumulator.
    """

    _prefix = "Accumulator"

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = dtype
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = (
            "accumulator" if accumulator_ref._is_eager else accumulator_ref.op.name.split("/")[-1]
        )

    @property
    def accumulator_ref(self):
        """The tensor that stands for the accumulator."""
        return self._accumulator_ref

    @property
    def name(self):
        """The name of the op that makes the accumulator, without its scopes."""
        return self._name

    @property
    def dtype(self):
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name=None):
        """How many gradients were added since the last were taken, an int32 tensor."""
        name = name or f"{self._name}_NumAccumulated"
        return op1(f"{self._prefix}NumAccumulated", name, self._accumulator_ref)

    def set_global_step(self, new_global_step, name=None):
        """An operation after which gradients of steps before `new_global_step` are dropped."""
        step = cast(convert_to_tensor(new_global_step), _dtypes.int64)
        return apply_op(f"{self._prefix}SetGlobalStep", name, self._accumulator_ref, step)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up gradients, and gives their mean, or with reduction_type="SUM" their sum."""

    _prefix = "ResourceAccumulator"

    def __init__(
        self,
        dtype,
        shape=None,
        shared_name=None,
        name="conditional_accumulator",
        reduction_type="MEAN",
    ):
        handle = op1(
            "ResourceConditionalAccumulator",
            name,
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=shared_or_own(shared_name, "accumulator"),
            reduction_type=reduction_type,
        )
        super().__init__(_dtypes.as_dtype(dtype), shape, handle)

    def apply_grad(self, grad, local_step=0, name=None):
        """An operation that adds `grad`, unless `local_step` is before the accumulator's step."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        step = cast(convert_to_tensor(local_step), _dtypes.int64)
        return apply_op("ResourceAccumulatorApplyGradient", name, self._accumulator_ref, step, grad)

    def take_grad(self, num_required, name=None):
        """The mean when there are `num_required` gradients, which are then forgotten."""
        taken = op1(
            "ResourceAccumulatorTakeGradient",
            name,
            self._accumulator_ref,
            num_required,
            dtype=self._dtype,
        )
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up slices of gradients: each row's mean is that of the gradients which have the row."""

    def __init__(
        self,
        dtype,
        shape=None,
        shared_name=None,
        name="sparse_conditional_accumulator",
        reduction_type="MEAN",
    ):
        handle = op1(
            "SparseConditionalAccumulator",
            name,
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=shared_or_own(shared_name, "accumulator"),
            reduction_type=reduction_type,
        )
        super().__init__(_dtypes.as_dtype(dtype), shape, handle)

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """apply_grad() of an IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """An operation that adds rows `grad_values` at `grad_indices`, which ascend."""
        step = cast(convert_to_tensor(local_step), _dtypes.int64)
        return apply_op(
            "SparseAccumulatorApplyGradient",
            name,
            self._accumulator_ref,
            step,
            cast(grad_indices, _dtypes.int64),
            grad_values,
            cast([] if grad_shape is None else grad_shape, _dtypes.int64),
            has_known_shape=grad_shape is not None,
        )

    def take_grad(self, num_required, name=None):
        """The mean when there are `num_required` gradients: (indices, values, shape)."""
        return op_results(
            "SparseAccumulatorTakeGradient",
            name,
            self._accumulator_ref,
            num_required,
            dtype=self._dtype,
        )

    def take_indexed_slices_grad(self, num_required, name=None):
        """take_grad() as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)
