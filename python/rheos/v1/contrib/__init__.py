"""What TensorFlow 1 had from its contributors, as far as it is here."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.contrib import (
    crf,
    cudnn_rnn,
    data,
    deprecated,
    distribute,
    distributions,
    eager,
    feature_column,
    framework,
    graph_editor,
    image,
    keras,
    layers,
    learn,
    legacy_seq2seq,
    lookup,
    losses,
    metrics,
    nn,
    opt,
    predictor,
    rnn,
    seq2seq,
    signal,
    slim,
    staging,
    stateless,
    summary,
    tensorboard,
    tpu,
    training,
    util,
)

__getattr__ = _attribute_of("tensorflow.contrib")
