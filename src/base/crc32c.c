// CRC32C by the processor's instruction where it has one, which is found out at run time, else by
// tables, eight bytes at a time ("slicing by 8", Kounavis and Berry 2005).
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
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

// ---- Moving checksums

// The product of two polynomials modulo CRC32C's, bits reflected: the highest bit is x^0.
static uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = 0; i < 32; i++, b <<= 1) {
    if ((b & 0x80000000u) != 0) product ^= a;
    a = (a >> 1) ^ ((a & 1) != 0 ? POLYNOMIAL_REFLECTED : 0);
  }
  return product;
}

// x^(8 * size_bytes), by squaring: x^8, x^16, x^32, ...
static uint32_t power(uint64_t size_bytes) {
  uint32_t square = 0x80000000u >> 8, result = 0x80000000u;
  for (; size_bytes > 0; size_bytes >>= 1) {
    if ((size_bytes & 1) != 0) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

uint32_t rheos__crc32c_join(uint32_t first, uint32_t second, uint64_t second_bytes) {
  return multiply(first, power(second_bytes)) ^ second;
}

// ---- By instruction
//
// The instruction takes three cycles and a new one can start in each, so three stretches of the
// bytes are taken at once, and their checksums joined. (Gopal and others, Intel 2011.)

static uint64_t load_64(const unsigned char *p) {
  uint64_t word;
  memcpy(&word, p, 8);
  return word;
}

// Stretches of at most MOST words are taken together; with less than LEAST joining costs more.
enum { LEAST_WORDS = 4, MOST_WORDS = 256 };

#if defined(__x86_64__)
// after[n]: what moves a checksum behind n words. The product below is one power of x too high, and
// the instruction that reduces it adds 32.
static uint32_t after[2 * MOST_WORDS + 1];

#define WITH_INSTRUCTION __attribute__((target("sse4.2,pclmul")))

WITH_INSTRUCTION static void make_moves(void) {
  uint64_t move = 0x80000000u >> 31;  // x^(64 - 33)
  for (int n = 1; n <= 2 * MOST_WORDS; n++, move = _mm_crc32_u64(0, move)) {
    after[n] = (uint32_t)move;
  }
}

WITH_INSTRUCTION static inline uint64_t moved(uint64_t state, size_t words) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)state),
                                               _mm_cvtsi32_si128((int)after[words]), 0);
  return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

WITH_INSTRUCTION static inline uint64_t take_64(uint64_t state, uint64_t word) {
  return _mm_crc32_u64(state, word);
}

WITH_INSTRUCTION static inline uint64_t take_8(uint64_t state, unsigned char byte) {
  return _mm_crc32_u8((uint32_t)state, byte);
}

static int has_instruction(void) {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}
#elif defined(__aarch64__) && defined(__linux__)
#define WITH_INSTRUCTION __attribute__((target("+crc")))

static uint32_t after_most[3];  // powers for MOST_WORDS and twice as many

static void make_moves(void) {
  for (int n = 1; n <= 2; n++) after_most[n] = power((uint64_t)n * MOST_WORDS * 8);
}

static uint64_t moved(uint64_t state, size_t words) {
  return multiply((uint32_t)state, words % MOST_WORDS == 0 ? after_most[words / MOST_WORDS]
                                                           : power((uint64_t)words * 8));
}

WITH_INSTRUCTION static inline uint64_t take_64(uint64_t state, uint64_t word) {
  return __crc32cd((uint32_t)state, word);
}

WITH_INSTRUCTION static inline uint64_t take_8(uint64_t state, unsigned char byte) {
  return __crc32cb((uint32_t)state, byte);
}

static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

#if defined(WITH_INSTRUCTION)
// The state behind three stretches of that many words each.
WITH_INSTRUCTION static inline uint64_t take_three(uint64_t state, const unsigned char *p,
                                                   size_t words) {
  const unsigned char *q = p + words * 8, *r = q + words * 8;
  uint64_t second = 0, third = 0;
  for (size_t i = 0; i < words * 8; i += 8) {
    state = take_64(state, load_64(p + i));
    second = take_64(second, load_64(q + i));
    third = take_64(third, load_64(r + i));
  }
  return moved(state, 2 * words) ^ moved(second, words) ^ third;
}

WITH_INSTRUCTION static uint32_t crc_by_instruction(uint32_t crc, const void *data,
                                                    size_t size_bytes) {
  const unsigned char *p = data;
  uint64_t state = ~crc;
  for (; size_bytes >= 3 * MOST_WORDS * 8; size_bytes -= 3 * MOST_WORDS * 8) {
    state = take_three(state, p, MOST_WORDS);
    p += 3 * MOST_WORDS * 8;
  }
#if defined(__x86_64__)  // elsewhere joining is too dear for less
  const size_t words = size_bytes / (3 * 8);
  if (words >= LEAST_WORDS) {
    state = take_three(state, p, words);
    p += 3 * words * 8;
    size_bytes -= 3 * words * 8;
  }
#endif
  for (; size_bytes >= 8; p += 8, size_bytes -= 8) state = take_64(state, load_64(p));
  for (; size_bytes > 0; p++, size_bytes--) state = take_8(state, *p);
  return ~(uint32_t)state;
}
#else
static const crc_fn crc_by_instruction = rheos__crc32c_by_table;

static int has_instruction(void) { return 0; }
static void make_moves(void) {}
#endif

// ---- By table

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
  best = rheos__crc32c_by_table;
  if (!has_instruction()) return;
  make_moves();
  best = crc_by_instruction;
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
