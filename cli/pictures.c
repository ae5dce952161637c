// An operation is run at once, on a context of its own.
#include "pictures.h"

#include <rheos/eager.h>
#include <string.h>

#include "status.h"

typedef enum picture_kind { NO_PICTURE, JPEG, PNG, GIF, BMP } picture_kind;

static picture_kind kind_of(const char *bytes, size_t size_bytes) {
  static const struct {
    const char *mark;
    size_t size_bytes;
    picture_kind kind;
  } marks[] = {
      {"\xff\xd8\xff", 3, JPEG}, {"\x89PNG\r\n\x1a\n", 8, PNG}, {"GIF8", 4, GIF}, {"BM", 2, BMP}};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    if (size_bytes >= marks[i].size_bytes &&
        memcmp(bytes, marks[i].mark, marks[i].size_bytes) == 0) {
      return marks[i].kind;
    }
  }
  return NO_PICTURE;
}

bool picture_is(const char *bytes, size_t size_bytes) {
  return kind_of(bytes, size_bytes) != NO_PICTURE;
}

static rheos_status *run(const rheos_eager_op *op, rheos_tensor **out_output) {
  const rheos_eager_options options = {.num_threads = 1};
  rheos_eager *eager;
  TRY(rheos_eager_new(&options, &eager));
  rheos_status *status = rheos_eager_execute(eager, op, out_output, 1);
  rheos_eager_free(eager);
  return status;
}

rheos_status *picture_decode(const char *bytes, size_t size_bytes, int channels, rheos_dtype dtype,
                             bool all_frames, rheos_tensor **out_pixels) {
  static const char *const ops[] = {
      [JPEG] = "DecodeJpeg", [PNG] = "DecodePng", [GIF] = "DecodeGif", [BMP] = "DecodeBmp"};
  const picture_kind kind = kind_of(bytes, size_bytes);
  const rheos_string file = {(char *)(uintptr_t)bytes, size_bytes};
  const rheos_attr attrs[] = {rheos_attr_int("channels", channels),
                              rheos_attr_type("dtype", dtype)};
  rheos_eager_op op = {.type = ops[kind], .num_inputs = 1, .attrs = attrs, .num_attrs = 1};
  if (kind == PNG && dtype == RHEOS_UINT16) op.num_attrs = 2;
  if (kind == GIF || (kind == JPEG && channels == 4)) op.num_attrs = 0;
  const rheos_attr first_frame[] = {rheos_attr_bool("expand_animations", false)};
  if (kind == GIF && !all_frames) {
    op.type = "DecodeImage";
    op.attrs = first_frame;
    op.num_attrs = 1;
  }
  rheos_tensor *contents;
  TRY(rheos_tensor_from_values(RHEOS_STRING, RHEOS_SCALAR, &file, &contents));
  op.inputs = &contents;
  rheos_status *status = run(&op, out_pixels);
  rheos_tensor_unref(contents);
  return status;
}

rheos_status *picture_encode(rheos_tensor *pixels, bool as_png, rheos_tensor **out_file) {
  const rheos_eager_op op = {
      .type = as_png ? "EncodePng" : "EncodeJpeg", .inputs = &pixels, .num_inputs = 1};
  return run(&op, out_file);
}
