"""Pictures to files and back: JPEG, PNG, GIF, BMP."""
import struct
import zlib

import tensorflow as tf

from .common import *  # noqa: F403


def picture(height, width, channels, step=11):
    """A smooth picture with some detail, so that every codec has something to do."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [(x * step + y * 3) % 256, (y * step + 40) % 256, (x * y * 2) % 256, 255 - x * 9 % 200]
    return np.stack(planes[:channels], -1).astype(np.uint8)


def jpeg(image, optimize_size=True, **options):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.raw_ops.EncodeJpeg(
            image=image, optimize_size=optimize_size, **options))


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(rows, width, depth, color, extra=b"", height=None, interlaced=False):
    """A PNG file of rows of packed bytes; `extra` goes between header and data."""
    height = len(rows) if height is None else height
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    data = b"".join(b"\0" + bytes(row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + extra +
            png_chunk(b"IDAT", zlib.compress(data, 9)) + png_chunk(b"IEND", b""))


def gif_pixels(pixels):
    """Pixels of 2 bits as codes of 3 bits, with a clear code before the codes would grow."""
    codes = [4]
    for k, pixel in enumerate(pixels):
        if k > 0 and k % 2 == 0:
            codes.append(4)
        codes.append(pixel)
    codes.append(5)
    bits = sum(code << (3 * k) for k, code in enumerate(codes))
    data = bits.to_bytes((3 * len(codes) + 7) // 8, "little")
    return b"\x02" + bytes([len(data)]) + data + b"\0"


def gif_frame(left, top, width, height, pixels, transparent=None, interlaced=False, colors=b""):
    control = b""
    if transparent is not None:
        control = b"\x21\xf9\x04" + bytes([1, 5, 0, transparent, 0])
    flags = (0x40 if interlaced else 0) | (0x81 if colors else 0)
    return (control + b"\x2c" + struct.pack("<HHHHB", left, top, width, height, flags) + colors +
            gif_pixels(pixels))


GIF_COLORS = bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7])


def gif(*frames, width=4, height=3, colors=GIF_COLORS):
    flags = 0x81 if colors else 0
    return (b"GIF89a" + struct.pack("<HHBBB", width, height, flags, 0, 0) + colors +
            b"".join(frames) + b"\x3b")


def bmp(bits, width=3, height=2, extra=0):
    row = (abs(width) * bits // 8 + 3) // 4 * 4
    header = b"BM" + struct.pack("<IIIIiiHHIIIIII", 0, 0, 54 + extra, 40, width, height, 1, bits,
                                 0, 0, 0, 0, 0, 0)
    return header + bytes(extra) + bytes(k * 7 % 256 for k in range(row * abs(height)))


def contents(data):
    return s(data)


def jpegs(t):
    gray, color = picture(9, 7, 1), picture(10, 12, 3)
    gray_file, file = jpeg(gray, quality=70), jpeg(color, quality=80)
    t.add("DecodeJpeg", "color", contents(file))
    t.add("DecodeJpeg", "gray", contents(gray_file))
    t.add("DecodeJpeg", "gray_to_color", contents(gray_file), channels=3)
    t.add("DecodeJpeg", "color_to_gray", contents(file), channels=1)
    t.add("DecodeJpeg", "accurate", contents(file), dct_method="INTEGER_ACCURATE")
    t.add("DecodeJpeg", "plain_upscaling", contents(file), fancy_upscaling=False)
    for ratio in (2, 4, 8):
        t.add("DecodeJpeg", "ratio_%d" % ratio, contents(gray_file), ratio=ratio)
    t.add("DecodeJpeg", "progressive", contents(jpeg(gray, progressive=True)))
    tall = jpeg(picture(40, 5, 1), quality=60)
    t.add("DecodeJpeg", "cut_accepted", contents(tall[:-8]), acceptable_fraction=0.1)
    t.add("DecodeJpeg", "no_end_marker", contents(gray_file[:-2]), try_recover_truncated=True)
    t.add("DecodeJpeg", "bad_bytes_for_an_end", contents(gray_file[:-2] + bytes(50)))
    t.add("DecodeJpeg", "bad_marker_for_an_end", contents(gray_file[:-2] + b"\xff\xd8"),
          acceptable_fraction=0.1)
    t.add("DecodeJpeg", "of_png", contents(png([[1, 2], [3, 4]], 2, 8, 0)))
    t.add("DecodeJpeg", "bad_cut", contents(gray_file[:-12]))
    t.add("DecodeJpeg", "bad_header", contents(gray_file[:100]))
    t.add("DecodeJpeg", "bad_magic", contents(b"\xff\xd8\xff"))
    t.add("DecodeJpeg", "bad_text", contents(b"hello"))
    t.add("DecodeJpeg", "bad_empty", contents(b""))
    t.add("DecodeJpeg", "bad_bmp", contents(bmp(24)))
    t.add("DecodeJpeg", "bad_channels", contents(gray_file), channels=4)
    t.add("DecodeJpeg", "bad_ratio", contents(gray_file), ratio=3)
    t.add("DecodeJpeg", "bad_method", contents(gray_file), dct_method="FLOAT")
    t.add("DecodeJpeg", "bad_vector", s([gray_file]))
    for k, window in enumerate([(0, 0, 10, 12), (1, 2, 3, 4), (9, 11, 1, 1), (2, 0, 8, 5),
                                (0, 9, 4, 3)]):
        t.add("DecodeAndCropJpeg", "window_%d" % k, contents(file), Const(window))
    t.add("DecodeAndCropJpeg", "marker_for_an_end",
          contents(file[:-2] + b"\xff\xd8"), Const((0, 0, 2, 2)))
    wide = jpeg(picture(20, 40, 1, 3), quality=50)
    t.add("DecodeAndCropJpeg", "beyond_blocks", contents(wide), i([9, 21, 7, 10]))
    t.add("DecodeAndCropJpeg", "gray", contents(file), i([4, 5, 3, 3]), channels=1)
    t.add("DecodeAndCropJpeg", "half", contents(wide), i([1, 2, 3, 4]), ratio=2)
    for k, window in enumerate([(0, 0, 11, 12), (-1, 0, 2, 2), (0, 0, 0, 3), (0, 0, 3, -1),
                                (5, 5, 2, 2**31 - 1), (1, 2, 3)]):
        t.add("DecodeAndCropJpeg", "bad_window_%d" % k, contents(gray_file), i(window))
    t.add("DecodeAndCropJpeg", "bad_png", contents(png([[1]], 1, 8, 0)), i([0, 0, 1, 1]))
    t.add("ExtractJpegShape", "color", contents(file))
    t.add("ExtractJpegShape", "gray", contents(gray_file), output_type="int64")
    t.add("ExtractJpegShape", "cut", contents(gray_file[:-4]))
    t.add("ExtractJpegShape", "progressive", contents(jpeg(color, progressive=True)))
    t.add("ExtractJpegShape", "one", contents(jpeg(picture(1, 1, 1))))
    t.add("ExtractJpegShape", "bad_png", contents(png([[1]], 1, 8, 0)))
    t.add("ExtractJpegShape", "bad_empty", contents(b""))
    t.add("ExtractJpegShape", "bad_header", contents(gray_file[:60]))


def jpegs_out(t):
    gray, color = picture(9, 7, 1), picture(10, 12, 3)
    t.add("EncodeJpeg", "gray", gray)
    t.add("EncodeJpeg", "color", color)
    t.add("EncodeJpeg", "one", picture(1, 1, 1))
    t.add("EncodeJpeg", "quality_0", gray, quality=0)
    t.add("EncodeJpeg", "quality_100", gray, quality=100)
    t.add("EncodeJpeg", "progressive", color, progressive=True, quality=60)
    t.add("EncodeJpeg", "optimized", gray, optimize_size=True)
    t.add("EncodeJpeg", "full_chroma", color, chroma_downsampling=False, quality=50)
    t.add("EncodeJpeg", "density", gray, density_unit="cm", x_density=70, y_density=71)
    t.add("EncodeJpeg", "metadata", gray, xmp_metadata="<x>y</x>", format="grayscale")
    t.add("EncodeJpeg", "bad_channels", picture(3, 3, 2))
    t.add("EncodeJpeg", "bad_format", gray, format="rgb")
    t.add("EncodeJpeg", "bad_quality", gray, quality=101)
    t.add("EncodeJpeg", "bad_rank", gray[..., 0])
    for quality in (0, 30, 100):
        t.add("EncodeJpegVariableQuality", "gray_%d" % quality, gray, i(quality))
    t.add("EncodeJpegVariableQuality", "color", color, i(75))
    t.add("EncodeJpegVariableQuality", "one", picture(1, 1, 3), i(95))
    t.add("EncodeJpegVariableQuality", "bad_quality", gray, i(-1))
    t.add("EncodeJpegVariableQuality", "bad_vector", gray, i([50]))


def pngs(t):
    palette = png_chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 10, 20, 30]))
    transparent = palette + png_chunk(b"tRNS", bytes([255, 0, 100]))
    files = {
        "gray1": png([[0xa0], [0x40]], 3, 1, 0),
        "gray2": png([[0x1b], [0xe4]], 4, 2, 0),
        "gray4": png([[0x12, 0x30]], 3, 4, 0),
        "gray8": png([[1, 200], [3, 4], [250, 9]], 2, 8, 0),
        "gray16": png([[1, 2, 200, 201]], 2, 16, 0),
        "gray_alpha": png([[10, 20, 30, 40]], 2, 8, 4),
        "gray_transparent": png([[10, 20, 30]], 3, 8, 0, png_chunk(b"tRNS", b"\0\x14")),
        "rgb": png([[1, 2, 3, 40, 50, 60], [200, 100, 0, 9, 99, 199]], 2, 8, 2),
        "rgb16": png([[1, 2, 30, 40, 5, 6]], 1, 16, 2),
        "rgba": png([[1, 2, 3, 4, 50, 60, 70, 80]], 2, 8, 6),
        "rgba16": png([[1, 2, 3, 4, 50, 60, 70, 80]], 1, 16, 6),
        "palette": png([[0, 1, 2]], 3, 8, 3, palette),
        "palette2": png([[0x18]], 3, 2, 3, palette),
        "palette_alpha": png([[0, 1, 2]], 3, 8, 3, transparent),
        "interlaced": png_interlaced(),
    }
    for name, data in files.items():
        for channels in (0, 1, 3, 4):
            t.add("DecodePng", "%s_to_%d" % (name, channels), contents(data), channels=channels)
        if name in ("gray1", "gray8", "gray16", "rgb16", "rgba", "palette", "gray_alpha"):
            t.add("DecodePng", name + "_wide", contents(data), dtype="uint16")
    t.add("DecodePng", "rgb16_wide_gray", contents(files["rgb16"]), dtype="uint16", channels=1)
    t.add("DecodePng", "of_jpeg_wide", contents(jpeg(picture(2, 2, 1))), dtype="uint16")
    t.add("DecodePng", "of_gif", contents(gif(gif_frame(0, 0, 4, 3, [0, 1, 2, 3] * 3))))
    whole = files["rgb"]
    for cut in (8, 20, 33, 45, len(whole) - 20, len(whole) - 13):
        t.add("DecodePng", "bad_cut_%d" % cut, contents(whole[:cut]))
    broken = bytearray(whole)
    broken[20] ^= 1
    t.add("DecodePng", "bad_checksum", contents(bytes(broken)))
    t.add("DecodePng", "bad_channels", contents(whole), channels=2)
    t.add("DecodePng", "bad_negative", contents(whole), channels=-1)
    t.add("DecodePng", "bad_huge", contents(png([[]], 2**27, 8, 0)))
    t.add("DecodePng", "bad_zero", contents(png([[]], 0, 8, 0)))


def png_interlaced():
    """3 by 3 pixels in Adam7's order: five of its seven passes have pixels here."""
    passes = [[1]], [], [], [[3]], [[7, 9]], [[2], [8]], [[4, 5, 6]]
    return png([row for rows in passes for row in rows], 3, 8, 0, height=3, interlaced=True)


