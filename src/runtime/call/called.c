// Depth first over a stack of its own: functions may call each other to any depth. A plan is gone
// into once, so a body that many call, or that calls itself, costs what it costs once.
#include "runtime/call/called.h"

#include <string.h>

#include "graph/calls.h"
#include "graph/library.h"
#include "plan/rules/rewrite.h"
#include "runtime/call/bodies.h"

enum { MOST_DEEP = 512 };  // what lies deeper cannot run: bodies.c

typedef struct list {
  rheos__called *items;
  size_t count, capacity;
} list;

typedef struct walk {
  list todo;  // what comes next at the end
  const rheos__plan **seen;
  size_t num_seen, seen_capacity;
} walk;

static rheos_status *add(list *l, const rheos__called *called) {
  if (!RHEOS_RESERVE(l->items, l->capacity, l->count + 1)) return rheos__out_of_memory();
  l->items[l->count++] = *called;
  return NULL;
}

static rheos_status *function_of(const rheos__called *called, const rheos_func *func,
                                 const rheos__function **out_function) {
  const rheos__plan *caller = called->caller;
  const bool is_gradient =
      caller->entries[called->entry].signature->op == &rheos__op_SymbolicGradient;
  return is_gradient ? rheos__symbolic_gradient(caller->graph, func, out_function)
                     : rheos__graph_function(caller->graph, func, out_function);
}

static rheos_status *add_function(list *l, rheos__called *called, const rheos_func *func) {
  if (func->name.size_bytes == 0) return NULL;
  called->function = func->name.data;  // attributes end their texts with a zero byte
  called->func = func;
  return add(l, called);
}

static rheos_status *add_functions(list *l, rheos__called *called, const rheos_attr *attr) {
  called->role = attr->name;
  called->number = -1;
  if (attr->value.kind == RHEOS_ATTR_FUNC) return add_function(l, called, attr->value.func);
  if (attr->value.kind != RHEOS_ATTR_LIST_FUNC) return NULL;
  for (int32_t i = 0; i < attr->value.count; ++i) {
    called->number = i;
    RHEOS_TRY(add_function(l, called, &attr->value.funcs[i]));
  }
  return NULL;
}

static rheos_status *add_regions(list *l, rheos__called *called, rheos__structure *s) {
  if (s->kind == RHEOS__LOOP) {
    called->trips = rheos__known_trips(called, &s->parts[0].function, &s->parts[1].function);
  }
  for (int i = 0; i < s->num_parts; ++i) {
    const int part = s->kind == RHEOS__CONDITIONAL ? 1 - i : i;
    called->role = s->parts[part].role;
    called->part = &s->parts[part];
    RHEOS_TRY(add(l, called));
  }
  return NULL;
}

// Of While and its like, and For.
static int64_t trips_of(const rheos__called *called) {
  const rheos__entry *entry = &called->caller->entries[called->entry];
  if (entry->signature->op == &rheos__op_For) return rheos__known_trips_of_for(called);
  if (entry->signature->op != &rheos__op_While && entry->signature->op != &rheos__op_StatelessWhile)
    return -1;
  const rheos__function *condition, *body;
  rheos_status *status =
      function_of(called, rheos__attrs_find(entry->attrs, "cond")->func, &condition);
  if (status == NULL) {
    status = function_of(called, rheos__attrs_find(entry->attrs, "body")->func, &body);
  }
  if (status == NULL) return rheos__known_trips(called, condition, body);
  rheos_status_free(status);
  return -1;
}

static rheos_status *add_of_entry(list *l, const rheos__plan *plan, int32_t index, int32_t depth) {
  const rheos__entry *entry = &plan->entries[index];
  rheos__called called = {
      .depth = depth, .caller = plan, .entry = index, .number = -1, .trips = -1};
  if (entry->kind != RHEOS__ENTRY_NODE) return NULL;
  if (entry->structure != NULL) return add_regions(l, &called, entry->structure);
  if (entry->signature->op->prepare == rheos__prepare_call_by_name) {
    called.role = "call";
    called.function = entry->signature->op->name;
    return add(l, &called);
  }
  called.trips = trips_of(&called);
  for (int32_t i = 0; i < entry->attrs->count; ++i) {
    RHEOS_TRY(add_functions(l, &called, &entry->attrs->items[i]));
  }
  return NULL;
}

// Puts what the plan calls on the stack, the first on top.
static rheos_status *go_into(walk *w, const rheos__plan *plan, int32_t depth) {
  if (!RHEOS_RESERVE(w->seen, w->seen_capacity, w->num_seen + 1)) return rheos__out_of_memory();
  w->seen[w->num_seen++] = plan;
  const size_t first = w->todo.count;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    RHEOS_TRY(add_of_entry(&w->todo, plan, i, depth));
  }
  for (size_t a = first, b = w->todo.count; a + 1 < b; ++a) {
    const rheos__called item = w->todo.items[a];
    w->todo.items[a] = w->todo.items[--b];
    w->todo.items[b] = item;
  }
  return NULL;
}

// The op itself is the function where no attribute names it.
static rheos_status *find_plan(rheos__called *called) {
  rheos__bodies *bodies = called->caller->context.bodies;
  const rheos__function *function;
  if (called->part != NULL) return rheos__graph_part_plan(bodies, called->part, &called->plan);
  const rheos__entry *entry = &called->caller->entries[called->entry];
  const rheos_func by_name = {
      .name = {(char *)(uintptr_t)called->function, strlen(called->function)},
      .attrs = entry->attrs->items,
      .num_attrs = (size_t)entry->attrs->count};
  RHEOS_TRY(function_of(called, called->func != NULL ? called->func : &by_name, &function));
  return rheos__bodies_plan(bodies, function, &called->plan);
}

static bool was_seen(const walk *w, const rheos__plan *plan) {
  for (size_t i = 0; i < w->num_seen; ++i) {
    if (w->seen[i] == plan) return true;
  }
  return false;
}

rheos_status *rheos__visit_called(const rheos__plan *plan,
                                  rheos_status *(*visit)(void *argument,
                                                         const rheos__called *called),
                                  void *argument) {
  walk w = {.num_seen = 0};
  rheos_status *status = go_into(&w, plan, 0);
  while (status == NULL && w.todo.count > 0) {
    rheos__called called = w.todo.items[--w.todo.count];
    called.problem = find_plan(&called);
    called.is_again = called.plan != NULL && was_seen(&w, called.plan);
    status = visit(argument, &called);
    rheos_status_free(called.problem);
    if (status == NULL && called.plan != NULL && !called.is_again && called.depth + 1 < MOST_DEEP) {
      status = go_into(&w, called.plan, called.depth + 1);
    }
  }
  rheos__free(w.todo.items);
  rheos__free(w.seen);
  return status;
}
