"""Sound in graphs: as TensorFlow 1.15 has it."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def test_audio__wav_files_come_back():
    sound = np.array([[0.5, -0.25], [1.0, -1.0], [0.0, 0.125]], np.float32)
    file = tf.audio.encode_wav(sound, 8000)
    audio, rate = tf.audio.decode_wav(file)
    mono = tf.audio.decode_wav(file, desired_channels=1, desired_samples=4)
    assert audio.shape.as_list() == [None, None] and mono.audio.shape.as_list() == [4, 1]
    with tf.Session() as session:
        heard, hertz, one = session.run([audio, rate, mono.audio])
    np.testing.assert_allclose(heard, sound, atol=1 / 32768)
    assert hertz == 8000 and one[:, 0].tolist() == [0.5, 32767 / 32768, 0, 0]


def test_audio__a_tone_has_its_frequency():
    import importlib

    ops = tf.contrib.framework.python.ops.audio_ops
    samples = np.sin(2 * np.pi * 1000 * np.arange(800) / 8000).astype(np.float32)[:, None]
    spectrogram = ops.audio_spectrogram(samples, 256, 128, magnitude_squared=True)
    cepstra = ops.mfcc(spectrogram, 8000, dct_coefficient_count=10)
    assert spectrogram.shape.as_list() == [1, 5, 129] and cepstra.shape.as_list() == [1, 5, 10]
    with tf.Session() as session:
        strength, numbers = session.run([spectrogram, cepstra])
    assert set(strength[0].argmax(-1)) == {32}  # 1000 Hz of 4000 in 128 steps
    assert np.isfinite(numbers).all()
    assert importlib.import_module("rheos.v1.audio").decode_wav is tf.audio.decode_wav


def test_audio__what_is_no_sound_is_told():
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Data too short"):
            session.run(tf.audio.decode_wav(b"RIFF"))
    with pytest.raises(ValueError, match="channels must be non-negative"):
        tf.audio.decode_wav(b"", desired_channels=-2)


def test_audio__frames_of_a_signal_of_unknown_rank():
    signal = tf.placeholder_with_default(np.arange(10, dtype=np.float32).reshape(2, 5), None)
    frames = tf.signal.frame(signal, 3, 2, pad_end=True)
    known = tf.signal.frame(tf.reshape(signal, [2, 5]), 3, 2, pad_end=True)
    assert frames.shape.ndims is None
    with tf.Session() as session:
        found, wanted = session.run([frames, known])
    assert found.shape == (2, 3, 3)
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="number of dimensions"):
        tf.signal.frame(signal, 3, 2, axis=0)
