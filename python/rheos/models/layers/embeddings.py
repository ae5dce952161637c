"""Rows of a table for numbers."""

from rheos.framework import dtypes, tensor_shape
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import embedding_ops
from rheos.ops.math import math_ops

_layer = objects.known("layer")


@_layer
class Embedding(Layer):
    """The row of a table for each number: (batch, ...) to (batch, ..., output_dim).

    mask_zero: whether the number 0 stands for nothing, which is masked.

    >>> print(tf.keras.layers.Embedding(10, 4)(tf.constant([[1, 2, 3]])).shape)
    (1, 3, 4)
    """

    def __init__(
        self,
        input_dim,
        output_dim,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        activity_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        input_length=None,
        **kwargs,
    ):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            if input_length:
                kwargs["input_shape"] = (input_length,)
            else:
                kwargs["input_shape"] = (None,)
        kwargs["dtype"] = kwargs.get("dtype") or "float32"
        super().__init__(**resolved({"activity_regularizer": activity_regularizer}), **kwargs)
        self.input_dim = values.check_positive("input_dim", input_dim)
        self.output_dim = values.check_positive("output_dim", output_dim)
        settings = {
            "embeddings_initializer": embeddings_initializer,
            "embeddings_regularizer": embeddings_regularizer,
            "embeddings_constraint": embeddings_constraint,
        }
        for key, value in resolved(settings).items():
            setattr(self, key, value)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape=None):
        self.embeddings = self.add_weight(
            "embeddings",
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs, mask=None):
        return math_ops.not_equal(inputs, 0) if self.mask_zero else None

    def _set_masks(self, inputs, outputs, masks):
        if self.mask_zero:
            super()._set_masks(inputs, outputs, masks)

    def call(self, inputs):
        if inputs.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            inputs = math_ops.cast(inputs, dtypes.int32)
        return embedding_ops.embedding_lookup(self.embeddings, inputs)

    def compute_output_shape(self, input_shape):
        shape = tensor_shape.as_shape(input_shape)
        if self.input_length is not None and shape.ndims == 2 and shape.size_at(1) is None:
            shape = tensor_shape.TensorShape([shape[0], self.input_length])
        return shape.concatenate([self.output_dim])

    def get_config(self):
        names = (
            "input_dim", "output_dim", "embeddings_initializer", "embeddings_regularizer",
            "activity_regularizer", "embeddings_constraint", "mask_zero", "input_length",
        )  # fmt: skip
        return {**super().get_config(), **config_of(self, names)}
