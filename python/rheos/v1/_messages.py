"""Objects with TensorFlow's options as attributes: ConfigProto and the like."""


class Message:
    """An object with fixed fields, in the manner of a protocol buffer.

    A field that does not exist or a value of the wrong type is an error; nested messages are made
    when they are first used.
    """

    _FIELDS = {}

    def __init__(self, **fields):
        object.__setattr__(self, "_values", {})
        for name, value in fields.items():
            kind = self._kind(
                name,
                f'Protocol message {type(self).__name__} has no "{name}" field.',
                ValueError,
            )
            if value is None:
                continue
            if isinstance(kind, type) and issubclass(kind, Message):
                if isinstance(value, dict):
                    value = kind(**value)
                if not isinstance(value, kind):
                    raise TypeError(
                        f"Parameter to initialize message field must be dict or instance of same "
                        f"class: expected {kind.__name__} got {type(value).__name__}."
                    )
                self._values[name] = value
            elif isinstance(kind, (list, dict)):
                held = getattr(self, name)
                held.update(value) if isinstance(held, dict) else held.extend(value)
            else:
                setattr(self, name, value)

    def _kind(self, name, message, error):
        try:
            return self._FIELDS[name]
        except KeyError:
            raise error(message) from None

    def __getattr__(self, name):
        kind = self._kind(
            name, f"'{type(self).__name__}' object has no attribute '{name}'", AttributeError
        )
        values = self._values
        if name in values:
            return values[name]
        if isinstance(kind, type) and issubclass(kind, Message):
            values[name] = kind()
            return values[name]
        if isinstance(kind, (list, dict)):
            values[name] = type(kind)()
            return values[name]
        return kind

    def __setattr__(self, name, value):
        kind = self._kind(
            name,
            f'Assignment not allowed (no field "{name}" in protocol message object).',
            AttributeError,
        )
        if isinstance(kind, (list, dict)) or isinstance(kind, type):
            raise AttributeError(
                f'Assignment not allowed to composite field "{name}" in protocol message object.'
            )
        self._values[name] = _checked(name, kind, value)

    def HasField(self, name):
        """Whether a field has been set."""
        self._kind(name, f"Protocol message {type(self).__name__} has no field {name}.", ValueError)
        return name in self._values

    def ClearField(self, name):
        self._kind(name, f"Protocol message {type(self).__name__} has no field {name}.", ValueError)
        self._values.pop(name, None)

    def CopyFrom(self, other):
        """Takes over the fields of another message of the same kind."""
        if type(other) is not type(self):
            raise TypeError(
                f"Parameter to CopyFrom() must be instance of same class: expected "
                f"{type(self).__name__} got {type(other).__name__}."
            )
        import copy

        object.__setattr__(self, "_values", copy.deepcopy(other._values))

    def MergeFrom(self, other):
        import copy

        for name, value in other._values.items():
            mine = self._values.get(name)
            if isinstance(mine, Message):
                mine.MergeFrom(value)
            elif isinstance(mine, list):
                mine.extend(copy.deepcopy(value))
            elif isinstance(mine, dict):
                mine.update(copy.deepcopy(value))
            else:
                self._values[name] = copy.deepcopy(value)

    def __deepcopy__(self, memo):
        made = type(self)()
        made.CopyFrom(self)
        return made

    def __eq__(self, other):
        return type(other) is type(self) and str(self) == str(other)

    __hash__ = None

    def _lines(self, indent):
        for name in self._FIELDS:
            if name not in self._values:
                continue
            value = self._values[name]
            if isinstance(value, dict):
                for key, item in sorted(value.items()):
                    yield f"{indent}{name} {{"
                    yield f"{indent}  key: {_text(key)}"
                    yield f"{indent}  value: {_text(item)}"
                    yield f"{indent}}}"
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Message):
                    yield f"{indent}{name} {{"
                    yield from item._lines(indent + "  ")
                    yield f"{indent}}}"
                else:
                    yield f"{indent}{name}: {_text(item)}"

    def __repr__(self):
        return "".join(line + "\n" for line in self._lines(""))


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _checked(name, default, value):
    if isinstance(default, bool):
        if isinstance(value, (bool, int)):
            return bool(value)
    elif isinstance(default, int):
        if hasattr(value, "__index__"):
            return value.__index__()
    elif isinstance(default, float):
        if hasattr(value, "__float__"):
            return float(value)
    elif isinstance(default, str) and isinstance(value, (str, bytes)):
        return value.decode() if isinstance(value, bytes) else value
    elif value is None or default is None:
        return value
    raise TypeError(
        f"{value!r} has type {type(value).__name__}, but expected one of: {type(default).__name__} "
        f"(field {name})"
    )


def _message(name, doc, fields, **constants):
    return type(
        name,
        (Message,),
        {"_FIELDS": fields, "__doc__": doc, "__module__": "rheos.v1", **constants},
    )


