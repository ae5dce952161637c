"""Pictures as data: arrays of them, changed at random, from arrays and folders."""

import os

import numpy as np

from rheos.models import defaults
from rheos.models.data import Sequence


def _axes(data_format):
    """(rows, columns, channels) of an array of one picture."""
    data_format = data_format or defaults.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return (1, 2, 0) if data_format == "channels_first" else (0, 1, 2)


def _pillow():
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "pictures need the package Pillow, which is not installed: 'pip install pillow'"
        ) from None
    return Image


def img_to_array(img, data_format=None, dtype=None):
    """The array of a Pillow picture: (height, width, channels) or (channels, height, width)."""
    x = np.asarray(img, dtype=dtype or defaults.floatx())
    if x.ndim == 2:
        x = x[..., None]
    if x.ndim != 3:
        raise ValueError(f"Unsupported image shape: {x.shape}")
    return x.transpose(2, 0, 1) if _axes(data_format)[2] == 0 else x


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """The Pillow picture of an array; scale: whether its range is made 0 to 255."""
    image = _pillow()
    x = np.asarray(x, dtype=dtype or defaults.floatx())
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got: {x.shape}")
    if _axes(data_format)[2] == 0:
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        most = np.max(x)
        x = x * 255 / most if most else x
    modes = {1: "L", 3: "RGB", 4: "RGBA"}
    if x.shape[2] not in modes:
        raise ValueError(f"Unsupported channel number: {x.shape[2]}")
    pixels = x.astype("uint8")
    return image.fromarray(pixels[:, :, 0] if x.shape[2] == 1 else pixels, modes[x.shape[2]])


