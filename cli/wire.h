// Protobuf's wire format, field by field, for messages that are only glanced at or have no class
// here.
#ifndef RHEOS_CLI_WIRE_H
#define RHEOS_CLI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 } wire_type;

typedef struct wire {
  const char *at, *end;
} wire;

typedef struct wire_field {
  uint32_t number;
  wire_type type;
  wire data;       // of WIRE_BYTES
  uint64_t value;  // of WIRE_VARINT
} wire_field;

wire wire_of(const void *data, size_t size_bytes);
static inline size_t wire_size(wire w) { return (size_t)(w.end - w.at); }

// Takes the next field. False at the end, with *out_sound, or where the bytes are no message,
// without.
bool wire_next(wire *w, wire_field *out_field, bool *out_sound);

#endif  // RHEOS_CLI_WIRE_H