ThreadPoolOptionProto = _message(
    "ThreadPoolOptionProto", "One thread pool.", {"num_threads": 0, "global_name": ""}
)
_GPUExperimental = _message(
    "Experimental",
    "Options of a GPU that may change.",
    {
        "virtual_devices": [],
        "use_unified_memory": False,
        "num_dev_to_dev_copy_streams": 0,
        "collective_ring_order": "",
        "timestamped_allocator": False,
        "kernel_tracker_max_interval": 0,
        "kernel_tracker_max_bytes": 0,
        "kernel_tracker_max_pending": 0,
    },
)
GPUOptions = _message(
    "GPUOptions",
    "How GPUs are used.",
    {
        "per_process_gpu_memory_fraction": 0.0,
        "allow_growth": False,
        "allocator_type": "",
        "deferred_deletion_bytes": 0,
        "visible_device_list": "",
        "polling_active_delay_usecs": 0,
        "polling_inactive_delay_msecs": 0,
        "force_gpu_compatible": False,
        "experimental": _GPUExperimental,
    },
)
OptimizerOptions = _message(
    "OptimizerOptions",
    "What may be rewritten in a graph before it runs.",
    {
        "do_common_subexpression_elimination": False,
        "do_constant_folding": False,
        "max_folded_constant_in_bytes": 0,
        "do_function_inlining": False,
        "opt_level": 0,
        "global_jit_level": 0,
    },
    L1=0,
    L0=-1,
    DEFAULT=0,
    OFF=-1,
    ON_1=1,
    ON_2=2,
)
_REWRITES = (
    "layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization "
    "dependency_optimization loop_optimization function_optimization debug_stripper "
    "scoped_allocator_optimization pin_to_host_optimization implementation_selector "
    "auto_mixed_precision meta_optimizer_iterations memory_optimization"
)
RewriterConfig = _message(
    "RewriterConfig",
    "Which rewrites are on.",
    {
        **dict.fromkeys(_REWRITES.split(), 0),
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
        "min_graph_nodes": 0,
        "optimizers": [],
    },
    DEFAULT=0,
    ON=1,
    OFF=2,
    AGGRESSIVE=3,
)
GraphOptions = _message(
    "GraphOptions",
    "How a graph is prepared.",
    {
        "enable_recv_scheduling": False,
        "optimizer_options": OptimizerOptions,
        "build_cost_model": 0,
        "build_cost_model_after": 0,
        "infer_shapes": False,
        "place_pruned_graph": False,
        "enable_bfloat16_sendrecv": False,
        "timeline_step": 0,
        "rewrite_options": RewriterConfig,
    },
)
RPCOptions = _message(
    "RPCOptions",
    "How a cluster's tasks talk.",
    {
        "use_rpc_for_inprocess_master": False,
        "compression_algorithm": "",
        "compression_level": 0,
        "cache_rpc_response": False,
        "disable_session_connection_sharing": False,
    },
)
ClusterDef = _message("ClusterDef", "The tasks of a cluster.", {"job": []})
_ConfigExperimental = _message(
    "Experimental",
    "Options that may change.",
    {
        "collective_group_leader": "",
        "executor_type": "",
        "recv_buf_max_chunk": 0,
        "use_numa_affinity": False,
        "collective_deterministic_sequential_execution": False,
        "collective_nccl": False,
        "share_session_state_in_clusterspec_propagation": False,
        "disable_thread_spinning": False,
        "share_cluster_devices_in_session": False,
        "optimize_for_static_graph": False,
    },
)
ConfigProto = _message(
    "ConfigProto",
    "Options of a session.",
    {
        "device_count": {},
        "intra_op_parallelism_threads": 0,
        "inter_op_parallelism_threads": 0,
        "use_per_session_threads": False,
        "session_inter_op_thread_pool": [],
        "placement_period": 0,
        "device_filters": [],
        "gpu_options": GPUOptions,
        "allow_soft_placement": False,
        "log_device_placement": False,
        "graph_options": GraphOptions,
        "operation_timeout_in_ms": 0,
        "rpc_options": RPCOptions,
        "cluster_def": ClusterDef,
        "isolate_session_state": False,
        "experimental": _ConfigExperimental,
    },
    Experimental=_ConfigExperimental,
)
GPUOptions.Experimental = _GPUExperimental
_DebugOptions = _message(
    "DebugOptions",
    "What a debugger watches.",
    {"debug_tensor_watch_opts": [], "global_step": 0, "reset_disk_byte_usage": False},
)
_RunExperimental = _message(
    "Experimental",
    "Options that may change.",
    {"collective_graph_key": 0, "use_run_handler_pool": False},
)
RunOptions = _message(
    "RunOptions",
    "Options of one run.",
    {
        "trace_level": 0,
        "timeout_in_ms": 0,
        "inter_op_thread_pool": 0,
        "output_partition_graphs": False,
        "debug_options": _DebugOptions,
        "report_tensor_allocations_upon_oom": False,
        "experimental": _RunExperimental,
    },
    NO_TRACE=0,
    SOFTWARE_TRACE=1,
    HARDWARE_TRACE=2,
    FULL_TRACE=3,
    Experimental=_RunExperimental,
)
_StepStats = _message("StepStats", "When each operation of a step ran.", {"dev_stats": []})
_CostGraph = _message("CostGraphDef", "What each operation of a graph costs.", {"node": []})
RunMetadata = _message(
    "RunMetadata",
    "What is known about one run.",
    {
        "step_stats": _StepStats,
        "cost_graph": _CostGraph,
        "partition_graphs": [],
        "function_graphs": [],
    },
)
