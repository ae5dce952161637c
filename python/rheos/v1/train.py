"""Training: optimizers, checkpoints, the step counter, learning rates."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.io_ops import match_filenames_once
from rheos.v1._checkpoints import (
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
from rheos.v1._coordinator import (
    Coordinator,
    LooperThread,
    add_queue_runner,
    start_queue_runners,
)
from rheos.v1._first_values import VocabInfo, init_from_checkpoint, warm_start
from rheos.v1._global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from rheos.v1._learning_rates import (
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
from rheos.v1._meta_graph import export_meta_graph, import_meta_graph
from rheos.v1._monitored_session import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
    SessionCreator,
    SingularMonitoredSession,
    WorkerSessionCreator,
)
from rheos.v1._more_optimizers import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    FtrlOptimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
    RMSPropOptimizer,
)
from rheos.v1._moving_averages import ExponentialMovingAverage
from rheos.v1._optimizers import (
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
)
from rheos.v1._saver import Saver
from rheos.v1._session_hooks import (
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
from rheos.v1._session_manager import SessionManager
from rheos.v1._summary import (
    FileWriter as SummaryWriter,
    FileWriterCache as SummaryWriterCache,
    write_graph,
)
from rheos.v1._supervisor import Supervisor, basic_train_loop

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
    "SaverDef",
    "SequenceExample",
    "ServerDef",
)
__getattr__ = _attribute_of("tensorflow.train", _MESSAGES)


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_MESSAGES})

