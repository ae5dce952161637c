"""Estimators whose models are there: linear ones, networks of dense layers, both together."""

import math

from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies
from rheos.layers import core
from rheos.layers.column_layers import input_layer, linear_model, make_parse_example_spec
from rheos.layers.dense_columns import NumericColumn, numeric_column
from rheos.layers.normalization import batch_normalization
from rheos.models.heads import RegressionHead, of_classes
from rheos.ops.array import array_ops
from rheos.ops.flow.control_flow_ops import group
from rheos.ops.io import parsing_ops, summary_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.nn.losses import Reduction
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.init_ops import glorot_uniform_initializer, zeros_initializer
from rheos.ops.state.partitioned_variables import min_max_variable_partitioner
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope
from rheos.training.estimator import Estimator, ModeKeys
from rheos.training.global_step import get_global_step
from rheos.training.more_optimizers import FtrlOptimizer, RMSPropOptimizer
from rheos.training.optimizers import (
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    Optimizer,
)

_OPTIMIZERS = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
# Rates where the program gives none.
_DEEP, _LINEAR, _BASELINE = 0.05, 0.2, 0.3
_COMBINED_DEEP, _COMBINED_LINEAR = 0.001, 0.005


def _optimizer(given, rate):
    if isinstance(given, str):
        if given not in _OPTIMIZERS:
            raise ValueError(
                f"Unsupported optimizer name: {given}. "
                f"Supported names are: {tuple(sorted(_OPTIMIZERS))}"
            )
        return _OPTIMIZERS[given](learning_rate=rate)
    made = given() if callable(given) else given
    if not isinstance(made, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {made}")
    return made


def _check_features(features):
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
        )


def _summarize(value, name):
    summary_ops.scalar(f"{name}/fraction_of_zero_values", nn_ops.zero_fraction(value))
    summary_ops.histogram(f"{name}/activation", value)


# ---- Models


