"""Files and folders, under the names programs use for them."""

from rheos.v1._names import fill as _fill

_fill(__name__)
