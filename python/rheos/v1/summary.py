"""Event files for TensorBoard."""

from rheos.v1._summary import FileWriter, FileWriterCache
