// A program for tests of graphics cards.
#ifndef RHEOS_TESTS_DEVICE_CARD_PROGRAM_H
#define RHEOS_TESTS_DEVICE_CARD_PROGRAM_H

#include <rheos/rheos.h>

// The mean of tanh of the squared products of the rows of x, [?, 5].
typedef struct card_program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, y;
} card_program;

void card_program_init(card_program *p, const char *device);
void card_program_deinit(card_program *p);
rheos_status *card_program_run(const card_program *p, rheos_session *session, int64_t rows,
                               rheos_tensor **out);

#endif  // RHEOS_TESTS_DEVICE_CARD_PROGRAM_H
