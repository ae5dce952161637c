// Sessions as they were first: with a graph of their own, that messages extend, and names for its
// tensors.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

struct TF_DeprecatedSession {
  TF_Graph *graph;
  TF_Session *session;
};

TF_DeprecatedSession *TF_NewDeprecatedSession(const TF_SessionOptions *options, TF_Status *status) {
  capi_succeed(status);
  TF_DeprecatedSession *session = calloc(1, sizeof *session);
  if (session != NULL) session->graph = TF_NewGraph();
  if (session == NULL || session->graph == NULL) {
    free(session);
    capi_fail_for_memory(status);
    return NULL;
  }
  session->session = TF_NewSession(session->graph, options, status);
  if (session->session != NULL) return session;
  TF_DeleteGraph(session->graph);
  free(session);
  return NULL;
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession *session, TF_Status *status) {
  TF_CloseSession(session == NULL ? NULL : session->session, status);
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession *session, TF_Status *status) {
  capi_succeed(status);
  if (session == NULL) return;
  TF_DeleteSession(session->session, status);
  TF_DeleteGraph(session->graph);
  free(session);
}

TF_DeviceList *TF_DeprecatedSessionListDevices(TF_DeprecatedSession *session, TF_Status *status) {
  return TF_SessionListDevices(session == NULL ? NULL : session->session, status);
}

void TF_ExtendGraph(TF_DeprecatedSession *session, const void *proto, size_t proto_len,
                    TF_Status *status) {
  TF_Buffer def = {.data = proto, .length = proto_len};
  capi_succeed(status);
  if (!capi_need(session, "the session", status)) return;
  TF_GraphImportGraphDef(session->graph, &def, NULL, status);
}

// ---- Names

// The outputs of these names, for free(); NULL with an error.
static TF_Output *find_outputs(TF_DeprecatedSession *session, const char **names, int count,
                               TF_Status *status) {
  if (count < 0) capi_fail(status, TF_INVALID_ARGUMENT, "there are %d names", count);
  if (count < 0 || (count > 0 && !capi_need(names, "the list of names", status))) return NULL;
  TF_Output *outputs = calloc((size_t)count + 1, sizeof *outputs);
  if (outputs == NULL) capi_fail_for_memory(status);
  for (int i = 0; outputs != NULL && i < count; i++) {
    rheos_output output;
    bool is_there = capi_need(names[i], "a name", status) &&
                    capi_take(status, rheos_graph_output(session->graph->graph, names[i], &output));
    if (is_there) {
      outputs[i] = capi_output(session->graph, output);
    } else {
      free(outputs);
      outputs = NULL;
    }
  }
  return outputs;
}

static const TF_Operation **find_targets(TF_DeprecatedSession *session, const char **names,
                                         int count, TF_Status *status) {
  if (count < 0) capi_fail(status, TF_INVALID_ARGUMENT, "there are %d targets", count);
  if (count < 0 || (count > 0 && !capi_need(names, "the list of targets", status))) return NULL;
  const TF_Operation **targets = calloc((size_t)count + 1, sizeof(TF_Operation *));
  if (targets == NULL) capi_fail_for_memory(status);
  for (int i = 0; targets != NULL && i < count; i++) {
    targets[i] = names[i] == NULL ? NULL : TF_GraphOperationByName(session->graph, names[i]);
    if (targets[i] != NULL) continue;
    capi_fail(status, TF_NOT_FOUND, "FetchOutputs node %s: not found",
              names[i] == NULL ? "(NULL)" : names[i]);
    free(targets);
    targets = NULL;
  }
  return targets;
}

// What names of a run stand for.
typedef struct found {
  TF_Output *inputs, *outputs;
  const TF_Operation **targets;
} found;

static bool find(TF_DeprecatedSession *session, const char **input_names, int ninputs,
                 const char **output_names, int noutputs, const char **target_names, int ntargets,
                 found *out_found, TF_Status *status) {
  *out_found = (found){0};
  if (!capi_need(session, "the session", status)) return false;
  out_found->inputs = find_outputs(session, input_names, ninputs, status);
  if (out_found->inputs == NULL) return false;
  out_found->outputs = find_outputs(session, output_names, noutputs, status);
  if (out_found->outputs == NULL) return false;
  out_found->targets = find_targets(session, target_names, ntargets, status);
  return out_found->targets != NULL;
}

static void free_found(found *f) {
  free(f->inputs);
  free(f->outputs);
  free(f->targets);
}

// ---- Runs

void TF_Run(TF_DeprecatedSession *session, const TF_Buffer *run_options, const char **input_names,
            TF_Tensor **inputs, int ninputs, const char **output_names, TF_Tensor **outputs,
            int noutputs, const char **target_oper_names, int ntargets, TF_Buffer *run_metadata,
            TF_Status *status) {
  found f;
  capi_succeed(status);
  for (int i = 0; outputs != NULL && i < noutputs; i++) outputs[i] = NULL;
  if (session != NULL && rheos_graph_num_operations(session->graph->graph) == 0) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Session was not created with a graph before Run()!");
    return;
  }
  if (find(session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, &f,
           status)) {
    TF_SessionRun(session->session, run_options, f.inputs, inputs, ninputs, f.outputs, outputs,
                  noutputs, f.targets, ntargets, run_metadata, status);
  }
  free_found(&f);
}

void TF_PRunSetup(TF_DeprecatedSession *session, const char **input_names, int ninputs,
                  const char **output_names, int noutputs, const char **target_oper_names,
                  int ntargets, const char **handle, TF_Status *status) {
  found f;
  capi_succeed(status);
  if (handle != NULL) *handle = NULL;
  if (find(session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, &f,
           status)) {
    TF_SessionPRunSetup(session->session, f.inputs, ninputs, f.outputs, noutputs, f.targets,
                        ntargets, handle, status);
  }
  free_found(&f);
}

void TF_PRun(TF_DeprecatedSession *session, const char *handle, const char **input_names,
             TF_Tensor **inputs, int ninputs, const char **output_names, TF_Tensor **outputs,
             int noutputs, const char **target_oper_names, int ntargets, TF_Status *status) {
  found f;
  capi_succeed(status);
  for (int i = 0; outputs != NULL && i < noutputs; i++) outputs[i] = NULL;
  if (find(session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, &f,
           status)) {
    TF_SessionPRun(session->session, handle, f.inputs, inputs, ninputs, f.outputs, outputs,
                   noutputs, f.targets, ntargets, status);
  }
  free_found(&f);
}
