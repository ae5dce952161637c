"""Datasets of rows: of CSV files, of answers to SQL queries, of files of examples."""

import collections
import csv

import numpy as np

from rheos.framework import dtypes, gfile
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import count_operations
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.io import parsing_ops
from rheos.pipelines import functional, nest, structure
from rheos.pipelines.base import DatasetBase
from rheos.pipelines.dataset import DatasetV2
from rheos.pipelines.readers import TFRecordDatasetV2

_BUFFER_BYTES = 4 * 1024 * 1024

# ---- CSV


def _default_of(default):
    """A column's default as a tensor; a dtype stands for a column that has to be there."""
    if isinstance(default, (dtypes.DType, type)):
        return constant([], dtype=dtypes.as_dtype(default), shape=[0])
    tensor = convert_to_tensor(default)
    return array_ops.reshape(tensor, [-1]) if tensor.shape.ndims == 0 else tensor


class CsvDatasetV2(DatasetV2):
    """The rows of CSV files, a tuple of a scalar for each column.

    record_defaults: for each column that is taken a dtype, or a value for where the field is empty.
    header: whether the first line of each file is left out. select_cols, exclude_cols: the numbers
    of the columns to take, or not to.
    """

    def __init__(
        self,
        filenames,
        record_defaults,
        compression_type=None,
        buffer_size=None,
        header=False,
        field_delim=",",
        use_quote_delim=True,
        na_value="",
        select_cols=None,
        exclude_cols=None,
        name=None,
    ):
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Cannot specify both `select_cols` and `exclude_cols`.")
        defaults = [_default_of(default) for default in record_defaults]
        settings = [
            convert_to_tensor(value, dtype, name=name)
            for value, dtype, name in (
                (
                    "" if compression_type is None else compression_type,
                    dtypes.string,
                    "compression_type",
                ),
                (
                    _BUFFER_BYTES if buffer_size is None else buffer_size,
                    dtypes.int64,
                    "buffer_size",
                ),
                (header, dtypes.bool, "header"),
                (field_delim, dtypes.string, "field_delim"),
                (use_quote_delim, dtypes.bool, "use_quote_delim"),
                (na_value, dtypes.string, "na_value"),
                ([] if select_cols is None else select_cols, dtypes.int64, "select_cols"),
            )
        ]
        spec = tuple(TensorSpec([], default.dtype) for default in defaults)
        more = []
        if exclude_cols is not None:
            more = [convert_to_tensor(exclude_cols, dtypes.int64, name="exclude_cols")]

        def rows(filename):
            op_type = "CSVDatasetV2" if more else "CSVDataset"
            return DatasetV2._make(op_type, filename, *settings, defaults, *more, spec=spec)

        if isinstance(filenames, DatasetBase):
            whole = functional.flat_map(filenames, rows)
        else:
            whole = rows(convert_to_tensor(filenames, dtypes.string, name="filenames"))
        self._set(whole._variant_tensor, spec, (whole,), "CsvDataset")


_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _fits(text, dtype):
    if dtype == dtypes.string:
        return True
    try:
        if dtype.is_integer:
            return dtype.min <= int(text) <= dtype.max
        number = float(text)
        return dtype == dtypes.float64 or abs(number) <= dtypes.float32.max or np.isinf(number)
    except ValueError:
        return False


def _wider(text, na_value, known):
    """The first dtype, from the one known so far on, that the field fits."""
    if text in ("", na_value):
        return known
    start = 0 if known is None else _TYPES.index(known)
    return next(dtype for dtype in _TYPES[start:] if _fits(text, dtype))


def _csv_rows(filename, delimiter, use_quotes, encoding):
    quoting = csv.QUOTE_MINIMAL if use_quotes else csv.QUOTE_NONE
    with open(filename, encoding=encoding, newline="") as file:
        yield from csv.reader(file, delimiter=delimiter, quoting=quoting)


def _inferred_defaults(filenames, columns, row_length, header, na_value, limit, style):
    found, seen = [None] * len(columns), 0
    for filename in filenames:
        rows = _csv_rows(filename, *style)
        if header:
            next(rows, None)
        for row in rows:
            if limit is not None and seen >= limit:
                break
            if len(row) != row_length:
                raise ValueError(
                    f"Problem inferring types: the row {row} of {filename} has {len(row)} fields, "
                    f"expected {row_length}."
                )
            found = [_wider(row[i], na_value, known) for i, known in zip(columns, found)]
            seen += 1
    types = [dtype or dtypes.string for dtype in found]
    return [constant(["" if t == dtypes.string else 0], dtype=t) for t in types]


def _files_of(pattern):
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    if not patterns:
        raise ValueError("File pattern is empty.")
    names = sorted(name for one in patterns for name in gfile.Glob(one))
    if not names:
        raise ValueError(f"No files match `file_pattern` {pattern}.")
    return names


def _column_names(filenames, style, header):
    if not header:
        raise ValueError("Cannot infer column names without a header line.")
    names = next(_csv_rows(filenames[0], *style))
    for filename in filenames[1:]:
        if next(_csv_rows(filename, *style)) != names:
            raise ValueError("All input CSV files should have the same column names in the header.")
    return names


