// Random numbers with TensorFlow's bits: Philox4x32-10 (Salmon et al., 2011), a work-item for each
// group of EACH. Its counter is the generator's, moved on by `steps` for each group before it. Who
// includes this says what KIND of numbers, and UNIFORM(x): the fraction that bits are of the dtype.
typedef struct generator {
  ulong key, low, high;
} generator;

uint4 block_at(generator g) {
  uint a = (uint)g.low, b = (uint)(g.low >> 32), c = (uint)g.high, d = (uint)(g.high >> 32);
  uint k0 = (uint)g.key, k1 = (uint)(g.key >> 32);
  for (int round = 0; round < 10; round++) {
    const ulong p0 = (ulong)0xD2511F53u * a, p1 = (ulong)0xCD9E8D57u * c;
    a = (uint)(p1 >> 32) ^ b ^ k0;
    b = (uint)p1;
    c = (uint)(p0 >> 32) ^ d ^ k1;
    d = (uint)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (uint4)(a, b, c, d);
}

generator moved(generator g, ulong steps) {
  const ulong low = g.low + steps;
  g.high += low < g.low;
  g.low = low;
  return g;
}

float fraction(uint x) { return as_float(0x3f800000u | (x & 0x7fffffu)) - 1.0f; }

// 2 pi x, rounded once, as the CPU has it by way of double: near pi a sine has the angle's error.
float whole_turns(float x) {
  const float two_pi = 6.2831854820251465f, rest = -1.7484555e-7f, product = two_pi * x;
  return product + fma(rest, x, fma(two_pi, x, -product));
}

// Box and Muller, 1958.
float2 normal_pair(uint x0, uint x1) {
  const float u = fmax(fraction(x0), 1.0e-7f);
  const float angle = whole_turns(fraction(x1));
  const float radius = sqrt(-2.0f * log(u));
  return (float2)(sin(angle) * radius, cos(angle) * radius);
}

#if EACH == 4
void uniform_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const uint4 x = block_at(g);
  made[0] = UNIFORM(x.x);
  made[1] = UNIFORM(x.y);
  made[2] = UNIFORM(x.z);
  made[3] = UNIFORM(x.w);
}

#define WITHIN(drawn) ((COMPUTED)((uint)first + (drawn) % (uint)width))
void range_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const uint4 x = block_at(g);
  made[0] = WITHIN(x.x);
  made[1] = WITHIN(x.y);
  made[2] = WITHIN(x.z);
  made[3] = WITHIN(x.w);
}

void normal_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const uint4 x = block_at(g);
  const float2 a = normal_pair(x.x, x.y), b = normal_pair(x.z, x.w);
  made[0] = a.x;
  made[1] = a.y;
  made[2] = b.x;
  made[3] = b.y;
}

// Those below 2, as many blocks as that takes.
void truncated_group(generator g, ulong first, ulong width, COMPUTED *made) {
  int count = 0;
  while (count < 4) {
    const uint4 x = block_at(g);
    g = moved(g, 1);
    for (int half_of = 0; half_of < 2 && count < 4; half_of++) {
      const float2 pair = half_of == 0 ? normal_pair(x.x, x.y) : normal_pair(x.z, x.w);
      if (fabs(pair.x) < 2.0f) made[count++] = pair.x;
      if (count < 4 && fabs(pair.y) < 2.0f) made[count++] = pair.y;
    }
  }
}
#elif defined(IS_DOUBLE)
double fraction_of_two(uint x0, uint x1) {
  return as_double(0x3ff0000000000000UL | (ulong)(x0 & 0xfffffu) << 32 | x1) - 1.0;
}

double2 normal_doubles(uint4 x) {
  const double u = fmax(fraction_of_two(x.x, x.y), 1.0e-7);
  const double angle = 6.283185307179586 * fraction_of_two(x.z, x.w);
  const double radius = sqrt(-2.0 * log(u));
  return (double2)(sin(angle) * radius, cos(angle) * radius);
}

void uniform_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const uint4 x = block_at(g);
  made[0] = fraction_of_two(x.x, x.y);
  made[1] = fraction_of_two(x.z, x.w);
}

void normal_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const double2 pair = normal_doubles(block_at(g));
  made[0] = pair.x;
  made[1] = pair.y;
}

void truncated_group(generator g, ulong first, ulong width, COMPUTED *made) {
  for (int count = 0; count < 2; g = moved(g, 1)) {
    const double2 pair = normal_doubles(block_at(g));
    if (fabs(pair.x) < 2.0) made[count++] = pair.x;
    if (count < 2 && fabs(pair.y) < 2.0) made[count++] = pair.y;
  }
}
#else
#define WIDE(x0, x1) ((x0) | (ulong)(x1) << 32)
void uniform_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const uint4 x = block_at(g);
  made[0] = WIDE(x.x, x.y);
  made[1] = WIDE(x.z, x.w);
}

void range_group(generator g, ulong first, ulong width, COMPUTED *made) {
  const uint4 x = block_at(g);
  made[0] = first + WIDE(x.x, x.y) % width;
  made[1] = first + WIDE(x.z, x.w) % width;
}
#endif

kernel void fill(global char *bz, ulong oz, long count, long steps, ulong key, ulong low,
                 ulong high, ulong first, ulong width) {
  const ulong group = get_global_id(0), at = EACH * group;
  if (at >= (ulong)count) return;
  COMPUTED made[EACH];
  KIND(moved((generator){key, low, high}, group * steps), first, width, made);
  global STORED *z = (global STORED *)(bz + oz);
  for (ulong i = 0; i < EACH && at + i < (ulong)count; i++) z[at + i] = STORE(made[i]);
}
