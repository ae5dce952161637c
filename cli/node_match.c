#include "node_match.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hash.h"
#include "view.h"

enum { MOST_PASSES = 1000 };  // each goes one node further from what is known

// ---- Lists

static const node_list *sorted;  // while it is sorted

static int compare_names(const void *a, const void *b) {
  return strcmp(sorted->nodes[*(const int32_t *)a]->name, sorted->nodes[*(const int32_t *)b]->name);
}

static void list_init(node_list *list, Tensorflow__NodeDef **nodes, size_t count) {
  *list = (node_list){.nodes = nodes, .count = (int32_t)count};
  list->by_name = command_alloc(count * sizeof *list->by_name);
  for (int32_t i = 0; i < list->count; i++) list->by_name[i] = i;
  sorted = list;
  qsort(list->by_name, count, sizeof *list->by_name, compare_names);
}

static int compare_to(const char *name, const char *text, size_t length) {
  const int order = strncmp(name, text, length);
  return order != 0 ? order : name[length] != '\0';
}

static int32_t find(const node_list *list, const char *name, size_t length) {
  int32_t low = 0, high = list->count;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    const int order = compare_to(list->nodes[list->by_name[middle]]->name, name, length);
    if (order == 0) return list->by_name[middle];
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NODE_NONE;
}

int32_t node_of_input(const node_list *list, const char *input, const char **out_rest) {
  if (*input == '^') input++;
  const size_t length = strcspn(input, ":");
  *out_rest = strcmp(input + length, ":0") == 0 ? "" : input + length;
  return find(list, input, length);
}

bool node_inputs_equal(const node_match *m, const char *a, const char *b) {
  const char *rest_a, *rest_b;
  if ((*a == '^') != (*b == '^')) return false;
  const int32_t from_a = node_of_input(&m->a, a, &rest_a);
  const int32_t from_b = node_of_input(&m->b, b, &rest_b);
  if (strcmp(rest_a, rest_b) != 0) return false;
  if (from_a == NODE_NONE || from_b == NODE_NONE) return from_a == from_b && strcmp(a, b) == 0;
  return m->of_a[from_a] == from_b;
}

// ---- Attributes

static void *pack(const Tensorflow__AttrValue *value, size_t *out_size) {
  *out_size = protobuf_c_message_get_packed_size(&value->base);
  void *bytes = command_alloc(*out_size);
  protobuf_c_message_pack(&value->base, bytes);
  return bytes;
}

static bool are_packed_equal(const Tensorflow__AttrValue *a, const Tensorflow__AttrValue *b) {
  size_t size_a, size_b;
  void *bytes_a = pack(a, &size_a), *bytes_b = pack(b, &size_b);
  const bool are_equal = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
  free(bytes_a);
  free(bytes_b);
  return are_equal;
}

static int compare_pair(const void *key, const void *pair) {
  return strcmp(key, ((const struct function_pair *)pair)->a);
}

static bool is_same_function(const node_match *m, const char *a, const char *b) {
  const struct function_pair *pair = bsearch(a, m->functions->pairs, m->functions->count,
                                             sizeof *m->functions->pairs, compare_pair);
  return strcmp(pair != NULL ? pair->b : a, b) == 0;
}

static bool is_function(const Tensorflow__AttrValue *value) {
  return value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC && value->func->n_attr == 0;
}

static bool is_function_list(const Tensorflow__AttrValue *value) {
  return value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST && value->list->n_func > 0;
}

// The node that a text of `_class`, "loc:@x", names.
static int32_t node_of_group(const node_list *list, const ProtobufCBinaryData *text) {
  static const char prefix[] = "loc:@";
  const size_t length = sizeof prefix - 1;
  if (text->len <= length || memcmp(text->data, prefix, length) != 0) return NODE_NONE;
  return find(list, (const char *)text->data + length, text->len - length);
}

