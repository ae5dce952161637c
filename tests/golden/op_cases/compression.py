"""Strings that zlib compressed."""
import gzip
import zlib

from .common import *  # noqa: F403
from .strings import none


def cases():
    t = Table()
    texts = [b"hello hello hello", b"", b"\x00\xff" * 30]
    deflated = [zlib.compress(x) for x in texts]
    zipped = [gzip.compress(x, mtime=0) for x in texts]

    def add(tag, values, kind=""):
        t.add("DecodeCompressed", tag, values, compression_type=kind)

    add("plain", s(texts))
    add("zlib", s(deflated), "ZLIB")
    add("gzip", s(zipped), "GZIP")
    add("zlib_scalar", s(deflated[0]), "ZLIB")
    add("gzip_matrix", s([zipped[:2], zipped[1:]]), "GZIP")
    add("no_strings", none((0, 2)), "ZLIB")
    add("empty_string", s([b""]), "ZLIB")
    add("bad_kind", s(deflated), "SNAPPY")
    add("bad_bytes", s([b"no zlib stream"]), "ZLIB")
    add("bad_checksum", s([deflated[0][:-1] + b"x"]), "ZLIB")
    return t.cases
