// Names and inputs of a GraphDef's nodes: which node an input means, and what the nodes are called
// in the graph.
#include "format/graph/graph_import.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

bool rheos__import_parse_input(const char *text, rheos__input_ref *out_ref) {
  bool is_control = text[0] == '^';
  *out_ref = (rheos__input_ref){text + is_control, strlen(text) - is_control, is_control ? -1 : 0};
  const char *colon = is_control ? NULL : strrchr(text, ':');
  if (colon != NULL) {
    size_t digits = strspn(colon + 1, "0123456789");
    if (digits == 0 || digits > 9 || colon[1 + digits] != '\0') return false;
    out_ref->name_bytes = (size_t)(colon - text);
    out_ref->index = (int32_t)strtol(colon + 1, NULL, 10);
  }
  return out_ref->name_bytes > 0;
}

// The slot of the name: free, or with a node of that name.
rheos__name_slot *rheos__import_slot_of(rheos__import *im, const char *name, size_t name_bytes) {
  const uint64_t long_hash = rheos__hash_bytes(0, name, name_bytes);
  const uint32_t hash = (uint32_t)long_hash;
  size_t at = hash & (im->num_slots - 1);
  for (;; at = (at + 1) & (im->num_slots - 1)) {
    rheos__name_slot *s = &im->slots[at];
    if (s->node < 0) {
      s->hash = hash;
      return s;
    }
    if (s->hash != hash) continue;
    const char *other = im->def->node[s->node]->name;
    if (strncmp(other, name, name_bytes) == 0 && other[name_bytes] == '\0') return s;
  }
}

rheos_status *rheos__import_index_names(rheos__import *im) {
  im->num_slots = 16;
  while (im->num_slots < (size_t)im->num_nodes * 2) im->num_slots *= 2;
  im->slots = rheos__arena_alloc(&im->arena, im->num_slots * sizeof *im->slots);
  if (im->slots == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < im->num_slots; i++) im->slots[i] = (rheos__name_slot){0, -1};
  for (int32_t i = 0; i < im->num_nodes; i++) {
    const char *name = im->def->node[i]->name;
    if (name[0] == '\0') return RHEOS_INVALID("node %d of the graph has no name", i);
    rheos__name_slot *s = rheos__import_slot_of(im, name, strlen(name));
    if (s->node >= 0) return RHEOS_INVALID("Node '%s' is not unique", name);
    s->node = i;
  }
  return NULL;
}

// "name", or below the prefix "prefix/name"; then `tail`.
char *rheos__import_full_name(const rheos__import *im, const char *name, const char *tail,
                              rheos__arena *arena) {
  const size_t prefix_bytes = strlen(im->prefix), name_bytes = strlen(name);
  const size_t tail_bytes = strlen(tail);
  char *text = rheos__arena_alloc(arena, prefix_bytes + name_bytes + tail_bytes + 2);
  if (text == NULL) return NULL;
  char *at = text;
  if (prefix_bytes > 0) {
    memcpy(at, im->prefix, prefix_bytes);
    at += prefix_bytes;
    *at++ = '/';
  }
  memcpy(at, name, name_bytes);
  memcpy(at + name_bytes, tail, tail_bytes + 1);
  return text;
}

const char *rheos__import_local_name(const rheos__import *im, int32_t node) {
  const bool has_other = im->names != NULL && im->names[node] != NULL;
  return has_other ? im->names[node] : im->def->node[node]->name;
}

static rheos_status *is_taken(rheos__import *im, const char *name, bool *out_is_taken) {
  rheos__arena_reset(&im->scratch);
  const char *full = rheos__import_full_name(im, name, "", &im->scratch);
  if (full == NULL) return rheos__out_of_memory();
  *out_is_taken = rheos_graph_operation(im->graph, full).graph != NULL;
  return NULL;
}

// Finds "name_1" and so on, which neither the graph nor the file has.
static rheos_status *choose_name(rheos__import *im, int32_t node) {
  const char *name = im->def->node[node]->name;
  const size_t room = strlen(name) + 12;
  char *text = rheos__arena_alloc(&im->arena, room);
  if (text == NULL) return rheos__out_of_memory();
  bool taken = true;
  for (int32_t number = 1; taken; number++) {
    const int length = snprintf(text, room, "%s_%d", name, number);
    if (rheos__import_slot_of(im, text, (size_t)length)->node >= 0) continue;
    RHEOS_TRY(is_taken(im, text, &taken));
  }
  im->names[node] = text;
  return NULL;
}

rheos_status *rheos__import_choose_names(rheos__import *im) {
  if (rheos_graph_num_operations(im->graph) == 0) return NULL;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    bool taken = false;
    RHEOS_TRY(is_taken(im, im->def->node[i]->name, &taken));
    if (!taken) continue;
    if (im->names == NULL) {
      im->names = rheos__arena_alloc_zeroed(&im->arena, (size_t)im->num_nodes * sizeof *im->names);
      if (im->names == NULL) return rheos__out_of_memory();
    }
    RHEOS_TRY(choose_name(im, i));
  }
  return NULL;
}

// The mapping for that input, NULL if there is none.
rheos_import_mapping *rheos__import_mapping_of(const rheos__import *im,
                                               const rheos__input_ref *ref) {
  for (size_t i = 0; i < im->num_mappings; i++) {
    const rheos__input_ref *from = &im->mapping_refs[i];
    if (from->index == ref->index && from->name_bytes == ref->name_bytes &&
        memcmp(from->name, ref->name, ref->name_bytes) == 0) {
      return &im->input_map[i];
    }
  }
  return NULL;
}

static rheos_status *resolve_input(rheos__import *im, const Tensorflow__NodeDef *def, size_t input,
                                   rheos__import_source *out_source) {
  rheos__input_ref ref;
  if (!rheos__import_parse_input(def->input[input], &ref)) {
    return RHEOS_INVALID("Node '%s': Unknown input node '%s'", def->name, def->input[input]);
  }
  *out_source = (rheos__import_source){-1, ref.index, rheos__import_mapping_of(im, &ref)};
  if (out_source->mapping != NULL) return NULL;
  out_source->node = rheos__import_slot_of(im, ref.name, ref.name_bytes)->node;
  if (out_source->node >= 0) return NULL;
  return RHEOS_INVALID("Node '%s': Unknown input node '%s'", def->name, def->input[input]);
}

rheos_status *rheos__import_resolve_inputs(rheos__import *im) {
  size_t count = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) count += im->def->node[i]->n_input;
  if (count > INT32_MAX / 4) return RHEOS_INVALID("%zu inputs are too many", count);
  rheos__import_source *all = rheos__arena_alloc(&im->arena, count * sizeof *all);
  im->sources = rheos__arena_alloc(&im->arena, (size_t)im->num_nodes * sizeof *im->sources);
  if (all == NULL || im->sources == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < im->num_nodes; i++) {
    const Tensorflow__NodeDef *def = im->def->node[i];
    im->sources[i] = all;
    for (size_t k = 0; k < def->n_input; k++) RHEOS_TRY(resolve_input(im, def, k, all++));
  }
  return NULL;
}
