"""Graphs with all that belongs to them: tensorflow.python.framework.meta_graph."""

from rheos.framework.op_defs import ops_of as ops_used_by_graph_def, stripped_op_list
from rheos.training.meta_graph import (
    create_meta_graph_def,
    export_scoped_meta_graph,
    read_meta_graph_file,
)