def load_img(path, grayscale=False, color_mode="rgb", target_size=None, interpolation="nearest"):
    """A file as a Pillow picture, of a size (height, width)."""
    image = _pillow()
    color_mode = "grayscale" if grayscale else color_mode
    modes = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
    if color_mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    img = image.open(path).convert(modes[color_mode])
    if target_size is not None and img.size != (target_size[1], target_size[0]):
        methods = {n: getattr(image, n.upper()) for n in ("nearest", "bilinear", "bicubic")}
        if interpolation not in methods:
            raise ValueError(f"Invalid interpolation method {interpolation} specified.")
        img = img.resize((target_size[1], target_size[0]), methods[interpolation])
    return img


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes an array as a picture."""
    array_to_img(x, data_format=data_format, scale=scale).save(path, format=file_format, **kwargs)


# ---- Changes


def _sample(channel, rows, columns, mode, value):
    """The values of a channel at places between its pixels, bilinear; outside by `mode`."""
    height, width = channel.shape
    if mode == "constant":
        inside = (rows >= 0) & (rows <= height - 1) & (columns >= 0) & (columns <= width - 1)
    elif mode == "reflect":
        rows, columns = _folded(rows, height), _folded(columns, width)
    elif mode == "wrap":
        rows, columns = np.mod(rows, height), np.mod(columns, width)
    elif mode != "nearest":
        raise ValueError(f"unknown fill_mode: {mode}")
    rows, columns = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, across = rows - top, columns - left
    upper = channel[top, left] * (1 - across) + channel[top, right] * across
    lower = channel[bottom, left] * (1 - across) + channel[bottom, right] * across
    found = upper * (1 - down) + lower * down
    return np.where(inside, found, value) if mode == "constant" else found


def _folded(places, size):
    period = 2 * size
    places = np.mod(places + 0.5, period)
    return np.where(places >= size, period - places, places) - 0.5


def apply_affine_transform(
    x,
    theta=0,
    tx=0,
    ty=0,
    shear=0,
    zx=1,
    zy=1,
    row_axis=0,
    col_axis=1,
    channel_axis=2,
    fill_mode="nearest",
    cval=0.0,
    order=1,
):
    """A picture turned (theta, in degrees), moved, sheared and zoomed about its middle."""
    matrix = np.eye(3)
    if theta:
        a = np.deg2rad(theta)
        matrix = matrix @ [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
    if tx or ty:
        matrix = matrix @ [[1, 0, tx], [0, 1, ty], [0, 0, 1]]
    if shear:
        a = np.deg2rad(shear)
        matrix = matrix @ [[1, -np.sin(a), 0], [0, np.cos(a), 0], [0, 0, 1]]
    if zx != 1 or zy != 1:
        matrix = matrix @ [[zx, 0, 0], [0, zy, 0], [0, 0, 1]]
    if np.array_equal(matrix, np.eye(3)):
        return x
    height, width = x.shape[row_axis], x.shape[col_axis]
    middle = np.array([height / 2 - 0.5, width / 2 - 0.5])
    grid = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), axis=-1)
    places = (grid - middle) @ matrix[:2, :2].T + matrix[:2, 2] + middle
    channels = np.moveaxis(x, channel_axis, 0)
    changed = [_sample(c, places[..., 0], places[..., 1], fill_mode, cval) for c in channels]
    return np.moveaxis(np.stack(changed), 0, channel_axis).astype(x.dtype)


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                    interpolation_order=1):  # fmt: skip
    """A picture turned by at most so many degrees."""
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(
        x, theta=theta, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval,
    )  # fmt: skip


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest",
                 cval=0.0, interpolation_order=1):  # fmt: skip
    """A picture moved by at most these shares of its width and height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(
        x, tx=tx, ty=ty, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval,
    )  # fmt: skip


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest",
                 cval=0.0, interpolation_order=1):  # fmt: skip
    """A picture sheared by at most so many degrees."""
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(
        x, shear=shear, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval,
    )  # fmt: skip


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest",
                cval=0.0, interpolation_order=1):  # fmt: skip
    """A picture zoomed by factors of a range."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats: {zoom_range}")
    zx, zy = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(*zoom_range, 2)
    return apply_affine_transform(
        x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval,
    )  # fmt: skip


def apply_channel_shift(x, intensity, channel_axis=0):
    """A picture with a number added to its channels, kept in its range."""
    x = np.moveaxis(x, channel_axis, 0)
    shifted = np.stack([np.clip(c + intensity, np.min(x), np.max(x)) for c in x])
    return np.moveaxis(shifted, 0, channel_axis)


def random_channel_shift(x, intensity_range, channel_axis=0):
    """A picture with a number of a range added to its channels."""
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis)


class Iterator(Sequence):
    """Batches of pictures by their numbers, for ever; subclasses make them."""

    def __init__(self, n, batch_size, shuffle, seed):
        super().__init__()
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.index_array = None

    def _order(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._order()
        rows = self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)]
        return self._get_batches_of_transformed_samples(rows)

    def on_epoch_end(self):
        """Draws a new order."""
        self._order()

    def reset(self):
        """Begins with the first batch again."""
        self.batch_index = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next batch; behind the last one the first of the next round."""
        if self.batch_index >= len(self):
            self.batch_index = 0
            self._order()
        batch = self[self.batch_index]
        self.batch_index += 1
        return batch

    next = __next__


