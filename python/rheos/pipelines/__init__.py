"""Input pipelines: datasets, their iterators, and functions of the program over their elements.

The names here are those of TensorFlow 2; rheos.v1.data has TensorFlow 1's.
"""

from rheos.pipelines import experimental  # noqa: F401
from rheos.pipelines.base import DatasetSpec  # noqa: F401
from rheos.pipelines.dataset import (  # noqa: F401
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    DatasetV2 as Dataset,
)
from rheos.pipelines.options import Options, ThreadingOptions  # noqa: F401
from rheos.pipelines.owned import (  # noqa: F401
    IteratorSpec,
    NumpyIterator,
    OwnedIterator as Iterator,
)
from rheos.pipelines.readers import (  # noqa: F401
    FixedLengthRecordDatasetV2 as FixedLengthRecordDataset,
    TextLineDatasetV2 as TextLineDataset,
    TFRecordDatasetV2 as TFRecordDataset,
)
