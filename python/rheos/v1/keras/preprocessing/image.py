"""Images (tf.keras.preprocessing.image)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.image_data import (
    DirectoryIterator,
    ImageDataGenerator,
    Iterator,
    NumpyArrayIterator,
    apply_affine_transform,
    apply_channel_shift,
    array_to_img,
    img_to_array,
    load_img,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
    save_img,
)

__getattr__ = _attribute_of("tensorflow.keras.preprocessing.image")
