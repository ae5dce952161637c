// The words for what is wrong with an example. Each op of TensorFlow has its own.
#include "ops/io/parse_columns.h"

#include <stdio.h>

// What a message can show of bytes.
typedef struct shown {
  char text[256];
} shown;

static const char *show(const char *data, size_t size_bytes, shown *out) {
  static const char digits[] = "0123456789abcdef";
  char *to = out->text, *const end = out->text + sizeof out->text - 5;
  for (size_t i = 0; i < size_bytes && to < end; i++) {
    const unsigned char c = (unsigned char)data[i];
    if (c >= 32 && c < 127) {
      *to++ = (char)c;
    } else {
      *to++ = '\\';
      *to++ = 'x';
      *to++ = digits[c >> 4];
      *to++ = digits[c & 15];
    }
  }
  *to = '\0';
  return out->text;
}

static const char *example_name(const rheos__parse_place *place, shown *out) {
  const rheos__columns *c = place->columns;
  if (c->names != NULL) {
    return show(c->names[place->example].data, c->names[place->example].size_bytes, out);
  }
  const bool single = c->words == RHEOS__WORDS_CONTEXT || c->words == RHEOS__WORDS_LIST;
  return single ? "" : "<unknown>";
}

static rheos_status *malformed(const rheos__parse_place *place, const char *name) {
  const rheos__columns *c = place->columns;
  if (c->words == RHEOS__WORDS_CONTEXTS || c->words == RHEOS__WORDS_LISTS) {
    return RHEOS_INVALID("Invalid protocol message input, example id: %s", name);
  }
  shown value;
  const rheos_string *bytes = &c->serialized[place->example];
  return RHEOS_INVALID("Could not parse example input, value: '%s'",
                       show(bytes->data, bytes->size_bytes, &value));
}

// What stands before the fact in errors of ParseExample and ParseSingleExample.
typedef struct prefix {
  char text[640];
} prefix;

static void add_prefix(const rheos__parse_place *place, const char *name, const char *key,
                       prefix *out) {
  if (place->columns->words == RHEOS__WORDS_EXAMPLE) {
    snprintf(out->text, sizeof out->text, "Key: %s.", key);
  } else {
    snprintf(out->text, sizeof out->text, "Name: %s, Key: %s, Index: %lld.", name, key,
             (long long)place->example);
  }
}

static rheos_status *in_example(const rheos__parse_place *place, rheos__parse_failure failure,
                                const char *name, const char *key) {
  const rheos__column *column = place->column;
  const char *expected = rheos_dtype_name(column->dtype), *actual = rheos_dtype_name(place->dtype);
  const char *values = column->dtype == RHEOS_STRING ? "bytes" : expected;
  const bool dense = column->kind <= RHEOS__COLUMN_VARYING;
  rheos__shape_text shape;
  prefix before;
  add_prefix(place, name, key, &before);
  switch (failure) {
    case RHEOS__FAILURE_UNSUPPORTED: return RHEOS_INVALID("%s  Unsupported datatype.", before.text);
    case RHEOS__FAILURE_TYPE:
      if (dense) {
        return RHEOS_INVALID("%s  Data types don't match. Data type: %s but expected type: %s",
                             before.text, actual, expected);
      }
      return RHEOS_INVALID("%s  Data types don't match. Expected type: %s, Actual type: %s",
                           before.text, expected, actual);
    case RHEOS__FAILURE_COUNT:
      return RHEOS_INVALID(
          "%s  Number of %s values != expected.  Values size: %lld but output "
          "shape: %s",
          before.text, values, (long long)place->count,
          rheos__shape_text_of(&column->shape, &shape));
    case RHEOS__FAILURE_MULTIPLE:
      return RHEOS_INVALID(
          "%s  Number of %s values is not a multiple of stride length. Saw %lld "
          "values but output shape is: %s",
          before.text, values, (long long)place->count,
          rheos__shape_text_of(&column->shape, &shape));
    case RHEOS__FAILURE_MISSING:
      if (place->columns->words == RHEOS__WORDS_EXAMPLE) {
        return RHEOS_INVALID("Feature: %s (data type: %s) is required but could not be found.", key,
                             expected);
      }
      return RHEOS_INVALID(
          "Name: %s, Feature: %s (data type: %s) is required but could not be "
          "found.",
          name, key, expected);
    default: return RHEOS_INVALID("%s  Can't parse serialized Example.", before.text);
  }
}

