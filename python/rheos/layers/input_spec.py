"""What a layer asks of its inputs."""

from rheos.framework import dtypes


class InputSpec:
    """What a layer asks of its input: dtype, shape, number of dimensions, size of some axes."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = dtypes.as_dtype(dtype).name if dtype is not None else None
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {} if axes is None else {int(k): v for k, v in axes.items()}

    def _accepts(self, dims, dtype):
        """Whether a tensor of these dimensions is what is asked for, if it is easily said."""
        if dims is None or self.shape is not None:
            return False
        rank = len(dims)
        if self.ndim is not None and rank != self.ndim:
            return False
        if self.max_ndim is not None and rank > self.max_ndim:
            return False
        if self.min_ndim is not None and rank < self.min_ndim:
            return False
        if self.dtype is not None and dtype.base_dtype.name != self.dtype:
            return False
        for axis, size in self.axes.items():
            if size is not None and (not -rank <= axis < rank or dims[axis] not in (None, size)):
                return False
        return True

    def check(self, tensor, layer_name):
        """ValueError unless a tensor is what is asked for."""
        dims = tensor.shape._dims_tuple
        if self._accepts(dims, tensor.dtype):
            return
        rank = tensor.shape.ndims
        said = f"Input 0 of layer {layer_name} is incompatible with the layer: "
        if rank is None:
            if self.ndim is not None or self.max_ndim is not None or self.min_ndim is not None:
                raise ValueError(said + "its rank is undefined, but the layer requires a defined "
                                 "rank.")  # fmt: skip
            return
        full = f"Full shape received: {tensor.shape.as_list()}"
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(f"{said}expected ndim={self.ndim}, found ndim={rank}. {full}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(f"{said}expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(
                f"{said}: expected min_ndim={self.min_ndim}, found ndim={rank}. {full}"
            )
        if self.dtype is not None and tensor.dtype.base_dtype.name != self.dtype:
            raise ValueError(
                f"{said}expected dtype={self.dtype}, found dtype={tensor.dtype.base_dtype.name}"
            )
        dims = tensor.shape.as_list()
        if self.shape is not None and not tensor.shape.is_compatible_with(self.shape):
            raise ValueError(f"{said}expected shape={self.shape}, found shape={dims}")
        for axis, size in self.axes.items():
            if size is not None and dims[axis] not in (None, size):
                raise ValueError(
                    f"{said}expected axis {axis} of input shape to have value {size} but received "
                    f"input with shape {dims}"
                )
