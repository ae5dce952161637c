"""optimize_loss() and the summaries of tf.contrib.layers."""

import re

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies
from rheos.framework.indexed_slices import IndexedSlices
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import summary_ops
from rheos.ops.math import check_ops, clip_ops, math_ops
from rheos.ops.random import random_ops
from rheos.ops.state import init_ops, variable_scope as vs
from rheos.ops.state.graph_keys import GraphKeys
from rheos.training import more_optimizers, optimizers
from rheos.training.global_step import assert_global_step, get_global_step

OPTIMIZER_CLS_NAMES = {
    "Adagrad": optimizers.AdagradOptimizer,
    "Adam": optimizers.AdamOptimizer,
    "Ftrl": more_optimizers.FtrlOptimizer,
    "Momentum": lambda learning_rate: optimizers.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": more_optimizers.RMSPropOptimizer,
    "SGD": optimizers.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]


def optimize_loss(
    loss,
    global_step,
    learning_rate,
    optimizer,
    gradient_noise_scale=None,
    gradient_multipliers=None,
    clip_gradients=None,
    learning_rate_decay_fn=None,
    update_ops=None,
    variables=None,
    name=None,
    summaries=None,
    colocate_gradients_with_ops=False,
    increment_global_step=True,
):
    """The loss, as a tensor that also takes a training step when it is computed.

    loss: a scalar. optimizer: a name in OPTIMIZER_CLS_NAMES, a class, an instance or a function of
    the learning rate. gradient_noise_scale: how much normal noise to add to gradients.
    gradient_multipliers: a dict of variables or their names to factors. clip_gradients: a norm for
    all together, or a function of the pairs. learning_rate_decay_fn: of learning rate and step.
    update_ops: what runs before, by default the collection UPDATE_OPS. summaries: names in
    OPTIMIZER_SUMMARIES. ValueError for arguments that make no sense.
    """
    loss = convert_to_tensor(loss)
    check_ops.assert_scalar(loss)
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    with vs.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        loss = _after_updates(loss, update_ops)
        rate = _learning_rate(learning_rate, learning_rate_decay_fn, global_step)
        if summaries is None:
            summaries = ["loss", "learning_rate", "global_gradient_norm"]
        else:
            for wanted in summaries:
                if wanted not in OPTIMIZER_SUMMARIES:
                    raise ValueError(
                        f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you "
                        f"provided {wanted}."
                    )
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if "learning_rate" in summaries:
                summary_ops.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate)
        if variables is None:
            variables = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
        pairs = opt.compute_gradients(
            loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        if gradient_noise_scale is not None:
            pairs = _with_noise(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
            if not pairs:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most likely to be "
                    "caused by an improper value of gradient_multipliers."
                )
        if "global_gradient_norm" in summaries or "gradient_norm" in summaries:
            summary_ops.scalar(
                "global_norm/gradient_norm", clip_ops.global_norm([p[0] for p in pairs])
            )
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in summaries:
            summary_ops.scalar("loss", loss)
        _summarize(pairs, summaries, clip_gradients is not None)
        step = opt.apply_gradients(
            pairs, global_step=global_step if increment_global_step else None, name="train"
        )
        return control_flow_ops.with_dependencies([step], loss)


def _after_updates(loss, update_ops):
    if update_ops is None:
        update_ops = set(get_default_graph().get_collection(GraphKeys.UPDATE_OPS))
    if not update_ops:
        return loss
    with control_dependencies(list(update_ops)):
        barrier = control_flow_ops.no_op(name="update_barrier")
    return control_flow_ops.with_dependencies([barrier], loss)


def _learning_rate(learning_rate, decay, global_step):
    if learning_rate is None:
        return None
    if hasattr(learning_rate, "dtype"):
        if learning_rate.shape.ndims != 0:
            raise ValueError(
                f"Invalid learning_rate: expected a scalar, got shape {learning_rate.shape}"
            )
        rate = convert_to_tensor(learning_rate)
    elif isinstance(learning_rate, float):
        if learning_rate < 0.0:
            raise ValueError(f"Invalid learning_rate {learning_rate}.")
        rate = vs.get_variable(
            "learning_rate",
            [],
            trainable=False,
            initializer=init_ops.constant_initializer(learning_rate),
        )
    else:
        raise ValueError(
            "Learning rate should be 0d Tensor or float. Got %s of type %s"
            % (str(learning_rate), str(type(learning_rate)))
        )
    if decay is not None:
        if global_step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn.")
        rate = decay(rate, global_step)
    return rate


def _optimizer(optimizer, rate):
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if using string "
                             f"optimizer ({optimizer}).")  # fmt: skip
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you "
                f"provided {optimizer}."
            )
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, optimizers.Optimizer):
        if rate is None:
            raise ValueError("Learning rate is None, but should be specified if using class "
                             f"optimizer ({optimizer}).")  # fmt: skip
        return optimizer(learning_rate=rate)
    if isinstance(optimizer, optimizers.Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if rate is None else optimizer(rate)
        if not isinstance(made, optimizers.Optimizer):
            raise ValueError(
                f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
            )
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
        f"Optimizer or function with one argument. Got {optimizer}."
    )


