// Parts of GraphDefs below a name scope: names lose it, inputs from elsewhere get one of their own.
#include "format/graph/graph_scope.h"

#include <rheos/graph_util.h>
#include <stdlib.h>

#include "base/text.h"
#include "format/graph/graph_edit.h"

// ---- Names

bool rheos__is_below(const char *name, const char *scope) {
  return strncmp(name, scope, strlen(scope)) == 0;
}

const char *rheos__without_scope(const char *name, const char *scope) {
  size_t scope_bytes = strlen(scope);
  if (scope_bytes > 0 && scope[scope_bytes - 1] == '/') scope_bytes--;
  if (scope_bytes == 0 || strncmp(name, scope, scope_bytes) != 0 || name[scope_bytes] != '/') {
    return name;
  }
  name += scope_bytes;
  return name + strspn(name, "/");
}

// ---- Nodes

typedef struct part {
  rheos__graph_edit *edit;
  const char *scope;
  char **unbound;  // in the edit's arena
  size_t num_unbound;
} part;

// "x:1" and "^x", from the scope or from elsewhere.
static rheos_status *rename_input(part *p, char **input) {
  static const char prefix[] = RHEOS__UNBOUND_PREFIX;
  const size_t prefix_bytes = sizeof prefix - 1, control_bytes = (*input)[0] == '^';
  const char *name = *input + control_bytes;
  const bool is_below = rheos__is_below(name, p->scope);
  const char *rest = is_below ? rheos__without_scope(name, p->scope) : name;
  const size_t rest_bytes = strlen(rest);
  char *text = rheos__arena_alloc(&p->edit->arena, control_bytes + prefix_bytes + rest_bytes + 1);
  if (text == NULL) return rheos__out_of_memory();
  char *at = text;
  if (control_bytes > 0) *at++ = '^';
  if (!is_below) {
    memcpy(at, prefix, prefix_bytes);
    at += prefix_bytes;
    p->unbound[p->num_unbound++] = text;
  }
  memcpy(at, rest, rest_bytes + 1);
  *input = text;
  return NULL;
}

// The text without the scope in a name behind the first `start` bytes. False if it is not below.
static rheos_status *rename_bytes(part *p, ProtobufCBinaryData *text, size_t start,
                                  bool *out_is_below) {
  *out_is_below = false;
  if (text->len < start) return NULL;
  char *whole = rheos__arena_alloc(&p->edit->arena, text->len + 1);
  if (whole == NULL) return rheos__out_of_memory();
  if (text->len > 0) memcpy(whole, text->data, text->len);
  whole[text->len] = '\0';
  if (strlen(whole) != text->len || !rheos__is_below(whole + start, p->scope)) return NULL;
  const char *rest = rheos__without_scope(whole + start, p->scope);
  const size_t rest_bytes = strlen(rest);
  memmove(whole + start, rest, rest_bytes);
  *text = (ProtobufCBinaryData){start + rest_bytes, (uint8_t *)whole};
  *out_is_below = true;
  return NULL;
}

// Texts of `_class`, "loc:@name": those with nodes from elsewhere go.
static rheos_status *rename_colocations(part *p, Tensorflow__AttrValue__ListValue *list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->n_s; i++) {
    const uint8_t *at = list->s[i].len > 0 ? memchr(list->s[i].data, '@', list->s[i].len) : NULL;
    bool is_below = false;
    if (at != NULL) {
      RHEOS_TRY(rename_bytes(p, &list->s[i], (size_t)(at - list->s[i].data) + 1, &is_below));
    }
    if (is_below) list->s[kept++] = list->s[i];
  }
  list->n_s = kept;
  return NULL;
}

