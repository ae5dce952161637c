// What differs between two plans: what runs in one of them only, what each runs otherwise, and by
// which rule. A plan is made of a graph or model, or is what `rheos show --plan --json` printed.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "diff.h"
#include "files.h"
#include "plan_facts.h"
#include "plan_view.h"
#include "status.h"

typedef struct plan_report {
  json *j;           // NULL: text
  const char *body;  // whose plan it is; NULL: of the step
  bool is_told;      // its head is printed
  int64_t num_same, num_changed, num_only_a, num_only_b;
} plan_report;

static void print_name(const char *name) { text_print(stdout, name, strlen(name)); }

static void begin_line(plan_report *r, char sign, const char *name) {
  if (r->body != NULL && !r->is_told) {
    fputs("~ body of ", stdout);
    print_name(r->body);
    putchar('\n');
  }
  r->is_told = true;
  printf("%s%c ", r->body != NULL ? "    " : "", sign);
  print_name(name);
}

// ---- Texts of facts, for free()

// "_FusedMatMul of BiasAdd, Relu by take_activation".
static char *op_text(const plan_fact *fact) {
  char *text = NULL;
  size_t size_bytes;
  FILE *out = open_memstream(&text, &size_bytes);
  if (out == NULL) return command_format("?");
  fputs(fact->op != NULL ? fact->op : "(read)", out);
  for (const json_item *op = fact->fused; op != NULL; op = op->next) {
    fprintf(out, "%s%s", op == fact->fused ? " with " : ", ", op->text != NULL ? op->text : "?");
  }
  if (fact->rule != NULL) fprintf(out, " by %s", fact->rule);
  fclose(out);
  return text;
}

enum { MOST_NAMES = 6 };

// "with a, b, by elementwise_fusion", without the own name.
static char *group_text(const plan_fact *fact) {
  char *text = NULL;
  size_t size_bytes, count = 0;
  FILE *out = open_memstream(&text, &size_bytes);
  if (out == NULL) return command_format("?");
  for (const char *at = fact->group; *at != '\0';) {
    const size_t length = strcspn(at, "\n");
    const bool is_own = strlen(fact->name) == length && memcmp(at, fact->name, length) == 0;
    if (!is_own && ++count <= MOST_NAMES) {
      fprintf(out, "%s%.*s", count == 1 ? "with " : ", ", (int)length, at);
    }
    at += length + (at[length] == '\n');
  }
  if (count > MOST_NAMES) fprintf(out, " and %zu more", count - MOST_NAMES);
  if (fact->made_by != NULL) fprintf(out, ", by %s", fact->made_by);
  fclose(out);
  return text;
}

static char *run_text(const plan_fact *fact) {
  if (fact->folded != NULL) return command_format("folded by %s", fact->folded);
  return fact->group != NULL ? group_text(fact) : command_format("alone");
}

// ---- What is in both

typedef struct change_line {
  plan_report *r;
  const char *name;
  bool differs;
} change_line;

static void tell_change(change_line *line, const char *what, const char *a, const char *b) {
  if (strcmp(a, b) == 0) return;
  plan_report *r = line->r;
  if (r->j != NULL) {
    if (!line->differs) {
      json_begin(r->j, NULL, '{');
      json_text(r->j, "name", line->name);
      json_begin(r->j, "changes", '[');
    }
    json_begin(r->j, NULL, '{');
    json_text(r->j, "what", what);
    json_text(r->j, "a", a);
    json_text(r->j, "b", b);
    json_end(r->j, '}');
  } else {
    if (!line->differs) begin_line(r, '~', line->name);
    printf("%s %s ", line->differs ? "," : ":", what);
    print_name(a);
    fputs(" -> ", stdout);
    print_name(b);
  }
  line->differs = true;
}

static void end_change(change_line *line) {
  if (!line->differs) return;
  if (line->r->j == NULL) {
    putchar('\n');
    return;
  }
  json_end(line->r->j, ']');
  json_end(line->r->j, '}');
}

// Whether both run in the same company.
static bool run_alike(const plan_fact *a, const plan_fact *b) {
  if ((a->group == NULL) != (b->group == NULL)) return false;
  return a->group == NULL || strcmp(a->group, b->group) == 0;
}

