// `rheos bench --pipeline`: which stage of a graph's datasets is slow.
#ifndef RHEOS_CLI_BENCH_PIPELINE_H
#define RHEOS_CLI_BENCH_PIPELINE_H

#include "runner.h"

// Goes over each dataset that no other one is made of for so many seconds, and prints what its
// stages did.
rheos_status *bench_pipelines(const runner *r, double seconds);

#endif  // RHEOS_CLI_BENCH_PIPELINE_H
