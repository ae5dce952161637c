// What a plan makes of each node, read from what `rheos show --plan --json` prints.
#ifndef RHEOS_CLI_PLAN_FACTS_H
#define RHEOS_CLI_PLAN_FACTS_H

#include "json_tree.h"
#include "table.h"

// An entry of the plan. Texts are of the JSON, or of the facts.
typedef struct plan_fact {
  char *name;              // of the node; what the plan has put in has no number of its place
  const char *op;          // NULL: a read of a variable
  const json_item *fused;  // the first op behind its product; NULL: there is none
  const char *rule;        // that made the op; NULL: none
  const char *device;      // NULL: none
  const char *folded;      // the rule that computed it when the plan was made; NULL: it is run
  const char *group;  // the names of those that run in one loop, in their order; NULL: it is alone
  const char *made_by;  // the rule that made the loop, or NULL
  int64_t entry;
} plan_fact;

typedef struct plan_link {
  int64_t from, to;  // facts, or a value and a fact
} plan_link;

typedef struct plan_facts {
  plan_fact *rows;  // in the order of the plan
  size_t count;
  name_table by_name;  // `least` is the row
  plan_link *uses;     // by the fact that is taken, which fact takes it
  size_t num_uses;
  char **groups;
  size_t num_groups;
  int64_t num_instructions, block_bytes;
} plan_facts;

// Of an object with "entries" and "segments", which the facts borrow from.
rheos_status *plan_facts_read(plan_facts *f, const json_item *plan);
void plan_facts_deinit(plan_facts *f);

const plan_fact *plan_fact_of(plan_facts *f, const char *name);  // NULL: there is none
// Who takes what a fact's entry gives: those uses from out_first to before out_end.
void plan_fact_uses(const plan_facts *f, size_t row, size_t *out_first, size_t *out_end);

#endif  // RHEOS_CLI_PLAN_FACTS_H