static bool are_groups_equal(const node_match *m, const Tensorflow__AttrValue__ListValue *a,
                             const Tensorflow__AttrValue__ListValue *b) {
  if (a->n_s != b->n_s || a->n_s == 0) return false;
  for (size_t i = 0; i < a->n_s; i++) {
    const int32_t from_a = node_of_group(&m->a, &a->s[i]), from_b = node_of_group(&m->b, &b->s[i]);
    if (from_a == NODE_NONE || m->of_a[from_a] != from_b) return false;
  }
  return true;
}

bool node_attrs_equal(const node_match *m, const Tensorflow__AttrValue *a,
                      const Tensorflow__AttrValue *b) {
  if (a == NULL || b == NULL) return a == b;
  if (is_function(a) && is_function(b)) return is_same_function(m, a->func->name, b->func->name);
  if (is_function_list(a) && is_function_list(b) && a->list->n_func == b->list->n_func) {
    bool are_same = true;
    for (size_t i = 0; i < a->list->n_func && are_same; i++) {
      are_same = is_same_function(m, a->list->func[i]->name, b->list->func[i]->name);
    }
    return are_same;
  }
  const Tensorflow__AttrValue__ValueCase list = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  if (a->value_case == list && b->value_case == list && are_groups_equal(m, a->list, b->list)) {
    return true;
  }
  return are_packed_equal(a, b);
}

size_t function_stem(const char *name) {
  size_t length = strlen(name);
  while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
  return length;
}

// ---- Matching

static void match(node_match *m, int32_t a, int32_t b) {
  m->of_a[a] = b;
  m->of_b[b] = a;
}

static void match_names(node_match *m, bool also_other_ops) {
  for (int32_t a = 0; a < m->a.count; a++) {
    const char *name = m->a.nodes[a]->name;
    const int32_t b = m->of_a[a] == NODE_NONE ? find(&m->b, name, strlen(name)) : NODE_NONE;
    if (b == NODE_NONE || m->of_b[b] != NODE_NONE) continue;
    if (also_other_ops || strcmp(m->a.nodes[a]->op, m->b.nodes[b]->op) == 0) match(m, a, b);
  }
}

// Attributes that say nothing of what the node computes.
static bool is_incidental(const char *name) {
  return name[0] == '_' || strcmp(name, "shared_name") == 0;
}

static uint64_t hash_text(uint64_t hash, const char *text) {
  return hash_bytes(hash, text, strlen(text) + 1);
}

// Of attributes in whatever order.
static uint64_t hash_attrs(const Tensorflow__NodeDef *node) {
  uint64_t sum = 0;
  for (size_t i = 0; i < node->n_attr; i++) {
    const Tensorflow__AttrValue *value = node->attr[i]->value;
    if (is_incidental(node->attr[i]->key) || value == NULL) continue;
    const uint64_t key = hash_text(1, node->attr[i]->key);
    if (is_function(value) || is_function_list(value)) {
      const char *name = is_function(value) ? value->func->name : value->list->func[0]->name;
      sum += hash_bytes(key, name, function_stem(name));
      continue;
    }
    size_t size;
    void *bytes = pack(value, &size);
    sum += hash_bytes(key, bytes, size);
    free(bytes);
  }
  return sum;
}

typedef struct keyed {
  uint64_t key;
  int32_t node;
} keyed;

// What the node is and takes, by numbers of the second list. False where it takes what is in no
// other list yet. Control inputs count only as far as they are known.
static bool find_key(const node_match *m, bool is_a, int32_t id, uint64_t attrs,
                     uint64_t *out_key) {
  const node_list *list = is_a ? &m->a : &m->b;
  const Tensorflow__NodeDef *node = list->nodes[id];
  uint64_t key = hash_text(attrs, node->op);
  for (size_t i = 0; i < node->n_input; i++) {
    const char *rest;
    if (node->input[i][0] == '^') break;
    int32_t from = node_of_input(list, node->input[i], &rest);
    if (from == NODE_NONE) {
      key = hash_text(key, node->input[i]);
      continue;
    }
    const int32_t other = is_a ? m->of_a[from] : m->of_b[from];
    if (other == NODE_NONE) return false;
    const int32_t number = is_a ? other : from;
    key = hash_text(hash_bytes(key, (const char *)&number, sizeof number), rest);
  }
  *out_key = key;
  return true;
}

