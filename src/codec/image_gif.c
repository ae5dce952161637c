// GIF over giflib. The file is read twice: first its structure, which tells the number and size of
// the frames without unpacking them, so that the picture is allocated once; then the pixels. Damage
// ends the animation: the frames before it are kept.
#include "codec/image.h"

#ifdef RHEOS_WITH_IMAGES
#include <gif_lib.h>

typedef struct source {
  const char *at, *end;
} source;

static int read_bytes(GifFileType *gif, GifByteType *to, int count) {
  source *s = gif->UserData;
  if (count < 0 || s->end - s->at < count) return 0;
  memcpy(to, s->at, (size_t)count);
  s->at += count;
  return count;
}

static rheos_status *failed(int code) {
  const char *text = GifErrorString(code);
  return RHEOS_INVALID("Invalid GIF data: %s", text != NULL ? text : "unknown error");
}

static rheos_status *open_gif(source *s, GifFileType **out_gif) {
  int code = D_GIF_SUCCEEDED;
  *out_gif = DGifOpen(s, read_bytes, &code);
  return *out_gif != NULL ? NULL : failed(code);
}

// ---- What both readings share: the records up to the next frame

enum { NO_TRANSPARENT = -1 };

// Reads one extension; *transparent changes if it says which color is see-through.
static bool read_extension(GifFileType *gif, int *transparent) {
  int function;
  GifByteType *block;
  if (DGifGetExtension(gif, &function, &block) == GIF_ERROR) return false;
  while (block != NULL) {
    GraphicsControlBlock control;
    if (function == GRAPHICS_EXT_FUNC_CODE &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
      *transparent = control.TransparentColor;
    }
    if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return false;
  }
  return true;
}

// Up to the pixels of the next frame. False at the end of the file or where it is damaged.
static bool next_frame(GifFileType *gif, int *transparent) {
  *transparent = NO_TRANSPARENT;
  for (;;) {
    GifRecordType record;
    if (DGifGetRecordType(gif, &record) == GIF_ERROR) return false;
    if (record == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) == GIF_OK;
    if (record == TERMINATE_RECORD_TYPE) return false;
    if (record == EXTENSION_RECORD_TYPE && !read_extension(gif, transparent)) return false;
  }
}

// Adds the bytes that were there to *bytes.
static bool skip_pixels(GifFileType *gif, int64_t *bytes) {
  int code_size;
  GifByteType *block;
  if (DGifGetCode(gif, &code_size, &block) == GIF_ERROR) return false;
  while (block != NULL) {
    *bytes += block[0];
    if (DGifGetCodeNext(gif, &block) == GIF_ERROR) return false;
  }
  return true;
}

// A code of 12 bits stands for fewer than 4096 pixels: more than this many a byte cannot be there.
enum { MOST_PIXELS_A_BYTE = 4096 };

// The canvas is as large as the largest frame.
typedef struct canvas {
  int64_t frames, height, width;
} canvas;

static rheos_status *measure(source s, canvas *out) {
  GifFileType *gif;
  int transparent;
  *out = (canvas){0};
  RHEOS_TRY(open_gif(&s, &gif));
  rheos_status *status = NULL;
  while (status == NULL && next_frame(gif, &transparent)) {
    const int64_t width = gif->Image.Width, height = gif->Image.Height;
    int64_t bytes = 0;
    status = rheos__image_check_size("GIF", width, height);
    const bool whole = skip_pixels(gif, &bytes);
    if (width * height > bytes * MOST_PIXELS_A_BYTE) break;
    // A frame whose data are cut may still unpack, so it counts.
    out->frames++;
    if (width > out->width) out->width = width;
    if (height > out->height) out->height = height;
    if (!whole) break;
  }
  if (status == NULL && out->frames == 0) {
    status =
        gif->Error != 0 ? failed(gif->Error) : RHEOS_INVALID("gif file does not contain any image");
  }
  DGifCloseFile(gif, NULL);
  return status;
}

// ---- Drawing

// Row number i of an interlaced picture: every 8th, every 8th from 4, every 4th from 2, every 2nd.
static int64_t interlaced_row(int64_t i, int64_t height) {
  static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; pass++) {
    const int64_t rows =
        height > first[pass] ? (height - first[pass] + step[pass] - 1) / step[pass] : 0;
    if (i < rows) return first[pass] + i * step[pass];
    i -= rows;
  }
  return height - 1;
}

