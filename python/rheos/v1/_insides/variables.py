"""Variables, besides what is public: tensorflow.python.ops.variables."""

from rheos.ops.partitioned_variables import PartitionedVariable
