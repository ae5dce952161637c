"""Replicas that train in step: their gradients add up until there are enough, then all go on.

Each variable has an accumulator beside it. A replica adds its gradients there, then waits for a
token. The chief takes the mean of enough gradients, applies it, and puts a token for each replica
into a queue; a token is the step that the replica's next gradients are for, and accumulators drop
those that come for an earlier one. Chen, Pan, Monga, Bengio, Jozefowicz: Revisiting Distributed
Synchronous SGD, 2016.
"""

import contextlib

from rheos.framework import dtypes, logging
from rheos.framework.graph import colocate_with, control_dependencies, device, name_scope
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops
from rheos.ops.data_flow.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from rheos.ops.data_flow.data_flow_ops import FIFOQueue
from rheos.ops.flow import control_flow_ops
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_lists import global_variables, report_uninitialized_variables
from rheos.ops.state.variables import Variable
from rheos.training.optimizers import Optimizer
from rheos.training.queue_runner import QueueRunner
from rheos.training.session_hooks import SessionRunHook
from rheos.training.session_manager import is_ready


class _Sums:
    """Where the gradients of one variable add up."""

    def __init__(self, gradient, variable):
        self.device = variable.device
        self._gradient = gradient
        name = variable.name + "/grad_accum"
        if isinstance(gradient, Tensor):
            self.accumulator = ConditionalAccumulator(
                gradient.dtype, shape=variable.shape, shared_name=name
            )
        else:
            self.accumulator = SparseConditionalAccumulator(
                gradient.dtype, shape=(), shared_name=name
            )

    def add(self, local_step):
        """An operation that adds the replica's gradient."""
        if isinstance(self._gradient, Tensor):
            return self.accumulator.apply_grad(self._gradient, local_step=local_step)
        return self.accumulator.apply_indexed_slices_grad(self._gradient, local_step=local_step)

    def mean(self, count):
        """The mean of so many gradients."""
        if isinstance(self._gradient, Tensor):
            return self.accumulator.take_grad(count)
        return self.accumulator.take_indexed_slices_grad(count)


class SyncReplicasOptimizer(Optimizer):
    """Another optimizer, whose gradients are means over replicas.

    opt: the other optimizer. replicas_to_aggregate: how many gradients make a step.
    total_num_replicas: how many replicas there are; by default as many. More of them than gradients
    are back-up replicas; fewer give more than one gradient a step. variable_averages,
    variables_to_average: an ExponentialMovingAverage, and what it averages after each step.
    """

    def __init__(
        self,
        opt,
        replicas_to_aggregate,
        total_num_replicas=None,
        variable_averages=None,
        variables_to_average=None,
        use_locking=False,
        name="sync_replicas",
    ):
        super().__init__(use_locking, name)
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        logging.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._count = replicas_to_aggregate
        self._total = total_num_replicas
        self._averages = variable_averages
        self._averaged = variables_to_average
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._global_step = None  # once gradients are applied
        self._tokens = None
        self._runner = None
        self.chief_init_op = None
        self.local_step_init_op = None
        self.ready_for_local_init_op = None

    def compute_gradients(self, *args, **kwargs):
        """As of the other optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that a replica runs for a step.

        ValueError without gradients, or without a global step, which tells old gradients.
        """
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        local_step = self._make_local_step()
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            sums, added, update = self._accumulate(grads_and_vars, local_step)
            train = self._wait_for_token(local_step, added)
            self._run_chief(update)
            self.chief_init_op = self._start_accumulators(sums)
        return train

    def _make_local_step(self):
        with colocate_with(control_flow_ops.no_op()):
            local_step = Variable(
                0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=self._global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = state_ops.assign(local_step, self._global_step)
        return local_step

    def _accumulate(self, grads_and_vars, local_step):
        sums, added, means = [], [], []
        for gradient, variable in grads_and_vars:
            if gradient is None:
                means.append(None)
                continue
            with device(variable.device):
                sums.append(_Sums(gradient, variable))
                added.append(sums[-1].add(local_step))
                means.append(sums[-1].mean(self._count))
        with self._beside_step():
            pairs = zip(means, [variable for _, variable in grads_and_vars])
            update = self._opt.apply_gradients(pairs, self._global_step)
        return sums, added, update

    @contextlib.contextmanager
    def _beside_step(self):
        with device(self._global_step.device), name_scope(""):
            yield

    def _wait_for_token(self, local_step, added):
        with self._beside_step():
            self._tokens = FIFOQueue(
                -1,
                self._global_step.dtype.base_dtype,
                shapes=(),
                name="sync_token_q",
                shared_name="sync_token_q",
            )
            with control_dependencies(added):
                token = self._tokens.dequeue()
            return state_ops.assign(local_step, token)

    def _run_chief(self, update):
        with self._beside_step():
            # A runner closes its queue when it ends; the one on the parameter server stays open.
            dummy = FIFOQueue(
                1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue"
            )
            with control_dependencies([update]):
                tokens = array_ops.fill([self._tokens_per_step], self._global_step)
                synced = self._tokens.enqueue_many((tokens,))
            if self._averages is not None:
                with control_dependencies([synced]):
                    synced = self._averages.apply(self._averaged)
        self._runner = QueueRunner(dummy, [synced])

    def _start_accumulators(self, sums):
        ops = [self.local_step_init_op]
        for one in sums:
            with device(one.device):
                ops.append(
                    one.accumulator.set_global_step(self._global_step, name="SetGlobalStep")
                )
        return control_flow_ops.group(*ops)

    def get_chief_queue_runner(self):
        """What the chief runs beside its training. ValueError before apply_gradients()."""
        if self._runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._runner

    def get_init_tokens_op(self, num_tokens=-1):
        """An operation that lets the first step begin: it puts tokens into the queue, by default as
        many as a step has gradients. ValueError for too few of them.
        """
        if self._tokens is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._count - self._total
        if num_tokens == -1:
            num_tokens = self._count
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} "
                "(needed)"
            )
        if num_tokens <= 0:
            return control_flow_ops.no_op(name="no_init_tokens")
        with self._beside_step():
            return self._tokens.enqueue_many((array_ops.fill([num_tokens], self._global_step),))

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """The hook that MonitoredTrainingSession needs."""
        return _SyncReplicasHook(self, is_chief, num_tokens)

    def get_slot(self, *args, **kwargs):
        """As of the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self):
        """Those of the other optimizer."""
        return self._opt.variables()

    def get_slot_names(self, *args, **kwargs):
        """As of the other optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)


class _SyncReplicasHook(SessionRunHook):
    """Prepares a new session for training in step."""

    def __init__(self, optimizer, is_chief, num_tokens):
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self):
        optimizer = self._optimizer
        if optimizer._tokens is None:
            raise ValueError(
                "SyncReplicasOptimizer should apply gradients before using the hook."
            )
        self._ready = optimizer.ready_for_local_init_op
        if self._is_chief:
            self._init = optimizer.chief_init_op
            self._runner = optimizer.get_chief_queue_runner()
            self._first_tokens = optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._init, self._runner, self._first_tokens = optimizer.local_step_init_op, None, None

    def after_create_session(self, session, coord):
        ready, why = is_ready(
            self._ready, session, "Model is not ready for SyncReplicasOptimizer local init."
        )
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._init.name}, error: {why}"
            )
        session.run(self._init)
        if self._first_tokens is not None:
            session.run(self._first_tokens)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)
