"""How many threads operations may use."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.config import threading as _threading

get_inter_op_parallelism_threads = _threading.get_inter_op_parallelism_threads
get_intra_op_parallelism_threads = _threading.get_intra_op_parallelism_threads
set_inter_op_parallelism_threads = _threading.set_inter_op_parallelism_threads
set_intra_op_parallelism_threads = _threading.set_intra_op_parallelism_threads

__getattr__ = _attribute_of("tensorflow.config.threading")
