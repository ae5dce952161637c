// What placement cannot do: in TensorFlow's words, with the nodes that matter and their lines.
#include "plan/entries/placer.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"

static void add_name(const rheos__placer *p, rheos__text *text, int32_t id) {
  char *name = p->name_of(p->whole, id);
  if (name == NULL) text->failed = true;
  rheos__text_add_string(text, name != NULL ? name : "");
  rheos__free(name);
}

static rheos_status *invalid_take(rheos__text *text) {
  rheos_status *status = text->failed ? rheos__out_of_memory() : RHEOS_INVALID("%s", text->data);
  rheos__text_deinit(text);
  return status;
}

static void add_item(rheos__text *text, bool is_first, const char *item) {
  if (!is_first) rheos__text_add_string(text, ", ");
  rheos__text_add_string(text, item);
}

// "a (defined at model.py:3)", where that is known.
static void add_place(const rheos__placer *p, rheos__text *text, int32_t id) {
  const char *file = NULL;
  int32_t line;
  add_name(p, text, id);
  if (id >= rheos_graph_num_operations(p->graph)) return;  // of an inlined body
  rheos_operation_source((rheos_operation){(rheos_graph *)(uintptr_t)p->graph, id}, &file, &line);
  if (file == NULL) return;
  char *at = rheos__text_format(" (defined at %s:%d)", file, (int)line);
  if (at == NULL) text->failed = true;
  rheos__text_add_string(text, at != NULL ? at : "");
  rheos__free(at);
}

rheos_status *rheos__place_no_device(const rheos__placer *p, const rheos__placed *what,
                                     const char *asked, int32_t asker) {
  rheos__text text = {0};
  rheos__text_add_string(&text, "Cannot assign a device for operation ");
  add_name(p, &text, what->id);
  if (asker == what->id) {
    rheos__text_add_string(&text, ": the operation");
  } else {
    rheos__text_add_string(&text, ": it is to be with ");
    add_place(p, &text, asker);
    rheos__text_add_string(&text, ", which");
  }
  rheos__text_add_string(&text, " was explicitly assigned to ");
  rheos__text_add_string(&text, asked);
  rheos__text_add_string(&text, " but available devices are [ ");
  for (int32_t i = 0; i < p->num_devices; ++i) add_item(&text, i == 0, p->devices[i]->name);
  rheos__text_add_string(&text, " ]. Make sure the device specification refers to a valid device.");
  return invalid_take(&text);
}

rheos_status *rheos__place_no_kernel(const rheos__placer *p, const rheos__placed *what,
                                     const char *asked, int32_t device) {
  rheos__text text = {0};
  bool is_first = true;
  rheos__text_add_string(&text, "Cannot assign a device for operation ");
  add_name(p, &text, what->id);
  rheos__text_add_string(&text, ": Could not satisfy explicit device specification '");
  rheos__text_add_string(&text, asked);
  rheos__text_add_string(&text, "' because no supported kernel for ");
  rheos__text_add_string(&text, p->devices[device]->kind->name);
  rheos__text_add_string(&text, " devices is available. ");
  rheos__text_add_string(&text, what->op->name);
  rheos__text_add_string(&text, " has kernels for [ ");
  for (int32_t i = 0; i < p->num_devices; ++i) {
    const rheos__device_kind *kind = p->devices[i]->kind;
    bool is_new = rheos__device_has_kernel(p->devices[i], what->op, what->attrs);
    for (int32_t k = 0; k < i; ++k) is_new = is_new && p->devices[k]->kind != kind;
    if (!is_new) continue;
    add_item(&text, is_first, kind->name);
    is_first = false;
  }
  rheos__text_add_string(&text, " ].");
  return invalid_take(&text);
}

static const char *what_differs(const rheos__device_name *a, const rheos__device_name *b) {
  if (strcmp(a->job, b->job) != 0 && a->job[0] != '\0' && b->job[0] != '\0') return "jobs";
  if (a->replica != b->replica && a->replica >= 0 && b->replica >= 0) return "replicas";
  if (a->task != b->task && a->task >= 0 && b->task >= 0) return "tasks";
  if (strcmp(a->type, b->type) != 0 && a->type[0] != '\0' && b->type[0] != '\0') return "types";
  return "ids";
}

rheos_status *rheos__place_conflict(const rheos__placer *p, const rheos__place *one,
                                    const rheos__place *other) {
  rheos__text text = {0};
  rheos__text_add_string(&text, "Cannot colocate nodes ");
  add_place(p, &text, other->asker);
  rheos__text_add_string(&text, " and ");
  add_place(p, &text, one->asker);
  rheos__text_add_string(&text, ": Cannot merge devices with incompatible ");
  rheos__text_add_string(&text, what_differs(&one->wanted->name, &other->wanted->name));
  rheos__text_add_string(&text, ": '");
  rheos__text_add_string(&text, one->wanted->text);
  rheos__text_add_string(&text, "' and '");
  rheos__text_add_string(&text, other->wanted->text);
  rheos__text_add_string(&text, "'");
  return invalid_take(&text);
}
