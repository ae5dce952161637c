"""TensorFlow's messages as classes: ConfigProto, Example and the like."""

from rheos.framework.message import declare

_config = declare(
    """
    // One thread pool.
    message ThreadPoolOptionProto {
      int32 num_threads = 1;
      string global_name = 2;
    }

    // How GPUs are used.
    message GPUOptions {
      // Options of a GPU that may change.
      message Experimental {
        // How one GPU is divided.
        message VirtualDevices { repeated float memory_limit_mb = 1; }
        repeated VirtualDevices virtual_devices = 1;
        bool use_unified_memory = 2;
        int32 num_dev_to_dev_copy_streams = 3;
        string collective_ring_order = 4;
        bool timestamped_allocator = 5;
        int32 kernel_tracker_max_interval = 7;
        int32 kernel_tracker_max_bytes = 8;
        int32 kernel_tracker_max_pending = 9;
      }
      double per_process_gpu_memory_fraction = 1;
      bool allow_growth = 4;
      string allocator_type = 2;
      int64 deferred_deletion_bytes = 3;
      string visible_device_list = 5;
      int32 polling_active_delay_usecs = 6;
      int32 polling_inactive_delay_msecs = 7;
      bool force_gpu_compatible = 8;
      Experimental experimental = 9;
    }

    // What may be rewritten in a graph before it runs.
    message OptimizerOptions {
      enum Level { L1 = 0; L0 = -1; }
      enum GlobalJitLevel { DEFAULT = 0; OFF = -1; ON_1 = 1; ON_2 = 2; }
      bool do_common_subexpression_elimination = 1;
      bool do_constant_folding = 2;
      int64 max_folded_constant_in_bytes = 6;
      bool do_function_inlining = 4;
      Level opt_level = 3;
      GlobalJitLevel global_jit_level = 5;
    }

    // How a model is copied to several devices.
    message AutoParallelOptions {
      bool enable = 1;
      int32 num_replicas = 2;
    }

    // Which operations may share memory.
    message ScopedAllocatorOptions { repeated string enable_op = 1; }

    // What is checked between rewrites.
    message VerifierConfig {
      enum Toggle { DEFAULT = 0; ON = 1; OFF = 2; }
      int64 verification_timeout_in_ms = 1;
      Toggle structure_verifier = 2;
    }

    // Which rewrites are on.
    message RewriterConfig {
      enum Toggle { DEFAULT = 0; ON = 1; OFF = 2; AGGRESSIVE = 3; }
      enum NumIterationsType { DEFAULT_NUM_ITERS = 0; ONE = 1; TWO = 2; }
      enum MemOptType {
        DEFAULT_MEM_OPT = 0; NO_MEM_OPT = 1; MANUAL = 2; SWAPPING_HEURISTICS = 4;
        RECOMPUTATION_HEURISTICS = 5; SCHEDULING_HEURISTICS = 6; HEURISTICS = 3;
      }
      Toggle layout_optimizer = 1;
      Toggle constant_folding = 3;
      Toggle shape_optimization = 13;
      Toggle remapping = 14;
      Toggle arithmetic_optimization = 7;
      Toggle dependency_optimization = 8;
      Toggle loop_optimization = 9;
      Toggle function_optimization = 10;
      Toggle debug_stripper = 11;
      bool disable_model_pruning = 2;
      Toggle scoped_allocator_optimization = 15;
      Toggle pin_to_host_optimization = 18;
      Toggle implementation_selector = 22;
      Toggle auto_mixed_precision = 23;
      bool disable_meta_optimizer = 19;
      NumIterationsType meta_optimizer_iterations = 12;
      int32 min_graph_nodes = 17;
      MemOptType memory_optimization = 4;
      string memory_optimizer_target_node_name_scope = 6;
      int64 meta_optimizer_timeout_ms = 20;
      AutoParallelOptions auto_parallel = 5;
      bool fail_on_optimizer_errors = 21;
      ScopedAllocatorOptions scoped_allocator_opts = 16;
      repeated string optimizers = 100;
      VerifierConfig inter_optimizer_verifier_config = 300;
      VerifierConfig post_optimization_verifier_config = 301;
    }

    // How a graph is prepared.
    message GraphOptions {
      bool enable_recv_scheduling = 2;
      OptimizerOptions optimizer_options = 3;
      int64 build_cost_model = 4;
      int64 build_cost_model_after = 9;
      bool infer_shapes = 5;
      bool place_pruned_graph = 6;
      bool enable_bfloat16_sendrecv = 7;
      int32 timeline_step = 8;
      RewriterConfig rewrite_options = 10;
    }

    // How a cluster's tasks talk.
    message RPCOptions {
      bool use_rpc_for_inprocess_master = 1;
      string compression_algorithm = 2;
      int32 compression_level = 3;
      bool cache_rpc_response = 4;
      bool disable_session_connection_sharing = 5;
    }

    // The tasks of one job: their addresses by number.
    message JobDef {
      string name = 1;
      map<int32, string> tasks = 2;
    }

    // The jobs of a cluster.
    message ClusterDef { repeated JobDef job = 1; }

    // The name of what a session runs.
    message SessionMetadata {
      string name = 1;
      int64 version = 2;
    }

    // Options of a session.
    message ConfigProto {
      // Options that may change.
      message Experimental {
        string collective_group_leader = 1;
        string executor_type = 3;
        int32 recv_buf_max_chunk = 4;
        bool use_numa_affinity = 5;
        bool collective_deterministic_sequential_execution = 6;
        bool collective_nccl = 7;
        bool share_session_state_in_clusterspec_propagation = 8;
        bool disable_thread_spinning = 9;
        bool share_cluster_devices_in_session = 10;
        SessionMetadata session_metadata = 11;
        bool optimize_for_static_graph = 12;
      }
      map<string, int32> device_count = 1;
      int32 intra_op_parallelism_threads = 2;
      int32 inter_op_parallelism_threads = 5;
      bool use_per_session_threads = 9;
      repeated ThreadPoolOptionProto session_inter_op_thread_pool = 12;
      int32 placement_period = 3;
      repeated string device_filters = 4;
      GPUOptions gpu_options = 6;
      bool allow_soft_placement = 7;
      bool log_device_placement = 8;
      GraphOptions graph_options = 10;
      int64 operation_timeout_in_ms = 11;
      RPCOptions rpc_options = 13;
      ClusterDef cluster_def = 14;
      bool isolate_session_state = 15;
      Experimental experimental = 16;
    }

    // A tensor that a debugger watches.
    message DebugTensorWatch {
      string node_name = 1;
      int32 output_slot = 2;
      repeated string debug_ops = 3;
      repeated string debug_urls = 4;
      bool tolerate_debug_op_creation_failures = 5;
    }

    // What a debugger watches.
    message DebugOptions {
      repeated DebugTensorWatch debug_tensor_watch_opts = 4;
      int64 global_step = 10;
      bool reset_disk_byte_usage = 11;
    }

    // Options of one run.
    message RunOptions {
      enum TraceLevel {
        NO_TRACE = 0; SOFTWARE_TRACE = 1; HARDWARE_TRACE = 2; FULL_TRACE = 3;
      }
      // Options that may change.
      message Experimental {
        int64 collective_graph_key = 1;
        bool use_run_handler_pool = 2;
      }
      TraceLevel trace_level = 1;
      int64 timeout_in_ms = 2;
      int32 inter_op_thread_pool = 3;
      bool output_partition_graphs = 5;
      DebugOptions debug_options = 6;
      bool report_tensor_allocations_upon_oom = 7;
      Experimental experimental = 8;
    }
    """,
    "rheos.v1",
)

