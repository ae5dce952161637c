// A page is a header (its number, 8 bytes; 2 of padding; flags, 2; where the free space begins and
// ends, 2 each), then an array of places of nodes in it. A node is the size of its value or, in a
// branch, the page below (4 bytes, in a branch 6 with the flags), flags (2), the size of its key
// (2), the key, the value. Numbers are little endian.
#include "codec/lmdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

enum { HEADER = 16, NODE = 8, MOST_DEPTH = 32, LEAST_PAGE = 512, MOST_PAGE = 65536 };
enum { BRANCH = 1, LEAF = 2, OVERFLOW = 4, KIND = 0x2f };  // flags of pages
enum { LARGE = 1, IS_DATABASE = 2, HAS_SEVERAL = 4 };      // flags of nodes
enum { META_BYTES = 136, PAGE_SIZE_AT = 24, ROOT_AT = 72 + 40, LAST_AT = 120, NUMBER_AT = 128 };
static const uint32_t magic = 0xbeefc0de, format = 1;
static const uint64_t none = UINT64_MAX;

typedef struct level {
  unsigned char *page;  // with room for one; NULL before the level was needed
  uint32_t count, at;   // nodes, and the next one
} level;

struct rheos__lmdb {
  rheos__file *file;
  size_t page_bytes;
  uint64_t root, last_page;
  uint64_t num_pages;  // that were read: of a tree each once
  level levels[MOST_DEPTH];
  int32_t depth;  // of levels under way
};

static uint64_t number(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

static rheos_status *damaged(const rheos__lmdb *lmdb, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "%s: the database is damaged: %s",
                          rheos__file_path(lmdb->file), what);
}

// ---- Opening

static rheos_status *no_database(const rheos__lmdb *lmdb, const char *what) {
  return RHEOS_INVALID("%s is no database of LMDB: %s", rheos__file_path(lmdb->file), what);
}

static bool is_meta(const unsigned char *meta) {
  return number(meta, 4) == magic && number(meta + 4, 4) == format;
}

// There are two of them, written in turn; the one with the larger number holds.
static rheos_status *read_meta(rheos__lmdb *lmdb) {
  unsigned char one[META_BYTES], other[META_BYTES];
  const uint64_t size = rheos__file_size(lmdb->file);
  if (size < HEADER + META_BYTES) return no_database(lmdb, "it is too short");
  RHEOS_TRY(rheos__file_read_at(lmdb->file, HEADER, one, sizeof one));
  if (!is_meta(one)) return no_database(lmdb, "it does not begin as version 1 of the format does");
  lmdb->page_bytes = (size_t)number(one + PAGE_SIZE_AT, 4);
  if (lmdb->page_bytes < LEAST_PAGE || lmdb->page_bytes > MOST_PAGE) {
    return no_database(lmdb, "its pages have no size that pages have");
  }
  const unsigned char *meta = one;
  if (size >= lmdb->page_bytes + HEADER + META_BYTES) {
    RHEOS_TRY(rheos__file_read_at(lmdb->file, lmdb->page_bytes + HEADER, other, sizeof other));
    if (is_meta(other) && number(other + NUMBER_AT, 8) > number(one + NUMBER_AT, 8)) meta = other;
  }
  lmdb->root = number(meta + ROOT_AT, 8);
  lmdb->last_page = number(meta + LAST_AT, 8);
  if (lmdb->last_page >= size / lmdb->page_bytes) {
    return no_database(lmdb, "it is shorter than it says");
  }
  return NULL;
}

static rheos_status *open_file(const char *path, rheos__file **out_file) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return rheos__file_open(path, out_file);
  char *inside = rheos__text_format("%s/data.mdb", path);
  if (inside == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_open(inside, out_file);
  rheos__free(inside);
  return status;
}

rheos_status *rheos__lmdb_open(const char *path, rheos__lmdb **out_lmdb) {
  *out_lmdb = NULL;
  rheos__lmdb *lmdb = rheos__alloc_zeroed(sizeof *lmdb);
  if (lmdb == NULL) return rheos__out_of_memory();
  rheos_status *status = open_file(path, &lmdb->file);
  if (status == NULL) status = read_meta(lmdb);
  if (status == NULL) {
    *out_lmdb = lmdb;
  } else {
    rheos__lmdb_close(lmdb);
  }
  return status;
}

void rheos__lmdb_close(rheos__lmdb *lmdb) {
  if (lmdb == NULL) return;
  for (int32_t i = 0; i < MOST_DEPTH; ++i) rheos__free(lmdb->levels[i].page);
  rheos__file_close(lmdb->file);
  rheos__free(lmdb);
}

