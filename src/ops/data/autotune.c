#include "ops/data/autotune.h"

// Elements after which a consumer that found nothing counts as fed again.
enum { HUNGRY = 64 };

static void choose(rheos__tuner *t, int64_t limit) {
  t->limit = limit;
  t->lowest = INT64_MAX;
  t->taken = 0;
  t->was_full = false;
}

void rheos__tuner_init(rheos__tuner *t, int64_t buffer) {
  *t = (rheos__tuner){.is_open = buffer < 0};
  choose(t, buffer >= 0 ? buffer : RHEOS__TUNER_FIRST);
}

void rheos__tuner_used(rheos__tuner *t, double ns, int64_t count) {
  if (count < 1) return;
  const double each = ns / (double)count;
  t->each_ns = t->each_ns == 0 ? each : t->each_ns * 0.9 + each * 0.1;
}

void rheos__tuner_fed(rheos__tuner *t, int64_t fill, int64_t taken) {
  t->hungry = t->hungry > taken ? t->hungry - taken : 0;
  if (fill < t->lowest) t->lowest = fill;
  t->taken += taken;
  if (!t->is_open || t->taken < 16 * t->limit) return;
  if (t->limit > RHEOS__TUNER_FIRST && t->lowest > t->limit / 2) {
    choose(t, t->limit / 2);
  } else {
    t->lowest = INT64_MAX;
    t->taken = 0;
  }
}

void rheos__tuner_starved(rheos__tuner *t, int64_t each_bytes, int64_t left_bytes) {
  t->hungry = HUNGRY;
  if (!t->is_open || !t->was_full || t->limit >= RHEOS__TUNER_MOST) return;
  if (each_bytes > 0 && left_bytes / each_bytes < t->limit) return;  // as much again
  choose(t, 2 * t->limit);
}

void rheos__tuner_full(rheos__tuner *t) { t->was_full = true; }

void rheos__tuner_spent(rheos__tuner *t) {
  if (t->is_open && t->limit > RHEOS__TUNER_FIRST) choose(t, RHEOS__TUNER_FIRST);
}

int32_t rheos__tuner_threads(const rheos__tuner *t, double work_ns, int32_t most) {
  if (t->hungry > 0 || t->each_ns == 0 || work_ns == 0) return most;
  const double wanted = work_ns * 1.25 / t->each_ns;
  if (wanted >= (double)most) return most;
  return wanted <= 1 ? 1 : (int32_t)wanted + ((double)(int32_t)wanted < wanted);
}