class NumpyArrayIterator(Iterator):
    """Batches of arrays of pictures, changed by a generator."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False,
                 sample_weight=None, seed=None, data_format=None, save_to_dir=None,
                 save_prefix="", save_format="png", subset=None, dtype=None):  # fmt: skip
        x = np.asarray(x, dtype=dtype or defaults.floatx())
        if y is not None and len(x) != len(y):
            raise ValueError(
                "`x` (images tensor) and `y` (labels) should have the same length. Found: x.shape ="
                f" {np.shape(x)}, y.shape = {np.shape(y)}"
            )
        if x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {x.shape}"
            )
        rows = image_data_generator._part(len(x), subset)
        self.x = x[rows]
        self.y = None if y is None else np.asarray(y)[rows]
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        self.image_data_generator = image_data_generator
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array):
        generator = self.image_data_generator
        batch = np.stack(
            [generator.standardize(generator.random_transform(self.x[i])) for i in index_array]
        )
        found = (batch,)
        if self.y is None:
            return batch
        found += (self.y[index_array],)
        if self.sample_weight is not None:
            found += (self.sample_weight[index_array],)
        return found


class DirectoryIterator(Iterator):
    """Batches of the pictures in folders, one for each class, changed by a generator."""

    _ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff", ".gif")

    def __init__(self, directory, image_data_generator, target_size=(256, 256),
                 color_mode="rgb", classes=None, class_mode="categorical", batch_size=32,
                 shuffle=True, seed=None, data_format=None, follow_links=False, subset=None,
                 interpolation="nearest", dtype=None, **kwargs):  # fmt: skip
        modes = ("categorical", "binary", "sparse", "input", None)
        if class_mode not in modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {modes}")
        self.directory, self.image_data_generator = directory, image_data_generator
        self.target_size, self.color_mode = tuple(target_size), color_mode
        self.class_mode, self.interpolation = class_mode, interpolation
        folders = classes or sorted(
            d for d in os.listdir(directory) if os.path.isdir(os.path.join(directory, d))
        )
        self.class_indices = {name: i for i, name in enumerate(folders)}
        self.num_classes = len(folders)
        found = []
        for name in folders:
            inside = []
            for root, _, files in os.walk(os.path.join(directory, name), followlinks=follow_links):
                inside += [os.path.join(root, f) for f in sorted(files)
                           if f.lower().endswith(self._ENDINGS)]  # fmt: skip
            inside = sorted(inside)
            rows = image_data_generator._part(len(inside), subset)
            found += [(path, self.class_indices[name]) for path in inside[rows]]
        self.filepaths = [path for path, _ in found]
        self.filenames = [os.path.relpath(path, directory) for path in self.filepaths]
        self.classes = np.array([i for _, i in found], dtype="int32")
        self.samples = len(found)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array):
        generator, pictures = self.image_data_generator, []
        for i in index_array:
            img = load_img(
                self.filepaths[i],
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
            )
            x = img_to_array(img, data_format=generator.data_format)
            pictures.append(generator.standardize(generator.random_transform(x)))
        batch = np.stack(pictures)
        if self.class_mode is None:
            return batch
        if self.class_mode == "input":
            return batch, batch.copy()
        labels = self.classes[index_array]
        if self.class_mode == "categorical":
            return batch, np.eye(self.num_classes, dtype=batch.dtype)[labels]
        return batch, labels.astype(batch.dtype if self.class_mode == "sparse" else "float32")


class ImageDataGenerator:
    """Batches of pictures that are changed at random and scaled."""

    def __init__(
        self,
        featurewise_center=False,
        samplewise_center=False,
        featurewise_std_normalization=False,
        samplewise_std_normalization=False,
        zca_whitening=False,
        zca_epsilon=1e-6,
        rotation_range=0,
        width_shift_range=0.0,
        height_shift_range=0.0,
        brightness_range=None,
        shear_range=0.0,
        zoom_range=0.0,
        channel_shift_range=0.0,
        fill_mode="nearest",
        cval=0.0,
        horizontal_flip=False,
        vertical_flip=False,
        rescale=None,
        preprocessing_function=None,
        data_format=None,
        validation_split=0.0,
        dtype=None,
    ):
        if zca_whitening:
            raise NotImplementedError("ImageDataGenerator(zca_whitening=True)")
        if brightness_range is not None:
            raise NotImplementedError("ImageDataGenerator(brightness_range=...)")
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(
                "`validation_split` must be strictly between 0 and 1.  Received: "
                f"{validation_split}"
            )
        self.featurewise_center = featurewise_center or featurewise_std_normalization
        self.samplewise_center = samplewise_center or samplewise_std_normalization
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.rotation_range = rotation_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.shear_range, self.channel_shift_range = shear_range, channel_shift_range
        if np.isscalar(zoom_range):
            self.zoom_range = (1 - zoom_range, 1 + zoom_range)
        else:
            self.zoom_range = tuple(zoom_range)
        self.fill_mode, self.cval = fill_mode, cval
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.data_format = data_format or defaults.image_data_format()
        self._rows, self._columns, self._channels = _axes(self.data_format)
        self._validation_split = validation_split
        self.mean = self.std = None

    def _part(self, count, subset):
        """The rows of a subset: "training" or "validation", None for all."""
        if subset is None:
            return slice(None)
        if subset not in ("training", "validation"):
            raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation"')
        at = int(count * self._validation_split)
        return slice(0, at) if subset == "validation" else slice(at, None)

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None,
             save_to_dir=None, save_prefix="", save_format="png", subset=None):  # fmt: skip
        """Batches of arrays."""
        return NumpyArrayIterator(
            x, y, self, batch_size, shuffle, sample_weight, seed, self.data_format, subset=subset
        )

    def flow_from_directory(self, directory, **kwargs):
        """Batches of the pictures in folders."""
        return DirectoryIterator(directory, self, **kwargs)

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Takes means and standard deviations of pictures."""
        x = np.asarray(x, dtype=defaults.floatx())
        if x.ndim != 4:
            raise ValueError(f"pictures to fit() to have rank 4, not the shape {x.shape}")
        if seed is not None:
            np.random.seed(seed)
        if augment:
            x = np.stack([self.random_transform(p) for _ in range(rounds) for p in x])
        axes = (0, self._rows + 1, self._columns + 1)
        if self.featurewise_center:
            self.mean = np.mean(x, axis=axes, keepdims=True)[0]
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=axes, keepdims=True)[0]

    def standardize(self, x):
        """A picture, scaled."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * self.rescale
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        for is_wanted, value in (
            (self.featurewise_center, self.mean),
            (self.featurewise_std_normalization, self.std),
        ):
            if is_wanted and value is None:
                raise ValueError("the generator has to be fit() to the pictures first")
        if self.featurewise_center:
            x = x - self.mean
        if self.featurewise_std_normalization:
            x = x / (self.std + 1e-6)
        return x

    def get_random_transform(self, img_shape, seed=None):
        """What a picture of a shape is changed by: a dict."""
        if seed is not None:
            np.random.seed(seed)

        def drawn(limit):
            return np.random.uniform(-limit, limit) if limit else 0

        theta = drawn(self.rotation_range)
        tx, ty = drawn(self.height_shift_range), drawn(self.width_shift_range)
        if np.max(np.abs(self.height_shift_range)) < 1:
            tx *= img_shape[self._rows]
        if np.max(np.abs(self.width_shift_range)) < 1:
            ty *= img_shape[self._columns]
        shear = drawn(self.shear_range)
        zx = zy = 1
        if self.zoom_range != (1, 1):
            zx, zy = np.random.uniform(*self.zoom_range, 2)
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": np.random.random() < 0.5 and self.horizontal_flip,
            "flip_vertical": np.random.random() < 0.5 and self.vertical_flip,
            "channel_shift_intensity": drawn(self.channel_shift_range) or None,
        }

    def apply_transform(self, x, transform_parameters):
        """A picture changed by what get_random_transform() gives."""
        found = transform_parameters
        x = apply_affine_transform(
            x,
            *(found.get(k, d) for k, d in (("theta", 0), ("tx", 0), ("ty", 0), ("shear", 0),
                                           ("zx", 1), ("zy", 1))),
            row_axis=self._rows, col_axis=self._columns, channel_axis=self._channels,
            fill_mode=self.fill_mode, cval=self.cval,
        )  # fmt: skip
        if found.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, found["channel_shift_intensity"], self._channels)
        if found.get("flip_horizontal"):
            x = np.flip(x, self._columns)
        return np.flip(x, self._rows) if found.get("flip_vertical") else x

    def random_transform(self, x, seed=None):
        """A picture changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))