def dnn_logit_fn_builder(
    units,
    hidden_units,
    feature_columns,
    activation_fn=nn_ops.relu,
    dropout=None,
    input_layer_partitioner=None,
    batch_norm=False,
):
    """A function (features, mode) that gives the logits of dense layers over columns."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def layer(net, width, name, activation=None):
        return core.dense(
            net,
            width,
            activation=activation,
            kernel_initializer=glorot_uniform_initializer(),
            name=name,
        )

    def hidden(net, index, width, trains):
        net = layer(net, width, f"hiddenlayer_{index}", activation_fn)
        with variable_scope(f"hiddenlayer_{index}") as scope:
            if dropout is not None and trains:
                net = core.dropout(net, rate=dropout, training=True)
            if batch_norm:
                name = f"batchnorm_{index}"
                net = batch_normalization(net, momentum=0.999, training=trains, name=name)
        _summarize(net, scope.name)
        return net

    def logit_fn(features, mode):
        with variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
            net = input_layer(features, feature_columns)
        for index, width in enumerate(hidden_units):
            net = hidden(net, index, width, mode == ModeKeys.TRAIN)
        logits = layer(net, units, "logits")
        _summarize(logits, f"{get_variable_scope().name}/logits")
        return logits

    return logit_fn


def linear_logit_fn_builder(units, feature_columns, sparse_combiner="sum"):
    """A function (features) that gives the logits of a linear model of columns."""

    def logit_fn(features):
        variables = {}
        logits = linear_model(
            features, feature_columns, units, sparse_combiner, cols_to_vars=variables
        )
        bias = variables.pop("bias")
        if units > 1:
            summary_ops.histogram("bias", array_ops.concat([x + 0 for x in bias], 0))
        else:
            summary_ops.scalar("bias", bias[0][0])
        weights = [array_ops.reshape(v, [-1]) for some in variables.values() for v in some]
        summary_ops.scalar(
            "fraction_of_zero_weights", nn_ops.zero_fraction(array_ops.concat(weights, 0))
        )
        return logits

    return logit_fn


def call_logit_fn(logit_fn, features, mode, params, config):
    """logit_fn(features, ...) with those of the other arguments that it takes."""
    import inspect

    wanted = inspect.signature(logit_fn).parameters
    given = {"mode": mode, "params": params, "config": config}
    return logit_fn(features=features, **{k: v for k, v in given.items() if k in wanted})


def _parts(config, **sizes):
    """In how many parts large variables are: as many as there are servers of parameters."""
    return min_max_variable_partitioner(config.num_ps_replicas, **sizes)


_LARGE = {"min_slice_size": 64 << 20}


def _dnn_spec(
    features, labels, mode, config, head, hidden_units, columns, optimizer, partitioner, **options
):
    optimizer = _optimizer(optimizer, _DEEP)
    _check_features(features)
    partitioner = partitioner or _parts(config, **_LARGE)
    with variable_scope("dnn", values=list(features.values()), partitioner=_parts(config)):
        logit_fn = dnn_logit_fn_builder(
            head.logits_dimension,
            hidden_units,
            columns,
            input_layer_partitioner=partitioner,
            **options,
        )
        logits = logit_fn(features, mode)
        return head.create_estimator_spec(features, mode, logits, labels, optimizer)


def _linear_spec(features, labels, mode, config, head, columns, optimizer, parts, combiner):
    _check_features(features)
    partitioner = parts or _parts(config, **_LARGE)
    with variable_scope("linear", values=list(features.values()), partitioner=partitioner):
        logits = linear_logit_fn_builder(head.logits_dimension, columns, combiner)(features)
        rate = _linear_rate(columns, _LINEAR) if optimizer is None else _LINEAR
        optimizer = _optimizer(optimizer or "Ftrl", rate)
        return head.create_estimator_spec(features, mode, logits, labels, optimizer)


def _linear_rate(columns, most):
    return min(most, 1.0 / math.sqrt(len(columns)))


def _combined_spec(features, labels, mode, config, head, wide, deep, partitioner):
    """wide: (columns, optimizer, combiner); deep: (columns, optimizer, units, options)."""
    _check_features(features)
    partitioner = partitioner or _parts(config, **_LARGE)
    parts, logits = [], []
    values = list(features.values())
    if deep[0]:
        columns, optimizer, units, options = deep
        if not units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        parts.append((_optimizer(optimizer, _COMBINED_DEEP), "dnn/"))
        with variable_scope("dnn", values=values, partitioner=_parts(config)):
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension,
                units,
                columns,
                input_layer_partitioner=partitioner,
                **options,
            )
            logits.append(logit_fn(features, mode))
    if wide[0]:
        columns, optimizer, combiner = wide
        parts.append((_optimizer(optimizer, _linear_rate(columns, _COMBINED_LINEAR)), "linear/"))
        with variable_scope("linear", values=values, partitioner=partitioner) as scope:
            logits.append(
                linear_logit_fn_builder(head.logits_dimension, columns, combiner)(features)
            )
            _summarize(logits[-1], scope.name)

    def train_op_fn(loss):
        graph = get_default_graph()
        steps = [
            optimizer.minimize(
                loss, var_list=graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)
            )
            for optimizer, scope in parts
        ]
        with control_dependencies([group(*steps)]):
            return state_ops.assign_add(get_global_step(), 1).op

    total = logits[0] if len(logits) == 1 else logits[0] + logits[1]
    return head.create_estimator_spec(features, mode, total, labels, train_op_fn=train_op_fn)


def _baseline_spec(features, labels, mode, head, optimizer, weight_column):
    _check_features(features)
    key = weight_column.key if isinstance(weight_column, NumericColumn) else weight_column
    sizes = [array_ops.shape(value)[0] for name, value in features.items() if name != key]
    if not sizes:
        raise ValueError("a baseline needs a feature that tells how many examples there are")
    checks = [check_ops.assert_equal(sizes[0], size) for size in sizes[1:]]
    with control_dependencies(checks), variable_scope("baseline"):
        width = head.logits_dimension
        bias = get_variable("bias", [width], dtypes.float32, zeros_initializer())
        logits = math_ops.multiply(bias, array_ops.ones([sizes[0], width]))

    def train_op_fn(loss):
        return _optimizer(optimizer, _BASELINE).minimize(loss, global_step=get_global_step())

    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)


# ---- Estimators


class DNNEstimator(Estimator):
    """Dense layers of `hidden_units` over columns, with any head."""

    def __init__(
        self,
        head,
        hidden_units,
        feature_columns,
        model_dir=None,
        optimizer="Adagrad",
        activation_fn=nn_ops.relu,
        dropout=None,
        input_layer_partitioner=None,
        config=None,
        warm_start_from=None,
        batch_norm=False,
    ):
        columns = tuple(feature_columns or ())

        def model_fn(features, labels, mode, config):
            return _dnn_spec(
                features,
                labels,
                mode,
                config,
                head,
                hidden_units,
                columns,
                optimizer,
                input_layer_partitioner,
                activation_fn=activation_fn,
                dropout=dropout,
                batch_norm=batch_norm,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """Dense layers over columns that tell classes apart."""

    def __init__(
        self,
        hidden_units,
        feature_columns,
        model_dir=None,
        n_classes=2,
        weight_column=None,
        label_vocabulary=None,
        optimizer="Adagrad",
        activation_fn=nn_ops.relu,
        dropout=None,
        input_layer_partitioner=None,
        config=None,
        warm_start_from=None,
        loss_reduction=Reduction.SUM,
        batch_norm=False,
    ):
        super().__init__(
            of_classes(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """Dense layers over columns that give numbers."""

    def __init__(
        self,
        hidden_units,
        feature_columns,
        model_dir=None,
        label_dimension=1,
        weight_column=None,
        optimizer="Adagrad",
        activation_fn=nn_ops.relu,
        dropout=None,
        input_layer_partitioner=None,
        config=None,
        warm_start_from=None,
        loss_reduction=Reduction.SUM,
        batch_norm=False,
    ):
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class _Linear(Estimator):
    def __init__(self, head, columns, optimizer, partitioner, combiner, **options):
        columns = tuple(columns or ())

        def model_fn(features, labels, mode, config):
            return _linear_spec(
                features, labels, mode, config, head, columns, optimizer, partitioner, combiner
            )

        super().__init__(model_fn, **options)


class LinearEstimator(_Linear):
    """A linear model of columns, with any head."""

    def __init__(
        self,
        head,
        feature_columns,
        model_dir=None,
        optimizer="Ftrl",
        config=None,
        partitioner=None,
        sparse_combiner="sum",
    ):
        super().__init__(
            head,
            feature_columns,
            optimizer,
            partitioner,
            sparse_combiner,
            model_dir=model_dir,
            config=config,
        )


class LinearClassifier(_Linear):
    """A linear model of columns that tells classes apart."""

    def __init__(
        self,
        feature_columns,
        model_dir=None,
        n_classes=2,
        weight_column=None,
        label_vocabulary=None,
        optimizer="Ftrl",
        config=None,
        partitioner=None,
        warm_start_from=None,
        loss_reduction=Reduction.SUM,
        sparse_combiner="sum",
    ):
        super().__init__(
            of_classes(n_classes, weight_column, label_vocabulary, loss_reduction),
            feature_columns,
            optimizer,
            partitioner,
            sparse_combiner,
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class LinearRegressor(_Linear):
    """A linear model of columns that gives numbers."""

    def __init__(
        self,
        feature_columns,
        model_dir=None,
        label_dimension=1,
        weight_column=None,
        optimizer="Ftrl",
        config=None,
        partitioner=None,
        warm_start_from=None,
        loss_reduction=Reduction.SUM,
        sparse_combiner="sum",
    ):
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            feature_columns,
            optimizer,
            partitioner,
            sparse_combiner,
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class _Combined(Estimator):
    def __init__(self, head, wide, deep, partitioner, **options):
        if not wide[0] and not deep[0]:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        wide = (tuple(wide[0] or ()), *wide[1:])
        deep = (tuple(deep[0] or ()), *deep[1:])

        def model_fn(features, labels, mode, config):
            return _combined_spec(features, labels, mode, config, head, wide, deep, partitioner)

        super().__init__(model_fn, **options)


class DNNLinearCombinedEstimator(_Combined):
    """A linear model and dense layers together, each over its columns, with any head."""

    def __init__(
        self,
        head,
        model_dir=None,
        linear_feature_columns=None,
        linear_optimizer="Ftrl",
        dnn_feature_columns=None,
        dnn_optimizer="Adagrad",
        dnn_hidden_units=None,
        dnn_activation_fn=nn_ops.relu,
        dnn_dropout=None,
        input_layer_partitioner=None,
        config=None,
        linear_sparse_combiner="sum",
    ):
        options = {"activation_fn": dnn_activation_fn, "dropout": dnn_dropout}
        super().__init__(
            head,
            (linear_feature_columns, linear_optimizer, linear_sparse_combiner),
            (dnn_feature_columns, dnn_optimizer, dnn_hidden_units, options),
            input_layer_partitioner,
            model_dir=model_dir,
            config=config,
        )


class DNNLinearCombinedClassifier(_Combined):
    """A linear model and dense layers together that tell classes apart."""

    def __init__(
        self,
        model_dir=None,
        linear_feature_columns=None,
        linear_optimizer="Ftrl",
        dnn_feature_columns=None,
        dnn_optimizer="Adagrad",
        dnn_hidden_units=None,
        dnn_activation_fn=nn_ops.relu,
        dnn_dropout=None,
        n_classes=2,
        weight_column=None,
        label_vocabulary=None,
        input_layer_partitioner=None,
        config=None,
        warm_start_from=None,
        loss_reduction=Reduction.SUM,
        batch_norm=False,
        linear_sparse_combiner="sum",
    ):
        options = {"activation_fn": dnn_activation_fn, "dropout": dnn_dropout}
        options["batch_norm"] = batch_norm
        super().__init__(
            of_classes(n_classes, weight_column, label_vocabulary, loss_reduction),
            (linear_feature_columns, linear_optimizer, linear_sparse_combiner),
            (dnn_feature_columns, dnn_optimizer, dnn_hidden_units, options),
            input_layer_partitioner,
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(_Combined):
    """A linear model and dense layers together that give numbers."""

    def __init__(
        self,
        model_dir=None,
        linear_feature_columns=None,
        linear_optimizer="Ftrl",
        dnn_feature_columns=None,
        dnn_optimizer="Adagrad",
        dnn_hidden_units=None,
        dnn_activation_fn=nn_ops.relu,
        dnn_dropout=None,
        label_dimension=1,
        weight_column=None,
        input_layer_partitioner=None,
        config=None,
        warm_start_from=None,
        loss_reduction=Reduction.SUM,
        batch_norm=False,
        linear_sparse_combiner="sum",
    ):
        options = {"activation_fn": dnn_activation_fn, "dropout": dnn_dropout}
        options["batch_norm"] = batch_norm
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            (linear_feature_columns, linear_optimizer, linear_sparse_combiner),
            (dnn_feature_columns, dnn_optimizer, dnn_hidden_units, options),
            input_layer_partitioner,
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


class BaselineEstimator(Estimator):
    """Logits that do not look at the features, with any head."""

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None, _weights=None):
        def model_fn(features, labels, mode, config):
            return _baseline_spec(features, labels, mode, head, optimizer, _weights)

        super().__init__(model_fn, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """How often each class occurs."""

    def __init__(
        self,
        model_dir=None,
        n_classes=2,
        weight_column=None,
        label_vocabulary=None,
        optimizer="Ftrl",
        config=None,
        loss_reduction=Reduction.SUM,
    ):
        head = of_classes(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config, weight_column)


class BaselineRegressor(BaselineEstimator):
    """The mean of the labels."""

    def __init__(
        self,
        model_dir=None,
        label_dimension=1,
        weight_column=None,
        optimizer="Ftrl",
        config=None,
        loss_reduction=Reduction.SUM,
    ):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, optimizer, config, weight_column)


# ---- What to parse


def _with_labels(spec, label_key, label, weight_column):
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: {list(spec)}"
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. "
            f"weight_column: {weight_column.key}, features: {list(spec)}"
        )
    spec.update(weight_column.parse_example_spec)
    return spec


def classifier_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.int64, label_default=None, weight_column=None
):
    """What tf.io.parse_example() is to parse for a classifier: features, labels, weights."""
    label = parsing_ops.FixedLenFeature((1,), label_dtype, label_default)
    spec = make_parse_example_spec(feature_columns)
    return _with_labels(spec, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns,
    label_key,
    label_dtype=dtypes.float32,
    label_default=None,
    label_dimension=1,
    weight_column=None,
):
    """What tf.io.parse_example() is to parse for a regressor: features, labels, weights."""
    label = parsing_ops.FixedLenFeature((label_dimension,), label_dtype, label_default)
    spec = make_parse_example_spec(feature_columns)
    return _with_labels(spec, label_key, label, weight_column)
