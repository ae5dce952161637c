"""Signals: frames of them, windows, spectra of frames and back, mel scales."""

import math

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops, spectral_ops
from rheos.ops.math.special_math_ops import bessel_i0

# ---- Windows


def _raised_cosine(name, default_name, window_length, periodic, dtype, a, b):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Found %s" % dtype)
    with name_scope(name, default_name, [window_length, periodic]):
        window_length = convert_to_tensor(window_length, dtype=dtypes.int32, name="window_length")
        window_length.shape.assert_has_rank(0)
        if constant_value(window_length) == 1:
            return array_ops.ones([1], dtype=dtype)
        periodic = math_ops.cast(
            convert_to_tensor(periodic, dtype=dtypes.bool, name="periodic"), dtypes.int32
        )
        # Of an odd length both kinds are the same.
        even = 1 - math_ops.mod(window_length, 2)
        last = math_ops.cast(window_length + periodic * even - 1, dtype=dtype)
        place = math_ops.cast(math_ops.range(window_length), dtype)
        angle = constant(2 * math.pi, dtype=dtype) * place / last
        return math_ops.cast(a - b * math_ops.cos(angle), dtype=dtype)


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """0.5 - 0.5 * cos(2 pi i / n), (window_length,).

    periodic: whether n is the length instead of the length less 1, for even lengths. ValueError if
    the dtype is not floating point.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """0.54 - 0.46 * cos(2 pi i / n), (window_length,); see hann_window."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


# ---- Frames


def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """A vector of Kaiser's window, narrower for larger beta."""
    with name_scope(name, "kaiser_window"):
        length = convert_to_tensor(window_length, name="window_length")
        half = (math_ops.cast(length, dtype) - 1) / 2
        places = math_ops.cast(math_ops.range(length), dtype) - half
        ratio = math_ops.div_no_nan(places, half)
        inner = math_ops.cast(beta, dtype) * math_ops.sqrt(1 - ratio * ratio)
        return bessel_i0(inner) / bessel_i0(math_ops.cast(beta, dtype))


