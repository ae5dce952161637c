#include "node_match.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hash.h"
#include "view.h"

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

// What the node is and takes, by numbers of the second list, of which all are known. Control inputs
// do not count.
static uint64_t key_of(const node_match *m, bool is_a, int32_t id) {
  const node_list *list = is_a ? &m->a : &m->b;
  const Tensorflow__NodeDef *node = list->nodes[id];
  uint64_t key = hash_text(hash_attrs(node), node->op);
  for (size_t i = 0; i < node->n_input; i++) {
    const char *rest;
    if (node->input[i][0] == '^') break;
    int32_t from = node_of_input(list, node->input[i], &rest);
    if (from == NODE_NONE) {
      key = hash_text(key, node->input[i]);
      continue;
    }
    const int32_t number = is_a ? m->of_a[from] : from;
    key = hash_text(hash_bytes(key, (const char *)&number, sizeof number), rest);
  }
  return key;
}

// ---- By what they are and take: a node is looked at when all that it takes has a fellow

// One of the two lists.
typedef struct side {
  size_t *first_use;  // of each node those that take from it
  int32_t *uses;
  int32_t *waits;  // how many of its inputs have no fellow yet
  int32_t *ready;  // that wait for nothing, and were not looked at
  int32_t num_ready;
  int32_t *next;  // in the group; NODE_NONE: the last
} side;

// Nodes of one key that have no fellow.
typedef struct group {
  uint64_t key;
  bool is_used, is_touched;
  int32_t first[2], count[2];  // in the first list and in the second
} group;

typedef struct matching {
  node_match *m;
  side sides[2];
  group *groups;  // open addressing
  size_t num_groups;
  size_t *touched;  // since the last round
  size_t num_touched;
  int32_t *members[2];  // room for a group's
} matching;

static const node_list *list_of(const matching *s, int which) {
  return which == 0 ? &s->m->a : &s->m->b;
}

static int32_t fellow_of(const matching *s, int which, int32_t node) {
  return which == 0 ? s->m->of_a[node] : s->m->of_b[node];
}

// The node that an input that counts comes from, or NODE_NONE.
static int32_t data_input(const node_list *list, int32_t node, size_t input) {
  const char *rest;
  return node_of_input(list, list->nodes[node]->input[input], &rest);
}

static size_t count_data_inputs(const Tensorflow__NodeDef *node) {
  size_t count = 0;
  while (count < node->n_input && node->input[count][0] != '^') count++;
  return count;
}

static void begin_side(matching *s, int which) {
  side *own = &s->sides[which];
  const node_list *list = list_of(s, which);
  const size_t count = (size_t)list->count;
  size_t num_inputs = 0;
  for (size_t i = 0; i < count; i++) num_inputs += count_data_inputs(list->nodes[i]);
  own->first_use = command_alloc((count + 2) * sizeof *own->first_use);
  own->uses = command_alloc(num_inputs * sizeof *own->uses);
  own->waits = command_alloc(count * sizeof *own->waits);
  own->ready = command_alloc(count * sizeof *own->ready);
  own->next = command_alloc(count * sizeof *own->next);
  int32_t *froms = command_alloc(num_inputs * sizeof *froms);
  size_t at = 0;
  for (int32_t i = 0; i < list->count; i++) {
    const size_t num_data = count_data_inputs(list->nodes[i]);
    for (size_t k = 0; k < num_data; k++, at++) {
      froms[at] = data_input(list, i, k);
      if (froms[at] == NODE_NONE) continue;
      own->first_use[froms[at] + 2]++;
      own->waits[i] += fellow_of(s, which, froms[at]) == NODE_NONE;
    }
  }
  for (size_t i = 1; i <= count; i++) own->first_use[i + 1] += own->first_use[i];
  at = 0;
  for (int32_t i = 0; i < list->count; i++) {
    const size_t num_data = count_data_inputs(list->nodes[i]);
    for (size_t k = 0; k < num_data; k++, at++) {
      if (froms[at] != NODE_NONE) own->uses[own->first_use[froms[at] + 1]++] = i;
    }
    const bool is_ready = own->waits[i] == 0 && fellow_of(s, which, i) == NODE_NONE;
    if (is_ready) own->ready[own->num_ready++] = i;
  }
  free(froms);
}

static void end_side(side *own) {
  free(own->first_use);
  free(own->uses);
  free(own->waits);
  free(own->ready);
  free(own->next);
}

static size_t group_of(const matching *s, uint64_t key) {
  size_t at = (size_t)key & (s->num_groups - 1);
  while (s->groups[at].is_used && s->groups[at].key != key) at = (at + 1) & (s->num_groups - 1);
  return at;
}

// Puts the nodes that are ready into their groups.
static void group_ready(matching *s, int which) {
  side *own = &s->sides[which];
  for (int32_t i = 0; i < own->num_ready; i++) {
    const int32_t node = own->ready[i];
    const size_t at = group_of(s, key_of(s->m, which == 0, node));
    group *g = &s->groups[at];
    if (!g->is_used) {
      *g = (group){key_of(s->m, which == 0, node), true, false, {NODE_NONE, NODE_NONE}, {0, 0}};
    }
    own->next[node] = g->first[which];
    g->first[which] = node;
    g->count[which]++;
    if (!g->is_touched) s->touched[s->num_touched++] = at;
    g->is_touched = true;
  }
  own->num_ready = 0;
}

static int compare_nodes(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void tell_uses(matching *s, int which, int32_t node) {
  side *own = &s->sides[which];
  for (size_t at = own->first_use[node]; at < own->first_use[node + 1]; at++) {
    const int32_t user = own->uses[at];
    const bool is_last = --own->waits[user] == 0;
    if (is_last && fellow_of(s, which, user) == NODE_NONE) own->ready[own->num_ready++] = user;
  }
}

// Alike nodes are matched in their order, if there are as many of them on both sides.
static void match_group(matching *s, group *g) {
  g->is_touched = false;
  if (g->count[0] != g->count[1]) return;
  const size_t count = (size_t)g->count[0];
  for (int which = 0; which < 2; which++) {
    int32_t node = g->first[which];
    for (size_t i = 0; i < count; i++, node = s->sides[which].next[node]) {
      s->members[which][i] = node;
    }
    qsort(s->members[which], count, sizeof *s->members[which], compare_nodes);
    g->first[which] = NODE_NONE;
    g->count[which] = 0;
  }
  for (size_t i = 0; i < count; i++) match(s->m, s->members[0][i], s->members[1][i]);
  for (int which = 0; which < 2; which++) {
    for (size_t i = 0; i < count; i++) tell_uses(s, which, s->members[which][i]);
  }
}

static void match_others(node_match *m) {
  const size_t count = (size_t)m->a.count + (size_t)m->b.count;
  matching s = {.m = m, .num_groups = 64};
  while (s.num_groups < 2 * count) s.num_groups *= 2;
  s.groups = command_alloc(s.num_groups * sizeof *s.groups);
  s.touched = command_alloc(count * sizeof *s.touched);
  for (int which = 0; which < 2; which++) {
    s.members[which] = command_alloc(count * sizeof *s.members[which]);
    begin_side(&s, which);
  }
  while (s.sides[0].num_ready + s.sides[1].num_ready > 0) {
    s.num_touched = 0;
    for (int which = 0; which < 2; which++) group_ready(&s, which);
    for (size_t i = 0; i < s.num_touched; i++) match_group(&s, &s.groups[s.touched[i]]);
  }
  for (int which = 0; which < 2; which++) {
    end_side(&s.sides[which]);
    free(s.members[which]);
  }
  free(s.groups);
  free(s.touched);
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
