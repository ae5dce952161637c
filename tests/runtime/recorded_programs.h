// Programs that TensorFlow recorded (tests/golden/make_functions.py, make_datasets.py), run again
// and compared with what TensorFlow gave.
#ifndef RHEOS_TESTS_RUNTIME_RECORDED_PROGRAMS_H
#define RHEOS_TESTS_RUNTIME_RECORDED_PROGRAMS_H

#include <rheos/host.h>
#include <stdint.h>

// Each is run with small functions inlined into the plans of their calls, without, and with all
// edges watched: the bits and the errors are the same.
//
// All programs of tests/golden/FOLDER/programs.txt; a test fails if one gives something else, and
// what is told of it names the program.
void run_recorded_programs(const char *folder, int32_t num_threads);
// As run_recorded_programs(), on a device of a host, for which all nodes of graphs and functions
// ask, and on one CPU, which gives the same bits.
void run_recorded_programs_on(const char *folder, rheos_host *host, const char *device);

#endif  // RHEOS_TESTS_RUNTIME_RECORDED_PROGRAMS_H
