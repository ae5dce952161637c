"""Summaries with a step of tf.contrib: written by operations, without a Summary to fetch."""

from rheos.contrib.step_summaries import (
    SummaryWriter,
    all_summary_ops,
    always_record_summaries,
    audio,
    create_db_writer,
    create_file_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    generic,
    graph,
    histogram,
    image,
    import_event,
    initialize,
    never_record_summaries,
    record_summaries_every_n_global_steps,
    scalar,
    should_record_summaries,
    summary_writer_initializer_op,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.summary")
