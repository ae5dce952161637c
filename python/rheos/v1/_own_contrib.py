"""The names of tf.contrib: where each is defined, by namespace and module."""

CONTRIB = {
    "contrib.crf": {
        "contrib.crf": """
            crf_binary_score crf_decode crf_log_likelihood crf_log_norm crf_multitag_sequence_score
            crf_sequence_score crf_unary_score viterbi_decode
        """,
    },
    "contrib.cudnn_rnn": {"contrib.cudnn_cells": "CudnnCompatibleGRUCell CudnnCompatibleLSTMCell"},
    "contrib.data": {
        "pipelines.dataset": "AUTOTUNE",
        "pipelines.dataset_v1": """
            Counter CsvDataset RandomDataset SqlDataset make_batched_features_dataset
            make_csv_dataset
        """,
        "pipelines.grouping": "Reducer",
        "pipelines.mixing": "choose_from_datasets sample_from_datasets",
        "pipelines.optional": "Optional get_next_as_optional",
        "pipelines.saving": "make_saveable_from_iterator",
        "pipelines.transformations": """
            assert_element_shape batch_and_drop_remainder bucket_by_sequence_length copy_to_device
            dense_to_sparse_batch enumerate_dataset get_single_element group_by_reducer
            group_by_window ignore_errors map_and_batch padded_batch_and_drop_remainder
            parallel_interleave parse_example_dataset prefetch_to_device rejection_resample scan
            shuffle_and_repeat sliding_window_batch sloppy_interleave unbatch unique
        """,
    },
    "contrib.deprecated": {
        "v1._legacy": """
            audio_summary histogram_summary image_summary merge_all_summaries merge_summary
            scalar_summary
        """,
    },
    "contrib.distribute": {
        "replication.first_version": """
            CentralStorageStrategy CollectiveAllReduceStrategy=MultiWorkerMirroredStrategy
            MirroredStrategy=ContribMirroredStrategy OneDeviceStrategy ParameterServerStrategy
        """,
        "replication.mirrored": "TPUStrategy",
        "replication.reductions": """
            AllReduceCrossDeviceOps CrossDeviceOps
            ReductionToOneDeviceCrossDeviceOps=ReductionToOneDevice
        """,
        "replication.strategy": """
            get_loss_reduction get_replica_context get_strategy has_strategy
            in_cross_replica_context
        """,
        "replication.options": "InputContext",
        "training.shared_steps": "DistributeConfig",
    },
    "contrib.distributions": {
        "contrib.distribution_util": """
            SeedStream assign_log_moving_mean_exp assign_moving_mean_variance auto_correlation
            fill_triangular fill_triangular_inverse matrix_diag_transform moving_mean_variance
            percentile reduce_weighted_logsumexp softplus_inverse tridiag
        """,
        "contrib.scalar_distributions": """
            BetaWithSoftplusConcentration Binomial Cauchy Chi2 Chi2WithAbsDf Deterministic
            ExpRelaxedOneHotCategorical ExponentialWithSoftplusRate
            GammaWithSoftplusConcentrationRate Geometric Gumbel HalfNormal InverseGamma
            InverseGammaWithSoftplusConcentrationRate Kumaraswamy LaplaceWithSoftplusScale Logistic
            NegativeBinomial NormalWithSoftplusScale OneHotCategorical Poisson RelaxedBernoulli
            RelaxedOneHotCategorical SinhArcsinh StudentTWithAbsDfSoftplusScale VectorDeterministic
        """,
        "contrib.transformed_distributions": """
            Autoregressive BatchReshape ConditionalDistribution ConditionalTransformedDistribution
            Independent Mixture MixtureSameFamily QuantizedDistribution TransformedDistribution
        """,
        "contrib.vector_distributions": """
            MultivariateNormalDiag MultivariateNormalDiagPlusLowRank
            MultivariateNormalDiagWithSoftplusScale MultivariateNormalFullCovariance
            MultivariateNormalTriL VectorExponentialDiag VectorLaplaceDiag VectorSinhArcsinhDiag
            WishartCholesky WishartFull normal_conjugates_known_scale_posterior
            normal_conjugates_known_scale_predictive
        """,
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
    "contrib.eager": {
        "contrib.eager": """
            Iterator Network Saver Sequential get_optimizer_variables gradients_function
            implicit_gradients implicit_value_and_gradients in_eager_mode list_devices num_gpus
            value_and_gradients_function
        """,
        "framework.eager": "executing_eagerly",
        "framework.tensor_spec": "TensorSpec",
        "framework.trackable": "Checkpointable=AutoTrackable",
        "ops.differentiation.custom_gradient": "custom_gradient",
        "ops.differentiation.gradient_tape": "GradientTape",
        "ops.flow.py_function": "py_func=py_function",
        "ops.state.template": "make_template",
        "ops.state.variables": "Variable",
        "tracing.function": "defun=function function",
        "training.object_checkpoints": "Checkpoint",
        "v1._modes": "enable_eager_execution",
        "v1.app": "run",
    },
    "contrib.feature_column": {
        "layers.column_layers": "sequence_input_layer",
        "layers.dense_columns": "sequence_numeric_column",
        "layers.feature_columns": """
            sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list
        """,
    },
    "contrib.framework": {
        "contrib.arg_scope": """
            add_arg_scope arg_scope arg_scoped_arguments current_arg_scope has_arg_scope
        """,
        "contrib.deprecation": "deprecated deprecated_arg_values deprecated_args",
        "contrib.framework_ops": """
            assert_scalar_int get_graph_from_inputs get_name_scope get_placeholders
            prepend_name_scope reduce_sum_n remove_squeezable_dimensions strip_name_scope
            with_same_shape with_shape
        """,
        "contrib.variables": """
            add_model_variable assign_from_checkpoint assign_from_checkpoint_fn assign_from_values
            assign_from_values_fn filter_variables get_local_variables get_model_variables
            get_trainable_variables get_unique_variable get_variable_full_name get_variables
            get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
            local_variable model_variable variable zero_initializer
        """,
        "framework.sparse_tensor": "convert_to_tensor_or_sparse_tensor",
        "framework.tensor_spec": "TensorSpec",
        "ops.math.check_ops": "assert_same_float_dtype assert_scalar",
        "ops.array.rearrange_ops": "argsort is_tensor sort",
        "ops.flow.smart_cond": "smart_cond smart_constant_value",
        "training.checkpoints": "checkpoints_iterator list_variables load_checkpoint load_variable",
        "training.first_values": "init_from_checkpoint",
        "training.global_step": """
            assert_global_step create_global_step get_global_step get_or_create_global_step
        """,
    },
    "contrib.graph_editor": {
        "contrib.graph_walks": """
            ControlOutputs SubGraphView TransformerInfo compute_boundary_ts copy
            copy_with_input_replacements filter_ops filter_ops_from_regex filter_ts
            filter_ts_from_regex get_backward_walk_ops get_consuming_ops get_forward_walk_ops
            get_generating_ops get_name_scope_ops get_tensors get_walks_intersection_ops
            get_walks_union_ops graph_replace make_list_of_op make_list_of_t make_view select_ops
            select_ops_and_ts select_ts sgv
        """,
    },
    "contrib.image": {
        "contrib.image_transforms": """
            angles_to_projective_transforms compose_transforms flat_transforms_to_matrices
            matrices_to_flat_transforms rotate transform translate
            translations_to_projective_transforms
        """,
    },
    "contrib.layers": {
        "contrib.initializers": """
            apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer
            variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
        """,
        "contrib.layers_core": """
            avg_pool2d avg_pool3d conv1d=convolution1d conv2d=convolution2d
            conv2d_in_plane=convolution2d_in_plane conv2d_transpose=convolution2d_transpose
            conv3d=convolution3d conv3d_transpose=convolution3d_transpose convolution convolution1d
            convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
            convolution3d_transpose dropout flatten fully_connected linear max_pool2d max_pool3d
            relu relu6 separable_conv2d=separable_convolution2d separable_convolution2d
        """,
        "contrib.layers_more": """
            bias_add bow_encoder dense_to_sparse embed_sequence embedding_lookup_unique
            images_to_sequence legacy_fully_connected legacy_linear legacy_relu maxout
            one_hot_encoding repeat sequence_to_images softmax spatial_softmax stack unit_norm
        """,
        "contrib.layers_norm": "batch_norm group_norm instance_norm layer_norm",
        "contrib.optimizing": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss summarize_activation
            summarize_activations summarize_collection summarize_tensor summarize_tensors
        """,
        "ops.array.embedding_ops": "safe_embedding_lookup_sparse",
        "ops.nn.nn_ops": "elu",
    },
    "contrib.learn.datasets.mnist": {
        "v1.examples.tutorials.mnist.input_data": """
            DEFAULT_SOURCE_URL DataSet dense_to_one_hot extract_images extract_labels read_data_sets
        """,
    },
    "contrib.learn.preprocessing": {
        "contrib.vocabulary": "ByteProcessor CategoricalVocabulary VocabularyProcessor tokenizer",
    },
    "contrib.legacy_seq2seq": {
        "contrib.seq2seq": """
            attention_decoder basic_rnn_seq2seq embedding_attention_decoder
            embedding_attention_seq2seq embedding_rnn_decoder embedding_rnn_seq2seq
            model_with_buckets rnn_decoder sequence_loss=legacy_sequence_loss
            sequence_loss_by_example tied_rnn_seq2seq
        """,
    },
    "contrib.lookup": {
        "ops.state.lookup_ops": """
            FastHashSpec HashTable HasherSpec IdTableWithHashBuckets KeyValueTensorInitializer
            LookupInterface MutableDenseHashTable MutableHashTable StrongHashSpec
            TableInitializerBase TextFileIdTableInitializer TextFileIndex TextFileInitializer
            TextFileStringTableInitializer index_table_from_file index_table_from_tensor
            index_to_string_table_from_file index_to_string_table_from_tensor string_to_index
        """,
    },
    "contrib.losses": {
        "contrib.losses": """
            absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
            get_regularization_losses get_total_loss hinge_loss log_loss mean_pairwise_squared_error
            mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy
        """,
    },
    "contrib.metrics": {
        "contrib.metrics": """
            accuracy aggregate_metric_map aggregate_metrics cohen_kappa count f1_score
            precision_at_recall precision_recall_at_equal_thresholds recall_at_precision
            sparse_recall_at_top_k streaming_accuracy streaming_auc streaming_concat
            streaming_covariance streaming_curve_points streaming_dynamic_auc
            streaming_false_negative_rate streaming_false_negative_rate_at_thresholds
            streaming_false_negatives streaming_false_negatives_at_thresholds
            streaming_false_positive_rate streaming_false_positive_rate_at_thresholds
            streaming_false_positives streaming_false_positives_at_thresholds streaming_mean
            streaming_mean_absolute_error streaming_mean_cosine_distance streaming_mean_iou
            streaming_mean_relative_error streaming_mean_squared_error streaming_mean_tensor
            streaming_pearson_correlation streaming_percentage_less streaming_precision
            streaming_precision_at_thresholds streaming_recall streaming_recall_at_k
            streaming_recall_at_thresholds streaming_root_mean_squared_error
            streaming_sensitivity_at_specificity streaming_sparse_average_precision_at_k
            streaming_sparse_average_precision_at_top_k streaming_sparse_precision_at_k
            streaming_sparse_precision_at_top_k streaming_sparse_recall_at_k
            streaming_specificity_at_sensitivity streaming_true_negatives
            streaming_true_negatives_at_thresholds streaming_true_positives
            streaming_true_positives_at_thresholds
        """,
        "ops.array.sets_impl": "set_difference set_intersection set_size set_union",
        "ops.math.statistics_ops": "confusion_matrix",
    },
    "contrib.nn": {
        "contrib.nn": """
            alpha_dropout deprecated_flipped_sigmoid_cross_entropy_with_logits
            deprecated_flipped_softmax_cross_entropy_with_logits
            deprecated_flipped_sparse_softmax_cross_entropy_with_logits scaled_softplus
        """,
        "ops.nn.nn_conv": "conv1d_transpose",
    },
    "contrib.opt": {
        "contrib.external_optimizer": "ExternalOptimizerInterface ScipyOptimizerInterface",
        "contrib.optimizers": """
            AdaMaxOptimizer AdamWOptimizer DecoupledWeightDecayExtension LazyAdamOptimizer
            MomentumWOptimizer MovingAverageOptimizer NadamOptimizer
            extend_with_decoupled_weight_decay
        """,
    },
    "contrib.predictor": {"contrib.predictor": "from_saved_model"},
    "contrib.rnn": {
        "contrib.cell_wrappers": "AttentionCellWrapper CompiledWrapper HighwayWrapper",
        "contrib.fused_rnn": """
            FusedRNNCell FusedRNNCellAdaptor LSTMBlockFusedCell LSTMBlockWrapper
            TimeReversedFusedRNN stack_bidirectional_dynamic_rnn stack_bidirectional_rnn
        """,
        "contrib.gated_cells": """
            IndRNNCell IndyGRUCell IndyLSTMCell IntersectionRNNCell PhasedLSTMCell SRUCell UGRNNCell
        """,
        "contrib.grid_cells": "BidirectionalGridLSTMCell GridLSTMCell TimeFreqLSTMCell",
        "contrib.lstm_cells": """
            Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell CoupledInputForgetGateLSTMCell
            GLSTMCell
        """,
        "contrib.nas_cell": "NASCell",
        "contrib.rnn_cells": """
            EmbeddingWrapper GRUBlockCell GRUBlockCellV2 InputProjectionWrapper LSTMBlockCell
            LayerNormBasicLSTMCell OutputProjectionWrapper
        """,
        "layers.rnn": """
            best_effort_input_batch_size static_bidirectional_rnn static_rnn static_state_saving_rnn
            transpose_batch_time
        """,
        "layers.rnn_cells": """
            BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple LayerRNNCell MultiRNNCell
            RNNCell
        """,
        "layers.rnn_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    },
    "contrib.seq2seq": {
        "contrib.attention": """
            AttentionMechanism BahdanauAttention BahdanauMonotonicAttention LuongAttention
            LuongMonotonicAttention hardmax monotonic_attention safe_cumprod
        """,
        "contrib.attention_wrapper": "AttentionWrapper AttentionWrapperState",
        "contrib.beam_search": """
            BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState
            FinalBeamSearchDecoderOutput gather_tree tile_batch
        """,
        "contrib.decoding": "BasicDecoder BasicDecoderOutput Decoder dynamic_decode",
        "contrib.decoding_helpers": """
            CustomHelper GreedyEmbeddingHelper Helper InferenceHelper SampleEmbeddingHelper
            ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper TrainingHelper
        """,
        "contrib.seq2seq": "sequence_loss",
    },
    "contrib.signal": {
        "ops.math.signal_ops": """
            frame hamming_window hann_window inverse_stft inverse_stft_window_fn
            linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft
        """,
    },
    "contrib.slim": {
        "contrib.arg_scope": """
            add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope
            has_arg_scope
        """,
        "training.global_step": """
            assert_global_step create_global_step get_global_step get_or_create_global_step
        """,
        "v1.contrib.framework": """
            add_model_variable assign_from_checkpoint assign_from_checkpoint_fn assign_from_values
            assign_from_values_fn filter_variables get_local_variables get_model_variables
            get_trainable_variables get_unique_variable get_variable_full_name get_variables
            get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
            local_variable model_variable variable
        """,
        "v1.contrib.layers": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES apply_regularization avg_pool2d avg_pool3d
            batch_norm bias_add bow_encoder conv1d conv2d conv2d_in_plane conv2d_transpose conv3d
            conv3d_transpose convolution convolution1d convolution2d convolution2d_in_plane
            convolution2d_transpose convolution3d convolution3d_transpose dense_to_sparse dropout
            elu embed_sequence embedding_lookup_unique flatten fully_connected group_norm
            images_to_sequence instance_norm l1_l2_regularizer l1_regularizer l2_regularizer
            layer_norm legacy_fully_connected legacy_linear legacy_relu linear max_pool2d max_pool3d
            maxout one_hot_encoding optimize_loss relu relu6 repeat safe_embedding_lookup_sparse
            separable_conv2d separable_convolution2d sequence_to_images softmax spatial_softmax
            stack sum_regularizer summarize_activation summarize_activations summarize_collection
            summarize_tensor summarize_tensors unit_norm variance_scaling_initializer
            xavier_initializer xavier_initializer_conv2d
        """,
    },
    "contrib.slim.data_decoder": {"contrib.slim_data": "DataDecoder"},
    "contrib.slim.data_provider": {"contrib.slim_data": "DataProvider"},
    "contrib.slim.dataset": {"contrib.slim_data": "Dataset"},
    "contrib.slim.dataset_data_provider": {"contrib.slim_data": "DatasetDataProvider"},
    "contrib.slim.evaluation": {
        "contrib.slim_evaluation": "evaluate_once evaluation_loop",
        "training.checkpoints": "checkpoints_iterator wait_for_new_checkpoint",
    },
    "contrib.slim.initializers": {
        "v1.contrib.layers": """
            variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
        """,
    },
    "contrib.slim.learning": {
        "contrib.training": """
            add_gradients_summaries clip_gradient_norms create_train_op=create_slim_train_op
            multiply_gradients train=slim_train train_step
        """,
    },
    "contrib.slim.parallel_reader": {
        "contrib.slim_data": "ParallelReader get_data_files parallel_read single_pass_read",
    },
    "contrib.slim.prefetch_queue": {"contrib.slim_data": "prefetch_queue"},
    "contrib.slim.queues": {"contrib.slim_data": "NestedQueueRunnerError QueueRunners"},
    "contrib.staging": {"ops.data_flow.staging_ops": "StagingArea"},
    "contrib.stateless": {
        "ops.random.stateless_random_ops": """
            stateless_multinomial stateless_random_normal stateless_random_uniform
            stateless_truncated_normal
        """,
    },
    "contrib.summary": {
        "contrib.step_summaries": """
            SummaryWriter all_summary_ops always_record_summaries audio create_db_writer
            create_file_writer create_summary_file_writer eval_dir flush generic graph histogram
            image import_event initialize never_record_summaries
            record_summaries_every_n_global_steps scalar should_record_summaries
            summary_writer_initializer_op
        """,
    },
    "contrib.tpu": {
        "contrib.tpu": """
            CrossShardOptimizer InputPipelineConfig RunConfig TPUConfig TPUEstimator
            TPUEstimatorSpec
        """,
    },
    "contrib.training": {
        "contrib.hparams": "HParams parse_values",
        "contrib.training": """
            add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn create_train_op
            multiply_gradients train
        """,
        "training.bucketing": "bucket bucket_by_sequence_length",
        "training.checkpoints": "checkpoints_iterator wait_for_new_checkpoint",
        "training.device_setter": """
            GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn
        """,
        "training.evaluation": """
            StopAfterNEvalsHook SummaryAtEndHook evaluate_once evaluate_repeatedly
            get_or_create_eval_step
        """,
        "training.feeding": "FeedingQueueRunner",
    },
    "contrib.util": {
        "framework.constant_values": "constant_value",
        "framework.tensor_proto": "make_ndarray",
        "ops.array.constant_op": "make_tensor_proto",
    },
}
