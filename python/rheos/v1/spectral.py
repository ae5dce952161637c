"""Fourier and cosine transforms."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.spectral_ops import (
    dct,
    fft,
    fft2d,
    fft3d,
    idct,
    ifft,
    ifft2d,
    ifft3d,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)

__getattr__ = _attribute_of("tensorflow.spectral")