static void compare_fact(plan_report *r, const plan_fact *a, const plan_fact *b) {
  change_line line = {.r = r, .name = a->name};
  char *op_a = op_text(a), *op_b = op_text(b), *run_a = run_text(a), *run_b = run_text(b);
  tell_change(&line, "op", op_a, op_b);
  const bool is_same = run_alike(a, b) && a->folded == NULL && b->folded == NULL;
  if (!is_same) tell_change(&line, "runs", run_a, run_b);
  tell_change(&line, "device", a->device != NULL ? a->device : "(none)",
              b->device != NULL ? b->device : "(none)");
  end_change(&line);
  ++*(line.differs ? &r->num_changed : &r->num_same);
  free(op_a);
  free(op_b);
  free(run_a);
  free(run_b);
}

// ---- What is in one

// Of an entry that the other plan has not, the first that it goes into which is another op there;
// NULL: there is none.
static const plan_fact *taken_into(plan_facts *own, size_t row, plan_facts *other) {
  enum { MOST_STEPS = 100 };
  for (int step = 0; step < MOST_STEPS; step++) {
    size_t first, end;
    plan_fact_uses(own, row, &first, &end);
    if (first == end) return NULL;
    row = (size_t)own->uses[first].to;
    const plan_fact *there = plan_fact_of(other, own->rows[row].name);
    if (there == NULL) continue;
    const char *rule = own->rows[row].rule;
    const bool is_new = there->rule != NULL && (rule == NULL || strcmp(rule, there->rule) != 0);
    return is_new ? there : NULL;
  }
  return NULL;
}

static void tell_alone(plan_report *r, plan_facts *own, plan_facts *other, bool is_a) {
  if (r->j != NULL) json_begin(r->j, is_a ? "only_in_a" : "only_in_b", '[');
  for (size_t i = 0; i < own->count; i++) {
    const plan_fact *fact = &own->rows[i];
    if (plan_fact_of(other, fact->name) != NULL) continue;
    ++*(is_a ? &r->num_only_a : &r->num_only_b);
    const plan_fact *into = taken_into(own, i, other);
    char *op = op_text(fact);
    if (r->j != NULL) {
      json_begin(r->j, NULL, '{');
      json_text(r->j, "name", fact->name);
      json_text(r->j, "op", op);
      if (into != NULL) json_text(r->j, "taken_into", into->name);
      if (into != NULL) json_text(r->j, "by", into->rule);
      json_end(r->j, '}');
    } else {
      begin_line(r, is_a ? '-' : '+', fact->name);
      printf(" (%s)", op);
      if (into != NULL) {
        printf("; the %s plan has it in ", is_a ? "second" : "first");
        print_name(into->name);
        printf(", by %s", into->rule);
      }
      putchar('\n');
    }
    free(op);
  }
  if (r->j != NULL) json_end(r->j, ']');
}

// ---- A plan and its bodies

static void tell_numbers(plan_report *r, const plan_facts *a, const plan_facts *b) {
  const struct {
    const char *what;
    int64_t a, b;
  } rows[] = {{"instructions", a->num_instructions, b->num_instructions},
              {"block_bytes", a->block_bytes, b->block_bytes}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (r->j != NULL) {
      json_begin(r->j, rows[i].what, '[');
      json_int(r->j, NULL, rows[i].a);
      json_int(r->j, NULL, rows[i].b);
      json_end(r->j, ']');
    } else if (rows[i].a != rows[i].b) {
      begin_line(r, '~', i == 0 ? "instructions" : "bytes of intermediate values");
      printf(": %lld -> %lld\n", (long long)rows[i].a, (long long)rows[i].b);
    }
  }
}

static rheos_status *compare_plans(plan_report *r, const json_item *a, const json_item *b) {
  plan_facts of_a, of_b = {.count = 0};
  rheos_status *status = plan_facts_read(&of_a, a);
  if (status == NULL) status = plan_facts_read(&of_b, b);
  if (status == NULL) {
    tell_alone(r, &of_a, &of_b, true);
    tell_alone(r, &of_b, &of_a, false);
    if (r->j != NULL) json_begin(r->j, "changed", '[');
    for (size_t i = 0; i < of_a.count; i++) {
      const plan_fact *there = plan_fact_of(&of_b, of_a.rows[i].name);
      if (there != NULL) compare_fact(r, &of_a.rows[i], there);
    }
    if (r->j != NULL) json_end(r->j, ']');
    tell_numbers(r, &of_a, &of_b);
  }
  plan_facts_deinit(&of_a);
  plan_facts_deinit(&of_b);
  return status;
}

