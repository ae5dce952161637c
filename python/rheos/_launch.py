"""Runs a program in which `import tensorflow` means Rheos; `rheos run` starts it.

    python _launch.py {auto|tf1|tf2} SCRIPT [ARGUMENTS]
    python _launch.py {auto|tf1|tf2} -m MODULE [ARGUMENTS]
    python _launch.py {auto|tf1|tf2} -c TEXT [ARGUMENTS]
    python _launch.py {auto|tf1|tf2} - [ARGUMENTS]

The program is run as python itself would run it: `sys.argv`, `sys.path[0]`, `__main__`, tracebacks
and the exit status are its own. A finder on `sys.meta_path` resolves `tensorflow` and everything
below it:

    tensorflow              rheos.v1 (TensorFlow 1) or rheos.v2 (TensorFlow 2)
    tensorflow.compat.v1    rheos.v1
    tensorflow.compat.v2    rheos.v2
    tensorflow.python.X.Y   the public place of what 1.x programs take from there: see INSIDES
    tensorflow.contrib.X.python.Y   tensorflow.contrib.X
    tensorflow.X.Y          X.Y of what `tensorflow` means
    keras                   tf.keras, where no package of that name is installed
    absl                    rheos._absl: flags, app, logging; likewise

In mode `auto` the source of the program, and of the modules of its own that it imports, decides
which of the two `tensorflow` means: TensorFlow 1 if it uses a name that only TensorFlow 1 has,
TensorFlow 2 if it uses what marks a program of 2.x, such as `tf.function`.
"""

import ast
import contextlib
import faulthandler
import importlib
import linecache
import os
import re
import signal
import sys
import warnings
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

# Python 2 ends at this line, and shows it.
NEEDED: str = "Rheos needs Python 3.9 or a later one; RHEOS_PYTHON may name it"

PACKAGE = os.path.dirname(os.path.abspath(__file__))
V1, V2 = "rheos.v1", "rheos.v2"

