// Random numbers with TensorFlow's bits: Philox4x32-10 (Salmon et al., 2011), a work-item for each
// group of four. Its counter is the generator's, moved on by `steps` for each group before it.
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

// Box and Muller, 1958.
float2 normal_pair(uint x0, uint x1) {
  const float u = fmax(fraction(x0), 1.0e-7f);
  const float angle = (float)(6.283185307179586f * fraction(x1));
  const float radius = sqrt(-2.0f * log(u));
  return (float2)(sin(angle) * radius, cos(angle) * radius);
}

float4 uniform_group(generator g) {
  const uint4 x = block_at(g);
  return (float4)(fraction(x.x), fraction(x.y), fraction(x.z), fraction(x.w));
}

float4 normal_group(generator g) {
  const uint4 x = block_at(g);
  return (float4)(normal_pair(x.x, x.y), normal_pair(x.z, x.w));
}

// Those below 2, as many blocks as that takes.
float4 truncated_group(generator g) {
  float found[4];
  int count = 0;
  while (count < 4) {
    const uint4 x = block_at(g);
    g = moved(g, 1);
    for (int half_of = 0; half_of < 2 && count < 4; half_of++) {
      const float2 pair = half_of == 0 ? normal_pair(x.x, x.y) : normal_pair(x.z, x.w);
      if (fabs(pair.x) < 2.0f) found[count++] = pair.x;
      if (count < 4 && fabs(pair.y) < 2.0f) found[count++] = pair.y;
    }
  }
  return (float4)(found[0], found[1], found[2], found[3]);
}

kernel void fill(global char *bz, ulong oz, long count, long steps, ulong key, ulong low,
                 ulong high) {
  const ulong group = get_global_id(0);
  if (4 * group >= (ulong)count) return;
  const generator g = moved((generator){key, low, high}, group * steps);
  const float4 made = KIND(g);
  global float *z = (global float *)(bz + oz) + 4 * group;
  z[0] = made.x;
  if (4 * group + 1 < (ulong)count) z[1] = made.y;
  if (4 * group + 2 < (ulong)count) z[2] = made.z;
  if (4 * group + 3 < (ulong)count) z[3] = made.w;
}
