"""What of a graph hangs together, chosen and copied."""

from rheos.contrib.graph_walks import (
    ControlOutputs,
    SubGraphView,
    TransformerInfo,
    compute_boundary_ts,
    copy,
    copy_with_input_replacements,
    filter_ops,
    filter_ops_from_regex,
    filter_ts,
    filter_ts_from_regex,
    get_backward_walk_ops,
    get_consuming_ops,
    get_forward_walk_ops,
    get_generating_ops,
    get_name_scope_ops,
    get_tensors,
    get_walks_intersection_ops,
    get_walks_union_ops,
    graph_replace,
    make_list_of_op,
    make_list_of_t,
    make_view,
    select_ops,
    select_ops_and_ts,
    select_ts,
    sgv,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.graph_editor")