static rheos_status *rename_attrs(part *p, Tensorflow__NodeDef *def) {
  const bool enters = strcmp(def->op, "Enter") == 0 || strcmp(def->op, "RefEnter") == 0;
  for (size_t i = 0; i < def->n_attr; i++) {
    Tensorflow__AttrValue *value = def->attr[i]->value;
    if (value == NULL) continue;
    if (strcmp(def->attr[i]->key, "_class") == 0 &&
        value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) {
      RHEOS_TRY(rename_colocations(p, value->list));
    } else if (enters && strcmp(def->attr[i]->key, "frame_name") == 0 &&
               value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_S) {
      bool is_below;
      RHEOS_TRY(rename_bytes(p, &value->s, 0, &is_below));
    }
  }
  return NULL;
}

static rheos_status *rename_node(part *p, Tensorflow__NodeDef *def) {
  def->name = (char *)(uintptr_t)rheos__without_scope(def->name, p->scope);
  for (size_t i = 0; i < def->n_input; i++) RHEOS_TRY(rename_input(p, &def->input[i]));
  return rename_attrs(p, def);
}

static rheos_status *keep_part(part *p) {
  Tensorflow__GraphDef *def = p->edit->def;
  size_t num_inputs = 0, kept = 0;
  for (size_t i = 0; i < def->n_node; i++) num_inputs += def->node[i]->n_input;
  p->unbound = rheos__arena_alloc(&p->edit->arena, num_inputs * sizeof *p->unbound);
  if (p->unbound == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < def->n_node; i++) {
    if (!rheos__is_below(def->node[i]->name, p->scope)) continue;
    RHEOS_TRY(rename_node(p, def->node[i]));
    def->node[kept++] = def->node[i];
  }
  def->n_node = kept;
  return NULL;
}

// Sorted, each once.
static void sort_unbound(part *p) {
  if (p->num_unbound > 1)
    qsort(p->unbound, p->num_unbound, sizeof *p->unbound, rheos__compare_texts);
  size_t kept = 0;
  for (size_t i = 0; i < p->num_unbound; i++) {
    if (kept > 0 && strcmp(p->unbound[kept - 1], p->unbound[i]) == 0) continue;
    p->unbound[kept++] = p->unbound[i];
  }
  p->num_unbound = kept;
}

// The texts behind pointers to them.
static rheos_status *one_piece(const part *p, char ***out_texts) {
  size_t size_bytes = p->num_unbound * sizeof **out_texts;
  if (p->num_unbound == 0) return NULL;
  for (size_t i = 0; i < p->num_unbound; i++) size_bytes += strlen(p->unbound[i]) + 1;
  char **texts = rheos__alloc(size_bytes);
  if (texts == NULL) return rheos__out_of_memory();
  char *at = (char *)(texts + p->num_unbound);
  for (size_t i = 0; i < p->num_unbound; i++) {
    const size_t text_bytes = strlen(p->unbound[i]) + 1;
    texts[i] = memcpy(at, p->unbound[i], text_bytes);
    at += text_bytes;
  }
  *out_texts = texts;
  return NULL;
}

rheos_status *rheos_graph_def_below(const void *bytes, size_t size_bytes, const char *scope,
                                    void **out_bytes, size_t *out_size_bytes,
                                    char ***out_unbound_inputs, size_t *out_num_unbound_inputs) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_OUT(out_unbound_inputs);
  RHEOS_OUT(out_num_unbound_inputs);
  RHEOS_NEED(scope);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  rheos__graph_edit edit;
  part p = {.edit = &edit, .scope = scope};
  char **unbound = NULL;
  rheos_status *status = rheos__graph_edit_init(&edit, bytes, size_bytes);
  if (status == NULL) status = keep_part(&p);
  if (status == NULL) sort_unbound(&p);
  if (status == NULL) status = one_piece(&p, &unbound);
  if (status == NULL) status = rheos__graph_edit_bytes(&edit, out_bytes, out_size_bytes);
  rheos__graph_edit_deinit(&edit);
  if (status != NULL) {
    rheos__free(unbound);
    return status;
  }
  *out_unbound_inputs = unbound;
  *out_num_unbound_inputs = p.num_unbound;
  return NULL;
}
