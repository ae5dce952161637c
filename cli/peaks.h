// What the machine can do at most: multiply-adds and memory, measured.
#ifndef RHEOS_CLI_PEAKS_H
#define RHEOS_CLI_PEAKS_H

typedef struct peaks {
  int num_threads;
  double gflops;  // multiply-adds of float32 as two operations each, all threads together
  double gbytes;  // bytes read and written by a copy beyond the caches, per second / 1e9
} peaks;

// Measures for that many threads; takes about 0.2 s. Zeros where memory or threads are short.
peaks peaks_measure(int num_threads);

#endif  // RHEOS_CLI_PEAKS_H
