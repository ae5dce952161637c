"""TensorFlow 1 names on Rheos: graphs, and sessions that run them.

import rheos.v1 as tf
"""

from rheos.framework.absent import (
    attribute_of as _attribute_of,
)
from rheos.framework.conversion import (
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    register_tensor_conversion_function,
)
from rheos.framework.defaults import (
    control_flow_v2_enabled,
    get_default_graph,
    get_default_session,
    reset_default_graph,
)
from rheos.framework.device_spec import DeviceSpec
from rheos.framework.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from rheos.framework.errors import OpError
from rheos.framework.gradient_registry import (
    RegisterGradient,
    no_gradient,
    no_gradient as NoGradient,
    no_gradient as NotDifferentiable,
)
from rheos.framework.graph import (
    Graph,
    colocate_with,
    container,
    control_dependencies,
    device,
    init_scope,
    name_scope,
    op_scope,
)
from rheos.framework.importer import import_graph_def
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.indexed_slices_spec import IndexedSlicesSpec
from rheos.framework.load_library import (
    load_file_system_library,
    load_library,
    load_op_library,
)
from rheos.framework.operation import Operation, Tensor
from rheos.framework.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_sparse_tensor,
)
from rheos.framework.sparse_tensor_spec import SparseTensorSpec
from rheos.framework.tensor_proto import make_ndarray
from rheos.framework.tensor_shape import (
    Dimension,
    TensorShape,
    dimension_value,
)
from rheos.framework.tensor_spec import TensorSpec, TypeSpec
from rheos.ops.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from rheos.ops.array_ops import (
    boolean_mask,
    broadcast_static_shape,
    broadcast_to,
    concat,
    diag,
    dynamic_partition,
    dynamic_stitch,
    expand_dims,
    fill,
    gather,
    gather_nd,
    identity,
    invert_permutation,
    matrix_band_part,
    matrix_diag,
    meshgrid,
    newaxis,
    one_hot,
    ones,
    ones_like,
    pad,
    parallel_stack,
    placeholder,
    placeholder_with_default,
    rank,
    reshape,
    reverse,
    scatter_nd,
    shape,
    shape_n,
    size,
    slice,
    split,
    squeeze,
    stack,
    stop_gradient,
    strided_slice,
    tile,
    transpose,
    unique,
    unstack,
    where,
    zeros,
    zeros_like,
)
from rheos.ops.check_ops import (
    add_check_numerics_ops,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_type,
    check_numerics,
    ensure_shape,
    is_non_decreasing,
    is_numeric_tensor,
    is_strictly_increasing,
    verify_tensor_all_finite,
)
from rheos.ops.clip_ops import (
    clip_by_average_norm,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    global_norm,
)
from rheos.ops.constant_op import constant, make_tensor_proto
from rheos.ops.control_flow_ops import (
    Assert,
    Print,
    case,
    cond,
    group,
    no_op,
    switch_case,
    tuple,
    while_loop,
)
from rheos.ops.critical_section import CriticalSection
from rheos.ops.ctc_ops import edit_distance
from rheos.ops.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from rheos.ops.data_flow_ops import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)
from rheos.ops.functional_ops import foldl, foldr, map_fn, map_rows as vectorized_map, scan
from rheos.ops.gradient_tape import GradientTape
from rheos.ops.gradients import (
    AggregationMethod,
    UnconnectedGradients,
    gradients,
    hessians,
)
from rheos.ops.graph_keys import GraphKeys
from rheos.ops.init_ops import (
    constant_initializer,
    glorot_normal_initializer,
    glorot_uniform_initializer,
    ones_initializer,
    orthogonal_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    truncated_normal_initializer,
    uniform_unit_scaling_initializer,
    variance_scaling_initializer,
    zeros_initializer,
)
from rheos.ops.io_ops import (
    decode_csv,
    decode_raw,
    matching_files,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from rheos.ops.linalg_ops import (
    cholesky,
    cholesky_solve,
    cross,
    einsum,
    matrix_determinant,
    matrix_inverse,
    matrix_solve,
    matrix_solve_ls,
    matrix_square_root,
    matrix_triangular_solve,
    qr,
    self_adjoint_eig,
    self_adjoint_eigvals,
    svd,
    trace,
)
from rheos.ops.logging_ops import print_v2 as print
from rheos.ops.lookup_ops import initialize_all_tables, tables_initializer
from rheos.ops.math_ops import (
    abs,
    accumulate_n,
    acos,
    acosh,
    add,
    add_n,
    arg_max,
    arg_min,
    argmax,
    argmin,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cast,
    ceil,
    conj,
    cos,
    cosh,
    count_nonzero,
    cumprod,
    cumsum,
    div,
    div_no_nan,
    divide,
    equal,
    erf,
    erfc,
    exp,
    expm1,
    floor,
    floor_div,
    floordiv,
    floormod,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    lin_space,
    linspace,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    maximum,
    minimum,
    mod,
    multiply,
    negative,
    norm,
    not_equal,
    pow,
    range,
    realdiv,
    reciprocal,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    rint,
    round,
    rsqrt,
    saturate_cast,
    scalar_mul,
    sigmoid,
    sign,
    sin,
    sinh,
    sparse_matmul,
    sqrt,
    square,
    squared_difference,
    subtract,
    tan,
    tanh,
    tensordot,
    to_bfloat16,
    to_double,
    to_float,
    to_int32,
    to_int64,
    truediv,
    truncatediv,
    truncatemod,
)
from rheos.ops.module import Module
from rheos.ops.parsing_ops import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    decode_compressed,
    decode_json_example,
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
)
from rheos.ops.partitioned_variables import (
    fixed_size_partitioner,
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)
from rheos.ops.py_function import py_function
from rheos.ops.quantize_ops import (
    dequantize,
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
    quantize,
    quantize_v2,
    quantized_concat,
)
from rheos.ops.ragged_string_ops import string_split
from rheos.ops.ragged_tensor import RaggedTensor
from rheos.ops.ragged_tensor_spec import RaggedTensorSpec
from rheos.ops.random_ops import (
    get_seed,
    multinomial,
    random_crop,
    random_gamma,
    random_normal,
    random_poisson,
    random_shuffle,
    random_uniform,
    set_random_seed,
    truncated_normal,
)
from rheos.ops.reader_ops import (
    FixedLengthRecordReader,
    IdentityReader,
    LMDBReader,
    ReaderBase,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from rheos.ops.rearrange_ops import (
    argsort,
    batch_gather,
    batch_to_space,
    batch_to_space_nd,
    bitcast,
    broadcast_dynamic_shape,
    depth_to_space,
    diag_part,
    dimension_at_index,
    extract_image_patches,
    extract_volume_patches,
    eye,
    get_static_value,
    guarantee_const,
    identity_n,
    is_tensor,
    matrix_diag_part,
    matrix_set_diag,
    matrix_transpose,
    repeat,
    required_space_to_batch_paddings,
    reverse_sequence,
    reverse_v2,
    roll,
    searchsorted,
    sequence_mask,
    setdiff1d,
    sort,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
    tensor_scatter_add,
    tensor_scatter_sub,
    tensor_scatter_update,
    unique_with_counts,
    unravel_index,
    where_v2,
)
from rheos.ops.script_ops import numpy_function, py_func
from rheos.ops.segment_ops import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from rheos.ops.session_ops import (
    delete_session_tensor,
    get_session_handle,
    get_session_tensor,
)
from rheos.ops.sparse_ops import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
    sparse_add,
    sparse_concat,
    sparse_fill_empty_rows,
    sparse_mask,
    sparse_maximum,
    sparse_merge,
    sparse_minimum,
    sparse_placeholder,
    sparse_reduce_max,
    sparse_reduce_max_sparse,
    sparse_reduce_sum,
    sparse_reduce_sum_sparse,
    sparse_reorder,
    sparse_reset_shape,
    sparse_reshape,
    sparse_retain,
    sparse_slice,
    sparse_softmax,
    sparse_split,
    sparse_tensor_dense_matmul,
    sparse_tensor_to_dense,
    sparse_to_dense,
    sparse_to_indicator,
    sparse_transpose,
)
from rheos.ops.special_math_ops import (
    angle,
    betainc,
    complex,
    digamma,
    igamma,
    igammac,
    imag,
    lbeta,
    lgamma,
    log_sigmoid,
    polygamma,
    real,
    to_complex64,
    to_complex128,
    zeta,
)
from rheos.ops.spectral_ops import (
    fft,
    fft2d,
    fft3d,
    ifft,
    ifft2d,
    ifft3d,
)
from rheos.ops.state_ops import (
    assign,
    assign_add,
    assign_sub,
    batch_scatter_update,
    count_up_to,
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
)
from rheos.ops.statistics_ops import (
    bincount,
    confusion_matrix,
    histogram_fixed_width,
    histogram_fixed_width_bins,
)
from rheos.ops.string_ops import (
    as_string,
    decode_base64,
    encode_base64,
    fingerprint,
    reduce_join,
    regex_replace,
    string_join,
    string_strip,
    string_to_hash_bucket,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
    string_to_number,
    substr,
)
from rheos.ops.summary_ops import timestamp
from rheos.ops.template import make_template
from rheos.ops.tensor_array_ops import TensorArray
from rheos.ops.tensor_array_spec import TensorArraySpec
from rheos.ops.variable_lists import (
    all_variables,
    assert_variables_initialized,
    global_variables,
    global_variables_initializer,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    is_variable_initialized,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
    trainable_variables,
    variables_initializer,
)
from rheos.ops.variable_scope import (
    AUTO_REUSE,
    VariableScope,
    create_partitioned_variables,
    get_local_variable,
    get_variable,
    get_variable_scope,
    no_regularizer,
    variable_op_scope,
    variable_scope,
)
from rheos.ops.variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    disable_resource_variables,
    enable_resource_variables,
    resource_variables_enabled,
    variable_creator_scope,
)
from rheos.training.session import InteractiveSession, Session
from rheos.v1 import (
    app,
    audio,
    bitwise,
    compat,
    debugging,
    dtypes,
    errors,
    flags,
    gfile,
    image,
    initializers,
    io,
    layers,
    logging,
    lookup,
    losses,
    manip,
    math,
    metrics,
    nest,
    nn,
    python_io,
    quantization,
    queue,
    ragged,
    random,
    raw_ops,
    sets,
    sparse,
    spectral,
    strings,
    summary,
    train,
    version,
)
from rheos.v1._framework_v1 import (
    add_to_collection,
    add_to_collections,
    get_collection,
    get_collection_ref,
)
from rheos.v1._modes import (
    disable_control_flow_v2,
    disable_eager_execution,
    disable_tensor_equality,
    disable_v2_behavior,
    disable_v2_tensorshape,
    enable_control_flow_v2,
    enable_eager_execution,
    enable_tensor_equality,
    enable_v2_behavior,
    enable_v2_tensorshape,
    executing_eagerly,
    get_logger,
)
from rheos.v1.version import (
    COMPILER_VERSION,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    VERSION,
)

