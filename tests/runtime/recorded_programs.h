// Programs that TensorFlow recorded (tests/golden/make_functions.py, make_datasets.py), run again
// and compared with what TensorFlow gave.
#ifndef RHEOS_TESTS_RUNTIME_RECORDED_PROGRAMS_H
#define RHEOS_TESTS_RUNTIME_RECORDED_PROGRAMS_H

#include <stdint.h>

// Each is run with small functions inlined into the plans of their calls, without, and with all
// edges watched: the bits and the errors are the same.
//
// All programs of tests/golden/FOLDER/programs.txt; a test fails if one gives something else, and
// what is told of it names the program.
void run_recorded_programs(const char *folder, int32_t num_threads);

#endif  // RHEOS_TESTS_RUNTIME_RECORDED_PROGRAMS_H
