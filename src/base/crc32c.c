// CRC32C by the processor's instruction where it has one, which is found out at run time, else by
// tables, eight bytes at a time ("slicing by 8", Kounavis and Berry 2005).
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static const uint32_t POLYNOMIAL_REFLECTED = 0x82f63b78u;

typedef uint32_t (*crc_fn)(uint32_t crc, const void *data, size_t size_bytes);

static uint32_t tables[8][256];
static crc_fn best;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const void *data,
                                                                     size_t size_bytes) {
  const unsigned char *p = data;
  uint64_t state = ~crc;
  for (; size_bytes >= 8; p += 8, size_bytes -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    state = _mm_crc32_u64(state, word);
  }
  for (; size_bytes > 0; p++, size_bytes--) state = _mm_crc32_u8((uint32_t)state, *p);
  return ~(uint32_t)state;
}

static int has_instruction(void) {
  return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__) && defined(__linux__)
__attribute__((target("+crc"))) static uint32_t crc_by_instruction(uint32_t crc, const void *data,
                                                                   size_t size_bytes) {
  const unsigned char *p = data;
  uint32_t state = ~crc;
  for (; size_bytes >= 8; p += 8, size_bytes -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    state = __crc32cd(state, word);
  }
  for (; size_bytes > 0; p++, size_bytes--) state = __crc32cb(state, *p);
  return ~state;
}

static int has_instruction(void) {
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#else
static const crc_fn crc_by_instruction = rheos__crc32c_by_table;

static int has_instruction(void) {
  return 0;
}
#endif

// tables[k][b]: the effect of byte b followed by k zero bytes.
static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL_REFLECTED : 0);
    }
    tables[0][byte] = crc;
  }
  for (int k = 1; k < 8; k++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  best = has_instruction() ? crc_by_instruction : rheos__crc32c_by_table;
}

static uint32_t load_32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t rheos__crc32c_by_table(uint32_t crc, const void *data, size_t size_bytes) {
  pthread_once(&once, make_tables);
  const unsigned char *p = data;
  uint32_t state = ~crc;
  for (; size_bytes >= 8; p += 8, size_bytes -= 8) {
    uint32_t low = state ^ load_32(p);
    uint32_t high = load_32(p + 4);
    state = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
            tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
            tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
  }
  for (; size_bytes > 0; p++, size_bytes--) {
    state = (state >> 8) ^ tables[0][(state ^ *p) & 0xff];
  }
  return ~state;
}

uint32_t rheos__crc32c(uint32_t crc, const void *data, size_t size_bytes) {
  pthread_once(&once, make_tables);
  return best(crc, data, size_bytes);
}