def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """A vector of the window that Kaiser's of half the length gives, whose squares overlap to 1."""
    with name_scope(name, "kaiser_bessel_derived_window"):
        length = convert_to_tensor(window_length, name="window_length")
        sums = math_ops.cumsum(kaiser_window(length // 2 + 1, beta, dtype))
        half = math_ops.sqrt(sums[:-1] / sums[-1])
        return array_ops.concat([half, array_ops.reverse(half, [0])], 0)


def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """A vector of Vorbis's window, whose squares overlap to 1."""
    with name_scope(name, "vorbis_window"):
        length = convert_to_tensor(window_length, name="window_length")
        size = math_ops.cast(length, dtype)
        half = math_ops.cast(math_ops.range(length), dtype) + 0.5
        inner = math_ops.sin(math.pi / size * half)
        return math_ops.sin(math.pi / 2 * inner * inner)


def _size(x, axis):
    known = x.shape.size_at(axis) if x.shape.ndims is not None else None
    return array_ops.shape(x)[axis] if known is None else known


def _known(value):
    """A whole number of a scalar that is one or a constant; else the tensor."""
    value = convert_to_tensor(value)
    value.shape.assert_has_rank(0)
    known = constant_value(value)
    return value if known is None else int(known)


def _is_number(*values):
    return all(isinstance(v, int) for v in values)


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Parts of `frame_length` samples that start every `frame_step` samples.

    signal: (..., samples, ...), samples along `axis`. Returns (..., frames, frame_length, ...).
    pad_end: whether parts that go beyond the end are filled with `pad_value` instead of left out.
    ValueError if the rank is not known and the axis is not the last, or is out of range.

    >>> print(tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy())
    [[1 2 3]
     [3 4 5]]
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        frame_length = _known(frame_length)
        frame_step = _known(frame_step)
        rank = signal.shape.ndims
        axis_number = _known(axis)
        if rank is None and axis_number == -1:
            outer, length = array_ops.split(array_ops.shape(signal), [-1, 1])
            flat = array_ops.reshape(signal, array_ops.concat([[-1], length], 0))
            frames = frame(flat, frame_length, frame_step, pad_end, pad_value)
            inner = array_ops.shape(frames)[1:]
            return array_ops.reshape(frames, array_ops.concat([outer, inner], 0))
        if rank is None:
            raise ValueError("frame: the number of dimensions of the signal has to be known")
        if not isinstance(axis_number, int) or not -rank <= axis_number < rank:
            raise ValueError(f"axis {axis} is out of range for a signal of rank {rank}")
        axis = axis_number % rank
        length = _size(signal, axis)
        if pad_end:
            count = -(-length // frame_step)
            missing = (count - 1) * frame_step + frame_length - length
            if _is_number(missing):
                missing = max(missing, 0)
            else:
                missing = math_ops.maximum(0, missing)
            paddings = [[0, missing if i == axis else 0] for i in range(rank)]
            signal = array_ops.pad(signal, paddings, constant_values=pad_value)
        else:
            count = 1 + (length - frame_length) // frame_step
            count = max(count, 0) if _is_number(count) else math_ops.maximum(0, count)
        starts = math_ops.range(count) * frame_step
        places = array_ops.expand_dims(starts, 1) + array_ops.expand_dims(
            math_ops.range(frame_length), 0
        )
        frames = array_ops.gather(signal, places, axis=axis)
        static = signal.shape.as_list()
        static[axis : axis + 1] = [
            count if _is_number(count) else None,
            frame_length if _is_number(frame_length) else None,
        ]
        frames.set_shape(static)
        return frames


def _overlap_and_add_of_unknown_rank(signal, step):
    """overlap_and_add by way of one dimension before the frames."""
    shape = array_ops.shape(signal)
    flat = array_ops.reshape(signal, array_ops.concat([[-1], shape[-2:]], 0))
    flat.set_shape([None, None, None])
    sums = overlap_and_add(flat, step)
    return array_ops.reshape(sums, array_ops.concat([shape[:-2], array_ops.shape(sums)[-1:]], 0))


def overlap_and_add(signal, frame_step, name=None):
    """The sum of frames put `frame_step` samples apart, what frame() takes apart.

    signal: (..., frames, frame_length). Returns (..., (frames - 1) * frame_step + frame_length).
    ValueError if frame_step is no integer scalar.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype}")
        step = _known(math_ops.cast(step, dtypes.int32))
        rank = signal.shape.ndims
        if rank is None:
            return _overlap_and_add_of_unknown_rank(signal, step)
        frames, length = _size(signal, -2), _size(signal, -1)
        outer = array_ops.shape(signal)[:-2]
        segments = -(-length // step)
        total = (frames - 1) * step + length
        # Each frame is cut into segments of a step. Written one below the other with rows one
        # segment longer than they are read, segment i is moved by i steps: columns then add up.
        before = array_ops.zeros([rank - 2, 2], dtypes.int32)
        paddings = array_ops.concat([before, [[0, segments], [0, segments * step - length]]], 0)
        padded = array_ops.pad(signal, paddings)
        shape = array_ops.concat([outer, [frames + segments, segments, step]], 0)
        cut = array_ops.reshape(padded, shape)
        order = [*range(rank - 2), rank - 1, rank - 2, rank]
        cut = array_ops.transpose(cut, order)
        shape = array_ops.concat([outer, [segments * (frames + segments), step]], 0)
        rows = array_ops.reshape(cut, shape)
        rows = rows[..., : segments * (frames + segments - 1), :]
        shape = array_ops.concat([outer, [segments, frames + segments - 1, step]], 0)
        sums = math_ops.reduce_sum(array_ops.reshape(rows, shape), -3)
        shape = array_ops.concat([outer, [(frames + segments - 1) * step]], 0)
        result = array_ops.reshape(sums, shape)[..., :total]
        static = signal.shape[:-2].concatenate(total if _is_number(total) else None)
        result.set_shape(TensorShape(static))
        return result


# ---- Spectra of frames


def _power_of_two(length):
    """The smallest power of 2 that is not below the length."""
    if _is_number(length):
        return 1 if length <= 1 else 2 ** (length - 1).bit_length()
    number = math_ops.cast(length, dtypes.float32)
    power = math_ops.ceil(math_ops.log(number) / math_ops.log(2.0))
    return math_ops.cast(math_ops.pow(2.0, power), dtypes.int32)


def stft(
    signals,
    frame_length,
    frame_step,
    fft_length=None,
    window_fn=hann_window,
    pad_end=False,
    name=None,
):
    """The spectra of frames of signals: the short-time Fourier transform.

    signals: (..., samples). Returns complex64 (..., frames, fft_length // 2 + 1). fft_length: by
    default the next power of 2 of frame_length. window_fn: of a length and a dtype; None for no
    window. pad_end: see frame.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = convert_to_tensor(frame_length, name="frame_length")
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        if fft_length is None:
            fft_length = _power_of_two(_known(frame_length))
        fft_length = convert_to_tensor(fft_length, name="fft_length")
        fft_length.shape.assert_has_rank(0)
        frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=frames.dtype)
        return spectral_ops.rfft(frames, [fft_length])


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """A window for inverse_stft() that makes up for the one of stft().

    Returns a function of a length and a dtype.
    """
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step = _known(convert_to_tensor(frame_step, name="frame_step"))

        def inverse_stft_window_fn_inner(frame_length, dtype):
            with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
                length = _known(convert_to_tensor(frame_length, name="frame_length"))
                forward = forward_window_fn(length, dtype=dtype)
                squares = math_ops.square(forward)
                overlaps = -(-length // step)
                squares = array_ops.pad(squares, [(0, overlaps * step - length)])
                squares = array_ops.reshape(squares, [overlaps, step])
                sums = math_ops.reduce_sum(squares, 0, keepdims=True)
                sums = array_ops.reshape(array_ops.tile(sums, [overlaps, 1]), [overlaps * step])
                return forward / sums[:length]

        return inverse_stft_window_fn_inner


def inverse_stft(
    stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None
):
    """Signals from the spectra of their frames; see stft.

    stfts: complex64 (..., frames, fft_length // 2 + 1). Returns (..., samples). For an exact
    inverse `window_fn` is what inverse_stft_window_fn() gives.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length = _known(convert_to_tensor(frame_length, name="frame_length"))
        step = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        fft_length = _power_of_two(length) if fft_length is None else _known(fft_length)
        frames = spectral_ops.irfft(stfts, [fft_length])
        # The frame is the start of the transform, or the transform and zeros.
        if _is_number(length, fft_length):
            missing = max(0, length - fft_length)
        else:
            missing = math_ops.maximum(0, length - fft_length)
        frames = frames[..., :length]
        if not _is_number(missing) or missing > 0:
            before = array_ops.zeros([frames.shape.ndims - 1, 2], dtypes.int32)
            frames = array_ops.pad(frames, array_ops.concat([before, [[0, missing]]], 0))
        if _is_number(length):
            frames.set_shape([*[None] * (frames.shape.ndims - 1), length])
        if window_fn is not None:
            frames *= window_fn(length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, step)


# ---- Mel scales


def _mel(frequencies, name=None):
    """Hertz as mel."""
    with name_scope(name, "hertz_to_mel", [frequencies]):
        frequencies = convert_to_tensor(frequencies)
        return 1127.0 * math_ops.log(1.0 + (frequencies / 700.0))


def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
):
    """A matrix that takes spectra to mel scales: (num_spectrogram_bins, num_mel_bins).

    Each mel bin is a triangle between the mels of two neighbours, which are equally far apart from
    `lower_edge_hertz` to `upper_edge_hertz`. ValueError for bins, rates or edges that make no
    sense.
    """
    with name_scope(name, "linear_to_mel_weight_matrix"):
        known_rate = constant_value(sample_rate)
        if known_rate is None:
            raise ValueError(
                "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant "
                "Tensor."
            )
        if num_mel_bins <= 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
        if lower_edge_hertz < 0.0:
            raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
        if lower_edge_hertz >= upper_edge_hertz:
            raise ValueError(
                f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz "
                f"{upper_edge_hertz:.1f}"
            )
        if known_rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {known_rate}")
        if upper_edge_hertz > known_rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate "
                f"/ 2). Got {upper_edge_hertz} for sample_rate: {known_rate}"
            )
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError("dtype must be a floating point type. Got: %s" % dtype)
        rate = math_ops.cast(sample_rate, dtype, name="sample_rate")
        lower = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        # The constant part of a spectrum is in no bin.
        linear = math_ops.linspace(zero, rate / 2.0, num_spectrogram_bins)[1:]
        bins = array_ops.expand_dims(_mel(linear), 1)
        edges = frame(
            math_ops.linspace(_mel(lower), _mel(upper), num_mel_bins + 2),
            frame_length=3,
            frame_step=1,
        )
        low, center, high = [
            array_ops.reshape(t, [1, num_mel_bins]) for t in array_ops.split(edges, 3, axis=1)
        ]
        rising = (bins - low) / (center - low)
        falling = (high - bins) / (high - center)
        weights = math_ops.maximum(zero, math_ops.minimum(rising, falling))
        return array_ops.pad(weights, [[1, 0], [0, 0]], name=name)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """The cepstral coefficients of logarithms of mel spectra, (..., bins); the shape stays.

    ValueError for no bins.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        logs = convert_to_tensor(log_mel_spectrograms, name="log_mel_spectrograms")
        count = logs.shape.size_at(-1) if logs.shape.ndims else None
        if count == 0:
            raise ValueError("num_mel_bins must be positive. Got: %s" % logs)
        bins = array_ops.shape(logs)[-1] if count is None else count
        scale = math_ops.rsqrt(math_ops.cast(bins, dtypes.float32) * 2.0)
        return spectral_ops.dct(logs, type=2) * scale


# ---- Modified cosine transforms


def _window_of(window_fn, length, dtype):
    if window_fn is None:
        return math_ops.cast(1 / math.sqrt(2), dtype)
    return window_fn(length, dtype=dtype)


def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """The modified discrete cosine transforms of frames of signals, each half over the last.

    signals: float (..., samples). frame_length: a multiple of 4. window_fn: of a length and a
    dtype; None for 1 / sqrt(2). norm: None or "ortho". Returns (..., frames, frame_length // 2).
    """
    with name_scope(name, "mdct", [signals, frame_length]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length = _known(convert_to_tensor(frame_length, name="frame_length"))
        if _is_number(length) and length % 4:
            raise ValueError("The frame length must be a multiple of 4.")
        frames = frame(signals, length, length // 2, pad_end=pad_end)
        frames *= _window_of(window_fn, length, frames.dtype)
        a, b, c, d = array_ops.split(frames, 4, axis=-1)
        upper = -array_ops.reverse(c, [-1]) - d
        lower = a - array_ops.reverse(b, [-1])
        return spectral_ops.dct(array_ops.concat([upper, lower], -1), type=4, norm=norm)


def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """The signals that mdct() made `mdcts` of, but for its first and last half of a frame.

    mdcts: float (..., frames, frame_length // 2); the other arguments are those of mdct().
    """
    with name_scope(name, "inverse_mdct", [mdcts]):
        mdcts = convert_to_tensor(mdcts, name="mdcts")
        mdcts.shape.with_rank_at_least(2)
        half = _size(mdcts, -1)
        halves = spectral_ops.idct(mdcts, type=4, norm=norm)
        if norm is None:
            halves *= math_ops.cast(0.5 / math_ops.cast(half, mdcts.dtype), mdcts.dtype)
        upper, lower = array_ops.split(halves, 2, axis=-1)
        turned = array_ops.reverse(upper, [-1])
        parts = [lower, -array_ops.reverse(lower, [-1]), -turned, -upper]
        frames = array_ops.concat(parts, -1) * _window_of(window_fn, 2 * half, mdcts.dtype)
        return overlap_and_add(frames, half)
