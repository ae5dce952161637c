// The table of rules, by name. What finds each is in the files of their families.
#include "lint/lint.h"

enum { SURE, NOTE };
enum { GRAPH, RUNS };

#define ROW(name, is_note, wants_runs, look, sign, remedy) \
  {{name, sign, remedy, (is_note) != SURE, (wants_runs) != GRAPH}, look}

static const rheos__lint_row rows[] = {
    ROW("accidental-float64", NOTE, GRAPH, rheos__lint_accidental_float64,
        "an array in float64, NumPy's default, that is cast to float32",
        "give it as float32, by .astype(np.float32)"),
    ROW("baked-value", SURE, GRAPH, NULL,
        "time, random numbers of Python or NumPy in a traced function",
        "it is the same in every call of the trace: pass it as an argument, or use tf.random"),
    ROW("constant-phase", NOTE, RUNS, rheos__lint_constant_phase,
        "Keras's learning phase, fed with one and the same value by all runs",
        "set it once, by tf.keras.backend.set_learning_phase(), so that less is run"),
    ROW("copied-layer", NOTE, GRAPH, rheos__lint_copied_layer,
        "variables of a scope and of the scope with _1, of which one is trained",
        "share the variables, by one layer object or by reuse=tf.AUTO_REUSE"),
    ROW("device-ping-pong", SURE, GRAPH, rheos__lint_device_ping_pong,
        "a value that goes back and forth between two devices",
        "place what follows on it on one device"),
    ROW("double-sigmoid", SURE, GRAPH, rheos__lint_double_sigmoid,
        "a sigmoid before a loss that applies one", "give the loss what goes into the sigmoid"),
    ROW("double-softmax", SURE, GRAPH, rheos__lint_double_softmax,
        "a softmax before a loss that applies one", "give the loss what goes into the softmax"),
    ROW("duplicate-constant", SURE, GRAPH, rheos__lint_duplicate_constant,
        "two constants of 1 MB or more with the same bytes",
        "make the constant once and use its tensor"),
    ROW("duplicate-subgraph", NOTE, GRAPH, rheos__lint_duplicate_subgraph,
        "20 nodes or more that compute what others compute", "build it once and use its tensor"),
    ROW("fed-labels", SURE, RUNS, rheos__lint_fed_labels,
        "labels of a softmax loss whose rows do not sum to 1",
        "feed one-hot rows or probabilities, or use the sparse loss for numbers of classes"),
    ROW("graph-near-limit", SURE, GRAPH, rheos__lint_graph_near_limit,
        "1.5 GB of constants or more", "keep data in variables or datasets"),
    ROW("growing-graph", SURE, RUNS, rheos__lint_growing_graph,
        "a line that adds nodes between runs",
        "build the nodes once, before the loop; graph.finalize() makes an error of it"),
    ROW("initializer-in-loop", SURE, GRAPH, rheos__lint_initializer_in_loop,
        "an initializer of the same variables that is built three times or more",
        "call tf.global_variables_initializer() once and run what it gives"),
    ROW("large-constant", SURE, GRAPH, rheos__lint_large_constant,
        "a constant of 10 MB or more, or 64 MB of smaller ones, in a graph with variables",
        "feed it, read it by a dataset, or keep it in a variable that a placeholder initializes"),
    ROW("log-of-softmax", NOTE, GRAPH, rheos__lint_log_of_softmax,
        "the logarithm of a softmax or sigmoid",
        "use tf.nn.log_softmax() or tf.log_sigmoid(), or a loss that takes logits"),
    ROW("many-sessions", SURE, RUNS, NULL,
        "more than 8 sessions of one line that are open at a time",
        "make one session, or close each, by `with tf.Session() as session:`"),
    ROW("many-shapes", NOTE, RUNS, rheos__lint_many_shapes,
        "values of more than 8 shapes for one feed",
        "pad them to a few lengths, by tf.data's bucketing for example"),
    ROW("medium-constant", NOTE, GRAPH, rheos__lint_medium_constant,
        "a constant of 1 to 10 MB in a graph with variables",
        "feed it, read it by a dataset, or keep it in a variable that a placeholder initializes"),
    ROW("new-fetches", SURE, RUNS, rheos__lint_new_fetches,
        "a line whose runs ask for something else each time",
        "fetch all in one run, or make the list of fetches once"),
    ROW("one-hot-labels", SURE, GRAPH, rheos__lint_one_hot_labels,
        "one-hot labels of a loss that wants numbers of classes",
        "give it the numbers, or use the loss without 'sparse'"),
    ROW("outer-broadcast", SURE, GRAPH, rheos__lint_outer_broadcast,
        "a difference of [n] and [n, 1], which is [n, n], that is reduced to a number",
        "give both one shape, by tf.squeeze(x, 1) or tf.reshape(x, [-1])"),
    ROW("partial-batch", NOTE, RUNS, rheos__lint_partial_batch,
        "a smaller batch at the end of each epoch",
        "drop it, by drop_remainder=True, if it is not needed"),
    ROW("queue-not-filled", SURE, RUNS, rheos__lint_queue_not_filled,
        "a run that takes of a queue which no run fills",
        "call tf.train.start_queue_runners(session, coordinator) before it"),
    ROW("retracing", SURE, RUNS, NULL, "a tf.function that is traced again and again",
        "pass tensors, or an input_signature, so that one trace serves"),
    ROW("root-at-zero", NOTE, GRAPH, rheos__lint_root_at_zero,
        "a gradient through the root of a sum of squares",
        "add a small number before the root, such as 1e-12"),
    ROW("saver-in-loop", SURE, GRAPH, rheos__lint_saver_in_loop,
        "a saver of the same variables that is built three times or more",
        "make the tf.train.Saver once and call its save()"),
    ROW("side-effect", NOTE, GRAPH, NULL,
        "a traced function that prints, appends to a list outside, changes a global, opens a file",
        "it happens once for each trace: use tf.print, tf.Variable, tf.py_function or results"),
    ROW("summaries-in-loop", SURE, GRAPH, rheos__lint_summaries_in_loop,
        "a merge of the same summaries that is built three times or more",
        "call tf.summary.merge_all() once and run what it gives"),
    ROW("swapped-labels", SURE, GRAPH, rheos__lint_swapped_labels,
        "a loss whose logits are given and whose labels are computed",
        "write labels=... and logits=... by name"),
    ROW("training-in-loop", SURE, GRAPH, rheos__lint_training_in_loop,
        "an optimizer's update of a variable that one line built ten times or more",
        "call minimize() once and run what it gives"),
    ROW("training-mode", SURE, GRAPH, rheos__lint_training_mode,
        "dropout, or normalization by the batch's statistics, in what serves",
        "build the graph that serves with training=False"),
    ROW("uninitialized-variable", NOTE, GRAPH, rheos__lint_uninitialized_variable,
        "a variable that is read and that nothing initializes",
        "give it an initial value, or restore it"),
    ROW("unknown-rank", NOTE, GRAPH, rheos__lint_unknown_rank,
        "a placeholder of which no shape was said",
        "say what is known, tf.placeholder(tf.float32, [None, 784]): mistakes show earlier"),
    ROW("unreached-ops", NOTE, GRAPH, rheos__lint_unreached_ops,
        "values that nothing that is asked for needs", "fetch it, or do not build it"),
    ROW("unread-variable", SURE, GRAPH, rheos__lint_unread_variable,
        "a variable that nothing reads", "use it, or do not make it"),
    ROW("unscaled-input", NOTE, RUNS, rheos__lint_unscaled_input,
        "whole numbers up to 255 that go into a product or convolution as they are",
        "divide them by 255"),
    ROW("untrained-variable", NOTE, GRAPH, rheos__lint_untrained_variable,
        "a trainable variable that no optimizer updates, where others are",
        "let the loss depend on it, or make it with trainable=False"),
    ROW("unused-check", SURE, GRAPH, rheos__lint_unused_check,
        "a Print, Assert or CheckNumerics that nothing takes or waits for",
        "use what it gives, or put what should wait for it under tf.control_dependencies([it])"),
    ROW("unused-placeholder", SURE, GRAPH, rheos__lint_unused_placeholder,
        "a placeholder that nothing takes", "use it, or do not make it"),
    ROW("unused-updates", SURE, GRAPH, rheos__lint_unused_updates,
        "updates of batch normalization's averages that nothing runs",
        "train under tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS))"),
};

#define NUM_ROWS (sizeof rows / sizeof rows[0])

const rheos__lint_row *rheos__lint_rows(size_t *out_count) {
  *out_count = NUM_ROWS;
  return rows;
}

const rheos_lint_rule *rheos_lint_rule_at(size_t index) {
  return index < NUM_ROWS ? &rows[index].rule : NULL;
}

const rheos_lint_rule *rheos_lint_rule_named(const char *name) {
  for (size_t i = 0; name != NULL && i < NUM_ROWS; i++) {
    if (strcmp(rows[i].rule.name, name) == 0) return &rows[i].rule;
  }
  return NULL;
}
