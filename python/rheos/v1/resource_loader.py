"""Files that lie beside a program's modules."""

import os as _os
import sys as _sys

from rheos.framework.absent import attribute_of as _attribute_of


def _folder_of_caller():
    frame = _sys._getframe(2)
    return _os.path.dirname(_os.path.abspath(frame.f_code.co_filename))


def get_data_files_path():
    """The folder of the file that calls it."""
    return _folder_of_caller()


def get_path_to_datafile(path):
    """The path of a file beside the one that calls it."""
    return _os.path.join(_folder_of_caller(), path)


def load_resource(path):
    """The bytes of a file beside the one that calls it."""
    with open(_os.path.join(_folder_of_caller(), path), "rb") as file:
        return file.read()


def readahead_file_path(path, readahead="128M"):
    """The path as it is."""
    return path


__getattr__ = _attribute_of("tensorflow.resource_loader")