static rheos_status *draw_row(const GifFileType *gif, const GifByteType *line, int transparent,
                              int64_t y, uint8_t *frame, const canvas *c) {
  const GifImageDesc *image = &gif->Image;
  const ColorMapObject *colors = image->ColorMap != NULL ? image->ColorMap : gif->SColorMap;
  if (colors == NULL) return RHEOS_INVALID("Invalid GIF data: a frame has no color map");
  y += image->Top;
  if (y < 0 || y >= c->height) return NULL;
  for (int64_t i = 0; i < image->Width; i++) {
    const int64_t x = image->Left + i;
    if (x < 0 || x >= c->width || line[i] == transparent) continue;
    if (line[i] >= colors->ColorCount) {
      return RHEOS_INVALID("Invalid GIF data: found color index %d outside of color map range %d",
                           line[i], colors->ColorCount);
    }
    const GifColorType *color = &colors->Colors[line[i]];
    uint8_t *to = frame + (y * c->width + x) * 3;
    to[0] = color->Red, to[1] = color->Green, to[2] = color->Blue;
  }
  return NULL;
}

// Draws the frame whose description was just read; *out_whole tells whether all of it was there.
static rheos_status *draw_frame(GifFileType *gif, int transparent, GifByteType *line,
                                uint8_t *frame, const canvas *c, bool *out_whole) {
  const int64_t height = gif->Image.Height;
  *out_whole = false;
  for (int64_t i = 0; i < height; i++) {
    if (DGifGetLine(gif, line, gif->Image.Width) == GIF_ERROR) return NULL;
    const int64_t y = gif->Image.Interlace ? interlaced_row(i, height) : i;
    RHEOS_TRY(draw_row(gif, line, transparent, y, frame, c));
  }
  *out_whole = true;
  return NULL;
}

// Draws up to c->frames frames; *out_frames tells how many were whole.
static rheos_status *draw(GifFileType *gif, const canvas *c, uint8_t *out, GifByteType *line,
                          int64_t *out_frames) {
  const size_t frame_bytes = (size_t)(c->width * c->height * 3);
  for (*out_frames = 0; *out_frames < c->frames; ++*out_frames) {
    int transparent;
    bool whole;
    if (!next_frame(gif, &transparent)) return NULL;
    if (*out_frames == 0) {
      memset(out, 0, frame_bytes);
    } else {
      memcpy(out, out - frame_bytes, frame_bytes);
    }
    RHEOS_TRY(draw_frame(gif, transparent, line, out, c, &whole));
    if (!whole) return NULL;
    out += frame_bytes;
  }
  return NULL;
}

// The first `frames` frames of a picture of more.
static rheos_status *shortened(rheos_tensor *tensor, int64_t frames, rheos_tensor **out_tensor) {
  rheos_shape shape = tensor->shape;
  shape.dims[0] = frames;
  RHEOS_TRY(rheos_tensor_new(RHEOS_UINT8, shape, out_tensor));
  memcpy((*out_tensor)->data, tensor->data, (*out_tensor)->size_bytes);
  return NULL;
}

static rheos_status *decode(GifFileType *gif, const canvas *c, GifByteType *line,
                            rheos_tensor **out_tensor) {
  rheos_tensor *tensor;
  int64_t frames = 0;
  RHEOS_TRY(rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE(c->frames, c->height, c->width, 3), &tensor));
  rheos_status *status = draw(gif, c, tensor->data, line, &frames);
  if (status == NULL && frames == 0) {
    status =
        gif->Error != 0 ? failed(gif->Error) : RHEOS_INVALID("Invalid GIF data: it is cut short");
  }
  if (status == NULL && frames < c->frames) {
    status = shortened(tensor, frames, out_tensor);
  } else if (status == NULL) {
    *out_tensor = rheos_tensor_ref(tensor);
  }
  rheos_tensor_unref(tensor);
  return status;
}

rheos_status *rheos__gif_decode(const void *data, size_t size_bytes, bool only_first,
                                rheos_tensor **out_tensor) {
  source s = {data, (const char *)data + size_bytes};
  canvas c;
  GifFileType *gif;
  RHEOS_TRY(measure(s, &c));
  if (only_first) c.frames = 1;
  RHEOS_TRY(open_gif(&s, &gif));
  GifByteType *line = rheos__alloc((size_t)c.width);
  rheos_status *status = line != NULL ? decode(gif, &c, line, out_tensor) : rheos__out_of_memory();
  rheos__free(line);
  DGifCloseFile(gif, NULL);
  return status;
}
#else
typedef int rheos__no_gif;  // a file has to hold something
#endif  // RHEOS_WITH_IMAGES
