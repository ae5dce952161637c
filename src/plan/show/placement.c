// The placement of a graph as a list in one block: the rows, then their texts.
#include <rheos/placement.h>

#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "device/cpu/cpu.h"
#include "device/known_device.h"
#include "plan/entries/placer.h"

typedef struct lister {
  rheos__device *devices;
  const rheos__device **list;
  int32_t num_devices, num_made;
  rheos__placer placer;
  rheos__text texts;  // of all rows, each with its NUL
} lister;

// ---- Devices

static rheos_status *make_device(const char *name, bool is_first, rheos__device *device) {
  rheos__device_name parsed;
  RHEOS_TRY(rheos__device_name_parse(name, &parsed));
  const rheos__device_kind *kind = rheos__known_kind(parsed.type);
  if (parsed.job[0] == '\0' || parsed.replica < 0 || parsed.task < 0 || parsed.id < 0 ||
      parsed.id > 9999 || kind == NULL || (is_first && kind != &rheos__cpu_kind)) {
    return RHEOS_INVALID(
        "'%s' is not the full name of a CPU%s: write "
        "/job:worker/replica:0/task:0/device:CPU:0",
        name, is_first ? "" : " or GPU");
  }
  return rheos__known_device_init(device, kind, parsed.id, &parsed);
}

static rheos_status *make_devices(lister *l, const rheos_placement_options *options) {
  static const char here[] = "/job:" RHEOS__LOCAL_JOB "/replica:0/task:0/device:CPU:0";
  const bool is_given = options->devices != NULL;
  const size_t count = is_given ? options->num_devices : 1;
  if (count == 0 || count > INT16_MAX) {
    return RHEOS_INVALID("a graph is placed on 1 to %d devices, got %zu", INT16_MAX, count);
  }
  l->devices = rheos__alloc_array(count, sizeof *l->devices);
  l->list = rheos__alloc_array(count, sizeof *l->list);
  if (l->devices == NULL || l->list == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    if (is_given && options->devices[i] == NULL) return RHEOS_INVALID("device %zu is NULL", i);
    RHEOS_TRY(make_device(is_given ? options->devices[i] : here, i == 0, &l->devices[i]));
    l->list[i] = &l->devices[i];
    ++l->num_made;
  }
  l->num_devices = (int32_t)count;
  return NULL;
}

// ---- The list

static void add_text(lister *l, const char *text) {
  if (text == NULL) l->texts.failed = true;
  if (text != NULL) rheos__text_add(&l->texts, text, strlen(text) + 1);
}

static void add_texts(lister *l, int32_t id) {
  const rheos__placer *p = &l->placer;
  char *why = rheos__placer_why(p, id);
  add_text(l, rheos__graph_node(p->graph, id)->device);
  add_text(l, p->devices[p->places[id].given.device]->name);
  add_text(l, why);
  rheos__free(why);
}

static const char *take_text(const char **at) {
  const char *text = *at;
  *at += strlen(text) + 1;
  return text;
}

static rheos_status *make_list(lister *l, rheos_placement **out_placements, size_t *out_count) {
  const size_t count = (size_t)l->placer.num_ids, rows = count * sizeof(rheos_placement);
  for (int32_t i = 0; i < l->placer.num_ids && !l->texts.failed; ++i) add_texts(l, i);
  char *block = l->texts.failed ? NULL : rheos__alloc(rows + l->texts.size + 1);
  if (block == NULL) return rheos__out_of_memory();
  rheos_placement *placements = (rheos_placement *)(void *)block;
  const char *at = block + rows;
  if (l->texts.size > 0) memcpy(block + rows, l->texts.data, l->texts.size);
  for (size_t i = 0; i < count; ++i) {
    placements[i].operation =
        (rheos_operation){(rheos_graph *)(uintptr_t)l->placer.graph, (int32_t)i};
    placements[i].asked = take_text(&at);
    placements[i].given = take_text(&at);
    placements[i].why = take_text(&at);
  }
  *out_placements = placements;
  *out_count = count;
  return NULL;
}

static rheos_status *place(lister *l, const rheos_graph *graph,
                           const rheos_placement_options *options, rheos_placement **out_placements,
                           size_t *out_count) {
  RHEOS_TRY(make_devices(l, options));
  l->placer = (rheos__placer){.graph = graph,
                              .devices = l->list,
                              .num_devices = l->num_devices,
                              .allow_soft_placement = options->allow_soft_placement,
                              .prefers_cards = true};
  rheos__graph_begin_reading((rheos_graph *)(uintptr_t)graph);
  rheos_status *status = rheos__place_nodes(&l->placer);
  if (status == NULL) status = make_list(l, out_placements, out_count);
  rheos__graph_end_reading((rheos_graph *)(uintptr_t)graph);
  rheos__placer_deinit(&l->placer);
  return status;
}

rheos_status *rheos_graph_place_sized(const rheos_graph *graph,
                                      const rheos_placement_options *options, size_t options_bytes,
                                      rheos_placement **out_placements, size_t *out_count) {
  RHEOS_OUT(out_placements);
  RHEOS_OUT(out_count);
  RHEOS_NEED(graph);
  rheos_placement_options wanted;
  lister l = {.num_devices = 0};
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_placement_options, options, options_bytes, &wanted));
  rheos_status *status = place(&l, graph, &wanted, out_placements, out_count);
  for (int32_t i = 0; i < l.num_made; ++i) rheos__device_deinit(&l.devices[i]);
  rheos__text_deinit(&l.texts);
  rheos__free((void *)l.list);
  rheos__free(l.devices);
  return status;
}
