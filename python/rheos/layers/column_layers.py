"""Dense inputs and linear models made of feature columns."""

from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, init_scope, name_scope
from rheos.layers.feature_columns import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
    SequenceColumn,
)
from rheos.layers.layer import Layer
from rheos.ops.array import array_ops, embedding_ops, sparse_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.init_ops import zeros_initializer
from rheos.ops.state.partitioned_variables import PartitionedVariable
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope
from rheos.training.first_values import init_from_checkpoint

_USUAL = GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES

# ---- Variables


def _restore(column, variable):
    """Has a table begin as one in a checkpoint, if the column says so."""
    if column.ckpt_to_load_from is None:
        return
    if isinstance(variable, PartitionedVariable):
        variable = list(variable)
    init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: variable})


class _ScopedWeights:
    """Variables of columns in the current variable scope, as functions have them."""

    def __init__(self, collections, trainable, usual=_USUAL):
        self._collections = list(collections or [])
        self._collections += [name for name in usual if name not in self._collections]
        self._trainable = trainable

    def get(self, name, shape, initializer, trainable=True):
        """A variable of that name."""
        return get_variable(
            name,
            shape,
            dtypes.float32,
            initializer,
            trainable=trainable and self._trainable,
            collections=self._collections,
        )

    def variable(self, column):
        """The column's own variable."""
        return self.get(*column.variable)

    restore = staticmethod(_restore)

    @staticmethod
    def table(column, make):
        """The column's table of words."""
        return make()


class _LayerWeights:
    """Variables and tables that a layer keeps, by column."""

    def __init__(self):
        self.variables, self._tables = {}, {}

    def variable(self, column):
        """The column's own variable."""
        return self.variables[column]

    @staticmethod
    def restore(column, variable):
        """Nothing: done when the variable was made."""

    def table(self, column, make):
        """The column's table of words."""
        if column not in self._tables:
            with init_scope():
                self._tables[column] = make()
        return self._tables[column]


# ---- Columns of a model


def checked_columns(feature_columns):
    """A list of columns in the order of their names; no two may have one name."""
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    feature_columns, by_name = list(feature_columns), {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                "Items of feature_columns must be a FeatureColumn. "
                f"Given (type {type(column)}): {column}."
            )
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{by_name[column.name]}. Both are about the same feature: leave out one, or give "
                "the features another name."
            )
        by_name[column.name] = column
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    return sorted(feature_columns, key=lambda column: column.name)


def _columns_of_kind(feature_columns, kind):
    columns = checked_columns(feature_columns)
    for column in columns:
        if not isinstance(column, kind):
            names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise ValueError(
                f"Items of feature_columns must be a {names}. You can wrap a categorical "
                f"column with an embedding_column or indicator_column. Given: {column}"
            )
    return columns


def _check_rows(tensors, columns):
    known = [(t.shape[0], c) for t, c in zip(tensors, columns) if t.shape.ndims]
    known = [(getattr(size, "value", size), column) for size, column in known]
    known = [(size, column) for size, column in known if size is not None]
    for size, column in known[1:]:
        if size != known[0][0]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({known[0][1].name}, {column.name}): ({known[0][0]}, {size})"
            )


def make_parse_example_spec(feature_columns):
    """What tf.io.parse_example() is to parse for these columns."""
    spec = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be FeatureColumn instances. Given: {column}"
            )
        for key, value in column.parse_example_spec.items():
            if spec.setdefault(key, value) != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. "
                    f"Given {value} and {spec[key]}"
                )
    return spec


# ---- Dense inputs


def _flat(column, tensor, leading=1):
    width = column.variable_shape.num_elements()
    known = tensor.shape.as_list()[:leading] if tensor.shape.ndims else [None] * leading
    sizes = [array_ops.shape(tensor)[i] if n is None else n for i, n in enumerate(known)]
    return array_ops.reshape(tensor, [*sizes, width])


def _scope_variables():
    scope = get_variable_scope().name + "/"
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def input_layer(
    features,
    feature_columns,
    weight_collections=None,
    trainable=True,
    cols_to_vars=None,
    cols_to_output_tensors=None,
):
    """What dense columns make of a dict of features, side by side: (examples, numbers).

    Columns go in the order of their names. cols_to_vars, cols_to_output_tensors: dicts that get
    the variables and the tensor of each column.
    """
    columns = _columns_of_kind(feature_columns, DenseColumn)
    weights = _ScopedWeights(weight_collections, trainable)
    made, tensors = Features(features, weights), []
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                tensors.append(_flat(column, column.dense(made)))
                if cols_to_vars is not None:
                    cols_to_vars[column] = _scope_variables()
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        _check_rows(tensors, columns)
        return array_ops.concat(tensors, 1)


