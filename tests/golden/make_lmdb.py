#!/usr/bin/env python3
"""make_lmdb.py: writes lmdb/, databases that Python's package lmdb made, over LMDB's own library.

`pairs.mdb` is a file: 300 keys of which every third was taken out again, and values of up to 9,000
bytes. `folder` is a folder with three pairs. test_lmdb.py has the same rules.
"""

import shutil
from pathlib import Path

import lmdb

FOLDER = Path(__file__).parent / "lmdb"
shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir()


def value(i):
    """The value of key number i."""
    return (b"%d," % i) * (i % 11) if i % 50 else bytes(range(250)) * (i % 37)


database = lmdb.open(str(FOLDER / "pairs.mdb"), map_size=1 << 20, subdir=False, lock=False)
with database.begin(write=True) as transaction:
    for number in range(300):
        i = number * 191 % 300
        transaction.put(b"key-%05d" % i, value(i))
with database.begin(write=True) as transaction:
    for i in range(0, 300, 3):
        transaction.delete(b"key-%05d" % i)
database.close()

database = lmdb.open(str(FOLDER / "folder"), map_size=1 << 20, lock=False)
with database.begin(write=True) as transaction:
    for key in (b"b", b"a", b"c"):
        transaction.put(key, key * 3)
database.close()
