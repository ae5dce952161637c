"""Classes that only mark values: what stands for a tensor, and what is made of several."""


class TensorLike:
    """A value that operations take as a tensor: tensors, variables, and programs' own classes.

    An object of a program's own class has a method `__tf_tensor__(dtype, name)`.
    """

    __slots__ = ()


class GenericFunction:
    """A function that calls graphs: traced, or of a saved model."""

    __slots__ = ()


class CompositeTensor:
    """A value that is made of several tensors, such as a sparse one."""

    __slots__ = ()
