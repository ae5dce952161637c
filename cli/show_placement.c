// `rheos show --placement`: what each node asks for, which device it is given, and why.
#include "show.h"

#include <stdlib.h>
#include <string.h>

#include <rheos/placement.h>

#include "cluster_devices.h"
#include "command.h"
#include "status.h"

enum { MOST_WIDTH = 40, MOST_CPUS = 64, MOST_TASK = 1000000 };

static char *name_of(rheos_operation operation) {
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = command_alloc(length + 1);
  rheos_operation_name(operation, name, length + 1);
  return name;
}

static void print_json(const source *s, const rheos_placement *placements, size_t count) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  json_begin(&j, "placement", '[');
  for (size_t i = 0; i < count; i++) {
    char *name = name_of(placements[i].operation);
    json_begin(&j, NULL, '{');
    json_text(&j, "node", name);
    json_text(&j, "op", rheos_operation_type(placements[i].operation));
    json_text(&j, "asked", placements[i].asked);
    json_text(&j, "given", placements[i].given);
    json_text(&j, "why", placements[i].why);
    json_end(&j, '}');
    free(name);
  }
  json_end(&j, ']');
  json_end(&j, '}');
}

static void widen(int *width, const char *text) {
  const int own = show_width(text);
  if (own > *width && own <= MOST_WIDTH) *width = own;
}

static const char *asked_text(const char *asked) { return asked[0] != '\0' ? asked : "-"; }

static void print_row(const rheos_placement *p, const int *widths) {
  char *name = name_of(p->operation);
  show_padded(name, widths[0]);
  fputs("  ", stdout);
  show_padded(rheos_operation_type(p->operation), widths[1]);
  fputs("  ", stdout);
  show_padded(asked_text(p->asked), widths[2]);
  printf("  %s  ", p->given);
  show_name(p->why);
  putchar('\n');
  free(name);
}

static void print_text(const rheos_placement *placements, size_t count) {
  int widths[3] = {0};
  for (size_t i = 0; i < count; i++) {
    char *name = name_of(placements[i].operation);
    widen(&widths[0], name);
    widen(&widths[1], rheos_operation_type(placements[i].operation));
    widen(&widths[2], asked_text(placements[i].asked));
    free(name);
  }
  for (size_t i = 0; i < count; i++) print_row(&placements[i], widths);
}

static rheos_status *number_of(const char *option, const char *text, long least, long most,
                               int *out_number) {
  char *end;
  if (text == NULL) return NULL;
  const long number = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number < least || number > most) {
    return INVALID("%s takes a number from %ld to %ld, not '%s'", option, least, most, text);
  }
  *out_number = (int)number;
  return NULL;
}

static rheos_status *read_devices(const show_options *options, cluster_devices *devices) {
  int num_cpus = 1, num_gpus = 0, task = 0;
  TRY(number_of("--cpus", options->cpus, 1, MOST_CPUS, &num_cpus));
  TRY(number_of("--task", options->task, 0, MOST_TASK, &task));
  TRY(number_of("--gpus", options->gpus, 0, MOST_CPUS, &num_gpus));
  return cluster_devices_read(options->cluster, num_cpus, num_gpus, options->job, task, devices);
}

static rheos_status *place(const view *v, const show_options *options,
                           const cluster_devices *devices, rheos_placement **out_placements,
                           size_t *out_count) {
  const rheos_placement_options wanted = {.devices = (const char *const *)devices->names,
                                          .num_devices = devices->count,
                                          .allow_soft_placement = options->soft_placement};
  if (v->graph == NULL) return INVALID("the graph cannot be imported: %s", v->problem);
  return rheos_graph_place(v->graph, &wanted, out_placements, out_count);
}

int show_placement(const source *s, const view *v, const show_options *options) {
  cluster_devices devices = {NULL, 0, 0};
  rheos_placement *placements = NULL;
  size_t count = 0;
  rheos_status *status = read_devices(options, &devices);
  const char *path = status != NULL && options->cluster != NULL ? options->cluster : s->path;
  if (status == NULL) status = place(v, options, &devices, &placements, &count);
  if (status == NULL && options->json) print_json(s, placements, count);
  if (status == NULL && !options->json) print_text(placements, count);
  rheos_free(placements);
  cluster_devices_free(&devices);
  return status == NULL ? EXIT_SUCCESS : command_fail_take(path, status);
}