# Names below `tensorflow` that 1.x has (or had, before 1.0) and 2.x has not. A name stands for all
# that is below it.
V1_ONLY = frozenset(
    """
    AUTO_REUSE ConditionalAccumulator ConfigProto Dimension FIFOQueue FixedLenFeature
    FixedLengthRecordReader GPUOptions GraphDef GraphKeys GraphOptions IdentityReader
    InteractiveSession MetaGraphDef NoGradient NodeDef NotDifferentiable OpError OptimizerOptions
    PaddingFIFOQueue Print PriorityQueue QueueBase RandomShuffleQueue ReaderBase RunMetadata
    RunOptions Session SparseTensorValue Summary TFRecordReader TextLineReader VERSION
    VarLenFeature VariableScope WholeFileReader accumulate_n add_check_numerics_ops
    add_to_collection add_to_collections all_variables app arg_max arg_min assert_greater_equal
    assert_less_equal assert_negative assert_non_negative assert_positive
    assert_variables_initialized
    assign assign_add assign_sub batch_matmul batch_to_space_nd betainc ceil check_numerics cholesky
    colocate_with complex_abs concat_v2 confusion_matrix conj container contrib
    convert_to_tensor_or_sparse_tensor count_nonzero count_up_to create_partitioned_variables cross
    cumprod decode_base64 decode_csv decode_raw delete_session_tensor depth_to_space diag diag_part
    digamma disable_eager_execution disable_resource_variables disable_v2_behavior distributions div
    enable_eager_execution enable_resource_variables encode_base64 erf erfc
    examples.tutorials expm1
    extract_image_patches fft fixed_size_partitioner flags floor_div floordiv floormod
    get_collection get_collection_ref get_default_graph get_default_session get_local_variable
    get_session_handle get_session_tensor get_variable get_variable_scope gfile global_norm
    global_variables global_variables_initializer glorot_normal_initializer
    glorot_uniform_initializer histogram_summary igamma imag image_summary initialize_all_tables
    initialize_all_variables initialize_local_variables initialize_variables inv
    invert_permutation is_finite is_inf is_nan is_variable_initialized keras.backend.get_session
    keras.backend.set_learning_phase keras.backend.set_session keras.layers.CuDNNGRU
    keras.layers.CuDNNLSTM keras.layers.LocallyConnected1D keras.layers.LocallyConnected2D
    keras.utils.HDF5Matrix keras.utils.multi_gpu_model layers lbeta lgamma lin_space
    listdiff local_variables local_variables_initializer log log1p log_sigmoid logging logical_xor
    make_template matching_files matrix_band_part matrix_determinant matrix_diag matrix_diag_part
    matrix_inverse matrix_solve matrix_transpose matrix_triangular_solve merge_all_summaries
    merge_summary mod model_variables moving_average_variables mul multinomial neg op_scope
    orthogonal_initializer pack parse_example parse_single_example placeholder
    placeholder_with_default py_func python_io qr random_crop random_gamma random_normal
    random_poisson random_shuffle random_uniform read_file real reciprocal reduce_join
    report_uninitialized_variables reset_default_graph rint rsqrt scalar_summary scatter_add
    scatter_div scatter_mul scatter_nd_add scatter_nd_update scatter_sub scatter_update segment_max
    segment_mean segment_min segment_prod segment_sum select self_adjoint_eig set_random_seed
    space_to_depth sparse_add sparse_concat sparse_placeholder sparse_reduce_sum sparse_reorder
    sparse_reshape sparse_segment_mean sparse_segment_sum sparse_split sparse_tensor_dense_matmul
    sparse_tensor_to_dense sparse_to_dense squared_difference string_join string_split
    string_to_number sub substr svd tables_initializer to_bfloat16 to_double to_float to_int32
    to_int64 trace trainable_variables truncated_normal truncated_normal_initializer
    uniform_unit_scaling_initializer unpack unsorted_segment_sum variable_op_scope variable_scope
    variables_initializer variance_scaling_initializer verify_tensor_all_finite write_file

    data.make_initializable_iterator data.make_one_shot_iterator
    graph_util.convert_variables_to_constants graph_util.extract_sub_graph image.resize_area
    image.resize_bicubic image.resize_bilinear image.resize_image_with_crop_or_pad
    image.resize_images image.resize_nearest_neighbor losses.absolute_difference losses.add_loss
    losses.compute_weighted_loss losses.get_losses losses.get_regularization_loss
    losses.get_regularization_losses losses.get_total_loss losses.hinge_loss losses.huber_loss
    losses.log_loss losses.mean_squared_error losses.sigmoid_cross_entropy
    losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy metrics.accuracy metrics.auc
    metrics.mean metrics.mean_iou metrics.precision metrics.recall nn.bidirectional_dynamic_rnn
    nn.deconv2d nn.depthwise_conv2d_native nn.dynamic_rnn nn.fused_batch_norm nn.raw_rnn
    nn.relu_layer nn.rnn_cell nn.softmax_cross_entropy_with_logits_v2 nn.static_bidirectional_rnn
    nn.static_rnn nn.xw_plus_b saved_model.builder saved_model.loader
    saved_model.signature_constants saved_model.simple_save saved_model.tag_constants
    saved_model.utils summary.FileWriter summary.FileWriterCache summary.Summary summary.merge
    summary.merge_all test.compute_gradient_error test.get_temp_dir train.AdadeltaOptimizer
    train.AdagradDAOptimizer train.AdagradOptimizer train.AdamOptimizer train.CheckpointSaverHook
    train.FtrlOptimizer train.GradientDescentOptimizer train.LoggingTensorHook
    train.MomentumOptimizer train.MonitoredSession train.MonitoredTrainingSession
    train.NewCheckpointReader train.Optimizer train.ProximalAdagradOptimizer
    train.ProximalGradientDescentOptimizer train.QueueRunner train.RMSPropOptimizer train.Saver
    train.Scaffold train.Server train.SessionManager train.SessionRunArgs train.SessionRunHook
    train.StopAtStepHook train.SummarySaverHook train.SummaryWriter train.Supervisor
    train.SyncReplicasOptimizer train.add_queue_runner train.batch train.batch_join
    train.cosine_decay train.create_global_step train.exponential_decay train.export_meta_graph
    train.get_global_step train.get_or_create_global_step train.global_step train.import_meta_graph
    train.init_from_checkpoint train.input_producer train.inverse_time_decay train.limit_epochs
    train.match_filenames_once train.natural_exp_decay train.piecewise_constant
    train.polynomial_decay train.range_input_producer train.replica_device_setter
    train.shuffle_batch train.shuffle_batch_join train.slice_input_producer
    train.start_queue_runners train.string_input_producer train.summary_iterator train.write_graph
    """.split()
)

# Names that 2.x has and 1.x has not, or has for what is new in its last versions.
V2_SIGNS = frozenset(
    """
    GradientTape Module autodiff autograph function inside_function is_symbolic_tensor
    type_spec_from_value

    config.list_logical_devices config.list_physical_devices config.run_functions_eagerly
    config.set_visible_devices data.AUTOTUNE io.RaggedFeature linalg.eig
    losses.BinaryCrossentropy losses.CategoricalCrossentropy losses.Huber
    losses.KLDivergence losses.Loss losses.MeanAbsoluteError losses.MeanSquaredError
    losses.SparseCategoricalCrossentropy math.erfinv math.ndtri metrics.AUC metrics.Accuracy
    metrics.BinaryAccuracy metrics.CategoricalAccuracy metrics.Mean metrics.MeanSquaredError
    metrics.Metric metrics.Precision metrics.Recall metrics.SparseCategoricalAccuracy nn.gelu
    nn.silu optimizers.Adagrad optimizers.Adam optimizers.AdamW optimizers.Optimizer
    optimizers.RMSprop optimizers.SGD optimizers.schedules random.Generator random.set_seed
    saved_model.LoadOptions saved_model.SaveOptions summary.create_file_writer
    train.CheckpointOptions
    """.split()
)
# What a 2.x program may also take from compat.v1 without meaning to be a 1.x program.
NEUTRAL_IN_COMPAT_V1 = frozenset(
    "app enable_eager_execution enable_resource_variables flags gfile logging "
    "set_random_seed".split()
)
# What a program is that only uses names that both have, such as `tf.constant(1) + 2`.
EITHER = V2
GRAPHS_WANTED = frozenset(("compat.v1.disable_eager_execution", "compat.v1.disable_v2_behavior"))
MAX_FILES_READ = 500

