"""Estimators: a function makes the graph of a model, and train(), evaluate(), predict() run it."""

import contextlib
import os
import time
from collections import namedtuple

import numpy as np

from rheos.framework import dtypes, gfile, logging, messages
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import Graph, name_scope
from rheos.framework.operation import Operation
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import parsing_ops, summary_ops
from rheos.ops.nn import metrics
from rheos.ops.random.random_ops import set_random_seed
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.lookup_ops import tables_initializer
from rheos.ops.state.variable_lists import local_variables_initializer
from rheos.pipelines.dataset import DatasetV2
from rheos.pipelines.iterators import make_initializable_iterator
from rheos.training import saved_model
from rheos.training.checkpoints import latest_checkpoint, list_variables, load_variable
from rheos.training.device_setter import STANDARD_PS_OPS, replica_device_setter
from rheos.training.evaluation import StopAfterNEvalsHook, evaluate_once
from rheos.training.first_values import warm_start
from rheos.training.global_step import create_global_step, get_global_step
from rheos.training.monitored_session import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
)
from rheos.training.saver import Saver
from rheos.training.session import Session
from rheos.training.session_hooks import (
    SAVERS,
    CheckpointSaverHook,
    LoggingTensorHook,
    NanTensorHook,
    SessionRunHook,
    StopAtStepHook,
)
from rheos.training.shared_steps import merged_spec, replicas_of, scope_of, strategies_of
from rheos.training.summary import FileWriterCache
from rheos.training.tasks import device_filters, this_task

LOSS = "loss"
GLOBAL_STEP = "global_step"
DEFAULT_SIGNATURE = "serving_default"
_UNSET = object()


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


# ---- What a model function gives


_SPEC_FIELDS = (
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks "
    "training_hooks scaffold evaluation_hooks prediction_hooks"
)


def _checked_loss(loss, mode):
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = convert_to_tensor(loss)
    if loss.shape.is_fully_defined() and loss.shape.num_elements() != 1:
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if loss.shape.ndims not in (None, 0):
        loss = array_ops.reshape(loss, [])
    return loss


def _checked_metrics(metric_ops):
    metric_ops = {} if metric_ops is None else metric_ops
    if not isinstance(metric_ops, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metric_ops}")
    for key, value in metric_ops.items():
        if hasattr(value, "updates"):  # a metric object
            continue
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{value} for key: {key}"
            )
    return metric_ops


class EstimatorSpec(namedtuple("EstimatorSpec", _SPEC_FIELDS)):
    """What a model function gives: predictions, loss and train_op, as `mode` needs them.

    eval_metric_ops: dict of pairs (value, update_op). export_outputs: dict of outputs of
    tf.estimator.export. ValueError or TypeError for what is missing or no tensor.
    """

    def __new__(
        cls,
        mode,
        predictions=None,
        loss=None,
        train_op=None,
        eval_metric_ops=None,
        export_outputs=None,
        training_chief_hooks=None,
        training_hooks=None,
        scaffold=None,
        evaluation_hooks=None,
        prediction_hooks=None,
    ):
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = convert_to_tensor(train_op).op
        loss = _checked_loss(loss, mode)
        if predictions is None:
            if mode == ModeKeys.PREDICT:
                raise ValueError("Missing predictions.")
            predictions = {}
        if scaffold is not None and not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        hooks = {}
        for name, given in (
            ("training_chief_hooks", training_chief_hooks),
            ("training_hooks", training_hooks),
            ("evaluation_hooks", evaluation_hooks),
            ("prediction_hooks", prediction_hooks),
        ):
            hooks[name] = tuple(given or ())
            for hook in hooks[name]:
                if not isinstance(hook, SessionRunHook):
                    raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            scaffold=scaffold or Scaffold(),
            **hooks,
        )


