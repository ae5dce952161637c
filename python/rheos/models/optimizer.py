"""What every optimizer is: hyperparameters that are variables, slots, clipped gradients."""

import contextlib

from rheos.framework import dtypes, replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, init_scope, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.trackable import Trackable, _tell_pending
from rheos.layers import values
from rheos.layers.layer import each_once
from rheos.models import drawn_initializers, initializers, objects  # noqa: F401 (by name)
from rheos.models.schedules import LearningRateSchedule, deserialize as schedule_of
from rheos.models.traced_steps import TracedSteps
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.differentiation import gradients
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.state import state_ops
from rheos.ops.state.variables import Variable

_OPTIONS = ("clipnorm", "clipvalue", "global_clipnorm", "lr", "decay", "weight_decay")
_OF_STEPS = ("_is_applying", "_iterations", "_waiting_weights")  # what steps themselves set
_OPTIONAL = ("loss_scale_factor", "gradient_accumulation_steps")
_ACCUMULATOR = "gradient_accumulator"

_AVERAGING = ("jit_compile", "use_ema", "ema_momentum", "ema_overwrite_frequency")


class Parts:
    """A gradient as Keras 3's updates take it: whole, and the sums of what its slices give.

    Of rows that are met more than once Keras 3 adds up the squares, not the rows before.
    """

    def __init__(self, grad):
        self._given = grad
        self.whole = convert_to_tensor(grad)

    def of(self, function):
        """A function of the elements of the gradient, of each slice by itself."""
        if not isinstance(self._given, IndexedSlices):
            return function(self.whole)
        slices = self._given
        made = IndexedSlices(function(slices.values), slices.indices, slices.dense_shape)
        return convert_to_tensor(made)

    @property
    def square(self):
        """The squared gradient."""
        return self.of(math_ops.square)


def _identity(var):
    """What tells a variable from others; an argument of a function being traced is the variable
    that it is traced for."""
    traced_for = getattr(var, "traced_for", None)
    original = None if traced_for is None else traced_for()
    return id(var if original is None else original)


def slot_key(var, name):
    """What the variable of a name beside a variable is found by."""
    return _identity(var), name


