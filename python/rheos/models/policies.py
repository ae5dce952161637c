"""Which dtypes layers compute in, and what programs ask and say of the package as a whole."""

from rheos.layers import values
from rheos.layers.values import Policy
from rheos.models.defaults import floatx

DTypePolicy = FloatDTypePolicy = Policy


def set_global_policy(policy):
    """From now on layers have that policy, or that of a name such as mixed_float16, by default."""
    values.root_graph().__dict__["_dtype_policy"] = get(policy)


set_dtype_policy = set_global_policy


def global_policy():
    """The policy that layers have by default."""
    return values.root_graph().__dict__.get("_dtype_policy") or Policy(floatx())


dtype_policy = global_policy


def get(identifier):
    """The policy of a name, a configuration or itself; None: the global one."""
    if identifier is None:
        return global_policy()
    if isinstance(identifier, Policy):
        return identifier
    if isinstance(identifier, dict):
        return Policy(**identifier["config"])
    return Policy(getattr(identifier, "name", identifier))


deserialize = get


def serialize(policy):
    """What stands for a policy."""
    return {"module": "keras", "class_name": "DTypePolicy", "config": policy.get_config(),
            "registered_name": None}  # fmt: skip


def is_interactive_logging_enabled():
    """Whether progress is shown as it goes on."""
    return not values.root_graph().__dict__.get("_logs_quietly", False)


def enable_interactive_logging():
    """Shows progress as it goes on."""
    values.root_graph().__dict__["_logs_quietly"] = False


def disable_interactive_logging():
    """Shows no bars of progress, for logs."""
    values.root_graph().__dict__["_logs_quietly"] = True


def is_keras_tensor(x):
    """Whether layers made a tensor of inputs by Input()."""
    return hasattr(x, "_keras_history")


def standardize_dtype(dtype):
    """The name of a dtype; None: that of floating point numbers by default."""
    return floatx() if dtype is None else getattr(dtype, "name", str(dtype))


def version():
    """The version of Keras whose behaviour this is."""
    return "3.15.1"


def plot_model(model, to_file="model.png", **kwargs):
    """Not there: pictures of models need Graphviz; summary() prints a table."""
    raise NotImplementedError(
        "plot_model() draws pictures with Graphviz and pydot, which is not supported: "
        "model.summary() prints the layers and how they are connected"
    )


def model_to_dot(model, **kwargs):
    """Not there: see plot_model()."""
    plot_model(model)
