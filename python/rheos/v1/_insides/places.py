# ruff: noqa: E501
"""Where TensorFlow 1.15 has its public names below tensorflow.python; make_places.py made this.

By module: "name" is public under that name, "name=other.name" under another one and
"name=2:other.name" only in TensorFlow 2; "*" stands for the functions of ops.
"""

PLACES = {
    "_pywrap_tensorflow_internal": "",
    "autograph": """
    Feature=autograph.experimental.Feature do_not_convert=autograph.experimental.do_not_convert
    set_loop_options=autograph.experimental.set_loop_options to_code=autograph.to_code
    to_graph=autograph.to_graph
    """,
    "autograph.converters": "",
    "autograph.converters.arg_defaults": "",
    "autograph.converters.asserts": "",
    "autograph.converters.break_statements": "",
    "autograph.converters.call_trees": "",
    "autograph.converters.conditional_expressions": "",
    "autograph.converters.continue_statements": "",
    "autograph.converters.control_flow": "",
    "autograph.converters.directives": "",
    "autograph.converters.function_scopes": "",
    "autograph.converters.list_comprehensions": "",
    "autograph.converters.lists": "",
    "autograph.converters.logical_expressions": "",
    "autograph.converters.return_statements": "",
    "autograph.converters.slices": "",
    "autograph.core": "",
    "autograph.core.ag_ctx": "",
    "autograph.core.config": "",
    "autograph.core.config_lib": "",
    "autograph.core.converter": "Feature=autograph.experimental.Feature",
    "autograph.core.converter_testing": "",
    "autograph.core.function_wrappers": "",
    "autograph.core.naming": "",
    "autograph.core.unsupported_features_checker": "",
    "autograph.impl": "",
    "autograph.impl.api": """
    do_not_convert=autograph.experimental.do_not_convert to_code=autograph.to_code
    to_code_v1=autograph.to_code to_graph=autograph.to_graph to_graph_v1=autograph.to_graph
    """,
    "autograph.impl.conversion": "",
    "autograph.lang": "",
    "autograph.lang.directives": "set_loop_options=autograph.experimental.set_loop_options",
    "autograph.lang.special_functions": "",
    "autograph.operators": "",
    "autograph.operators.control_flow": "",
    "autograph.operators.data_structures": "",
    "autograph.operators.exceptions": "",
    "autograph.operators.logical": "",
    "autograph.operators.py_builtins": "",
    "autograph.operators.slices": "",
    "autograph.operators.special_values": "",
    "autograph.operators.symbols": "",
    "autograph.pyct": "",
    "autograph.pyct.anno": "",
    "autograph.pyct.ast_util": "",
    "autograph.pyct.cfg": "",
    "autograph.pyct.common_transformers": "",
    "autograph.pyct.common_transformers.anf": "",
    "autograph.pyct.compiler": "",
    "autograph.pyct.errors": "",
    "autograph.pyct.inspect_utils": "",
    "autograph.pyct.origin_info": "",
    "autograph.pyct.parser": "",
    "autograph.pyct.pretty_printer": "",
    "autograph.pyct.qual_names": "",
    "autograph.pyct.static_analysis": "",
    "autograph.pyct.static_analysis.activity": "",
    "autograph.pyct.static_analysis.annos": "",
    "autograph.pyct.static_analysis.liveness": "",
    "autograph.pyct.static_analysis.reaching_definitions": "",
    "autograph.pyct.templates": "",
    "autograph.pyct.testing": "",
    "autograph.pyct.testing.basic_definitions": "",
    "autograph.pyct.testing.decorators": "",
    "autograph.pyct.transformer": "",
    "autograph.utils": "",
    "autograph.utils.ag_logging": "set_verbosity=autograph.set_verbosity trace=autograph.trace",
    "autograph.utils.context_managers": "",
    "autograph.utils.misc": "",
    "autograph.utils.py_func": "",
    "autograph.utils.tensor_list": "",
    "autograph.utils.tensors": "",
    "autograph.utils.testing": "",
    "autograph.utils.type_check": "",
    "client": "",
    "client.client_lib": "InteractiveSession OpError Session get_default_session",
    "client.device_lib": "",
    "client.session": "InteractiveSession Session",
    "client.timeline": "",
    "compat": "",
    "compat.compat": """
    forward_compatibility_horizon=compat.forward_compatibility_horizon
    forward_compatible=compat.forward_compatible
    """,
    "compat.v2_compat": "disable_v2_behavior enable_v2_behavior",
    "compiler": "",
    "compiler.tensorrt": "",
    "compiler.tensorrt.test": "",
    "compiler.tensorrt.test.tf_trt_integration_test_base": "",
    "compiler.tensorrt.trt_convert": "",
    "compiler.xla": "",
    "compiler.xla.jit": "experimental_jit_scope=xla.experimental.jit_scope",
    "compiler.xla.xla": "compile=xla.experimental.compile",
    "data": """
    Dataset=data.Dataset FixedLengthRecordDataset=data.FixedLengthRecordDataset
    Iterator=data.Iterator TFRecordDataset=data.TFRecordDataset TextLineDataset=data.TextLineDataset
    make_initializable_iterator=data.make_initializable_iterator
    make_one_shot_iterator=data.make_one_shot_iterator
    """,
    "data.benchmarks": "",
    "data.benchmarks.benchmark_base": "",
    "data.experimental": """
    CheckpointInputPipelineHook=data.experimental.CheckpointInputPipelineHook
    Counter=data.experimental.Counter CsvDataset=data.experimental.CsvDataset
    DatasetStructure=data.DatasetSpec DistributeOptions=data.experimental.DistributeOptions
    MapVectorizationOptions=data.experimental.MapVectorizationOptions
    OptimizationOptions=data.experimental.OptimizationOptions Optional=data.experimental.Optional
    OptionalStructure=OptionalSpec RaggedTensorStructure=data.experimental.RaggedTensorStructure
    RandomDataset=data.experimental.RandomDataset Reducer=data.experimental.Reducer
    SparseTensorStructure=data.experimental.SparseTensorStructure
    SqlDataset=data.experimental.SqlDataset StatsAggregator=data.experimental.StatsAggregator
    StatsOptions=data.experimental.StatsOptions Structure=TypeSpec
    TFRecordWriter=data.experimental.TFRecordWriter
    TensorArrayStructure=data.experimental.TensorArrayStructure
    TensorStructure=data.experimental.TensorStructure
    ThreadingOptions=data.experimental.ThreadingOptions
    bucket_by_sequence_length=data.experimental.bucket_by_sequence_length
    bytes_produced_stats=data.experimental.bytes_produced_stats
    cardinality=data.experimental.cardinality
    choose_from_datasets=data.experimental.choose_from_datasets
    copy_to_device=data.experimental.copy_to_device
    dense_to_sparse_batch=data.experimental.dense_to_sparse_batch
    enumerate_dataset=data.experimental.enumerate_dataset
    from_variant=data.experimental.from_variant
    get_next_as_optional=data.experimental.get_next_as_optional
    get_single_element=data.experimental.get_single_element
    get_structure=data.experimental.get_structure
    group_by_reducer=data.experimental.group_by_reducer
    group_by_window=data.experimental.group_by_window ignore_errors=data.experimental.ignore_errors
    latency_stats=data.experimental.latency_stats
    make_batched_features_dataset=data.experimental.make_batched_features_dataset
    make_csv_dataset=data.experimental.make_csv_dataset
    make_saveable_from_iterator=data.experimental.make_saveable_from_iterator
    map_and_batch=data.experimental.map_and_batch
    map_and_batch_with_legacy_function=data.experimental.map_and_batch_with_legacy_function
    parallel_interleave=data.experimental.parallel_interleave
    parse_example_dataset=data.experimental.parse_example_dataset
    prefetch_to_device=data.experimental.prefetch_to_device
    rejection_resample=data.experimental.rejection_resample
    sample_from_datasets=data.experimental.sample_from_datasets scan=data.experimental.scan
    shuffle_and_repeat=data.experimental.shuffle_and_repeat take_while=data.experimental.take_while
    to_variant=data.experimental.to_variant unbatch=data.experimental.unbatch
    unique=data.experimental.unique
    """,
    "data.experimental.kernel_tests": "",
    "data.experimental.kernel_tests.reader_dataset_ops_test_base": "",
    "data.experimental.kernel_tests.serialization": "",
    "data.experimental.kernel_tests.serialization.dataset_serialization_test_base": "",
    "data.experimental.kernel_tests.stats_dataset_test_base": "",
    "data.experimental.ops": "",
    "data.experimental.ops.batching": """
    dense_to_sparse_batch=data.experimental.dense_to_sparse_batch
    map_and_batch=data.experimental.map_and_batch
    map_and_batch_with_legacy_function=data.experimental.map_and_batch_with_legacy_function
    unbatch=data.experimental.unbatch
    """,
    "data.experimental.ops.cardinality": """
    INFINITE=data.experimental.INFINITE_CARDINALITY UNKNOWN=data.experimental.UNKNOWN_CARDINALITY
    cardinality=data.experimental.cardinality
    """,
    "data.experimental.ops.counter": """
    Counter=data.experimental.Counter CounterV1=data.experimental.Counter
    CounterV2=2:data.experimental.Counter
    """,
    "data.experimental.ops.distribute": "",
    "data.experimental.ops.distribute_options": """
    DistributeOptions=data.experimental.DistributeOptions
    """,
    "data.experimental.ops.enumerate_ops": "enumerate_dataset=data.experimental.enumerate_dataset",
    "data.experimental.ops.error_ops": "ignore_errors=data.experimental.ignore_errors",
    "data.experimental.ops.get_single_element": """
    get_single_element=data.experimental.get_single_element
    """,
    "data.experimental.ops.grouping": """
    Reducer=data.experimental.Reducer
    bucket_by_sequence_length=data.experimental.bucket_by_sequence_length
    group_by_reducer=data.experimental.group_by_reducer
    group_by_window=data.experimental.group_by_window
    """,
    "data.experimental.ops.interleave_ops": """
    choose_from_datasets=data.experimental.choose_from_datasets
    choose_from_datasets_v1=data.experimental.choose_from_datasets
    choose_from_datasets_v2=2:data.experimental.choose_from_datasets
    parallel_interleave=data.experimental.parallel_interleave
    sample_from_datasets=data.experimental.sample_from_datasets
    sample_from_datasets_v1=data.experimental.sample_from_datasets
    sample_from_datasets_v2=2:data.experimental.sample_from_datasets
    """,
    "data.experimental.ops.iterator_ops": """
    CheckpointInputPipelineHook=data.experimental.CheckpointInputPipelineHook
    make_saveable_from_iterator=data.experimental.make_saveable_from_iterator
    """,
    "data.experimental.ops.map_defun": "",
    "data.experimental.ops.matching_files": "",
    "data.experimental.ops.optimization": "",
    "data.experimental.ops.optimization_options": """
    MapVectorizationOptions=data.experimental.MapVectorizationOptions
    OptimizationOptions=data.experimental.OptimizationOptions
    """,
    "data.experimental.ops.parsing_ops": """
    parse_example_dataset=data.experimental.parse_example_dataset
    """,
    "data.experimental.ops.prefetching_ops": """
    copy_to_device=data.experimental.copy_to_device
    prefetch_to_device=data.experimental.prefetch_to_device
    """,
    "data.experimental.ops.random_ops": """
    RandomDataset=data.experimental.RandomDataset RandomDatasetV1=data.experimental.RandomDataset
    RandomDatasetV2=2:data.experimental.RandomDataset
    """,
    "data.experimental.ops.readers": """
    CsvDataset=data.experimental.CsvDataset CsvDatasetV1=data.experimental.CsvDataset
    CsvDatasetV2=2:data.experimental.CsvDataset SqlDataset=data.experimental.SqlDataset
    SqlDatasetV1=data.experimental.SqlDataset SqlDatasetV2=2:data.experimental.SqlDataset
    make_batched_features_dataset=data.experimental.make_batched_features_dataset
    make_batched_features_dataset_v1=data.experimental.make_batched_features_dataset
    make_batched_features_dataset_v2=2:data.experimental.make_batched_features_dataset
    make_csv_dataset=data.experimental.make_csv_dataset
    make_csv_dataset_v1=data.experimental.make_csv_dataset
    make_csv_dataset_v2=2:data.experimental.make_csv_dataset
    """,
    "data.experimental.ops.resampling": "rejection_resample=data.experimental.rejection_resample",
    "data.experimental.ops.scan_ops": "scan=data.experimental.scan",
    "data.experimental.ops.shuffle_ops": "shuffle_and_repeat=data.experimental.shuffle_and_repeat",
    "data.experimental.ops.sleep": "",
    "data.experimental.ops.snapshot": "",
    "data.experimental.ops.stats_aggregator": """
    StatsAggregator=data.experimental.StatsAggregator
    StatsAggregatorV1=data.experimental.StatsAggregator
    StatsAggregatorV2=2:data.experimental.StatsAggregator
    """,
    "data.experimental.ops.stats_ops": """
    bytes_produced_stats=data.experimental.bytes_produced_stats
    latency_stats=data.experimental.latency_stats
    """,
    "data.experimental.ops.stats_options": "StatsOptions=data.experimental.StatsOptions",
    "data.experimental.ops.take_while_ops": "take_while=data.experimental.take_while",
    "data.experimental.ops.threading_options": """
    ThreadingOptions=data.experimental.ThreadingOptions
    """,
    "data.experimental.ops.threadpool": "",
    "data.experimental.ops.unique": "unique=data.experimental.unique",
    "data.experimental.ops.writers": "TFRecordWriter=data.experimental.TFRecordWriter",
    "data.kernel_tests": "",
    "data.kernel_tests.test_base": "",
    "data.ops": "",
    "data.ops.dataset_ops": """
    AUTOTUNE=data.experimental.AUTOTUNE Dataset=data.Dataset DatasetSpec=data.DatasetSpec
    DatasetV1=data.Dataset DatasetV2=2:data.Dataset Options=data.Options
    from_variant=data.experimental.from_variant get_legacy_output_classes=data.get_output_classes
    get_legacy_output_shapes=data.get_output_shapes get_legacy_output_types=data.get_output_types
    get_structure=data.experimental.get_structure
    make_initializable_iterator=data.make_initializable_iterator
    make_one_shot_iterator=data.make_one_shot_iterator to_variant=data.experimental.to_variant
    """,
    "data.ops.iterator_ops": """
    Iterator=data.Iterator get_next_as_optional=data.experimental.get_next_as_optional
    """,
    "data.ops.multi_device_iterator_ops": "",
    "data.ops.optional_ops": "Optional=data.experimental.Optional OptionalSpec",
    "data.ops.readers": """
    FixedLengthRecordDataset=data.FixedLengthRecordDataset
    FixedLengthRecordDatasetV1=data.FixedLengthRecordDataset
    FixedLengthRecordDatasetV2=2:data.FixedLengthRecordDataset TFRecordDataset=data.TFRecordDataset
    TFRecordDatasetV1=data.TFRecordDataset TFRecordDatasetV2=2:data.TFRecordDataset
    TextLineDataset=data.TextLineDataset TextLineDatasetV1=data.TextLineDataset
    TextLineDatasetV2=2:data.TextLineDataset
    """,
    "data.util": "",
    "data.util.convert": "",
    "data.util.nest": "",
    "data.util.options": "",
    "data.util.random_seed": "",
    "data.util.sparse": "",
    "data.util.structure": """
    _RaggedTensorStructure=data.experimental.RaggedTensorStructure
    _SparseTensorStructure=data.experimental.SparseTensorStructure
    _TensorArrayStructure=data.experimental.TensorArrayStructure
    _TensorStructure=data.experimental.TensorStructure
    """,
    "data.util.traverse": "",
    "distribute": "",
    "distribute.all_reduce": "",
    "distribute.central_storage_strategy": """
    CentralStorageStrategy=distribute.experimental.CentralStorageStrategy
    CentralStorageStrategyV1=distribute.experimental.CentralStorageStrategy
    """,
    "distribute.cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver
    GCEClusterResolver=distribute.cluster_resolver.GCEClusterResolver
    KubernetesClusterResolver=distribute.cluster_resolver.KubernetesClusterResolver
    SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
    SlurmClusterResolver=distribute.cluster_resolver.SlurmClusterResolver
    TFConfigClusterResolver=distribute.cluster_resolver.TFConfigClusterResolver
    TPUClusterResolver=distribute.cluster_resolver.TPUClusterResolver
    UnionClusterResolver=distribute.cluster_resolver.UnionResolver
    """,
    "distribute.cluster_resolver.cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver ClusterSpec=train.ClusterSpec
    SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
    UnionClusterResolver=distribute.cluster_resolver.UnionResolver
    """,
    "distribute.cluster_resolver.gce_cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver ClusterSpec=train.ClusterSpec
    GCEClusterResolver=distribute.cluster_resolver.GCEClusterResolver
    """,
    "distribute.cluster_resolver.kubernetes_cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver
    KubernetesClusterResolver=distribute.cluster_resolver.KubernetesClusterResolver
    """,
    "distribute.cluster_resolver.slurm_cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver ClusterSpec=train.ClusterSpec
    SlurmClusterResolver=distribute.cluster_resolver.SlurmClusterResolver
    """,
    "distribute.cluster_resolver.tfconfig_cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver ClusterSpec=train.ClusterSpec
    TFConfigClusterResolver=distribute.cluster_resolver.TFConfigClusterResolver
    """,
    "distribute.cluster_resolver.tpu_cluster_resolver": """
    ClusterResolver=distribute.cluster_resolver.ClusterResolver
    TPUClusterResolver=distribute.cluster_resolver.TPUClusterResolver
    """,
    "distribute.collective_all_reduce_strategy": """
    CollectiveAllReduceStrategy=2:distribute.experimental.MultiWorkerMirroredStrategy
    CollectiveAllReduceStrategyV1=distribute.experimental.MultiWorkerMirroredStrategy
    SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
    TFConfigClusterResolver=distribute.cluster_resolver.TFConfigClusterResolver
    """,
    "distribute.combinations": "",
    "distribute.cross_device_ops": """
    CollectiveCommunication=distribute.experimental.CollectiveCommunication
    CrossDeviceOps=distribute.CrossDeviceOps
    HierarchicalCopyAllReduce=distribute.HierarchicalCopyAllReduce
    NcclAllReduce=distribute.NcclAllReduce ReductionToOneDevice=distribute.ReductionToOneDevice
    """,
    "distribute.cross_device_utils": "",
    "distribute.device_util": "",
    "distribute.distribute_config": "",
    "distribute.distribute_coordinator": "",
    "distribute.distribute_coordinator_context": "",
    "distribute.distribute_lib": """
    InputContext=distribute.InputContext InputReplicationMode=distribute.InputReplicationMode
    ReplicaContext=distribute.ReplicaContext Strategy=distribute.Strategy
    StrategyExtendedV1=distribute.StrategyExtended StrategyExtendedV2=2:distribute.StrategyExtended
    StrategyV1=distribute.Strategy get_loss_reduction=distribute.get_loss_reduction
    """,
    "distribute.distribution_strategy_context": """
    experimental_set_strategy=distribute.experimental_set_strategy
    get_distribution_strategy=distribute.get_strategy
    get_replica_context=distribute.get_replica_context get_strategy=distribute.get_strategy
    has_distribution_strategy=distribute.has_strategy has_strategy=distribute.has_strategy
    in_cross_replica_context=distribute.in_cross_replica_context
    """,
    "distribute.estimator_training": "",
    "distribute.experimental": "",
    "distribute.input_lib": "",
    "distribute.input_ops": "",
    "distribute.mirrored_strategy": """
    MirroredStrategy=distribute.MirroredStrategy MirroredStrategyV1=distribute.MirroredStrategy
    TFConfigClusterResolver=distribute.cluster_resolver.TFConfigClusterResolver
    """,
    "distribute.model_collection": "",
    "distribute.model_collection.model_collection_base": "",
    "distribute.model_collection.simple_models": "",
    "distribute.model_combinations": "",
    "distribute.multi_worker_test_base": "",
    "distribute.multi_worker_util": "",
    "distribute.numpy_dataset": "",
    "distribute.one_device_strategy": """
    OneDeviceStrategy=distribute.OneDeviceStrategy OneDeviceStrategyV1=distribute.OneDeviceStrategy
    """,
    "distribute.parameter_server_strategy": """
    ParameterServerStrategy=distribute.experimental.ParameterServerStrategy
    ParameterServerStrategyV1=distribute.experimental.ParameterServerStrategy
    SimpleClusterResolver=distribute.cluster_resolver.SimpleClusterResolver
    TFConfigClusterResolver=distribute.cluster_resolver.TFConfigClusterResolver
    """,
    "distribute.reduce_util": "ReduceOp=distribute.ReduceOp",
    "distribute.saved_model_test_base": "",
    "distribute.shared_variable_creator": "",
    "distribute.single_loss_example": "",
    "distribute.step_fn": "",
    "distribute.strategy_combinations": "",
    "distribute.strategy_test_lib": "",
    "distribute.summary_op_util": "",
    "distribute.tpu_strategy": """
    TPUClusterResolver=distribute.cluster_resolver.TPUClusterResolver
    TPUStrategy=distribute.experimental.TPUStrategy
    TPUStrategyV1=distribute.experimental.TPUStrategy
    """,
    "distribute.values": "",
    "eager": "",
    "eager.backprop": "GradientTape UnconnectedGradients",
    "eager.cancellation": "",
    "eager.context": """
    VirtualDeviceConfiguration=config.experimental.VirtualDeviceConfiguration executing_eagerly
    function_executor_type=experimental.function_executor_type
    get_log_device_placement=debugging.get_log_device_placement
    list_devices=config.experimental_list_devices
    set_log_device_placement=debugging.set_log_device_placement
    """,
    "eager.core": "",
    "eager.def_function": """
    function run_functions_eagerly=config.experimental_run_functions_eagerly
    """,
    "eager.execute": "",
    "eager.execution_callbacks": "",
    "eager.executor": "",
    "eager.forwardprop": "UnconnectedGradients",
    "eager.function": "",
    "eager.graph_only_ops": "",
    "eager.imperative_grad": "UnconnectedGradients",
    "eager.lift_to_graph": "",
    "eager.memory_tests": "",
    "eager.memory_tests.memory_test_util": "",
    "eager.monitoring": "",
    "eager.profiler": "",
    "eager.profiler_client": "",
    "eager.remote": """
    ServerDef=train.ServerDef connect_to_cluster=config.experimental_connect_to_cluster
    connect_to_remote_host=config.experimental_connect_to_host
    """,
    "eager.tape": "",
    "eager.test": """
    Benchmark=test.Benchmark StubOutForTesting=test.StubOutForTesting TestCase=test.TestCase
    compute_gradient=test.compute_gradient compute_gradient_error=test.compute_gradient_error
    create_local_cluster=test.create_local_cluster get_temp_dir=test.get_temp_dir
    gpu_device_name=test.gpu_device_name is_built_with_cuda=test.is_built_with_cuda
    is_built_with_gpu_support=test.is_built_with_gpu_support
    is_built_with_rocm=test.is_built_with_rocm is_gpu_available=test.is_gpu_available
    test_src_dir_path=test.test_src_dir_path
    """,
    "eager.wrap_function": "wrap_function",
    "estimator": "",
    "estimator.canned": "",
    "estimator.canned.baseline": """
    BaselineClassifier=estimator.BaselineClassifier
    BaselineClassifierV2=2:estimator.BaselineClassifier
    BaselineEstimator=estimator.BaselineEstimator BaselineEstimatorV2=2:estimator.BaselineEstimator
    BaselineRegressor=estimator.BaselineRegressor BaselineRegressorV2=2:estimator.BaselineRegressor
    ModeKeys=estimator.ModeKeys
    """,
    "estimator.canned.boosted_trees": """
    BoostedTreesClassifier=estimator.BoostedTreesClassifier
    BoostedTreesEstimator=estimator.BoostedTreesEstimator
    BoostedTreesRegressor=estimator.BoostedTreesRegressor ModeKeys=estimator.ModeKeys
    tf_identity=identity
    """,
    "estimator.canned.boosted_trees_utils": "",
    "estimator.canned.dnn": """
    DNNClassifier=estimator.DNNClassifier DNNClassifierV2=2:estimator.DNNClassifier
    DNNEstimator=estimator.DNNEstimator DNNEstimatorV2=2:estimator.DNNEstimator
    DNNRegressor=estimator.DNNRegressor DNNRegressorV2=2:estimator.DNNRegressor
    ModeKeys=estimator.ModeKeys dnn_logit_fn_builder=estimator.experimental.dnn_logit_fn_builder
    """,
    "estimator.canned.dnn_linear_combined": """
    DNNLinearCombinedClassifier=estimator.DNNLinearCombinedClassifier
    DNNLinearCombinedClassifierV2=2:estimator.DNNLinearCombinedClassifier
    DNNLinearCombinedEstimator=estimator.DNNLinearCombinedEstimator
    DNNLinearCombinedEstimatorV2=2:estimator.DNNLinearCombinedEstimator
    DNNLinearCombinedRegressor=estimator.DNNLinearCombinedRegressor
    DNNLinearCombinedRegressorV2=2:estimator.DNNLinearCombinedRegressor ModeKeys=estimator.ModeKeys
    """,
    "estimator.canned.head": "ModeKeys=estimator.ModeKeys",
    "estimator.canned.linear": """
    LinearClassifier=estimator.LinearClassifier LinearClassifierV2=2:estimator.LinearClassifier
    LinearEstimator=estimator.LinearEstimator LinearEstimatorV2=2:estimator.LinearEstimator
    LinearRegressor=estimator.LinearRegressor LinearRegressorV2=2:estimator.LinearRegressor
    LinearSDCA=estimator.experimental.LinearSDCA ModeKeys=estimator.ModeKeys
    linear_logit_fn_builder=estimator.experimental.linear_logit_fn_builder
    """,
    "estimator.canned.metric_keys": "",
    "estimator.canned.optimizers": "",
    "estimator.canned.parsing_utils": """
    classifier_parse_example_spec=estimator.classifier_parse_example_spec
    classifier_parse_example_spec_v2=2:estimator.classifier_parse_example_spec
    regressor_parse_example_spec=estimator.regressor_parse_example_spec
    regressor_parse_example_spec_v2=2:estimator.regressor_parse_example_spec
    """,
    "estimator.canned.prediction_keys": "",
    "estimator.estimator": """
    Estimator=estimator.Estimator EstimatorV2=2:estimator.Estimator ModeKeys=estimator.ModeKeys
    VocabInfo=train.VocabInfo WarmStartSettings=estimator.WarmStartSettings
    """,
    "estimator.estimator_lib": """
    BaselineClassifier=estimator.BaselineClassifier BaselineEstimator=estimator.BaselineEstimator
    BaselineRegressor=estimator.BaselineRegressor BinaryClassHead=estimator.BinaryClassHead
    BoostedTreesClassifier=estimator.BoostedTreesClassifier
    BoostedTreesRegressor=estimator.BoostedTreesRegressor DNNClassifier=estimator.DNNClassifier
    DNNEstimator=estimator.DNNEstimator
    DNNLinearCombinedClassifier=estimator.DNNLinearCombinedClassifier
    DNNLinearCombinedEstimator=estimator.DNNLinearCombinedEstimator
    DNNLinearCombinedRegressor=estimator.DNNLinearCombinedRegressor
    DNNRegressor=estimator.DNNRegressor Estimator=estimator.Estimator
    EstimatorSpec=estimator.EstimatorSpec EvalSpec=estimator.EvalSpec Exporter=estimator.Exporter
    FinalExporter=estimator.FinalExporter Head=estimator.Head
    KMeansClustering=estimator.experimental.KMeans LatestExporter=estimator.LatestExporter
    LinearClassifier=estimator.LinearClassifier LinearEstimator=estimator.LinearEstimator
    LinearRegressor=estimator.LinearRegressor
    LogisticRegressionHead=estimator.LogisticRegressionHead ModeKeys=estimator.ModeKeys
    MultiClassHead=estimator.MultiClassHead MultiHead=estimator.MultiHead
    MultiLabelHead=estimator.MultiLabelHead PoissonRegressionHead=estimator.PoissonRegressionHead
    RNNClassifier=2:estimator.experimental.RNNClassifier
    RNNEstimator=2:estimator.experimental.RNNEstimator RegressionHead=estimator.RegressionHead
    RunConfig=estimator.RunConfig TPUEstimator=estimator.tpu.TPUEstimator
    TrainSpec=estimator.TrainSpec VocabInfo=train.VocabInfo
    WarmStartSettings=estimator.WarmStartSettings add_metrics=estimator.add_metrics
    call_logit_fn=estimator.experimental.call_logit_fn
    classifier_parse_example_spec=estimator.classifier_parse_example_spec
    dnn_logit_fn_builder=estimator.experimental.dnn_logit_fn_builder
    linear_logit_fn_builder=estimator.experimental.linear_logit_fn_builder
    make_early_stopping_hook=estimator.experimental.make_early_stopping_hook
    regressor_parse_example_spec=estimator.regressor_parse_example_spec
    stop_if_higher_hook=estimator.experimental.stop_if_higher_hook
    stop_if_lower_hook=estimator.experimental.stop_if_lower_hook
    stop_if_no_decrease_hook=estimator.experimental.stop_if_no_decrease_hook
    stop_if_no_increase_hook=estimator.experimental.stop_if_no_increase_hook
    train_and_evaluate=estimator.train_and_evaluate
    """,
    "estimator.export": "",
    "estimator.export.export": """
    ServingInputReceiver=estimator.export.ServingInputReceiver
    TensorServingInputReceiver=estimator.export.TensorServingInputReceiver
    build_parsing_serving_input_receiver_fn=estimator.export.build_parsing_serving_input_receiver_fn
    build_raw_serving_input_receiver_fn=estimator.export.build_raw_serving_input_receiver_fn
    build_raw_supervised_input_receiver_fn=estimator.experimental.build_raw_supervised_input_receiver_fn
    """,
    "estimator.export.export_lib": """
    ClassificationOutput=estimator.export.ClassificationOutput
    ExportOutput=estimator.export.ExportOutput PredictOutput=estimator.export.PredictOutput
    RegressionOutput=estimator.export.RegressionOutput
    ServingInputReceiver=estimator.export.ServingInputReceiver
    TensorServingInputReceiver=estimator.export.TensorServingInputReceiver
    build_parsing_serving_input_receiver_fn=estimator.export.build_parsing_serving_input_receiver_fn
    build_raw_serving_input_receiver_fn=estimator.export.build_raw_serving_input_receiver_fn
    build_raw_supervised_input_receiver_fn=estimator.experimental.build_raw_supervised_input_receiver_fn
    """,
    "estimator.export.export_output": """
    ClassificationOutput=estimator.export.ClassificationOutput
    ExportOutput=estimator.export.ExportOutput PredictOutput=estimator.export.PredictOutput
    RegressionOutput=estimator.export.RegressionOutput
    """,
    "estimator.exporter": """
    BestExporter=estimator.BestExporter Exporter=estimator.Exporter
    FinalExporter=estimator.FinalExporter LatestExporter=estimator.LatestExporter
    """,
    "estimator.gc": "",
    "estimator.inputs": "",
    "estimator.inputs.inputs": """
    numpy_input_fn=estimator.inputs.numpy_input_fn pandas_input_fn=estimator.inputs.pandas_input_fn
    """,
    "estimator.inputs.numpy_io": "numpy_input_fn=estimator.inputs.numpy_input_fn",
    "estimator.inputs.pandas_io": "pandas_input_fn=estimator.inputs.pandas_input_fn",
    "estimator.inputs.queues": "",
    "estimator.inputs.queues.feeding_functions": "",
    "estimator.inputs.queues.feeding_queue_runner": "",
    "estimator.keras": "ModeKeys=estimator.ModeKeys",
    "estimator.model_fn": """
    EstimatorSpec=estimator.EstimatorSpec ModeKeys=estimator.ModeKeys
    call_logit_fn=estimator.experimental.call_logit_fn
    """,
    "estimator.run_config": "RunConfig=estimator.RunConfig",
    "estimator.training": """
    EvalSpec=estimator.EvalSpec TrainSpec=estimator.TrainSpec
    train_and_evaluate=estimator.train_and_evaluate
    """,
    "estimator.util": "",
    "feature_column": "",
    "feature_column.dense_features": "",
    "feature_column.dense_features_v2": "",
    "feature_column.feature_column": """
    input_layer=feature_column.input_layer linear_model=feature_column.linear_model
    make_parse_example_spec=feature_column.make_parse_example_spec
    """,
    "feature_column.feature_column_lib": """
    bucketized_column=feature_column.bucketized_column
    categorical_column_with_hash_bucket=feature_column.categorical_column_with_hash_bucket
    categorical_column_with_identity=feature_column.categorical_column_with_identity
    categorical_column_with_vocabulary_file=feature_column.categorical_column_with_vocabulary_file
    categorical_column_with_vocabulary_file_v2=2:feature_column.categorical_column_with_vocabulary_file
    categorical_column_with_vocabulary_list=feature_column.categorical_column_with_vocabulary_list
    crossed_column=feature_column.crossed_column embedding_column=feature_column.embedding_column
    indicator_column=feature_column.indicator_column input_layer=feature_column.input_layer
    linear_model=feature_column.linear_model
    make_parse_example_spec=feature_column.make_parse_example_spec
    make_parse_example_spec_v2=2:feature_column.make_parse_example_spec
    numeric_column=feature_column.numeric_column
    sequence_categorical_column_with_hash_bucket=feature_column.sequence_categorical_column_with_hash_bucket
    sequence_categorical_column_with_identity=feature_column.sequence_categorical_column_with_identity
    sequence_categorical_column_with_vocabulary_file=feature_column.sequence_categorical_column_with_vocabulary_file
    sequence_categorical_column_with_vocabulary_list=feature_column.sequence_categorical_column_with_vocabulary_list
    sequence_numeric_column=feature_column.sequence_numeric_column
    shared_embedding_columns=feature_column.shared_embedding_columns
    shared_embedding_columns_v2=2:feature_column.shared_embeddings
    weighted_categorical_column=feature_column.weighted_categorical_column
    """,
    "feature_column.feature_column_v2": """
    bucketized_column=feature_column.bucketized_column
    categorical_column_with_hash_bucket=feature_column.categorical_column_with_hash_bucket
    categorical_column_with_identity=feature_column.categorical_column_with_identity
    categorical_column_with_vocabulary_file=feature_column.categorical_column_with_vocabulary_file
    categorical_column_with_vocabulary_file_v2=2:feature_column.categorical_column_with_vocabulary_file
    categorical_column_with_vocabulary_list=feature_column.categorical_column_with_vocabulary_list
    crossed_column=feature_column.crossed_column embedding_column=feature_column.embedding_column
    indicator_column=feature_column.indicator_column
    make_parse_example_spec_v2=2:feature_column.make_parse_example_spec
    numeric_column=feature_column.numeric_column
    shared_embedding_columns=feature_column.shared_embedding_columns
    shared_embedding_columns_v2=2:feature_column.shared_embeddings
    weighted_categorical_column=feature_column.weighted_categorical_column
    """,
    "feature_column.sequence_feature_column": """
    sequence_categorical_column_with_hash_bucket=feature_column.sequence_categorical_column_with_hash_bucket
    sequence_categorical_column_with_identity=feature_column.sequence_categorical_column_with_identity
    sequence_categorical_column_with_vocabulary_file=feature_column.sequence_categorical_column_with_vocabulary_file
    sequence_categorical_column_with_vocabulary_list=feature_column.sequence_categorical_column_with_vocabulary_list
    sequence_numeric_column=feature_column.sequence_numeric_column
    """,
    "feature_column.serialization": "",
    "feature_column.utils": "",
    "framework": "",
    "framework.auto_control_deps": "",
    "framework.c_api_util": "",
    "framework.combinations": "",
    "framework.common_shapes": "",
    "framework.composite_tensor": "",
    "framework.composite_tensor_utils": "",
    "framework.config": """
    get_device_policy=config.experimental.get_device_policy
    get_inter_op_parallelism_threads=config.threading.get_inter_op_parallelism_threads
    get_intra_op_parallelism_threads=config.threading.get_intra_op_parallelism_threads
    get_memory_growth=config.experimental.get_memory_growth
    get_optimizer_experimental_options=config.optimizer.get_experimental_options
    get_optimizer_jit=config.optimizer.get_jit
    get_soft_device_placement=config.get_soft_device_placement
    get_synchronous_execution=config.experimental.get_synchronous_execution
    get_virtual_device_configuration=config.experimental.get_virtual_device_configuration
    get_visible_devices=config.experimental.get_visible_devices
    list_logical_devices=config.experimental.list_logical_devices
    list_physical_devices=config.experimental.list_physical_devices
    set_device_policy=config.experimental.set_device_policy
    set_inter_op_parallelism_threads=config.threading.set_inter_op_parallelism_threads
    set_intra_op_parallelism_threads=config.threading.set_intra_op_parallelism_threads
    set_memory_growth=config.experimental.set_memory_growth
    set_optimizer_experimental_options=config.optimizer.set_experimental_options
    set_optimizer_jit=config.optimizer.set_jit
    set_soft_device_placement=config.set_soft_device_placement
    set_synchronous_execution=config.experimental.set_synchronous_execution
    set_virtual_device_configuration=config.experimental.set_virtual_device_configuration
    set_visible_devices=config.experimental.set_visible_devices
    """,
    "framework.constant_op": "constant constant_v1=constant",
    "framework.convert_to_constants": "export_meta_graph=train.export_meta_graph",
    "framework.cpp_shape_inference_pb2": "",
    "framework.device": "DeviceSpec",
    "framework.device_spec": "DeviceSpecV1=DeviceSpec DeviceSpecV2=2:DeviceSpec",
    "framework.dtypes": """
    DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32
    float64 half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16
    uint32 uint64 uint8 variant
    """,
    "framework.error_interpolation": "",
    "framework.errors": """
    AbortedError=errors.AbortedError AlreadyExistsError=errors.AlreadyExistsError
    CancelledError=errors.CancelledError DataLossError=errors.DataLossError
    DeadlineExceededError=errors.DeadlineExceededError
    FailedPreconditionError=errors.FailedPreconditionError InternalError=errors.InternalError
    InvalidArgumentError=errors.InvalidArgumentError NotFoundError=errors.NotFoundError OpError
    OutOfRangeError=errors.OutOfRangeError PermissionDeniedError=errors.PermissionDeniedError
    ResourceExhaustedError=errors.ResourceExhaustedError
    UnauthenticatedError=errors.UnauthenticatedError UnavailableError=errors.UnavailableError
    UnimplementedError=errors.UnimplementedError UnknownError=errors.UnknownError
    error_code_from_exception_type=errors.error_code_from_exception_type
    exception_type_from_error_code=errors.exception_type_from_error_code
    raise_exception_on_not_ok_status=errors.raise_exception_on_not_ok_status
    """,
    "framework.errors_impl": """
    ABORTED=errors.ABORTED ALREADY_EXISTS=errors.ALREADY_EXISTS AbortedError=errors.AbortedError
    AlreadyExistsError=errors.AlreadyExistsError CANCELLED=errors.CANCELLED
    CancelledError=errors.CancelledError DATA_LOSS=errors.DATA_LOSS
    DEADLINE_EXCEEDED=errors.DEADLINE_EXCEEDED DataLossError=errors.DataLossError
    DeadlineExceededError=errors.DeadlineExceededError
    FAILED_PRECONDITION=errors.FAILED_PRECONDITION
    FailedPreconditionError=errors.FailedPreconditionError INTERNAL=errors.INTERNAL
    INVALID_ARGUMENT=errors.INVALID_ARGUMENT InternalError=errors.InternalError
    InvalidArgumentError=errors.InvalidArgumentError NOT_FOUND=errors.NOT_FOUND
    NotFoundError=errors.NotFoundError OK=errors.OK OUT_OF_RANGE=errors.OUT_OF_RANGE OpError
    OutOfRangeError=errors.OutOfRangeError PERMISSION_DENIED=errors.PERMISSION_DENIED
    PermissionDeniedError=errors.PermissionDeniedError RESOURCE_EXHAUSTED=errors.RESOURCE_EXHAUSTED
    ResourceExhaustedError=errors.ResourceExhaustedError UNAUTHENTICATED=errors.UNAUTHENTICATED
    UNAVAILABLE=errors.UNAVAILABLE UNIMPLEMENTED=errors.UNIMPLEMENTED UNKNOWN=errors.UNKNOWN
    UnauthenticatedError=errors.UnauthenticatedError UnavailableError=errors.UnavailableError
    UnimplementedError=errors.UnimplementedError UnknownError=errors.UnknownError
    error_code_from_exception_type=errors.error_code_from_exception_type
    exception_type_from_error_code=errors.exception_type_from_error_code
    raise_exception_on_not_ok_status=errors.raise_exception_on_not_ok_status
    """,
    "framework.fast_tensor_util": "",
    "framework.framework_lib": """
    DType DeviceSpec Dimension Graph GraphKeys IndexedSlices NoGradient NotDifferentiable=NoGradient
    Operation RegisterGradient SparseTensor SparseTensorValue Tensor TensorShape add_to_collection
    add_to_collections as_dtype container control_dependencies convert_to_tensor
    convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor device get_collection
    get_collection_ref get_default_graph get_seed import_graph_def load_file_system_library
    load_library load_op_library make_ndarray make_tensor_proto name_scope op_scope
    register_tensor_conversion_function reset_default_graph set_random_seed
    """,
    "framework.func_graph": "",
    "framework.function": "",
    "framework.function_def_to_graph": "",
    "framework.graph_io": "write_graph=io.write_graph",
    "framework.graph_to_function_def": "",
    "framework.graph_util": """
    convert_variables_to_constants=graph_util.convert_variables_to_constants
    extract_sub_graph=graph_util.extract_sub_graph must_run_on_cpu=graph_util.must_run_on_cpu
    remove_training_nodes=graph_util.remove_training_nodes
    tensor_shape_from_node_def_name=graph_util.tensor_shape_from_node_def_name
    """,
    "framework.graph_util_impl": """
    convert_variables_to_constants=graph_util.convert_variables_to_constants
    extract_sub_graph=graph_util.extract_sub_graph must_run_on_cpu=graph_util.must_run_on_cpu
    remove_training_nodes=graph_util.remove_training_nodes
    tensor_shape_from_node_def_name=graph_util.tensor_shape_from_node_def_name
    """,
    "framework.importer": "import_graph_def",
    "framework.indexed_slices": """
    IndexedSlices IndexedSlicesSpec convert_to_tensor_or_indexed_slices
    """,
    "framework.kernels": "",
    "framework.load_library": "load_file_system_library load_library load_op_library",
    "framework.meta_graph": "",
    "framework.op_callbacks": "",
    "framework.op_def_library": "",
    "framework.op_def_registry": "",
    "framework.ops": """
    Graph GraphKeys IndexedSlices NoGradient NotDifferentiable=NoGradient Operation RegisterGradient
    Tensor _colocate_with=colocate_with add_to_collection add_to_collections container
    control_dependencies convert_to_tensor convert_to_tensor_or_indexed_slices
    convert_to_tensor_v2=2:convert_to_tensor device device_v2=2:device disable_eager_execution
    disable_tensor_equality enable_eager_execution enable_tensor_equality get_collection
    get_collection_ref get_default_graph get_default_session init_scope name_scope
    name_scope_v2=2:name_scope no_gradient=NoGradient op_scope register_tensor_conversion_function
    reset_default_graph
    """,
    "framework.random_seed": "get_seed set_random_seed set_seed=2:random.set_seed",
    "framework.registry": "",
    "framework.smart_cond": "",
    "framework.sparse_tensor": """
    SparseTensor SparseTensorSpec SparseTensorValue convert_to_tensor_or_sparse_tensor
    """,
    "framework.subscribe": "",
    "framework.tensor_conversion_registry": "register_tensor_conversion_function",
    "framework.tensor_like": "",
    "framework.tensor_shape": """
    Dimension TensorShape dimension_at_index dimension_value disable_v2_tensorshape
    enable_v2_tensorshape
    """,
    "framework.tensor_spec": "TensorSpec",
    "framework.tensor_util": """
    MakeNdarray=make_ndarray constant_value=get_static_value is_tensor make_tensor_proto
    """,
    "framework.test_combinations": "",
    "framework.test_util": """
    TensorFlowTestCase=test.TestCase assert_equal_graph_def_v1=test.assert_equal_graph_def
    assert_equal_graph_def_v2=2:test.assert_equal_graph_def
    create_local_cluster=test.create_local_cluster gpu_device_name=test.gpu_device_name
    is_gpu_available=test.is_gpu_available
    """,
    "framework.traceable_stack": "",
    "framework.type_spec": "TypeSpec",
    "framework.versions": """
    COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
    GRAPH_DEF_VERSION_MIN_PRODUCER MONOLITHIC_BUILD VERSION
    """,
    "grappler": "",
    "grappler.cluster": "",
    "grappler.item": "",
    "grappler.tf_optimizer": "",
    "keras": "",
    "keras.activations": "",
    "keras.applications": "",
    "keras.applications.densenet": "",
    "keras.applications.imagenet_utils": "",
    "keras.applications.inception_resnet_v2": "",
    "keras.applications.inception_v3": "",
    "keras.applications.mobilenet": "",
    "keras.applications.mobilenet_v2": "",
    "keras.applications.nasnet": "",
    "keras.applications.resnet": "",
    "keras.applications.resnet_v2": "",
    "keras.applications.vgg16": "",
    "keras.applications.vgg19": "",
    "keras.applications.xception": "",
    "keras.backend": "",
    "keras.backend_config": "",
    "keras.callbacks": "",
    "keras.callbacks_v1": "",
    "keras.constraints": "",
    "keras.datasets": "",
    "keras.datasets.boston_housing": "",
    "keras.datasets.cifar": "",
    "keras.datasets.cifar10": "",
    "keras.datasets.cifar100": "",
    "keras.datasets.fashion_mnist": "",
    "keras.datasets.imdb": "",
    "keras.datasets.mnist": "",
    "keras.datasets.reuters": "",
    "keras.distribute": "",
    "keras.distribute.distributed_training_utils": "",
    "keras.distribute.keras_correctness_test_base": "",
    "keras.distribute.multi_worker_testing_utils": "",
    "keras.distribute.multi_worker_training_state": "",
    "keras.engine": "InputSpec=layers.InputSpec",
    "keras.engine.base_layer": "InputSpec=layers.InputSpec",
    "keras.engine.base_layer_utils": "",
    "keras.engine.base_preprocessing_layer": "",
    "keras.engine.base_preprocessing_layer_v1": "",
    "keras.engine.data_adapter": "",
    "keras.engine.input_layer": "",
    "keras.engine.input_spec": "InputSpec=layers.InputSpec",
    "keras.engine.network": "",
    "keras.engine.node": "",
    "keras.engine.partial_batch_padding_handler": "",
    "keras.engine.saving": "",
    "keras.engine.sequential": "",
    "keras.engine.training": "",
    "keras.engine.training_arrays": "",
    "keras.engine.training_distributed": "",
    "keras.engine.training_eager": "GradientTape",
    "keras.engine.training_generator": "",
    "keras.engine.training_utils": "",
    "keras.engine.training_v2": "",
    "keras.engine.training_v2_utils": "",
    "keras.estimator": "",
    "keras.initializers": """
    Constant=constant_initializer ConstantV2=2:constant_initializer
    GlorotNormal=glorot_normal_initializer GlorotUniform=glorot_uniform_initializer
    Identity=initializers.identity Ones=ones_initializer OnesV2=2:ones_initializer
    Orthogonal=orthogonal_initializer RandomNormalV2=2:random_normal_initializer
    RandomUniformV2=2:random_uniform_initializer TFRandomNormal=random_normal_initializer
    TFRandomUniform=random_uniform_initializer TFTruncatedNormal=truncated_normal_initializer
    VarianceScaling=variance_scaling_initializer Zeros=zeros_initializer ZerosV2=2:zeros_initializer
    constant=constant_initializer glorot_normal=glorot_normal_initializer
    glorot_uniform=glorot_uniform_initializer he_normal=initializers.he_normal
    he_uniform=initializers.he_uniform identity=initializers.identity
    lecun_normal=initializers.lecun_normal lecun_uniform=initializers.lecun_uniform
    one=ones_initializer ones=ones_initializer orthogonal=orthogonal_initializer
    zero=zeros_initializer zeros=zeros_initializer
    """,
    "keras.keras_parameterized": "",
    "keras.layers": """
    DeviceWrapper=2:nn.RNNCellDeviceWrapper DropoutWrapper=2:nn.RNNCellDropoutWrapper
    InputSpec=layers.InputSpec ResidualWrapper=2:nn.RNNCellResidualWrapper
    """,
    "keras.layers.advanced_activations": "InputSpec=layers.InputSpec",
    "keras.layers.convolutional": "InputSpec=layers.InputSpec",
    "keras.layers.convolutional_recurrent": "InputSpec=layers.InputSpec",
    "keras.layers.core": "InputSpec=layers.InputSpec",
    "keras.layers.cudnn_recurrent": "InputSpec=layers.InputSpec",
    "keras.layers.dense_attention": "",
    "keras.layers.embeddings": "",
    "keras.layers.kernelized": "",
    "keras.layers.local": "InputSpec=layers.InputSpec",
    "keras.layers.merge": "",
    "keras.layers.noise": "",
    "keras.layers.normalization": "InputSpec=layers.InputSpec",
    "keras.layers.normalization_v2": "",
    "keras.layers.pooling": "InputSpec=layers.InputSpec",
    "keras.layers.preprocessing": "",
    "keras.layers.preprocessing.normalization": "",
    "keras.layers.preprocessing.normalization_v1": "",
    "keras.layers.preprocessing.preprocessing_test_utils": "",
    "keras.layers.recurrent": "InputSpec=layers.InputSpec",
    "keras.layers.recurrent_v2": "InputSpec=layers.InputSpec",
    "keras.layers.rnn_cell_wrapper_v2": """
    DeviceWrapper=2:nn.RNNCellDeviceWrapper DropoutWrapper=2:nn.RNNCellDropoutWrapper
    ResidualWrapper=2:nn.RNNCellResidualWrapper
    """,
    "keras.layers.serialization": """
    DeviceWrapper=2:nn.RNNCellDeviceWrapper DropoutWrapper=2:nn.RNNCellDropoutWrapper
    InputSpec=layers.InputSpec ResidualWrapper=2:nn.RNNCellResidualWrapper
    """,
    "keras.layers.wrappers": "InputSpec=layers.InputSpec",
    "keras.losses": "",
    "keras.metrics": "",
    "keras.mixed_precision": "",
    "keras.mixed_precision.experimental": "",
    "keras.mixed_precision.experimental.autocast_variable": "",
    "keras.mixed_precision.experimental.loss_scale_optimizer": "",
    "keras.mixed_precision.experimental.policy": "",
    "keras.mixed_precision.experimental.test_util": "",
    "keras.model_subclassing_test_util": "",
    "keras.models": "",
    "keras.ops": "",
    "keras.optimizer_v2": "",
    "keras.optimizer_v2.adadelta": "",
    "keras.optimizer_v2.adagrad": "",
    "keras.optimizer_v2.adam": "",
    "keras.optimizer_v2.adamax": "",
    "keras.optimizer_v2.ftrl": "",
    "keras.optimizer_v2.gradient_descent": "",
    "keras.optimizer_v2.learning_rate_schedule": "",
    "keras.optimizer_v2.nadam": "",
    "keras.optimizer_v2.optimizer_v2": "",
    "keras.optimizer_v2.rmsprop": "",
    "keras.optimizers": "",
    "keras.premade": "",
    "keras.premade.linear": "",
    "keras.premade.wide_deep": "",
    "keras.preprocessing": "",
    "keras.preprocessing.image": "",
    "keras.preprocessing.sequence": "",
    "keras.preprocessing.text": "",
    "keras.regularizers": "",
    "keras.saving": "",
    "keras.saving.hdf5_format": "",
    "keras.saving.model_config": "",
    "keras.saving.save": "",
    "keras.saving.saved_model": "",
    "keras.saving.saved_model.constants": "",
    "keras.saving.saved_model.load": "",
    "keras.saving.saved_model.save": "",
    "keras.saving.saved_model.serialized_attributes": "",
    "keras.saving.saved_model.utils": "",
    "keras.saving.saved_model_experimental": "",
    "keras.saving.saving_utils": "",
    "keras.testing_utils": "",
    "keras.utils": "",
    "keras.utils.conv_utils": "",
    "keras.utils.data_utils": "",
    "keras.utils.generic_utils": "",
    "keras.utils.io_utils": "",
    "keras.utils.kernelized_utils": "",
    "keras.utils.layer_utils": "",
    "keras.utils.losses_utils": "",
    "keras.utils.metrics_utils": "",
    "keras.utils.mode_keys": "",
    "keras.utils.multi_gpu_utils": "",
    "keras.utils.np_utils": "",
    "keras.utils.tf_utils": "",
    "keras.utils.vis_utils": "",
    "keras.wrappers": "",
    "keras.wrappers.scikit_learn": "",
    "kernel_tests": "",
    "kernel_tests.random": "",
    "kernel_tests.random.util": "",
    "kernel_tests.signal": "",
    "kernel_tests.signal.test_util": "",
    "layers": "",
    "layers.base": """
    InputSpec=layers.InputSpec Layer=layers.Layer
    keras_style_scope=layers.experimental.keras_style_scope
    set_keras_style=layers.experimental.set_keras_style
    """,
    "layers.convolutional": """
    Conv1D=layers.Conv1D Conv2D=layers.Conv2D Conv2DTranspose=layers.Conv2DTranspose
    Conv3D=layers.Conv3D Conv3DTranspose=layers.Conv3DTranspose Convolution1D=layers.Conv1D
    Convolution2D=layers.Conv2D Convolution2DTranspose=layers.Conv2DTranspose
    Convolution3D=layers.Conv3D Convolution3DTranspose=layers.Conv3DTranspose
    Deconv2D=layers.Conv2DTranspose Deconv3D=layers.Conv3DTranspose
    Deconvolution2D=layers.Conv2DTranspose Deconvolution3D=layers.Conv3DTranspose
    SeparableConv1D=layers.SeparableConv1D SeparableConv2D=layers.SeparableConv2D
    SeparableConvolution2D=layers.SeparableConv2D conv1d=layers.conv1d conv2d=layers.conv2d
    conv2d_transpose=layers.conv2d_transpose conv3d=layers.conv3d
    conv3d_transpose=layers.conv3d_transpose convolution1d=layers.conv1d convolution2d=layers.conv2d
    convolution2d_transpose=layers.conv2d_transpose convolution3d=layers.conv3d
    convolution3d_transpose=layers.conv3d_transpose deconv2d=layers.conv2d_transpose
    deconv3d=layers.conv3d_transpose deconvolution2d=layers.conv2d_transpose
    deconvolution3d=layers.conv3d_transpose separable_conv1d=layers.separable_conv1d
    separable_conv2d=layers.separable_conv2d separable_convolution2d=layers.separable_conv2d
    """,
    "layers.core": """
    Dense=layers.Dense Dropout=layers.Dropout Flatten=layers.Flatten FullyConnected=layers.Dense
    dense=layers.dense dropout=layers.dropout flatten=layers.flatten fully_connected=layers.dense
    """,
    "layers.layers": """
    AveragePooling1D=layers.AveragePooling1D AveragePooling2D=layers.AveragePooling2D
    AveragePooling3D=layers.AveragePooling3D BatchNormalization=layers.BatchNormalization
    Conv1D=layers.Conv1D Conv2D=layers.Conv2D Conv2DTranspose=layers.Conv2DTranspose
    Conv3D=layers.Conv3D Conv3DTranspose=layers.Conv3DTranspose Convolution1D=layers.Conv1D
    Convolution2D=layers.Conv2D Convolution2DTranspose=layers.Conv2DTranspose
    Convolution3D=layers.Conv3D Convolution3DTranspose=layers.Conv3DTranspose Dense=layers.Dense
    Dropout=layers.Dropout Flatten=layers.Flatten InputSpec=layers.InputSpec Layer=layers.Layer
    MaxPooling1D=layers.MaxPooling1D MaxPooling2D=layers.MaxPooling2D
    MaxPooling3D=layers.MaxPooling3D SeparableConv1D=layers.SeparableConv1D
    SeparableConv2D=layers.SeparableConv2D SeparableConvolution2D=layers.SeparableConv2D
    average_pooling1d=layers.average_pooling1d average_pooling2d=layers.average_pooling2d
    average_pooling3d=layers.average_pooling3d batch_normalization=layers.batch_normalization
    conv1d=layers.conv1d conv2d=layers.conv2d conv2d_transpose=layers.conv2d_transpose
    conv3d=layers.conv3d conv3d_transpose=layers.conv3d_transpose dense=layers.dense
    dropout=layers.dropout flatten=layers.flatten max_pooling1d=layers.max_pooling1d
    max_pooling2d=layers.max_pooling2d max_pooling3d=layers.max_pooling3d
    separable_conv1d=layers.separable_conv1d separable_conv2d=layers.separable_conv2d
    """,
    "layers.normalization": """
    BatchNorm=layers.BatchNormalization BatchNormalization=layers.BatchNormalization
    batch_norm=layers.batch_normalization batch_normalization=layers.batch_normalization
    """,
    "layers.pooling": """
    AveragePooling1D=layers.AveragePooling1D AveragePooling2D=layers.AveragePooling2D
    AveragePooling3D=layers.AveragePooling3D AvgPool2D=layers.AveragePooling2D
    MaxPool2D=layers.MaxPooling2D MaxPooling1D=layers.MaxPooling1D MaxPooling2D=layers.MaxPooling2D
    MaxPooling3D=layers.MaxPooling3D average_pooling1d=layers.average_pooling1d
    average_pooling2d=layers.average_pooling2d average_pooling3d=layers.average_pooling3d
    avg_pool2d=layers.average_pooling2d max_pool2d=layers.max_pooling2d
    max_pooling1d=layers.max_pooling1d max_pooling2d=layers.max_pooling2d
    max_pooling3d=layers.max_pooling3d
    """,
    "layers.utils": "",
    "lib": "",
    "lib.io": "",
    "lib.io.file_io": """
    copy=gfile.Copy copy_v2=io.gfile.copy create_dir=gfile.MkDir create_dir_v2=io.gfile.mkdir
    delete_file=gfile.Remove delete_file_v2=io.gfile.remove
    delete_recursively=gfile.DeleteRecursively delete_recursively_v2=io.gfile.rmtree
    file_exists=gfile.Exists file_exists_v2=io.gfile.exists get_matching_files=gfile.Glob
    get_matching_files_v2=io.gfile.glob is_directory=gfile.IsDirectory
    is_directory_v2=io.gfile.isdir list_directory=gfile.ListDirectory
    list_directory_v2=io.gfile.listdir recursive_create_dir=gfile.MakeDirs
    recursive_create_dir_v2=io.gfile.makedirs rename=gfile.Rename rename_v2=io.gfile.rename
    stat=gfile.Stat stat_v2=io.gfile.stat walk=gfile.Walk walk_v2=io.gfile.walk
    """,
    "lib.io.python_io": """
    TFRecordCompressionType=io.TFRecordCompressionType TFRecordOptions=io.TFRecordOptions
    TFRecordWriter=io.TFRecordWriter tf_record_iterator=io.tf_record_iterator
    """,
    "lib.io.tf_record": """
    TFRecordCompressionType=io.TFRecordCompressionType TFRecordOptions=io.TFRecordOptions
    TFRecordWriter=io.TFRecordWriter tf_record_iterator=io.tf_record_iterator
    """,
    "module": "",
    "module.module": "Module",
    "ops": "",
    "ops.array_grad": "",
    "ops.array_ops": """
    * batch_gather batch_to_space batch_to_space_nd batch_to_space_v2=2:batch_to_space bitcast
    boolean_mask boolean_mask_v2=2:boolean_mask broadcast_dynamic_shape broadcast_static_shape
    broadcast_to check_numerics concat constant depth_to_space depth_to_space_v2=2:nn.depth_to_space
    dequantize diag diag_part edit_distance expand_dims expand_dims_v2=2:expand_dims
    extract_image_patches extract_image_patches_v2=image.extract_patches extract_volume_patches
    fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
    fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
    fake_quant_with_min_max_vars_per_channel_gradient fill fingerprint gather gather_nd
    gather_nd_v2=2:gather_nd gather_v2=2:gather guarantee_const identity identity_n
    invert_permutation matrix_band_part matrix_diag matrix_diag_part matrix_set_diag
    matrix_transpose meshgrid newaxis one_hot ones ones_like ones_like_v2=2:ones_like pad
    pad_v2=2:pad parallel_stack placeholder placeholder_with_default quantize
    quantize_and_dequantize=quantization.quantize_and_dequantize quantize_v2 quantized_concat rank
    repeat required_space_to_batch_paddings reshape reverse reverse_sequence
    reverse_sequence_v2=2:reverse_sequence reverse_v2=reverse scatter_nd searchsorted sequence_mask
    setdiff1d shape shape_n shape_v2=2:shape size size_v2=2:size slice space_to_batch
    space_to_batch_nd space_to_batch_v2=2:space_to_batch space_to_depth
    space_to_depth_v2=2:nn.space_to_depth sparse_mask sparse_placeholder split squeeze
    squeeze_v2=2:squeeze stack stop_gradient strided_slice tensor_scatter_add tensor_scatter_sub
    tensor_scatter_update tile transpose transpose_v2=2:transpose unique unique_with_counts
    unravel_index unstack where where_v2 zeros zeros_like zeros_like_v2=2:zeros_like
    """,
    "ops.batch_ops": "* batch_function=nondifferentiable_batch_function",
    "ops.bitwise_ops": """
    * bitwise_and=bitwise.bitwise_and bitwise_or=bitwise.bitwise_or bitwise_xor=bitwise.bitwise_xor
    invert=bitwise.invert left_shift=bitwise.left_shift right_shift=bitwise.right_shift
    """,
    "ops.boosted_trees_ops": "*",
    "ops.candidate_sampling_ops": """
    all_candidate_sampler=nn.all_candidate_sampler
    compute_accidental_hits=nn.compute_accidental_hits
    fixed_unigram_candidate_sampler=nn.fixed_unigram_candidate_sampler
    learned_unigram_candidate_sampler=nn.learned_unigram_candidate_sampler
    log_uniform_candidate_sampler=nn.log_uniform_candidate_sampler
    uniform_candidate_sampler=nn.uniform_candidate_sampler
    """,
    "ops.check_ops": """
    assert_equal assert_equal_v2=2:assert_equal assert_greater assert_greater_equal
    assert_greater_equal_v2=2:debugging.assert_greater_equal assert_greater_v2=2:assert_greater
    assert_integer assert_integer_v2=2:debugging.assert_integer assert_less assert_less_equal
    assert_less_equal_v2=2:debugging.assert_less_equal assert_less_v2=2:assert_less assert_near
    assert_near_v2=2:debugging.assert_near assert_negative
    assert_negative_v2=2:debugging.assert_negative assert_non_negative
    assert_non_negative_v2=2:debugging.assert_non_negative assert_non_positive
    assert_non_positive_v2=2:debugging.assert_non_positive assert_none_equal
    assert_none_equal_v2=2:debugging.assert_none_equal assert_positive
    assert_positive_v2=2:debugging.assert_positive assert_proper_iterable assert_rank
    assert_rank_at_least assert_rank_at_least_v2=2:debugging.assert_rank_at_least assert_rank_in
    assert_rank_in_v2=2:debugging.assert_rank_in assert_rank_v2=2:assert_rank
    assert_same_float_dtype assert_scalar assert_scalar_v2=2:debugging.assert_scalar
    assert_shapes=debugging.assert_shapes assert_shapes_v2=2:debugging.assert_shapes assert_type
    assert_type_v2=2:debugging.assert_type ensure_shape is_non_decreasing is_numeric_tensor
    is_strictly_increasing
    """,
    "ops.clip_ops": """
    clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm
    """,
    "ops.clustering_ops": "* embedding_lookup=nn.embedding_lookup",
    "ops.collective_ops": "",
    "ops.cond_v2": "",
    "ops.confusion_matrix": """
    confusion_matrix=math.confusion_matrix confusion_matrix_v1=confusion_matrix
    """,
    "ops.control_flow_grad": """
    * Assert case case_v2=2:case cond cond_for_tf_v2=2:cond group no_op switch_case tuple
    tuple_v2=2:tuple while_loop while_loop_v2=2:while_loop
    """,
    "ops.control_flow_ops": """
    * Assert case case_v2=2:case cond cond_for_tf_v2=2:cond group no_op switch_case tuple
    tuple_v2=2:tuple while_loop while_loop_v2=2:while_loop
    """,
    "ops.control_flow_state": "",
    "ops.control_flow_util": "",
    "ops.control_flow_util_v2": "",
    "ops.control_flow_v2_func_graphs": "",
    "ops.control_flow_v2_toggles": """
    control_flow_v2_enabled disable_control_flow_v2 enable_control_flow_v2
    output_all_intermediates=experimental.output_all_intermediates
    """,
    "ops.critical_section_ops": "CriticalSection",
    "ops.ctc_ops": """
    collapse_repeated=nn.collapse_repeated ctc_beam_search_decoder=nn.ctc_beam_search_decoder
    ctc_beam_search_decoder_v2=nn.ctc_beam_search_decoder_v2
    ctc_greedy_decoder=nn.ctc_greedy_decoder ctc_loss=nn.ctc_loss ctc_loss_v2=nn.ctc_loss_v2
    ctc_unique_labels=nn.ctc_unique_labels
    """,
    "ops.cudnn_rnn_grad": "",
    "ops.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "ops.data_flow_grad": "",
    "ops.data_flow_ops": """
    * ConditionalAccumulator ConditionalAccumulatorBase FIFOQueue PaddingFIFOQueue PriorityQueue
    QueueBase RandomShuffleQueue SparseConditionalAccumulator dynamic_partition dynamic_stitch
    """,
    "ops.default_gradient": "",
    "ops.distributions": "",
    "ops.distributions.bernoulli": "Bernoulli=distributions.Bernoulli",
    "ops.distributions.beta": "Beta=distributions.Beta",
    "ops.distributions.bijector": "",
    "ops.distributions.bijector_impl": "",
    "ops.distributions.bijector_test_util": "",
    "ops.distributions.categorical": "Categorical=distributions.Categorical",
    "ops.distributions.dirichlet": "Dirichlet=distributions.Dirichlet",
    "ops.distributions.dirichlet_multinomial": """
    DirichletMultinomial=distributions.DirichletMultinomial
    """,
    "ops.distributions.distribution": """
    Distribution=distributions.Distribution
    FULLY_REPARAMETERIZED=distributions.FULLY_REPARAMETERIZED
    NOT_REPARAMETERIZED=distributions.NOT_REPARAMETERIZED
    ReparameterizationType=distributions.ReparameterizationType
    """,
    "ops.distributions.distributions": """
    Bernoulli=distributions.Bernoulli Beta=distributions.Beta Categorical=distributions.Categorical
    Dirichlet=distributions.Dirichlet DirichletMultinomial=distributions.DirichletMultinomial
    Distribution=distributions.Distribution Exponential=distributions.Exponential
    Gamma=distributions.Gamma Laplace=distributions.Laplace Multinomial=distributions.Multinomial
    Normal=distributions.Normal RegisterKL=distributions.RegisterKL
    ReparameterizationType=distributions.ReparameterizationType StudentT=distributions.StudentT
    Uniform=distributions.Uniform kl_divergence=distributions.kl_divergence
    """,
    "ops.distributions.exponential": "Exponential=distributions.Exponential",
    "ops.distributions.gamma": "Gamma=distributions.Gamma",
    "ops.distributions.identity_bijector": "",
    "ops.distributions.kullback_leibler": """
    RegisterKL=distributions.RegisterKL kl_divergence=distributions.kl_divergence
    """,
    "ops.distributions.laplace": "Laplace=distributions.Laplace",
    "ops.distributions.multinomial": "Multinomial=distributions.Multinomial",
    "ops.distributions.normal": "Normal=distributions.Normal",
    "ops.distributions.special_math": "",
    "ops.distributions.student_t": "StudentT=distributions.StudentT",
    "ops.distributions.transformed_distribution": "",
    "ops.distributions.uniform": "Uniform=distributions.Uniform",
    "ops.distributions.util": "",
    "ops.embedding_ops": """
    embedding_lookup=nn.embedding_lookup embedding_lookup_sparse=nn.embedding_lookup_sparse
    embedding_lookup_sparse_v2=2:nn.embedding_lookup_sparse
    embedding_lookup_v2=2:nn.embedding_lookup
    safe_embedding_lookup_sparse=nn.safe_embedding_lookup_sparse
    safe_embedding_lookup_sparse_v2=2:nn.safe_embedding_lookup_sparse
    """,
    "ops.functional_ops": "* foldl foldr scan",
    "ops.gradient_checker": """
    compute_gradient=test.compute_gradient compute_gradient_error=test.compute_gradient_error
    """,
    "ops.gradient_checker_v2": "compute_gradient=test.compute_gradient",
    "ops.gradients": """
    AggregationMethod GradientTape UnconnectedGradients custom_gradient gradients hessians
    """,
    "ops.gradients_impl": """
    HessiansV2=2:hessians UnconnectedGradients gradients gradients_v2=2:gradients hessians
    """,
    "ops.gradients_util": "AggregationMethod UnconnectedGradients",
    "ops.histogram_ops": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.image_grad": "",
    "ops.image_ops": """
    * ResizeMethod=image.ResizeMethod ResizeMethodV1=image.ResizeMethod
    adjust_brightness=image.adjust_brightness adjust_contrast=image.adjust_contrast
    adjust_gamma=image.adjust_gamma adjust_hue=image.adjust_hue
    adjust_jpeg_quality=image.adjust_jpeg_quality adjust_saturation=image.adjust_saturation
    central_crop=image.central_crop combined_non_max_suppression=image.combined_non_max_suppression
    convert_image_dtype=image.convert_image_dtype crop_and_resize_v1=image.crop_and_resize
    crop_and_resize_v2=2:image.crop_and_resize crop_to_bounding_box=image.crop_to_bounding_box
    decode_and_crop_jpeg=io.decode_and_crop_jpeg decode_bmp=io.decode_bmp decode_gif=io.decode_gif
    decode_image=io.decode_image decode_jpeg=io.decode_jpeg decode_png=io.decode_png
    draw_bounding_boxes=image.draw_bounding_boxes draw_bounding_boxes_v2=2:image.draw_bounding_boxes
    encode_jpeg=io.encode_jpeg encode_png=image.encode_png extract_glimpse=image.extract_glimpse
    extract_glimpse_v2=2:image.extract_glimpse extract_jpeg_shape=io.extract_jpeg_shape
    flip_left_right=image.flip_left_right flip_up_down=image.flip_up_down
    grayscale_to_rgb=image.grayscale_to_rgb hsv_to_rgb=image.hsv_to_rgb
    image_gradients=image.image_gradients is_jpeg=io.is_jpeg
    non_max_suppression=image.non_max_suppression
    non_max_suppression_padded=image.non_max_suppression_padded
    non_max_suppression_with_overlaps=image.non_max_suppression_overlaps
    non_max_suppression_with_scores=image.non_max_suppression_with_scores
    pad_to_bounding_box=image.pad_to_bounding_box
    per_image_standardization=image.per_image_standardization psnr=image.psnr
    random_brightness=image.random_brightness random_contrast=image.random_contrast
    random_flip_left_right=image.random_flip_left_right
    random_flip_up_down=image.random_flip_up_down random_hue=image.random_hue
    random_jpeg_quality=image.random_jpeg_quality random_saturation=image.random_saturation
    resize_area=image.resize_area resize_bicubic=image.resize_bicubic
    resize_bilinear=image.resize_bilinear
    resize_image_with_crop_or_pad=image.resize_with_crop_or_pad
    resize_image_with_pad_v1=image.resize_image_with_pad
    resize_image_with_pad_v2=2:image.resize_with_pad resize_images=image.resize
    resize_images_v2=2:image.resize resize_nearest_neighbor=image.resize_nearest_neighbor
    rgb_to_grayscale=image.rgb_to_grayscale rgb_to_hsv=image.rgb_to_hsv rgb_to_yiq=image.rgb_to_yiq
    rgb_to_yuv=image.rgb_to_yuv rot90=image.rot90
    sample_distorted_bounding_box=image.sample_distorted_bounding_box
    sample_distorted_bounding_box_v2=2:image.sample_distorted_bounding_box
    sobel_edges=image.sobel_edges ssim=image.ssim ssim_multiscale=image.ssim_multiscale
    total_variation=image.total_variation transpose=image.transpose yiq_to_rgb=image.yiq_to_rgb
    yuv_to_rgb=image.yuv_to_rgb
    """,
    "ops.image_ops_impl": """
    ResizeMethod=image.ResizeMethod ResizeMethodV1=image.ResizeMethod
    adjust_brightness=image.adjust_brightness adjust_contrast=image.adjust_contrast
    adjust_gamma=image.adjust_gamma adjust_hue=image.adjust_hue
    adjust_jpeg_quality=image.adjust_jpeg_quality adjust_saturation=image.adjust_saturation
    central_crop=image.central_crop combined_non_max_suppression=image.combined_non_max_suppression
    convert_image_dtype=image.convert_image_dtype crop_and_resize_v1=image.crop_and_resize
    crop_and_resize_v2=2:image.crop_and_resize crop_to_bounding_box=image.crop_to_bounding_box
    decode_image=io.decode_image draw_bounding_boxes=image.draw_bounding_boxes
    draw_bounding_boxes_v2=2:image.draw_bounding_boxes extract_glimpse=image.extract_glimpse
    extract_glimpse_v2=2:image.extract_glimpse flip_left_right=image.flip_left_right
    flip_up_down=image.flip_up_down grayscale_to_rgb=image.grayscale_to_rgb
    image_gradients=image.image_gradients is_jpeg=io.is_jpeg
    non_max_suppression=image.non_max_suppression
    non_max_suppression_padded=image.non_max_suppression_padded
    non_max_suppression_with_overlaps=image.non_max_suppression_overlaps
    non_max_suppression_with_scores=image.non_max_suppression_with_scores
    pad_to_bounding_box=image.pad_to_bounding_box
    per_image_standardization=image.per_image_standardization psnr=image.psnr
    random_brightness=image.random_brightness random_contrast=image.random_contrast
    random_flip_left_right=image.random_flip_left_right
    random_flip_up_down=image.random_flip_up_down random_hue=image.random_hue
    random_jpeg_quality=image.random_jpeg_quality random_saturation=image.random_saturation
    resize_bicubic=image.resize_bicubic resize_bilinear=image.resize_bilinear
    resize_image_with_crop_or_pad=image.resize_with_crop_or_pad
    resize_image_with_pad_v1=image.resize_image_with_pad
    resize_image_with_pad_v2=2:image.resize_with_pad resize_images=image.resize
    resize_images_v2=2:image.resize resize_nearest_neighbor=image.resize_nearest_neighbor
    rgb_to_grayscale=image.rgb_to_grayscale rgb_to_yiq=image.rgb_to_yiq rgb_to_yuv=image.rgb_to_yuv
    rot90=image.rot90 sample_distorted_bounding_box=image.sample_distorted_bounding_box
    sample_distorted_bounding_box_v2=2:image.sample_distorted_bounding_box
    sobel_edges=image.sobel_edges ssim=image.ssim ssim_multiscale=image.ssim_multiscale
    total_variation=image.total_variation transpose=image.transpose yiq_to_rgb=image.yiq_to_rgb
    yuv_to_rgb=image.yuv_to_rgb
    """,
    "ops.init_ops": """
    Constant=constant_initializer GlorotNormal=glorot_normal_initializer
    GlorotUniform=glorot_uniform_initializer Identity=initializers.identity Ones=ones_initializer
    Orthogonal=orthogonal_initializer RandomNormal=random_normal_initializer
    RandomUniform=random_uniform_initializer TruncatedNormal=truncated_normal_initializer
    UniformUnitScaling=uniform_unit_scaling_initializer VarianceScaling=variance_scaling_initializer
    Zeros=zeros_initializer constant_initializer glorot_normal_initializer
    glorot_uniform_initializer he_normal=initializers.he_normal he_uniform=initializers.he_uniform
    identity_initializer=initializers.identity lecun_normal=initializers.lecun_normal
    lecun_uniform=initializers.lecun_uniform ones_initializer orthogonal_initializer
    random_normal_initializer random_uniform_initializer truncated_normal_initializer
    uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer
    """,
    "ops.init_ops_v2": """
    Constant=2:constant_initializer Ones=2:ones_initializer RandomNormal=2:random_normal_initializer
    RandomUniform=2:random_uniform_initializer Zeros=2:zeros_initializer
    constant=2:constant_initializer constant_initializer normal=2:random_normal_initializer
    one=2:ones_initializer ones=2:ones_initializer ones_initializer
    random_normal=2:random_normal_initializer random_normal_initializer
    random_uniform=2:random_uniform_initializer random_uniform_initializer
    uniform=2:random_uniform_initializer zero=2:zeros_initializer zeros=2:zeros_initializer
    zeros_initializer
    """,
    "ops.initializers_ns": """
    constant=constant_initializer global_variables=global_variables_initializer
    identity=initializers.identity local_variables=local_variables_initializer ones=ones_initializer
    orthogonal=orthogonal_initializer random_normal=random_normal_initializer
    random_uniform=random_uniform_initializer truncated_normal=truncated_normal_initializer
    uniform_unit_scaling=uniform_unit_scaling_initializer variables=variables_initializer
    variance_scaling=variance_scaling_initializer zeros=zeros_initializer
    """,
    "ops.inplace_ops": "*",
    "ops.io_ops": """
    * FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader TextLineReader
    WholeFileReader matching_files read_file write_file
    """,
    "ops.linalg": "",
    "ops.linalg.adjoint_registrations": "",
    "ops.linalg.cholesky_registrations": "",
    "ops.linalg.inverse_registrations": "",
    "ops.linalg.linalg": """
    LinearOperator=linalg.LinearOperator LinearOperatorBlockDiag=linalg.LinearOperatorBlockDiag
    LinearOperatorCirculant=linalg.LinearOperatorCirculant
    LinearOperatorCirculant2D=linalg.LinearOperatorCirculant2D
    LinearOperatorCirculant3D=linalg.LinearOperatorCirculant3D
    LinearOperatorComposition=linalg.LinearOperatorComposition
    LinearOperatorDiag=linalg.LinearOperatorDiag
    LinearOperatorFullMatrix=linalg.LinearOperatorFullMatrix
    LinearOperatorIdentity=linalg.LinearOperatorIdentity
    LinearOperatorKronecker=linalg.LinearOperatorKronecker
    LinearOperatorLowRankUpdate=linalg.LinearOperatorLowRankUpdate
    LinearOperatorLowerTriangular=linalg.LinearOperatorLowerTriangular
    LinearOperatorScaledIdentity=linalg.LinearOperatorScaledIdentity
    LinearOperatorToeplitz=linalg.LinearOperatorToeplitz
    LinearOperatorZeros=linalg.LinearOperatorZeros adjoint=linalg.adjoint band_part=matrix_band_part
    cholesky cholesky_solve det=matrix_determinant diag=matrix_diag diag_part=matrix_diag_part
    eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals einsum eye inv=matrix_inverse
    logdet=linalg.logdet logm=linalg.logm lstsq=matrix_solve_ls lu=linalg.lu
    matrix_exponential=linalg.expm matrix_rank=linalg.matrix_rank norm pinv=linalg.pinv qr
    set_diag=matrix_set_diag slogdet=linalg.slogdet solve=matrix_solve sqrtm=matrix_square_root svd
    tensordot trace transpose=matrix_transpose triangular_solve=matrix_triangular_solve
    tridiagonal_matmul=linalg.tridiagonal_matmul tridiagonal_solve=linalg.tridiagonal_solve
    """,
    "ops.linalg.linalg_impl": """
    adjoint=linalg.adjoint band_part=matrix_band_part cholesky cholesky_solve det=matrix_determinant
    diag=matrix_diag diag_part=matrix_diag_part eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals
    einsum eye inv=matrix_inverse logdet=linalg.logdet logm=linalg.logm lstsq=matrix_solve_ls
    lu=linalg.lu matrix_exponential=linalg.expm matrix_rank=linalg.matrix_rank norm pinv=linalg.pinv
    qr set_diag=matrix_set_diag slogdet=linalg.slogdet solve=matrix_solve sqrtm=matrix_square_root
    svd tensordot trace transpose=matrix_transpose triangular_solve=matrix_triangular_solve
    tridiagonal_matmul=linalg.tridiagonal_matmul tridiagonal_solve=linalg.tridiagonal_solve
    """,
    "ops.linalg.linear_operator": "LinearOperator=linalg.LinearOperator",
    "ops.linalg.linear_operator_addition": "",
    "ops.linalg.linear_operator_adjoint": "LinearOperatorAdjoint=linalg.LinearOperatorAdjoint",
    "ops.linalg.linear_operator_algebra": "",
    "ops.linalg.linear_operator_block_diag": """
    LinearOperatorBlockDiag=linalg.LinearOperatorBlockDiag
    """,
    "ops.linalg.linear_operator_circulant": """
    LinearOperatorCirculant=linalg.LinearOperatorCirculant
    LinearOperatorCirculant2D=linalg.LinearOperatorCirculant2D
    LinearOperatorCirculant3D=linalg.LinearOperatorCirculant3D
    """,
    "ops.linalg.linear_operator_composition": """
    LinearOperatorComposition=linalg.LinearOperatorComposition
    """,
    "ops.linalg.linear_operator_diag": "LinearOperatorDiag=linalg.LinearOperatorDiag",
    "ops.linalg.linear_operator_full_matrix": """
    LinearOperatorFullMatrix=linalg.LinearOperatorFullMatrix
    """,
    "ops.linalg.linear_operator_householder": """
    LinearOperatorHouseholder=linalg.LinearOperatorHouseholder
    """,
    "ops.linalg.linear_operator_identity": """
    LinearOperatorIdentity=linalg.LinearOperatorIdentity
    LinearOperatorScaledIdentity=linalg.LinearOperatorScaledIdentity
    """,
    "ops.linalg.linear_operator_inversion": """
    LinearOperatorInversion=linalg.LinearOperatorInversion
    """,
    "ops.linalg.linear_operator_kronecker": """
    LinearOperatorKronecker=linalg.LinearOperatorKronecker
    """,
    "ops.linalg.linear_operator_low_rank_update": """
    LinearOperatorLowRankUpdate=linalg.LinearOperatorLowRankUpdate
    """,
    "ops.linalg.linear_operator_lower_triangular": """
    LinearOperatorLowerTriangular=linalg.LinearOperatorLowerTriangular
    """,
    "ops.linalg.linear_operator_test_util": "",
    "ops.linalg.linear_operator_toeplitz": "LinearOperatorToeplitz=linalg.LinearOperatorToeplitz",
    "ops.linalg.linear_operator_util": "",
    "ops.linalg.linear_operator_zeros": "LinearOperatorZeros=linalg.LinearOperatorZeros",
    "ops.linalg.matmul_registrations": "",
    "ops.linalg.registrations_util": "",
    "ops.linalg.solve_registrations": "",
    "ops.linalg_grad": "",
    "ops.linalg_ops": """
    * cholesky cholesky_solve eye log_matrix_determinant=linalg.slogdet lu=linalg.lu
    matrix_determinant matrix_inverse matrix_logarithm=linalg.logm matrix_solve matrix_solve_ls
    matrix_square_root matrix_triangular_solve norm norm_v2=2:norm qr self_adjoint_eig
    self_adjoint_eigvals svd
    """,
    "ops.linalg_ops_impl": "",
    "ops.list_ops": "*",
    "ops.logging_ops": "* Print print_v2=print timestamp",
    "ops.lookup_ops": """
    * DenseHashTable=lookup.experimental.DenseHashTable
    KeyValueTensorInitializer=lookup.KeyValueTensorInitializer
    StaticHashTable=lookup.StaticHashTable StaticHashTableV1=lookup.StaticHashTable
    StaticVocabularyTable=lookup.StaticVocabularyTable
    StaticVocabularyTableV1=lookup.StaticVocabularyTable TextFileIndex=lookup.TextFileIndex
    TextFileInitializer=lookup.TextFileInitializer initialize_all_tables tables_initializer
    """,
    "ops.losses": "",
    "ops.losses.loss_reduction": "",
    "ops.losses.losses": """
    Reduction=losses.Reduction absolute_difference=losses.absolute_difference
    add_loss=losses.add_loss compute_weighted_loss=losses.compute_weighted_loss
    cosine_distance=losses.cosine_distance get_losses=losses.get_losses
    get_regularization_loss=losses.get_regularization_loss
    get_regularization_losses=losses.get_regularization_losses get_total_loss=losses.get_total_loss
    hinge_loss=losses.hinge_loss huber_loss=losses.huber_loss log_loss=losses.log_loss
    mean_pairwise_squared_error=losses.mean_pairwise_squared_error
    mean_squared_error=losses.mean_squared_error sigmoid_cross_entropy=losses.sigmoid_cross_entropy
    softmax_cross_entropy=losses.softmax_cross_entropy
    sparse_softmax_cross_entropy=losses.sparse_softmax_cross_entropy
    """,
    "ops.losses.losses_impl": """
    Reduction=losses.Reduction absolute_difference=losses.absolute_difference
    compute_weighted_loss=losses.compute_weighted_loss cosine_distance=losses.cosine_distance
    hinge_loss=losses.hinge_loss huber_loss=losses.huber_loss log_loss=losses.log_loss
    mean_pairwise_squared_error=losses.mean_pairwise_squared_error
    mean_squared_error=losses.mean_squared_error sigmoid_cross_entropy=losses.sigmoid_cross_entropy
    softmax_cross_entropy=losses.softmax_cross_entropy
    sparse_softmax_cross_entropy=losses.sparse_softmax_cross_entropy
    """,
    "ops.losses.util": """
    add_loss=losses.add_loss get_losses=losses.get_losses
    get_regularization_loss=losses.get_regularization_loss
    get_regularization_losses=losses.get_regularization_losses get_total_loss=losses.get_total_loss
    """,
    "ops.manip_grad": "",
    "ops.manip_ops": "roll",
    "ops.map_fn": "map_fn",
    "ops.math_grad": "",
    "ops.math_ops": """
    * abs accumulate_n acos acosh add add_n angle arg_max arg_min argmax argmax_v2=2:argmax argmin
    argmin_v2=2:argmin asin asinh atan atan2 atanh bessel_i0e=math.bessel_i0e
    bessel_i1e=math.bessel_i1e betainc bincount=math.bincount bincount_v1=bincount cast ceil complex
    conj cos cosh count_nonzero count_nonzero_v2=2:math.count_nonzero cross cumprod cumsum
    cumulative_logsumexp=math.cumulative_logsumexp digamma div div_no_nan divide equal erf erfc exp
    expm1 floor floor_div floor_mod=mod floordiv floormod=mod greater greater_equal igamma igammac
    imag is_finite is_inf is_nan less less_equal lgamma lin_space=linspace linspace log log1p
    log_sigmoid logical_and logical_not logical_or logical_xor matmul matvec=linalg.matvec maximum
    minimum mod multiply multiply_no_nan=math.multiply_no_nan neg=negative negative
    next_after=math.nextafter nextafter=math.nextafter not_equal polygamma polyval=math.polyval pow
    range real real_div=realdiv realdiv reciprocal reciprocal_no_nan=math.reciprocal_no_nan
    reduce_all reduce_all_v1=reduce_all reduce_any reduce_any_v1=reduce_any
    reduce_euclidean_norm=math.reduce_euclidean_norm reduce_logsumexp
    reduce_logsumexp_v1=reduce_logsumexp reduce_max reduce_max_v1=reduce_max reduce_mean
    reduce_mean_v1=reduce_mean reduce_min reduce_min_v1=reduce_min reduce_prod
    reduce_prod_v1=reduce_prod reduce_std=math.reduce_std reduce_sum reduce_sum_v1=reduce_sum
    reduce_variance=math.reduce_variance rint round rsqrt saturate_cast scalar_mul
    scalar_mul_v2=2:scalar_mul segment_max segment_mean segment_min segment_prod segment_sum sigmoid
    sign sin sinh sparse_mat_mul=sparse_matmul sparse_matmul sparse_segment_mean
    sparse_segment_mean_v2=2:sparse.segment_mean sparse_segment_sqrt_n
    sparse_segment_sqrt_n_v2=2:sparse.segment_sqrt_n sparse_segment_sum
    sparse_segment_sum_v2=2:sparse.segment_sum sqrt square squared_difference subtract tan tanh
    tensordot to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64 trace
    truediv truncate_div=truncatediv truncate_mod=truncatemod truncatediv truncatemod
    unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod
    unsorted_segment_sqrt_n unsorted_segment_sum xdivy=math.xdivy xlogy=math.xlogy zeta
    """,
    "ops.metrics": """
    accuracy=metrics.accuracy auc=metrics.auc average_precision_at_k=metrics.average_precision_at_k
    false_negatives=metrics.false_negatives
    false_negatives_at_thresholds=metrics.false_negatives_at_thresholds
    false_positives=metrics.false_positives
    false_positives_at_thresholds=metrics.false_positives_at_thresholds mean=metrics.mean
    mean_absolute_error=metrics.mean_absolute_error
    mean_cosine_distance=metrics.mean_cosine_distance mean_iou=metrics.mean_iou
    mean_per_class_accuracy=metrics.mean_per_class_accuracy
    mean_relative_error=metrics.mean_relative_error mean_squared_error=metrics.mean_squared_error
    mean_tensor=metrics.mean_tensor percentage_below=metrics.percentage_below
    precision=metrics.precision precision_at_k=metrics.precision_at_k
    precision_at_thresholds=metrics.precision_at_thresholds
    precision_at_top_k=metrics.precision_at_top_k recall=metrics.recall
    recall_at_k=metrics.recall_at_k recall_at_thresholds=metrics.recall_at_thresholds
    recall_at_top_k=metrics.recall_at_top_k root_mean_squared_error=metrics.root_mean_squared_error
    sensitivity_at_specificity=metrics.sensitivity_at_specificity
    sparse_average_precision_at_k=metrics.sparse_average_precision_at_k
    sparse_precision_at_k=metrics.sparse_precision_at_k
    specificity_at_sensitivity=metrics.specificity_at_sensitivity
    true_negatives=metrics.true_negatives
    true_negatives_at_thresholds=metrics.true_negatives_at_thresholds
    true_positives=metrics.true_positives
    true_positives_at_thresholds=metrics.true_positives_at_thresholds
    """,
    "ops.metrics_impl": """
    accuracy=metrics.accuracy auc=metrics.auc average_precision_at_k=metrics.average_precision_at_k
    false_negatives=metrics.false_negatives
    false_negatives_at_thresholds=metrics.false_negatives_at_thresholds
    false_positives=metrics.false_positives
    false_positives_at_thresholds=metrics.false_positives_at_thresholds mean=metrics.mean
    mean_absolute_error=metrics.mean_absolute_error
    mean_cosine_distance=metrics.mean_cosine_distance mean_iou=metrics.mean_iou
    mean_per_class_accuracy=metrics.mean_per_class_accuracy
    mean_relative_error=metrics.mean_relative_error mean_squared_error=metrics.mean_squared_error
    mean_tensor=metrics.mean_tensor percentage_below=metrics.percentage_below
    precision=metrics.precision precision_at_k=metrics.precision_at_k
    precision_at_thresholds=metrics.precision_at_thresholds
    precision_at_top_k=metrics.precision_at_top_k recall=metrics.recall
    recall_at_k=metrics.recall_at_k recall_at_thresholds=metrics.recall_at_thresholds
    recall_at_top_k=metrics.recall_at_top_k root_mean_squared_error=metrics.root_mean_squared_error
    sensitivity_at_specificity=metrics.sensitivity_at_specificity
    sparse_average_precision_at_k=metrics.sparse_average_precision_at_k
    sparse_precision_at_k=metrics.sparse_precision_at_k
    specificity_at_sensitivity=metrics.specificity_at_sensitivity
    true_negatives=metrics.true_negatives
    true_negatives_at_thresholds=metrics.true_negatives_at_thresholds
    true_positives=metrics.true_positives
    true_positives_at_thresholds=metrics.true_positives_at_thresholds
    """,
    "ops.nccl_ops": "",
    "ops.nn": """
    * all_candidate_sampler=nn.all_candidate_sampler atrous_conv2d=nn.atrous_conv2d
    atrous_conv2d_transpose=nn.atrous_conv2d_transpose avg_pool=nn.avg_pool avg_pool1d=nn.avg_pool1d
    avg_pool2d=nn.avg_pool2d avg_pool3d=nn.avg_pool3d avg_pool_v2=nn.avg_pool_v2
    batch_norm_with_global_normalization=nn.batch_norm_with_global_normalization
    batch_norm_with_global_normalization_v2=2:nn.batch_norm_with_global_normalization
    batch_normalization=nn.batch_normalization bias_add=nn.bias_add
    bidirectional_dynamic_rnn=nn.bidirectional_dynamic_rnn collapse_repeated=nn.collapse_repeated
    compute_accidental_hits=nn.compute_accidental_hits compute_average_loss=nn.compute_average_loss
    conv1d=nn.conv1d conv1d_transpose=nn.conv1d_transpose conv1d_v2=2:nn.conv1d conv2d=nn.conv2d
    conv2d_backprop_filter=nn.conv2d_backprop_filter conv2d_backprop_input=nn.conv2d_backprop_input
    conv2d_transpose=nn.conv2d_transpose conv2d_transpose_v2=2:nn.conv2d_transpose
    conv2d_v2=2:nn.conv2d conv3d_backprop_filter_v2=nn.conv3d_backprop_filter
    conv3d_transpose=nn.conv3d_transpose conv3d_transpose_v2=2:nn.conv3d_transpose
    conv3d_v1=nn.conv3d conv3d_v2=2:nn.conv3d conv_transpose=nn.conv_transpose
    convolution=nn.convolution convolution_v2=2:nn.convolution crelu=nn.crelu crelu_v2=2:nn.crelu
    ctc_beam_search_decoder=nn.ctc_beam_search_decoder
    ctc_beam_search_decoder_v2=nn.ctc_beam_search_decoder_v2
    ctc_greedy_decoder=nn.ctc_greedy_decoder ctc_loss=nn.ctc_loss ctc_loss_v2=nn.ctc_loss_v2
    ctc_unique_labels=nn.ctc_unique_labels depthwise_conv2d=nn.depthwise_conv2d
    depthwise_conv2d_native=nn.depthwise_conv2d_native
    depthwise_conv2d_native_backprop_filter=nn.depthwise_conv2d_backprop_filter
    depthwise_conv2d_native_backprop_input=nn.depthwise_conv2d_backprop_input
    depthwise_conv2d_v2=2:nn.depthwise_conv2d dilation2d_v1=nn.dilation2d
    dilation2d_v2=2:nn.dilation2d dropout=nn.dropout dropout_v2=2:nn.dropout
    dynamic_rnn=nn.dynamic_rnn elu=nn.elu embedding_lookup=nn.embedding_lookup
    embedding_lookup_sparse=nn.embedding_lookup_sparse
    embedding_lookup_sparse_v2=2:nn.embedding_lookup_sparse
    embedding_lookup_v2=2:nn.embedding_lookup erosion2d=nn.erosion2d erosion2d_v2=2:nn.erosion2d
    fixed_unigram_candidate_sampler=nn.fixed_unigram_candidate_sampler
    fractional_avg_pool=nn.fractional_avg_pool fractional_avg_pool_v2=2:nn.fractional_avg_pool
    fractional_max_pool=nn.fractional_max_pool fractional_max_pool_v2=2:nn.fractional_max_pool
    fused_batch_norm=nn.fused_batch_norm in_top_k=nn.in_top_k in_top_k_v2=2:nn.in_top_k
    l2_loss=nn.l2_loss l2_normalize=nn.l2_normalize l2_normalize_v2=2:nn.l2_normalize
    leaky_relu=nn.leaky_relu learned_unigram_candidate_sampler=nn.learned_unigram_candidate_sampler
    local_response_normalization=nn.lrn log_poisson_loss=nn.log_poisson_loss
    log_softmax=nn.log_softmax log_softmax_v2=2:nn.log_softmax
    log_uniform_candidate_sampler=nn.log_uniform_candidate_sampler lrn=nn.lrn max_pool=nn.max_pool
    max_pool1d=nn.max_pool1d max_pool2d=nn.max_pool2d max_pool3d=nn.max_pool3d
    max_pool_v2=nn.max_pool_v2 max_pool_with_argmax_v1=nn.max_pool_with_argmax
    max_pool_with_argmax_v2=2:nn.max_pool_with_argmax moments=nn.moments moments_v2=2:nn.moments
    nce_loss=nn.nce_loss nce_loss_v2=2:nn.nce_loss normalize=linalg.normalize
    normalize_moments=nn.normalize_moments pool=nn.pool pool_v2=2:nn.pool
    quantized_avg_pool=nn.quantized_avg_pool quantized_conv2d=nn.quantized_conv2d
    quantized_max_pool=nn.quantized_max_pool quantized_relu_x=nn.quantized_relu_x raw_rnn=nn.raw_rnn
    relu=nn.relu relu6=nn.relu6 relu_layer=nn.relu_layer
    safe_embedding_lookup_sparse=nn.safe_embedding_lookup_sparse
    safe_embedding_lookup_sparse_v2=2:nn.safe_embedding_lookup_sparse
    sampled_softmax_loss=nn.sampled_softmax_loss sampled_softmax_loss_v2=2:nn.sampled_softmax_loss
    scale_regularization_loss=nn.scale_regularization_loss selu=nn.selu
    separable_conv2d=nn.separable_conv2d separable_conv2d_v2=2:nn.separable_conv2d sigmoid
    sigmoid_cross_entropy_with_logits=nn.sigmoid_cross_entropy_with_logits
    sigmoid_cross_entropy_with_logits_v2=2:nn.sigmoid_cross_entropy_with_logits softmax=nn.softmax
    softmax_cross_entropy_with_logits=nn.softmax_cross_entropy_with_logits
    softmax_cross_entropy_with_logits_v2=2:nn.softmax_cross_entropy_with_logits
    softmax_cross_entropy_with_logits_v2_helper=nn.softmax_cross_entropy_with_logits_v2
    softmax_v2=2:nn.softmax softplus=nn.softplus softsign=nn.softsign
    sparse_softmax_cross_entropy_with_logits=nn.sparse_softmax_cross_entropy_with_logits
    sparse_softmax_cross_entropy_with_logits_v2=2:nn.sparse_softmax_cross_entropy_with_logits
    static_rnn=nn.static_rnn static_state_saving_rnn=nn.static_state_saving_rnn
    sufficient_statistics=nn.sufficient_statistics
    sufficient_statistics_v2=2:nn.sufficient_statistics swish=nn.swish tanh top_k=nn.top_k
    uniform_candidate_sampler=nn.uniform_candidate_sampler
    weighted_cross_entropy_with_logits=nn.weighted_cross_entropy_with_logits
    weighted_cross_entropy_with_logits_v2=2:nn.weighted_cross_entropy_with_logits
    weighted_moments=nn.weighted_moments weighted_moments_v2=2:nn.weighted_moments
    with_space_to_batch=nn.with_space_to_batch xw_plus_b=nn.xw_plus_b zero_fraction=nn.zero_fraction
    """,
    "ops.nn_grad": "",
    "ops.nn_impl": """
    batch_norm_with_global_normalization=nn.batch_norm_with_global_normalization
    batch_norm_with_global_normalization_v2=2:nn.batch_norm_with_global_normalization
    batch_normalization=nn.batch_normalization compute_average_loss=nn.compute_average_loss
    depthwise_conv2d=nn.depthwise_conv2d depthwise_conv2d_v2=2:nn.depthwise_conv2d
    fused_batch_norm=nn.fused_batch_norm l2_normalize=nn.l2_normalize
    l2_normalize_v2=2:nn.l2_normalize log_poisson_loss=nn.log_poisson_loss moments=nn.moments
    moments_v2=2:nn.moments nce_loss=nn.nce_loss nce_loss_v2=2:nn.nce_loss
    normalize=linalg.normalize normalize_moments=nn.normalize_moments relu_layer=nn.relu_layer
    sampled_softmax_loss=nn.sampled_softmax_loss sampled_softmax_loss_v2=2:nn.sampled_softmax_loss
    scale_regularization_loss=nn.scale_regularization_loss separable_conv2d=nn.separable_conv2d
    separable_conv2d_v2=2:nn.separable_conv2d
    sigmoid_cross_entropy_with_logits=nn.sigmoid_cross_entropy_with_logits
    sigmoid_cross_entropy_with_logits_v2=2:nn.sigmoid_cross_entropy_with_logits
    sufficient_statistics=nn.sufficient_statistics
    sufficient_statistics_v2=2:nn.sufficient_statistics swish=nn.swish
    weighted_cross_entropy_with_logits=nn.weighted_cross_entropy_with_logits
    weighted_cross_entropy_with_logits_v2=2:nn.weighted_cross_entropy_with_logits
    weighted_moments=nn.weighted_moments weighted_moments_v2=2:nn.weighted_moments
    zero_fraction=nn.zero_fraction
    """,
    "ops.nn_ops": """
    * atrous_conv2d=nn.atrous_conv2d atrous_conv2d_transpose=nn.atrous_conv2d_transpose
    avg_pool=nn.avg_pool avg_pool1d=nn.avg_pool1d avg_pool2d=nn.avg_pool2d avg_pool3d=nn.avg_pool3d
    avg_pool_v2=nn.avg_pool_v2 bias_add=nn.bias_add conv1d=nn.conv1d
    conv1d_transpose=nn.conv1d_transpose conv1d_v2=2:nn.conv1d conv2d=nn.conv2d
    conv2d_backprop_filter=nn.conv2d_backprop_filter conv2d_backprop_input=nn.conv2d_backprop_input
    conv2d_transpose=nn.conv2d_transpose conv2d_transpose_v2=2:nn.conv2d_transpose
    conv2d_v2=2:nn.conv2d conv3d_backprop_filter_v2=nn.conv3d_backprop_filter
    conv3d_transpose=nn.conv3d_transpose conv3d_transpose_v2=2:nn.conv3d_transpose
    conv3d_v1=nn.conv3d conv3d_v2=2:nn.conv3d conv_transpose=nn.conv_transpose
    convolution=nn.convolution convolution_v2=2:nn.convolution crelu=nn.crelu crelu_v2=2:nn.crelu
    depthwise_conv2d_native=nn.depthwise_conv2d_native
    depthwise_conv2d_native_backprop_filter=nn.depthwise_conv2d_backprop_filter
    depthwise_conv2d_native_backprop_input=nn.depthwise_conv2d_backprop_input
    dilation2d_v1=nn.dilation2d dilation2d_v2=2:nn.dilation2d dropout=nn.dropout
    dropout_v2=2:nn.dropout elu=nn.elu erosion2d=nn.erosion2d erosion2d_v2=2:nn.erosion2d
    fractional_avg_pool=nn.fractional_avg_pool fractional_avg_pool_v2=2:nn.fractional_avg_pool
    fractional_max_pool=nn.fractional_max_pool fractional_max_pool_v2=2:nn.fractional_max_pool
    in_top_k=nn.in_top_k in_top_k_v2=2:nn.in_top_k l2_loss=nn.l2_loss leaky_relu=nn.leaky_relu
    local_response_normalization=nn.lrn log_softmax=nn.log_softmax log_softmax_v2=2:nn.log_softmax
    lrn=nn.lrn max_pool=nn.max_pool max_pool1d=nn.max_pool1d max_pool2d=nn.max_pool2d
    max_pool3d=nn.max_pool3d max_pool_v2=nn.max_pool_v2
    max_pool_with_argmax_v1=nn.max_pool_with_argmax
    max_pool_with_argmax_v2=2:nn.max_pool_with_argmax pool=nn.pool pool_v2=2:nn.pool
    quantized_avg_pool=nn.quantized_avg_pool quantized_conv2d=nn.quantized_conv2d
    quantized_max_pool=nn.quantized_max_pool quantized_relu_x=nn.quantized_relu_x relu=nn.relu
    relu6=nn.relu6 selu=nn.selu softmax=nn.softmax
    softmax_cross_entropy_with_logits=nn.softmax_cross_entropy_with_logits
    softmax_cross_entropy_with_logits_v2=2:nn.softmax_cross_entropy_with_logits
    softmax_cross_entropy_with_logits_v2_helper=nn.softmax_cross_entropy_with_logits_v2
    softmax_v2=2:nn.softmax softplus=nn.softplus softsign=nn.softsign
    sparse_softmax_cross_entropy_with_logits=nn.sparse_softmax_cross_entropy_with_logits
    sparse_softmax_cross_entropy_with_logits_v2=2:nn.sparse_softmax_cross_entropy_with_logits
    top_k=nn.top_k with_space_to_batch=nn.with_space_to_batch xw_plus_b=nn.xw_plus_b
    """,
    "ops.numerics": """
    add_check_numerics_ops verify_tensor_all_finite
    verify_tensor_all_finite_v2=2:debugging.assert_all_finite
    """,
    "ops.op_selector": "",
    "ops.optional_grad": "",
    "ops.parallel_for": "",
    "ops.parallel_for.control_flow_ops": "vectorized_map",
    "ops.parallel_for.gradients": "",
    "ops.parallel_for.pfor": "",
    "ops.parallel_for.test_util": "",
    "ops.parsing_ops": """
    * FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_compressed
    decode_csv decode_csv_v2=2:io.decode_csv decode_json_example decode_raw=io.decode_raw
    decode_raw_v1=decode_raw parse_example parse_example_v2=2:io.parse_example
    parse_sequence_example=io.parse_sequence_example parse_single_example
    parse_single_example_v2_unoptimized=2:io.parse_single_example parse_single_sequence_example
    parse_tensor serialize_tensor
    """,
    "ops.partitioned_variables": """
    create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner
    variable_axis_size_partitioner
    """,
    "ops.proto_ops": "decode_proto=io.decode_proto encode_proto=io.encode_proto",
    "ops.ragged": "",
    "ops.ragged.ragged_array_ops": """
    boolean_mask=ragged.boolean_mask stack_dynamic_partitions=ragged.stack_dynamic_partitions
    """,
    "ops.ragged.ragged_batch_gather_ops": "",
    "ops.ragged.ragged_batch_gather_with_default_op": "",
    "ops.ragged.ragged_concat_ops": "stack=ragged.stack",
    "ops.ragged.ragged_config": "",
    "ops.ragged.ragged_conversion_ops": "",
    "ops.ragged.ragged_dispatch": "",
    "ops.ragged.ragged_factory_ops": """
    constant=ragged.constant constant_value=ragged.constant_value placeholder=ragged.placeholder
    """,
    "ops.ragged.ragged_functional_ops": "map_flat_values=ragged.map_flat_values",
    "ops.ragged.ragged_gather_ops": "",
    "ops.ragged.ragged_getitem": "",
    "ops.ragged.ragged_map_ops": "",
    "ops.ragged.ragged_math_ops": "range=ragged.range",
    "ops.ragged.ragged_operators": "",
    "ops.ragged.ragged_squeeze_op": "RaggedTensor",
    "ops.ragged.ragged_string_ops": """
    ngrams=strings.ngrams string_bytes_split=strings.bytes_split string_split
    string_split_v2=2:strings.split strings_split_v1=strings.split
    unicode_decode=strings.unicode_decode
    unicode_decode_with_offsets=strings.unicode_decode_with_offsets
    unicode_encode=strings.unicode_encode unicode_split=strings.unicode_split
    unicode_split_with_offsets=strings.unicode_split_with_offsets
    """,
    "ops.ragged.ragged_tensor": "RaggedTensor RaggedTensorSpec",
    "ops.ragged.ragged_tensor_shape": "",
    "ops.ragged.ragged_tensor_value": "RaggedTensorValue=ragged.RaggedTensorValue",
    "ops.ragged.ragged_util": "",
    "ops.ragged.ragged_where_op": "",
    "ops.ragged.segment_id_ops": """
    row_splits_to_segment_ids=ragged.row_splits_to_segment_ids
    segment_ids_to_row_splits=ragged.segment_ids_to_row_splits
    """,
    "ops.random_grad": "",
    "ops.random_ops": """
    * categorical=random.categorical multinomial random_crop random_gamma random_normal
    random_poisson random_poisson_v2=2:random.poisson random_shuffle random_uniform truncated_normal
    """,
    "ops.resource_variable_ops": "*",
    "ops.resources": "",
    "ops.rnn": """
    bidirectional_dynamic_rnn=nn.bidirectional_dynamic_rnn dynamic_rnn=nn.dynamic_rnn
    raw_rnn=nn.raw_rnn static_bidirectional_rnn=nn.static_bidirectional_rnn static_rnn=nn.static_rnn
    static_state_saving_rnn=nn.static_state_saving_rnn
    """,
    "ops.rnn_cell": """
    BasicLSTMCell=nn.rnn_cell.BasicLSTMCell BasicRNNCell=nn.rnn_cell.BasicRNNCell
    DeviceWrapper=nn.rnn_cell.DeviceWrapper DropoutWrapper=nn.rnn_cell.DropoutWrapper
    GRUCell=nn.rnn_cell.GRUCell LSTMCell=nn.rnn_cell.LSTMCell
    LSTMStateTuple=nn.rnn_cell.LSTMStateTuple MultiRNNCell=nn.rnn_cell.MultiRNNCell
    RNNCell=nn.rnn_cell.RNNCell ResidualWrapper=nn.rnn_cell.ResidualWrapper
    """,
    "ops.rnn_cell_impl": """
    BasicLSTMCell=nn.rnn_cell.BasicLSTMCell BasicRNNCell=nn.rnn_cell.BasicRNNCell
    DeviceWrapper=nn.rnn_cell.DeviceWrapper DropoutWrapper=nn.rnn_cell.DropoutWrapper
    GRUCell=nn.rnn_cell.GRUCell LSTMCell=nn.rnn_cell.LSTMCell
    LSTMStateTuple=nn.rnn_cell.LSTMStateTuple MultiRNNCell=nn.rnn_cell.MultiRNNCell
    RNNCell=nn.rnn_cell.RNNCell ResidualWrapper=nn.rnn_cell.ResidualWrapper
    """,
    "ops.rnn_cell_wrapper_impl": "",
    "ops.rnn_grad": "",
    "ops.script_ops": "eager_py_func=py_function numpy_function py_func",
    "ops.sdca_ops": """
    * sdca_fprint=train.sdca_fprint sdca_optimizer=train.sdca_optimizer
    sdca_shrink_l1=train.sdca_shrink_l1
    """,
    "ops.session_ops": "delete_session_tensor get_session_handle get_session_tensor",
    "ops.sets": """
    set_difference=sets.difference set_intersection=sets.intersection set_size=sets.size
    set_union=sets.union
    """,
    "ops.sets_impl": """
    set_difference=sets.difference set_intersection=sets.intersection set_size=sets.size
    set_union=sets.union
    """,
    "ops.signal": "",
    "ops.signal.dct_ops": "dct=signal.dct idct=signal.idct",
    "ops.signal.fft_ops": """
    fft fft2d fft3d fftshift=signal.fftshift ifft ifft2d ifft3d ifftshift=signal.ifftshift
    irfft=signal.irfft irfft2d=signal.irfft2d irfft3d=signal.irfft3d rfft=signal.rfft
    rfft2d=signal.rfft2d rfft3d=signal.rfft3d
    """,
    "ops.signal.mel_ops": "linear_to_mel_weight_matrix=signal.linear_to_mel_weight_matrix",
    "ops.signal.mfcc_ops": "mfccs_from_log_mel_spectrograms=signal.mfccs_from_log_mel_spectrograms",
    "ops.signal.reconstruction_ops": "overlap_and_add=signal.overlap_and_add",
    "ops.signal.shape_ops": "frame=signal.frame",
    "ops.signal.signal": """
    dct=signal.dct fft fft2d fft3d fftshift=signal.fftshift frame=signal.frame
    hamming_window=signal.hamming_window hann_window=signal.hann_window idct=signal.idct ifft ifft2d
    ifft3d ifftshift=signal.ifftshift inverse_stft=signal.inverse_stft
    inverse_stft_window_fn=signal.inverse_stft_window_fn irfft=signal.irfft irfft2d=signal.irfft2d
    irfft3d=signal.irfft3d linear_to_mel_weight_matrix=signal.linear_to_mel_weight_matrix
    mfccs_from_log_mel_spectrograms=signal.mfccs_from_log_mel_spectrograms
    overlap_and_add=signal.overlap_and_add rfft=signal.rfft rfft2d=signal.rfft2d
    rfft3d=signal.rfft3d stft=signal.stft
    """,
    "ops.signal.spectral_ops": """
    inverse_stft=signal.inverse_stft inverse_stft_window_fn=signal.inverse_stft_window_fn
    stft=signal.stft
    """,
    "ops.signal.util_ops": "",
    "ops.signal.window_ops": "hamming_window=signal.hamming_window hann_window=signal.hann_window",
    "ops.sort_ops": "argsort sort",
    "ops.sparse_grad": "",
    "ops.sparse_ops": """
    * _sparse_cross=sparse.cross _sparse_cross_hashed=sparse.cross_hashed deserialize_many_sparse
    from_dense=sparse.from_dense serialize_many_sparse
    serialize_many_sparse_v2=2:io.serialize_many_sparse serialize_sparse
    serialize_sparse_v2=2:io.serialize_sparse sparse_add sparse_add_v2=2:sparse.add sparse_concat
    sparse_concat_v2=2:sparse.concat sparse_cross=sparse.cross
    sparse_cross_hashed=sparse.cross_hashed sparse_expand_dims=sparse.expand_dims
    sparse_eye=sparse.eye sparse_fill_empty_rows sparse_maximum sparse_merge sparse_minimum
    sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_max_v2=2:sparse.reduce_max
    sparse_reduce_sum sparse_reduce_sum_sparse sparse_reduce_sum_v2=2:sparse.reduce_sum
    sparse_reorder sparse_reset_shape sparse_reshape sparse_retain sparse_slice sparse_softmax
    sparse_split sparse_split_v2=2:sparse.split sparse_tensor_dense_matmul sparse_tensor_to_dense
    sparse_to_dense sparse_to_indicator sparse_transpose unary_op=math.bessel_i1e
    """,
    "ops.special_math_ops": "bessel_i0=math.bessel_i0 bessel_i1=math.bessel_i1 einsum lbeta",
    "ops.spectral_ops_test_util": "",
    "ops.standard_ops": """
    * AggregationMethod Assert ConditionalAccumulator ConditionalAccumulatorBase
    Constant=constant_initializer CriticalSection FIFOQueue FixedLenFeature FixedLenSequenceFeature
    FixedLengthRecordReader GlorotNormal=glorot_normal_initializer
    GlorotUniform=glorot_uniform_initializer GradientTape Identity=initializers.identity
    IdentityReader LMDBReader Ones=ones_initializer Orthogonal=orthogonal_initializer
    PaddingFIFOQueue Print PriorityQueue QueueBase RandomNormal=random_normal_initializer
    RandomShuffleQueue ReaderBase SparseConditionalAccumulator SparseFeature TFRecordReader
    TensorArray TensorArraySpec TextLineReader UnconnectedGradients
    UniformUnitScaling=uniform_unit_scaling_initializer VarLenFeature Variable VariableAggregation
    VariableAggregationV2=2:VariableAggregation VariableScope VariableSynchronization
    VariableV1=Variable VarianceScaling=variance_scaling_initializer WholeFileReader
    Zeros=zeros_initializer abs accumulate_n acos acosh add add_check_numerics_ops add_n
    all_variables angle arg_max arg_min argmax argmax_v2=2:argmax argmin argmin_v2=2:argmin argsort
    as_string asin asinh assert_equal assert_greater assert_greater_equal assert_integer assert_less
    assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
    assert_none_equal assert_positive assert_proper_iterable assert_rank assert_rank_at_least
    assert_rank_in assert_same_float_dtype assert_scalar assert_shapes=debugging.assert_shapes
    assert_type assert_variables_initialized assign assign_add assign_sub atan atan2 atanh
    batch_function=nondifferentiable_batch_function batch_gather batch_to_space batch_to_space_nd
    batch_to_space_v2=2:batch_to_space bessel_i0=math.bessel_i0 bessel_i0e=math.bessel_i0e
    bessel_i1=math.bessel_i1 bessel_i1e=math.bessel_i1e betainc bincount=math.bincount
    bincount_v1=bincount bitcast boolean_mask boolean_mask_v2=2:boolean_mask broadcast_dynamic_shape
    broadcast_static_shape broadcast_to case cast categorical=random.categorical ceil check_numerics
    cholesky cholesky_solve clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value
    complex concat cond confusion_matrix=math.confusion_matrix conj constant constant_initializer
    cos cosh count_nonzero count_nonzero_v2=2:math.count_nonzero count_up_to
    create_partitioned_variables cross cumprod cumsum cumulative_logsumexp=math.cumulative_logsumexp
    custom_gradient decode_base64 decode_compressed decode_csv decode_csv_v2=2:io.decode_csv
    decode_json_example decode_proto=io.decode_proto decode_raw=io.decode_raw
    decode_raw_v1=decode_raw delete_session_tensor depth_to_space
    depth_to_space_v2=2:nn.depth_to_space dequantize deserialize_many_sparse diag diag_part digamma
    div div_no_nan divide dynamic_partition dynamic_stitch edit_distance encode_base64
    encode_proto=io.encode_proto equal erf erfc exp expand_dims expand_dims_v2=2:expand_dims expm1
    extract_image_patches extract_image_patches_v2=image.extract_patches extract_volume_patches eye
    fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
    fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
    fake_quant_with_min_max_vars_per_channel_gradient fill fingerprint fixed_size_partitioner floor
    floor_div floor_mod=mod floordiv floormod=mod foldl foldr from_dense=sparse.from_dense gather
    gather_nd gather_nd_v2=2:gather_nd gather_v2=2:gather get_local_variable get_session_handle
    get_session_tensor get_variable get_variable_scope global_norm global_variables
    global_variables_initializer glorot_normal_initializer glorot_uniform_initializer gradients
    greater greater_equal group guarantee_const he_normal=initializers.he_normal
    he_uniform=initializers.he_uniform hessians histogram_fixed_width histogram_fixed_width_bins
    identity identity_initializer=initializers.identity identity_n igamma igammac imag
    initialize_all_tables initialize_all_variables initialize_local_variables initialize_variables
    invert_permutation is_finite is_inf is_nan is_non_decreasing is_numeric_tensor
    is_strictly_increasing is_variable_initialized lbeta lecun_normal=initializers.lecun_normal
    lecun_uniform=initializers.lecun_uniform less less_equal lgamma lin_space=linspace linspace
    local_variables local_variables_initializer log log1p log_matrix_determinant=linalg.slogdet
    log_sigmoid logical_and logical_not logical_or logical_xor lu=linalg.lu make_template
    matching_files matmul matrix_band_part matrix_determinant matrix_diag matrix_diag_part
    matrix_inverse matrix_logarithm=linalg.logm matrix_set_diag matrix_solve matrix_solve_ls
    matrix_square_root matrix_transpose matrix_triangular_solve matvec=linalg.matvec maximum
    meshgrid min_max_variable_partitioner minimum mod model_variables moving_average_variables
    multinomial multiply multiply_no_nan=math.multiply_no_nan neg=negative negative
    next_after=math.nextafter nextafter=math.nextafter no_op no_regularizer norm norm_v2=2:norm
    not_equal one_hot ones ones_initializer ones_like ones_like_v2=2:ones_like
    orthogonal_initializer pad pad_v2=2:pad parallel_stack parse_example
    parse_example_v2=2:io.parse_example parse_sequence_example=io.parse_sequence_example
    parse_single_example parse_single_example_v2_unoptimized=2:io.parse_single_example
    parse_single_sequence_example parse_tensor placeholder placeholder_with_default polygamma
    polyval=math.polyval pow py_func qr quantize
    quantize_and_dequantize=quantization.quantize_and_dequantize quantize_v2 quantized_concat
    random_crop random_gamma random_normal random_normal_initializer random_poisson
    random_poisson_v2=2:random.poisson random_shuffle random_uniform random_uniform_initializer
    range rank read_file real real_div=realdiv realdiv reciprocal
    reciprocal_no_nan=math.reciprocal_no_nan reduce_all reduce_all_v1=reduce_all reduce_any
    reduce_any_v1=reduce_any reduce_euclidean_norm=math.reduce_euclidean_norm reduce_join
    reduce_join_v2=2:strings.reduce_join reduce_logsumexp reduce_logsumexp_v1=reduce_logsumexp
    reduce_max reduce_max_v1=reduce_max reduce_mean reduce_mean_v1=reduce_mean reduce_min
    reduce_min_v1=reduce_min reduce_prod reduce_prod_v1=reduce_prod reduce_std=math.reduce_std
    reduce_sum reduce_sum_v1=reduce_sum reduce_variance=math.reduce_variance
    regex_full_match=strings.regex_full_match regex_replace repeat report_uninitialized_variables
    required_space_to_batch_paddings reshape reverse reverse_sequence
    reverse_sequence_v2=2:reverse_sequence reverse_v2=reverse rint roll round rsqrt saturate_cast
    scalar_mul scalar_mul_v2=2:scalar_mul scan scatter_add scatter_div scatter_max scatter_min
    scatter_mul scatter_nd scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub
    scatter_update searchsorted segment_max segment_mean segment_min segment_prod segment_sum
    self_adjoint_eig self_adjoint_eigvals sequence_mask serialize_many_sparse
    serialize_many_sparse_v2=2:io.serialize_many_sparse serialize_sparse
    serialize_sparse_v2=2:io.serialize_sparse serialize_tensor setdiff1d shape shape_n
    shape_v2=2:shape sigmoid sign sin sinh size size_v2=2:size slice sort space_to_batch
    space_to_batch_nd space_to_batch_v2=2:space_to_batch space_to_depth
    space_to_depth_v2=2:nn.space_to_depth sparse_add sparse_add_v2=2:sparse.add sparse_concat
    sparse_concat_v2=2:sparse.concat sparse_cross=sparse.cross
    sparse_cross_hashed=sparse.cross_hashed sparse_expand_dims=sparse.expand_dims
    sparse_eye=sparse.eye sparse_fill_empty_rows sparse_mask sparse_mat_mul=sparse_matmul
    sparse_matmul sparse_maximum sparse_merge sparse_minimum sparse_placeholder sparse_reduce_max
    sparse_reduce_max_sparse sparse_reduce_max_v2=2:sparse.reduce_max sparse_reduce_sum
    sparse_reduce_sum_sparse sparse_reduce_sum_v2=2:sparse.reduce_sum sparse_reorder
    sparse_reset_shape sparse_reshape sparse_retain sparse_segment_mean
    sparse_segment_mean_v2=2:sparse.segment_mean sparse_segment_sqrt_n
    sparse_segment_sqrt_n_v2=2:sparse.segment_sqrt_n sparse_segment_sum
    sparse_segment_sum_v2=2:sparse.segment_sum sparse_slice sparse_softmax sparse_split
    sparse_split_v2=2:sparse.split sparse_tensor_dense_matmul sparse_tensor_to_dense sparse_to_dense
    sparse_to_indicator sparse_transpose split sqrt square squared_difference squeeze
    squeeze_v2=2:squeeze stack stateless_categorical=random.stateless_categorical
    stateless_multinomial=random.stateless_multinomial
    stateless_random_normal=random.stateless_normal
    stateless_random_uniform=random.stateless_uniform
    stateless_truncated_normal=random.stateless_truncated_normal stop_gradient strided_slice
    string_format=strings.format string_join string_length=strings.length
    string_length_v2=2:strings.length string_lower=strings.lower string_strip
    string_to_hash_bucket=2:strings.to_hash_bucket string_to_hash_bucket_fast
    string_to_hash_bucket_strong string_to_hash_bucket_v1=string_to_hash_bucket
    string_to_number=2:strings.to_number string_to_number_v1=string_to_number
    string_upper=strings.upper substr=strings.substr substr_deprecated=substr
    substr_v2=2:strings.substr subtract svd tables_initializer tan tanh tensor_scatter_add
    tensor_scatter_sub tensor_scatter_update tensordot tile timestamp to_bfloat16 to_complex128
    to_complex64 to_double to_float to_int32 to_int64 trace trainable_variables transpose
    transpose_v2=2:transpose truediv truncate_div=truncatediv truncate_mod=truncatemod
    truncated_normal truncated_normal_initializer truncatediv truncatemod tuple
    unary_op=math.bessel_i1e unicode_script=strings.unicode_script
    unicode_transcode=strings.unicode_transcode uniform_unit_scaling_initializer unique
    unique_with_counts unravel_index unsorted_segment_join=strings.unsorted_segment_join
    unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod
    unsorted_segment_sqrt_n unsorted_segment_sum unstack variable_axis_size_partitioner
    variable_op_scope variable_scope variables_initializer variance_scaling_initializer
    vectorized_map verify_tensor_all_finite
    verify_tensor_all_finite_v2=2:debugging.assert_all_finite where where_v2 while_loop write_file
    xdivy=math.xdivy xlogy=math.xlogy zeros zeros_initializer zeros_like zeros_like_v2=2:zeros_like
    zeta
    """,
    "ops.state_grad": "",
    "ops.state_ops": """
    * assign assign_add assign_sub batch_scatter_update count_up_to scatter_add scatter_div
    scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub
    scatter_update
    """,
    "ops.stateful_random_ops": """
    Generator=random.experimental.Generator create_rng_state=random.experimental.create_rng_state
    get_global_generator=random.experimental.get_global_generator
    set_global_generator=random.experimental.set_global_generator
    """,
    "ops.stateless_random_ops": """
    stateless_categorical=random.stateless_categorical
    stateless_multinomial=random.stateless_multinomial
    stateless_random_normal=random.stateless_normal
    stateless_random_uniform=random.stateless_uniform
    stateless_truncated_normal=random.stateless_truncated_normal
    """,
    "ops.string_ops": """
    * as_string decode_base64 encode_base64 reduce_join reduce_join_v2=2:strings.reduce_join
    regex_full_match=strings.regex_full_match regex_replace string_format=strings.format string_join
    string_length=strings.length string_length_v2=2:strings.length string_lower=strings.lower
    string_strip string_to_hash_bucket=2:strings.to_hash_bucket string_to_hash_bucket_fast
    string_to_hash_bucket_strong string_to_hash_bucket_v1=string_to_hash_bucket
    string_to_number=2:strings.to_number string_to_number_v1=string_to_number
    string_upper=strings.upper substr=strings.substr substr_deprecated=substr
    substr_v2=2:strings.substr unicode_script=strings.unicode_script
    unicode_transcode=strings.unicode_transcode unsorted_segment_join=strings.unsorted_segment_join
    """,
    "ops.summary_op_util": "",
    "ops.summary_ops_v2": """
    SummaryWriter=2:summary.SummaryWriter _flush_fn=2:summary.flush
    all_v2_summary_ops=summary.all_v2_summary_ops create_file_writer_v2=2:summary.create_file_writer
    create_noop_writer=2:summary.create_noop_writer flush=2:summary.flush
    get_step=2:summary.experimental.get_step initialize=summary.initialize
    record_if=2:summary.record_if set_step=2:summary.experimental.set_step
    summary_scope=2:summary.experimental.summary_scope trace_export=2:summary.trace_export
    trace_off=2:summary.trace_off trace_on=2:summary.trace_on write=2:summary.write
    write_raw_pb=2:summary.experimental.write_raw_pb
    """,
    "ops.template": "make_template",
    "ops.tensor_array_grad": "",
    "ops.tensor_array_ops": "TensorArray TensorArraySpec",
    "ops.tensor_forest_ops": "",
    "ops.unconnected_gradients": "UnconnectedGradients",
    "ops.variable_scope": """
    AUTO_REUSE VariableAggregation VariableScope VariableSynchronization disable_resource_variables
    enable_resource_variables get_local_variable get_variable get_variable_scope no_regularizer
    resource_variables_enabled variable=Variable variable_creator_scope
    variable_creator_scope_v1=variable_creator_scope variable_op_scope variable_scope
    """,
    "ops.variables": """
    Variable VariableAggregation VariableAggregationV2=2:VariableAggregation VariableSynchronization
    VariableV1=Variable all_variables assert_variables_initialized global_variables
    global_variables_initializer initialize_all_variables initialize_local_variables
    initialize_variables is_variable_initialized local_variables local_variables_initializer
    model_variables moving_average_variables report_uninitialized_variables trainable_variables
    variables_initializer
    """,
    "ops.weights_broadcast_ops": "",
    "ops.while_v2": "",
    "ops.while_v2_indexed_slices_rewriter": "",
    "platform": "",
    "platform.app": "run=app.run",
    "platform.benchmark": """
    TensorFlowBenchmark=test.Benchmark benchmark_config=test.benchmark_config
    """,
    "platform.build_info": "",
    "platform.control_imports": "",
    "platform.flags": "",
    "platform.gfile": """
    Copy=gfile.Copy DeleteRecursively=gfile.DeleteRecursively Exists=gfile.Exists
    FastGFile=gfile.FastGFile GFile=gfile.Open Glob=gfile.Glob IsDirectory=gfile.IsDirectory
    ListDirectory=gfile.ListDirectory MakeDirs=gfile.MakeDirs MkDir=gfile.MkDir Open=gfile.Open
    Remove=gfile.Remove Rename=gfile.Rename Stat=gfile.Stat Walk=gfile.Walk
    """,
    "platform.googletest": "Benchmark=test.Benchmark StubOutForTesting=test.StubOutForTesting",
    "platform.remote_utils": "",
    "platform.resource_loader": """
    get_data_files_path=resource_loader.get_data_files_path
    get_path_to_datafile=resource_loader.get_path_to_datafile
    get_root_dir_with_all_resources=resource_loader.get_root_dir_with_all_resources
    load_resource=resource_loader.load_resource
    readahead_file_path=resource_loader.readahead_file_path
    """,
    "platform.self_check": "",
    "platform.status_bar": "",
    "platform.sysconfig": """
    get_compile_flags=sysconfig.get_compile_flags get_include=sysconfig.get_include
    get_lib=sysconfig.get_lib get_link_flags=sysconfig.get_link_flags
    """,
    "platform.test": """
    Benchmark=test.Benchmark StubOutForTesting=test.StubOutForTesting TestCase=test.TestCase
    compute_gradient=test.compute_gradient compute_gradient_error=test.compute_gradient_error
    create_local_cluster=test.create_local_cluster get_temp_dir=test.get_temp_dir
    gpu_device_name=test.gpu_device_name is_built_with_cuda=test.is_built_with_cuda
    is_built_with_gpu_support=test.is_built_with_gpu_support
    is_built_with_rocm=test.is_built_with_rocm is_gpu_available=test.is_gpu_available main=test.main
    test_src_dir_path=test.test_src_dir_path
    """,
    "platform.tf_logging": """
    DEBUG=logging.DEBUG ERROR=logging.ERROR FATAL=logging.FATAL INFO=logging.INFO
    TaskLevelStatusMessage=logging.TaskLevelStatusMessage WARN=logging.WARN debug=logging.debug
    error=logging.error fatal=logging.fatal flush=logging.flush get_logger
    get_verbosity=logging.get_verbosity info=logging.info log=logging.log
    log_every_n=logging.log_every_n log_first_n=logging.log_first_n log_if=logging.log_if
    set_verbosity=logging.set_verbosity vlog=logging.vlog warn=logging.warn warning=logging.warning
    """,
    "profiler": "",
    "profiler.internal": "",
    "profiler.internal.flops_registry": "",
    "profiler.model_analyzer": """
    Profiler=profiler.Profiler advise=profiler.advise profile=profiler.profile
    """,
    "profiler.option_builder": "ProfileOptionBuilder=profiler.ProfileOptionBuilder",
    "profiler.profile_context": "",
    "profiler.profiler": """
    AdviceProto=profiler.AdviceProto GraphNodeProto=profiler.GraphNodeProto
    MultiGraphNodeProto=profiler.MultiGraphNodeProto OpLogProto=profiler.OpLogProto
    ProfileOptionBuilder=profiler.ProfileOptionBuilder Profiler=profiler.Profiler
    advise=profiler.advise profile=profiler.profile write_op_log=profiler.write_op_log
    """,
    "profiler.tfprof_logger": "write_op_log=profiler.write_op_log",
    "pywrap_tensorflow": """
    NewCheckpointReader=train.NewCheckpointReader
    do_quantize_training_on_graphdef=train.do_quantize_training_on_graphdef
    """,
    "pywrap_tensorflow_internal": """
    NewCheckpointReader=train.NewCheckpointReader
    do_quantize_training_on_graphdef=train.do_quantize_training_on_graphdef
    """,
    "saved_model": "",
    "saved_model.builder": "SavedModelBuilder=saved_model.Builder",
    "saved_model.builder_impl": "SavedModelBuilder=saved_model.Builder",
    "saved_model.constants": """
    ASSETS_DIRECTORY=saved_model.ASSETS_DIRECTORY ASSETS_KEY=saved_model.ASSETS_KEY
    LEGACY_INIT_OP_KEY=saved_model.LEGACY_INIT_OP_KEY MAIN_OP_KEY=saved_model.MAIN_OP_KEY
    SAVED_MODEL_FILENAME_PB=saved_model.SAVED_MODEL_FILENAME_PB
    SAVED_MODEL_FILENAME_PBTXT=saved_model.SAVED_MODEL_FILENAME_PBTXT
    SAVED_MODEL_SCHEMA_VERSION=saved_model.SAVED_MODEL_SCHEMA_VERSION
    VARIABLES_DIRECTORY=saved_model.VARIABLES_DIRECTORY
    VARIABLES_FILENAME=saved_model.VARIABLES_FILENAME
    """,
    "saved_model.function_deserialization": "",
    "saved_model.function_serialization": "",
    "saved_model.load": "load=saved_model.load_v2",
    "saved_model.load_v1_in_v2": "",
    "saved_model.loader": """
    load=saved_model.load maybe_saved_model_directory=saved_model.contains_saved_model
    """,
    "saved_model.loader_impl": """
    contains_saved_model=saved_model.contains_saved_model load=saved_model.load
    maybe_saved_model_directory=saved_model.contains_saved_model
    """,
    "saved_model.main_op": """
    main_op=saved_model.main_op.main_op main_op_with_restore=saved_model.main_op_with_restore
    """,
    "saved_model.main_op_impl": """
    main_op=saved_model.main_op.main_op main_op_with_restore=saved_model.main_op_with_restore
    """,
    "saved_model.model_utils": """
    ClassificationOutput=estimator.export.ClassificationOutput
    ExportOutput=estimator.export.ExportOutput PredictOutput=estimator.export.PredictOutput
    RegressionOutput=estimator.export.RegressionOutput
    """,
    "saved_model.model_utils.export_output": """
    ClassificationOutput=estimator.export.ClassificationOutput
    ExportOutput=estimator.export.ExportOutput PredictOutput=estimator.export.PredictOutput
    RegressionOutput=estimator.export.RegressionOutput
    """,
    "saved_model.model_utils.export_utils": "",
    "saved_model.model_utils.mode_keys": "EstimatorModeKeys=estimator.ModeKeys",
    "saved_model.nested_structure_coder": "",
    "saved_model.revived_types": "",
    "saved_model.save": "save=saved_model.save",
    "saved_model.saved_model": """
    load=saved_model.load_v2 save=saved_model.save simple_save=saved_model.simple_save
    """,
    "saved_model.signature_constants": """
    CLASSIFY_INPUTS=saved_model.CLASSIFY_INPUTS
    CLASSIFY_METHOD_NAME=saved_model.CLASSIFY_METHOD_NAME
    CLASSIFY_OUTPUT_CLASSES=saved_model.CLASSIFY_OUTPUT_CLASSES
    CLASSIFY_OUTPUT_SCORES=saved_model.CLASSIFY_OUTPUT_SCORES
    DEFAULT_SERVING_SIGNATURE_DEF_KEY=saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    PREDICT_INPUTS=saved_model.PREDICT_INPUTS PREDICT_METHOD_NAME=saved_model.PREDICT_METHOD_NAME
    PREDICT_OUTPUTS=saved_model.PREDICT_OUTPUTS REGRESS_INPUTS=saved_model.REGRESS_INPUTS
    REGRESS_METHOD_NAME=saved_model.REGRESS_METHOD_NAME REGRESS_OUTPUTS=saved_model.REGRESS_OUTPUTS
    """,
    "saved_model.signature_def_utils": """
    build_signature_def=saved_model.build_signature_def
    classification_signature_def=saved_model.classification_signature_def
    is_valid_signature=saved_model.is_valid_signature
    predict_signature_def=saved_model.predict_signature_def
    regression_signature_def=saved_model.regression_signature_def
    """,
    "saved_model.signature_def_utils_impl": """
    build_signature_def=saved_model.build_signature_def
    classification_signature_def=saved_model.classification_signature_def
    is_valid_signature=saved_model.is_valid_signature
    predict_signature_def=saved_model.predict_signature_def
    regression_signature_def=saved_model.regression_signature_def
    """,
    "saved_model.signature_serialization": "",
    "saved_model.simple_save": "simple_save=saved_model.simple_save",
    "saved_model.tag_constants": """
    GPU=saved_model.GPU SERVING=saved_model.SERVING TPU=saved_model.TPU
    TRAINING=saved_model.TRAINING
    """,
    "saved_model.utils": """
    build_tensor_info=saved_model.build_tensor_info
    get_tensor_from_tensor_info=saved_model.get_tensor_from_tensor_info
    """,
    "saved_model.utils_impl": """
    build_tensor_info=saved_model.build_tensor_info
    get_tensor_from_tensor_info=saved_model.get_tensor_from_tensor_info
    """,
    "summary": "",
    "summary.plugin_asset": "",
    "summary.summary": """
    Event FileWriter=summary.FileWriter FileWriterCache=summary.FileWriterCache SessionLog Summary
    SummaryDescription=summary.SummaryDescription TaggedRunMetadata=summary.TaggedRunMetadata
    _SummaryMetadata=SummaryMetadata audio=summary.audio
    get_summary_description=summary.get_summary_description histogram=summary.histogram
    image=summary.image merge=summary.merge merge_all=summary.merge_all scalar=summary.scalar
    tensor_summary=summary.tensor_summary text=summary.text
    """,
    "summary.summary_iterator": "summary_iterator=train.summary_iterator",
    "summary.writer": "",
    "summary.writer.event_file_writer": "",
    "summary.writer.event_file_writer_v2": "",
    "summary.writer.writer": "FileWriter=summary.FileWriter",
    "summary.writer.writer_cache": """
    FileWriter=summary.FileWriter FileWriterCache=summary.FileWriterCache
    """,
    "tf2": "",
    "tools": "",
    "tools.api": "",
    "tools.api.generator": "",
    "tools.api.generator.create_python_api": "",
    "tools.api.generator.doc_srcs": "",
    "tools.freeze_graph": "MetaGraphDef",
    "tools.import_pb_to_tensorboard": "",
    "tools.inspect_checkpoint": "",
    "tools.module_util": "",
    "tools.optimize_for_inference": "",
    "tools.optimize_for_inference_lib": "",
    "tools.print_selective_registration_header": "",
    "tools.saved_model_cli": "",
    "tools.saved_model_utils": "",
    "tools.selective_registration_header_lib": "",
    "tools.strip_unused": "",
    "tools.strip_unused_lib": "",
    "tpu": "",
    "tpu._tpu_estimator_embedding": """
    AdagradParameters=tpu.experimental.AdagradParameters
    AdamParameters=tpu.experimental.AdamParameters
    EmbeddingConfigSpec=estimator.tpu.experimental.EmbeddingConfigSpec
    StochasticGradientDescentParameters=tpu.experimental.StochasticGradientDescentParameters
    """,
    "tpu.api": "",
    "tpu.async_checkpoint": """
    SessionLog SessionRunArgs=train.SessionRunArgs SummaryWriterCache=summary.FileWriterCache
    """,
    "tpu.bfloat16": "bfloat16_scope=tpu.bfloat16_scope",
    "tpu.datasets": "",
    "tpu.device_assignment": "DeviceAssignment=tpu.experimental.DeviceAssignment",
    "tpu.error_handling": "",
    "tpu.feature_column": "",
    "tpu.feature_column_v2": """
    embedding_column_v2=tpu.experimental.embedding_column
    shared_embedding_columns_v2=tpu.experimental.shared_embedding_columns
    """,
    "tpu.functional": "*",
    "tpu.ops": "",
    "tpu.ops.tpu_ops": "* cross_replica_sum=tpu.cross_replica_sum",
    "tpu.preempted_hook": "",
    "tpu.profiler": "",
    "tpu.profiler.profiler_analysis_pb2_grpc": "",
    "tpu.session_support": "",
    "tpu.tensor_tracer": "",
    "tpu.tensor_tracer_flags": "",
    "tpu.tensor_tracer_pb2": "",
    "tpu.tensor_tracer_report": "",
    "tpu.topology": "",
    "tpu.tpu": """
    batch_parallel=tpu.batch_parallel core=tpu.core initialize_system=tpu.initialize_system
    outside_compilation=tpu.outside_compilation replicate=tpu.replicate rewrite=tpu.rewrite
    shard=tpu.shard shutdown_system=tpu.shutdown_system
    """,
    "tpu.tpu_config": """
    InputPipelineConfig=estimator.tpu.InputPipelineConfig RunConfig=estimator.tpu.RunConfig
    TPUConfig=estimator.tpu.TPUConfig
    """,
    "tpu.tpu_context": "",
    "tpu.tpu_embedding": """
    AdagradParameters=tpu.experimental.AdagradParameters
    AdamParameters=tpu.experimental.AdamParameters
    StochasticGradientDescentParameters=tpu.experimental.StochasticGradientDescentParameters
    """,
    "tpu.tpu_embedding_gradient": "",
    "tpu.tpu_estimator": """
    AdagradParameters=tpu.experimental.AdagradParameters
    AdamParameters=tpu.experimental.AdamParameters
    EmbeddingConfigSpec=estimator.tpu.experimental.EmbeddingConfigSpec
    StochasticGradientDescentParameters=tpu.experimental.StochasticGradientDescentParameters Summary
    TPUEstimator=estimator.tpu.TPUEstimator TPUEstimatorSpec=estimator.tpu.TPUEstimatorSpec
    """,
    "tpu.tpu_feed": "",
    "tpu.tpu_function": "",
    "tpu.tpu_optimizer": "CrossShardOptimizer=tpu.CrossShardOptimizer",
    "tpu.tpu_sharding": "",
    "tpu.tpu_strategy_util": """
    TPUClusterResolver=distribute.cluster_resolver.TPUClusterResolver
    initialize_tpu_system=tpu.experimental.initialize_tpu_system
    """,
    "tpu.tpu_system_metadata": "",
    "tpu.training_loop": "",
    "tpu.util": "",
    "training": "",
    "training.adadelta": "AdadeltaOptimizer=train.AdadeltaOptimizer",
    "training.adagrad": "AdagradOptimizer=train.AdagradOptimizer",
    "training.adagrad_da": "AdagradDAOptimizer=train.AdagradDAOptimizer",
    "training.adam": "AdamOptimizer=train.AdamOptimizer",
    "training.basic_loops": "basic_train_loop=train.basic_train_loop",
    "training.basic_session_run_hooks": """
    CheckpointSaverHook=train.CheckpointSaverHook
    CheckpointSaverListener=train.CheckpointSaverListener FeedFnHook=train.FeedFnHook
    FinalOpsHook=train.FinalOpsHook GlobalStepWaiterHook=train.GlobalStepWaiterHook
    LoggingTensorHook=train.LoggingTensorHook
    NanLossDuringTrainingError=train.NanLossDuringTrainingError NanTensorHook=train.NanTensorHook
    ProfilerHook=train.ProfilerHook SecondOrStepTimer=train.SecondOrStepTimer SessionLog
    SessionRunArgs=train.SessionRunArgs StepCounterHook=train.StepCounterHook
    StopAtStepHook=train.StopAtStepHook Summary SummarySaverHook=train.SummarySaverHook
    SummaryWriterCache=summary.FileWriterCache
    """,
    "training.checkpoint_management": """
    CheckpointManager=train.CheckpointManager checkpoint_exists=train.checkpoint_exists
    generate_checkpoint_state_proto=train.generate_checkpoint_state_proto
    get_checkpoint_mtimes=train.get_checkpoint_mtimes
    get_checkpoint_state=train.get_checkpoint_state latest_checkpoint=train.latest_checkpoint
    remove_checkpoint=train.remove_checkpoint update_checkpoint_state=train.update_checkpoint_state
    """,
    "training.checkpoint_ops": "",
    "training.checkpoint_state_pb2": "",
    "training.checkpoint_utils": """
    checkpoints_iterator=train.checkpoints_iterator init_from_checkpoint=train.init_from_checkpoint
    list_variables=train.list_variables load_checkpoint=train.load_checkpoint
    load_variable=train.load_variable
    """,
    "training.coordinator": "Coordinator=train.Coordinator LooperThread=train.LooperThread",
    "training.device_setter": "replica_device_setter=train.replica_device_setter",
    "training.distribute": """
    InputContext=distribute.InputContext InputReplicationMode=distribute.InputReplicationMode
    ReplicaContext=distribute.ReplicaContext Strategy=distribute.Strategy
    StrategyExtendedV1=distribute.StrategyExtended StrategyExtendedV2=2:distribute.StrategyExtended
    StrategyV1=distribute.Strategy get_loss_reduction=distribute.get_loss_reduction
    """,
    "training.distribution_strategy_context": """
    experimental_set_strategy=distribute.experimental_set_strategy
    get_distribution_strategy=distribute.get_strategy
    get_replica_context=distribute.get_replica_context get_strategy=distribute.get_strategy
    has_distribution_strategy=distribute.has_strategy has_strategy=distribute.has_strategy
    in_cross_replica_context=distribute.in_cross_replica_context
    """,
    "training.evaluation": "",
    "training.experimental": "",
    "training.experimental.loss_scale": """
    DynamicLossScale=train.experimental.DynamicLossScale
    FixedLossScale=train.experimental.FixedLossScale LossScale=train.experimental.LossScale
    """,
    "training.experimental.loss_scale_optimizer": """
    MixedPrecisionLossScaleOptimizer=train.experimental.MixedPrecisionLossScaleOptimizer
    """,
    "training.experimental.mixed_precision": """
    disable_mixed_precision_graph_rewrite=train.experimental.disable_mixed_precision_graph_rewrite
    disable_mixed_precision_graph_rewrite_v1=train.experimental.disable_mixed_precision_graph_rewrite
    enable_mixed_precision_graph_rewrite=train.experimental.enable_mixed_precision_graph_rewrite
    enable_mixed_precision_graph_rewrite_v1=train.experimental.enable_mixed_precision_graph_rewrite
    """,
    "training.experimental.mixed_precision_global_state": "",
    "training.ftrl": "FtrlOptimizer=train.FtrlOptimizer",
    "training.gradient_descent": "GradientDescentOptimizer=train.GradientDescentOptimizer",
    "training.input": """
    batch=train.batch batch_join=train.batch_join input_producer=train.input_producer
    limit_epochs=train.limit_epochs match_filenames_once=io.match_filenames_once
    maybe_batch=train.maybe_batch maybe_batch_join=train.maybe_batch_join
    maybe_shuffle_batch=train.maybe_shuffle_batch
    maybe_shuffle_batch_join=train.maybe_shuffle_batch_join
    range_input_producer=train.range_input_producer shuffle_batch=train.shuffle_batch
    shuffle_batch_join=train.shuffle_batch_join slice_input_producer=train.slice_input_producer
    string_input_producer=train.string_input_producer
    """,
    "training.learning_rate_decay": """
    cosine_decay=train.cosine_decay cosine_decay_restarts=train.cosine_decay_restarts
    exponential_decay=train.exponential_decay inverse_time_decay=train.inverse_time_decay
    linear_cosine_decay=train.linear_cosine_decay natural_exp_decay=train.natural_exp_decay
    noisy_linear_cosine_decay=train.noisy_linear_cosine_decay
    piecewise_constant=train.piecewise_constant polynomial_decay=train.polynomial_decay
    """,
    "training.momentum": "MomentumOptimizer=train.MomentumOptimizer",
    "training.monitored_session": """
    ChiefSessionCreator=train.ChiefSessionCreator MonitoredSession=train.MonitoredSession
    MonitoredTrainingSession=train.MonitoredTrainingSession Scaffold=train.Scaffold
    SessionCreator=train.SessionCreator SingularMonitoredSession=train.SingularMonitoredSession
    WorkerSessionCreator=train.WorkerSessionCreator
    """,
    "training.moving_averages": "ExponentialMovingAverage=train.ExponentialMovingAverage",
    "training.optimizer": "Optimizer=train.Optimizer",
    "training.proximal_adagrad": "ProximalAdagradOptimizer=train.ProximalAdagradOptimizer",
    "training.proximal_gradient_descent": """
    ProximalGradientDescentOptimizer=train.ProximalGradientDescentOptimizer
    """,
    "training.queue_runner": """
    QueueRunner=train.QueueRunner add_queue_runner=train.add_queue_runner
    start_queue_runners=train.start_queue_runners
    """,
    "training.queue_runner_impl": """
    QueueRunner=train.QueueRunner add_queue_runner=train.add_queue_runner
    start_queue_runners=train.start_queue_runners
    """,
    "training.rmsprop": "RMSPropOptimizer=train.RMSPropOptimizer",
    "training.saver": """
    Saver=train.Saver checkpoint_exists=train.checkpoint_exists
    export_meta_graph=train.export_meta_graph
    generate_checkpoint_state_proto=train.generate_checkpoint_state_proto
    get_checkpoint_mtimes=train.get_checkpoint_mtimes
    get_checkpoint_state=train.get_checkpoint_state import_meta_graph=train.import_meta_graph
    latest_checkpoint=train.latest_checkpoint remove_checkpoint=train.remove_checkpoint
    update_checkpoint_state=train.update_checkpoint_state
    """,
    "training.saver_test_utils": "",
    "training.saving": "",
    "training.saving.functional_saver": "",
    "training.saving.saveable_object": "",
    "training.saving.saveable_object_util": "",
    "training.server_lib": "ClusterSpec=train.ClusterSpec Server=train.Server",
    "training.session_manager": "SessionManager=train.SessionManager",
    "training.session_run_hook": """
    SessionRunArgs=train.SessionRunArgs SessionRunContext=train.SessionRunContext
    SessionRunHook=train.SessionRunHook SessionRunValues=train.SessionRunValues
    """,
    "training.slot_creator": "",
    "training.summary_io": """
    SummaryWriterCache=summary.FileWriterCache _FileWriter=summary.FileWriter
    summary_iterator=train.summary_iterator
    """,
    "training.supervisor": "SessionLog Summary Supervisor=train.Supervisor",
    "training.sync_replicas_optimizer": "SyncReplicasOptimizer=train.SyncReplicasOptimizer",
    "training.tensorboard_logging": "",
    "training.tracking": "",
    "training.tracking.base": "",
    "training.tracking.data_structures": "",
    "training.tracking.graph_view": "",
    "training.tracking.layer_utils": "",
    "training.tracking.python_state": "PythonState=train.experimental.PythonState",
    "training.tracking.tracking": "",
    "training.tracking.util": "Checkpoint=train.Checkpoint CheckpointV1=train.Checkpoint",
    "training.training": """
    AdadeltaOptimizer=train.AdadeltaOptimizer AdagradDAOptimizer=train.AdagradDAOptimizer
    AdagradOptimizer=train.AdagradOptimizer AdamOptimizer=train.AdamOptimizer
    BytesList=train.BytesList Checkpoint=train.Checkpoint
    CheckpointSaverHook=train.CheckpointSaverHook
    CheckpointSaverListener=train.CheckpointSaverListener
    ChiefSessionCreator=train.ChiefSessionCreator ClusterDef=train.ClusterDef
    ClusterSpec=train.ClusterSpec Coordinator=train.Coordinator Example=train.Example
    ExponentialMovingAverage=train.ExponentialMovingAverage Feature=train.Feature
    FeatureList=train.FeatureList FeatureLists=train.FeatureLists Features=train.Features
    FeedFnHook=train.FeedFnHook FinalOpsHook=train.FinalOpsHook FloatList=train.FloatList
    FtrlOptimizer=train.FtrlOptimizer GlobalStepWaiterHook=train.GlobalStepWaiterHook
    GradientDescentOptimizer=train.GradientDescentOptimizer Int64List=train.Int64List
    JobDef=train.JobDef LoggingTensorHook=train.LoggingTensorHook LooperThread=train.LooperThread
    MixedPrecisionLossScaleOptimizer=train.experimental.MixedPrecisionLossScaleOptimizer
    MomentumOptimizer=train.MomentumOptimizer MonitoredSession=train.MonitoredSession
    MonitoredTrainingSession=train.MonitoredTrainingSession
    NanLossDuringTrainingError=train.NanLossDuringTrainingError NanTensorHook=train.NanTensorHook
    NewCheckpointReader=train.NewCheckpointReader Optimizer=train.Optimizer
    ProfilerHook=train.ProfilerHook ProximalAdagradOptimizer=train.ProximalAdagradOptimizer
    ProximalGradientDescentOptimizer=train.ProximalGradientDescentOptimizer
    PythonState=train.experimental.PythonState QueueRunner=train.QueueRunner
    RMSPropOptimizer=train.RMSPropOptimizer Saver=train.Saver SaverDef=train.SaverDef
    Scaffold=train.Scaffold SecondOrStepTimer=train.SecondOrStepTimer
    SequenceExample=train.SequenceExample Server=train.Server ServerDef=train.ServerDef
    SessionCreator=train.SessionCreator SessionManager=train.SessionManager
    SessionRunArgs=train.SessionRunArgs SessionRunContext=train.SessionRunContext
    SessionRunHook=train.SessionRunHook SessionRunValues=train.SessionRunValues
    SingularMonitoredSession=train.SingularMonitoredSession StepCounterHook=train.StepCounterHook
    StopAtStepHook=train.StopAtStepHook SummarySaverHook=train.SummarySaverHook
    Supervisor=train.Supervisor SyncReplicasOptimizer=train.SyncReplicasOptimizer
    VocabInfo=train.VocabInfo WorkerSessionCreator=train.WorkerSessionCreator
    add_queue_runner=train.add_queue_runner assert_global_step=train.assert_global_step
    basic_train_loop=train.basic_train_loop batch=train.batch batch_join=train.batch_join
    checkpoint_exists=train.checkpoint_exists cosine_decay=train.cosine_decay
    cosine_decay_restarts=train.cosine_decay_restarts create_global_step=train.create_global_step
    do_quantize_training_on_graphdef=train.do_quantize_training_on_graphdef
    enable_mixed_precision_graph_rewrite=train.experimental.enable_mixed_precision_graph_rewrite
    enable_mixed_precision_graph_rewrite_v1=train.experimental.enable_mixed_precision_graph_rewrite
    exponential_decay=train.exponential_decay export_meta_graph=train.export_meta_graph
    generate_checkpoint_state_proto=train.generate_checkpoint_state_proto
    get_checkpoint_mtimes=train.get_checkpoint_mtimes
    get_checkpoint_state=train.get_checkpoint_state get_global_step=train.get_global_step
    get_or_create_global_step=train.get_or_create_global_step global_step=train.global_step
    import_meta_graph=train.import_meta_graph init_from_checkpoint=train.init_from_checkpoint
    input_producer=train.input_producer inverse_time_decay=train.inverse_time_decay
    latest_checkpoint=train.latest_checkpoint limit_epochs=train.limit_epochs
    linear_cosine_decay=train.linear_cosine_decay list_variables=train.list_variables
    load_checkpoint=train.load_checkpoint load_variable=train.load_variable
    match_filenames_once=io.match_filenames_once maybe_batch=train.maybe_batch
    maybe_batch_join=train.maybe_batch_join maybe_shuffle_batch=train.maybe_shuffle_batch
    maybe_shuffle_batch_join=train.maybe_shuffle_batch_join
    natural_exp_decay=train.natural_exp_decay
    noisy_linear_cosine_decay=train.noisy_linear_cosine_decay
    piecewise_constant=train.piecewise_constant polynomial_decay=train.polynomial_decay
    range_input_producer=train.range_input_producer
    replica_device_setter=train.replica_device_setter sdca_fprint=train.sdca_fprint
    sdca_optimizer=train.sdca_optimizer sdca_shrink_l1=train.sdca_shrink_l1
    shuffle_batch=train.shuffle_batch shuffle_batch_join=train.shuffle_batch_join
    slice_input_producer=train.slice_input_producer start_queue_runners=train.start_queue_runners
    string_input_producer=train.string_input_producer summary_iterator=train.summary_iterator
    update_checkpoint_state=train.update_checkpoint_state warm_start=train.warm_start
    write_graph=io.write_graph
    """,
    "training.training_ops": "*",
    "training.training_util": """
    assert_global_step=train.assert_global_step create_global_step=train.create_global_step
    get_global_step=train.get_global_step get_or_create_global_step=train.get_or_create_global_step
    global_step=train.global_step write_graph=io.write_graph
    """,
    "training.warm_starting_util": "VocabInfo=train.VocabInfo warm_start=train.warm_start",
    "user_ops": "",
    "user_ops.user_ops": "* my_fact=user_ops.my_fact",
    "util": "",
    "util.all_util": "",
    "util.compat": """
    as_bytes=compat.as_bytes as_str=compat.as_str as_str_any=compat.as_str_any as_text=compat.as_str
    bytes_or_text_types=compat.bytes_or_text_types complex_types=compat.complex_types
    integral_types=compat.integral_types path_to_str=compat.path_to_str real_types=compat.real_types
    """,
    "util.compat_internal": "as_str_any=compat.as_str_any",
    "util.decorator_utils": "",
    "util.deprecation": "",
    "util.deprecation_wrapper": "",
    "util.dispatch": "",
    "util.example_parser_configuration": "",
    "util.function_utils": "",
    "util.future_api": "",
    "util.is_in_graph_mode": "",
    "util.keyword_args": "",
    "util.lazy_loader": "",
    "util.lock_util": "",
    "util.memory": "",
    "util.module_wrapper": "",
    "util.nest": """
    assert_same_structure=nest.assert_same_structure flatten=nest.flatten is_nested=nest.is_nested
    map_structure=nest.map_structure pack_sequence_as=nest.pack_sequence_as
    """,
    "util.object_identity": "",
    "util.protobuf": "",
    "util.protobuf.compare": "",
    "util.serialization": "",
    "util.tf_contextlib": "",
    "util.tf_decorator": "",
    "util.tf_export": "",
    "util.tf_inspect": "",
    "util.tf_should_use": "",
    "util.tf_stack": "",
}
