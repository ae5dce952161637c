"""How long operations take: what programs measure with `tf.test.Benchmark`."""

import inspect as _inspect
import os as _os
import re as _re
import statistics as _statistics
import sys as _sys
import time as _time

from rheos.framework import messages as _messages, nest as _nest
from rheos.framework.eager import executing_eagerly as _executing_eagerly


class Benchmark:
    """A class whose methods that begin with `benchmark` measure; `tf.test.main()` calls them.

    That is when the program was given `--benchmarks=PATTERN`: those whose `Class.method` the
    pattern is found in, or all, if it is `all`.
    """

    @classmethod
    def is_abstract(cls):
        """Whether the class has nothing to measure."""
        return not _methods_of(cls)

    def _get_name(self, overwrite_name=None):
        """`Class.method`, of the calling method that measures; or with the name that is given."""
        for frame in _inspect.stack():
            if frame.frame.f_locals.get("self") is self and frame.function.startswith("benchmark"):
                return f"{type(self).__name__}.{overwrite_name or frame.function}"
        raise ValueError("Unable to determine calling Benchmark class.")

    def report_benchmark(
        self,
        iters=None,
        cpu_time=None,
        wall_time=None,
        throughput=None,
        extras=None,
        name=None,
        metrics=None,
    ):
        """Prints a BenchmarkEntries message of one entry: times in seconds.

        With `TEST_REPORT_FILE_PREFIX` in the environment it goes to the file of this name and the
        entry's, which must not be there. `extras` are numbers and texts by name, `metrics`
        dictionaries with `name`, `value`, and `min_value` and `max_value` where they matter.
        """
        entries = _messages.BenchmarkEntries()
        entry = entries.entry.add(
            name=self._get_name(name),
            iters=iters,
            cpu_time=cpu_time,
            wall_time=wall_time,
            throughput=throughput,
        )
        for key, value in (extras or {}).items():
            if isinstance(value, (int, float)):
                entry.extras[key].double_value = value
            else:
                entry.extras[key].string_value = str(value)
        for metric in metrics or ():
            added = entry.metrics.add(name=metric["name"], value=metric["value"])
            for bound in "min_value", "max_value":
                if metric.get(bound) is not None:
                    getattr(added, bound).value = metric[bound]
        _write(entries)

    def run_op_benchmark(
        self,
        sess,
        op_or_tensor,
        feed_dict=None,
        burn_iters=2,
        min_iters=10,
        store_trace=False,
        store_memory_usage=True,
        name=None,
        extras=None,
        mbs=0,
    ):
        """Runs what is given `burn_iters` times, then `min_iters` times, and reports the median.

        `mbs` are the megabytes that a run goes through. A step's memory and trace are what
        `rheos show --memory` and `rheos bench` tell, so both `store_` arguments have no effect.
        Returns a dictionary of what was reported, and of the mean and the standard deviation.
        """
        fetches = op_or_tensor.op if hasattr(op_or_tensor, "op") else op_or_tensor
        seconds = []
        for count in range(burn_iters + min_iters):
            start = _time.time()
            sess.run(fetches, feed_dict=feed_dict)
            if count >= burn_iters:
                seconds.append(_time.time() - start)
        median = _statistics.median(seconds) if seconds else 0.0
        values = {
            "iters": min_iters,
            "wall_time": median,
            "extras": dict(extras or {}),
            "name": name,
            "throughput": mbs / median if median else 0.0,
        }
        self.report_benchmark(**values)
        values["extras"]["wall_time_mean"] = _statistics.fmean(seconds) if seconds else 0.0
        values["extras"]["wall_time_stdev"] = _statistics.pstdev(seconds) if seconds else 0.0
        return values

    def evaluate(self, tensors):
        """The values of tensors, or of a structure of them, where operations run at once."""
        if not _executing_eagerly():
            raise ValueError("evaluate() wants eager execution; use a session in graphs")
        return _nest.map_structure(lambda tensor: tensor.numpy(), tensors)


def run_benchmarks(pattern):
    """Calls what measures, of all classes, if `pattern` is found in its `Class.method`."""
    for cls in _all_below(Benchmark):
        for method in _methods_of(cls):
            if pattern == "all" or _re.search(pattern, f"{cls.__name__}.{method}"):
                getattr(cls(), method)()


def _methods_of(cls):
    names = (name for name in dir(cls) if name.startswith("benchmark"))
    return [name for name in names if callable(getattr(cls, name))]


def _all_below(cls):
    for below in cls.__subclasses__():
        yield below
        yield from _all_below(below)


def _write(entries):
    prefix = _os.environ.get("TEST_REPORT_FILE_PREFIX")
    if not prefix:
        _sys.stdout.write(f"{entries}\n")
        return
    path = prefix + entries.entry[0].name.replace("/", "__")
    with open(path, "xb") as file:
        file.write(entries.SerializeToString())
