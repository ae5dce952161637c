// `rheos bench`: what functions, loops and branches take.
#include "bench_bodies.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { MOST_BODIES_SHOWN = 20, NAME_WIDTH = 32 };

static int by_time(const void *a, const void *b) {
  const double x = ((const bench_body *)a)->ns, y = ((const bench_body *)b)->ns;
  return (x < y) - (x > y);
}

void bench_bodies_init(bench_bodies *bodies, const rheos_profile *profile, size_t num_runs,
                       double scale) {
  bodies->count = rheos_profile_num_bodies(profile);
  bodies->items = command_alloc(bodies->count * sizeof *bodies->items);
  for (size_t i = 0; i < bodies->count; i++) {
    const rheos_profile_body body = rheos_profile_body_at(profile, i);
    bodies->items[i] = (bench_body){.body = body.body,
                                    .caller = body.node,
                                    .op = body.op,
                                    .runs = body.runs / (int64_t)num_runs,
                                    .ns = (double)body.ns * scale / (double)num_runs};
  }
  if (bodies->count > 1) qsort(bodies->items, bodies->count, sizeof *bodies->items, by_time);
}

void bench_bodies_print(const bench_bodies *bodies) {
  if (bodies->count == 0) return;
  printf("\n%-32s %7s %10s %10s  %s\n", "body", "runs", "us", "ns a run", "called by");
  for (size_t i = 0; i < bodies->count && i < MOST_BODIES_SHOWN; i++) {
    const bench_body *at = &bodies->items[i];
    text_print(stdout, at->body, strlen(at->body));
    printf("%*s %7lld %10.1f %10.0f  ",
           strlen(at->body) < NAME_WIDTH ? NAME_WIDTH - (int)strlen(at->body) : 0, "",
           (long long)at->runs, at->ns / 1e3, at->runs > 0 ? at->ns / (double)at->runs : at->ns);
    text_print(stdout, at->caller, strlen(at->caller));
    printf(" (%s)\n", at->op);
  }
  if (bodies->count > MOST_BODIES_SHOWN) {
    printf("and %zu more\n", bodies->count - MOST_BODIES_SHOWN);
  }
}

void bench_bodies_print_json(const bench_bodies *bodies, json *j) {
  json_begin(j, "bodies", '[');
  for (size_t i = 0; i < bodies->count; i++) {
    const bench_body *at = &bodies->items[i];
    json_begin(j, NULL, '{');
    json_text(j, "body", at->body);
    json_text(j, "node", at->caller);
    json_text(j, "op", at->op);
    json_int(j, "runs", at->runs);
    json_number(j, "us", at->ns / 1e3, false);
    json_end(j, '}');
  }
  json_end(j, ']');
}

void bench_bodies_deinit(bench_bodies *bodies) { free(bodies->items); }
