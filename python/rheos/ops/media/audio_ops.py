"""Sound: WAV files, spectrograms, cepstral coefficients."""

from rheos.framework.op_call import op1, op_results


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The sound [samples, channels] of a WAV file, between -1 and 1, and its sample rate.

    desired_channels, desired_samples: as in the file by default.
    """
    return op_results(
        "DecodeWav",
        name,
        contents,
        desired_channels=desired_channels,
        desired_samples=desired_samples,
    )


def encode_wav(audio, sample_rate, name=None):
    """The WAV file, of 16 bits a sample, of sound [samples, channels] between -1 and 1."""
    return op1("EncodeWav", name, audio, sample_rate)


def audio_spectrogram(input, window_size, stride, magnitude_squared=False, name=None):
    """The magnitudes [channels, slices, frequencies] of the sound [samples, channels]."""
    return op1(
        "AudioSpectrogram",
        name,
        input,
        window_size=window_size,
        stride=stride,
        magnitude_squared=magnitude_squared,
    )


def mfcc(
    spectrogram,
    sample_rate,
    upper_frequency_limit=4000,
    lower_frequency_limit=20,
    filterbank_channel_count=40,
    dct_coefficient_count=13,
    name=None,
):
    """The mel frequency cepstral coefficients of a spectrogram of squared magnitudes."""
    return op1(
        "Mfcc",
        name,
        spectrogram,
        sample_rate,
        upper_frequency_limit=upper_frequency_limit,
        lower_frequency_limit=lower_frequency_limit,
        filterbank_channel_count=filterbank_channel_count,
        dct_coefficient_count=dct_coefficient_count,
    )
