"""Training of tf.contrib.training: steps, loops and hyperparameters."""

from rheos.contrib.hparams import HParams, parse_values
from rheos.contrib.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.training.bucketing import bucket, bucket_by_sequence_length
from rheos.training.checkpoints import checkpoints_iterator, wait_for_new_checkpoint
from rheos.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
)
from rheos.training.feeding import FeedingQueueRunner

__getattr__ = _attribute_of("tensorflow.contrib.training")
