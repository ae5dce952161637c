"""Training: optimizers, checkpoints, the step counter, learning rates."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.io_ops import match_filenames_once
from rheos.training import queue_runner
from rheos.training.checkpoints import (
    NewCheckpointReader,
    checkpoint_exists,
    checkpoints_iterator,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
    remove_checkpoint,
    summary_iterator,
    update_checkpoint_state,
)
from rheos.training.coordinator import (
    Coordinator,
    LooperThread,
    add_queue_runner,
    start_queue_runners,
)
from rheos.training.first_values import VocabInfo, init_from_checkpoint, warm_start
from rheos.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from rheos.training.input import (
    batch,
    batch_join,
    input_producer,
    limit_epochs,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    range_input_producer,
    shuffle_batch,
    shuffle_batch_join,
    slice_input_producer,
    string_input_producer,
)
from rheos.training.learning_rates import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant as piecewise_constant_decay,
    polynomial_decay,
)
from rheos.training.meta_graph import export_meta_graph
from rheos.training.monitored_session import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
    SessionCreator,
    SingularMonitoredSession,
    WorkerSessionCreator,
)
from rheos.training.more_optimizers import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    FtrlOptimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
    RMSPropOptimizer,
)
from rheos.training.moving_averages import ExponentialMovingAverage
from rheos.training.object_checkpoints import Checkpoint, CheckpointManager
from rheos.training.optimizers import (
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
)
from rheos.training.queue_runner import QueueRunner
from rheos.training.saver import Saver, import_meta_graph
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
from rheos.training.session_manager import SessionManager
from rheos.training.summary import (
    FileWriter as SummaryWriter,
    FileWriterCache as SummaryWriterCache,
    write_graph,
)
from rheos.training.supervisor import Supervisor, basic_train_loop

_MESSAGES = (
    "BytesList",
    "CheckpointState",
    "ClusterDef",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "JobDef",
    "QueueRunnerDef",
    "SaverDef",
    "SequenceExample",
    "ServerDef",
)
__getattr__ = _attribute_of("tensorflow.train", _MESSAGES)


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_MESSAGES})