class RunConfig:
    """How an Estimator runs: its folder, how often it saves and tells, and which task of a cluster
    it is, as TF_CONFIG says (rheos.training.tasks).
    """

    def __init__(
        self,
        model_dir=None,
        tf_random_seed=None,
        save_summary_steps=100,
        save_checkpoints_steps=_UNSET,
        save_checkpoints_secs=_UNSET,
        session_config=None,
        keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100,
        train_distribute=None,
        device_fn=None,
        protocol=None,
        eval_distribute=None,
        experimental_distribute=None,
        experimental_max_worker_delay_secs=None,
        session_creation_timeout_secs=7200,
    ):
        if save_checkpoints_steps is _UNSET and save_checkpoints_secs is _UNSET:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _UNSET:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _UNSET:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
            )
        if model_dir == "":
            raise ValueError("model_dir should be non-empty")
        if experimental_distribute is not None:
            given = (train_distribute, eval_distribute)
            train_distribute, eval_distribute = strategies_of(experimental_distribute, *given)
        task = this_task()
        if session_config is None:
            session_config = messages.ConfigProto(
                allow_soft_placement=True,
                device_filters=task.cluster_spec and device_filters(task) or (),
            )
        self.model_dir = None if model_dir is None else os.fsdecode(model_dir)
        self.tf_random_seed = tf_random_seed
        self.save_summary_steps = save_summary_steps
        self.save_checkpoints_steps = save_checkpoints_steps
        self.save_checkpoints_secs = save_checkpoints_secs
        self.session_config = session_config
        self.keep_checkpoint_max = keep_checkpoint_max
        self.keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self.log_step_count_steps = log_step_count_steps
        self.train_distribute, self.eval_distribute = train_distribute, eval_distribute
        self.device_fn = device_fn
        self.protocol = protocol
        self.session_creation_timeout_secs = session_creation_timeout_secs
        self.experimental_max_worker_delay_secs = experimental_max_worker_delay_secs
        self.master, self.evaluation_master = task.master, task.evaluation_master
        self.is_chief = task.is_chief
        self.task_type, self.task_id = task.type, task.id
        self.global_id_in_cluster = task.global_id
        self.num_ps_replicas, self.num_worker_replicas = task.num_ps, task.num_workers
        self.cluster_spec = task.cluster_spec
        self.service = task.service

    def replace(self, **kwargs):
        """A copy with other values of some settings."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name, value in kwargs.items():
            if name not in made.__dict__:
                raise ValueError(f"{name} is no setting that can be replaced")
            setattr(made, name, value)
        if {"save_checkpoints_steps", "save_checkpoints_secs"} <= set(kwargs):
            if made.save_checkpoints_steps is not None and made.save_checkpoints_secs is not None:
                raise ValueError(
                    "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
                )
        elif "save_checkpoints_steps" in kwargs:
            made.save_checkpoints_secs = None
        elif "save_checkpoints_secs" in kwargs:
            made.save_checkpoints_steps = None
        return made


class WarmStartSettings(
    namedtuple(
        "WarmStartSettings",
        "ckpt_to_initialize_from vars_to_warm_start var_name_to_vocab_info "
        "var_name_to_prev_var_name",
    )
):
    """From which checkpoint which variables (a regular expression, or a list) begin."""

    def __new__(
        cls,
        ckpt_to_initialize_from,
        vars_to_warm_start=".*",
        var_name_to_vocab_info=None,
        var_name_to_prev_var_name=None,
    ):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


# ---- Input


class _Initialize(SessionRunHook):
    """Begins the iterator of a dataset when the session is there."""

    def __init__(self, iterator):
        self._initializer = iterator.initializer

    def after_create_session(self, session, coord):
        session.run(self._initializer)


def _wants(function, name):
    import inspect

    parameters = inspect.signature(function).parameters
    return name in parameters


def _call_input_fn(input_fn, mode, params, config):
    """(features, labels, hooks) of what an input function gives."""
    given = {}
    for name, value in (("mode", mode), ("params", params), ("config", config)):
        if _wants(input_fn, name):
            given[name] = value
    result, hooks = input_fn(**given), []
    if isinstance(result, DatasetV2):
        iterator = make_initializable_iterator(result)
        hooks.append(_Initialize(iterator))
        result = iterator.get_next()
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return result[0], result[1], hooks
    return result, None, hooks


def _global_step_read(graph):
    """What model functions may read the global step by, behind its initialization."""
    step = get_global_step(graph)
    with graph.as_default(), name_scope(None), name_scope(step.op.name + "/"):
        value = control_flow_ops.cond(
            state_ops.is_variable_initialized(step), step.read_value, lambda: step.initial_value
        )
        graph.add_to_collection("global_step_read_op_cache", value + 0)


class Estimator:
    """Trains and uses the model that `model_fn(features, labels, mode, params, config)` makes.

    model_fn may take fewer of these. model_dir: where checkpoints and summaries go, by default a
    new folder. Each call makes a graph of its own and continues from the latest checkpoint.
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        if not _wants(model_fn, "features"):
            raise ValueError(f"model_fn ({model_fn}) must include features argument.")
        if params is not None and not _wants(model_fn, "params"):
            raise ValueError(
                f"model_fn ({model_fn}) does not include params argument, but params ({params}) "
                "is passed to Estimator."
            )
        if config is not None and not isinstance(config, RunConfig):
            raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
        if config is None:
            logging.info("Using default config.")
            config = RunConfig()
        model_dir = None if model_dir is None else os.fsdecode(model_dir)
        if model_dir is not None and config.model_dir not in (None, model_dir):
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with different "
                f"values. In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
            )
        model_dir = model_dir or config.model_dir
        if model_dir is None:
            import tempfile

            model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", model_dir)
        self._config = config.replace(model_dir=model_dir)
        logging.info("Using config: %s", {f"_{k}": v for k, v in vars(self._config).items()})
        self._model_fn = model_fn
        self._params = dict(params) if isinstance(params, dict) else params or {}
        if isinstance(warm_start_from, (str, os.PathLike)):
            warm_start_from = WarmStartSettings(os.fsdecode(warm_start_from))
        self._warm_start_from = warm_start_from

    @property
    def model_dir(self):
        """The folder of checkpoints and summaries."""
        return self._config.model_dir

    @property
    def config(self):
        """The RunConfig."""
        return self._config

    @property
    def params(self):
        """A copy of the parameters."""
        import copy

        return copy.deepcopy(self._params)

    @property
    def model_fn(self):
        """The model function with the parameters: function(features, labels, mode, config)."""
        return lambda features, labels, mode, config: self._spec(features, labels, mode, config)

    def latest_checkpoint(self):
        """The path of the latest checkpoint, or None."""
        return latest_checkpoint(self.model_dir)

    def _checkpoint(self):
        path = self.latest_checkpoint()
        if path is None:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return path

    def get_variable_value(self, name):
        """The value of a variable in the latest checkpoint."""
        self._checkpoint()
        return load_variable(self.model_dir, name)

    def get_variable_names(self):
        """The names of the variables in the latest checkpoint."""
        self._checkpoint()
        return [name for name, _ in list_variables(self.model_dir)]

    def eval_dir(self, name=None):
        """Where the summaries of an evaluation go."""
        return os.path.join(self.model_dir, "eval" if not name else "eval_" + name)

    def _spec(self, features, labels, mode, config=None):
        given = {}
        if _wants(self._model_fn, "labels"):
            given["labels"] = labels
        elif labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        for name, value in (
            ("mode", mode),
            ("params", self._params_of(mode)),
            ("config", config or self._config),
        ):
            if _wants(self._model_fn, name):
                given[name] = value
        logging.info("Calling model_fn.")
        made = self._model_fn(features=features, **given)
        logging.info("Done calling model_fn.")
        if hasattr(made, "as_estimator_spec"):
            made = made.as_estimator_spec()
        if not isinstance(made, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return made

    def _params_of(self, mode):
        """What functions get as `params` in a mode."""
        return self.params

    @contextlib.contextmanager
    def _graph(self):
        """A new default graph, with nodes where the configuration wants them."""
        config = self._config
        with Graph().as_default() as graph, graph.device(config.device_fn or self._placement()):
            if config.tf_random_seed is not None:
                set_random_seed(config.tf_random_seed)
            yield graph

    def _placement(self):
        """Variables on parameter servers, where there are any."""
        config = self._config
        if config.num_ps_replicas == 0:
            return None
        return replica_device_setter(
            ps_tasks=config.num_ps_replicas,
            worker_device="/job:%s/task:%d" % (config.task_type, config.task_id),
            ps_ops=list(STANDARD_PS_OPS),
            cluster=config.cluster_spec,
        )

    def _strategy(self, mode):
        """The strategy whose replicas share the steps of a mode; None: no strategy is asked for."""
        return self._config.train_distribute if mode == ModeKeys.TRAIN else None

    def _model(self, input_fn, mode):
        """(spec, hooks of the input) in the default graph."""
        strategy = self._strategy(mode)
        if strategy is not None:
            return self._shared_model(strategy, input_fn, mode)
        with name_scope(None):
            params = self._params_of(mode)
            features, labels, hooks = _call_input_fn(input_fn, mode, params, self._config)
        return self._spec(features, labels, mode), hooks

    def _shared_model(self, strategy, input_fn, mode):
        """(spec, hooks of the input) of the model of all replicas of a strategy."""
        specs = []

        def dataset(context):
            given = {"mode": mode, "params": self._params_of(mode), "config": self._config,
                     "input_context": context}  # fmt: skip
            made = input_fn(**{key: v for key, v in given.items() if _wants(input_fn, key)})
            if not isinstance(made, DatasetV2):
                raise ValueError(
                    "replicas of a strategy share a dataset: input_fn has to give one, not "
                    f"{type(made).__name__}"
                )
            return made

        def step(batch):
            features, labels = batch if isinstance(batch, tuple) else (batch, None)
            specs.append(self._spec(features, labels, mode))

        iterator = strategy.make_input_fn_iterator(dataset)
        strategy.extended.call_for_each_replica(step, args=(iterator.get_next(),))
        return merged_spec(strategy, specs), [_Initialize(iterator)]

    # ---- Training

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains until the input ends, for `steps` more, or up to step `max_steps`; gives self."""
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, value in (("steps", steps), ("max_steps", max_steps)):
            if value is not None and value <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {value}")
        if max_steps is not None and self._start_step() >= max_steps:
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = self._checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        with self._graph() as graph, scope_of(self._strategy(ModeKeys.TRAIN)):
            create_global_step(graph)
            _global_step_read(graph)
            spec, input_hooks = self._model(input_fn, ModeKeys.TRAIN)
            loss = self._train_model(spec, input_hooks + hooks, list(saving_listeners or ()))
        logging.info("Loss for final step: %s.", loss)
        return self

    def _start_step(self):
        path = self.latest_checkpoint()
        return int(load_variable(path, GLOBAL_STEP)) if path is not None else 0

    @staticmethod
    def _checked_hooks(hooks):
        for hook in hooks or ():
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
        return list(hooks or ())

    def _saver_hooks(self, spec, hooks, listeners):
        savers = [hook for hook in hooks if isinstance(hook, CheckpointSaverHook)]
        config = self._config
        if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            return [
                CheckpointSaverHook(
                    self.model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    scaffold=spec.scaffold,
                    listeners=listeners,
                )
            ]
        if listeners:
            if not savers:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one "
                    "of the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            savers[0]._listeners.extend(listeners)
        return []

    def _train_model(self, spec, hooks, listeners):
        graph, config = get_default_graph(), self._config
        if self._warm_start_from is not None and self.latest_checkpoint() is None:
            warm_start(*self._warm_start_from)
        if not any(x.op.name == "loss" for x in graph.get_collection(GraphKeys.SUMMARIES)):
            summary_ops.scalar("loss", spec.loss)
        graph.add_to_collection(GraphKeys.LOSSES, spec.loss)
        hooks = [*hooks, NanTensorHook(spec.loss)]
        if config.log_step_count_steps is not None:
            told = {"loss": spec.loss, "step": get_global_step(graph)}
            hooks.append(LoggingTensorHook(told, every_n_iter=config.log_step_count_steps))
        hooks += spec.training_hooks
        if not (spec.scaffold.saver or graph.get_collection(SAVERS)):
            saver = Saver(
                sharded=True,
                max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                defer_build=True,
                save_relative_paths=True,
            )
            graph.add_to_collection(SAVERS, saver)
        chief_hooks = list(spec.training_chief_hooks)
        chief_hooks += self._saver_hooks(spec, hooks + chief_hooks, listeners)
        loss = None
        with MonitoredTrainingSession(
            master=config.master,
            is_chief=config.is_chief,
            checkpoint_dir=self.model_dir,
            scaffold=spec.scaffold,
            hooks=hooks,
            chief_only_hooks=chief_hooks,
            save_checkpoint_secs=0,
            save_summaries_steps=config.save_summary_steps,
            config=config.session_config,
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=config.log_step_count_steps,
        ) as session:
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
        return loss

    # ---- Evaluating

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """The metrics of the model, its mean loss and its step, as a dict of numbers.

        steps: of batches; None: until the input ends. checkpoint_path: by default the latest.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        hooks = self._checked_hooks(hooks)
        if steps is not None:
            steps *= replicas_of(self._config.eval_distribute)
            hooks.append(StopAfterNEvalsHook(steps))
        path = checkpoint_path or self.latest_checkpoint()
        if path is None:
            logging.info("Could not find trained model in model_dir, evaluating first values.")
        with self._graph() as graph:
            create_global_step(graph)
            spec, input_hooks = self._model(input_fn, ModeKeys.EVAL)
            update, values = self._metrics(spec, graph)
            results = evaluate_once(
                path,
                master=self._config.evaluation_master,
                scaffold=spec.scaffold,
                eval_ops=update,
                final_ops=values,
                hooks=input_hooks + hooks + list(spec.evaluation_hooks),
                config=self._config.session_config,
            )
        self._write_results(results, self.eval_dir(name))
        return results

    @staticmethod
    def _metrics(spec, graph):
        if GLOBAL_STEP in spec.eval_metric_ops:
            raise ValueError(
                "Metric with name `global_step` is not allowed, because Estimator "
                "already defines a default metric with the same name."
            )
        pairs = dict(spec.eval_metric_ops)
        pairs[LOSS] = metrics.mean(spec.loss)
        updates, values = [], {}
        for key in sorted(pairs):
            pair = pairs[key]
            if hasattr(pair, "updates"):  # a metric object
                values[key] = pair.result()
                updates.extend(pair.updates)
            else:
                values[key] = pair[0]
                updates.append(pair[1])
        values[GLOBAL_STEP] = get_global_step(graph)
        return control_flow_ops.group(*updates), values

    @staticmethod
    def _write_results(results, folder):
        said = ", ".join(f"{k} = {v}" for k, v in sorted(results.items()) if type(v) is not bytes)
        logging.info("Saving dict for global step %d: %s", results[GLOBAL_STEP], said)
        writer = FileWriterCache.get(folder)
        summary = messages.Summary()
        for key in sorted(results):
            value = results[key]
            if key == GLOBAL_STEP or value is None:
                continue
            if isinstance(value, (float, int, np.floating, np.integer)):
                summary.value.add(tag=key, simple_value=float(value))
            elif isinstance(value, bytes):
                try:
                    summary.value.extend(messages.Summary.FromString(value).value)
                except Exception:
                    logging.warning("Skipping summary for %s, cannot parse string.", key)
            else:
                logging.warning("Skipping summary for %s, must be a number or a summary.", key)
        writer.add_summary(summary, results[GLOBAL_STEP])
        writer.flush()

    # ---- Predicting

    def predict(
        self,
        input_fn,
        predict_keys=None,
        hooks=None,
        checkpoint_path=None,
        yield_single_examples=True,
    ):
        """Yields the predictions of each row of the input, or of each batch; dicts of arrays where
        the predictions are dicts, of `predict_keys` alone if they are given."""
        hooks = self._checked_hooks(hooks)
        path = checkpoint_path or self.latest_checkpoint()
        if path is None:
            logging.info("Could not find trained model in model_dir, using first values.")
        with self._graph() as graph:
            create_global_step(graph)
            with name_scope(None):
                features, _, input_hooks = _call_input_fn(
                    input_fn, ModeKeys.PREDICT, self._params_of(ModeKeys.PREDICT), self._config
                )
            spec = self._spec(features, None, ModeKeys.PREDICT)
            predictions = self._chosen(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._config.session_config,
            )
            hooks = input_hooks + hooks + list(spec.prediction_hooks)
            with MonitoredSession(session_creator=creator, hooks=hooks) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    if not yield_single_examples:
                        yield batch
                    elif not isinstance(predictions, dict):
                        yield from batch
                    else:
                        for i in range(_num_rows(batch)):
                            yield {key: value[i] for key, value in batch.items()}

    @staticmethod
    def _chosen(predictions, keys):
        if keys is None:
            return predictions
        if not isinstance(predictions, dict):
            raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
        chosen = {key: value for key, value in predictions.items() if key in keys}
        if not chosen:
            raise ValueError(
                f"Expected to run at least one output from {list(predictions)}, provided {keys}."
            )
        return chosen

    # ---- Exporting

    def export_saved_model(
        self,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        experimental_mode=ModeKeys.PREDICT,
    ):
        """Writes the model for serving to a new folder, named by the time, below a folder; its
        path, as bytes."""
        path = checkpoint_path or self._checkpoint()
        folder = _timestamped(export_dir_base)
        with self._graph() as graph:
            create_global_step(graph)
            receiver = serving_input_receiver_fn()
            labels = getattr(receiver, "labels", None)
            spec = self._spec(receiver.features, labels, experimental_mode)
            signatures = _signatures(spec, receiver.receiver_tensors)
            self._write_model(graph, spec, signatures, path, folder, as_text)
        _copy_assets(folder, assets_extra)
        return folder.encode()

    def _write_model(self, graph, spec, signatures, path, folder, as_text):
        scaffold = spec.scaffold
        with Session(config=self._config.session_config) as session:
            saver = scaffold.saver or Saver(sharded=True)
            saver.restore(session, path)
            local_init = scaffold.local_init_op or control_flow_ops.group(
                local_variables_initializer(), tables_initializer()
            )
            session.run(local_init)
            builder = saved_model.Builder(folder)
            builder.add_meta_graph_and_variables(
                session,
                ["serve"],
                signature_def_map=signatures,
                assets_collection=GraphKeys.ASSET_FILEPATHS,
                main_op=local_init,
                saver=saver,
                strip_default_attrs=True,
            )
            builder.save(as_text)

    def export_savedmodel(
        self,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        strip_default_attrs=False,
    ):
        """export_saved_model() by its older name."""
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )


