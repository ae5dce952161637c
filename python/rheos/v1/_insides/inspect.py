"""tensorflow.python.util.tf_inspect."""

from inspect import (
    getfile,
    getfullargspec,
    getfullargspec as getargspec,
    getmembers,
    getmodule,
    getmro,
    getsource,
    isclass,
    isfunction,
    isgenerator,
    ismethod,
    ismodule,
    isroutine,
    signature,
    stack,
)
