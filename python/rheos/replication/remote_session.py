"""What runs a program's functions on a cluster: a session on one of its servers.

The session's graph grows by what is asked for. The body of a traced function becomes a part of it,
in which handles are those of the cluster's resources, and runs by a callable.
"""

import itertools
import threading
import weakref

from rheos.framework import dtypes, messages
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.eager import get_eager_graph
from rheos.framework.elsewhere import elsewhere
from rheos.framework.errors import InvalidArgumentError
from rheos.framework.func_graph import FuncGraph
from rheos.framework.graph import Graph, device
from rheos.framework.importer import import_graph_def
from rheos.framework.op_call import apply_op, op1
from rheos.framework.op_defs import op_def_message
from rheos.ops.array.constant_op import constant
from rheos.training.session import Session


class _GrowingSession(Session):
    """A session whose graph is meant to grow between runs."""

    def _tell_growth(self, file, line, text):
        pass


class RemoteSession:
    """A session on a server, for functions whose variables are on the cluster's tasks.

    target: of the server. tasks: of which tasks it knows, as filters of devices such as "/job:ps".
    worker: the number of the worker that functions run on, calls_on: its device, to which calls,
    branches and loops are bound, as they would go to the servers of the variables that they take:
    so the master cuts their bodies. asked: the devices whose tasks ask() asks, by default the
    server. Calls of the session wait for one another.
    """

    def __init__(self, target, tasks, worker=None, calls_on="", asked=("",)):
        self.worker = worker
        self._calls_on = calls_on
        self._asked, self._question = asked, None
        config = messages.ConfigProto()
        config.device_filters.extend(tasks)
        self.graph = Graph()
        self._session = _GrowingSession(target, self.graph, config)
        self._lock = threading.RLock()
        self._handles = {}  # Elsewhere: its tensor in the graph
        self._installed = {}  # {what a function is: a list that ends with its callable}
        self._functions = set()  # names of the graph's library
        self._bodies = weakref.WeakKeyDictionary()  # {FuncGraph: (its body, as bytes too)}
        self._wrappers = weakref.WeakKeyDictionary()  # {function of a saved model: FuncGraph}
        self._numbers = itertools.count()

    def close(self):
        """Ends the session; its calls under way are cancelled."""
        self._session.close()

    def destroy(self, resources=None):
        """Has the cluster forget resources that nothing uses any more, by default all that the
        session knows. What is gone already is no error."""
        with self._lock, self.graph.as_default():
            resources = list(self._handles) if resources is None else resources
            handles = [self._handles.pop(one, None) for one in resources]
            operations = [
                apply_op("DestroyResourceOp", None, handle, ignore_lookup_error=True)
                for handle in handles
                if handle is not None
            ]
            if operations:
                self._session.run(operations)

    def ask(self):
        """Asks tasks whether they know the session; tf.errors.OpError if one does not answer."""
        with self._lock:
            if self._question is None:
                with self.graph.as_default():
                    self._question = [_question(device) for device in self._asked]
            self._session.run(self._question)

    @property
    def resources(self):
        """What the session has handles of."""
        return list(self._handles)

    def handle_of(self, resource):
        """The tensor of the graph that is a resource's handle."""
        with self._lock, self.graph.as_default():
            if resource not in self._handles:
                self._handles[resource] = resource.tensor_in(self)
            return self._handles[resource]

    def run(self, fetches):
        """Runs operations of the graph."""
        with self._lock:
            return self._session.run(fetches)

    def call(self, graph, tensors):
        """Calls a function; the eager tensors of its results.

        graph: its body, a finished FuncGraph. tensors: its arguments, and what it captures, eager
        tensors. InvalidArgumentError for a resource of this process among them.
        """
        with self._lock:
            if not isinstance(graph, FuncGraph):
                graph = self._wrapped(graph, tensors)
            run, feeds, dtypes_ = self._callable(graph, tensors)
            values = run(*(tensors[i]._numpy() for i in feeds))
        with get_eager_graph().as_default():
            return [convert_to_tensor(value, dtype) for value, dtype in zip(values, dtypes_)]

    # Functions become parts of the graph

    def _callable(self, graph, tensors):
        """(callable, which of the tensors it is fed, dtypes of what it gives)."""
        number = len(graph.inputs) - len(graph.captures)
        fixed = tuple(
            (i, elsewhere(tensor) or id(tensor))
            for i, tensor in enumerate(tensors)
            if i >= number or tensor.dtype in (dtypes.resource, dtypes.variant)
        )
        body, text = self._body(graph)
        key = text, fixed
        found = self._installed.get(key)
        if found is None:
            elements, feeds = self._install(graph, body, tensors, {i for i, _ in fixed})
            outputs = elements[: len(graph.outputs)]
            for tensor in outputs:
                if tensor.dtype in (dtypes.resource, dtypes.variant):
                    raise InvalidArgumentError(
                        None, None,
                        f"{graph.name} returns a {tensor.dtype.name} tensor, {tensor.name}, which "
                        "cannot leave the task that has it",
                    )  # fmt: skip
            places = [i for i in range(len(tensors)) if i not in dict(fixed)]
            run = self._session.make_callable(elements, feeds)
            # What is known by its id lives as long, so that this stays its own.
            kept = [tensors[i] for i, key in fixed if isinstance(key, int)]
            found = run, places, [t.dtype.base_dtype for t in outputs], kept
            self._installed[key] = found
        return found[:3]

    def _wrapped(self, function, tensors):
        """The body of a function that calls one which is in the library alone."""
        if function not in self._wrappers:
            with get_eager_graph().as_default():
                graph = FuncGraph(f"{function.name}_on_cluster")
                with graph.as_default():
                    for tensor in tensors:
                        graph.add_argument(tensor.dtype.base_dtype, tensor.shape)
                    types = [one.base_dtype for one in function.output_types]
                    attrs = {"Tout": types, "f": function.name}
                    called = apply_op("StatefulPartitionedCall", None, graph.inputs, **attrs)
                    graph.outputs = list(called.outputs)
                    graph.add_control_output(called)
                self._wrappers[function] = graph
        return self._wrappers[function]

    def _body(self, graph):
        if graph not in self._bodies:
            body = graph.as_graph_def()
            self._bind_calls(body.node)
            self._bodies[graph] = body, body.SerializeToString(deterministic=True)
        return self._bodies[graph]

    def added(self, graph, tensors):
        """The results, in the graph, of a function with such arguments and captures."""
        body, _ = self._body(graph)
        found, _ = self._install(graph, body, tensors, range(len(tensors)))
        return found[: len(graph.outputs)]

    def _bind_calls(self, nodes):
        """Binds calls, branches and loops to the worker."""
        for node in nodes:
            if any(True for _ in _called_functions([node])):
                node.device = node.device or self._calls_on

    def _install(self, graph, body, tensors, fixed):
        """The body as a part of the graph: ([results, then what every call runs], feeds)."""
        fed = [graph.inputs[i].name for i in range(len(tensors)) if i not in fixed]
        wanted = [tensor.name for tensor in graph.outputs]
        wanted += [operation.name for operation in graph.control_outputs]
        with self.graph.as_default():
            inputs = {
                graph.inputs[i].name: self.tensor_for(tensors[i], graph.inputs[i]) for i in fixed
            }
            self._add_library(body)
            name = f"{graph.name.lstrip('_')}_{next(self._numbers)}"
            used = {one for node in body.node for one in node.input}
            mapped = {key: value for key, value in inputs.items() if _is_used(key, used)}
            found = import_graph_def(body, mapped, wanted + fed, name=name)
        results = [
            inputs.get(name, element) for name, element in zip(wanted, found[: len(wanted)])
        ]
        return results, found[len(wanted) :]

    def tensor_for(self, value, placeholder):
        """What stands in the graph for an eager tensor: a resource's handle, or a constant."""
        remote = elsewhere(value)
        if remote is not None:
            return self.handle_of(remote)
        make_copy = getattr(value, "_elsewhere_as", None)  # of what does not change
        if make_copy is not None:
            return make_copy(self)
        if value.dtype in (dtypes.resource, dtypes.variant):
            raise InvalidArgumentError(
                None, None,
                f"{placeholder.name} is a resource of this process, which functions that run on a "
                "cluster cannot use: make variables in the scope of the strategy, datasets by "
                "create_per_worker_dataset()",
            )  # fmt: skip
        return constant(value._numpy(), value.dtype.base_dtype, name="captured")

    def _add_library(self, body):
        """Adds the functions that a body calls."""
        waiting, needed, known = [body.node], {}, None
        while waiting:
            for name in _called_functions(waiting.pop()):
                if name in needed or name in self._functions:
                    continue
                known = _library() if known is None else known
                if name in known:
                    needed[name] = known[name]
                    waiting.append(known[name].node_def)
        if needed:
            for function in needed.values():
                self._bind_calls(function.node_def)
            library = messages.FunctionDefLibrary(function=needed.values())
            import_graph_def(messages.GraphDef(library=library), name="")
            self._functions.update(needed)


def _question(name):
    """What a device computes that can not be known before."""
    with device(name):
        handle = op1("VarHandleOp", None, dtype=dtypes.float32, shape=[], shared_name="asked")
        return op1("VarIsInitializedOp", None, handle)


def _is_used(name, inputs):
    return name in inputs or name.removesuffix(":0") in inputs


def _library():
    """The functions that there are where operations run at once, by name."""
    return {f.signature.name: f for f in get_eager_graph().as_graph_def().library.function}


def _called_functions(nodes):
    """The names of the functions that nodes call."""
    for node in nodes:
        if op_def_message(node.op) is None:
            yield node.op
        for attr in node.attr.values():
            if attr.HasField("func"):
                yield attr.func.name
            elif attr.HasField("list"):
                for one in attr.list.func:
                    yield one.name