_run_metadata = declare(
    """
    // When one operation of a step ran.
    message NodeExecStats {
      string node_name = 1;
      int64 all_start_micros = 2;
      int64 op_start_rel_micros = 3;
      int64 op_end_rel_micros = 4;
      int64 all_end_rel_micros = 5;
      string timeline_label = 8;
      int64 scheduled_micros = 9;
      uint32 thread_id = 10;
      int64 all_start_nanos = 13;
      int64 op_start_rel_nanos = 14;
      int64 op_end_rel_nanos = 15;
      int64 all_end_rel_nanos = 16;
      int64 scheduled_nanos = 17;
    }

    // When the operations of one device ran.
    message DeviceStepStats {
      string device = 1;
      repeated NodeExecStats node_stats = 2;
      map<uint32, string> thread_names = 3;
    }

    // When each operation of a step ran.
    message StepStats { repeated DeviceStepStats dev_stats = 1; }

    // What is known about one run. Its graphs are kept as they came.
    message RunMetadata { StepStats step_stats = 1; }
    """,
    "rheos.v1",
)

_examples = declare(
    """
    // Strings of bytes.
    message BytesList { repeated bytes value = 1; }

    // Numbers of single precision.
    message FloatList { repeated float value = 1; }

    // Integers.
    message Int64List { repeated int64 value = 1; }

    // The values of one feature, in one of three lists.
    message Feature {
      oneof kind {
        BytesList bytes_list = 1;
        FloatList float_list = 2;
        Int64List int64_list = 3;
      }
    }

    // Features by name.
    message Features { map<string, Feature> feature = 1; }

    // The values of one feature at each step of a sequence.
    message FeatureList { repeated Feature feature = 1; }

    // Sequences of features by name.
    message FeatureLists { map<string, FeatureList> feature_list = 1; }

    // An example to learn from: its features.
    message Example { Features features = 1; }

    // A sequence to learn from: features of the whole, and features of each step.
    message SequenceExample {
      Features context = 1;
      FeatureLists feature_lists = 2;
    }
    """,
    "rheos.v1",
)

ConfigProto = _config["ConfigProto"]
GPUOptions = _config["GPUOptions"]
GraphOptions = _config["GraphOptions"]
OptimizerOptions = _config["OptimizerOptions"]
RunOptions = _config["RunOptions"]
RunMetadata = _run_metadata["RunMetadata"]

BytesList = _examples["BytesList"]
Example = _examples["Example"]
Feature = _examples["Feature"]
FeatureList = _examples["FeatureList"]
FeatureLists = _examples["FeatureLists"]
Features = _examples["Features"]
FloatList = _examples["FloatList"]
Int64List = _examples["Int64List"]
SequenceExample = _examples["SequenceExample"]
ClusterDef = _config["ClusterDef"]
JobDef = _config["JobDef"]
