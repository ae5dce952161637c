// zlib's compression, whole strings or piece by piece.
#ifndef RHEOS_SRC_CODEC_COMPRESS_H
#define RHEOS_SRC_CODEC_COMPRESS_H

#include <rheos/format.h>

#include "codec/buffer.h"

// The kind that TensorFlow calls "", "ZLIB" or "GZIP"; false for another name.
bool rheos__compression_of(const char *name, rheos_compression *out_compression);

// ---- Out of it

typedef struct rheos__inflater rheos__inflater;

rheos_status *rheos__inflater_new(rheos_compression compression, rheos__inflater **out_inflater);
void rheos__inflater_free(rheos__inflater *inflater);

// Decompresses from `*in` (which moves, as `*in_bytes` shrinks) into `out`; *out_made is less than
// its size only where the input is used up. RHEOS_DATA_LOSS if the input is damaged.
rheos_status *rheos__inflater_run(rheos__inflater *inflater, const char **in, size_t *in_bytes,
                                  char *out, size_t out_bytes, size_t *out_made);
// Whether the input so far is whole: it stopped behind a stream, or has not begun.
bool rheos__inflater_is_whole(const rheos__inflater *inflater);

// Appends what the bytes are when decompressed. RHEOS_DATA_LOSS if they are damaged or cut.
rheos_status *rheos__decompress(rheos_compression compression, const void *data, size_t size_bytes,
                                rheos__buffer *out);

// ---- Into it

typedef struct rheos__deflater rheos__deflater;

// level: 1 (fast) to 9 (small), -1 for zlib's own.
rheos_status *rheos__deflater_new(rheos_compression compression, int level,
                                  rheos__deflater **out_deflater);
rheos_status *rheos__deflater_new_with(const rheos_record_options *options,
                                       rheos__deflater **out_deflater);
void rheos__deflater_free(rheos__deflater *deflater);

typedef enum rheos__deflate_until {
  RHEOS__DEFLATE_FULL,   // keeps back what may be compressed further
  RHEOS__DEFLATE_FLUSH,  // all that came can be decompressed
  RHEOS__DEFLATE_END,    // the stream ends
} rheos__deflate_until;

// Compresses, handing over pieces as they come.
rheos_status *rheos__deflater_run(
    rheos__deflater *deflater, const void *data, size_t size_bytes, rheos__deflate_until until,
    rheos_status *(*put)(void *argument, const void *data, size_t size_bytes), void *argument);

#endif  // RHEOS_SRC_CODEC_COMPRESS_H
