"""Training from 100,000 records on disk reaches the loss that TensorFlow reaches."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos as tf

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
import record_training  # noqa: E402

RECORDED = json.loads((GOLDEN / "record_training.json").read_text())


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "points.tfrecord"
    record_training.write(tf, str(path))
    return path


def test_the_records_are_tensorflows_to_the_byte(records):
    assert hashlib.sha256(records.read_bytes()).hexdigest() == RECORDED["sha256"]


@pytest.mark.parametrize("calls", [None, tf.data.AUTOTUNE])
def test_training_reaches_tensorflows_loss(records, calls):
    tf.random.set_seed(None)  # the order is that of no seed for all
    losses = record_training.train(tf, str(records), calls)
    assert losses[-1] < 0.2 * losses[0]
    np.testing.assert_allclose(losses, RECORDED["losses"], rtol=2e-4)