__version__, __git_version__, __compiler_version__ = VERSION, GIT_VERSION, COMPILER_VERSION
CXX11_ABI_FLAG = MONOLITHIC_BUILD = 0

tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
tensor_scatter_nd_update = tensor_scatter_update


_MESSAGES = (
    "AttrValue",
    "ConfigProto",
    "Event",
    "Example",
    "GPUOptions",
    "GraphDef",
    "GraphOptions",
    "HistogramProto",
    "LogMessage",
    "MetaGraphDef",
    "NameAttrList",
    "NodeDef",
    "OptimizerOptions",
    "RunMetadata",
    "RunOptions",
    "SessionLog",
    "Summary",
    "SummaryMetadata",
    "TensorInfo",
)
# Modules that are large, or need what is: imported when they are used.
_LATER = (
    "autograph",
    "config",
    "contrib",
    "data",
    "distributions",
    "estimator",
    "feature_column",
    "examples",
    "graph_util",
    "keras",
    "linalg",
    "pywrap_tensorflow",
    "resource_loader",
    "saved_model",
    "signal",
    "test",
)
_absent = _attribute_of("tensorflow", _MESSAGES)


def __getattr__(name):
    if name in _LATER:
        return __import__(f"{__name__}.{name}", fromlist=("",))
    if name == "function":
        from rheos.tracing.function import function

        return function
    if name == "wrap_function":
        from rheos.tracing.wrapped import wrap_function

        return wrap_function
    if not name.startswith("_"):
        from rheos.v1._legacy import NAMES

        if name in NAMES:
            return NAMES[name]
    return _absent(name)


def __dir__():
    names = (n for n in globals() if not n.startswith("_"))
    return sorted({*names, *_MESSAGES, *_LATER, "__version__", "function", "wrap_function"})
