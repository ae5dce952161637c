"""Estimators."""

import types as _types

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models import canned as _canned
from rheos.models.canned import (
    BaselineClassifier,
    BaselineEstimator,
    BaselineRegressor,
    DNNClassifier,
    DNNEstimator,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from rheos.models.heads import BinaryClassHead, Head, MultiClassHead, RegressionHead
from rheos.training import estimator as _estimator
from rheos.training.estimator import (
    BestExporter,
    Estimator,
    EstimatorSpec,
    EvalSpec,
    Exporter,
    FinalExporter,
    LatestExporter,
    ModeKeys,
    RunConfig,
    TrainSpec,
    WarmStartSettings,
    train_and_evaluate,
)
from rheos.training.feeding import numpy_input_fn as _numpy, pandas_input_fn as _pandas
from rheos.training.session_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)

experimental = _types.SimpleNamespace(
    call_logit_fn=_canned.call_logit_fn,
    dnn_logit_fn_builder=_canned.dnn_logit_fn_builder,
    linear_logit_fn_builder=_canned.linear_logit_fn_builder,
)
inputs = _types.SimpleNamespace(numpy_input_fn=_numpy, pandas_input_fn=_pandas)
export = _types.SimpleNamespace(
    ClassificationOutput=_estimator.ClassificationOutput,
    ExportOutput=_estimator.ExportOutput,
    PredictOutput=_estimator.PredictOutput,
    RegressionOutput=_estimator.RegressionOutput,
    ServingInputReceiver=_estimator.ServingInputReceiver,
    TensorServingInputReceiver=_estimator.TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn=_estimator.build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn=_estimator.build_raw_serving_input_receiver_fn,
)

__getattr__ = _attribute_of("tensorflow.estimator")
