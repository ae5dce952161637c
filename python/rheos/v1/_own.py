"""The names that TensorFlow 1 has for itself: where each is defined, by namespace and module."""

from rheos.v1._own_contrib import CONTRIB
from rheos.v1._own_keras import KERAS

OWN = {
    "": {
        "framework.conversion": "convert_to_tensor convert_to_tensor_or_indexed_slices",
        "framework.defaults": """
            control_flow_v2_enabled get_default_graph get_default_session reset_default_graph
        """,
        "framework.dtypes": """
            QUANTIZED_DTYPES bfloat16 bool complex128 complex64 double float16 float32 float64 half
            int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32
            uint64 uint8 variant
        """,
        "framework.errors": "OpError",
        "framework.gradient_registry": "NoGradient=no_gradient NotDifferentiable=no_gradient",
        "framework.graph": "colocate_with container device op_scope",
        "framework.load_library": "load_file_system_library load_library load_op_library",
        "framework.sparse_tensor": "SparseTensorValue convert_to_tensor_or_sparse_tensor",
        "framework.tensor_shape": "Dimension dimension_value",
        "ops.data_flow.accumulators": """
            ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator
        """,
        "ops.array.array_ops": """
            boolean_mask diag expand_dims fill gather gather_nd invert_permutation matrix_band_part
            matrix_diag ones ones_like pad placeholder placeholder_with_default reshape scatter_nd
            shape size transpose where zeros zeros_like
        """,
        "ops.math.check_ops": """
            add_check_numerics_ops assert_equal assert_greater assert_greater_equal assert_integer
            assert_less assert_less_equal assert_near assert_negative assert_non_negative
            assert_non_positive assert_none_equal assert_positive assert_proper_iterable assert_rank
            assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar assert_type
            check_numerics is_non_decreasing is_numeric_tensor is_strictly_increasing
            verify_tensor_all_finite
        """,
        "ops.math.clip_ops": "clip_by_average_norm global_norm",
        "ops.flow.control_flow_ops": "Print cond while_loop",
        "ops.data_flow.data_flow_ops": """
            FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
        """,
        "ops.flow.functional_ops": "map_fn vectorized_map=map_rows",
        "ops.state.graph_keys": "GraphKeys",
        "ops.state.init_ops": """
            constant_initializer glorot_normal_initializer glorot_uniform_initializer
            ones_initializer orthogonal_initializer random_normal_initializer
            random_uniform_initializer truncated_normal_initializer uniform_unit_scaling_initializer
            variance_scaling_initializer zeros_initializer
        """,
        "ops.io.io_ops": """
            decode_csv decode_raw matching_files parse_tensor read_file serialize_tensor write_file
        """,
        "ops.linalg.linalg_ops": """
            cholesky cholesky_solve cross matrix_determinant matrix_inverse matrix_solve
            matrix_solve_ls matrix_triangular_solve qr self_adjoint_eig self_adjoint_eigvals svd
            trace
        """,
        "ops.state.lookup_ops": "initialize_all_tables tables_initializer",
        "ops.math.math_ops": """
            accumulate_n add arg_max arg_min argmax argmin ceil conj count_nonzero cumprod div
            div_no_nan erf erfc expm1 floor_div floordiv floormod is_finite is_inf is_nan lin_space
            linspace log log1p logical_xor matmul mod reciprocal reduce_all reduce_any
            reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum rint rsqrt
            sparse_matmul squared_difference to_bfloat16 to_double to_float to_int32 to_int64
        """,
        "ops.io.parsing_ops": """
            FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_compressed
            decode_json_example parse_example parse_single_example parse_single_sequence_example
        """,
        "ops.state.partitioned_variables": """
            fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner
        """,
        "ops.array.quantize_ops": """
            dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
            fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
            fake_quant_with_min_max_vars_per_channel
            fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_v2 quantized_concat
        """,
        "ops.ragged.ragged_string_ops": "string_split",
        "ops.random.random_ops": """
            get_seed multinomial random_crop random_gamma random_normal random_poisson
            random_shuffle random_uniform set_random_seed truncated_normal
        """,
        "ops.io.reader_ops": """
            FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader
            TextLineReader WholeFileReader
        """,
        "ops.array.rearrange_ops": """
            batch_gather batch_to_space batch_to_space_nd broadcast_dynamic_shape depth_to_space
            diag_part dimension_at_index extract_image_patches matrix_diag_part matrix_set_diag
            matrix_transpose reverse_v2 setdiff1d space_to_batch space_to_depth tensor_scatter_add
            tensor_scatter_sub tensor_scatter_update where_v2
        """,
        "ops.flow.script_ops": "py_func",
        "ops.array.segment_ops": """
            segment_max segment_mean segment_min segment_prod segment_sum sparse_segment_mean
            sparse_segment_sqrt_n sparse_segment_sum unsorted_segment_max unsorted_segment_mean
            unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
        """,
        "ops.state.session_ops": "delete_session_tensor get_session_handle get_session_tensor",
        "ops.array.sparse_ops": """
            deserialize_many_sparse serialize_many_sparse serialize_sparse sparse_add sparse_concat
            sparse_fill_empty_rows sparse_mask sparse_maximum sparse_merge sparse_minimum
            sparse_placeholder sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum
            sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape sparse_reshape sparse_retain
            sparse_slice sparse_softmax sparse_split sparse_tensor_dense_matmul
            sparse_tensor_to_dense sparse_to_dense sparse_to_indicator sparse_transpose
        """,
        "ops.math.special_math_ops": """
            angle betainc digamma igamma igammac imag lbeta lgamma log_sigmoid polygamma real
            to_complex128 to_complex64 zeta
        """,
        "ops.math.spectral_ops": "fft fft2d fft3d ifft ifft2d ifft3d",
        "ops.state.state_ops": """
            assign assign_add assign_sub batch_scatter_update count_up_to scatter_add scatter_div
            scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update
            scatter_sub scatter_update
        """,
        "ops.math.statistics_ops": "bincount confusion_matrix",
        "ops.io.string_ops": """
            decode_base64 encode_base64 reduce_join regex_replace string_join string_strip
            string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong
            string_to_number substr
        """,
        "ops.state.template": "make_template",
        "ops.state.variable_lists": """
            all_variables assert_variables_initialized global_variables global_variables_initializer
            initialize_all_variables initialize_local_variables initialize_variables
            is_variable_initialized local_variables local_variables_initializer model_variables
            moving_average_variables report_uninitialized_variables trainable_variables
            variables_initializer
        """,
        "ops.state.variable_scope": """
            AUTO_REUSE VariableScope create_partitioned_variables get_local_variable get_variable
            get_variable_scope no_regularizer variable_op_scope variable_scope
        """,
        "ops.state.variables": """
            Variable disable_resource_variables enable_resource_variables resource_variables_enabled
        """,
        "training.session": "InteractiveSession Session",
        "v1._framework_v1": """
            add_to_collection add_to_collections get_collection get_collection_ref
        """,
        "v1._modes": """
            disable_control_flow_v2 disable_eager_execution disable_tensor_equality
            disable_v2_behavior disable_v2_tensorshape enable_control_flow_v2 enable_eager_execution
            enable_tensor_equality enable_v2_tensorshape
        """,
        "v1.version": """
            GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
        """,
    },
    "config": {"framework.config": "experimental_list_devices=list_device_names"},
    "data": {
        "pipelines.base": "DatasetSpec",
        "pipelines.dataset_v1": """
            Dataset=DatasetV1 FixedLengthRecordDataset TFRecordDataset TextLineDataset
        """,
        "pipelines.iterators": """
            Iterator get_output_classes get_output_shapes get_output_types
            make_initializable_iterator make_one_shot_iterator
        """,
        "pipelines.options": "Options",
    },
    "data.experimental": {
        "framework.tensor_spec": "Structure=TypeSpec",
        "pipelines.base": "DatasetStructure=DatasetSpec from_variant to_variant",
        "pipelines.dataset": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
        "pipelines.dataset_v1": """
            Counter CsvDataset RandomDataset SqlDataset make_batched_features_dataset
            make_csv_dataset
        """,
        "pipelines.files": "TFRecordWriter",
        "pipelines.grouping": "Reducer",
        "pipelines.iterators": "get_structure",
        "pipelines.mixing": "choose_from_datasets sample_from_datasets",
        "pipelines.optional": "Optional OptionalStructure=OptionalSpec get_next_as_optional",
        "pipelines.options": """
            DistributeOptions MapVectorizationOptions OptimizationOptions StatsAggregator
            StatsOptions ThreadingOptions
        """,
        "pipelines.saving": "make_saveable_from_iterator",
        "pipelines.transformations": """
            bucket_by_sequence_length bytes_produced_stats cardinality copy_to_device
            dense_to_sparse_batch enumerate_dataset get_single_element group_by_reducer
            group_by_window ignore_errors latency_stats map_and_batch
            map_and_batch_with_legacy_function=map_and_batch parallel_interleave
            parse_example_dataset prefetch_to_device rejection_resample scan shuffle_and_repeat
            take_while unbatch unique
        """,
    },
    "debugging": {
        "ops.math.check_ops": """
            assert_all_finite assert_equal assert_greater assert_greater_equal assert_less
            assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
            assert_none_equal assert_positive assert_rank assert_rank_at_least assert_rank_in
            assert_scalar is_non_decreasing is_strictly_increasing
        """,
        "ops.math.math_ops": "is_finite is_inf is_nan",
    },
    "distributions": {
        "ops.random.continuous_distributions": """
            Beta Dirichlet Exponential Gamma Laplace Normal StudentT Uniform
        """,
        "ops.random.discrete_distributions": """
            Bernoulli Categorical DirichletMultinomial Multinomial
        """,
        "ops.random.distribution": """
            Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED RegisterKL ReparameterizationType
            kl_divergence
        """,
    },
    "dtypes": {
        "framework.dtypes": """
            QUANTIZED_DTYPES bfloat16 bool complex128 complex64 double float16 float32 float64 half
            int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32
            uint64 uint8 variant
        """,
        "ops.io.string_ops": "as_string",
    },
    "distribute": {
        "replication.first_version": "MirroredStrategy OneDeviceStrategy Strategy=StrategyV1",
        "replication.strategy": "get_loss_reduction",
        "training.cluster": "Server",
    },
    "distribute.experimental": {
        "replication.first_version": """
            CentralStorageStrategy MultiWorkerMirroredStrategy ParameterServerStrategy
        """,
    },
    "estimator": {
        "models.canned": """
            BaselineClassifier BaselineEstimator BaselineRegressor DNNClassifier DNNEstimator
            DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor
            DNNRegressor LinearClassifier LinearEstimator LinearRegressor
            classifier_parse_example_spec regressor_parse_example_spec
        """,
        "models.heads": "BinaryClassHead Head MultiClassHead RegressionHead",
        "training.estimator": """
            BestExporter Estimator EstimatorSpec Exporter FinalExporter LatestExporter
            ModeKeys RunConfig WarmStartSettings
        """,
        "training.train_and_evaluate": "EvalSpec TrainSpec train_and_evaluate",
        "training.session_hooks": """
            CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook
            LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook
            SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
            StepCounterHook StopAtStepHook SummarySaverHook
        """,
    },
    "estimator.experimental": {
        "models.canned": "call_logit_fn dnn_logit_fn_builder linear_logit_fn_builder",
    },
    "estimator.export": {
        "training.estimator": """
            ClassificationOutput ExportOutput PredictOutput RegressionOutput ServingInputReceiver
            TensorServingInputReceiver build_parsing_serving_input_receiver_fn
            build_raw_serving_input_receiver_fn
        """,
    },
    "estimator.inputs": {"training.feeding": "numpy_input_fn pandas_input_fn"},
    "feature_column": {
        "layers.column_layers": "input_layer linear_model",
        "layers.dense_columns": "shared_embedding_columns",
        "layers.feature_columns": "categorical_column_with_vocabulary_file",
    },
    "flags": {
        "framework.flags": """
            DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum DEFINE_enum_class DEFINE_float
            DEFINE_integer DEFINE_list DEFINE_multi_enum DEFINE_multi_enum_class DEFINE_multi_float
            DEFINE_multi_integer DEFINE_multi_string DEFINE_spaceseplist DEFINE_string
            DuplicateFlagError Error FLAGS Flag FlagHolder FlagValues IllegalFlagValueError
            MultiFlag UnparsedFlagAccessError UnrecognizedFlagError ValidationError
            adopt_module_key_flags declare_key_flag mark_bool_flags_as_mutual_exclusive
            mark_flag_as_required mark_flags_as_mutual_exclusive mark_flags_as_required
            register_multi_flags_validator register_validator validator
        """,
    },
    "gfile": {
        "framework.gfile": """
            Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory ListDirectory MakeDirs
            MkDir Open Remove Rename Stat Walk
        """,
    },
    "graph_util": {
        "training.graph_util": """
            convert_variables_to_constants extract_sub_graph must_run_on_cpu remove_training_nodes
            tensor_shape_from_node_def_name
        """,
    },
    "image": {
        "ops.media.image_boxes": """
            draw_bounding_boxes non_max_suppression_padded sample_distorted_bounding_box
        """,
        "ops.media.image_color": """
            per_image_standardization per_image_whitening=per_image_standardization
        """,
        "ops.media.image_files": "adjust_jpeg_quality",
        "ops.media.image_ops": """
            ResizeMethod crop_and_resize extract_glimpse resize resize_area resize_bicubic
            resize_bilinear resize_image_with_crop_or_pad resize_image_with_pad resize_images
            resize_nearest_neighbor transpose_image
        """,
        "ops.media.image_quality": "ssim",
        "ops.array.rearrange_ops": "extract_image_patches",
    },
    "initializers": {
        "ops.state.init_ops": """
            constant=Constant glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal
            he_uniform lecun_normal lecun_uniform ones=Ones random_normal=RandomNormal
            random_uniform=RandomUniform truncated_normal=TruncatedNormal
            uniform_unit_scaling=UniformUnitScaling variance_scaling=VarianceScaling zeros=Zeros
        """,
        "ops.state.lookup_ops": "tables_initializer",
        "ops.state.variable_lists": """
            global_variables=global_variables_initializer
            local_variables=local_variables_initializer variables=variables_initializer
        """,
    },
    "io": {
        "framework.gfile": "GFile",
        "ops.data_flow.data_flow_ops": """
            PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
        """,
        "ops.io.io_ops": "decode_csv decode_raw",
        "ops.io.parsing_ops": "parse_example parse_single_example",
        "ops.array.sparse_ops": "serialize_many_sparse serialize_sparse",
        "training.records": "TFRecordCompressionType tf_record_iterator",
    },
    "layers": {
        "layers.base": "InputSpec Layer",
        "layers.convolutional": """
            Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose SeparableConv1D SeparableConv2D
            conv1d conv2d conv2d_transpose conv3d conv3d_transpose separable_conv1d separable_conv2d
        """,
        "layers.core": "Dense Dropout Flatten dense dropout flatten",
        "layers.normalization": "BatchNormalization batch_normalization",
        "layers.pooling": """
            AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D
            MaxPooling3D average_pooling1d average_pooling2d average_pooling3d max_pooling1d
            max_pooling2d max_pooling3d
        """,
    },
    "linalg": {
        "ops.array.array_ops": "diag=matrix_diag",
        "ops.math.math_ops": "matmul",
        "ops.array.rearrange_ops": """
            diag_part=matrix_diag_part set_diag=matrix_set_diag transpose=matrix_transpose
        """,
    },
    "logging": {
        "framework.logging": """
            DEBUG ERROR FATAL INFO TaskLevelStatusMessage WARN debug error fatal flush get_logger
            get_verbosity info log log_every_n log_first_n log_if set_verbosity vlog warn warning
        """,
    },
    "lookup.experimental": {"ops.state.lookup_ops": "DenseHashTable"},
    "losses": {
        "ops.nn.losses": """
            absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
            get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss
            log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy
            softmax_cross_entropy sparse_softmax_cross_entropy
        """,
    },
    "manip": {
        "ops.array.array_ops": "gather_nd reshape reverse scatter_nd tile",
        "ops.array.rearrange_ops": "batch_to_space_nd roll space_to_batch_nd",
    },
    "math": {
        "ops.math.math_ops": """
            add argmax argmin count_nonzero divide_no_nan=div_no_nan linspace=lin_space reduce_all
            reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum
        """,
        "ops.nn.nn_ops": "in_top_k top_k",
        "ops.math.special_math_ops": "angle",
        "ops.math.statistics_ops": "bincount confusion_matrix",
    },
    "metrics": {
        "ops.nn.metrics": """
            accuracy auc false_negatives false_negatives_at_thresholds false_positives
            false_positives_at_thresholds mean mean_absolute_error mean_cosine_distance mean_iou
            mean_per_class_accuracy mean_relative_error mean_squared_error mean_tensor
            percentage_below precision precision_at_thresholds recall recall_at_thresholds
            root_mean_squared_error sensitivity_at_specificity specificity_at_sensitivity
            true_negatives true_negatives_at_thresholds true_positives true_positives_at_thresholds
        """,
        "ops.nn.metrics_at_k": """
            average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k
            sparse_average_precision_at_k sparse_precision_at_k
        """,
    },
    "nn": {
        "layers.dynamic_rnn": "bidirectional_dynamic_rnn dynamic_rnn raw_rnn",
        "layers.rnn": "static_bidirectional_rnn static_rnn static_state_saving_rnn",
        "ops.nn.candidate_sampling_ops": """
            log_uniform_candidate_sampler nce_loss sampled_softmax_loss uniform_candidate_sampler
        """,
        "ops.nn.ctc_ops": "ctc_beam_search_decoder_v2 ctc_greedy_decoder ctc_loss ctc_loss_v2",
        "ops.array.embedding_ops": """
            embedding_lookup embedding_lookup_sparse safe_embedding_lookup_sparse
        """,
        "ops.nn.nn_conv": """
            conv1d conv2d conv2d_backprop_filter conv2d_backprop_input conv3d
            conv3d_backprop_filter=conv3d_backprop_filter_v2 conv3d_backprop_filter_v2
            conv3d_transpose convolution depthwise_conv2d depthwise_conv2d_native
            depthwise_conv2d_native_backprop_filter depthwise_conv2d_native_backprop_input
            dilation2d erosion2d separable_conv2d
        """,
        "ops.nn.nn_norm": """
            batch_norm_with_global_normalization fused_batch_norm sufficient_statistics
            weighted_moments
        """,
        "ops.nn.nn_ops": """
            crelu dropout in_top_k moments relu_layer sigmoid_cross_entropy_with_logits
            softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2
            sparse_softmax_cross_entropy_with_logits swish top_k weighted_cross_entropy_with_logits
            xw_plus_b
        """,
        "ops.nn.nn_pool": """
            avg_pool avg_pool2d avg_pool_v2 fractional_avg_pool fractional_max_pool max_pool
            max_pool_v2 max_pool_with_argmax pool
        """,
        "ops.array.rearrange_ops": "depth_to_space space_to_batch space_to_depth",
    },
    "python_io": {
        "training.records": """
            TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator
        """,
    },
    "pywrap_tensorflow": {"training.checkpoints": "CheckpointReader NewCheckpointReader"},
    "quantization": {"ops.array.quantize_ops": "dequantize quantize quantize_and_dequantize"},
    "ragged": {
        "ops.ragged.ragged_ops": "constant_value placeholder",
        "ops.ragged.ragged_tensor": "RaggedTensorValue",
    },
    "random": {
        "ops.random.random_ops": "get_seed multinomial poisson=random_poisson set_random_seed",
        "ops.random.stateless_random_ops": """
            stateless_multinomial stateless_normal=stateless_random_normal
            stateless_truncated_normal stateless_uniform=stateless_random_uniform
        """,
    },
    "rnn_cell": {
        "layers.rnn_cells": """
            BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
        """,
        "layers.rnn_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    },
    "saved_model": {
        "training.object_loading": "load_v2=load",
        "training.saved_model": """
            Builder EVAL INIT_OP_SIGNATURE_KEY LEGACY_INIT_OP_KEY MAIN_OP_KEY TRAIN_OP_KEY
            build_signature_def build_tensor_info classification_signature_def
            get_tensor_from_tensor_info is_valid_signature load
            maybe_saved_model_directory=contains_saved_model predict_signature_def
            regression_signature_def simple_save
        """,
    },
    "saved_model.builder": {"training.saved_model": "SavedModelBuilder=Builder"},
    "saved_model.experimental": {"training.object_saving": "save"},
    "saved_model.loader": {
        "training.saved_model": "load maybe_saved_model_directory=contains_saved_model",
    },
    "saved_model.signature_def_utils": {
        "training.saved_model": """
            build_signature_def classification_signature_def is_valid_signature
            predict_signature_def regression_signature_def
        """,
    },
    "saved_model.utils": {"training.saved_model": "build_tensor_info get_tensor_from_tensor_info"},
    "sets": {"ops.array.sets_impl": "set_difference set_intersection set_size set_union"},
    "sparse": {
        "ops.data_flow.accumulators": "SparseConditionalAccumulator",
        "ops.array.sparse_ops": """
            add=sparse_add concat=sparse_concat cross=sparse_cross matmul=sparse_tensor_dense_matmul
            merge=sparse_merge placeholder=sparse_placeholder reduce_max=sparse_reduce_max
            reduce_max_sparse=sparse_reduce_max_sparse reduce_sum=sparse_reduce_sum
            reduce_sum_sparse=sparse_reduce_sum_sparse split=sparse_split
        """,
    },
    "spectral": {
        "ops.math.spectral_ops": """
            dct fft fft2d fft3d idct ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d
        """,
    },
    "strings": {
        "ops.ragged.ragged_string_ops": "split=string_split_v2",
        "ops.io.string_ops": """
            length=string_length reduce_join substr to_hash_bucket=string_to_hash_bucket
            to_number=string_to_number
        """,
    },
    "summary": {
        "ops.io.summary_ops": """
            audio get_summary_description histogram image merge merge_all scalar tensor_summary text
        """,
        "training.summary": "FileWriter FileWriterCache",
    },
    "train": {
        "ops.io.io_ops": "match_filenames_once",
        "training.checkpoints": """
            NewCheckpointReader checkpoint_exists generate_checkpoint_state_proto
            get_checkpoint_mtimes remove_checkpoint summary_iterator update_checkpoint_state
        """,
        "training.cluster": "Server",
        "training.coordinator": "LooperThread add_queue_runner start_queue_runners",
        "training.device_setter": "replica_device_setter",
        "training.first_values": "VocabInfo init_from_checkpoint warm_start",
        "training.global_step": """
            assert_global_step create_global_step get_global_step get_or_create_global_step
            global_step
        """,
        "training.input": """
            batch batch_join input_producer limit_epochs maybe_batch maybe_batch_join
            maybe_shuffle_batch maybe_shuffle_batch_join range_input_producer shuffle_batch
            shuffle_batch_join slice_input_producer string_input_producer
        """,
        "training.learning_rates": """
            cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay
            linear_cosine_decay natural_exp_decay noisy_linear_cosine_decay piecewise_constant
            piecewise_constant_decay=piecewise_constant polynomial_decay
        """,
        "training.meta_graph": "export_meta_graph",
        "training.monitored_session": """
            ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionCreator
            SingularMonitoredSession WorkerSessionCreator
        """,
        "training.more_optimizers": """
            AdadeltaOptimizer AdagradDAOptimizer FtrlOptimizer ProximalAdagradOptimizer
            ProximalGradientDescentOptimizer RMSPropOptimizer
        """,
        "training.optimizers": """
            AdagradOptimizer AdamOptimizer GradientDescentOptimizer MomentumOptimizer Optimizer
        """,
        "training.queue_runner": "QueueRunner",
        "training.saver": "Saver import_meta_graph",
        "training.session_hooks": """
            CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook
            LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook
            SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
            StepCounterHook StopAtStepHook SummarySaverHook
        """,
        "training.session_manager": "SessionManager",
        "training.summary": """
            SummaryWriter=FileWriter SummaryWriterCache=FileWriterCache write_graph
        """,
        "training.supervisor": "Supervisor basic_train_loop",
        "training.sync_replicas": "SyncReplicasOptimizer",
    },
}
OWN |= CONTRIB | KERAS

# Namespaces that are no modules.
GROUPS = (
    "contrib.slim.data_decoder",
    "contrib.slim.data_provider",
    "contrib.slim.dataset",
    "contrib.slim.dataset_data_provider",
    "contrib.slim.evaluation",
    "contrib.slim.initializers",
    "contrib.slim.learning",
    "contrib.slim.parallel_reader",
    "contrib.slim.prefetch_queue",
    "contrib.slim.queues",
    "distribute.cluster_resolver",
    "distribute.experimental",
    "estimator.experimental",
    "estimator.export",
    "estimator.inputs",
    "io.gfile",
    "lookup.experimental",
    "random.experimental",
    "saved_model.builder",
    "saved_model.experimental",
    "saved_model.loader",
    "saved_model.signature_def_utils",
    "saved_model.utils",
)
