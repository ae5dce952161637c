"""TensorBoard's view of embeddings."""

import os as _os

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.messages import to_text as _to_text

_MESSAGES = ("EmbeddingInfo", "ProjectorConfig", "SpriteMetadata")


def visualize_embeddings(summary_writer, config):
    """Writes a ProjectorConfig message to the folder of a writer, where TensorBoard finds it.

    ValueError if the writer has no folder.
    """
    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    with open(_os.path.join(folder, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
        file.write(_to_text(config))


__getattr__ = _attribute_of("tensorflow.contrib.tensorboard.plugins.projector", _MESSAGES)