def _column_numbers(names, selected):
    if selected is None:
        return list(range(len(names)))
    if all(isinstance(column, int) for column in selected):
        numbers = list(selected)
    else:
        missing = [column for column in selected if column not in names]
        if missing:
            raise ValueError(f"Columns {missing} are not among {names}.")
        numbers = [names.index(column) for column in selected]
    if any(a >= b for a, b in zip(numbers, numbers[1:])) and isinstance(selected[0], int):
        raise ValueError("select_cols must contain only increasing numbers.")
    return sorted(numbers)


def shuffle_and_repeat(dataset, num_epochs, shuffle, buffer_size, seed):
    """The elements `num_epochs` times (None: without an end), shuffled if wanted."""
    if shuffle:
        dataset = dataset.shuffle(buffer_size, seed)
        count_operations(0 if num_epochs == 1 else -1)  # one operation does both there
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def make_csv_dataset(
    cls,
    file_pattern,
    batch_size,
    column_names=None,
    column_defaults=None,
    label_name=None,
    select_columns=None,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    header=True,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    num_parallel_reads=None,
    sloppy=False,
    num_rows_for_inference=100,
    compression_type=None,
    ignore_errors=False,
    encoding="utf-8",
):
    """Batches of the rows of CSV files: dicts by the names of columns, with `label_name` pairs of
    that and the label's column.

    cls: the class of the dataset. column_names: None takes the header's. column_defaults: as those
    of CsvDataset; None infers dtypes from `num_rows_for_inference` rows. num_epochs: None is
    without an end. encoding: of the files, by which names and dtypes are found.
    """
    filenames = _files_of(file_pattern)
    style = field_delim, use_quote_delim, encoding
    if column_names is None:
        column_names = _column_names(filenames, style, header)
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    numbers = _column_numbers(column_names, select_columns)
    if column_defaults is None:
        column_defaults = _inferred_defaults(
            filenames, numbers, len(column_names), header, na_value, num_rows_for_inference, style
        )
    elif len(column_defaults) == len(column_names) != len(numbers):
        column_defaults = [column_defaults[i] for i in numbers]
    names = [column_names[i] for i in numbers]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` {label_name!r} must be one of the columns {names}.")

    def rows(filename):
        data = CsvDatasetV2(
            filename,
            column_defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=numbers,
        )
        return data.ignore_errors() if ignore_errors else data

    def features(*columns):
        found = collections.OrderedDict(zip(names, columns))
        if label_name is None:
            return found
        return found, found.pop(label_name)

    data = cls.from_tensor_slices(filenames)
    if shuffle:
        data = data.shuffle(len(filenames), shuffle_seed)
    data = functional.parallel_interleave(data, rows, num_parallel_reads or 1, sloppy=sloppy)
    data = shuffle_and_repeat(data, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    data = data.batch(batch_size, drop_remainder=num_epochs is None).map(features)
    return data.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


# ---- SQL


def sql_dataset(cls, driver_name, data_source_name, query, output_types):
    """The rows of the answer to a query: tuples of scalars of `output_types`."""
    spec = nest.map_structure(lambda dtype: TensorSpec([], dtype), output_types)
    inputs = [
        convert_to_tensor(text, dtypes.string, name=name)
        for text, name in (
            (driver_name, "driver_name"),
            (data_source_name, "data_source_name"),
            (query, "query"),
        )
    ]
    return cls._make("SqlDataset", *inputs, spec=spec)


# ---- Examples


def parse_example_dataset(dataset, features, num_parallel_calls=1, deterministic=None):
    """What is in serialized examples: dicts of tensors, of a dataset of batches of them."""
    if not features:
        raise ValueError("Missing: `features` was None or empty.")
    if not dataset.element_spec.is_compatible_with(TensorSpec([None], dtypes.string)):
        raise TypeError(
            "Input dataset should be a dataset of vectors of strings, its elements are "
            f"{dataset.element_spec}."
        )
    count_operations(1)
    return functional.map_dataset(
        dataset,
        lambda texts: parsing_ops.parse_example(texts, features),
        num_parallel_calls,
        deterministic,
    )


def make_batched_features_dataset(
    cls,
    file_pattern,
    batch_size,
    features,
    reader=None,
    label_key=None,
    reader_args=None,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    reader_num_threads=None,
    parser_num_threads=None,
    sloppy_ordering=False,
    drop_final_batch=False,
):
    """Batches of the features of examples in files: dicts of tensors, and with `label_key` pairs of
    that and the label.

    cls: the class of the dataset. reader: a class of datasets of files, TFRecordDataset by default.
    num_epochs: None is without an end.
    """
    reader = TFRecordDatasetV2 if reader is None else reader
    data = cls.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    data = functional.parallel_interleave(
        data,
        lambda filename: reader(filename, *(reader_args or ())),
        reader_num_threads or 1,
        sloppy=sloppy_ordering,
    )
    if structure.legacy_types(data.element_spec) == (dtypes.string, dtypes.string):
        data = data.map(lambda _, value: value)
    data = shuffle_and_repeat(data, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    data = data.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    data = parse_example_dataset(data, features, parser_num_threads or 2)
    if label_key is not None:
        if label_key not in features:
            raise ValueError(f"The `label_key` {label_key!r} is none of the features.")
        data = data.map(lambda found: (found, found.pop(label_key)))
    return data.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)
