"""server.py CLUSTER.json JOB TASK: a server of TensorFlow's, of either version."""

import json
import sys
from pathlib import Path

import tensorflow as tf

train = tf.train if tf.__version__.startswith("1") else tf.compat.v1.train
cluster, job, task = sys.argv[1:]
spec = train.ClusterSpec(json.loads(Path(cluster).read_text()))
server = train.Server(spec, job_name=job, task_index=int(task))
print("ready", server.target, flush=True)
server.join()