# Modules of TensorFlow's insides, below `tensorflow.python`, and the public module that has the
# names that programs take from them ("" is `tensorflow` itself).
INSIDES = {
    "client.device_lib": "_insides.device_lib",
    "client.session": "_insides.session",
    "client.timeline": "_insides.timeline",
    "data.ops.dataset_ops": "_insides.dataset_ops",
    "data.util.nest": "_insides.data_nest",
    "data.util.random_seed": "_insides.data_random_seed",
    "debug": "_insides.debug",
    "debug.lib.debug_data": "_insides.debug",
    "debug.lib.debug_utils": "_insides.debug",
    "debug.wrappers.dumping_wrapper": "_insides.debug",
    "debug.wrappers.framework": "_insides.debug",
    "debug.wrappers.hooks": "_insides.debug",
    "debug.wrappers.local_cli_wrapper": "_insides.debug",
    "eager.context": "_insides.context",
    "eager.executor": "_insides.executor",
    "eager.function": "_insides.eager_function",
    "framework.constant_op": "",
    "framework.device": "",
    "framework.dtypes": "",
    "framework.errors": "errors",
    "framework.errors_impl": "errors",
    "framework.func_graph": "_insides.func_graph",
    "framework.function": "_insides.function",
    "framework.graph_io": "train",
    "framework.graph_util": "graph_util",
    "framework.graph_util_impl": "graph_util",
    "framework.importer": "",
    "framework.meta_graph": "train",
    "framework.op_def_registry": "_insides.op_def_registry",
    "framework.ops": "",
    "framework.random_seed": "",
    "framework.smart_cond": "contrib.framework",
    "framework.sparse_tensor": "",
    "framework.tensor_shape": "_insides.tensor_shape",
    "framework.tensor_spec": "",
    "framework.tensor_util": "_insides.tensor_util",
    "framework.test_util": "test",
    "framework.versions": "",
    "keras": "keras",
    "keras.activations": "keras.activations",
    "keras.backend": "keras.backend",
    "keras.callbacks": "keras.callbacks",
    "keras.constraints": "keras.constraints",
    "keras.datasets": "keras.datasets",
    "keras.engine.base_layer": "keras.layers",
    "keras.engine.input_layer": "keras.layers",
    "keras.engine.input_spec": "keras.layers",
    "keras.engine.network": "keras.models",
    "keras.engine.sequential": "keras.models",
    "keras.engine.training": "keras.models",
    "keras.initializers": "keras.initializers",
    "keras.layers": "keras.layers",
    "keras.layers.advanced_activations": "keras.layers",
    "keras.layers.convolutional": "keras.layers",
    "keras.layers.core": "keras.layers",
    "keras.layers.embeddings": "keras.layers",
    "keras.layers.local": "keras.layers",
    "keras.layers.merge": "keras.layers",
    "keras.layers.noise": "keras.layers",
    "keras.layers.normalization": "keras.layers",
    "keras.layers.pooling": "keras.layers",
    "keras.layers.recurrent": "keras.layers",
    "keras.layers.wrappers": "keras.layers",
    "keras.losses": "keras.losses",
    "keras.metrics": "keras.metrics",
    "keras.models": "keras.models",
    "keras.optimizer_v2.adadelta": "keras.optimizers",
    "keras.optimizer_v2.adagrad": "keras.optimizers",
    "keras.optimizer_v2.adam": "keras.optimizers",
    "keras.optimizer_v2.adamax": "keras.optimizers",
    "keras.optimizer_v2.ftrl": "keras.optimizers",
    "keras.optimizer_v2.gradient_descent": "keras.optimizers",
    "keras.optimizer_v2.learning_rate_schedule": "keras.optimizers.schedules",
    "keras.optimizer_v2.nadam": "keras.optimizers",
    "keras.optimizer_v2.optimizer_v2": "keras.optimizers",
    "keras.optimizer_v2.rmsprop": "keras.optimizers",
    "keras.optimizers": "keras.optimizers",
    "keras.preprocessing": "keras.preprocessing",
    "keras.preprocessing.image": "keras.preprocessing.image",
    "keras.preprocessing.sequence": "keras.preprocessing.sequence",
    "keras.preprocessing.text": "keras.preprocessing.text",
    "keras.regularizers": "keras.regularizers",
    "keras.utils": "keras.utils",
    "keras.utils.data_utils": "keras.utils",
    "keras.utils.generic_utils": "keras.utils",
    "keras.utils.layer_utils": "keras.utils",
    "keras.utils.np_utils": "keras.utils",
    "keras.utils.vis_utils": "keras.utils",
    "layers.base": "layers",
    "layers.convolutional": "layers",
    "layers.core": "layers",
    "layers.layers": "layers",
    "layers.normalization": "layers",
    "layers.pooling": "layers",
    "layers.utils": "_insides.layers_utils",
    "lib.io.file_io": "_insides.file_io",
    "lib.io.tf_record": "python_io",
    "ops.array_ops": "",
    "ops.bitwise_ops": "bitwise",
    "ops.candidate_sampling_ops": "nn",
    "ops.check_ops": "",
    "ops.clip_ops": "",
    "ops.confusion_matrix": "",
    "ops.control_flow_ops": "_insides.control_flow_ops",
    "ops.control_flow_util": "_insides.control_flow_util",
    "ops.ctc_ops": "nn",
    "ops.critical_section_ops": "_insides.critical_section_ops",
    "ops.data_flow_ops": "_insides.data_flow_ops",
    "ops.distributions.bernoulli": "distributions",
    "ops.distributions.beta": "distributions",
    "ops.distributions.categorical": "distributions",
    "ops.distributions.dirichlet": "distributions",
    "ops.distributions.distribution": "distributions",
    "ops.distributions.distributions": "distributions",
    "ops.distributions.exponential": "distributions",
    "ops.distributions.gamma": "distributions",
    "ops.distributions.kullback_leibler": "distributions",
    "ops.distributions.laplace": "distributions",
    "ops.distributions.multinomial": "distributions",
    "ops.distributions.normal": "distributions",
    "ops.distributions.student_t": "distributions",
    "ops.distributions.uniform": "distributions",
    "ops.embedding_ops": "nn",
    "ops.functional_ops": "_insides.functional_ops",
    "ops.gradient_checker": "test",
    "ops.gradient_checker_v2": "_insides.gradient_checker_v2",
    "ops.gradients": "",
    "ops.gradients_impl": "",
    "ops.histogram_ops": "",
    "ops.image_ops": "image",
    "ops.image_ops_impl": "image",
    "ops.init_ops": "",
    "ops.inplace_ops": "_insides.inplace_ops",
    "ops.io_ops": "",
    "ops.linalg.linalg": "linalg",
    "ops.linalg_ops": "",
    "ops.logging_ops": "",
    "ops.lookup_ops": "contrib.lookup",
    "ops.losses.losses": "losses",
    "ops.losses.losses_impl": "losses",
    "ops.losses.util": "losses",
    "ops.manip_ops": "manip",
    "ops.math_ops": "",
    "ops.metrics": "metrics",
    "ops.metrics_impl": "metrics",
    "ops.nn": "nn",
    "ops.nn_impl": "nn",
    "ops.nn_ops": "nn",
    "ops.numerics": "",
    "ops.parallel_for.control_flow_ops": "_insides.parallel_for",
    "ops.parallel_for.gradients": "_insides.parallel_for",
    "ops.parsing_ops": "",
    "ops.partitioned_variables": "",
    "ops.ragged.ragged_array_ops": "",
    "ops.ragged.ragged_concat_ops": "",
    "ops.ragged.ragged_gather_ops": "",
    "ops.ragged.ragged_math_ops": "",
    "ops.ragged.ragged_squeeze_op": "",
    "ops.ragged.ragged_where_op": "",
    "ops.random_ops": "",
    "ops.resources": "_insides.resources",
    "ops.rnn": "nn",
    "ops.rnn_cell": "nn.rnn_cell",
    "ops.rnn_cell_impl": "_insides.rnn_cell_impl",
    "ops.script_ops": "",
    "ops.seq2seq": "contrib.legacy_seq2seq",
    "ops.sets": "sets",
    "ops.signal.signal": "signal",
    "ops.sparse_ops": "",
    "ops.special_math_ops": "math",
    "ops.spectral_ops": "spectral",
    "ops.standard_ops": "",
    "ops.state_ops": "",
    "ops.stateless_random_ops": "random",
    "ops.string_ops": "",
    "ops.summary_op_util": "_insides.summary_op_util",
    "ops.template": "",
    "ops.tensor_array_ops": "_insides.tensor_array_ops",
    "ops.variable_scope": "",
    "ops.variables": "",
    "platform.app": "app",
    "platform.flags": "flags",
    "platform.gfile": "gfile",
    "platform.googletest": "test",
    "platform.resource_loader": "resource_loader",
    "platform.test": "test",
    "platform.tf_logging": "logging",
    "pywrap_tensorflow": "pywrap_tensorflow",
    "saved_model.builder": "saved_model.builder",
    "saved_model.constants": "saved_model.constants",
    "saved_model.loader": "saved_model.loader",
    "saved_model.main_op": "saved_model.main_op",
    "saved_model.signature_constants": "saved_model.signature_constants",
    "saved_model.signature_def_utils": "saved_model.signature_def_utils",
    "saved_model.simple_save": "saved_model",
    "saved_model.tag_constants": "saved_model.tag_constants",
    "saved_model.utils": "saved_model.utils",
    "summary.summary": "summary",
    "summary.summary_iterator": "train",
    "summary.writer.writer": "summary",
    "summary.writer.writer_cache": "summary",
    "tf2": "_insides.tf2",
    "tools.freeze_graph": "_insides.freeze_graph",
    "tools.inspect_checkpoint": "_insides.inspect_checkpoint",
    "training.adadelta": "train",
    "training.adagrad": "train",
    "training.adagrad_da": "train",
    "training.adam": "train",
    "training.basic_session_run_hooks": "train",
    "training.checkpoint_management": "train",
    "training.checkpoint_utils": "train",
    "training.coordinator": "train",
    "training.evaluation": "_insides.evaluation",
    "training.ftrl": "train",
    "training.gradient_descent": "train",
    "training.learning_rate_decay": "train",
    "training.momentum": "train",
    "training.monitored_session": "train",
    "training.moving_averages": "_insides.moving_averages",
    "training.optimizer": "train",
    "training.proximal_adagrad": "train",
    "training.proximal_gradient_descent": "train",
    "training.queue_runner": "train",
    "training.queue_runner_impl": "train",
    "training.rmsprop": "train",
    "training.saver": "train",
    "training.session_manager": "train",
    "training.session_run_hook": "train",
    "training.slot_creator": "_insides.slot_creator",
    "training.summary_io": "train",
    "training.supervisor": "train",
    "training.training": "train",
    "training.training_util": "train",
    "training.warm_starting_util": "train",
    "util.all_util": "_insides.all_util",
    "util.compat": "compat",
    "util.deprecation": "_insides.deprecation",
    "util.function_utils": "_insides.function_utils",
    "util.nest": "_insides.nest",
    "util.object_identity": "_insides.object_identity",
    "util.tf_contextlib": "_insides.contextlib",
    "util.tf_decorator": "_insides.tf_decorator",
    "util.tf_export": "_insides.export",
    "util.tf_inspect": "_insides.inspect",
}


