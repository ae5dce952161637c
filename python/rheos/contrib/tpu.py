"""Estimators that were made for TPUs, where they run without one, as `use_tpu=False` asks for."""

from collections import namedtuple

from rheos.framework import errors, logging, nest
from rheos.framework.operation import Tensor
from rheos.training.estimator import Estimator, EstimatorSpec, ModeKeys, RunConfig as _RunConfig
from rheos.training.optimizers import Optimizer
from rheos.training.session_hooks import SessionRunArgs, SessionRunHook

_BATCH_SIZE = "batch_size"  # the parameter that functions get


class InputPipelineConfig:
    """How hosts of a TPU read their input."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(
    namedtuple(
        "TPUConfig",
        [
            "iterations_per_loop",
            "num_shards",
            "num_cores_per_replica",
            "per_host_input_for_training",
            "tpu_job_name",
            "initial_infeed_sleep_secs",
            "input_partition_dims",
            "eval_training_input_configuration",
            "experimental_host_call_every_n_steps",
        ],
        defaults=(2, None, None, True, None, None, None, InputPipelineConfig.PER_HOST_V1, 1),
    )
):
    """How a TPU runs a model; nothing of it matters without one."""


class RunConfig(_RunConfig):
    """A tf.estimator.RunConfig that may say how a TPU runs, too."""

    def __init__(
        self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs
    ):
        super().__init__(**kwargs)
        self.tpu_config = tpu_config or TPUConfig()
        self.cluster = cluster
        if master is not None:
            self.master = master
        self.evaluation_master = self.master if evaluation_master is None else evaluation_master


class _RunBeside(SessionRunHook):
    """Runs what a host call made beside each step."""

    def __init__(self, tensors):
        self._tensors = tensors

    def before_run(self, run_context):
        return SessionRunArgs(self._tensors)


def _called(call):
    """What (function, tensors) gives; the tensors are a list or a dict of arguments."""
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


def _checked_call(call, what):
    if not isinstance(call, (tuple, list)) or len(call) != 2 or not callable(call[0]):
        raise ValueError(f"{what} should be a tuple of a function and its tensors, not {call}")
    if not isinstance(call[1], (tuple, list, dict)):
        raise ValueError(f"{what}[1] should be a tuple, list or dict of tensors, not {call[1]}")
    for tensor in nest.flatten(call[1]):
        if not isinstance(tensor, Tensor):
            raise ValueError(f"{what}[1] should have tensors, not {tensor}")


class TPUEstimatorSpec(
    namedtuple(
        "TPUEstimatorSpec",
        [
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metrics",
            "export_outputs",
            "scaffold_fn",
            "host_call",
            "training_hooks",
            "evaluation_hooks",
            "prediction_hooks",
        ],
    )
):
    """What the model function of a TPUEstimator gives.

    eval_metrics: (function, tensors), which gives the dict of metrics. host_call: the same, for
    what runs beside each step. scaffold_fn: makes a tf.train.Scaffold.
    """

    def __new__(
        cls,
        mode,
        predictions=None,
        loss=None,
        train_op=None,
        eval_metrics=None,
        export_outputs=None,
        scaffold_fn=None,
        host_call=None,
        training_hooks=None,
        evaluation_hooks=None,
        prediction_hooks=None,
    ):
        for what, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _checked_call(call, what)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metrics=eval_metrics,
            export_outputs=export_outputs,
            scaffold_fn=scaffold_fn,
            host_call=host_call,
            training_hooks=tuple(training_hooks or ()),
            evaluation_hooks=tuple(evaluation_hooks or ()),
            prediction_hooks=tuple(prediction_hooks or ()),
        )

    def as_estimator_spec(self):
        """The same for an estimator that runs without a TPU."""
        metrics = None if self.eval_metrics is None else _called(self.eval_metrics)
        beside = () if self.host_call is None else (_RunBeside(_called(self.host_call)),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + beside,
            evaluation_hooks=self.evaluation_hooks + beside,
            prediction_hooks=self.prediction_hooks + beside,
        )


class TPUEstimator(Estimator):
    """An Estimator whose functions get the mode's batch size as `params["batch_size"]`.

    use_tpu: there is no TPU here, so that training, evaluating and predicting ask for False.
    """

    def __init__(
        self,
        model_fn=None,
        model_dir=None,
        config=None,
        params=None,
        use_tpu=True,
        train_batch_size=None,
        eval_batch_size=None,
        predict_batch_size=None,
        batch_axis=None,
        eval_on_tpu=True,
        export_to_tpu=True,
        export_to_cpu=True,
        warm_start_from=None,
        embedding_config_spec=None,
        export_saved_model_api_version=1,
    ):
        if not isinstance(config, RunConfig):
            raise ValueError(
                f"`config` must be provided with type `tpu_config.RunConfig`, but is {config}"
            )
        if params is not None and _BATCH_SIZE in params:
            raise ValueError(f"{_BATCH_SIZE} are reserved keys but existed in params {params}.")
        self._uses_tpu = use_tpu
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        super().__init__(model_fn, model_dir, config, params, warm_start_from=warm_start_from)

    def _params_of(self, mode):
        if self._uses_tpu:
            raise errors.InvalidArgumentError(
                None, None, "there is no TPU: ask for TPUEstimator(..., use_tpu=False)"
            )
        size = self._batch_sizes.get(mode)
        params = self.params
        return params if size is None else {**params, _BATCH_SIZE: size}


class CrossShardOptimizer(Optimizer):
    """Steps as another optimizer does: the gradients of one shard are those of all."""

    def __init__(
        self, opt, reduction="weighted_mean", name="CrossShardOptimizer", group_assignment=None
    ):
        if reduction not in ("weighted_sum", "weighted_mean"):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """The gradients of the other optimizer."""
        logging.warning("CrossShardOptimizer runs on one shard, without a TPU.")
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The step of the other optimizer."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The names of the slots of the optimizer inside, sorted."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._opt.variables()
