"""Files by other names: tensorflow.python.lib.io.file_io."""

import os

from rheos.framework.gfile import unfinished_name as _unfinished_name
from rheos.v1.gfile import (
    Copy as copy,
    DeleteRecursively as delete_recursively,
    Exists as file_exists,
    GFile,
    Glob as get_matching_files,
    IsDirectory as is_directory,
    ListDirectory as list_directory,
    MakeDirs as recursive_create_dir,
    MkDir as create_dir,
    Remove as delete_file,
    Rename as rename,
    Stat as stat,
    Walk as walk,
)

FileIO = GFile


def read_file_to_string(filename, binary_mode=False):
    """All that is in a file; bytes in binary mode."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename, file_content):
    """Writes a file anew."""
    with GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """The same, so that other processes see the old or the new file, never a part."""
    folder, name = os.path.split(filename)
    unfinished = os.path.join(folder, _unfinished_name(name, f".tmp{os.urandom(16).hex()}"))
    write_string_to_file(unfinished, contents)
    try:
        rename(unfinished, filename, overwrite)
    except Exception:
        delete_file(unfinished)
        raise
