"""Variables, besides what is public: tensorflow.python.ops.variables."""

from rheos.ops.state.partitioned_variables import PartitionedVariable
