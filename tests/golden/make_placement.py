#!/usr/bin/env python3
"""Records where TensorFlow 2 places the graphs of placement_programs.py on a machine with two
graphics cards; writes placement.json.

Usage: python make_placement.py BUILD      (a Python that has TensorFlow 2.21, not tensorflow-cpu)

BUILD is a build of Rheos, which makes the graphs. No card is needed: TensorFlow's wheel for
graphics cards registers its kernels everywhere, and its placer, that of a master, is told of a
worker with two cards. That worker is a few lines here and computes nothing: the placer writes down
what it decides before the worker is given anything.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import zlib
from concurrent import futures
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

HERE = Path(__file__).resolve().parent
DEVICES = {"CPU:0": "c", "GPU:0": "0", "GPU:1": "1"}
MAKE = """
import sys
import placement_programs
import rheos.v1 as tf

placement_programs.tf = tf
for program in placement_programs.PROGRAMS:
    with tf.Graph().as_default() as graph:
        program()
    tf.train.write_graph(graph, sys.argv[1], program.__name__, as_text=False)
"""


def make_graphs(build, folder):
    python = (build / "python-interpreter").read_text().strip()
    environment = {**os.environ, "PYTHONPATH": f"{build / 'python'}:{HERE}", "RHEOS_OPENCL": "off"}
    subprocess.run([python, "-c", MAKE, folder], env=environment, check=True)


# ---- The worker that is only spoken of


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def status():
    """The message GetStatusResponse, a list of DeviceAttributes."""
    from tensorflow.core.framework import device_attributes_pb2

    message = b""
    for number, name in enumerate(DEVICES, 1):
        device = device_attributes_pb2.DeviceAttributes(
            name=f"/job:localhost/replica:0/task:0/device:{name}",
            device_type=name[:3],
            memory_limit=1 << 30,
            incarnation=number,
        ).SerializeToString()
        message += b"\x0a" + varint(len(device)) + device
    return message


def start_worker(grpc):
    class Calls(grpc.GenericRpcHandler):
        def service(self, details):
            def answer(request, context):
                name = details.method.rpartition("/")[2]
                if name == "RegisterGraph":
                    context.abort(grpc.StatusCode.UNIMPLEMENTED, "nothing runs here")
                return status() if name == "GetStatus" else b""

            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Calls(),))
    port = server.add_insecure_port("localhost:0")
    server.start()
    return server, port


def free_port():
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


# ---- What the placer writes


def written_by(work):
    """What is written to the standard output, by C++ too."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            work()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def place(tf, target, path):
    graph_def = tf.GraphDef.FromString(path.read_bytes())
    config = tf.ConfigProto(log_device_placement=True, allow_soft_placement=True)
    config.graph_options.rewrite_options.disable_meta_optimizer = True

    def run():
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
            # What is on the card fails where it is sent; the placer has written by then.
            with tf.device("/gpu:0"):
                sent = tf.placeholder_with_default([1.0], [1], name="sent_to_the_worker")
            with tf.Session(target, graph, config) as session:
                try:
                    session.run(sent)
                except tf.errors.UnimplementedError:
                    return
        raise AssertionError("the worker was asked nothing")

    places = dict(re.findall(r"^(\S+): \(\w+\): \S+/device:(\w+:\d)$", written_by(run), re.M))
    nodes = " ".join(f"{node.name}:{node.op}" for node in graph_def.node)
    return {
        "nodes": zlib.crc32(nodes.encode()),
        "places": "".join(DEVICES[places[node.name]] for node in graph_def.node),
    }


def main():
    import grpc
    import tensorflow

    assert tensorflow.__version__.startswith("2.21"), tensorflow.__version__
    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    tf.logging.set_verbosity("ERROR")
    worker, port = start_worker(grpc)
    tasks = [f"localhost:{port}", f"localhost:{free_port()}"]
    master = tf.train.Server({"localhost": tasks}, "localhost", 1)
    with tempfile.TemporaryDirectory() as folder:
        make_graphs(Path(sys.argv[1]).resolve(), folder)
        found = {
            path.name: place(tf, master.target, path) for path in sorted(Path(folder).iterdir())
        }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    (HERE / "placement.json").write_text("{\n" + lines + "\n}\n")
    worker.stop(None)
    os._exit(0)  # a server of TensorFlow does not end


if __name__ == "__main__":
    main()