def _values(gradient):
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _with_noise(pairs, scale):
    noisy = []
    for gradient, variable in pairs:
        if gradient is not None:
            dense = gradient.dense_shape if isinstance(gradient, IndexedSlices) else gradient.shape
            gradient = gradient + random_ops.truncated_normal(dense) * scale
        noisy.append((gradient, variable))
    return noisy


def _multiplied(pairs, multipliers):
    result = []
    for gradient, variable in pairs:
        if gradient is not None and (variable in multipliers or variable.name in multipliers):
            key = variable if variable in multipliers else variable.name
            factor = math_ops.cast(multipliers[key], gradient.dtype)
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(
                    gradient.values * factor, gradient.indices, gradient.dense_shape
                )
            else:
                gradient = gradient * factor
        result.append((gradient, variable))
    return result


def _clipped(pairs, clip_gradients):
    if clip_gradients is None:
        return pairs
    if callable(clip_gradients):
        return clip_gradients(pairs)
    if not isinstance(clip_gradients, float):
        raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
    clipped, _ = clip_ops.clip_by_global_norm([p[0] for p in pairs], clip_gradients)
    return list(zip(clipped, [p[1] for p in pairs]))


def _summarize(pairs, summaries, is_clipped):
    for gradient, variable in pairs:
        if gradient is None:
            continue
        values = _values(gradient)
        name = variable.name.replace(":", "_")
        if "gradients" in summaries:
            summary_ops.histogram(f"gradients/{name}", values)
        if "gradient_norm" in summaries:
            summary_ops.scalar(f"gradient_norm/{name}", clip_ops.global_norm([values]))
    if is_clipped and ("global_gradient_norm" in summaries or "gradient_norm" in summaries):
        summary_ops.scalar(
            "global_norm/clipped_gradient_norm", clip_ops.global_norm([p[0] for p in pairs])
        )


# ---- Summaries


def summarize_tensor(tensor, tag=None):
    """A summary of a tensor, scalar or histogram by its rank; None for text. Returns it."""
    if tensor.dtype.base_dtype == dtypes.string:
        return None
    tag = tag or tensor.op.name
    if tensor.shape.ndims == 0:
        return summary_ops.scalar(tag, tensor)
    return summary_ops.histogram(tag, tensor)


def summarize_activation(op):
    """A histogram of an activation; of relus also the fraction of zeros."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        zeros = math_ops.reduce_mean(math_ops.to_float(math_ops.less(
            op, math_ops.cast(0.0, op.dtype))))  # fmt: skip
        summary_ops.scalar(f"{op.op.name}/zeros", zeros)
    if op.op.type == "Relu6":
        sixes = math_ops.reduce_mean(math_ops.to_float(math_ops.greater(
            op, math_ops.cast(6.0, op.dtype))))  # fmt: skip
        summary_ops.scalar(f"{op.op.name}/sixes", sixes)
    return summary_ops.histogram(f"{op.op.name}/activation", op)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    """A list of what `summarizer` makes of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """Summaries of the items of a collection whose names fit a regular expression."""
    tensors = [
        item
        for item in get_default_graph().get_collection(collection)
        if name_filter is None or re.match(name_filter, item.op.name)
    ]
    return summarize_tensors(tensors, summarizer)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """Summaries of the collection ACTIVATIONS; see summarize_collection."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
