// Tensors from JSON: nested lists of numbers, truth values or texts, as elements_json() writes
// them.
#ifndef RHEOS_CLI_JSON_READER_H
#define RHEOS_CLI_JSON_READER_H

#include <rheos/tensor.h>

// A tensor of `dtype`; for RHEOS_INVALID_DTYPE one that holds the values: int32 or int64, float,
// bool or string. NaN, Infinity and -Infinity are numbers, quoted or not. RHEOS_INVALID_ARGUMENT
// for text that is no such JSON, lists of unlike lengths, values that the dtype cannot hold.
rheos_status *json_read_tensor(const char *text, size_t size_bytes, rheos_dtype dtype,
                               rheos_tensor **out_tensor);

#endif  // RHEOS_CLI_JSON_READER_H
