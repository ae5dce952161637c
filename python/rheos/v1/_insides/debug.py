"""tfdbg: tensorflow.python.debug, and the modules below it that programs import."""

from rheos.inspection.dump_dir import (
    DebugDumpDir,
    DebugTensorDatum,
    InconvertibleTensorProto,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
    reconstruct_non_debug_graph_def,
)
from rheos.inspection.local_cli import LocalCLIDebugHook, LocalCLIDebugWrapperSession
from rheos.inspection.tensor_watches import (
    WatchOptions,
    add_debug_tensor_watch,
    watch_graph,
    watch_graph_with_blacklists,
    watch_graph_with_denylists,
)
from rheos.inspection.wrappers import DumpingDebugHook, DumpingDebugWrapperSession
