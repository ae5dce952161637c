"""What TensorFlow's files cost from Python: one JSON object a line.

TensorFlow does the same where it is installed: here, or in the interpreter that
RHEOS_BENCH_TENSORFLOW names, which runs this file too (with --peer).
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

NODES, TENSORS, RECORDS, BATCH = 40_000, 64, 100_000, 1024
ROUNDS = 7


def median_of(body):
    """The median of the seconds that body() says it took, after one round to warm up."""
    body()
    return statistics.median(body() for _ in range(ROUNDS))


def seconds(body):
    begin = time.perf_counter()
    body()
    return time.perf_counter() - begin


# ---- Programs that Rheos and TensorFlow share: `tf` is the module. Each gives a row: its name, its
# ---- unit, the goal (None: no goal), and a number in that unit.


def graphs(tf, _folder):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
        for _ in range(NODES // 2):
            x = tf.add(x, tf.constant(1.0))
    message = graph.as_graph_def()
    data = message.SerializeToString()
    scale = 1e9 / NODES

    def read():
        with tf.Graph().as_default():
            tf.import_graph_def(message, name="")

    def read_bytes():
        parsed = tf.GraphDef.FromString(data)
        with tf.Graph().as_default():
            tf.import_graph_def(parsed, name="")

    def rounds(body):
        return statistics.median(seconds(body) for _ in range(3)) * scale

    yield "as_graph_def, a node", "ns", None, rounds(graph.as_graph_def)
    yield "import_graph_def of a message, a node", "ns", None, rounds(read)
    yield "import_graph_def of bytes, a node", "ns", None, rounds(read_bytes)


def checkpoints(tf, folder):
    path = os.path.join(folder, "model")
    with tf.Graph().as_default():
        for i in range(TENSORS):
            tf.get_variable(f"v{i}", [1 << 20], initializer=tf.random_uniform_initializer(-1, 1))
        init, saver = tf.global_variables_initializer(), tf.train.Saver()
        with tf.Session() as session:
            session.run(init)
            save = median_of(lambda: seconds(
                lambda: saver.save(session, path, write_meta_graph=False, write_state=False)))
            yield "Saver.save, 256 MB in 64 tensors", "ms", None, save * 1e3
            restore = median_of(lambda: seconds(lambda: saver.restore(session, path)))
            yield "Saver.restore, 256 MB in 64 tensors", "ms", None, restore * 1e3


def example(tf, number):
    def feature(**values):
        return tf.train.Feature(**values)

    features = {
        "label": feature(int64_list=tf.train.Int64List(value=[number])),
        "weight": feature(float_list=tf.train.FloatList(value=[number])),
        "name": feature(bytes_list=tf.train.BytesList(value=[b"image_00012345.jpeg"])),
        "values": feature(float_list=tf.train.FloatList(value=[number + i for i in range(50)])),
    }
    return tf.train.Example(features=tf.train.Features(feature=features))


def records(tf, folder):
    path = os.path.join(folder, "records")
    data = example(tf, 1).SerializeToString()

    def write():
        with tf.python_io.TFRecordWriter(path) as writer:
            for _ in range(RECORDS):
                writer.write(data)

    def read():
        for _ in tf.python_io.tf_record_iterator(path):
            pass

    for verb, body in (("write", write), ("read", read)):
        a_record = median_of(lambda body=body: seconds(body)) * 1e9 / RECORDS
        yield f"record of 300 bytes: {verb}", "ns", None, a_record

    def make():
        for i in range(1000):
            example(tf, i).SerializeToString()

    yield "Example: made and serialized", "ns", None, median_of(lambda: seconds(make)) * 1e6


def parsing(tf, _folder):
    data = [example(tf, i).SerializeToString() for i in range(BATCH)]
    dense = {
        "label": tf.FixedLenFeature([], tf.int64),
        "weight": tf.FixedLenFeature([], tf.float32),
        "name": tf.FixedLenFeature([], tf.string),
        "values": tf.FixedLenFeature([50], tf.float32),
    }
    sparse = {key: tf.VarLenFeature(kind.dtype) for key, kind in dense.items()}
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    for name, features in (("fixed", dense), ("variable", sparse)):
        with tf.Graph().as_default():
            # In a variable, so that what is measured is the op and not the feed.
            batch = tf.Variable(tf.constant(data), use_resource=True)
            parsed = tf.parse_example(batch, features)
            label = parsed["label"]  # one output is enough to run the op, which makes all
            label = label.values if isinstance(label, tf.SparseTensor) else label
            with tf.Session(config=config) as session:
                session.run(batch.initializer)
                run = session.make_callable(label)

                def rounds(run=run):
                    return seconds(lambda: [run() for _ in range(20)]) / 20

                row = f"parse_example of 300 bytes, 4 {name} features, 1 thread"
                yield row, "ns", 0.2, median_of(rounds) * 1e9 / BATCH


PROGRAMS = [graphs, checkpoints, records, parsing]


def rows(tf, chosen):
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            if not chosen or program.__name__ in chosen:
                yield from program(tf, folder)


def peer(chosen):
    """The rows of TensorFlow, {} without one."""
    interpreter = os.environ.get("RHEOS_BENCH_TENSORFLOW")
    if not interpreter:
        if importlib.util.find_spec("tensorflow") is None:
            return {}
        interpreter = sys.executable
    environment = dict(os.environ, PYTHONPATH="", TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run([interpreter, __file__, "--peer", *chosen], env=environment,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"bench_files: TensorFlow ended with status {done.returncode}", file=sys.stderr)
        return {}
    return json.loads(done.stdout)


def main():
    chosen = [name for name in sys.argv[1:] if name != "--peer"]
    if "--peer" in sys.argv:
        import tensorflow

        tf = tensorflow.compat.v1
        tf.disable_v2_behavior()
        print(json.dumps({row: value for row, _, _, value in rows(tf, chosen)}))
        return
    import rheos.v1 as tf

    others = peer(chosen)
    for row, unit, goal, value in rows(tf, chosen):
        line = {"row": row + ", Python", "unit": unit, "rheos": value}
        if row in others:
            line["peers"] = {"TensorFlow": others[row]}
            if goal is not None:
                line["goal"] = others[row] * goal
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
