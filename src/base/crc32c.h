// CRC32C, the checksum of TensorFlow's checkpoints and record files (polynomial 0x1EDC6F41,
// reflected).
#ifndef RHEOS_SRC_BASE_CRC32C_H
#define RHEOS_SRC_BASE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The checksum of what `crc` is the checksum of, followed by `data`. Start with 0.
uint32_t rheos__crc32c(uint32_t crc, const void *data, size_t size_bytes);
// The checksum of what `first` is the checksum of, followed by `second_bytes` bytes whose checksum
// is `second`: so several threads can make one.
uint32_t rheos__crc32c_join(uint32_t first, uint32_t second, uint64_t second_bytes);
// rheos__crc32c() by table, for machines without the instruction and for the test that compares the
// two.
uint32_t rheos__crc32c_by_table(uint32_t crc, const void *data, size_t size_bytes);

// Files hold checksums masked, because the checksum of bytes that contain their own checksum is
// weak.
static inline uint32_t rheos__crc32c_mask(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
static inline uint32_t rheos__crc32c_unmask(uint32_t masked) {
  uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

// Whether the masked checksum of a file is that of the bytes. A fuzzer would seldom get past it, so
// where it is at work every checksum holds.
static inline bool rheos__crc32c_holds(uint32_t masked, uint32_t crc) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  (void)masked, (void)crc;
  return true;
#else
  return rheos__crc32c_unmask(masked) == crc;
#endif
}

#endif  // RHEOS_SRC_BASE_CRC32C_H