// ---- Pages

// Goes down to a page.
static rheos_status *enter(rheos__lmdb *lmdb, uint64_t page) {
  if (lmdb->depth == MOST_DEPTH) return damaged(lmdb, "its tree is too deep");
  if (page > lmdb->last_page || lmdb->num_pages++ > lmdb->last_page) {
    return damaged(lmdb, "its tree leads to pages that are not there, or twice to one");
  }
  level *l = &lmdb->levels[lmdb->depth];
  if (l->page == NULL) l->page = rheos__alloc(lmdb->page_bytes);
  if (l->page == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__file_read_at(lmdb->file, page * lmdb->page_bytes, l->page, lmdb->page_bytes));
  const uint64_t flags = number(l->page + 10, 2) & KIND, lower = number(l->page + 12, 2);
  if ((flags != BRANCH && flags != LEAF) || lower < HEADER || lower > lmdb->page_bytes) {
    return damaged(lmdb, "a page is none of a tree");
  }
  l->count = (uint32_t)(lower - HEADER) / 2;
  l->at = 0;
  ++lmdb->depth;
  return NULL;
}

// The next node of the level, with its key within the page.
static rheos_status *next_node(const rheos__lmdb *lmdb, level *l, const unsigned char **out_node) {
  const uint64_t place = number(l->page + HEADER + 2 * (size_t)l->at++, 2);
  const bool fits = place >= HEADER && place + NODE <= lmdb->page_bytes;
  *out_node = l->page + place;
  if (fits && place + NODE + number(*out_node + 6, 2) <= lmdb->page_bytes) return NULL;
  return damaged(lmdb, "a node reaches out of its page");
}

// A value that has pages of its own.
static rheos_status *read_large(rheos__lmdb *lmdb, const unsigned char *place, uint64_t size,
                                rheos__buffer *value) {
  const uint64_t page = number(place, 8), pages = lmdb->last_page + 1;
  if (page > lmdb->last_page || size > (pages - page) * lmdb->page_bytes - HEADER) {
    return damaged(lmdb, "a value reaches out of the file");
  }
  unsigned char header[HEADER];
  const uint64_t offset = page * lmdb->page_bytes;
  RHEOS_TRY(rheos__file_read_at(lmdb->file, offset, header, sizeof header));
  if ((number(header + 10, 2) & KIND) != OVERFLOW) return damaged(lmdb, "a value is not there");
  char *room = rheos__buffer_extend(value, (size_t)size);
  if (room == NULL) return rheos__out_of_memory();
  return rheos__file_read_at(lmdb->file, offset + HEADER, room, (size_t)size);
}

static rheos_status *read_leaf(rheos__lmdb *lmdb, level *l, rheos__buffer *key,
                               rheos__buffer *value) {
  const unsigned char *node = NULL;
  RHEOS_TRY(next_node(lmdb, l, &node));
  const uint64_t size = number(node, 4), flags = number(node + 4, 2);
  const size_t key_bytes = (size_t)number(node + 6, 2);
  const unsigned char *data = node + NODE + key_bytes;
  if ((flags & HAS_SEVERAL) != 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s: keys with several values are not read",
                            rheos__file_path(lmdb->file));
  }
  const uint64_t inside = (flags & LARGE) != 0 ? 8 : size;
  if (inside > (size_t)(l->page + lmdb->page_bytes - data)) {
    return damaged(lmdb, "a value reaches out of its page");
  }
  rheos__buffer_put(key, (const char *)node + NODE, key_bytes);
  if ((flags & LARGE) != 0) {
    RHEOS_TRY(read_large(lmdb, data, size, value));
  } else {
    rheos__buffer_put(value, (const char *)data, (size_t)size);
  }
  return key->failed || value->failed ? rheos__out_of_memory() : NULL;
}

rheos_status *rheos__lmdb_next(rheos__lmdb *lmdb, rheos__buffer *key, rheos__buffer *value,
                               bool *out_end) {
  *out_end = false;
  if (lmdb->num_pages == 0 && lmdb->root != none) RHEOS_TRY(enter(lmdb, lmdb->root));
  while (lmdb->depth > 0) {
    level *l = &lmdb->levels[lmdb->depth - 1];
    if (l->at == l->count) {
      --lmdb->depth;
    } else if ((number(l->page + 10, 2) & LEAF) != 0) {
      return read_leaf(lmdb, l, key, value);
    } else {
      const unsigned char *node = NULL;
      RHEOS_TRY(next_node(lmdb, l, &node));
      RHEOS_TRY(enter(lmdb, number(node, 6)));
    }
  }
  *out_end = true;
  return NULL;
}
