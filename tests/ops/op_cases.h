// Recorded answers of ops, read from tests/golden/ops/*.txt (the format is in
// tests/golden/README.md).
#ifndef RHEOS_TESTS_OPS_OP_CASES_H
#define RHEOS_TESTS_OPS_OP_CASES_H

#include <rheos/scope.h>
#include <rheos/session.h>

// A case holds as many inputs, outputs and attributes as its lines say, up to these.
enum { CASE_MAX_INPUTS = 64, CASE_MAX_OUTPUTS = 64, CASE_MAX_ATTRS = 32 };

typedef enum op_input_kind {
  INPUT_FEED,
  INPUT_CONST,
  INPUT_VARIABLE,
  INPUT_UNSET,  // a variable that nothing was assigned to
  INPUT_NODE,   // output 0 of a node beside the op
} op_input_kind;

enum { CASE_MAX_NODES = 16, CASE_MAX_WAITS = 8, THE_OP = -1 };

typedef struct op_input {
  op_input_kind kind;
  rheos_dtype dtype;
  rheos_shape shape;
  rheos_tensor *tensor;  // NULL: unset
  bool any_shape;        // of a variable: it may hold other shapes
  bool is_handle;        // of a variable: a resource, not a reference
  int node;              // INPUT_NODE: which, or THE_OP
} op_input;

typedef enum node_role {
  NODE_MADE,   // runs with what it is an input of
  NODE_FIRST,  // runs once before the op
  NODE_LAST,   // runs afterwards, and its outputs are looked at
} node_role;

// A node that the case has beside its op.
typedef struct op_node {
  node_role role;
  bool after_op;  // it takes what the op gives
  char op[64];
  rheos_attr *attrs;
  int num_attrs;
  op_input *inputs;  // constants and other nodes
  int num_inputs;
  int waits[CASE_MAX_WAITS], num_waits;  // nodes that run before, or THE_OP
} op_node;

typedef struct op_output {
  int run;  // of the session, from 0
  rheos_tensor *tensor;
  rheos_shape static_shape;  // what TensorFlow knew when the node was added
} op_output;

typedef struct op_case {
  char op[64], tag[64];
  rheos_attr *attrs;
  int num_attrs;
  op_input *inputs;
  int num_inputs;
  op_output *outputs;
  int num_outputs, num_runs;
  op_node *nodes;
  int num_nodes;
  int waits[CASE_MAX_WAITS], num_waits;  // nodes that run before the op
  bool in_node;                          // while it is read
  bool unfetched;                        // the outputs are not looked at
  bool has_files;                        // in the folder that "$TMP" stands for
  rheos_tensor **after;  // values of the variables, then of the last nodes; NULL: unset
  int num_after;
  float tolerance;  // in units of the dtype's, absolute too; -1: the default of the op
  rheos_code error, error_unknown_shapes;  // RHEOS_OK: it works
  bool check_gradient;
} op_case;

typedef struct op_cases {
  op_case *items;
  size_t count, capacity;
} op_cases;

// Reads every file of tests/golden/ops; prints what is wrong and exits if it cannot.
void op_cases_load(op_cases *cases);
// The folder that "$TMP" stands for.
const char *op_cases_folder(void);
// Makes it anew, or only removes it.
void op_cases_clear_folder(bool make);
void op_cases_free(op_cases *cases);
// One past the last case of the op that `first` is a case of: cases are sorted by op.
size_t op_cases_end(const op_cases *cases, size_t first);
void op_case_free(op_case *c);
// A copy that shares the tensors and owns its own attributes.
void op_case_copy(const op_case *from, op_case *to);

#endif  // RHEOS_TESTS_OPS_OP_CASES_H
