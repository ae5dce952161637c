// Every op that uses files says so (RHEOS_OP_USES_FILES), since servers refuse such ops of others:
// the recorded cases of ops that do not say it open none, and whatever has a name of a file among
// its arguments says it.
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "graph/op_def.h"
#include "ops/op_harness.h"

// ---- What the cases do

static int count_call(void *user, const char *call, const char *path) {
  (void)call;
  (void)path;
  ++*(int *)user;
  return 0;
}

static bool uses_files(const char *op) {
  const rheos__signature *signature = rheos__signature_by_name(op);
  return signature != NULL && (signature->op->flags & RHEOS_OP_USES_FILES) != 0;
}

static bool any_uses_files(const op_case *c) {
  for (int i = 0; i < c->num_nodes; i++) {
    if (uses_files(c->nodes[i].op)) return true;
  }
  return uses_files(c->op);
}

static void check_cases(const op_cases *cases, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    const op_case *c = &cases->items[i];
    int num_calls = 0;
    op_result result;
    if (any_uses_files(c)) continue;
    rheos__set_file_hook(&(rheos__file_hook){count_call, &num_calls, 0});
    rheos_status_free(op_case_run(c, BUILD_AS_RECORDED, 1, &result));
    rheos__set_file_hook(NULL);
    if (num_calls > 0) op_wrong(c, "uses files, but does not say so");
    op_result_free(&result);
  }
}

// ---- What they are called with

// Arguments that are called like files, and name none.
static bool is_no_file(const char *op) {
  static const char *const names[] = {"ShardedFilename", "ShardedFilespec",
                                      "CTCBeamSearchDecoder",  // top_paths
                                      "TensorSliceDataset"};   // is_files
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(op, names[i]) == 0) return true;
  }
  return false;
}

static bool sounds_like_file(const char *name) {
  return strstr(name, "file") != NULL || strstr(name, "path") != NULL ||
         strcmp(name, "prefix") == 0 || strcmp(name, "output_stream") == 0;
}

static int check_names(void) {
  int failed = 0;
  for (int32_t i = 0; i < rheos_num_ops(); i++) {
    const rheos__signature *signature = rheos__signature_by_name(rheos_op_type(i));
    bool sounds = false;
    for (int32_t k = 0; k < rheos_op_def_num_inputs(signature); k++) {
      sounds |= sounds_like_file(rheos_op_def_input(signature, k).name);
    }
    for (int32_t k = 0; k < rheos_op_def_num_attrs(signature); k++) {
      sounds |= sounds_like_file(rheos_op_def_attr(signature, k).name);
    }
    if (!sounds || uses_files(rheos_op_type(i)) || is_no_file(rheos_op_type(i))) continue;
    printf("%s has a name of a file, but does not say that it uses files\n", rheos_op_type(i));
    failed++;
  }
  return failed;
}

int main(int argc, char **argv) {
  const int failed = check_names();
  return op_tests_run("op_files", check_cases, NULL, argc, argv) + failed;
}
