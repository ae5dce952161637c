"""The names that are in TensorFlow 1 and 2 the same thing: where each is defined.

By namespace and module; "name=other" is what the module calls `other`.
"""

from rheos.faces.same_keras import SAME_KERAS

SAME = {
    "": {
        "framework.conversion": "register_tensor_conversion_function",
        "framework.device_spec": "DeviceSpec",
        "framework.dtypes": "DType as_dtype",
        "framework.eager": "executing_eagerly",
        "framework.gradient_registry": "RegisterGradient no_gradient",
        "framework.graph": "Graph control_dependencies init_scope name_scope",
        "framework.importer": "import_graph_def",
        "framework.indexed_slices": "IndexedSlices",
        "framework.indexed_slices_spec": "IndexedSlicesSpec",
        "framework.operation": "Operation Tensor",
        "framework.sparse_tensor": "SparseTensor",
        "framework.sparse_tensor_spec": "SparseTensorSpec",
        "framework.tensor_proto": "make_ndarray",
        "framework.tensor_shape": "TensorShape",
        "framework.tensor_spec": "TensorSpec TypeSpec",
        "ops.array.array_ops": """
            broadcast_static_shape broadcast_to concat dynamic_partition dynamic_stitch identity
            meshgrid newaxis one_hot parallel_stack rank reverse shape_n slice split squeeze stack
            stop_gradient strided_slice tile unique unstack
        """,
        "ops.array.cast_ops": "cast range",
        "ops.math.check_ops": "ensure_shape",
        "ops.math.clip_ops": "clip_by_global_norm clip_by_norm clip_by_value",
        "ops.array.constant_op": "constant make_tensor_proto",
        "ops.flow.control_flow_ops": "Assert case group no_op switch_case tuple",
        "ops.flow.critical_section": "CriticalSection",
        "ops.nn.ctc_ops": "edit_distance",
        "ops.differentiation.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
        "ops.flow.functional_ops": "foldl foldr scan",
        "ops.differentiation.gradient_tape": "GradientTape",
        "ops.differentiation.gradients": """
            AggregationMethod UnconnectedGradients gradients hessians
        """,
        "ops.linalg.linalg_ops": "einsum matrix_square_root",
        "ops.io.logging_ops": "print=print_v2",
        "ops.math.math_ops": """
            abs acos acosh add_n asin asinh atan atan2 atanh cos cosh cumsum divide equal exp floor
            greater greater_equal less less_equal logical_and logical_not logical_or maximum minimum
            multiply negative norm not_equal pow realdiv round saturate_cast scalar_mul sigmoid sign
            sin sinh sqrt square subtract tan tanh tensordot truediv truncatediv truncatemod
        """,
        "ops.state.module": "Module",
        "ops.flow.py_function": "py_function",
        "ops.ragged.ragged_tensor": "RaggedTensor",
        "ops.ragged.ragged_tensor_spec": "RaggedTensorSpec",
        "ops.array.rearrange_ops": """
            argsort bitcast extract_volume_patches eye get_static_value guarantee_const identity_n
            is_tensor repeat required_space_to_batch_paddings reverse_sequence roll searchsorted
            sequence_mask sort space_to_batch_nd tensor_scatter_nd_add=tensor_scatter_add
            tensor_scatter_nd_sub=tensor_scatter_sub tensor_scatter_nd_update=tensor_scatter_update
            unique_with_counts unravel_index
        """,
        "ops.flow.script_ops": "numpy_function",
        "ops.math.special_math_ops": "complex",
        "ops.math.statistics_ops": "histogram_fixed_width histogram_fixed_width_bins",
        "ops.io.string_ops": "as_string fingerprint",
        "ops.io.summary_ops": "timestamp",
        "ops.flow.tensor_array_ops": "TensorArray",
        "ops.flow.tensor_array_spec": "TensorArraySpec",
        "ops.state.variables": "VariableAggregation VariableSynchronization variable_creator_scope",
        "v1._modes": "enable_v2_behavior get_logger",
        "training.linting": "lint",
    },
    "audio": {"ops.media.audio_ops": "decode_wav encode_wav"},
    "bitwise": {
        "ops.math.bitwise_ops": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    },
    "compat": {
        "framework.compat": """
            as_bytes as_str as_str_any as_text bytes_or_text_types complex_types integral_types
            path_to_str real_types
        """,
    },
    "config": {
        "framework.config": "get_soft_device_placement set_soft_device_placement",
        "tracing.function": "experimental_run_functions_eagerly=run_functions_eagerly",
        "training.connecting": "experimental_connect_to_cluster=connect_to_cluster",
    },
    "config.experimental": {
        "framework.config": """
            VirtualDeviceConfiguration get_device_policy get_memory_growth get_synchronous_execution
            get_virtual_device_configuration=get_logical_device_configuration get_visible_devices
            list_logical_devices list_physical_devices set_device_policy set_memory_growth
            set_synchronous_execution
            set_virtual_device_configuration=set_logical_device_configuration set_visible_devices
        """,
    },
    "config.optimizer": {
        "framework.config": "get_experimental_options get_jit set_experimental_options set_jit",
    },
    "debugging": {
        "ops.math.check_ops": """
            assert_integer assert_proper_iterable assert_same_float_dtype assert_shapes assert_type
            check_numerics is_numeric_tensor
        """,
        "ops.flow.control_flow_ops": "Assert",
        "training.watches": "watch",
    },
    "distribute": {
        "replication.options": "InputContext InputReplicationMode",
        "replication.reductions": """
            CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReduceOp ReductionToOneDevice
        """,
        "replication.replica_context": "ReplicaContext",
        "replication.strategy": """
            StrategyExtended experimental_set_strategy get_replica_context get_strategy
            has_strategy in_cross_replica_context
        """,
    },
    "distribute.experimental": {
        "replication.mirrored": "TPUStrategy",
        "replication.options": "CollectiveCommunication=CommunicationImplementation",
    },
    "distribute.cluster_resolver": {
        "training.cluster_resolver": """
            ClusterResolver KubernetesClusterResolver SimpleClusterResolver SlurmClusterResolver
            TFConfigClusterResolver UnionResolver
        """,
    },
    "dtypes": {
        "framework.dtypes": "DType as_dtype",
        "ops.array.cast_ops": "cast",
        "ops.math.math_ops": "saturate_cast",
        "ops.math.special_math_ops": "complex",
    },
    "feature_column": {
        "layers.column_layers": "make_parse_example_spec",
        "layers.dense_columns": """
            bucketized_column embedding_column indicator_column numeric_column
            sequence_numeric_column
        """,
        "layers.feature_columns": """
            categorical_column_with_hash_bucket categorical_column_with_identity
            categorical_column_with_vocabulary_list crossed_column
            sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list weighted_categorical_column
        """,
    },
    "graph_util": {"framework.importer": "import_graph_def"},
    "image": {
        "ops.media.image_boxes": """
            combined_non_max_suppression non_max_suppression non_max_suppression_overlaps
            non_max_suppression_with_scores
        """,
        "ops.media.image_color": """
            adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation
            convert_image_dtype grayscale_to_rgb hsv_to_rgb random_brightness random_contrast
            random_hue random_saturation rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv
            yiq_to_rgb yuv_to_rgb
        """,
        "ops.media.image_files": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png
            encode_jpeg encode_png extract_jpeg_shape is_jpeg random_jpeg_quality
        """,
        "ops.media.image_ops": """
            central_crop crop_to_bounding_box flip_left_right flip_up_down image_gradients
            pad_to_bounding_box random_flip_left_right random_flip_up_down
            resize_with_crop_or_pad=resize_image_with_crop_or_pad rot90 sobel_edges total_variation
            transpose=transpose_image
        """,
        "ops.media.image_quality": "psnr ssim_multiscale",
        "ops.random.random_ops": "random_crop",
        "ops.array.rearrange_ops": "extract_patches=extract_image_patches",
    },
    "initializers": {"ops.state.init_ops": "identity=Identity orthogonal=Orthogonal"},
    "io": {
        "ops.media.image_files": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png
            encode_jpeg encode_png extract_jpeg_shape is_jpeg
        """,
        "ops.io.io_ops": """
            match_filenames_once matching_files parse_tensor read_file serialize_tensor write_file
        """,
        "ops.io.parsing_ops": """
            FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_compressed
            decode_json_example parse_sequence_example parse_single_sequence_example
        """,
        "ops.array.sparse_ops": "deserialize_many_sparse",
        "ops.io.string_ops": "decode_base64 encode_base64",
        "training.records": "TFRecordOptions TFRecordWriter",
        "training.summary": "write_graph",
    },
    "io.gfile": {
        "framework.gfile": """
            GFile copy=Copy exists=Exists glob=Glob isdir=IsDirectory listdir=ListDirectory
            makedirs=MakeDirs mkdir=MkDir remove=Remove rename=Rename rmtree=DeleteRecursively
            stat=Stat walk=Walk
        """,
    },
    "linalg": {
        "ops.array.array_ops": "band_part=matrix_band_part tensor_diag=diag",
        "ops.math.clip_ops": "global_norm",
        "ops.linalg.linalg_ops": """
            adjoint cholesky cholesky_solve cross det=matrix_determinant eigh=self_adjoint_eig
            eigvalsh=self_adjoint_eigvals einsum expm=matrix_exponential inv=matrix_inverse logdet
            logm=matrix_logarithm lstsq=matrix_solve_ls lu matrix_rank matvec normalize pinv qr
            slogdet solve=matrix_solve sqrtm=matrix_square_root svd trace
            triangular_solve=matrix_triangular_solve tridiagonal_matmul tridiagonal_solve
        """,
        "ops.linalg.linear_operator": "LinearOperator",
        "ops.linalg.linear_operator_circulant": """
            LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D
            LinearOperatorToeplitz
        """,
        "ops.linalg.linear_operator_combinations": """
            LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorComposition
            LinearOperatorInversion LinearOperatorKronecker
        """,
        "ops.linalg.linear_operator_structures": """
            LinearOperatorHouseholder LinearOperatorLowRankUpdate LinearOperatorZeros
        """,
        "ops.linalg.linear_operators": """
            LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorIdentity
            LinearOperatorLowerTriangular LinearOperatorScaledIdentity
        """,
        "ops.math.math_ops": "norm tensordot",
        "ops.nn.nn_ops": "l2_normalize",
        "ops.array.rearrange_ops": "eye matrix_transpose tensor_diag_part=diag_part",
    },
    "lookup": {
        "ops.state.lookup_ops": """
            KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex
            TextFileInitializer
        """,
    },
    "losses": {"ops.nn.losses": "Reduction"},
    "math": {
        "ops.array.array_ops": "invert_permutation",
        "ops.math.check_ops": "is_non_decreasing is_strictly_increasing",
        "ops.math.math_ops": """
            abs accumulate_n acos acosh add_n asin asinh atan atan2 atanh ceil conj cos cosh cumprod
            cumsum divide equal erf erfc exp expm1 floor floordiv floormod greater greater_equal
            is_finite is_inf is_nan less less_equal log log1p logical_and logical_not logical_or
            logical_xor maximum minimum mod=floormod multiply negative not_equal pow reciprocal rint
            round rsqrt scalar_mul sigmoid sign sin sinh sqrt square squared_difference subtract tan
            tanh truediv xdivy xlogy
        """,
        "ops.nn.nn_ops": "l2_normalize log_softmax softmax softplus softsign zero_fraction",
        "ops.array.segment_ops": """
            segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max
            unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
            unsorted_segment_sum
        """,
        "ops.math.special_math_ops": """
            bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc cumulative_logsumexp digamma igamma
            igammac imag lbeta lgamma log_sigmoid multiply_no_nan nextafter polygamma polyval real
            reciprocal_no_nan reduce_euclidean_norm reduce_std reduce_variance zeta
        """,
    },
    "nest": {
        "framework.nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    },
    "nn": {
        "ops.nn.candidate_sampling_ops": """
            all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
            learned_unigram_candidate_sampler
        """,
        "ops.nn.ctc_ops": "collapse_repeated ctc_beam_search_decoder ctc_unique_labels",
        "ops.math.math_ops": "sigmoid tanh",
        "ops.nn.nn_conv": """
            atrous_conv2d atrous_conv2d_transpose conv1d_transpose conv_transpose
            depthwise_conv2d_backprop_filter=depthwise_conv2d_native_backprop_filter
            depthwise_conv2d_backprop_input=depthwise_conv2d_native_backprop_input
            with_space_to_batch
        """,
        "ops.nn.nn_norm": """
            local_response_normalization lrn=local_response_normalization normalize_moments
        """,
        "ops.nn.nn_ops": """
            batch_normalization bias_add compute_average_loss elu l2_loss l2_normalize leaky_relu
            log_poisson_loss log_softmax relu relu6 scale_regularization_loss selu softmax softplus
            softsign zero_fraction
        """,
        "ops.nn.nn_pool": "avg_pool1d avg_pool3d max_pool1d max_pool2d max_pool3d",
    },
    "quantization": {
        "ops.array.quantize_ops": """
            fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
            fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
            fake_quant_with_min_max_vars_per_channel
            fake_quant_with_min_max_vars_per_channel_gradient quantized_concat
        """,
    },
    "queue": {
        "ops.data_flow.data_flow_ops": """
            FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
        """,
    },
    "ragged": {
        "ops.ragged.ragged_ops": "boolean_mask constant map_flat_values range stack",
        "ops.ragged.ragged_shaping": "stack_dynamic_partitions",
        "ops.ragged.ragged_tensor": "row_splits_to_segment_ids segment_ids_to_row_splits",
    },
    "random": {
        "ops.nn.candidate_sampling_ops": """
            all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
            log_uniform_candidate_sampler uniform_candidate_sampler
        """,
        "ops.random.random_ops": """
            categorical gamma=random_gamma normal=random_normal shuffle=random_shuffle
            truncated_normal uniform=random_uniform
        """,
        "ops.random.stateless_random_ops": "stateless_categorical",
    },
    "random.experimental": {
        "ops.random.random_generators": """
            Generator create_rng_state get_global_generator set_global_generator
        """,
    },
    "saved_model": {
        "training.object_saving": "save",
        "training.saved_model": """
            ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
            CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS
            PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS
            SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING
            TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME contains_saved_model
        """,
    },
    "sets": {
        "ops.array.sets_impl": """
            difference=set_difference intersection=set_intersection size=set_size union=set_union
        """,
    },
    "signal": {
        "ops.math.signal_ops": """
            frame hamming_window hann_window inverse_stft inverse_stft_window_fn
            linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft
        """,
        "ops.math.spectral_ops": """
            dct fft fft2d fft3d fftshift idct ifft ifft2d ifft3d ifftshift irfft irfft2d irfft3d
            rfft rfft2d rfft3d
        """,
    },
    "sparse": {
        "framework.sparse_tensor": "SparseTensor",
        "ops.array.segment_ops": """
            segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n
            segment_sum=sparse_segment_sum
        """,
        "ops.array.sparse_ops": """
            cross_hashed=sparse_cross_hashed expand_dims=sparse_expand_dims eye=sparse_eye
            fill_empty_rows=sparse_fill_empty_rows from_dense mask=sparse_mask
            maximum=sparse_maximum minimum=sparse_minimum reorder=sparse_reorder
            reset_shape=sparse_reset_shape reshape=sparse_reshape retain=sparse_retain
            slice=sparse_slice softmax=sparse_softmax sparse_dense_matmul=sparse_tensor_dense_matmul
            to_dense=sparse_tensor_to_dense to_indicator=sparse_to_indicator
            transpose=sparse_transpose
        """,
    },
    "strings": {
        "ops.ragged.ragged_string_ops": """
            bytes_split=string_bytes_split ngrams unicode_decode unicode_decode_with_offsets
            unicode_encode unicode_split unicode_split_with_offsets
        """,
        "ops.io.string_ops": """
            as_string format=string_format join=string_join lower=string_lower regex_full_match
            regex_replace strip=string_strip to_hash_bucket_fast=string_to_hash_bucket_fast
            to_hash_bucket_strong=string_to_hash_bucket_strong unicode_script unicode_transcode
            unsorted_segment_join upper=string_upper
        """,
    },
    "train": {
        "training.checkpoints": """
            checkpoints_iterator get_checkpoint_state latest_checkpoint list_variables
            load_checkpoint load_variable
        """,
        "training.cluster": "ClusterSpec",
        "training.coordinator": "Coordinator",
        "training.moving_averages": "ExponentialMovingAverage",
        "training.object_checkpoints": "Checkpoint CheckpointManager",
    },
}
SAME |= SAME_KERAS
