"""slim's decoder of Example messages: features are parsed, and handlers make items of them."""

from rheos.contrib.slim_data import DataDecoder
from rheos.framework import dtypes
from rheos.framework.sparse_tensor import SparseTensor as _Sparse
from rheos.ops.array import array_ops, sparse_ops
from rheos.ops.flow import control_flow_ops, functional_ops
from rheos.ops.io import io_ops, parsing_ops
from rheos.ops.math import math_ops
from rheos.ops.media import image_files


def _dense(tensor, missing=None):
    if not isinstance(tensor, _Sparse):
        return tensor
    return sparse_ops.sparse_tensor_to_dense(tensor, missing)


class ItemHandler:
    """Makes an item of the features `keys`."""

    def __init__(self, keys):
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self):
        """The features that the item is made of."""
        return self._keys

    def tensors_to_item(self, keys_to_tensors):
        """The item, of a dict of features."""
        raise NotImplementedError


class ItemHandlerCallback(ItemHandler):
    """Makes an item by a function of a dict of features."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        """What the function gives."""
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes (n, 4), of four features, one for each side."""

    def __init__(self, keys=None, prefix=""):
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors):
        """The boxes."""
        sides = [keys_to_tensors[key] for key in self._keys]
        sides = [side.values if isinstance(side, _Sparse) else side for side in sides]
        return array_ops.transpose(
            array_ops.concat([array_ops.expand_dims(side, 0) for side in sides], 0)
        )


class Tensor(ItemHandler):
    """A feature as a dense tensor, of a shape that is given or is in other features."""

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        super().__init__([tensor_key, *(shape_keys or ())])
        self._shape, self._default_value = shape, default_value

    def tensors_to_item(self, keys_to_tensors):
        """The tensor."""
        tensor, shape = keys_to_tensors[self._keys[0]], self._shape
        if self._keys[1:]:
            sizes = [_dense(keys_to_tensors[key]) for key in self._keys[1:]]
            shape = array_ops.reshape(array_ops.stack(sizes), [-1])
        if isinstance(tensor, _Sparse):
            if shape is not None:
                tensor = sparse_ops.sparse_reshape(tensor, shape)
            return _dense(tensor, self._default_value)
        return tensor if shape is None else array_ops.reshape(tensor, shape)


class LookupTensor(Tensor):
    """A Tensor of what a table has for its values."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        """The tensor of entries."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of one handler, or that of another one where the first is empty."""

    def __init__(self, handler, backup):
        for role, one in (("Primary", handler), ("Backup", backup)):
            if not isinstance(one, ItemHandler):
                raise ValueError(f"{role} handler is of type {type(one)} instead of ItemHandler")
        self._handler, self._backup = handler, backup
        super().__init__(list(handler.keys) + list(backup.keys))

    def tensors_to_item(self, keys_to_tensors):
        """The item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return control_flow_ops.cond(
            math_ops.equal(array_ops.size(item), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """A sparse tensor of a feature of last indices and one of values; dense with `densify`."""

    def __init__(
        self,
        indices_key=None,
        values_key=None,
        shape_key=None,
        shape=None,
        densify=False,
        default_value=0,
    ):
        keys = [indices_key or "indices", values_key or "values"]
        super().__init__(keys + ([shape_key] if shape_key else []))
        self._shape, self._densify, self._default_value = shape, densify, default_value

    def tensors_to_item(self, keys_to_tensors):
        """The tensor."""
        indices, values, *shapes = (keys_to_tensors[key] for key in self._keys)
        shape = _dense(shapes[0]) if shapes else self._shape or indices.dense_shape
        last = math_ops.cast(indices.values, dtypes.int64)
        rank = array_ops.shape(indices.indices)[1]
        rows = array_ops.slice(indices.indices, [0, 0], array_ops.stack([-1, rank - 1]))
        places = array_ops.concat([rows, array_ops.reshape(last, [-1, 1])], 1)
        tensor = _Sparse(places, values.values, shape)
        return _dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An image of a feature of encoded bytes, and one that says "raw" where they are pixels."""

    def __init__(
        self,
        image_key=None,
        format_key=None,
        shape=None,
        channels=3,
        dtype=dtypes.uint8,
        repeated=False,
        dct_method="",
    ):
        super().__init__([image_key or "image/encoded", format_key or "image/format"])
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method

    def tensors_to_item(self, keys_to_tensors):
        """The image, or images where the feature is repeated."""
        encoded, kind = (keys_to_tensors[key] for key in self._keys)
        if self._repeated:
            return functional_ops.map_fn(
                lambda one: self._decode(one, kind), encoded, dtype=self._dtype
            )
        return self._decode(encoded, kind)

    def _decode(self, encoded, kind):
        def other():
            image = image_files.decode_image(encoded, channels=self._channels)
            return math_ops.cast(image, self._dtype)

        def jpeg():
            image = image_files.decode_jpeg(
                encoded, channels=self._channels, dct_method=self._dct_method
            )
            return math_ops.cast(image, self._dtype)

        def compressed():
            return control_flow_ops.cond(
                image_files.is_jpeg(encoded), jpeg, other, name="cond_jpeg"
            )

        is_raw = math_ops.logical_or(math_ops.equal(kind, "raw"), math_ops.equal(kind, "RAW"))
        image = control_flow_ops.case(
            [(is_raw, lambda: io_ops.decode_raw(encoded, self._dtype))],
            default=compressed,
            exclusive=True,
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else array_ops.reshape(image, self._shape)


class TFExampleDecoder(DataDecoder):
    """Parses an Example by a dict of features, and makes items by a dict of handlers."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self):
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example, items=None):
        """The tensors of some items, or of all."""
        features = parsing_ops.parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            wanted = self._keys_to_features[key]
            if isinstance(wanted, parsing_ops.FixedLenFeature):
                features[key] = array_ops.reshape(features[key], wanted.shape)
        return _items(self._items_to_handlers, features, items)


class TFSequenceExampleDecoder(DataDecoder):
    """The same of a SequenceExample: features of its context, and of its lists."""

    def __init__(self, keys_to_context_features, keys_to_sequence_features, items_to_handlers):
        both = set(keys_to_context_features) & set(keys_to_sequence_features)
        if both:
            raise ValueError(f"Context and sequence keys overlap: {both}")
        self._context, self._lists = keys_to_context_features, keys_to_sequence_features
        self._items_to_handlers = items_to_handlers

    def list_items(self):
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example, items=None):
        """The tensors of some items, or of all."""
        context, lists = parsing_ops.parse_single_sequence_example(
            serialized_example, self._context, self._lists
        )
        for key, wanted in self._context.items():
            if isinstance(wanted, parsing_ops.FixedLenFeature):
                context[key] = array_ops.reshape(context[key], wanted.shape)
        return _items(self._items_to_handlers, {**context, **lists}, items)


def _items(handlers, features, names):
    made = []
    for name in names or handlers:
        handler = handlers[name]
        made.append(handler.tensors_to_item({key: features[key] for key in handler.keys}))
    return made
