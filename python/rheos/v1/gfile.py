"""Files and folders, under the names programs use for them."""

import os as _os

from rheos.framework import errors as _errors
from rheos.framework.absent import attribute_of as _attribute_of


def _found(path, error):
    return _errors.NotFoundError(None, None, f"{path}; {error.strerror}")


class GFile:
    """A file, opened when it is first used. Text unless the mode has a "b"."""

    def __init__(self, name, mode="r"):
        self._name = _os.fspath(name)
        self._mode = mode
        self._opened = None

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _file(self):
        if self._opened is None:
            try:
                encoding = None if "b" in self._mode else "utf-8"
                self._opened = open(self._name, self._mode, encoding=encoding)
            except FileNotFoundError as error:
                raise _found(self._name, error) from None
            except PermissionError as error:
                raise _errors.PermissionDeniedError(
                    None, None, f"{self._name}; {error.strerror}"
                ) from None
        return self._opened

    def read(self, n=-1):
        return self._file().read(n)

    def readline(self):
        return self._file().readline()

    def readlines(self):
        return self._file().readlines()

    def write(self, content):
        if isinstance(content, bytes) and "b" not in self._mode:
            content = content.decode()
        elif isinstance(content, str) and "b" in self._mode:
            content = content.encode()
        self._file().write(content)

    def seek(self, offset=None, whence=0, position=None):
        self._file().seek(position if offset is None else offset, whence)

    def tell(self):
        return self._file().tell()

    def size(self):
        return _os.path.getsize(self._name)

    def flush(self):
        if self._opened is not None:
            self._opened.flush()

    def close(self):
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __iter__(self):
        return iter(self._file())

    def __next__(self):
        return next(self._file())

    next = __next__


Open = GFile
FastGFile = GFile


def Exists(filename):
    """Whether there is a file or folder of that name."""
    return _os.path.exists(filename)


def IsDirectory(dirname):
    """Whether there is a folder of that name."""
    return _os.path.isdir(dirname)


def MakeDirs(dirname):
    """Makes a folder and those above it; fine if it exists."""
    _os.makedirs(dirname, exist_ok=True)


def MkDir(dirname):
    """Makes a folder."""
    try:
        _os.mkdir(dirname)
    except FileNotFoundError as error:
        raise _found(dirname, error) from None
    except FileExistsError:
        raise _errors.AlreadyExistsError(None, None, dirname) from None


def ListDirectory(dirname):
    """The names in a folder."""
    try:
        return _os.listdir(dirname)
    except FileNotFoundError:
        raise _errors.NotFoundError(None, None, "Could not find directory") from None


def Glob(filename):
    """The paths that match a pattern, or any of several."""
    import glob

    patterns = [filename] if isinstance(filename, (str, bytes)) else filename
    return sorted(path for pattern in patterns for path in glob.glob(pattern))


def Remove(filename):
    """Deletes a file."""
    try:
        _os.remove(filename)
    except FileNotFoundError as error:
        raise _found(filename, error) from None


def DeleteRecursively(dirname):
    """Deletes a folder and all in it."""
    import shutil

    try:
        shutil.rmtree(dirname)
    except FileNotFoundError as error:
        raise _found(dirname, error) from None


def Copy(oldpath, newpath, overwrite=False):
    """Copies a file."""
    import shutil

    if not overwrite and _os.path.exists(newpath):
        raise _errors.AlreadyExistsError(None, None, f"file already exists: {newpath}")
    try:
        shutil.copyfile(oldpath, newpath)
    except FileNotFoundError as error:
        raise _found(oldpath, error) from None


def Rename(oldname, newname, overwrite=False):
    """Moves a file or folder."""
    if not overwrite and _os.path.exists(newname):
        raise _errors.AlreadyExistsError(None, None, f"file already exists: {newname}")
    try:
        _os.replace(oldname, newname)
    except FileNotFoundError as error:
        raise _found(oldname, error) from None


def Stat(filename):
    """An object with `length` and `mtime_nsec`."""
    try:
        found = _os.stat(filename)
    except FileNotFoundError as error:
        raise _found(filename, error) from None
    return _Stat(found)


class _Stat:
    def __init__(self, found):
        self.length = found.st_size
        self.mtime_nsec = found.st_mtime_ns
        self.is_directory = bool(found.st_mode & 0o040000)


def Walk(top, in_order=True):
    """(folder, folders in it, files in it) for a folder and all below it."""
    return _os.walk(top, topdown=in_order)

__getattr__ = _attribute_of("tensorflow.gfile")
