#include "net/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// ---- Counting

// Upper ends of the classes of the histogram, but for the last one.
static const int64_t latencies_us[RHEOS__NUM_LATENCIES - 1] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 500000, 2500000, 10000000, 60000000};

static int class_of(int64_t took_ns) {
  int at = 0;
  while (at < RHEOS__NUM_LATENCIES - 1 && took_ns > latencies_us[at] * 1000) at++;
  return at;
}

static void add(_Atomic int64_t *to, int64_t value) {
  atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

static int64_t get(const _Atomic int64_t *from) {
  return atomic_load_explicit(from, memory_order_relaxed);
}

void rheos__metrics_count_call(rheos__metrics *metrics, int method, rheos_code code,
                               int64_t took_ns) {
  add(&metrics->calls[method][(unsigned)code < RHEOS__NUM_CODES ? code : RHEOS_UNKNOWN], 1);
  add(&metrics->seconds[method][class_of(took_ns)], 1);
  add(&metrics->nanoseconds[method], took_ns);
}

void rheos__metrics_count_in(rheos__metrics *metrics, rheos__chunks chunks) {
  size_t size = 0;
  for (size_t i = 0; i < chunks.count; i++) size += chunks.chunks[i].size_bytes;
  add(&metrics->bytes_in, (int64_t)size);
}

void rheos__metrics_count_out(rheos__metrics *metrics, rheos__pieces pieces) {
  size_t size = 0;
  for (size_t i = 0; i < pieces.count; i++) size += pieces.pieces[i].size_bytes;
  add(&metrics->bytes_out, (int64_t)size);
}

// ---- Events

static void tell(const rheos__metrics *metrics, const char *name, bool is_warning,
                 const char *subject, const char *detail) {
  const rheos_server_event event = {
      .name = name, .is_warning = is_warning, .subject = subject, .detail = detail};
  if (metrics->tell != NULL) metrics->tell(metrics->tell_argument, &event);
}

void rheos__metrics_session_made(rheos__metrics *metrics, const char *handle) {
  add(&metrics->sessions_made, 1);
  tell(metrics, "session_made", false, handle, "");
}

void rheos__metrics_session_closed(rheos__metrics *metrics, const char *handle, const char *why) {
  tell(metrics, "session_closed", false, handle, why);
}

void rheos__metrics_session_dropped(rheos__metrics *metrics) { add(&metrics->sessions_dropped, 1); }

void rheos__metrics_task_lost(rheos__metrics *metrics, const char *task) {
  add(&metrics->tasks_lost, 1);
  tell(metrics, "task_lost", true, task, "it does not answer");
}

void rheos__metrics_call_refused(rheos__metrics *metrics, const char *method, const char *why) {
  add(&metrics->calls_refused, 1);
  tell(metrics, "call_refused", true, method, why);
}

// ---- Writing

#define LINE(text, ...)                       \
  do {                                        \
    char line[256];                           \
    snprintf(line, sizeof line, __VA_ARGS__); \
    rheos__text_add_string((text), line);     \
  } while (0)

void rheos__metrics_write_number(rheos__text *text, const char *kind, const char *name,
                                 const char *about, int64_t value) {
  LINE(text, "# HELP rheos_%s %s\n# TYPE rheos_%s %s\n", name, about, name, kind);
  LINE(text, "rheos_%s %lld\n", name, (long long)value);
}

static const char *name_of(int method) { return strrchr(rheos__method_names[method], '/') + 1; }

static void write_calls(const rheos__metrics *metrics, rheos__text *text) {
  rheos__text_add_string(text,
                         "# HELP rheos_calls_total Calls that were answered.\n"
                         "# TYPE rheos_calls_total counter\n");
  for (int m = 0; m < RHEOS__NUM_METHODS; m++) {
    for (int c = 0; c < RHEOS__NUM_CODES; c++) {
      const int64_t count = get(&metrics->calls[m][c]);
      if (count == 0) continue;
      LINE(text, "rheos_calls_total{method=\"%s\",code=\"%s\"} %lld\n", name_of(m),
           rheos_code_name((rheos_code)c), (long long)count);
    }
  }
}

static void write_latency(const rheos__metrics *metrics, int m, rheos__text *text) {
  int64_t count = 0;
  for (int k = 0; k < RHEOS__NUM_LATENCIES; k++) {
    count += get(&metrics->seconds[m][k]);
    char end[32] = "+Inf";
    if (k < RHEOS__NUM_LATENCIES - 1) {
      snprintf(end, sizeof end, "%g", (double)latencies_us[k] / 1e6);
    }
    LINE(text, "rheos_call_seconds_bucket{method=\"%s\",le=\"%s\"} %lld\n", name_of(m), end,
         (long long)count);
  }
  LINE(text, "rheos_call_seconds_sum{method=\"%s\"} %.9f\n", name_of(m),
       (double)get(&metrics->nanoseconds[m]) / 1e9);
  LINE(text, "rheos_call_seconds_count{method=\"%s\"} %lld\n", name_of(m), (long long)count);
}

// Of the methods that were called.
static void write_latencies(const rheos__metrics *metrics, rheos__text *text) {
  rheos__text_add_string(text,
                         "# HELP rheos_call_seconds How long calls took.\n"
                         "# TYPE rheos_call_seconds histogram\n");
  for (int m = 0; m < RHEOS__NUM_METHODS; m++) {
    int64_t count = 0;
    for (int k = 0; k < RHEOS__NUM_LATENCIES; k++) count += get(&metrics->seconds[m][k]);
    if (count > 0) write_latency(metrics, m, text);
  }
}

void rheos__metrics_write(const rheos__metrics *metrics, rheos__text *text) {
  const struct {
    const char *name, *about;
    const _Atomic int64_t *value;
  } counters[] = {
      {"received_bytes_total", "Bytes of requests.", &metrics->bytes_in},
      {"sent_bytes_total", "Bytes of replies.", &metrics->bytes_out},
      {"sessions_made_total", "Sessions that clients made.", &metrics->sessions_made},
      {"sessions_dropped_total", "Sessions whose client was gone or idle.",
       &metrics->sessions_dropped},
      {"tasks_lost_total", "Times that a task of the cluster did not answer.",
       &metrics->tasks_lost},
      {"calls_refused_total", "Calls without a right to what they ask, or beyond a limit.",
       &metrics->calls_refused},
  };
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    rheos__metrics_write_number(text, "counter", counters[i].name, counters[i].about,
                                get(counters[i].value));
  }
  write_calls(metrics, text);
  write_latencies(metrics, text);
}
