"""Has TensorFlow 2 dump debug events, and writes what its own reader finds to debug_events.txt.

    python make_debug_events.py
"""

import os
import tempfile

import debug_events_program as program
import numpy as np
import tensorflow as tf
from tensorflow.python.debug.lib.debug_events_reader import DebugDataReader

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debug_events.txt")


def flat(value):
    """A list of the numbers of a tensor; None of texts and complex numbers."""
    value = None if value is None else np.asarray(value)
    if value is None or value.dtype.kind not in "fiub":
        return None
    return value.astype(np.float64).ravel().tolist()


def lines_of(root, mode):
    with DebugDataReader(root) as reader:
        reader.update()
        for one in reader.executions():
            op = "f" if one.op_type.startswith("__inference_f_") else one.op_type
            if op not in program.EXECUTED:
                continue
            values = one.debug_tensor_values or []
            if mode == "FULL_TENSOR":
                values = reader.execution_to_tensor_values(one)
            yield program.line("execution", mode, op, map(flat, values))
        for one in reader.graph_execution_traces():
            if one.op_type not in program.TRACED:
                continue
            value = one.debug_tensor_value
            if mode == "FULL_TENSOR":
                value = reader.graph_execution_trace_to_tensor_value(one)
            value = flat(value)
            if value and mode != "FULL_TENSOR":
                value = value[1:]  # without the tensor's id
            yield program.line("trace", mode, one.op_type, [value] if mode != "NO_TENSOR" else [])


def main():
    with open(PATH, "w") as file:
        for mode in program.MODES:
            with tempfile.TemporaryDirectory() as root:
                program.run(tf, root, mode)
                file.writelines(one + "\n" for one in lines_of(root, mode))


if __name__ == "__main__":
    main()