def _num_rows(batch):
    sizes = {key: len(value) for key, value in batch.items()}
    if len(set(sizes.values())) != 1:
        raise ValueError(
            f"Batch length of predictions should be same. The predictions have lengths {sizes}."
        )
    return next(iter(sizes.values()))


# ---- Saved models


class ServingInputReceiver(
    namedtuple("ServingInputReceiver", "features receiver_tensors receiver_tensors_alternatives")
):
    """What a server gives a model: tensors to feed, and the features made of them."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        if receiver_tensors is None:
            raise ValueError("receiver_tensors must be defined.")
        if not isinstance(receiver_tensors, dict):
            receiver_tensors = {"input": receiver_tensors}
        if not isinstance(features, dict):
            features = {"feature": features}
        return super().__new__(cls, features, receiver_tensors, receiver_tensors_alternatives)


class TensorServingInputReceiver(
    namedtuple(
        "TensorServingInputReceiver", "features receiver_tensors receiver_tensors_alternatives"
    )
):
    """A ServingInputReceiver for model functions that take one tensor and no dict."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if not isinstance(receiver_tensors, dict):
            receiver_tensors = {"input": receiver_tensors}
        return super().__new__(cls, features, receiver_tensors, receiver_tensors_alternatives)


class ExportOutput:
    """One of the outputs of a saved model."""

    def as_signature_def(self, receiver_tensors):
        """The SignatureDef message of the output."""
        raise NotImplementedError


