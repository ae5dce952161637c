"""What a program asks of a pipeline beside its elements: threads, order, optimizations, statistics.

Elements never depend on most of it: Rheos takes these options, keeps and merges them, and decides
by itself. What it acts on is `deterministic`.
"""

import enum

from rheos.framework.op_call import op1


class _Option:
    """A field of options, None until it is set."""

    def __init__(self, types, name, doc, default=None, factory=None):
        self._types, self._name, self.__doc__ = types, name, doc
        self._default, self._factory = default, factory

    def __get__(self, options, owner=None):
        if options is None:
            return self
        if self._name not in options._set and self._factory is not None:
            options._set[self._name] = self._factory()
        return options._set.get(self._name, self._default)

    def __set__(self, options, value):
        if value is not None and not isinstance(value, self._types):
            raise TypeError(
                f"Property {self._name!r} must be of type {self._types!r}, got {value!r} (type: "
                f"{type(value)!r})"
            )
        options._set[self._name] = value


class OptionsBase:
    """A set of fields with values of fixed types; others cannot be set."""

    def __init__(self):
        object.__setattr__(self, "_set", {})

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}: it has no such option."
            )
        object.__setattr__(self, name, value)

    def _values(self):
        return {name: value for name, value in self._set.items() if value is not None}

    def __eq__(self, other):
        return type(self) is type(other) and self._values() == other._values()

    __hash__ = None

    def merge(self, options):
        """Options with the values of both; those of `options` where both have one."""
        return merge_options(self, options)


def merge_options(*all_options):
    """Options with the values of all, the later ones first."""
    merged = type(all_options[0])()
    for options in all_options:
        if type(options) is not type(merged):
            raise TypeError(
                f"Could not merge incompatible options of type: {type(options)} and {type(merged)}."
            )
        for name, value in options._values().items():
            known = merged._set.get(name)
            both = isinstance(value, OptionsBase) and known is not None
            merged._set[name] = merge_options(known, value) if both else value
    return merged


class AutoShardPolicy(enum.IntEnum):
    """How a pipeline is parted among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What saving an iterator does about state that is not the iterator's."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How parallelism is chosen."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


def _flags(*names):
    """A decorator: options with these fields, which are true or false, too."""

    def add(options):
        for name in names:
            setattr(options, name, _Option(bool, name, f"Whether {name} is on."))
        return options

    return add


@_flags("enabled", "use_choose_fastest")
class MapVectorizationOptions(OptionsBase):
    """Whether functions of elements become functions of batches."""


@_flags(
    *"apply_default_optimizations autotune autotune_buffers filter_fusion "
    "filter_with_random_uniform_fusion filter_parallelization hoist_random_uniform "
    "inject_prefetch map_and_batch_fusion map_and_filter_fusion map_fusion "
    "map_parallelization noop_elimination parallel_batch seq_interleave_prefetch "
    "shuffle_and_repeat_fusion".split()
)
class OptimizationOptions(OptionsBase):
    """Which stages may be put together or moved."""

    autotune_algorithm = _Option((int, AutotuneAlgorithm), "autotune_algorithm", "An algorithm.")
    autotune_cpu_budget = _Option(int, "autotune_cpu_budget", "Processors to share.")
    autotune_ram_budget = _Option(int, "autotune_ram_budget", "Bytes of memory to share.")
    map_vectorization = _Option(
        MapVectorizationOptions, "map_vectorization", "Options.", factory=MapVectorizationOptions
    )


@_flags("enabled")
class AutotuneOptions(OptionsBase):
    """How much parallelism is chosen by itself."""

    cpu_budget = _Option(int, "cpu_budget", "Processors to share.")
    ram_budget = _Option(int, "ram_budget", "Bytes of memory to share.")
    autotune_algorithm = _Option(AutotuneAlgorithm, "autotune_algorithm", "An algorithm.")
    initial_parallelism = _Option(int, "initial_parallelism", "Calls at once to start with.")
    min_parallelism = _Option(int, "min_parallelism", "Calls at once at least.")


class ThreadingOptions(OptionsBase):
    """How many threads."""

    max_intra_op_parallelism = _Option(int, "max_intra_op_parallelism", "Threads an operation.")
    private_threadpool_size = _Option(int, "private_threadpool_size", "Threads of its own.")


class DistributeOptions(OptionsBase):
    """How a pipeline is parted among workers."""

    auto_shard = _Option(bool, "auto_shard", "Whether it is parted by itself.")
    auto_shard_policy = _Option(
        AutoShardPolicy, "auto_shard_policy", "How.", default=AutoShardPolicy.AUTO
    )
    num_devices = _Option(int, "num_devices", "The number of devices of a worker.")


class StatsAggregator:
    """Keeps the statistics of pipelines whose options name it: of those stages that latency_stats()
    and bytes_produced_stats() measure, a histogram each."""

    def __init__(self):
        self._resource = op1("StatsAggregatorHandle", None)

    def get_summary(self):
        """A tensor with the statistics so far, a serialized Summary message."""
        return op1("StatsAggregatorSummary", None, self._resource)


class StatsOptions(OptionsBase):
    """Where statistics go."""

    aggregator = _Option(StatsAggregator, "aggregator", "A StatsAggregator.")
    prefix = _Option(str, "prefix", "Put before the names of statistics.", default="")
    counter_prefix = _Option(str, "counter_prefix", "The same for counters.", default="")
    latency_all_edges = _Option(bool, "latency_all_edges", "Whether each stage is measured.")


@_flags("pinned")
class ServiceOptions(OptionsBase):
    """Whether a pipeline is kept at one place by a service."""


class Options(OptionsBase):
    """What a program asks of a pipeline; `Dataset.with_options` takes it."""

    autotune = _Option(AutotuneOptions, "autotune", "Parallelism.", factory=AutotuneOptions)
    deterministic = _Option(bool, "deterministic", "Whether elements come in their order.")
    experimental_deterministic = _Option(bool, "deterministic", "The old name of deterministic.")
    dataset_name = _Option(str, "dataset_name", "A name.")
    framework_type = _Option(list, "framework_type", "Names.")
    experimental_distribute = _Option(
        DistributeOptions, "experimental_distribute", "Workers.", factory=DistributeOptions
    )
    experimental_external_state_policy = _Option(
        ExternalStatePolicy, "experimental_external_state_policy", "For saving iterators."
    )
    experimental_optimization = _Option(
        OptimizationOptions,
        "experimental_optimization",
        "Stages put together.",
        factory=OptimizationOptions,
    )
    experimental_slack = _Option(bool, "experimental_slack", "Whether the last stage lags.")
    experimental_stateful_whitelist = _Option(
        (list, tuple), "experimental_stateful_whitelist", "Types of ops."
    )
    experimental_stats = _Option(
        StatsOptions, "experimental_stats", "Statistics.", factory=StatsOptions
    )
    experimental_symbolic_checkpoint = _Option(
        bool, "experimental_symbolic_checkpoint", "How iterators are saved."
    )
    experimental_warm_start = _Option(bool, "experimental_warm_start", "Whether it starts early.")
    threading = _Option(ThreadingOptions, "threading", "Threads.", factory=ThreadingOptions)
    experimental_threading = _Option(
        ThreadingOptions, "threading", "The old name of threading.", factory=ThreadingOptions
    )
    experimental_service = _Option(
        ServiceOptions, "experimental_service", "A service.", factory=ServiceOptions
    )
