"""Files and folders, under the names programs use for them."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.gfile import (
    Copy,
    DeleteRecursively,
    Exists,
    FastGFile,
    GFile,
    Glob,
    IsDirectory,
    ListDirectory,
    MakeDirs,
    MkDir,
    Open,
    Remove,
    Rename,
    Stat,
    Walk,
)

__getattr__ = _attribute_of("tensorflow.gfile")
