"""GraphDefs for use elsewhere: variables as constants, parts of a graph."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.importer import import_graph_def
from rheos.training.graph_util import (
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)

__getattr__ = _attribute_of("tensorflow.graph_util")
