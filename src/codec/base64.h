// Base64 in its web-safe alphabet (RFC 4648, section 5).
#ifndef RHEOS_SRC_CODEC_BASE64_H
#define RHEOS_SRC_CODEC_BASE64_H

#include "base/text.h"
#include "tensor/tensor.h"

// Appends the bytes that web-safe base64 stands for, padded or not.
rheos_status *rheos__base64_decode(const rheos_string *in, rheos__text *out);

#endif  // RHEOS_SRC_CODEC_BASE64_H
