"""What RunOptions say is to be dumped of a step: DebugTensorWatch messages, and who writes them."""

import re


class WatchOptions:
    """What a watch function of a wrapped session gives: which tensors, and which debug ops.

    The patterns are regular expressions that must match from the beginning; None lets all pass.
    """

    def __init__(
        self,
        debug_ops=None,
        node_name_regex_whitelist=None,
        op_type_regex_whitelist=None,
        tensor_dtype_regex_whitelist=None,
        tolerate_debug_op_creation_failures=False,
        node_name_regex_allowlist=None,
        op_type_regex_allowlist=None,
        tensor_dtype_regex_allowlist=None,
    ):
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_allowlist = node_name_regex_allowlist or node_name_regex_whitelist
        self.op_type_regex_allowlist = op_type_regex_allowlist or op_type_regex_whitelist
        self.tensor_dtype_regex_allowlist = (
            tensor_dtype_regex_allowlist or tensor_dtype_regex_whitelist
        )
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    node_name_regex_whitelist = property(lambda self: self.node_name_regex_allowlist)
    op_type_regex_whitelist = property(lambda self: self.op_type_regex_allowlist)
    tensor_dtype_regex_whitelist = property(lambda self: self.tensor_dtype_regex_allowlist)


def _texts(value):
    return [value] if isinstance(value, str) else list(value or ())


def add_debug_tensor_watch(
    run_options,
    node_name,
    output_slot=0,
    debug_ops="DebugIdentity",
    debug_urls=None,
    tolerate_debug_op_creation_failures=False,
    global_step=-1,
):
    """Has a step with these RunOptions dump one output of a node; -1: all of them.

    debug_ops and debug_urls: a text or a list of texts; "file:///folder" is an URL.
    """
    run_options.debug_options.global_step = global_step
    watch = run_options.debug_options.debug_tensor_watch_opts.add()
    watch.node_name = node_name
    watch.output_slot = output_slot
    watch.debug_ops.extend(_texts(debug_ops))
    watch.debug_urls.extend(_texts(debug_urls))
    watch.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


def _compiled(pattern):
    return re.compile(pattern) if pattern else None


def _watch_outputs(run_options, graph, is_wanted, debug_ops, debug_urls, tolerates, global_step):
    run_options.debug_options.global_step = global_step
    for op in graph.get_operations():
        for slot, output in enumerate(op.outputs):
            if is_wanted(op, output):
                add_debug_tensor_watch(
                    run_options, op.name, slot, debug_ops, debug_urls, tolerates, global_step
                )


def watch_graph(
    run_options,
    graph,
    debug_ops="DebugIdentity",
    debug_urls=None,
    node_name_regex_whitelist=None,
    op_type_regex_whitelist=None,
    tensor_dtype_regex_whitelist=None,
    tolerate_debug_op_creation_failures=False,
    global_step=-1,
    reset_disk_byte_usage=False,
    node_name_regex_allowlist=None,
    op_type_regex_allowlist=None,
    tensor_dtype_regex_allowlist=None,
):
    """Has a step with these RunOptions dump what the graph's operations give.

    The patterns are regular expressions that must match from the beginning: a tensor is dumped that
    passes all that are given.
    """
    names = _compiled(node_name_regex_allowlist or node_name_regex_whitelist)
    types = _compiled(op_type_regex_allowlist or op_type_regex_whitelist)
    dtypes = _compiled(tensor_dtype_regex_allowlist or tensor_dtype_regex_whitelist)

    def is_wanted(op, output):
        return (
            (names is None or names.match(op.name))
            and (types is None or types.match(op.type))
            and (dtypes is None or dtypes.match(output.dtype.name))
        )

    _watch_outputs(
        run_options, graph, is_wanted, debug_ops, debug_urls,
        tolerate_debug_op_creation_failures, global_step,
    )  # fmt: skip
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph_with_blacklists(
    run_options,
    graph,
    debug_ops="DebugIdentity",
    debug_urls=None,
    node_name_regex_blacklist=None,
    op_type_regex_blacklist=None,
    tensor_dtype_regex_blacklist=None,
    tolerate_debug_op_creation_failures=False,
    global_step=-1,
    reset_disk_byte_usage=False,
    node_name_regex_denylist=None,
    op_type_regex_denylist=None,
    tensor_dtype_regex_denylist=None,
):
    """As watch_graph(), but a tensor is left out that matches any of the patterns."""
    names = _compiled(node_name_regex_denylist or node_name_regex_blacklist)
    types = _compiled(op_type_regex_denylist or op_type_regex_blacklist)
    dtypes = _compiled(tensor_dtype_regex_denylist or tensor_dtype_regex_blacklist)

    def is_wanted(op, output):
        return not (
            (names is not None and names.match(op.name))
            or (types is not None and types.match(op.type))
            or (dtypes is not None and dtypes.match(output.dtype.name))
        )

    _watch_outputs(
        run_options, graph, is_wanted, debug_ops, debug_urls,
        tolerate_debug_op_creation_failures, global_step,
    )  # fmt: skip
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


watch_graph_with_denylists = watch_graph_with_blacklists
