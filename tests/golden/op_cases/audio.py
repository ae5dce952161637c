"""Sounds, spectrograms of them, and pictures in summaries."""
from .common import *  # noqa: F403


def wav(samples, channels=1, rate=8000, fmt=1, bits=16, frame=None, second=None, extra=b"",
        before=b"", after=b"", name=b"data", size=None):
    """The bytes of a WAV file, sound or not."""
    data = np.asarray(samples, "<i2").tobytes()
    frame = 2 * channels if frame is None else frame
    second = rate * frame if second is None else second

    def word(value):
        return int(value).to_bytes(4, "little")

    def half(value):
        return int(value).to_bytes(2, "little")

    header = half(fmt) + half(channels) + word(rate) + word(second) + half(frame) + half(bits)
    chunk = name + word(len(data) if size is None else size) + data
    return (b"RIFF" + word(36 + len(data)) + b"WAVEfmt " + word(16 + len(extra)) + header + extra
            + before + chunk + after)


def encoding(t):
    t.add("EncodeWav", "stereo", f([[0, 1], [-1, 0.5], [0.25, -0.25]]), i(44100))
    t.add("EncodeWav", "mono", wave(F32, (9, 1), 0.7), i(8000))
    t.add("EncodeWav", "clipped", f([[NAN], [INF], [-INF], [1e30], [0.00001526], [-0.00001526]]),
          i(1))
    t.add("EncodeWav", "fast", f([[1]]), i(2**31 - 1))
    t.add("EncodeWav", "many_channels", wave(F32, (2, 7)), i(16000))
    t.add("EncodeWav", "empty", empty(F32, (0, 2)), i(8000))
    t.add("EncodeWav", "bad_no_channels", empty(F32, (2, 0)), i(8000))
    t.add("EncodeWav", "bad_rank", f([1, 2]), i(8000))
    t.add("EncodeWav", "bad_rate", f([[1]]), i(0))
    t.add("EncodeWav", "bad_negative_rate", f([[1]]), i(-1))
    t.add("EncodeWav", "bad_rates", f([[1]]), i([8000]))


def decoding(t):
    six = [0, 32767, -32768, 16384, 8192, -8192]
    stereo = wav(six, 2, 44100)
    note = b"LIST\x02\0\0\0ab"
    sounds = {"stereo": stereo, "mono": wav(six), "none": wav([]), "before": wav(six, before=note),
              "after": wav(six, after=note), "cut_after": wav(six, after=b"LIST\x09\0\0\0ab"),
              "long_header": wav(six, extra=b"\0\0"), "fast": wav(six, rate=2**31 - 1)}
    for tag, sound in sounds.items():
        t.add("DecodeWav", tag, s(sound))
    for attrs in ({"desired_channels": 1}, {"desired_channels": 3}, {"desired_channels": 0},
                  {"desired_samples": 2}, {"desired_samples": 5}, {"desired_samples": 0},
                  {"desired_channels": 3, "desired_samples": 4}):
        tag = "_".join(name[8:] + str(value) for name, value in attrs.items())
        t.add("DecodeWav", tag, s(stereo), **attrs)
    bad = {"nothing": b"", "header": stereo[:20], "cut": stereo[:-1], "data_header": stereo[:40],
           "no_data": stereo[:36], "trailing": stereo + b"ab",
           "twice": stereo + b"data\x02\0\0\0ab",
           "riff": b"riff" + stereo[4:], "wave": stereo[:8] + b"WAVY" + stereo[12:],
           "format": wav(six, fmt=3), "channels": wav(six, 0, frame=2), "bits": wav(six, bits=8),
           "frame": wav(six, frame=3), "second": wav(six, second=3),
           "long": wav(six, extra=b"\0\0\0\0"), "huge": wav(six, size=2**31),
           "large": wav(six, size=2**31 - 1), "odd": wav(six, 2, size=11)}
    for tag, sound in bad.items():
        t.add("DecodeWav", "bad_" + tag, s(sound))
    t.add("DecodeWav", "bad_vector", s([stereo]))
    t.add("DecodeWav", "bad_desired_channels", s(stereo), desired_channels=-2)
    t.add("DecodeWav", "bad_desired_samples", s(stereo), desired_samples=-2)


def spectra(t):
    sound = wave(F32, (12, 2), 0.9)
    for size, stride in ((4, 2), (3, 1), (5, 4), (8, 8), (2, 3), (12, 1), (16, 1), (4, 99)):
        for squared in (False, True):
            tag = "%d_%d%s" % (size, stride, "_squared" if squared else "")
            t.add("AudioSpectrogram", tag, sound, window_size=size, stride=stride,
                  magnitude_squared=squared, tol=4)
    t.add("AudioSpectrogram", "nan", f([[1], [NAN], [3], [4], [5]]), window_size=2, stride=1)
    t.add("AudioSpectrogram", "empty", empty(F32, (0, 1)), window_size=4, stride=1)
    t.add("AudioSpectrogram", "no_channels", empty(F32, (8, 0)), window_size=4, stride=1)
    t.add("AudioSpectrogram", "bad_rank", f([1, 2, 3]), window_size=2, stride=1)
    t.add("AudioSpectrogram", "bad_window", sound, window_size=1, stride=1)
    t.add("AudioSpectrogram", "bad_no_window", sound, window_size=0, stride=1)


