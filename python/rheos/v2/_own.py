"""The names that TensorFlow 2 has for itself: where each is defined, by namespace and module."""

from rheos.framework.version import __version__

_REDUCTIONS = (
    "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod "
    "reduce_sum"
)

OWN = {
    "": {
        "framework.eager": "executing_eagerly",
        "framework.operation": "Operation Tensor",
        "ops.functional_ops": "map_fn",
        "ops.gradient_tape": "GradientTape",
        "ops.gradients": "UnconnectedGradients",
        "ops.module": "Module",
        "tracing.function": "function",
        "v2._arrays": """
            boolean_mask convert_to_tensor expand_dims fill gather gather_nd linspace ones ones_like
            pad shape size transpose zeros zeros_like
        """,
        "v2._reductions": f"argmax argmin {_REDUCTIONS}",
        "v2._linalg": "matmul",
    },
    "autograph": {"autograph.api": "set_verbosity to_code to_graph trace"},
    "autograph.experimental": {"autograph.api": "Feature do_not_convert set_loop_options"},
    "config": {"tracing.function": "functions_run_eagerly run_functions_eagerly"},
    "autodiff": {"ops.gradient_tape": "GradientTape"},
    "math": {
        "ops.special_math_ops": "reduce_euclidean_norm",
        "v2._reductions": f"argmax argmin count_nonzero {_REDUCTIONS}",
    },
    "linalg": {"v2._linalg": "matmul"},
}

# Modules that are there as they are.
MODULES = {
    "compat.v1": "v1",
    "raw_ops": "v1.raw_ops",
}

VALUES = {"version.VERSION": "2.21.0", "__version__": "2.21.0", "version.GIT_VERSION": __version__}
