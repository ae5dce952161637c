"""Resources that a program initializes: tensorflow.python.ops.resources."""

import collections

from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.state.graph_keys import GraphKeys

_Resource = collections.namedtuple("_Resource", "handle create is_initialized")


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Notes a resource in the collection of the graph's shared ones, or of this process's."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    resource = _Resource(handle, create_op, is_initialized_op)
    get_default_graph().add_to_collection(key, resource)


def shared_resources():
    """The graph's resources that processes share."""
    return get_default_graph().get_collection(GraphKeys.RESOURCES)


def local_resources():
    """The graph's resources that each process has of its own."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """The names of the handles of resources that do not exist yet, a vector of strings.

    resource_list: by default the shared and the local ones.
    """
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name):
        if not resource_list:
            return constant([], dtype="string")
        made = array_ops.stack([resource.is_initialized for resource in resource_list])
        names = constant([resource.handle.name for resource in resource_list])
        return array_ops.boolean_mask(names, math_ops.logical_not(made))


def initialize_resources(resource_list, name="init"):
    """An operation that creates all of the resources."""
    if not resource_list:
        return control_flow_ops.no_op(name=name)
    return control_flow_ops.group(*[resource.create for resource in resource_list], name=name)
