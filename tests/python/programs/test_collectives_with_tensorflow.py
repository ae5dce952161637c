"""Groups with a member of Rheos and one of the real TensorFlow, each a process: they get the same
bits, whoever leads.

Where there is no TensorFlow 2 (tensorflow_process.py), these tests are skipped.
"""

import json
import os
import subprocess
import sys

import pytest
from ports import free_port
from tensorflow_process import INTERPRETER, is_tensorflow_1

pytestmark = pytest.mark.skipif(
    INTERPRETER is None or is_tensorflow_1(), reason="TensorFlow 2 is not installed here"
)

# Each member runs one of these and then MEMBER: what it does is the same.
RHEOS = """
import sys
import rheos as tf
from rheos.framework import eager

def join(task, ports):
    server = tf.distribute.Server(
        {"worker": ["localhost:" + port for port in ports]}, job_name="worker", task_index=task)
    eager.join_server(server._server)
    return server
"""
TENSORFLOW = """
import sys
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, tensorflow_server_pb2
from tensorflow.python.eager import context

def join(task, ports):
    config = config_pb2.ConfigProto()
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    server = tensorflow_server_pb2.ServerDef(
        job_name="worker", task_index=task, protocol="grpc", default_session_config=config)
    job = server.cluster.job.add(name="worker")
    for i, port in enumerate(ports):
        job.tasks[i] = "localhost:" + port
    context.context().configure_collective_ops(
        collective_leader="/job:worker/replica:0/task:0", scoped_allocator_enabled_ops=())
    context.context().enable_collective_ops(server)
"""
MEMBER = """
import json, os, zlib
import numpy as np
task, ports = int(sys.argv[1]), sys.argv[2:]
kept = join(task, ports)
ops, answers = tf.raw_ops, []

def reduce(x, instance, merge="Add", final="Id", subdivisions=-1):
    return ops.CollectiveReduceV2(
        input=x, group_size=2, group_key=1, instance_key=instance, ordering_token=[],
        merge_op=merge, final_op=final, max_subdivs_per_device=subdivisions)

def tell(name, value):
    value = value.numpy()
    answers.append([name, str(value.dtype), list(value.shape), zlib.crc32(value.tobytes())])

def numbers(count, dtype):
    return tf.constant((np.sin(np.arange(count) + task) * 9).astype(dtype))

with tf.device("/job:worker/replica:0/task:%d/device:CPU:0" % task):
    for again in range(2):
        for count in (1, 2, 16, 31, 32, 33, 48, 100, 1024, 100000):
            tell("sum of %d" % count, reduce(numbers(count, "float32"), count))
    for at, (dtype, merge) in enumerate(
            (dtype, merge) for dtype in ("float16", "float32", "float64", "int32", "int64")
            for merge in ("Add", "Mul", "Min", "Max")):
        tell(dtype + merge, reduce(numbers(50, dtype), 200000 + at, merge, "Div"))
    tell("in subdivisions", reduce(numbers(5000000, "float32"), 300000, subdivisions=0))
    tell("gathered", ops.CollectiveGatherV2(
        input=numbers(6, "float32"), group_size=2, group_key=1, instance_key=300001,
        ordering_token=[]))
    for source in range(2):
        keys = dict(group_size=2, group_key=1, instance_key=300002 + source)
        tell("given by %d" % source,
             ops.CollectiveBcastSendV2(input=numbers(6, "float32"), **keys) if task == source
             else ops.CollectiveBcastRecvV2(shape=[6], T=tf.float32, **keys))
    exchanged = ops.CollectiveAllToAllV2(
        input=numbers(2, "float32"), group_size=2, group_key=1, instance_key=300004,
        ordering_token=[])
    expected = [float(np.float32(np.sin(task + i) * 9)) for i in range(2)]
    answers.append(["exchanged", exchanged.numpy().tolist() == expected])
print("answer: " + json.dumps(answers), flush=True)
os._exit(0)
"""


def free_ports(count):
    return [str(free_port()) for _ in range(count)]


def start(task, is_tensorflow, ports):
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    if is_tensorflow:
        environment.pop("PYTHONPATH", None)
    script = (TENSORFLOW if is_tensorflow else RHEOS) + MEMBER
    command = [INTERPRETER if is_tensorflow else sys.executable, "-c", script, str(task), *ports]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)  # fmt: skip


@pytest.mark.parametrize("leader", ["rheos", "tensorflow"])
def test_members_get_the_same_bits(leader):
    ports = free_ports(2)
    members = [start(task, (task == 0) == (leader == "tensorflow"), ports) for task in range(2)]
    answers = []
    try:
        for member in members:
            out, errors = member.communicate(timeout=100)
            lines = [line for line in out.splitlines() if line.startswith("answer: ")]
            assert lines, errors[-3000:]
            answers.append(json.loads(lines[-1].removeprefix("answer: ")))
    finally:
        for member in members:
            member.kill()
    assert answers[0] == answers[1]
    assert answers[0][-1] == ["exchanged", True]