def pngs_out(t):
    for channels in (1, 2, 3, 4):
        t.add("EncodePng", "channels_%d" % channels, picture(5, 6, channels))
    t.add("EncodePng", "wide", a(U16, [[[1], [65535]], [[300], [256]]]))
    t.add("EncodePng", "wide_color", a(U16, np.arange(24).reshape(2, 4, 3) * 2731))
    t.add("EncodePng", "one", picture(1, 1, 1))
    t.add("EncodePng", "batch", np.stack([picture(3, 2, 1), picture(3, 2, 1, 5)]))
    t.add("EncodePng", "empty_batch", empty(U8, (0, 2, 2, 1)))
    t.add("EncodePng", "longer", picture(40, 30, 3, 7))
    for compression in (0, 1, 9):
        t.add("EncodePng", "compression_%d" % compression, picture(9, 8, 3),
              compression=compression)
    t.add("EncodePng", "bad_rank", picture(3, 3, 1)[..., 0])
    t.add("EncodePng", "bad_channels", empty(U8, (2, 2, 5)))
    t.add("EncodePng", "bad_compression", picture(3, 3, 1), compression=10)


def gifs(t):
    full = gif_frame(0, 0, 4, 3, [0, 1, 2, 3] * 3)
    part = gif_frame(1, 1, 2, 2, [3, 2, 1, 0])
    files = {
        "still": gif(full),
        "two": gif(full, part),
        "transparent": gif(full, gif_frame(0, 0, 4, 3, [1, 0] * 6, transparent=1)),
        "transparent_first": gif(gif_frame(0, 0, 4, 3, [1, 0] * 6, transparent=1)),
        "part_first": gif(gif_frame(2, 1, 2, 1, [3, 1]), full),
        "interlaced": gif(gif_frame(0, 0, 2, 9, list(range(4)) * 4 + [0, 1], interlaced=True)),
        "own_colors": gif(gif_frame(0, 0, 2, 2, [0, 1, 2, 3], colors=GIF_COLORS[::-1])),
        "outside": gif(full, gif_frame(3, 2, 3, 3, [1] * 9)),
        "comment": gif(b"\x21\xfe\x03abc\0", full),
    }
    for name, data in files.items():
        t.add("DecodeGif", name, contents(data))
    t.add("DecodeGif", "of_png", contents(png([[1, 2]], 2, 8, 0)))
    t.add("DecodeGif", "cut_second", contents(files["two"][:-4]))
    t.add("DecodeGif", "bad_cut", contents(files["still"][:-6]))
    t.add("DecodeGif", "bad_header", contents(files["still"][:9]))
    t.add("DecodeGif", "bad_no_frame", contents(gif()))
    t.add("DecodeGif", "bad_no_colors", contents(gif(full, colors=b"")))
    t.add("DecodeGif", "bad_bmp", contents(bmp(24)))
    t.add("DecodeJpeg", "of_gif", contents(files["still"]))
    t.add("DecodeJpeg", "bad_animation", contents(files["two"]))
    t.add("DecodeJpeg", "bad_gray_gif", contents(files["still"]), channels=1)


