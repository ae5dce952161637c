"""Records what TensorFlow's losses are when it trains on the records of record_training.py:

    python tests/golden/make_record_training.py     # with TensorFlow 2.21

writes record_training.json: the mean loss of every 100 steps, and a hash of the file of records.
"""

import hashlib
import json
import tempfile
from pathlib import Path

import record_training
import tensorflow as tf


def main():
    """Writes the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "points.tfrecord")
        record_training.write(tf, path)
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        losses = record_training.train(tf, path)
    values = {"tensorflow": tf.__version__, "sha256": digest, "losses": losses}
    Path(__file__).with_suffix("").with_name("record_training.json").write_text(
        json.dumps(values, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
