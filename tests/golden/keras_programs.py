"""Small programs of TensorFlow 2's tf.keras; see make_keras_programs.py.

A program is a function of the module tf that gives arrays, texts, or lists and dicts of these.
What it draws at random follows from seeds.
"""

import numpy as np

PROGRAMS = {}


def program(function):
    """A decorator: a function of tf gives what is recorded."""
    PROGRAMS[function.__name__] = function
    return function


def numbers(*shape, seed=1, low=-1.0, high=1.0):
    """Numbers of a range."""
    return np.random.RandomState(seed).uniform(low, high, shape).astype("float32")


def recorded(tf, name):
    """What a program gives, as JSON has it: the numbers of an array, at most 24, with its shape."""
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(7)
    return _plain(PROGRAMS[name](tf))


def error_of(function, *args):
    """The class of the error that a call raises, or its result."""
    try:
        return function(*args)
    except Exception as error:  # whatever it is
        return f"raises {type(error).__name__}"


def _plain(value):
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if hasattr(value, "numpy"):
        value = value.numpy()
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return [x.decode() if isinstance(x, bytes) else str(x) for x in array.reshape(-1)]
    flat = array.reshape(-1)
    step = max(len(flat) // 24, 1)
    kept = [round(float(x), 6) for x in flat[::step][:24]]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "numbers": kept}


PICTURES = numbers(3, 6, 5, 3, low=0, high=255)
TEXTS = ["The quick, brown fox!", "the lazy dog  jumped", "Fox AND dog."]


@program
def rescaling(tf):
    layers = tf.keras.layers
    return [layers.Rescaling(1 / 255.0, offset=-1)(PICTURES), layers.Rescaling(2)(PICTURES[0])]


@program
def normalization(tf):
    def adapted(data, x, **settings):
        layer = tf.keras.layers.Normalization(**settings)
        layer.adapt(data)
        return layer(x)

    rows = PICTURES[:, 0, 0]
    batches = tf.data.Dataset.from_tensor_slices(rows).batch(2)
    given = tf.keras.layers.Normalization(mean=[3.0, 1, 2], variance=[2.0, 1, 4], invert=True)
    return [adapted(rows, rows), adapted(PICTURES, PICTURES, axis=(1, 3)), adapted(batches, rows),
            adapted(PICTURES, PICTURES, axis=None), given(PICTURES)]  # fmt: skip


@program
def resizing(tf):
    make = tf.keras.layers.Resizing
    found = [make(4, 7, interpolation=kind, antialias=smooth)(PICTURES)
             for kind in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5")
             for smooth in (False, True)]  # fmt: skip
    found += [make(3, 3)(PICTURES.astype("uint8")), make(3, 2)(PICTURES[0]),
              make(4, 4, crop_to_aspect_ratio=True)(PICTURES),
              make(4, 9, pad_to_aspect_ratio=True, fill_value=7.0)(PICTURES)]  # fmt: skip
    return found


@program
def center_crop(tf):
    make = tf.keras.layers.CenterCrop
    return [make(3, 2)(PICTURES), make(8, 2)(PICTURES), make(3, 3)(PICTURES[0].astype("uint8"))]


@program
def discretization(tf):
    make = tf.keras.layers.Discretization
    found = [make([0.0, 100.0, 200.0])(PICTURES), make([0.0, 10.0])(np.array([1, 11], "int32")),
             make([0.0, 100.0], output_mode="count")(PICTURES[:, 0, 0])]  # fmt: skip
    for settings in ({"num_bins": 4}, {"num_bins": 3, "epsilon": 0.1}):
        layer = make(**settings)
        layer.adapt(PICTURES)
        found += [np.array(layer.bin_boundaries), layer(PICTURES)]
    return [*found, error_of(make), error_of(lambda: make([1.0], num_bins=2))]