class _ColumnsLayer(Layer):
    _kind = DenseColumn
    _leading = 1  # dimensions before the numbers

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_columns = tuple(_columns_of_kind(feature_columns, self._kind))
        self._by_column = _LayerWeights()

    def __call__(self, features, *args, **kwargs):
        if not isinstance(features, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        return super().__call__(features, *args, **kwargs)

    def build(self, input_shape):
        """Makes the variables of the columns."""
        for column in self._feature_columns:
            if column.variable is None:
                continue
            name, shape, initializer, trainable = column.variable

            def make(column=column, name=name, shape=shape, initializer=initializer, on=trainable):
                return self.add_weight(
                    name=f"{column.scope_name}/{name}",
                    shape=shape,
                    dtype=dtypes.float32,
                    initializer=initializer,
                    trainable=on and self.trainable,
                )

            shared = getattr(column, "table", None)
            variable = make() if shared is None else shared.of(make)
            self._by_column.variables[column] = variable
            _restore(column, variable)
        self.built = True

    def get_config(self):
        raise NotImplementedError("layers of feature columns have no config in Rheos yet")

    def compute_output_shape(self, input_shape):
        """[examples, (steps,) numbers]"""
        width = sum(c.variable_shape.num_elements() for c in self._feature_columns)
        return (None,) * self._leading + (width,)


class DenseFeatures(_ColumnsLayer):
    """A layer of what dense columns make of a dict of features, side by side."""

    def call(self, features, cols_to_output_tensors=None, training=None):
        """(examples, numbers)"""
        made, tensors = Features(features, self._by_column), []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensors.append(_flat(column, column.dense(made)))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        _check_rows(tensors, self._feature_columns)
        return array_ops.concat(tensors, -1)


def _same_steps(steps):
    if len(steps) == 1:
        return steps[0]
    checks = [check_ops.assert_equal(steps[0], other) for other in steps[1:]]
    with control_dependencies([check for check in checks if check is not None]):
        return array_ops.identity(steps[0])


class SequenceFeatures(_ColumnsLayer):
    """A layer of what columns of sequences make of a dict of features."""

    _kind = SequenceColumn
    _leading = 2

    def call(self, features, training=None):
        """(tensor (examples, steps, numbers), steps of each example)"""
        made, tensors, steps = Features(features, self._by_column), [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor, count = column.sequence(made)
                tensors.append(_flat(column, tensor, 2))
                steps.append(count)
        _check_rows(steps, self._feature_columns)
        return array_ops.concat(tensors, -1), _same_steps(steps)


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """SequenceFeatures as a function, with its variables in the current variable scope."""
    columns = _columns_of_kind(feature_columns, SequenceColumn)
    weights = _ScopedWeights(weight_collections, trainable, _USUAL[:1])
    made, tensors, steps = Features(features, weights), [], []
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                tensor, count = column.sequence(made)
                tensors.append(_flat(column, tensor, 2))
                steps.append(count)
        _check_rows(steps, columns)
        return array_ops.concat(tensors, -1), _same_steps(steps)


# ---- Linear models


def _weighted_sum(column, features, weights, units, combiner):
    if isinstance(column, CategoricalColumn):
        table = weights.get("weights", (column.num_buckets, units), zeros_initializer())
        ids, given = column.ids(features)
        flat = array_ops.stack([ids.dense_shape[0], -1])
        ids = sparse_ops.sparse_reshape(ids, flat)
        given = None if given is None else sparse_ops.sparse_reshape(given, flat)
        return embedding_ops.safe_embedding_lookup_sparse(
            table, ids, given, combiner=combiner, name="weighted_sum"
        )
    width = column.variable_shape.num_elements()
    table = weights.get("weights", (width, units), zeros_initializer())
    return math_ops.matmul(_flat(column, column.dense(features)), table, name="weighted_sum")


def linear_model(
    features,
    feature_columns,
    units=1,
    sparse_combiner="sum",
    weight_collections=None,
    trainable=True,
    cols_to_vars=None,
):
    """The sum of what each column gives by weights of its own, and a bias: (examples, units).

    sparse_combiner: how the weights of an example's ids are put together. cols_to_vars: a dict that
    gets the variables of each column, and those of the bias as "bias".
    """
    columns = _columns_of_kind(feature_columns, (DenseColumn, CategoricalColumn))
    weights = _ScopedWeights(weight_collections, trainable)
    made, sums = Features(features, weights), []
    with variable_scope(None, default_name="linear_model", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                sums.append(_weighted_sum(column, made, weights, units, sparse_combiner))
                if cols_to_vars is not None:
                    cols_to_vars[column] = _scope_variables()
        _check_rows(sums, columns)
        bias = weights.get("bias_weights", [units], zeros_initializer())
        if cols_to_vars is not None:
            cols_to_vars["bias"] = list(bias) if isinstance(bias, PartitionedVariable) else [bias]
        total = math_ops.add_n(sums, name="weighted_sum_no_bias")
        return nn_ops.bias_add(total, bias, name="weighted_sum")
