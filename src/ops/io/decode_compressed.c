// DecodeCompressed: strings as they were before zlib compressed them.
#include "codec/compress.h"
#include "ops/kit/string_util.h"

typedef struct decompress_map {
  rheos__string_map map;
  rheos_compression compression;
} decompress_map;

static rheos_status *decompress_one(const rheos__string_map *map, const rheos_string *in,
                                    rheos__text *out) {
  const decompress_map *m = (const decompress_map *)map;
  rheos__buffer bytes = {0};
  rheos_status *status = rheos__decompress(m->compression, in->data, in->size_bytes, &bytes);
  if (status == NULL)
    rheos__text_add(out, bytes.size_bytes > 0 ? bytes.data : "", bytes.size_bytes);
  rheos__buffer_deinit(&bytes);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  decompress_map *m = RHEOS_NEW_STATE(p, decompress_map);
  if (m == NULL) return rheos__out_of_memory();
  if (!rheos__compression_of(rheos__attr_string(p->attrs, "compression_type"), &m->compression)) {
    return RHEOS_INVALID("Only ZLIB, GZIP or NONE are supported compressions");
  }
  m->map.make = decompress_one;
  return rheos__answer_string_map(p);
}

const rheos__op_def rheos__op_DecodeCompressed = {
    .name = "DecodeCompressed",
    .signature = "bytes: string -> output: string; compression_type: string = \"\"",
    .doc = "Each string decompressed; `compression_type` is \"\", \"ZLIB\" or \"GZIP\".",
    .shape = rheos__shape_unchanged,
    .prepare = prepare,
};
