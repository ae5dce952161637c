"""Inputs of readers and datasets that cannot fit are refused when the operation is made."""

import pytest
import rheos.v1 as tf

RAW = tf.raw_ops
TYPES = {"output_types": [tf.float32], "output_shapes": [[]]}
INT, TEXT, FLAG, HANDLE, DATASET = tf.int64, tf.string, tf.bool, tf.resource, tf.variant
SHUFFLED = {"buffer_size": INT, "seed": INT, "seed2": INT}
WINDOW = {"size": INT, "shift": INT, "stride": INT, "drop_remainder": FLAG}
FILES = {"filenames": TEXT, "compression_type": TEXT, "buffer_size": INT}
READ = {"reader_handle": HANDLE, "queue_handle": HANDLE}
REBATCHED = {"input_dataset": DATASET, "batch_sizes": INT, "drop_remainder": FLAG}
BATCHED = {"batch_size": INT, "drop_remainder": FLAG}
RECORDS = {"filenames": TEXT, "header_bytes": INT, "record_bytes": INT, "footer_bytes": INT}

# The op, its inputs that TensorFlow 2.21 wants to be scalars (file names: vectors at most), others
# that it does not look at then, and attributes.
OPS = [
    ("ReaderReadV2", READ, {}, {}),
    ("ReaderReadUpToV2", {**READ, "num_records": INT}, {}, {}),
    ("ReaderNumRecordsProducedV2", {"reader_handle": HANDLE}, {}, {}),
    ("ReaderResetV2", {"reader_handle": HANDLE}, {}, {}),
    ("ReaderRestoreStateV2", {"reader_handle": HANDLE, "state": TEXT}, {}, {}),
    ("IteratorGetNext", {"iterator": HANDLE}, {}, TYPES),
    ("BatchDatasetV2", BATCHED, {"input_dataset": DATASET}, TYPES),
    ("TakeDataset", {"count": INT}, {"input_dataset": DATASET}, TYPES),
    ("RangeDataset", {"start": INT, "stop": INT, "step": INT}, {}, TYPES),
    ("ShuffleDataset", SHUFFLED, {"input_dataset": DATASET}, TYPES),
    ("WindowDataset", WINDOW, {"input_dataset": DATASET}, TYPES),
    ("ShardDataset", {"num_shards": INT, "index": INT}, {"input_dataset": DATASET}, TYPES),
    ("TextLineDataset", FILES, {}, {}),
    ("FixedLengthRecordDataset", {**RECORDS, "buffer_size": INT}, {}, {}),
    ("PrefetchDataset", {"buffer_size": INT}, {"input_dataset": DATASET}, TYPES),
    ("CacheDataset", {"filename": TEXT}, {"input_dataset": DATASET}, TYPES),
    ("RebatchDatasetV2", {}, REBATCHED, TYPES),
]


def made(op, looked_at, others, attributes, **shapes):
    inputs = {name: tf.placeholder(kind, shapes.get(name, [])) for name, kind in looked_at.items()}
    free = {name: tf.placeholder(kind, shapes.get(name)) for name, kind in others.items()}
    return getattr(RAW, op)(**inputs, **free, **attributes)


@pytest.mark.parametrize("op, looked_at, others, attributes", OPS, ids=[case[0] for case in OPS])
def test_wrong_ranks_are_refused(op, looked_at, others, attributes):
    made(op, looked_at, others, attributes)
    made(op, looked_at, others, attributes, **dict.fromkeys(looked_at))
    for name in looked_at:
        with pytest.raises(ValueError, match="rank"):
            made(op, looked_at, others, attributes, **{name: [3, 3]})
        if name == "filenames":
            made(op, looked_at, others, attributes, filenames=[3])
    made(op, looked_at, others, attributes, batch_sizes=[3])