@program
def category_encoding(tf):
    make = tf.keras.layers.CategoryEncoding
    found = [make(num_tokens=4, output_mode=mode)(np.array(x))
             for mode in ("one_hot", "multi_hot", "count")
             for x in ([[1, 2], [3, 3], [0, 1]], [1, 3, 0], [[1], [3]])]  # fmt: skip
    weights = np.array([[0.1, 0.2], [0.5, 0.5]])
    counted = make(num_tokens=4, output_mode="count")
    found.append(counted(np.array([[1, 2], [3, 3]]), count_weights=weights))
    return [*found, error_of(make)]


@program
def hashing(tf):
    make, texts = tf.keras.layers.Hashing, tf.constant([["a"], ["b"], ["cc"]])
    crossing = tf.keras.layers.HashedCrossing
    columns = (tf.constant(["a", "b"]), tf.constant([1, 2]))
    tall = (tf.constant([["a"], ["b"]]), tf.constant([[1], [2]]))
    return [make(7)(texts), make(7, salt=[3, 4])(texts), make(7, mask_value=2)(np.array([1, 2, 3])),
            make(4, output_mode="one_hot")(np.array([1, 2, 3])), crossing(9)(columns),
            make(4, output_mode="multi_hot")(np.array([[1, 2, 3], [4, 5, 6]])),
            crossing(5, output_mode="one_hot")(tall), error_of(lambda: make(0))]  # fmt: skip


def _adapted(make, data, x, **settings):
    layer = make(**settings)
    layer.adapt(data)
    return [[str(token) for token in layer.get_vocabulary()], layer.vocabulary_size(), layer(x)]


@program
def string_lookup(tf):
    make, words = tf.keras.layers.StringLookup, ["a", "b", "c"]
    x, places = tf.constant([["a", "c", "d"], ["d", "z", "b"]]), tf.constant([[1, 2], [3, 9]])
    places = tf.cast(places, tf.int64)
    rows = np.array([["q", "w"], ["q", "e"], ["e", "r"]])
    stream = tf.data.Dataset.from_tensor_slices(["q", "w", "q"]).batch(2)
    masked = make(vocabulary=words[:2], mask_token="c", num_oov_indices=2)
    found = [make(vocabulary=words)(x), masked(x),
             error_of(lambda: make(vocabulary=words, num_oov_indices=0)(x)),
             make(vocabulary=words, invert=True)(places),
             make(vocabulary=words, invert=True, mask_token="")(places),
             make(vocabulary=words, output_mode="tf_idf", idf_weights=[0.2, 0.5, 0.7])(x),
             _adapted(make, rows, x), _adapted(make, stream, tf.constant(["q", "w"]), max_tokens=2),
             _adapted(make, rows, tf.constant([["q", "x"]]), output_mode="tf_idf"),
             error_of(lambda: make(vocabulary=["a", "a"])), error_of(lambda: make(max_tokens=1)),
             error_of(lambda: make(max_tokens=2, vocabulary=words))]  # fmt: skip
    for mode in ("one_hot", "multi_hot", "count"):
        padded = make(vocabulary=words, output_mode=mode, max_tokens=6, pad_to_max_tokens=True)
        found += [make(vocabulary=words, output_mode=mode)(x), padded(tf.constant(["a", "z"]))]
    return found


@program
def integer_lookup(tf):
    make, x = tf.keras.layers.IntegerLookup, np.array([[12, 1138, 42], [36, 12, 0]])
    return [make(vocabulary=[12, 36, 1138])(x), make(vocabulary=[12, 36], num_oov_indices=3,
            mask_token=0)(x), make(vocabulary=[12, 36], invert=True)(np.array([0, 1, 2, 3])),
            _adapted(make, np.array([[5, 5], [3, 3], [7, 5]]), np.array([5, 3, 1]))]  # fmt: skip


@program
def text_vectorization(tf):
    make = tf.keras.layers.TextVectorization
    batches = tf.data.Dataset.from_tensor_slices(TEXTS).batch(2)
    found = [_adapted(make, TEXTS, TEXTS), _adapted(make, TEXTS, TEXTS, output_sequence_length=6),
             _adapted(make, batches, np.array(TEXTS)[:, None], max_tokens=6,
                      output_sequence_length=3),
             _adapted(make, TEXTS, TEXTS, split="character", standardize="lower"),
             _adapted(make, ["a", "b"], np.array([["a"], ["c"]]), split=None, standardize=None),
             _adapted(make, TEXTS, TEXTS, standardize=lambda x: tf.strings.lower(x)),
             make(vocabulary=["fox", "dog"])(TEXTS)]  # fmt: skip
    for mode in ("multi_hot", "count", "tf_idf"):
        found.append(_adapted(make, TEXTS, TEXTS, output_mode=mode, ngrams=2))
        found.append(_adapted(make, TEXTS, TEXTS, output_mode=mode, max_tokens=20,
                              pad_to_max_tokens=True))  # fmt: skip
    return found


