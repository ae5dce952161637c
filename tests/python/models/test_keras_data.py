"""Data for models: sequences, text, pictures, batches, callbacks, data sets that are there."""

import glob
import os

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import eager

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    np.random.seed(0)
    yield
    keras.backend.clear_session()


def model():
    made = keras.Sequential([layers.Flatten(input_shape=(4, 4, 1)), layers.Dense(1)])
    made.compile("sgd", "mse", metrics=["mae"])
    return made


def pictures(count=12):
    return np.random.rand(count, 4, 4, 1).astype("float32"), np.random.rand(count)


def test_sequences_are_padded_and_cut():
    pad = keras.preprocessing.sequence.pad_sequences
    assert pad([[1, 2, 3], [4]], maxlen=2).tolist() == [[2, 3], [0, 4]]
    found = pad([[1, 2, 3], [4]], maxlen=2, padding="post", truncating="post", value=9)
    assert found.tolist() == [[1, 2], [4, 9]]
    with pytest.raises(ValueError, match="Padding type"):
        pad([[1]], padding="somewhere")


def test_a_tokenizer_numbers_words_by_how_often_they_occur():
    made = keras.preprocessing.text.Tokenizer(num_words=4, oov_token="?")
    made.fit_on_texts(["A b b, c", "b a d"])
    assert made.word_index == {"?": 1, "b": 2, "a": 3, "c": 4, "d": 5}
    assert made.texts_to_sequences(["a b z c"]) == [[3, 2, 1, 1]]
    assert made.texts_to_matrix(["b b a"], "count").tolist() == [[0, 0, 2, 1]]


def test_pictures_turned_by_ninety_degrees():
    x = np.arange(16, dtype="float32").reshape(4, 4, 1)
    turned = keras.preprocessing.image.apply_affine_transform(x, theta=90)
    np.testing.assert_allclose(turned[:, :, 0], np.rot90(x[:, :, 0], -1), atol=1e-4)


def test_generators_sequences_and_datasets_are_fit():
    x, y = pictures()
    generator = keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True)
    history = model().fit_generator(generator.flow(x, y, batch_size=5), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2

    class Batches(keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return x[i * 4 : i * 4 + 4], y[i * 4 : i * 4 + 4]

    made = model()
    start = made.get_weights()
    by_sequence = made.fit(Batches(), shuffle=False, verbose=0).history
    made.set_weights(start)
    by_arrays = made.fit(x, y, batch_size=4, shuffle=False, verbose=0).history
    np.testing.assert_allclose(by_sequence["loss"], by_arrays["loss"], rtol=1e-5)
    made.set_weights(start)
    dataset = tf.data.Dataset.from_tensor_slices((x, y.astype("float32"))).batch(4)
    by_dataset = made.fit(dataset, verbose=0).history
    np.testing.assert_allclose(by_dataset["loss"], by_arrays["loss"], rtol=1e-5)
    assert made.predict(dataset).shape == (12, 1)


def test_the_steps_of_datasets_of_known_size_are_told(capsys):
    x, y = pictures()
    dataset = tf.data.Dataset.from_tensor_slices((x, y.astype("float32"))).batch(5)
    made = model()
    made.fit(dataset, verbose=1)
    made.evaluate(dataset, verbose=1)
    printed = capsys.readouterr().out
    assert "Train on 3 steps" in printed
    assert printed.count("3/3 [====") == 2
    assert "Unknown" not in printed
    made.fit(dataset.filter(lambda x, y: True), verbose=1)
    assert "1/Unknown" in capsys.readouterr().out
    with pytest.raises(ValueError, match="infinitely repeating dataset"):
        made.fit(dataset.repeat(), verbose=0)


def test_a_dataset_of_known_size_is_gone_over_to_its_end(tmp_path):
    x, y = pictures()
    dataset = tf.data.Dataset.from_tensor_slices((x, y.astype("float32"))).batch(5)
    model().fit(dataset.cache(str(tmp_path / "kept")), verbose=0)
    assert (tmp_path / "kept.index").exists()


def test_callbacks_stop_slow_down_and_write(tmp_path):
    x, y = pictures()
    made, rates = model(), []
    seen = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: rates.append(logs["lr"]))  # fmt: skip
    history = made.fit(
        x, y, epochs=9, verbose=0,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=100),
            keras.callbacks.EarlyStopping("loss", patience=3, min_delta=100),
            keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
            keras.callbacks.TensorBoard(str(tmp_path / "events")),
            keras.callbacks.ModelCheckpoint(str(tmp_path / "w{epoch}"), save_weights_only=True),
            seen,
        ],
    )  # fmt: skip
    assert history.epoch == [0, 1, 2, 3]
    np.testing.assert_allclose(rates, [0.01, 0.01, 0.005, 0.0025], rtol=1e-6)
    lines = (tmp_path / "log.csv").read_text().split("\n")
    assert lines[0].startswith("epoch,loss,") and len(lines) == 6
    events = tf.train.summary_iterator(glob.glob(str(tmp_path / "events" / "*"))[0])
    tags = {value.tag for event in events for value in event.summary.value}
    assert {"epoch_loss", "epoch_mean_absolute_error"} <= tags
    assert os.path.exists(tmp_path / "w4.index")


def test_a_data_set_is_read_where_it_was_downloaded(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    path = tmp_path / "datasets" / "mine.npz"
    np.savez(path, a=[1, 2])
    found = keras.utils.get_file("mine.npz", "http://nowhere.invalid/mine.npz")
    assert found == str(path)
    with pytest.raises(OSError, match="put the file at"):
        keras.utils.get_file("other.npz", "http://nowhere.invalid/other.npz")


def test_functions_of_the_backend():
    K = keras.backend
    x = K.placeholder(shape=(None, 3))
    run = K.function([x], [K.sum(x, axis=1), K.softmax(x), K.in_train_phase(x * 2, x, 1)])
    total, soft, doubled = run([np.array([[1.0, 2.0, 3.0]])])
    assert total.tolist() == [6] and soft.sum() == pytest.approx(1) and doubled[0, 0] == 2
    v = K.variable([1.0, 2.0])
    K.set_value(v, [3.0, 4.0])
    assert K.get_value(v).tolist() == [3, 4]
    assert K.int_shape(x) == (None, 3) and K.ndim(x) == 2 and K.dtype(x) == "float32"
    assert K.eval(K.batch_dot(K.ones((2, 3, 4)), K.ones((2, 4, 5)))).shape == (2, 3, 5)


def test_texts_of_folders_are_cut_off(tmp_path):
    for kind, text in (("a", "hello world"), ("b", "xy")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "text.txt").write_text(text)
    import rheos.v2 as tf2

    eager.enable_eager_execution()
    try:
        ((texts, labels),) = tf2.keras.utils.text_dataset_from_directory(
            str(tmp_path), max_length=5, shuffle=False, verbose=False
        )
        assert texts.numpy().tolist() == [b"hello", b"xy"]
        assert labels.numpy().tolist() == [0, 1]
    finally:
        eager.disable_eager_execution()