// "node, role" of a body; for free().
static char *body_name(const json_item *body) {
  const char *node = json_text_of(body, "node"), *role = json_text_of(body, "role");
  const int64_t number = json_int_of(body, "number");
  char *name = command_format("%s, %s", node != NULL ? node : "?", role != NULL ? role : "?");
  if (number < 0) return name;
  char *numbered = command_format("%s %lld", name, (long long)number);
  free(name);
  return numbered;
}

static const json_item *body_named(const json_item *plan, const char *name) {
  for (const json_item *at = json_list(plan, "bodies"); at != NULL; at = at->next) {
    char *own = body_name(at);
    const bool is_same = strcmp(own, name) == 0;
    free(own);
    if (is_same && json_member(at, "entries") != NULL) return at;
  }
  return NULL;
}

// Bodies that both have, by the node that calls them.
static rheos_status *compare_bodies(plan_report *r, const json_item *a, const json_item *b) {
  rheos_status *status = NULL;
  if (r->j != NULL) json_begin(r->j, "bodies", '[');
  for (const json_item *at = json_list(a, "bodies"); at != NULL && status == NULL; at = at->next) {
    char *name = body_name(at);
    const json_item *other = body_named(b, name);
    if (other != NULL && json_member(at, "entries") != NULL) {
      r->body = name;
      r->is_told = false;
      if (r->j != NULL) {
        json_begin(r->j, NULL, '{');
        json_text(r->j, "body", name);
      }
      status = compare_plans(r, at, other);
      if (r->j != NULL) json_end(r->j, '}');
    }
    r->body = NULL;
    free(name);
  }
  if (r->j != NULL) json_end(r->j, ']');
  return status;
}

static void tell_counts(const plan_report *r) {
  if (r->j == NULL) {
    printf("%lld entries the same, %lld changed, %lld only in the first, %lld only in the second\n",
           (long long)r->num_same, (long long)r->num_changed, (long long)r->num_only_a,
           (long long)r->num_only_b);
    return;
  }
  json_begin(r->j, "counts", '{');
  json_int(r->j, "same", r->num_same);
  json_int(r->j, "changed", r->num_changed);
  json_int(r->j, "only_in_a", r->num_only_a);
  json_int(r->j, "only_in_b", r->num_only_b);
  json_end(r->j, '}');
}

// ---- The whole

static rheos_status *read_plan(const char *path, const show_options *how, json_item **out_plan) {
  char *text = NULL;
  size_t size_bytes = 0;
  const bool is_json = ends_with(path, ".json") && is_file(path);
  *out_plan = NULL;
  rheos_status *status =
      is_json ? file_read(path, &text, &size_bytes) : plan_view_json(path, how, &text);
  if (status == NULL && !is_json) size_bytes = strlen(text);
  if (status == NULL) status = json_tree_read(text, size_bytes, out_plan);
  if (is_json) {
    free(text);
  } else {
    rheos_free(text);
  }
  TRY(status);
  if (json_member(*out_plan, "entries") != NULL) return NULL;
  json_item_free(*out_plan);
  *out_plan = NULL;
  return INVALID("it is no plan: 'rheos show --plan --json' prints one");
}

static rheos_status *tell_plans(const json_item *a, const json_item *b, bool as_json,
                                diff_result *out) {
  json j = {.out = stdout};
  plan_report r = {.j = as_json ? &j : NULL};
  if (r.j != NULL) {
    json_begin(r.j, NULL, '{');
    json_text(r.j, "kind", "plans");
  }
  TRY(compare_plans(&r, a, b));
  TRY(compare_bodies(&r, a, b));
  tell_counts(&r);
  if (r.j != NULL) json_end(r.j, '}');
  out->differs = r.num_changed + r.num_only_a + r.num_only_b > 0;
  return NULL;
}

rheos_status *diff_plans(const char *a, const char *b, const diff_options *options,
                         diff_result *out) {
  json_item *plan_a, *plan_b;
  out->failed = a;
  TRY(read_plan(a, &options->plan, &plan_a));
  out->failed = b;
  rheos_status *status = read_plan(b, &options->plan, &plan_b);
  if (status == NULL) status = tell_plans(plan_a, plan_b, options->json, out);
  json_item_free(plan_a);
  json_item_free(plan_b);
  return status;
}
