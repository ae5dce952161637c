// Softmax, its logarithm and the cross entropies over it: a group for each row.
//
// KIND 0: softmax, 1: its logarithm, 2: loss by a row of labels, 3: by a class. bz: softmax, its
// logarithm, or the gradient; bl: the losses.
kernel void rows(global const char *bx, ulong ox, global const char *by, ulong oy, global char *bz,
                 ulong oz, global char *bl, ulong ol, long n, long x_row, long x_step, long y_row,
                 long y_step) {
  local TOTAL all[GROUP];
  const long row = get_group_id(0);
  const int mine = get_local_id(0);
  global const STORED *x = (global const STORED *)(bx + ox) + row * x_row;
  global STORED *z = (global STORED *)(bz + oz) + row * n;
  TOTAL best = -INFINITY, sum = 0;
  for (long i = mine; i < n; i += GROUP) {
    const TOTAL v = LOAD(x[i * x_step]);
    best = (v > best) || (v != v) ? v : best;
  }
  best = largest_of(all, best);
  for (long i = mine; i < n; i += GROUP) sum += exp(LOAD(x[i * x_step]) - best);
  sum = sum_of(all, sum);
  const TOTAL log_sum = log(sum);
#if KIND == 0
  for (long i = mine; i < n; i += GROUP) z[i] = STORE(exp(LOAD(x[i * x_step]) - best) / sum);
#elif KIND == 1
  for (long i = mine; i < n; i += GROUP) z[i] = STORE(LOAD(x[i * x_step]) - best - log_sum);
#elif KIND == 2
  global const STORED *y = (global const STORED *)(by + oy) + row * y_row;
  TOTAL loss = 0;
  for (long i = mine; i < n; i += GROUP) {
    const TOTAL v = LOAD(x[i * x_step]) - best, label = LOAD(y[i * y_step]);
    loss += label == 0 ? 0 : label * (log_sum - v);
    z[i] = STORE(exp(v) / sum - label);
  }
  loss = sum_of(all, loss);
  if (mine == 0) ((global STORED *)(bl + ol))[row] = STORE(loss);
#else
  const long label = ((global const LABEL *)(by + oy))[row];
  const bool is_class = label >= 0 && label < n;  // else there is no number for it
  for (long i = mine; i < n; i += GROUP) {
    const TOTAL share = exp(LOAD(x[i * x_step]) - best) / sum;
    z[i] = is_class ? STORE(share - (i == label ? 1 : 0)) : STORE(NAN);
  }
  if (mine == 0) {
    const TOTAL loss = is_class ? log_sum - (LOAD(x[label * x_step]) - best) : NAN;
    ((global STORED *)(bl + ol))[row] = STORE(loss);
  }
#endif
}
