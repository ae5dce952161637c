"""Summaries and event files for TensorBoard."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1._names import fill as _fill

_fill(__name__)


_MESSAGES = (
    "Event",
    "SessionLog",
    "Summary",
    "SummaryDescription",
    "TaggedRunMetadata",
)
_WITH_STEPS = {"all_v2_summary_ops": "all_summary_ops", "initialize": "initialize"}
_absent = _attribute_of("tensorflow.summary", _MESSAGES)


def __getattr__(name):
    if name in _WITH_STEPS:  # slow to import
        from rheos.contrib import step_summaries

        return getattr(step_summaries, _WITH_STEPS[name])
    return _absent(name)


def __dir__():
    names = (n for n in globals() if not n.startswith("_"))
    return sorted({*names, *_MESSAGES, *_WITH_STEPS})