class PredictOutput(ExportOutput):
    """Any tensors, by name."""

    def __init__(self, outputs):
        if not isinstance(outputs, dict):
            outputs = {"output": outputs}
        self.outputs = {str(key): convert_to_tensor(value) for key, value in outputs.items()}

    def as_signature_def(self, receiver_tensors):
        return saved_model.predict_signature_def(receiver_tensors, self.outputs)


class RegressionOutput(ExportOutput):
    """A number for each example."""

    def __init__(self, value):
        if not value.dtype.is_floating:
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors):
        (examples,) = receiver_tensors.values()
        if examples.dtype != dtypes.string:
            raise ValueError("Regression input must be a single string Tensor")
        return saved_model.regression_signature_def(examples, self.value)


class ClassificationOutput(ExportOutput):
    """Scores of classes, or their names, for each example."""

    def __init__(self, scores=None, classes=None):
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors):
        (examples,) = receiver_tensors.values()
        if examples.dtype != dtypes.string:
            raise ValueError("Classification input must be a single string Tensor")
        return saved_model.classification_signature_def(examples, self.classes, self.scores)


def _signatures(spec, receiver_tensors):
    outputs = spec.export_outputs
    if outputs is None:
        outputs = {DEFAULT_SIGNATURE: PredictOutput(spec.predictions)}
    if not isinstance(outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    for value in outputs.values():
        if not isinstance(value, ExportOutput):
            raise TypeError("Values in export_outputs must be ExportOutput objects.")
    if len(outputs) == 1 and DEFAULT_SIGNATURE not in outputs:
        outputs = dict(outputs, **{DEFAULT_SIGNATURE: next(iter(outputs.values()))})
    if DEFAULT_SIGNATURE not in outputs:
        raise ValueError(
            f"Multiple export_outputs were provided, but none of them is specified as the default "
            f"by the key {DEFAULT_SIGNATURE}."
        )
    made = {}
    for key, output in outputs.items():
        try:
            made[key] = output.as_signature_def(receiver_tensors)
        except ValueError as error:
            logging.info("Export: signature %s is left out: %s", key, error)
    return made


def _timestamped(base):
    base = os.fsdecode(base)
    for _ in range(10):
        folder = os.path.join(base, str(int(time.time())))
        if not gfile.Exists(folder):
            return folder
        time.sleep(1)
    raise RuntimeError(f"Failed to obtain a unique export directory name below {base}")


def _copy_assets(folder, assets):
    for name, source in (assets or {}).items():
        target = os.path.join(folder, "assets.extra", name)
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A function that makes a placeholder for each feature, to be fed as it is."""

    def receiver_fn():
        made = {}
        for name, tensor in features.items():
            shape = tensor.shape.as_list()
            shape[0] = default_batch_size
            made[name] = array_ops.placeholder(tensor.dtype, shape, name=tensor.op.name)
        return ServingInputReceiver(made, made)

    return receiver_fn


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A function that makes a placeholder for serialized examples, and parses them."""

    def receiver_fn():
        examples = array_ops.placeholder(
            dtypes.string, [default_batch_size], name="input_example_tensor"
        )
        features = parsing_ops.parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return receiver_fn


# ---- Exporting after evaluations


class Exporter:
    """What train_and_evaluate() calls after an evaluation."""

    name = None

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports below `export_path`; gives where to, or None."""
        raise NotImplementedError


class LatestExporter(Exporter):
    """Exports after each evaluation, and keeps the last `exports_to_keep`."""

    def __init__(
        self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5
    ):
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")
        self.name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets, self._as_text, self._keep = assets_extra, as_text, exports_to_keep

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        made = estimator.export_saved_model(
            export_path, self._receiver_fn, self._assets, self._as_text, checkpoint_path
        )
        if self._keep is not None:
            found = sorted(name for name in os.listdir(export_path) if name.isdigit())
            for name in found[: -self._keep]:
                gfile.DeleteRecursively(os.path.join(export_path, name))
        return made


class FinalExporter(Exporter):
    """Exports once, when training is over."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self.name = name
        self._inner = LatestExporter(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        return self._inner.export(estimator, export_path, checkpoint_path, eval_result, True)


def _is_better(best, current):
    return LOSS in best and LOSS in current and best[LOSS] > current[LOSS]


class BestExporter(Exporter):
    """Exports when an evaluation is better than all before."""

    def __init__(
        self,
        name="best_exporter",
        serving_input_receiver_fn=None,
        event_file_pattern=None,
        compare_fn=_is_better,
        assets_extra=None,
        as_text=False,
        exports_to_keep=5,
    ):
        self.name = name
        self._compare = compare_fn
        self._best = None
        self._inner = LatestExporter(
            name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep
        )

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._best is not None and not self._compare(self._best, eval_result):
            return None
        self._best = eval_result
        return self._inner.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