class Optimizer(Trackable):
    """Changes variables by the gradients of a loss.

    Hyperparameters are attributes: numbers until the first step, variables then, so that they can
    be changed between steps. clipnorm, clipvalue, global_clipnorm: what each gradient's norm, the
    elements or the norm of all gradients are kept below. weight_decay: the share of a variable,
    times the learning rate, that each step takes away. gradient_accumulation_steps: of how many
    calls the gradients are averaged before the variables change; loss_scale_factor: what
    scale_loss() multiplies by, and a step divides by.
    """

    def __init__(self, name, **kwargs):
        self.__dict__["_hyper"] = {}
        self.__dict__["_traced_steps"] = TracedSteps()
        for key, value in kwargs.items():
            if key in _OPTIONAL or key in _AVERAGING:
                continue
            if key not in _OPTIONS:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self.clipnorm = kwargs.get("clipnorm")
        self.clipvalue = kwargs.get("clipvalue")
        self.global_clipnorm = kwargs.get("global_clipnorm")
        self.weight_decay = kwargs.get("weight_decay")
        self.use_ema = bool(kwargs.get("use_ema"))
        self.ema_momentum = kwargs.get("ema_momentum") or 0.99
        self.ema_overwrite_frequency = kwargs.get("ema_overwrite_frequency")
        self.loss_scale_factor = kwargs.get("loss_scale_factor")
        self.gradient_accumulation_steps = kwargs.get("gradient_accumulation_steps")
        if self.gradient_accumulation_steps and self.gradient_accumulation_steps < 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. Received: "
                f"gradient_accumulation_steps={self.gradient_accumulation_steps}"
            )
        self._initial_decay = kwargs.get("decay") or 0.0
        self._excluded = ()
        self._slots = {}  # (variable, name): slot
        self._weights = []
        self._iterations = None
        self._is_applying = False
        self._hyper_variables = {}
        self._waiting_weights = None

    # -- Hyperparameters

    def _set_hyper(self, name, value):
        if isinstance(value, dict):
            value = schedule_of(value)
        self._hyper[name] = value
        variable = self._hyper_variables.get(name)
        if variable is not None:
            if values.is_tensor(value) or callable(value):
                del self._hyper_variables[name]
                self._traced_steps.clear()
            else:
                values.set_values([(variable, value)])

    def __getattr__(self, name):
        if name == "lr":
            name = "learning_rate"
        if name == "learning_rate" and not values.runs_in_session():
            rate = self.__dict__.get("_hyper", {}).get(name)
            if isinstance(rate, LearningRateSchedule):
                return rate(self._counter)
        hyper = self.__dict__.get("_hyper", {})
        if name in hyper:
            return self._hyper_variable(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", {}):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)
            if name not in _OF_STEPS:
                self._traced_steps.clear()

    def _hyper_variable(self, name):
        """The variable of a hyperparameter, or the schedule or tensor that it is."""
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule) or values.is_tensor(value):
            return value
        if name not in self._hyper_variables:
            with init_scope(), self._own_scope():
                self._hyper_variables[name] = Variable(
                    initial_value=float(value() if callable(value) else value),
                    name=name,
                    trainable=False,
                    use_resource=True,
                )
        return self._hyper_variables[name]

    def _value(self, name, dtype=dtypes.float32):
        """The tensor of a hyperparameter."""
        found = self._hyper_variable(name)
        if isinstance(found, LearningRateSchedule):
            found = found(self._counter)
        return math_ops.cast(convert_to_tensor(found), dtype)

    def _number(self, name):
        """A hyperparameter as a number."""
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return objects.serialize(value)
        if name in self._hyper_variables:
            return float(values.get_values([self._hyper_variables[name]])[0])
        value = value() if callable(value) else value
        return float(values.get_values([value])[0]) if values.is_tensor(value) else value

    def _rate(self, dtype=dtypes.float32):
        """The learning rate of the step."""
        rate = self._value("learning_rate", dtype)
        if self._initial_decay > 0.0:
            steps = math_ops.cast(self.iterations, dtype)
            rate = rate / (1.0 + self._value("decay", dtype) * steps)
        return rate

    # -- Variables

    def _own_scope(self):
        """The context of the names of variables: during a step it is entered already."""
        return contextlib.nullcontext() if self._is_applying else name_scope(self._name)

    @property
    def name(self):
        """The name, of the scope of its variables too."""
        return self._name

    @property
    def iterations(self):
        """The variable that counts the steps; a tensor where some only gather gradients."""
        counter = self._counter
        if self.gradient_accumulation_steps:
            return math_ops.floordiv(counter, self.gradient_accumulation_steps)
        return counter

    @property
    def _counter(self):
        """The variable that counts the calls."""
        if self._iterations is None:
            with init_scope(), self._own_scope():
                self._iterations = Variable(
                    initial_value=lambda: convert_to_tensor(0, dtypes.int64),
                    name="iter",
                    trainable=False,
                    dtype=dtypes.int64,
                    use_resource=True,
                )
            self._weights.insert(0, self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                "created"
            )
        self._iterations = variable
        self._weights.insert(0, variable)

    def add_slot(self, var, slot_name, initializer="zeros"):
        """The variable of that name beside a variable; makes it if there is none."""
        key = slot_key(var, slot_name)
        if key not in self._slots:
            start = initializers.get(initializer) if isinstance(initializer, str) else initializer
            dims = [int(d) for d in var.shape.as_list()]
            value = (lambda: start(dims, dtype=var.dtype)) if callable(start) else start
            with init_scope(), replicas.beside(var):
                slot = Variable(
                    initial_value=value,
                    name=f"{_shared_name(var)}/{slot_name}",
                    dtype=var.dtype,
                    trainable=False,
                    use_resource=True,
                )
            self._slots[key] = slot
            self._weights.append(slot)
        return self._slots[key]

    def get_slot(self, var, slot_name):
        """The variable of that name beside a variable; KeyError if there is none."""
        return self._slots[slot_key(var, slot_name)]

    def get_slot_names(self):
        """The names of the variables beside variables."""
        return list(dict.fromkeys(name for _, name in self._slots))

    def _create_slots(self, var_list):
        """Makes what is kept beside the variables."""

    @property
    def weights(self):
        """The count of steps, then what is kept beside the variables."""
        return self._weights

    @property
    def variables(self):
        """The count of steps, the learning rate, and what is kept beside the variables.

        In graphs there is no learning rate among them. Calling the property gives them too.
        """
        if values.runs_in_session():
            return _Variables(self.weights)
        return _Variables(each_once([*self.keras3_variables(), *self.weights]))

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """What checkpoints keep, by Keras 3's names."""
        if values.runs_in_session() or save_type != "checkpoint":
            return {}
        found = {"_iterations": self._counter}
        rate = self._hyper.get("learning_rate")
        if rate is not None and not isinstance(rate, LearningRateSchedule):
            found["_learning_rate"] = self._hyper_variable("learning_rate")
        # The lists are the same objects each time: checkpoints number objects by identity.
        mine, theirs = self.__dict__.setdefault("_lists", ([], []))
        mine[:], theirs[:] = self.variables, self._built_with or ()
        return {**found, "_variables": mine, **({"_trainable_variables": theirs} if theirs else {})}

    def _slots_were_made(self):
        """Gives new slots what a checkpoint that was restored before has for them."""
        if "_self_pending" in self.__dict__:
            _tell_pending(self, "_variables", list(self.variables))

    _GROUPS = ()  # the slots, those that Keras 3 makes together in one group

    def keras3_variables(self):
        """The variables in the order of Keras 3's files."""
        found = [self._counter]
        rate = self._hyper.get("learning_rate")
        if rate is not None and not isinstance(rate, LearningRateSchedule):
            found.append(self._hyper_variable("learning_rate"))
        for group in (("average",), (_ACCUMULATOR,), *self._GROUPS):
            for var in self._built_with or ():
                keys = [slot_key(var, s) for s in group]
                found += [self._slots[key] for key in keys if key in self._slots]
        return found

    def build(self, var_list):
        """Makes what is kept beside variables."""
        self._counter  # noqa: B018
        self._built_with = list(var_list)
        with name_scope(self._name):
            self._create_accumulators(var_list)
            self._create_slots(list(var_list))
        self._set_waiting()
        self._slots_were_made()

    def get_weights(self):
        """The values of `weights`, as arrays."""
        return values.get_values(self.weights)

    def set_weights(self, weights):
        """Sets `weights` to arrays; ValueError if their number or shapes do not fit."""
        mine = self.weights
        if len(mine) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(mine)} weights."
            )
        for variable, value in zip(mine, weights):
            if list(getattr(value, "shape", ())) != variable.shape.as_list():
                raise ValueError(
                    f"Optimizer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {getattr(value, 'shape', ())}"
                )
        values.set_values(zip(mine, weights))

    def _set_waiting(self):
        if self._waiting_weights is not None:
            waiting, self._waiting_weights = self._waiting_weights, None
            self.set_weights(waiting)

    # -- Steps

    def get_gradients(self, loss, params):
        """The clipped gradients of a loss by variables; ValueError if one has none."""
        with name_scope("gradients"):
            grads = gradients.gradients(loss, params)
        for grad, param in zip(grads, params):
            if grad is None:
                raise ValueError(
                    f"Variable {param} has `None` for gradient. Please make sure that all of your "
                    "ops have a gradient defined (i.e. are differentiable). Common ops without "
                    "gradient: K.argmax, K.round, K.eval."
                )
        return self._clipped(grads)

    def _clipped(self, grads):
        if self.clipnorm is not None:
            grads = [clip_ops.clip_by_norm(g, self.clipnorm) for g in grads]
        if self.global_clipnorm is not None:
            grads, _ = clip_ops.clip_by_global_norm(grads, self.global_clipnorm)
        if self.clipvalue is not None:
            low, high = -self.clipvalue, self.clipvalue
            grads = [clip_ops.clip_by_value(g, low, high) for g in grads]
        return grads

    def get_updates(self, loss, params):
        """The operations of a step that lowers a loss."""
        grads = self.get_gradients(loss, params)
        return [self._apply(list(zip(grads, params)), None)]

    def minimize(self, loss, var_list, grad_loss=None, name=None, tape=None):
        """A step that lowers a loss: a tensor, or a function that makes it."""
        params = var_list() if callable(var_list) else list(var_list)
        if callable(loss):
            loss = loss()
        grads = gradients.gradients(loss, params, grad_loss)
        return self.apply_gradients(list(zip(grads, params)), name=name)

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        """A step: pairs of a gradient and a variable; those without a gradient stay.

        ValueError if none has one.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            names = [v.name for _, v in grads_and_vars]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        grads = [self._unscaled(g) for g, _ in pairs]
        if not self.gradient_accumulation_steps:  # whose average is clipped
            grads = self._clipped(grads)
        return self._apply(list(zip(grads, [v for _, v in pairs])), name)

    def scale_loss(self, loss):
        """The loss that gradients are taken of: times the scale, if there is one."""
        factor = self.loss_scale_factor
        return loss if factor is None else loss * math_ops.cast(factor, loss.dtype)

    def _unscaled(self, grad):
        factor = self.loss_scale_factor
        if factor is None:
            return grad
        if isinstance(grad, IndexedSlices):
            values_ = grad.values / math_ops.cast(factor, grad.values.dtype)
            return IndexedSlices(values_, grad.indices, grad.dense_shape)
        return grad / math_ops.cast(factor, grad.dtype)

    def apply(self, grads, trainable_variables=None):
        """A step by gradients of variables: those given, or those the optimizer was built with."""
        variables = self._built_with if trainable_variables is None else trainable_variables
        if variables is None:
            raise ValueError(
                "When passing `grads` without `variables`, the optimizer must already be built on "
                "a list of variables. Call `optimizer.build(trainable_variables)` first."
            )
        grads, variables = list(grads), list(variables)
        if len(grads) != len(variables):
            raise ValueError(
                "When passing `grads` as a list of gradient tensors, the gradients must match "
                f"`optimizer.variables` one-to-on. Received a list of {len(grads)} gradients, but "
                f"the optimizer is tracking {len(variables)} trainable variables."
            )
        return self.apply_gradients(list(zip(grads, variables)))

    _built_with = None

    def _apply(self, pairs, name):
        """The step, or the count of steps where it was made at once."""
        if replicas.several() is not None:
            return self._step_of_replicas(pairs, name)
        if self._waiting_weights is None and self._traced_steps.run(self, pairs):
            return self.iterations
        return self._step(pairs, name)

    def _step_of_replicas(self, pairs, name):
        """The step of all replicas of a strategy, by the sums of their gradients: each variable has
        a copy for each, and so has what is kept beside it."""

        def step(strategy, grads, variables):
            summed = strategy.extended.sum_for_variables(grads, variables)
            with strategy.scope():  # the variables that the first step makes
                self._begin(variables)
            return strategy.extended.for_each_copy(
                lambda *own: self._step(list(zip(own, variables)), name), summed
            )

        grads, variables = [g for g, _ in pairs], [v for _, v in pairs]
        context = replicas.current()
        if context is None:
            return step(replicas.several(), grads, variables)
        return context.merge_call(lambda strategy, *grads: step(strategy, grads, variables), grads)

    def _begin(self, variables):
        """Makes the variables of a step, if they are not there yet."""
        with name_scope(self._name), self._applying():
            self._make_own(variables)

    def _make_own(self, variables):
        counter = self._counter
        for key in self._hyper:
            self._hyper_variable(key)
        if self._built_with is None and not values.runs_in_session():
            self._built_with = variables
        had = len(self._slots)
        self._create_accumulators(variables)
        self._create_slots(variables)
        self._set_waiting()
        if len(self._slots) > had:
            self._slots_were_made()
        return counter

    def _step(self, pairs, name):
        with name_scope(name or self._name), self._applying():
            counter = self._make_own([v for _, v in pairs])
            gathers = self.gradient_accumulation_steps
            updates = self._gather(pairs) if gathers else self._updates(pairs)
            with control_dependencies(values.operations(updates)):
                done = state_ops.assign_add(counter, 1)
        return values.operations([done])[0] if values.runs_in_session() else counter

    def _updates(self, pairs):
        """What changes the variables by their gradients."""
        step = self._prepare(dtypes.float32)
        updates = []
        for grad, var in pairs:
            with name_scope("update"):
                updates.append(self._update(step, grad, var))
        if self.use_ema:
            updates += [self._average(var) for _, var in pairs]
        return updates

    # -- Gradients of several batches

    def _create_accumulators(self, variables):
        if self.gradient_accumulation_steps:
            for var in variables:
                self.add_slot(var, _ACCUMULATOR)

    def _gather(self, pairs):
        """Adds the gradients up; the last of several calls changes the variables by their mean."""
        sums = [self.get_slot(var, _ACCUMULATOR) for _, var in pairs]
        count = self.gradient_accumulation_steps
        is_due = math_ops.equal(math_ops.floormod(self._counter + 1, count), 0)
        grads = [convert_to_tensor(grad) for grad, _ in pairs]

        def update():
            means = [(grad + kept) / count for grad, kept in zip(grads, sums)]
            clipped = self._clipped(means)
            updates = self._updates(list(zip(clipped, [var for _, var in pairs])))
            with control_dependencies(values.operations(updates)):
                emptied = [state_ops.assign(kept, array_ops.zeros_like(kept)) for kept in sums]
            with control_dependencies(values.operations(emptied)):
                return constant(True)

        def keep():
            added = [state_ops.assign_add(kept, grad) for grad, kept in zip(grads, sums)]
            with control_dependencies(values.operations(added)):
                return constant(False)

        return [control_flow_ops.cond(is_due, update, keep)]

    def _average(self, var):
        """Moves the running mean of a variable towards it; every so often it is taken for it."""
        mean = self.add_slot(var, "average")
        steps = self.iterations
        started = math_ops.cast(math_ops.not_equal(steps, 0), var.dtype.base_dtype)
        momentum = started * self.ema_momentum
        found = state_ops.assign(mean, momentum * mean + (1 - momentum) * var)
        every = self.ema_overwrite_frequency
        if not every:
            return found
        is_due = math_ops.equal(math_ops.floormod(steps + 1, every), 0)
        is_due = math_ops.cast(is_due, var.dtype.base_dtype)
        return state_ops.assign(var, is_due * found + (1 - is_due) * var)

    def finalize_variable_values(self, var_list):
        """Sets variables to their running means, if these are kept: at the end of training."""
        if self.use_ema:
            for var in var_list:
                average = self._slots.get(slot_key(var, "average"))
                if average is not None:
                    state_ops.assign(var, average)

    @contextlib.contextmanager
    def _applying(self):
        self._is_applying = True
        try:
            yield
        finally:
            self._is_applying = False

    def _update(self, step, grad, var):
        before = []
        if self.weight_decay and not self._is_excluded(var):
            lost = math_ops.cast(step["lr"], var.dtype) * self.weight_decay
            before = values.operations([state_ops.assign_sub(var, var * lost)])
        with control_dependencies(before):
            if not values.runs_in_session() and self._is_composed(grad):
                update = self._update_composed(step, Parts(grad), var)
            elif isinstance(grad, IndexedSlices):
                update = self._update_sparse(step, grad, var)
            else:
                update = self._update_dense(step, grad, var)
        if var.constraint is not None:
            with control_dependencies(values.operations([update])):
                update = state_ops.assign(var, var.constraint(var))
        return update

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Weight decay leaves these variables, and those whose names have these parts, alone."""
        self._excluded = (tuple(_identity(v) for v in var_list or ()), tuple(var_names or ()))

    def _is_excluded(self, var):
        if not self._excluded:
            return False
        ids, names = self._excluded
        return _identity(var) in ids or any(name in var.name for name in names)

    def _prepare(self, dtype):
        """What all updates of a step need: tensors by name."""
        return {"lr": self._rate(dtype)}

    def _update_dense(self, step, grad, var):
        """The operation that updates a variable by its gradient."""
        raise NotImplementedError("Must be implemented in subclasses.")

    _ALWAYS_COMPOSED = False  # whether Keras 3's arithmetic is no op's

    def _is_composed(self, grad):
        """Whether a variable is updated by _update_composed(), as Keras 3 does it."""
        if type(self)._update_composed is Optimizer._update_composed:
            return False
        return self._ALWAYS_COMPOSED or isinstance(grad, IndexedSlices)

    def _update_composed(self, step, parts, var):
        """The operation that updates a variable by Parts of its gradient."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def _update_sparse(self, step, grad, var):
        """The operation that updates a variable by IndexedSlices: by default as if dense."""
        return self._update_dense(step, convert_to_tensor(grad), var)

    # -- Configurations

    def get_config(self):
        """What makes an optimizer like this."""
        config = {"name": self._name}
        for key in ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay", *_OPTIONAL):
            if getattr(self, key) is not None:
                config[key] = getattr(self, key)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer like the one whose get_config() this was."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        return cls(**config)


class _Variables(list):
    """A list that is itself when it is called, as version 1 has it."""

    def __call__(self):
        return self


def _shared_name(var):
    return getattr(var, "_shared_name", None) or var.name.split(":")[0]


def apply_all(updates):
    """One operation for several."""
    return control_flow_ops.group(*updates)
