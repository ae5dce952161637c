"""tensorflow.python.trackable.data_structures: lists and dicts that objects hold."""

from rheos.framework.trackable import ListWrapper, _DictWrapper  # noqa: F401
