"""The names that TensorFlow 2 has for itself: where each is defined, by namespace and module."""

import numpy as np

from rheos.framework.version import __version__

_REDUCTIONS = (
    "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod "
    "reduce_sum"
)
_TAPE = {
    "ops.differentiation.gradient_tape": "GradientTape",
    "ops.differentiation.forward_accumulator": "ForwardAccumulator",
}
_ERRORS = (
    "AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError "
    "FailedPreconditionError InternalError InvalidArgumentError NotFoundError OpError "
    "OperatorNotAllowedInGraphError OutOfRangeError PermissionDeniedError ResourceExhaustedError "
    "UnauthenticatedError UnavailableError UnimplementedError UnknownError"
)
_CODES = (
    " ABORTED ALREADY_EXISTS CANCELLED DATA_LOSS DEADLINE_EXCEEDED FAILED_PRECONDITION INTERNAL "
    "INVALID_ARGUMENT NOT_FOUND OK OUT_OF_RANGE PERMISSION_DENIED RESOURCE_EXHAUSTED "
    "UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN"
)

OWN = {
    "__internal__": {
        "framework.eager": "EagerTensor",
        "framework.func_graph": "FuncGraph",
        "framework.marks": "CompositeTensor",
    },
    "__internal__.decorator": {"v2._misc": "unwrap"},
    "__internal__.distribute": {"replication.strategy": "strategy_supports_no_merge_call"},
    "__internal__.distribute.interim": {"replication.strategy": "maybe_merge_call"},
    "__internal__.eager_context": {"v2._insides.context": "eager_mode"},
    "__internal__.smart_cond": {"ops.flow.smart_cond": "smart_cond"},
    "__internal__.tf2": {"v2._misc": "enabled"},
    "__internal__.tracking": {
        "framework.trackable": "AutoTrackable Trackable no_automatic_dependency_tracking",
    },
    "__internal__.types": {"framework.marks": "Tensor=TensorLike"},
    "": {
        "ops.array.rearrange_ops": """
            tensor_scatter_nd_max=tensor_scatter_max tensor_scatter_nd_min=tensor_scatter_min
        """,
        "pipelines.optional": "OptionalSpec",
        "tracing.function": "function",
        "v2._arrays": """
            boolean_mask broadcast_dynamic_shape convert_to_tensor device expand_dims fill gather
            gather_nd linspace ones ones_like pad reshape scatter_nd shape size transpose where
            zeros zeros_like
        """,
        "v2._checks": "assert_equal assert_greater assert_less assert_rank",
        "v2._flow": "cond map_fn vectorized_map while_loop",
        "framework.tensor_spec": "type_spec_from_value",
        "v2._linalg": "matmul",
        "v2._special": "add",
        "v2._misc": "Variable get_current_name_scope inside_function is_symbolic_tensor",
        "v2._nn": "batch_to_space space_to_batch",
        "v2._random": """
            constant_initializer=ConstantInitializer ones_initializer=OnesInitializer
            random_normal_initializer=RandomNormalInitializer
            random_uniform_initializer=RandomUniformInitializer zeros_initializer=ZerosInitializer
        """,
        "v2._reductions": f"argmax argmin {_REDUCTIONS}",
    },
    "autodiff": _TAPE,
    "autograph": {"autograph.api": "set_verbosity to_code to_graph trace"},
    "autograph.experimental": {"autograph.api": "Feature do_not_convert set_loop_options"},
    "config": {
        "tracing.function": """
            experimental_functions_run_eagerly=functions_run_eagerly functions_run_eagerly
            run_functions_eagerly
        """,
        "framework.config": """
            LogicalDevice LogicalDeviceConfiguration PhysicalDevice get_logical_device_configuration
            get_visible_devices set_logical_device_configuration list_logical_devices
            list_physical_devices set_visible_devices threading
        """,
    },
    "config.experimental": {
        "framework.config": """
            disable_mlir_bridge disable_op_determinism enable_mlir_bridge enable_op_determinism
            enable_tensor_float_32_execution get_device_details get_memory_info get_memory_usage
            reset_memory_stats tensor_float_32_execution_enabled
        """,
    },
    "debugging": {
        "inspection.numerics": "disable_check_numerics enable_check_numerics",
        "framework.config": "get_log_device_placement set_log_device_placement",
        "v2._misc": """
            disable_traceback_filtering enable_traceback_filtering is_traceback_filtering_enabled
        """,
        "v2._checks": """
            assert_all_finite assert_equal assert_greater assert_greater_equal assert_less
            assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
            assert_none_equal assert_positive assert_rank assert_rank_at_least assert_rank_in
            assert_scalar
        """,
    },
    "debugging.experimental": {
        "inspection.event_dumps": "disable_dump_debug_info enable_dump_debug_info",
    },
    "distribute": {
        "training.cluster": "Server=ServerV2",
        "replication.input": "DistributedDataset DistributedIterator",
        "replication.mirrored": "MirroredStrategy OneDeviceStrategy TPUStrategy",
        "replication.multi_worker": "MultiWorkerMirroredStrategy",
        "replication.options": "InputOptions RunOptions",
        "replication.parameter_servers": "ParameterServerStrategy",
        "replication.strategy": "Strategy",
        "replication.values": "DistributedValues",
    },
    "distribute.experimental": {
        "replication.mirrored": "CentralStorageStrategy",
        "replication.multi_worker": "MultiWorkerMirroredStrategy",
        "replication.options": """
            CollectiveHints CommunicationImplementation CommunicationOptions ValueContext
        """,
        "replication.parameter_servers": "ParameterServerStrategy",
    },
    "distribute.coordinator": {
        "replication.cluster_coordinator": """
            ClusterCoordinator experimental_get_current_worker_index=get_current_worker_index
        """,
        "replication.remote_values": "PerWorkerValue=PerWorkerValues RemoteValue",
    },
    "distribute.experimental.coordinator": {
        "replication.cluster_coordinator": "ClusterCoordinator",
        "replication.remote_values": "PerWorkerValues RemoteValue",
    },
    "distribute.experimental.partitioners": {
        "replication.partitioners": """
            FixedShardsPartitioner MaxSizePartitioner MinSizePartitioner Partitioner
        """,
    },
    "dtypes.experimental": {"framework.dtypes": "int4 uint4"},
    "experimental": {
        "framework.dtypes": "int4 uint4",
        "ops.extension_type": "BatchableExtensionType ExtensionType ExtensionTypeSpec",
        "ops.ragged.ragged_shape": "DynamicRaggedShape",
        "ops.ragged.row_partition": "RowPartition",
        "pipelines.optional": "Optional",
        "v2._dispatch": """
            binary_elementwise_apis dispatch_for_api dispatch_for_binary_elementwise_apis
            dispatch_for_binary_elementwise_assert_apis dispatch_for_unary_elementwise_apis
            unary_elementwise_apis unregister_dispatch_for
        """,
    },
    "experimental.extension_type": {"ops.extension_type": "as_dict"},
    "experimental.numpy": {
        "framework.operation": "ndarray=Tensor",
        "v2._tnp.arrays": """
            arange array asanyarray asarray ascontiguousarray copy diag diag_indices diagflat
            diagonal empty empty_like eye full full_like geomspace identity iscomplexobj isrealobj
            isscalar issubdtype ix_ linspace logspace meshgrid ndim ones ones_like promote_types
            result_type shape size tri vander zeros zeros_like
        """,
        "v2._tnp.behavior": "experimental_enable_numpy_behavior",
        "v2._tnp.limits": "finfo iinfo select",
        "v2._tnp.math": """
            abs absolute add allclose angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh
            around array_equal average bitwise_and bitwise_not bitwise_or bitwise_xor cbrt ceil
            clip conj conjugate cos cosh cross deg2rad divide divmod dot einsum equal exp exp2
            expm1 fabs fix float_power floor floor_divide gcd greater greater_equal heaviside
            hypot imag inner isclose iscomplex isfinite isinf isnan isneginf isposinf isreal kron
            lcm less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
            logical_or logical_xor matmul maximum minimum mod multiply negative nextafter
            not_equal outer polyval positive power rad2deg real reciprocal remainder round sign
            signbit sin sinc sinh sqrt square subtract tan tanh tensordot true_divide vdot
        """,
        "v2._tnp.reductions": """
            all amax amin any argmax argmin count_nonzero cumprod cumsum diff max mean min nanmean
            nanprod nansum prod ptp std sum trace var
        """,
        "v2._tnp.shapes": """
            append argsort atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to compress
            concatenate dsplit dstack expand_dims flatten flip fliplr flipud hsplit hstack
            moveaxis nonzero pad ravel repeat reshape roll rot90 sort split squeeze stack swapaxes
            take take_along_axis tile transpose tril triu vsplit vstack where
        """,
    },
    "experimental.numpy.random": {
        "v2._tnp.random": "poisson rand randint randn random seed standard_normal uniform",
    },
    "io.gfile": {"framework.gfile": "join"},
    "signal": {
        "ops.math.signal_ops": """
            kaiser_window inverse_mdct kaiser_bessel_derived_window mdct vorbis_window
        """,
    },
    "sysconfig": {"framework.config": "get_build_info"},
    "errors": {"framework.errors": _ERRORS + _CODES},
    "experimental.dtensor": {"v2._dtensor": "Layout MATCH Mesh UNSHARDED create_mesh"},
    "experimental.dlpack": {"v2._misc": "from_dlpack to_dlpack"},
    "image": {
        "v2._image": """
            ResizeMethod adjust_jpeg_quality crop_and_resize draw_bounding_boxes extract_glimpse
            non_max_suppression_padded resize resize_with_pad sample_distorted_bounding_box ssim
            stateless_random_brightness stateless_random_contrast stateless_random_crop
            stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue
            per_image_standardization stateless_random_jpeg_quality stateless_random_saturation
            stateless_sample_distorted_bounding_box
        """,
    },
    "feature_column": {
        "layers.dense_columns": "shared_embeddings",
        "layers.feature_columns": (
            "categorical_column_with_vocabulary_file=categorical_column_with_vocabulary_file_v2"
        ),
    },
    "io": {
        "v2._io": """
            decode_csv decode_raw parse_example parse_single_example serialize_many_sparse
            serialize_sparse
        """,
        "ops.io.parsing_ops": "RaggedFeature",
    },
    "lookup.experimental": {"v2._tables": "DenseHashTable MutableHashTable"},
    "linalg": {
        "ops.linalg.linear_operator_narrow": """
            LinearOperatorBlockLowerTriangular LinearOperatorPermutation LinearOperatorTridiag
        """,
        "ops.linalg.linalg_ops": "eig eigvals",
        "ops.linalg.lu_ops": "banded_triangular_solve lu_matrix_inverse lu_reconstruct lu_solve",
        "v2._linalg": "diag diag_part matmul set_diag",
    },
    "math": {
        "v2._checks": "bincount confusion_matrix",
        "v2._special": "add angle divide_no_nan erfcinv erfinv ndtri xlog1py",
        "v2._nn": "in_top_k top_k",
        "v2._reductions": f"argmax argmin count_nonzero {_REDUCTIONS}",
    },
    "math.special": {
        "v2._special": """
            bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e
            bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence
        """,
    },
    "nn.experimental": {"ops.nn.nn_ops": "general_dropout stateless_dropout"},
    "nn": {
        "ops.nn.ctc_ops": "ctc_loss=ctc_loss_v2",
        "v2._nn": """
            avg_pool avg_pool2d conv1d conv2d conv2d_transpose conv3d conv3d_transpose convolution
            crelu ctc_greedy_decoder depth_to_space depthwise_conv2d dropout embedding_lookup
            space_to_batch
            batch_norm_with_global_normalization dilation2d embedding_lookup_sparse erosion2d
            fractional_avg_pool fractional_max_pool gelu in_top_k max_pool max_pool_with_argmax
            moments nce_loss pool sampled_softmax_loss
            safe_embedding_lookup_sparse separable_conv2d sigmoid_cross_entropy_with_logits silu
            softmax_cross_entropy_with_logits space_to_depth
            sparse_softmax_cross_entropy_with_logits sufficient_statistics swish top_k
            weighted_cross_entropy_with_logits weighted_moments
        """,
    },
    "compat": {
        "framework.compat": "forward_compatibility_horizon forward_compatible",
        "framework.tensor_shape": "dimension_value",
        "ops.array.rearrange_ops": "dimension_at_index",
    },
    "random": {
        "ops.random.random_generators": """
            Algorithm Generator create_rng_state get_global_generator set_global_generator
        """,
        "ops.random.stateless_random_ops": "fold_in split",
        "v2._random": """
            poisson set_seed stateless_binomial stateless_gamma stateless_normal stateless_poisson
            stateless_truncated_normal stateless_uniform
        """,
    },
    "random.experimental": {
        "ops.random.random_generators": "Algorithm",
        "ops.random.stateless_random_ops": (
            "stateless_fold_in=fold_in stateless_shuffle stateless_split=split"
        ),
    },
    "quantization": {
        "v2._quantization": (
            "dequantize quantize quantize_and_dequantize quantize_and_dequantize_v2"
        ),
    },
    "linalg.experimental": {"ops.linalg.lu_ops": "conjugate_gradient"},
    "saved_model": {
        "ops.state.assets": "Asset",
        "training.object_loading": "load",
        "v2._saving": "DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB LoadOptions SaveOptions",
    },
    "saved_model.experimental": {"framework.trackable": "TrackableResource"},
    "strings": {"v2._checks": "length reduce_join split substr to_hash_bucket to_number"},
    "summary": {
        "training.summary_writers": """
            SummaryWriter audio create_file_writer create_noop_writer flush graph histogram image
            record_if scalar should_record_summaries text trace_export trace_off trace_on write
        """,
    },
    "profiler.experimental": {
        "training.profiling": "Profile ProfilerOptions Trace start stop",
    },
    "summary.experimental": {
        "training.summary_writers": "get_step set_step summary_scope write_raw_pb",
    },
    "sparse": {
        "v2._sparse": "add bincount concat cross map_values reduce_max reduce_sum split",
    },
    "types.experimental": {
        "framework.marks": "GenericFunction TensorLike",
        "framework.trace_types": "SupportsTracingProtocol TraceType",
        "tracing.concrete": "ConcreteFunction",
        "tracing.function": "Callable=Function PolymorphicFunction=Function",
    },
    "types.experimental.distributed": {"replication.values": "Mirrored PerReplica"},
    "train": {
        "framework.trackable": "TrackableView",
        "v2._saving": "CheckpointOptions",
        "framework.messages": """
            BytesList ClusterDef Example Feature FeatureList FeatureLists Features FloatList
            Int64List JobDef SequenceExample ServerDef
        """,
    },
    "version": {
        "v1.version": """
            COMPILER_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
            GRAPH_DEF_VERSION_MIN_PRODUCER
        """,
    },
    "ragged": {
        "ops.ragged.ragged_cross": "cross cross_hashed",
    },
    "test": {
        "training.gradient_check": "compute_gradient=compute_gradient_of_function",
        "v1.test": """
            Benchmark TestCase assert_equal_graph_def gpu_device_name is_built_with_cuda
            is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_cpu_target_available
            is_gpu_available main
        """,
    },
}

# Modules that are there as they are.
MODULES = {
    "compat.v1": "v1",
    "compat.v2": "v2",
    "data": "pipelines",
    "data.experimental": "pipelines.experimental",
    "raw_ops": "v1.raw_ops",
}

_NUMPY = {
    **{
        name: getattr(np, name)
        for name in (
            "bool_ complex128 complex64 e float16 float32 float64 inexact int16 int32 int64 int8 "
            "int_ newaxis object_ pi uint16 uint32 uint64 uint8"
        ).split()
    },
    "complex_": np.complex128,
    "float_": np.float64,
    "inf": np.inf,
    "string_": np.bytes_,
    "unicode_": np.str_,
}
VALUES = {f"experimental.numpy.{name}": value for name, value in _NUMPY.items()}
VALUES |= {"version.VERSION": "2.21.0", "__version__": "2.21.0", "version.GIT_VERSION": __version__}