static rheos_status *in_sequences(const rheos__parse_place *place, rheos__parse_failure failure,
                                  const char *name, const char *key) {
  const bool context = place->columns->words == RHEOS__WORDS_CONTEXTS;
  const bool count = failure == RHEOS__FAILURE_COUNT || failure == RHEOS__FAILURE_MULTIPLE;
  if (context && (count || failure == RHEOS__FAILURE_MISSING)) {
    return RHEOS_INVALID("Inconsistent number of elements for feature %s: %lld vs %lld", key,
                         (long long)place->count, (long long)place->column->stride);
  }
  if (count) {
    return RHEOS_INVALID("Unexpected number of elements in feature %s, example %s", key, name);
  }
  if (failure == RHEOS__FAILURE_MISSING) {
    return RHEOS_INVALID("Missing feature %s in example %s", key, name);
  }
  return RHEOS_INVALID("Error in %s feature %s in example %s", context ? "context" : "sequence",
                       key, name);
}

static rheos_status *in_sequence(const rheos__parse_place *place, rheos__parse_failure failure,
                                 const char *name, const char *key) {
  const bool context = place->columns->words == RHEOS__WORDS_CONTEXT;
  const rheos__column *column = place->column;
  const char *expected = rheos_dtype_name(column->dtype);
  rheos__shape_text shape;
  if (failure == RHEOS__FAILURE_COUNT || failure == RHEOS__FAILURE_MULTIPLE) {
    return RHEOS_INVALID(
        "Name: %s, Key: %s, Index: %lld.  Number of %s values != expected.  values "
        "size: %lld but output shape: %s",
        name, key, (long long)place->step, column->dtype == RHEOS_STRING ? "bytes" : expected,
        (long long)place->count, rheos__shape_text_of(&column->shape, &shape));
  }
  if (failure == RHEOS__FAILURE_MISSING && context) {
    return RHEOS_INVALID("Name: %s, Context feature '%s' is required but could not be found.", name,
                         key);
  }
  if (failure == RHEOS__FAILURE_MISSING) {
    return RHEOS_INVALID(
        "Name: %s, Feature list '%s' is required but could not be found.  Did you "
        "mean to include it in feature_list_dense_missing_assumed_empty or "
        "feature_list_dense_defaults?",
        name, key);
  }
  const char *fact = failure == RHEOS__FAILURE_TYPE ? "Data types don't match." : "Can't parse it.";
  if (context) {
    return RHEOS_INVALID("Name: %s, Context feature: %s.  %s Expected type: %s", name, key, fact,
                         expected);
  }
  return RHEOS_INVALID("Name: %s, Feature list: %s, Index: %lld.  %s Expected type: %s", name, key,
                       (long long)place->step, fact, expected);
}

rheos_status *rheos__parse_failed(const rheos__parse_place *place, rheos__parse_failure failure) {
  shown name_text, key_text;
  const char *name = example_name(place, &name_text);
  if (place->column == NULL) return malformed(place, name);
  const char *key = show(place->column->key.data, place->column->key.size_bytes, &key_text);
  switch (place->columns->words) {
    case RHEOS__WORDS_EXAMPLES:
    case RHEOS__WORDS_EXAMPLE: return in_example(place, failure, name, key);
    case RHEOS__WORDS_CONTEXTS:
    case RHEOS__WORDS_LISTS: return in_sequences(place, failure, name, key);
    default: return in_sequence(place, failure, name, key);
  }
}
