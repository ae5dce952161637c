// Windows that slide over images, as ops/kit/window.h has them. A place is (z, y, x, batch entry).
typedef struct windows {
  int batch, in[3], out[3], taps[3], stride[3], dilation[3], before[3];
  int in_batch, in_steps[3], in_channel, out_batch, out_steps[3], out_channel;
} windows;

// An index as a place of `sizes`.
int4 place_of(int index, const int *sizes) {
  int4 p;
  p.z = index % sizes[2];
  index /= sizes[2];
  p.y = index % sizes[1];
  index /= sizes[1];
  p.x = index % sizes[0];
  p.w = index / sizes[0];
  return p;
}

// Where the image has a place, and where the result has one.
int image_at(const windows *w, int4 i, int channel) {
  return i.w * w->in_batch + i.x * w->in_steps[0] + i.y * w->in_steps[1] + i.z * w->in_steps[2] +
         channel * w->in_channel;
}
int result_at(const windows *w, int4 o, int channel) {
  return o.w * w->out_batch + o.x * w->out_steps[0] + o.y * w->out_steps[1] +
         o.z * w->out_steps[2] + channel * w->out_channel;
}

// What tap `k` of the window at `o` covers, and whether that is in the image or padding.
int4 covered(const windows *w, int4 o, int4 k) {
  return (int4)(o.x * w->stride[0] - w->before[0] + k.x * w->dilation[0],
                o.y * w->stride[1] - w->before[1] + k.y * w->dilation[1],
                o.z * w->stride[2] - w->before[2] + k.z * w->dilation[2], o.w);
}
bool is_inside(const windows *w, int4 i) {
  return i.x >= 0 && i.x < w->in[0] && i.y >= 0 && i.y < w->in[1] && i.z >= 0 && i.z < w->in[2];
}

// The window along dimension d that has its tap k at `i`; -1: none.
int window_with(const windows *w, int d, int i, int k) {
  const int start = i + w->before[d] - k * w->dilation[d];
  if (start < 0 || start % w->stride[d] != 0 || start / w->stride[d] >= w->out[d]) return -1;
  return start / w->stride[d];
}
// The window that covers `i` with tap `k`; a coordinate of it is -1 where there is none.
int4 window_over(const windows *w, int4 i, int4 k) {
  return (int4)(window_with(w, 0, i.x, k.x), window_with(w, 1, i.y, k.y),
                window_with(w, 2, i.z, k.z), i.w);
}
bool is_window(int4 o) { return o.x >= 0 && o.y >= 0 && o.z >= 0; }