# Modules of INSIDES that have names of their own too, below rheos.v1._insides.
OWN = {
    "framework.dtypes": "dtypes",
    "framework.meta_graph": "meta_graph",
    "framework.ops": "ops",
    "ops.resource_variable_ops": "resource_variable_ops",
    "ops.variables": "variables",
    "ops.weights_broadcast_ops": "weights_broadcast_ops",
}


# Modules that are different for programs of TensorFlow 2, and those that only such programs import.
INSIDES_2 = {
    "compiler.tf2xla.python.xla": "_insides.xla",
    "python.data.ops.dataset_ops": "_insides.dataset_ops",
    "python.eager.context": "_insides.context",
    "python.framework.config": "_insides.config",
    "python.framework.indexed_slices": "",
    "python.framework.ops": "_insides.ops",
    "python.framework.sparse_tensor": "",
    "python.framework.tensor": "",
    "python.framework.tensor_util": "_insides.tensor_util",
    "python.framework.type_spec_registry": "_insides.type_spec_registry",
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": "raw_ops",
    "python.ops.ragged.ragged_tensor": "",
    "python.trackable.data_structures": "_insides.data_structures",
}


# ---- What the program uses


def _dotted(node):
    """The attribute chain `a.b.c` as a list of names, or None if it is something else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return [node.id, *reversed(names)]


def _below_tensorflow(module):
    """'' for tensorflow, 'a.b' for tensorflow.a.b, None for other modules."""
    if module == "tensorflow":
        return ""
    return module[len("tensorflow.") :] if module.startswith("tensorflow.") else None


def _join(*names):
    return ".".join(filter(None, names))


def _assigned_roots(nodes, roots):
    """Names that a program gives to parts of TensorFlow, as `tf1 = tf.compat.v1` does."""
    found = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            names = _dotted(node.value)
            for target in node.targets:
                if names and names[0] in roots and isinstance(target, ast.Name):
                    found.setdefault(target.id, _join(roots[names[0]], *names[1:]))
    return {name: below for name, below in found.items() if name not in roots}


def names_in_tree(tree):
    """The names below `tensorflow` that a parsed module uses, and the modules it imports.

    Modules are (level, module, names) as in `from ..module import names`.
    """
    used, imported, roots = set(), [], {}
    star = False
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                below = _below_tensorflow(alias.name)
                if below is None:
                    imported.append((0, alias.name, ()))
                    continue
                used.add(below)
                if alias.asname:
                    roots[alias.asname] = below
                else:
                    roots["tensorflow"] = ""
        elif isinstance(node, ast.ImportFrom):
            below = _below_tensorflow(node.module or "") if node.level == 0 else None
            if below is None:
                names = tuple(alias.name for alias in node.names)
                imported.append((node.level, node.module or "", names))
                continue
            for alias in node.names:
                if alias.name == "*":
                    star = True
                    used.add(below)
                    continue
                name = _join(below, alias.name)
                used.add(name)
                roots[alias.asname or alias.name] = name
    roots.update(_assigned_roots(nodes, roots))
    for node in nodes:
        if isinstance(node, ast.Attribute):
            names = _dotted(node)
            if names and names[0] in roots:
                used.add(_join(roots[names[0]], *names[1:]))
        elif star and isinstance(node, ast.Name):
            used.add(node.id)
    return used, imported


def names_in_text(text):
    """Like names_in_tree, for text that does not parse, such as a Python 2 program."""
    used, imported, roots = set(), [], {}
    text = re.sub(r"#.*", "", text)
    for module, alias in re.findall(r"^\s*import\s+([\w.]+)(?:\s+as\s+(\w+))?", text, re.M):
        below = _below_tensorflow(module)
        if below is None:
            imported.append((0, module, ()))
        else:
            used.add(below)
            roots[alias or "tensorflow"] = below if alias else ""
    for dots, module, names in re.findall(
        r"^\s*from\s+(\.*)([\w.]*)\s+import\s+\(?([\w\s,*]+)", text, re.M
    ):
        pairs = re.findall(r"(\w+|\*)(?:\s+as\s+(\w+))?", names.split("\n")[0])
        below = None if dots else _below_tensorflow(module)
        if below is None:
            imported.append((len(dots), module, tuple(name for name, _ in pairs)))
            continue
        for name, alias in pairs:
            used.add(_join(below, name))
            roots[alias or name] = _join(below, name)
    for chain in re.findall(r"(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)+", text):
        first, *rest = re.sub(r"\s", "", chain).split(".")
        if first in roots:
            used.add(_join(roots[first], *rest))
    return used, imported


def names_in_file(path):
    with open(path, "rb") as file:
        return names_in_source(file.read())


def names_in_source(source):
    """Like names_in_tree, for the bytes of a program."""
    if b"tensorflow" not in source and b"import" not in source:
        return set(), []

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # python warns when it compiles the program
            return names_in_tree(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return names_in_text(source.decode("utf-8", "replace"))


def _module_files(folder, module):
    """The files that importing `module` runs, if it is found in `folder`."""
    files = []
    path = folder
    for part in module.split("."):
        path = os.path.join(path, part)
        files += [f for f in (path + ".py", os.path.join(path, "__init__.py")) if os.path.isfile(f)]
    return files


def names_in_program(script, folders, source=None):
    """The names below `tensorflow` used by a script and by what it imports from `folders`.

    source: the script's bytes, if it lies in no file.
    """
    used = set()
    todo, seen = [script], {os.path.realpath(script)}
    while todo and len(seen) <= MAX_FILES_READ:
        path = todo.pop()
        try:
            is_given = path == script and source is not None
            names, imported = names_in_source(source) if is_given else names_in_file(path)
        except OSError:
            continue
        used |= names
        for level, module, names in imported:
            if level:
                up = os.path.join(os.path.dirname(path), *[".."] * (level - 1))
                places = [os.path.normpath(up)]
            else:
                places = folders
            for folder in places:
                files = _module_files(folder, module) if module else []
                for name in names:
                    files += _module_files(folder, _join(module, name))
                for file in files:
                    if os.path.realpath(file) not in seen:
                        seen.add(os.path.realpath(file))
                        todo.append(file)
    return used


def _decides(name, deciding):
    """Whether a dotted name, or one that it is below, is in `deciding`."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in deciding for n in range(1, len(parts) + 1))


