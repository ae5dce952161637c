"""Files and folders, under the names programs use for them."""

import os

from rheos.framework import errors
from rheos.framework.compat import as_bytes


def local_path(path):
    """A path that programs may write as a URL, "file:///tmp/x", as the system has it: "/tmp/x"."""
    path = os.fspath(path)
    scheme = b"file://" if isinstance(path, bytes) else "file://"
    return path[len(scheme) :] if path.startswith(scheme) else path


def _found(path, error):
    return errors.NotFoundError(None, None, f"{path}; {error.strerror}")


_MODES = ("r", "w", "a", "r+", "w+", "a+")
_STATUS_ERRORS = {
    FileNotFoundError: errors.NotFoundError,
    PermissionError: errors.PermissionDeniedError,
    IsADirectoryError: errors.FailedPreconditionError,
    NotADirectoryError: errors.FailedPreconditionError,
}


def _open(path, mode):
    try:
        return open(local_path(path), mode)
    except OSError as error:
        kind = _STATUS_ERRORS.get(type(error), errors.UnknownError)
        raise kind(None, None, f"{path}; {error.strerror}") from None


_NAME_MAX = 255  # bytes in the name of a file


def unfinished_name(name, suffix):
    """What a file is called until it is renamed to `name`: with the suffix, cut where too long."""
    return os.fsdecode(os.fsencode(name)[: _NAME_MAX - len(suffix)]) + suffix


def join(path, *paths):
    """A path of its parts; what is before an absolute one is left out."""
    return os.path.join(os.fspath(path), *map(os.fspath, paths))


class GFile:
    """A file, opened when it is first used. Text unless the mode has a "b".

    Reading and writing have places of their own. The first write empties the file, with "r+" too,
    unless the mode is "a" or "a+". InvalidArgumentError for other modes, PermissionDeniedError for
    what a mode does not allow.
    """

    def __init__(self, name, mode="r"):
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        kind = mode.replace("b", "")
        if kind not in _MODES:
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._may_read = kind == "r" or "+" in kind
        self._may_write = kind != "r"
        self._reader = self._writer = None

    @property
    def name(self):
        """The path, as it was given."""
        return self._name

    @property
    def mode(self):
        """The mode in which it was opened, as in "rb"."""
        return self._mode

    def _for_reading(self):
        if self._reader is None:
            if not self._may_read:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            self._reader = _open(self._name, "rb")
        return self._reader

    def _for_writing(self):
        if self._writer is None:
            if not self._may_write:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            self._writer = _open(self._name, "ab" if "a" in self._mode else "wb")
        return self._writer

    def _as_read(self, content):
        return content if self._binary else content.decode("utf-8")

    def read(self, n=-1):
        """`n` bytes, or all that follow, as the mode says: bytes or text."""
        return self._as_read(self._for_reading().read(n))

    def readline(self):
        """The next line with its end; a carriage return before that is left out."""
        return self._as_read(self._for_reading().readline().replace(b"\r", b""))

    def readlines(self):
        """All lines that are left, each with its end."""
        return list(self)

    def write(self, file_content):
        """Writes text or bytes."""
        self._for_writing().write(as_bytes(file_content))

    def seek(self, offset=None, whence=0, position=None):
        """Goes to a place for reading: from the start (whence 0), from here (1), the end (2)."""
        reader = self._for_reading()
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            message = f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            raise errors.InvalidArgumentError(None, None, message)
        try:
            reader.seek(offset, whence)
        except OSError:
            raise errors.InvalidArgumentError(
                None, None, f"Seeking to a negative position: {offset}"
            ) from None

    def seekable(self):
        """Whether seek() works: True."""
        return True

    def tell(self):
        """The place for reading, or for writing where the mode has no reading."""
        return (self._for_reading() if self._may_read else self._for_writing()).tell()

    def size(self):
        """The number of bytes in the file."""
        return Stat(self._name).length

    def flush(self):
        """Hands what was written to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self):
        """Closes the file; the next read or write opens it again."""
        for file in (self._reader, self._writer):
            if file is not None:
                file.close()
        self._reader = self._writer = None

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        """The next line with its end; StopIteration behind the last."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


Open = GFile
FastGFile = GFile


def Exists(filename):
    """Whether there is a file or folder of that name."""
    return os.path.exists(local_path(filename))


def IsDirectory(dirname):
    """Whether there is a folder of that name."""
    return os.path.isdir(local_path(dirname))


def MakeDirs(dirname):
    """Makes a folder and those above it; fine if it exists."""
    os.makedirs(local_path(dirname), exist_ok=True)


def MkDir(dirname):
    """Makes a folder."""
    try:
        os.mkdir(local_path(dirname))
    except FileNotFoundError as error:
        raise _found(dirname, error) from None
    except FileExistsError:
        raise errors.AlreadyExistsError(None, None, dirname) from None


def ListDirectory(dirname):
    """The names in a folder."""
    try:
        return os.listdir(local_path(dirname))
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, "Could not find directory") from None


def Glob(filename):
    """The paths that match a pattern, or any of several."""
    import glob

    one = isinstance(filename, (str, bytes, os.PathLike))
    patterns = [filename] if one else filename
    found = []
    for pattern in map(os.fspath, patterns):
        local = local_path(pattern)
        scheme = pattern[: len(pattern) - len(local)]
        found += [scheme + path for path in glob.glob(local)]
    return sorted(found)


def Remove(filename):
    """Deletes a file."""
    try:
        os.remove(local_path(filename))
    except FileNotFoundError as error:
        raise _found(filename, error) from None


def DeleteRecursively(dirname):
    """Deletes a folder and all in it."""
    import shutil

    try:
        shutil.rmtree(local_path(dirname))
    except FileNotFoundError as error:
        raise _found(dirname, error) from None


def Copy(oldpath, newpath, overwrite=False):
    """Copies a file."""
    import shutil

    if not overwrite and Exists(newpath):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {newpath}")
    try:
        shutil.copyfile(local_path(oldpath), local_path(newpath))
    except FileNotFoundError as error:
        raise _found(oldpath, error) from None


def Rename(oldname, newname, overwrite=False):
    """Moves a file or folder."""
    if not overwrite and Exists(newname):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {newname}")
    try:
        os.replace(local_path(oldname), local_path(newname))
    except FileNotFoundError as error:
        raise _found(oldname, error) from None


def Stat(filename):
    """An object with `length` and `mtime_nsec`."""
    try:
        found = os.stat(local_path(filename))
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
    local = local_path(top)
    scheme = os.fspath(top)[: len(os.fspath(top)) - len(local)]
    for folder, folders, files in os.walk(local, topdown=in_order):
        yield scheme + folder, folders, files