static int compare_keys(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

static size_t list_keys(const node_match *m, bool is_a, const uint64_t *attrs, keyed *keys) {
  const int32_t *others = is_a ? m->of_a : m->of_b;
  const int32_t num_nodes = is_a ? m->a.count : m->b.count;
  size_t count = 0;
  for (int32_t i = 0; i < num_nodes; i++) {
    if (others[i] != NODE_NONE || !find_key(m, is_a, i, attrs[i], &keys[count].key)) continue;
    keys[count++].node = i;
  }
  qsort(keys, count, sizeof *keys, compare_keys);
  return count;
}

static size_t run_length(const keyed *keys, size_t count, size_t at) {
  size_t end = at;
  while (end < count && keys[end].key == keys[at].key) end++;
  return end - at;
}

// Alike nodes are matched in their order, if there are as many of them on both sides.
static bool match_alike(node_match *m, const keyed *a, size_t num_a, const keyed *b, size_t num_b) {
  bool has_any = false;
  size_t i = 0, k = 0;
  while (i < num_a && k < num_b) {
    if (a[i].key != b[k].key) {
      if (a[i].key < b[k].key) {
        i++;
      } else {
        k++;
      }
      continue;
    }
    const size_t here = run_length(a, num_a, i), there = run_length(b, num_b, k);
    for (size_t n = 0; here == there && n < here; n++) match(m, a[i + n].node, b[k + n].node);
    has_any = has_any || here == there;
    i += here;
    k += there;
  }
  return has_any;
}

static uint64_t *hash_all(const node_list *list, const int32_t *others) {
  uint64_t *hashes = command_alloc((size_t)list->count * sizeof *hashes);
  for (int32_t i = 0; i < list->count; i++) {
    if (others[i] == NODE_NONE) hashes[i] = hash_attrs(list->nodes[i]);
  }
  return hashes;
}

static void match_others(node_match *m) {
  uint64_t *attrs_a = hash_all(&m->a, m->of_a), *attrs_b = hash_all(&m->b, m->of_b);
  keyed *a = command_alloc((size_t)m->a.count * sizeof *a);
  keyed *b = command_alloc((size_t)m->b.count * sizeof *b);
  bool goes_on = true;
  for (int pass = 0; goes_on && pass < MOST_PASSES; pass++) {
    const size_t num_a = list_keys(m, true, attrs_a, a), num_b = list_keys(m, false, attrs_b, b);
    goes_on = match_alike(m, a, num_a, b, num_b);
  }
  free(a);
  free(b);
  free(attrs_a);
  free(attrs_b);
}

void node_match_init(node_match *m, const function_names *functions, Tensorflow__NodeDef **a,
                     size_t num_a, Tensorflow__NodeDef **b, size_t num_b) {
  m->functions = functions;
  list_init(&m->a, a, num_a);
  list_init(&m->b, b, num_b);
  m->of_a = command_alloc(num_a * sizeof *m->of_a);
  m->of_b = command_alloc(num_b * sizeof *m->of_b);
  for (size_t i = 0; i < num_a; i++) m->of_a[i] = NODE_NONE;
  for (size_t i = 0; i < num_b; i++) m->of_b[i] = NODE_NONE;
  match_names(m, false);
  match_others(m);
  match_names(m, true);
}

void node_match_deinit(node_match *m) {
  free(m->a.by_name);
  free(m->b.by_name);
  free(m->of_a);
  free(m->of_b);
}