def _public(name):
    """The public name of one below tensorflow.python: python.framework.ops.Graph is Graph."""
    parts = name.split(".")
    if parts[0] == "python":
        for n in range(len(parts), 1, -1):
            public = INSIDES.get(".".join(parts[1:n]))
            if public is not None and not public.startswith("_insides"):
                return _join(public, *parts[n:])
    return name


def choose_front(used):
    """rheos.v1 or rheos.v2, for a program that uses these names below `tensorflow`."""
    compat = "compat.v1."
    used = {_public(name) for name in used}
    if any(_decides(name, V1_ONLY) for name in used) or used & GRAPHS_WANTED:
        return V1
    if any(_decides(name, V2_SIGNS) for name in used):
        return V2
    for name in used:
        rest = name[len(compat) :] if name.startswith(compat) else None
        if rest and _decides(rest, V1_ONLY) and not _decides(rest, NEUTRAL_IN_COMPAT_V1):
            return V1
    return EITHER


# Modules that Keras had up to 2.x, and the public ones that have their names.
KERAS_INSIDES = {
    **{
        f"layers.{kind}": "layers"
        for kind in (
            "advanced_activations convolutional convolutional_recurrent core embeddings local "
            "merge noise normalization pooling recurrent wrappers"
        ).split()
    },
    **dict.fromkeys(("utils.np_utils", "utils.vis_utils", "utils.generic_utils"), "utils"),
    **dict.fromkeys(("engine", "engine.topology", "engine.base_layer"), "layers"),
    "engine.training": "models",
}