def bmps(t):
    for bits in (8, 24, 32):
        for channels in (0, 3, 4):
            t.add("DecodeBmp", "bits_%d_to_%d" % (bits, channels), contents(bmp(bits)),
                  channels=channels)
    t.add("DecodeBmp", "top_down", contents(bmp(24, height=-3)))
    t.add("DecodeBmp", "long_header", contents(bmp(8, extra=12)))
    t.add("DecodeBmp", "one", contents(bmp(24, 1, 1)))
    t.add("DecodeBmp", "bad_cut", contents(bmp(24)[:-4]))
    t.add("DecodeBmp", "bad_header", contents(bmp(24)[:31]))
    t.add("DecodeBmp", "bad_bits", contents(bmp(16)))
    t.add("DecodeBmp", "bad_width", contents(bmp(24, width=0)))
    t.add("DecodeBmp", "bad_height", contents(bmp(24, height=0)))
    t.add("DecodeBmp", "bad_channels", contents(bmp(24)), channels=1)
    t.add("DecodeBmp", "bad_png", contents(png([[1]], 1, 8, 0)))
    huge = bytearray(bmp(24))
    huge[18:22] = struct.pack("<i", 2**31 - 1)
    huge[22:26] = struct.pack("<i", -2**31)
    t.add("DecodeBmp", "bad_huge", contents(bytes(huge)))


