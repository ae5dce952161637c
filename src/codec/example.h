// Examples: TensorFlow's messages Example and SequenceExample, read where they lie. Nothing is
// allocated but what a caller's tensor holds.
//
//   Example          features: map of Feature
//   SequenceExample  context: map of Feature; feature_lists: map of FeatureList
//   FeatureList      a Feature for each step
//   Feature          one list of bytes, floats or int64s
//
// As in TensorFlow's own parser, what follows the first list of a Feature is not looked at, and
// maps hold nothing but entries of a key and a value.
#ifndef RHEOS_SRC_CODEC_EXAMPLE_H
#define RHEOS_SRC_CODEC_EXAMPLE_H

#include "codec/wire.h"

enum {
  RHEOS__EXAMPLE_FEATURES = 1,  // of Example
  RHEOS__SEQUENCE_CONTEXT = 1,  // of SequenceExample
  RHEOS__SEQUENCE_FEATURE_LISTS = 2,
};

// The fields of an entry, a key and a value.
enum { RHEOS__ENTRY_KEY_TAG = 1 << 3 | RHEOS__WIRE_BYTES, RHEOS__ENTRY_VALUE_TAG = 2 << 3 | 2 };

// The next of the maps in field `number` of a message. False at the end, with *out_sound, or where
// the bytes are no message, without.
bool rheos__map_next_slow(rheos__wire *message, uint32_t number, rheos__wire *out_map,
                          bool *out_sound);
static inline bool rheos__map_next(rheos__wire *message, uint32_t number, rheos__wire *out_map,
                                   bool *out_sound) {
  *out_sound = true;
  return rheos__wire_take(message, (unsigned char)(number << 3 | RHEOS__WIRE_BYTES), out_map) ||
         rheos__map_next_slow(message, number, out_map, out_sound);
}
// The next of the entries of a map, in the order they stand in: the last one of a key counts. Ends
// as rheos__map_next() does.
bool rheos__entry_next_slow(rheos__wire *map, rheos__wire *out_key, rheos__wire *out_value,
                            bool *out_sound);
static inline bool rheos__entry_next(rheos__wire *map, rheos__wire *out_key, rheos__wire *out_value,
                                     bool *out_sound) {
  rheos__wire rest = *map, entry;
  if (rheos__wire_take(&rest, RHEOS__ENTRY_KEY_TAG, &entry) &&
      rheos__wire_take(&entry, RHEOS__ENTRY_KEY_TAG, out_key) &&
      rheos__wire_take(&entry, RHEOS__ENTRY_VALUE_TAG, out_value) && entry.at == entry.end) {
    *map = rest;
    return true;
  }
  return rheos__entry_next_slow(map, out_key, out_value, out_sound);
}

// Calls `take` for each entry of the maps in field `field` of a message. False if the bytes are no
// such message.
typedef void (*rheos__take_entry)(void *argument, rheos__wire key, rheos__wire value);
bool rheos__example_entries(rheos__wire example, uint32_t field, rheos__take_entry take,
                            void *argument);

// What a Feature holds: strings, floats or int64s in `out_list`, or RHEOS_INVALID_DTYPE if it is
// empty. False if it holds anything else.
bool rheos__feature_read(rheos__wire feature, rheos_dtype *out_dtype, rheos__wire *out_list);

// The usual entry of a map of features: a key and a Feature with one list, which has one field, a
// string or packed numbers; each ends where the others do. Then an entry with the same bytes before
// `data` has the same key and a list of the same kind and size.
typedef struct rheos__single {
  rheos_dtype dtype;
  rheos__wire list, data;
} rheos__single;
// Whether the value of an entry is such a Feature.
bool rheos__single_read(rheos__wire feature, rheos__single *out_single);
// What rheos__feature_values() does, with the data of the one field of such a list.
void rheos__packed_values(rheos_dtype dtype, rheos__wire data, rheos_tensor *to, int64_t first,
                          int64_t capacity, int64_t *out_count);
// Counts packed integers and puts the first ones into to[0, capacity); -1 if they are none.
int64_t rheos__packed_ints(rheos__wire data, int64_t *to, int64_t capacity);
// Whether the data are one integer of one or two bytes, as most are.
static inline bool rheos__packed_small_int(rheos__wire data, int64_t *out_value) {
  const size_t size = rheos__wire_size(data);
  if (size != 1 && size != 2) return false;
  const unsigned first = (unsigned char)data.at[0], last = (unsigned char)data.at[size - 1];
  if (last >= 128 || (size == 2 && first < 128)) return false;
  *out_value = (int64_t)(size == 1 ? first : (first & 127) | last << 7);
  return true;
}

// The next Feature of a FeatureList. False at the end, with *out_sound, or where the bytes are no
// FeatureList, without.
bool rheos__feature_list_next(rheos__wire *list, rheos__wire *out_feature, bool *out_sound);

// Counts the values of a list of `dtype`, and puts those that fit into the elements
// [first, first + capacity) of `to`, which may be NULL. *out_count is -1 if the bytes are no such
// list. Strings are borrowed from the bytes: rheos__tensor_own_strings() is to follow.
void rheos__feature_values(rheos_dtype dtype, rheos__wire list, rheos_tensor *to, int64_t first,
                           int64_t capacity, int64_t *out_count);

// Packed floats are floats; often there is one, or a row too short to be worth a call: eight at a
// time, the last of which may overlap those before.
static inline void rheos__copy_floats(float *to, const char *from, size_t count) {
  enum { CHUNK = 8, FEW = 128 };
  if (count == 1) {
    memcpy(to, from, sizeof *to);
  } else if (count < CHUNK || count > FEW) {
    if (count > 0) memcpy(to, from, count * sizeof *to);
  } else {
    const size_t last = count - CHUNK;
    for (size_t i = 0; i < last; i += CHUNK) {
      memcpy(to + i, from + i * sizeof *to, CHUNK * sizeof *to);
    }
    memcpy(to + last, from + last * sizeof *to, CHUNK * sizeof *to);
  }
}

#endif  // RHEOS_SRC_CODEC_EXAMPLE_H