@program
def preprocessing_within_models_and_datasets(tf):
    L = tf.keras.layers
    words = L.TextVectorization(output_sequence_length=4)
    words.adapt(TEXTS)
    model = tf.keras.Sequential([
        tf.keras.Input((1,), dtype="string"), words, L.Embedding(20, 3), L.GlobalAveragePooling1D()
    ])  # fmt: skip
    texts = tf.constant([[text] for text in TEXTS])
    flip = L.RandomFlip(seed=1)
    pictures = tf.data.Dataset.from_tensor_slices(PICTURES).batch(2)
    pictures = pictures.map(lambda x: flip(L.Rescaling(1 / 255.0)(x)))
    return [model(texts), model.predict(texts, verbose=0), next(iter(pictures)),
            next(iter(tf.data.Dataset.from_tensor_slices(TEXTS).batch(2).map(words)))]  # fmt: skip


@program
def random_pictures(tf):
    L, found = tf.keras.layers, []
    for layer in (
        L.RandomFlip(seed=5), L.RandomFlip("horizontal", seed=5), L.RandomRotation(0.2, seed=5),
        L.RandomRotation((0.1, 0.3), fill_mode="constant", fill_value=3.0,
                         interpolation="nearest", seed=5),
        L.RandomZoom(0.3, seed=5), L.RandomZoom((-0.3, 0.1), 0.2, fill_mode="nearest", seed=5),
        L.RandomTranslation(0.2, 0.3, seed=5),
        L.RandomTranslation(0.2, (-0.1, 0.3), fill_mode="wrap", seed=5), L.RandomCrop(3, 3, seed=5),
        L.RandomCrop(9, 3, seed=5), L.RandomContrast(0.4, seed=5),
        L.RandomContrast((0.1, 0.4), seed=5), L.RandomBrightness(0.3, seed=5),
        L.RandomBrightness(0.3, value_range=(0, 1), seed=5), L.RandomShear(0.3, 0.2, seed=5),
    ):  # fmt: skip
        found += [layer(PICTURES), layer(PICTURES[0]), layer(PICTURES, training=False)]
    return found


@program
def first_weights_and_dropout(tf):
    L = tf.keras.layers
    first = tf.keras.Sequential([
        tf.keras.Input((8, 8, 3)), L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(),
        L.MaxPooling2D(), L.Dropout(0.3), L.Flatten(), L.Dense(5, kernel_initializer="he_normal"),
    ])  # fmt: skip
    second = tf.keras.Sequential([
        tf.keras.Input((6,)), L.Embedding(10, 4), L.LSTM(3, return_sequences=True),
        L.GRU(2, return_sequences=True), L.Bidirectional(L.SimpleRNN(3, return_sequences=True)),
        L.GaussianNoise(0.1), L.SpatialDropout1D(0.4), L.Dense(1, kernel_initializer="orthogonal"),
    ])  # fmt: skip
    x, words = numbers(4, 8, 8, 3), np.arange(12).reshape(2, 6) % 10
    heads = L.MultiHeadAttention(2, 3)
    heads(x[:, :, 0], x[:, :, 0])
    draw = tf.keras.random
    return [[np.asarray(w) for w in first.weights + second.weights + heads.weights],
            first(x, training=True), first(x, training=True), second(words, training=True),
            draw.normal((3,), seed=5), draw.uniform((3,), seed=5),
            draw.shuffle(np.arange(5), seed=2), draw.randint((3,), 0, 100, seed=1),
            draw.truncated_normal((3,), seed=2)]  # fmt: skip
