#include "net/ids.h"

#include <stdio.h>

int64_t rheos__step_id(void) {
  int64_t id = 0;
  while (id == 0) id = (int64_t)(rheos__random_id() >> 8);
  return id;
}

void rheos__id_text(uint64_t id, char *out_text) {
  snprintf(out_text, RHEOS__ID_BYTES, "%016llx", (unsigned long long)id);
}