def images(t):
    frame = gif_frame(0, 0, 4, 3, [0, 1, 2, 3] * 3)
    files = {
        "jpeg": jpeg(picture(5, 4, 1)),
        "png": png([[1, 200], [3, 4], [250, 9]], 2, 8, 0),
        "png16": png([[1, 2, 200, 201]], 2, 16, 0),
        "gif": gif(frame, gif_frame(1, 1, 2, 2, [3, 2, 1, 0])),
        "bmp": bmp(24),
    }
    for name, data in files.items():
        for dtype in ("uint8", "uint16", "float"):
            t.add("DecodeImage", "%s_%s" % (name, dtype), contents(data), dtype=dtype)
        t.add("DecodeImage", name + "_still", contents(data), expand_animations=False)
        t.add("DecodeImage", name + "_color", contents(data), channels=3)
    t.add("DecodeImage", "bad_text", contents(b"hello"))
    t.add("DecodeImage", "bad_empty", contents(b""))
    t.add("DecodeImage", "bad_channels", contents(files["png"]), channels=5)
    t.add("DecodeImage", "bad_jpeg_alpha", contents(files["jpeg"]), channels=4)


def cases():
    t = Table()
    jpegs(t)
    jpegs_out(t)
    pngs(t)
    pngs_out(t)
    gifs(t)
    bmps(t)
    images(t)
    return sorted(t.cases, key=lambda case: case.op)