# ---- What `tensorflow` means


STAND_INS = ("keras", "absl")


class Finder:
    """Finds `tensorflow` and all below it in Rheos, and the Rheos that this launcher belongs to."""

    def __init__(self, choose):
        self._choose = choose
        self._front = None
        self._is_installed = {}  # whether a package of a name is

    def find_spec(self, name, path=None, target=None):
        if name == "rheos":
            return PathFinder.find_spec(name, [os.path.dirname(PACKAGE)])
        package = name.partition(".")[0]
        if package != "tensorflow" and not (package in STAND_INS and self._stands_in(package)):
            return None
        if self._resolve(name) is None:
            return None
        return ModuleSpec(name, self, origin="rheos", is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        # The import statement takes what it finds in sys.modules: Rheos's own module.
        name = module.__spec__.name
        found = self._resolve(name)
        if not hasattr(found, "__path__"):
            found.__path__ = []  # or nothing could be imported from below it
        sys.modules[name] = found

    def _stands_in(self, package):
        """Whether Rheos gives a package of which the real one is not installed."""
        if package not in self._is_installed:
            self._is_installed[package] = PathFinder.find_spec(package) is not None
        return not self._is_installed[package]

    def _keras(self, name):
        """What keras and all below it mean: a module of that name with what tf.keras has."""
        inner = name.partition(".")[2]
        inner = KERAS_INSIDES.get(inner, inner)
        found = self._resolve(_join("tensorflow.keras", inner))
        if found is None:
            return None
        module = type(sys)(name)
        module.__path__ = []
        module.__all__ = [shown for shown in dir(found) if not shown.startswith("_")]
        module.__getattr__ = lambda attribute: getattr(found, attribute)
        return module

    def _resolve(self, name):
        package, _, inner = name.partition(".")
        if package == "keras":
            return self._keras(name)
        if package == "absl":
            return self._find("rheos._absl", inner.split(".") if inner else [])
        parts = name.split(".")[1:]
        if self._front is None:
            self._front = self._choose()
            if self._front == V1:
                importlib.import_module("rheos.framework.eager").keep_version_1()
                importlib.import_module("rheos._old_names").give_back()
            if self._front == V2:
                importlib.import_module("rheos.v2._insides.known_modules").name_them()
        if parts[:2] == ["compat", "v1"]:
            return self._find(V1, parts[2:])
        if parts[:2] == ["compat", "v2"]:
            return self._find(V2, parts[2:])
        if parts[:1] == ["core"] or parts and parts[-1].endswith("_pb2"):
            return self._messages(name, parts)
        if self._front == V2 and self._is_inside_2(parts):
            return self._inside_2(parts)
        if parts[:1] == ["python"]:
            return self._inside(parts[1:])
        if parts[0:1] == ["contrib"] and "python" in parts[2:]:
            return self._inside_contrib(name, parts)
        return self._find(self._front, parts)

    def _inside(self, parts):
        """What tensorflow.python and `parts` below it mean."""
        name = ".".join(parts)
        if len(parts) == 2 and parts[0] == "ops" and parts[1].startswith("gen_"):
            return self._find(V1, ["_insides", "generated_ops"])  # gen_nn_ops and the like
        if not parts:
            return type(sys)("tensorflow.python")
        inside = importlib.import_module("rheos.v1._insides.inside_module")
        place = INSIDES.get(name)
        if place is None and not inside.is_known(name):
            if any(each.startswith(name + ".") for each in (*INSIDES, *inside.PLACES)):
                return type(sys)(_join("tensorflow.python", name))  # nothing but modules
            return None
        found = None if place is None else self._find(V1, place.split(".") if place else [])
        if not inside.is_known(name):
            return found
        is_own = place is not None and place.startswith("_insides.")
        own = found if is_own else self._find(V1, ["_insides", OWN[name]]) if name in OWN else None
        return inside.InsideModule(name, own, None if is_own else found)

    def _is_inside_2(self, parts):
        name = ".".join(parts)
        return parts and any(f"{inside}.".startswith(name + ".") for inside in INSIDES_2)

    def _inside_2(self, parts):
        """What is below tensorflow.python and tensorflow.compiler for programs of TensorFlow 2."""
        name = ".".join(parts)
        if name in INSIDES_2:
            return self._find(V2, INSIDES_2[name].split(".") if INSIDES_2[name] else [])
        return type(sys)(f"tensorflow.{name}")  # a package with nothing but modules

    def _inside_contrib(self, name, parts):
        """What tensorflow.contrib.X.python and all below it mean: the names of contrib.X.

        contrib.X.python.A.B is contrib.X.A.B or contrib.X.B, where that is a module.
        """
        inner = parts[parts.index("python", 2) + 1 :]
        places = [parts, *(parts[:2] + inner[i:] for i in range(len(inner)))]
        found = next(filter(None, (self._find(self._front, place) for place in places)), None)
        if isinstance(found, type(sys)):
            return found
        ends = range(len(inner), 0, -1)
        nearest = [parts[:2] + inner[i:end] for end in ends for i in range(end)]
        found_near = (self._find(self._front, place) for place in [*nearest, parts[:2]])
        public = next(filter(None, found_near), None)
        if public is None:
            return None
        module = type(sys)(name)
        module.__path__ = []  # not that of a public package
        vars(module).update(vars(found) if found else {})
        module.__getattr__ = lambda attribute: getattr(public, attribute)
        return module

    def _messages(self, name, parts):
        """tensorflow.core.framework.graph_pb2 and the like: all of them have all message types."""
        module = type(sys)(name)
        if parts[-1].endswith("_pb2"):
            classes = importlib.import_module("rheos.framework.messages")
            module.__getattr__ = lambda attribute: getattr(classes, attribute)
        return module

    def _find(self, front, parts):
        """The module or namespace at `parts` below a front end, None if there is none."""
        found = importlib.import_module(front)
        for part in parts:
            child = getattr(found, part, None)
            if not isinstance(child, (type(sys), type(sys.implementation))):
                child = self._submodule(found, part)
            if child is None:
                return None
            found = child
        return found

    def _submodule(self, parent, name):
        if not getattr(parent, "__path__", None):
            return None
        qualified = f"{parent.__name__}.{name}"
        try:
            return importlib.import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name != qualified:
                raise
            return None


# ---- Running the program


def _search_path(folder):
    """Makes sys.path what python would make it: `folder` in place of the launcher's."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder
    sys.path.append(os.path.dirname(PACKAGE))
    own = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [folder, *filter(None, own)]


def _found_module(name):
    """What python -m runs, a module or the __main__ of a package; nothing is imported for it."""
    path = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        whole = ".".join(parts[:count])
        found = PathFinder.find_spec(whole, path) if count == 1 or path is not None else None
        if found is None:
            sys.exit(f"rheos: No module named {name}")
        path = found.submodule_search_locations
    if path is not None:
        found = PathFinder.find_spec(f"{name}.__main__", path)
        if found is None:
            sys.exit(f"rheos: No module named {name}.__main__; {name} is a package")
    if not isinstance(found.loader, SourceFileLoader):
        sys.exit(f"rheos: module {name} has no source")
    return found


def report_waiting(number, frame):
    """What the threads of the program do and what its steps wait for: SIGQUIT asks for it."""
    print("rheos: what the program does", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
    for name in ("rheos.training.session", "rheos.framework.eager"):
        module = sys.modules.get(name)
        for text in module.waiting() if module else ():
            print(text, file=sys.stderr, end="", flush=True)


def _given_program():
    """The bytes of a program that lies in no file, as `-c` and `-` have it, and what its file is
    called; None for others."""
    if sys.argv[0] == "-c":
        if len(sys.argv) < 2:
            sys.exit("rheos: -c wants the text of a program")
        return sys.argv.pop(1).encode() + b"\n", "<string>"
    if sys.argv[0] == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    return None


def _source_of(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"rheos: can't open file '{path}': {reason}", file=sys.stderr)
        sys.exit(2)


def _keep_lines(name, source):
    """Lets tracebacks and AutoGraph find the lines of a program that lies in no file."""
    with contextlib.suppress(UnicodeDecodeError):
        text = source.decode()
        lines = text.splitlines(keepends=True)
        linecache.cache[name] = (len(text), None, lines, name)


def prepare(mode):
    """Sets the interpreter up for the program that sys.argv begins with, and returns its code."""
    found = None
    given = _given_program()
    if given is not None:
        source, path = given
        folders = _search_path("")
        _keep_lines(path, source)
    elif sys.argv[0] == "-m":
        del sys.argv[0]
        folders = _search_path(os.getcwd())
        found = _found_module(sys.argv[0])
        sys.argv[0] = found.origin
    if given is None:
        path = os.path.abspath(sys.argv[0])
        source = _source_of(path)
    if given is None and found is None:
        folders = _search_path(os.path.dirname(os.path.realpath(path)))

    def choose():
        if mode != "auto":
            return V1 if mode == "tf1" else V2
        own = None if given is None else source
        return choose_front(names_in_program(path, folders, own))

    sys.meta_path.insert(0, Finder(choose))
    if hasattr(signal, "SIGQUIT"):
        signal.signal(signal.SIGQUIT, report_waiting)
    main = type(sys)("__main__")
    main.__builtins__ = __builtins__
    if given is None:
        main.__file__ = path
        main.__cached__ = None
        main.__loader__ = SourceFileLoader("__main__", path)
    if found is not None:
        main.__spec__, main.__package__ = found, found.parent
    sys.modules["__main__"] = main
    return compile(source, path, "exec", dont_inherit=True)


def run(code):
    """Runs it, after the packages that the module is in."""
    main = sys.modules["__main__"]
    if main.__package__:
        importlib.import_module(main.__package__)
    exec(code, main.__dict__)


def lint(how, code):
    """Runs the program for `rheos lint`, which looks on, and ends the process."""
    importlib.import_module("rheos.training.script_lint").run(lambda: run(code), how)


def view(how):
    """Has the program recorded for `rheos view`."""
    importlib.import_module("rheos.training.script_view").begin(how)


def debug(how):
    """Has the program stopped before its runs, for `rheos debug`."""
    importlib.import_module("rheos.inspection.step_debugger").begin(how)


def finish_output():
    """Ends what the program printed: a status of 1 where it cannot be written, like every command.

    Without this python would end with a status of 120.
    """
    if sys.stdout is None or sys.stdout.closed:
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        print(f"rheos: the output cannot be written: {error}", file=sys.stderr)
        os._exit(1)


if __name__ == "__main__":
    _launcher = sys.modules["__main__"]  # kept: its globals are in use until the program ends
    del sys.argv[0]
    try:
        _code = prepare(sys.argv.pop(0))
    except SyntaxError as _error:
        _error.__traceback__ = None  # python shows none for the script's own syntax
        raise
    if "RHEOS_LINT_SCRIPT" in os.environ:
        lint(os.environ.pop("RHEOS_LINT_SCRIPT"), _code)
    if "RHEOS_DEBUG_SCRIPT" in os.environ:
        debug(os.environ.pop("RHEOS_DEBUG_SCRIPT"))
    if "RHEOS_VIEW_RUN" in os.environ:
        view(os.environ.pop("RHEOS_VIEW_RUN"))
    try:
        run(_code)
    except BaseException as _error:
        _own = _error.__traceback__.tb_next
        _error.__traceback__ = _own and _own.tb_next  # without this frame and that of run()
        if isinstance(_error, SystemExit) and not _error.code:
            finish_output()
        if isinstance(_error, ImportError) and _error.name == "rheos._core":
            sys.exit(f"rheos: {_error}")  # nothing of the program's: no traceback
        raise
    finish_output()