def cepstra(t):
    spectrum = wave(F32, (1, 2, 9)) ** 2 * 10
    small = {"filterbank_channel_count": 4, "dct_coefficient_count": 3}
    t.add("Mfcc", "plain", spectrum, i(8000), tol=4)
    t.add("Mfcc", "small", spectrum, i(8000), tol=4, **small)
    t.add("Mfcc", "channels", wave(F32, (2, 3, 17)) ** 2, i(16000), tol=4, **small)
    t.add("Mfcc", "limits", spectrum, i(44100), upper_frequency_limit=20000.0,
          lower_frequency_limit=300.0, tol=4, **small)
    t.add("Mfcc", "to_the_end", spectrum, i(8001), lower_frequency_limit=0.0, tol=4, **small)
    t.add("Mfcc", "too_high", spectrum, i(4000), **small)
    t.add("Mfcc", "infinite", spectrum, i(8000), upper_frequency_limit=INF, **small)
    t.add("Mfcc", "narrow", spectrum, i(8000), upper_frequency_limit=21.0, tol=4, **small)
    t.add("Mfcc", "silence", spectrum * 0, i(8000), tol=4, **small)
    t.add("Mfcc", "negative", -spectrum, i(8000), **small)
    t.add("Mfcc", "nan", f([[[1, NAN, 3, 4, 5]]]), i(8000), **small)
    t.add("Mfcc", "empty", empty(F32, (1, 0, 9)), i(8000), **small)
    for tag, attrs in {"coefficients": {"filterbank_channel_count": 4, "dct_coefficient_count": 5},
                       "no_coefficients": {"dct_coefficient_count": 0},
                       "no_channels": {"filterbank_channel_count": 0},
                       "lower": {"lower_frequency_limit": -1.0},
                       "upper": {"upper_frequency_limit": 10.0}}.items():
        t.add("Mfcc", "bad_" + tag, spectrum, i(8000), **attrs)
    t.add("Mfcc", "bad_rate", spectrum, i(0))
    t.add("Mfcc", "bad_rates", spectrum, i([8000]))
    t.add("Mfcc", "bad_length", spectrum[:, :, :1], i(8000))
    t.add("Mfcc", "bad_rank", spectrum[0], i(8000))


def pictures(t):
    six = np.arange(6.0).reshape(1, 2, 3, 1)
    odd = six.copy()
    odd[0, 0, 1, 0], odd[0, 1, 1, 0] = NAN, INF

    def add(tag, values, dtype=F32, **attrs):
        t.add("ImageSummary", tag, s("a/b"), np.asarray(values, dtype), **attrs)

    for dtype in (U8, F16, F32, F64):
        name = np.dtype(dtype).name
        add(name, six * 40, dtype)
        add("colors_" + name, np.concatenate([six, 2 * six, 7 * six], -1), dtype)
        if dtype != U8:
            add("negative_" + name, six - 3.5, dtype)
            add("odd_" + name, odd - 2, dtype)
    add("zeros", six * 0)
    add("all_odd", six * NAN)
    add("all_negative", -six - 1)
    add("tiny", six * 1e-7)
    add("tiny_half", six * 1e-3, F16)
    add("large", six * 1e37)
    add("large_half", six * 13000, F16)
    add("larger_than_float", (six - 2) * 1e300, F64)
    add("alpha", np.concatenate([odd] * 4, -1))
    add("one", np.concatenate([six] * 3), max_images=1)
    add("two_of_three", np.stack([six[0], six[0] - 3, six[0] * 9]), max_images=2)
    add("fewer", six, max_images=5)
    add("none", empty(F32, (0, 2, 2, 1)))
    grey, colors = np.array([9], U8), np.array([9, 8, 7], U8)
    add("odd_pixels_grey", odd, bad_color=grey)
    add("odd_pixels_colors", np.concatenate([odd] * 3, -1), bad_color=colors)
    add("bad_color_few", np.concatenate([odd] * 3, -1), bad_color=grey)
    add("bad_color_dtype", odd, bad_color=np.array([9, 8, 7], I32))
    add("bad_color_rank", odd, bad_color=np.array(9, U8))
    add("bad_channels", empty(F32, (1, 2, 2, 2)))
    add("bad_rank", empty(F32, (1, 2, 2)))
    add("bad_height", empty(F32, (1, 0, 2, 1)))
    add("bad_width", empty(F32, (1, 2, 0, 1)))
    t.add("ImageSummary", "bad_tag", s(["a", "b"]), six.astype(F32))


def cases():
    t = Table()
    for group in (encoding, decoding, spectra, cepstra, pictures):
        group(t)
    return t.cases
