"""The seeds of datasets: tensorflow.python.data.util.random_seed."""

from rheos.pipelines.random_seed import get_seed
