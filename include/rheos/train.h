// Training: variables, initializers, optimizers, learning rates, clipped gradients, savers.
#ifndef RHEOS_TRAIN_H
#define RHEOS_TRAIN_H

#include <rheos/collections.h>
#include <rheos/gradients.h>
#include <rheos/session.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Variables

// A variable of a graph: its nodes. The value lives in each session. There are two kinds: reference
// variables, which ops take by reference, and resource variables, whose ops ("AssignVariableOp",
// "ReadVariableOp") take a handle. Of a resource variable every read is a node of its own, so that
// control dependencies say which writes it sees.
typedef struct rheos_variable {
  rheos_graph *graph;           // NULL for "none"
  int32_t index;                // among the graph's variables, in order of creation
  rheos_output handle;          // the reference or handle that assignments take
  rheos_output value;           // reads it; of a resource variable, before any write of the step
  rheos_output cached;          // of a resource variable with a caching device: all its reads
  rheos_output initial_value;   // what `initializer` assigns
  rheos_operation initializer;  // assigns the initial value
  bool trainable;               // optimizers change it where no variables are named
  // For copies on several machines, by TensorFlow's numbers: files have them, here they mean
  // nothing.
  int32_t synchronization, aggregation;
} rheos_variable;

// Initializers: what rheos_get_variable() fills a new variable with. Floating dtypes unless said.
typedef enum rheos_initializer_kind {
  RHEOS_INIT_DEFAULT = 0,  // the scope's, else Glorot uniform for floats, zeros for others
  RHEOS_INIT_ZEROS,        // any dtype
  RHEOS_INIT_ONES,         // any numeric dtype
  RHEOS_INIT_CONSTANT,     // `a`, in any numeric dtype
  RHEOS_INIT_UNIFORM,      // from `a` to `b`
  RHEOS_INIT_NORMAL,       // mean `a`, standard deviation `b`
  RHEOS_INIT_TRUNCATED_NORMAL,
  RHEOS_INIT_GLOROT_UNIFORM,
  RHEOS_INIT_GLOROT_NORMAL,
  RHEOS_INIT_VALUE,  // `value`, a tensor made by the caller; the variable takes its dtype and shape
} rheos_initializer_kind;

typedef struct rheos_initializer {
  rheos_initializer_kind kind;  // constant, or how it is drawn
  double a, b;                  // the numbers of its kind, such as mean and standard deviation
  bool has_seed;                // else the graph's seed makes one
  int64_t seed;                 // of its own
  rheos_output value;           // of a constant: a tensor of the graph
} rheos_initializer;

RHEOS_API rheos_initializer rheos_zeros(void);
RHEOS_API rheos_initializer rheos_ones(void);
RHEOS_API rheos_initializer rheos_constant_initializer(double value);
RHEOS_API rheos_initializer rheos_random_uniform_initializer(double minimum, double maximum);
RHEOS_API rheos_initializer rheos_random_normal_initializer(double mean, double stddev);
RHEOS_API rheos_initializer rheos_truncated_normal_initializer(double mean, double stddev);
RHEOS_API rheos_initializer rheos_glorot_uniform_initializer(void);
RHEOS_API rheos_initializer rheos_glorot_normal_initializer(void);

// Variable scopes: a prefix for the names of rheos_get_variable(), and whether it makes or re-uses.
typedef enum rheos_reuse {
  RHEOS_REUSE_INHERIT = 0,
  RHEOS_REUSE_NO,    // making a variable that exists is an error (the default at the top)
  RHEOS_REUSE_YES,   // asking for one that does not exist is an error
  RHEOS_REUSE_AUTO,  // make it, or re-use it
} rheos_reuse;

// Enters a variable scope, and opens the name scope `name`. Undone by rheos_scope_pop().
RHEOS_API void rheos_push_variable_scope(rheos_scope *scope, const char *name, rheos_reuse reuse);

// A shared variable by name: makes it or finds it, as the variable scope's reuse says. An error
// names the line of the program where the variable was first made. It joins the collections
// "variables" and, unless `trainable` is false (rheos_get_variable_with), "trainable_variables".
RHEOS_API rheos_variable rheos_get_variable_record(rheos_scope *scope, const char *name,
                                                   rheos_dtype dtype, rheos_shape shape,
                                                   rheos_initializer initializer, bool trainable);

// As rheos_get_variable_record(), giving the value to compute with.
RHEOS_API rheos_output rheos_get_variable(rheos_scope *scope, const char *name, rheos_dtype dtype,
                                          rheos_shape shape, rheos_initializer initializer);

// Sets a variable, of either kind, to `value`, or adds to it or subtracts from it. None after an
// error.
RHEOS_API rheos_operation rheos_variable_assign(rheos_scope *scope, rheos_variable variable,
                                                rheos_output value);
RHEOS_API rheos_operation rheos_variable_assign_add(rheos_scope *scope, rheos_variable variable,
                                                    rheos_output value);
RHEOS_API rheos_operation rheos_variable_assign_sub(rheos_scope *scope, rheos_variable variable,
                                                    rheos_output value);

// A variable of its own with the given initial value; `name` is made unique (NULL: "Variable").
typedef struct rheos_variable_options {
  const char *name RHEOS_LEFT_OUT;
  bool not_trainable RHEOS_LEFT_OUT;        // optimizers leave it alone
  bool any_shape RHEOS_LEFT_OUT;            // later values may have other shapes
  bool is_local RHEOS_LEFT_OUT;             // joins "local_variables" instead of "variables"
  bool no_collections RHEOS_LEFT_OUT;       // joins none
  bool use_resource RHEOS_LEFT_OUT;         // a resource variable
  bool own_class RHEOS_LEFT_OUT;            // its node names itself as what it is colocated with
  const rheos_shape *shape RHEOS_LEFT_OUT;  // that its values may have; NULL: the initial value's
  const char *caching_device
      RHEOS_LEFT_OUT;  // reads are copied there, once for all readers; NULL: nowhere
} rheos_variable_options;
static inline rheos_variable rheos_variable_new(rheos_scope *scope, rheos_output initial_value,
                                                const rheos_variable_options *options);

// Says that a variable is a part of a whole that savers know as `full_name`: `shape_and_slice` is
// the shape of the whole, then offset and size in each dimension, "5 2 3,2:0,2". Its slots follow.
RHEOS_API void rheos_variable_set_slice(rheos_scope *scope, rheos_variable variable,
                                        const char *full_name, const char *shape_and_slice);
// False if the variable is a whole. The texts live as long as the graph.
RHEOS_API bool rheos_variable_slice(rheos_variable variable, const char **out_full_name,
                                    const char **out_shape_and_slice);

// From now on rheos_get_variable() and its like make resource variables in this graph (or no more).
RHEOS_API void rheos_graph_use_resource_variables(rheos_graph *graph, bool use);

// The value for use where the scope is. Of a resource variable this is a new node, which runs after
// the scope's control dependencies.
RHEOS_API rheos_output rheos_variable_read(rheos_scope *scope, rheos_variable variable);

RHEOS_API bool rheos_variable_is_resource(rheos_variable variable);
RHEOS_API rheos_dtype rheos_variable_dtype(rheos_variable variable);  // never a reference
RHEOS_API rheos_shape rheos_variable_static_shape(rheos_variable variable);

RHEOS_API int32_t rheos_graph_num_variables(rheos_graph *graph);
RHEOS_API rheos_variable rheos_graph_variable(rheos_graph *graph, int32_t index);
// The variable whose handle or value `output` is; none if it is neither.
RHEOS_API rheos_variable rheos_variable_of(rheos_output output);

// An operation that initializes the variables of the collection "variables" at the time of the
// call.
RHEOS_API rheos_operation rheos_global_variables_initializer(rheos_scope *scope);

// An operation that initializes the given variables; `name` NULL: "init".
RHEOS_API rheos_operation rheos_variables_initializer(rheos_scope *scope,
                                                      const rheos_variable *variables, size_t count,
                                                      const char *name);

// The variables of a collection in a new array for rheos_free(), NULL when memory is short. Returns
// their number.
RHEOS_API size_t rheos_graph_collect_variables(rheos_graph *graph, const char *key,
                                               rheos_variable **out_variables);

// ---- Optimizers

typedef enum rheos_optimizer_kind {
  RHEOS_OPTIMIZER_GRADIENT_DESCENT = 1,
  RHEOS_OPTIMIZER_MOMENTUM,
  RHEOS_OPTIMIZER_ADAGRAD,
  RHEOS_OPTIMIZER_ADAM,
  RHEOS_OPTIMIZER_RMSPROP,
  RHEOS_OPTIMIZER_ADADELTA,
  RHEOS_OPTIMIZER_FTRL,
  RHEOS_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT,
  RHEOS_OPTIMIZER_PROXIMAL_ADAGRAD,
  RHEOS_OPTIMIZER_ADAGRAD_DA,
} rheos_optimizer_kind;

enum { RHEOS_OPTIMIZER_MAX_NUMBERS = 6, RHEOS_OPTIMIZER_MAX_SLOTS = 3 };

// An optimizer is a value: its kind and numbers. Where a `_tensor` is set it stands in for the
// number.
typedef struct rheos_optimizer {
  rheos_optimizer_kind kind;  // which numbers it has
  double learning_rate;       // of all kinds
  rheos_output learning_rate_tensor;
  double momentum;  // Momentum, RMSProp
  rheos_output momentum_tensor;
  bool use_nesterov;                 // Momentum
  double initial_accumulator_value;  // Adagrad and its relatives, Ftrl
  double beta1, beta2, epsilon;      // Adam; `epsilon` also RMSProp, Adadelta
  rheos_output beta1_tensor, beta2_tensor, epsilon_tensor;
  double decay;  // of running means: RMSProp, Adadelta ("rho")
  rheos_output decay_tensor;
  bool centered;  // RMSProp by the standard deviation of the gradient
  double l1_regularization_strength, l2_regularization_strength;  // Ftrl, Proximal..., AdagradDA
  rheos_output l1_regularization_strength_tensor, l2_regularization_strength_tensor;
  double l2_shrinkage_regularization_strength, learning_rate_power;  // Ftrl
  rheos_output l2_shrinkage_regularization_strength_tensor, learning_rate_power_tensor;
  const char *accum_name,
      *linear_name;            // Ftrl: of its slots' variables; NULL: the optimizer's name
  rheos_variable global_step;  // AdagradDA: counts the steps
  bool use_locking;            // one update of a variable at a time
  const char *name;  // NULL: "GradientDescent", "Momentum", ..., as TensorFlow calls the kind
  // Optimizers of one name share their slots ("momentum", ...) in a graph unless this differs.
  int64_t identity;
  const char *slot_scope;  // goes before the names of slots; NULL: the variable scope that is open
  // The numbers as nodes, and AdagradDA's step: rheos_optimizer_prepare() sets them.
  rheos_output prepared[RHEOS_OPTIMIZER_MAX_NUMBERS], prepared_step;
} rheos_optimizer;

// With TensorFlow's defaults for what is not given.
RHEOS_API rheos_optimizer rheos_gradient_descent(double learning_rate);
RHEOS_API rheos_optimizer rheos_momentum(double learning_rate, double momentum);
RHEOS_API rheos_optimizer rheos_adagrad(double learning_rate);
RHEOS_API rheos_optimizer rheos_adam(double learning_rate);
RHEOS_API rheos_optimizer rheos_rmsprop(double learning_rate);
RHEOS_API rheos_optimizer rheos_adadelta(double learning_rate);
RHEOS_API rheos_optimizer rheos_ftrl(double learning_rate);
RHEOS_API rheos_optimizer rheos_proximal_gradient_descent(double learning_rate);
RHEOS_API rheos_optimizer rheos_proximal_adagrad(double learning_rate);
RHEOS_API rheos_optimizer rheos_adagrad_da(double learning_rate, rheos_variable global_step);

// What an optimizer keeps for each variable, and what the op that updates one takes.
typedef struct rheos_optimizer_parts {
  const char *kind;  // "RMSProp": the optimizer's name if it has none; NULL: the kind is unknown
  const char *op;    // "CenteredRMSProp": its ops are ResourceApplyCenteredRMSProp and so on
  // The op's inputs behind the variable, a letter each: "abc" slots, "012345" numbers, "g" the
  // gradient and the indices if it is rows, "pq" the powers of beta1 and beta2, "lm" l1 and l2 as
  // constants of their own, "s" the number of the step.
  const char *inputs;
  const char *slots[RHEOS_OPTIMIZER_MAX_SLOTS];      // up to NULL
  double slot_values[RHEOS_OPTIMIZER_MAX_SLOTS];     // what they start with
  const char *numbers[RHEOS_OPTIMIZER_MAX_NUMBERS];  // fields of rheos_optimizer, up to NULL
  double defaults[RHEOS_OPTIMIZER_MAX_NUMBERS];      // of the numbers, 0 where there is none
} rheos_optimizer_parts;
RHEOS_API rheos_optimizer_parts rheos_optimizer_describe(rheos_optimizer optimizer);

// Gradients of `loss` for `variables`; NULL means the collection "trainable_variables". The number
// of variables is returned; `*out_gradients` and, if `variables` was NULL, `*out_variables` are new
// arrays for rheos_free(). 0 and NULL after a failure (in the scope's status).
RHEOS_API size_t rheos_compute_gradients(rheos_scope *scope, rheos_optimizer optimizer,
                                         rheos_output loss, const rheos_variable *variables,
                                         size_t num_variables, rheos_variable **out_variables,
                                         rheos_gradient **out_gradients);

// An operation that updates each variable that has a gradient, then adds 1 to `global_step` unless
// that is NULL. Makes the slots it needs. An error if no variable has a gradient.
RHEOS_API rheos_operation rheos_apply_gradients(rheos_scope *scope, rheos_optimizer optimizer,
                                                const rheos_variable *variables,
                                                const rheos_gradient *gradients, size_t count,
                                                const rheos_variable *global_step,
                                                const char *name);

// Both in one, for all trainable variables.
RHEOS_API rheos_operation rheos_minimize(rheos_scope *scope, rheos_optimizer optimizer,
                                         rheos_output loss);

// The choices of rheos_minimize_with(), whose `options` may be NULL.
typedef struct rheos_minimize_options {
  const rheos_variable *variables RHEOS_LEFT_OUT;  // NULL: the collection "trainable_variables"
  size_t num_variables RHEOS_LEFT_OUT;
  const rheos_variable *global_step RHEOS_LEFT_OUT;  // counts the steps; may be NULL
  const char *name RHEOS_LEFT_OUT;                   // NULL: the optimizer's
  // For ops that the library has no gradient of (<rheos/gradients.h>). May be NULL.
  rheos_gradient_function gradient_function RHEOS_LEFT_OUT;
  void *gradient_argument RHEOS_LEFT_OUT;
} rheos_minimize_options;
static inline rheos_operation rheos_minimize_with(rheos_scope *scope, rheos_optimizer optimizer,
                                                  rheos_output loss,
                                                  const rheos_minimize_options *options);

// The slot of a variable, e.g. "momentum", "accumulator", "m", "v"; none if there is none. Slots
// belong to an optimizer's name scope: that of the latest apply with the optimizer's name.
// `variable` none: a number the optimizer keeps for all, Adam's "beta1_power" and "beta2_power".
RHEOS_API rheos_variable rheos_optimizer_slot(rheos_graph *graph, rheos_variable variable,
                                              const char *optimizer_name, const char *slot_name);

// The parts of rheos_apply_gradients(), for optimizers of one's own that change some of them: makes
// the slots; adds the optimizer's numbers to the graph, in the scope that is open; updates one
// variable by its gradient; ends the step once all `updates` are done.
RHEOS_API void rheos_optimizer_make_slots(rheos_scope *scope, rheos_optimizer optimizer,
                                          const rheos_variable *variables, size_t count);
RHEOS_API void rheos_optimizer_prepare(rheos_scope *scope, rheos_optimizer *optimizer);
RHEOS_API rheos_operation rheos_optimizer_update(rheos_scope *scope, rheos_optimizer optimizer,
                                                 rheos_variable variable, rheos_gradient gradient);
RHEOS_API rheos_operation rheos_optimizer_finish(rheos_scope *scope, rheos_optimizer optimizer,
                                                 const rheos_operation *updates, size_t count,
                                                 const char *name);
// Rows that occur more than once are summed up to one.
RHEOS_API rheos_gradient rheos_unique_rows(rheos_scope *scope, rheos_gradient gradient);

// For optimizers of one's own: finds the slot, or makes it: a variable "PRIMARY/NAME" of
// `primary`'s dtype and shape (RHEOS_INIT_VALUE: of the value's), placed with it, not trainable.
// `name` NULL: the optimizer's. `optimizer.kind` may be 0, then it needs a name.
RHEOS_API rheos_variable rheos_optimizer_make_slot(rheos_scope *scope, rheos_optimizer optimizer,
                                                   rheos_variable primary, const char *slot_name,
                                                   rheos_initializer initializer, const char *name);

// ---- Learning rates that change with the step
//
// Float scalars for `learning_rate_tensor` of an optimizer: TensorFlow's formulas of `global_step`,
// a number of any dtype (the value of the variable that counts the steps). `staircase`: the rate
// changes once in `decay_steps` steps. `name` NULL: TensorFlow's name of the schedule.

// learning_rate * decay_rate ^ (global_step / decay_steps)
RHEOS_API rheos_output rheos_exponential_decay(rheos_scope *scope, double learning_rate,
                                               rheos_output global_step, int32_t decay_steps,
                                               double decay_rate, bool staircase, const char *name);
// learning_rate * exp(-decay_rate * global_step / decay_steps)
RHEOS_API rheos_output rheos_natural_exp_decay(rheos_scope *scope, double learning_rate,
                                               rheos_output global_step, int32_t decay_steps,
                                               double decay_rate, bool staircase, const char *name);
// learning_rate / (1 + decay_rate * global_step / decay_steps)
RHEOS_API rheos_output rheos_inverse_time_decay(rheos_scope *scope, double learning_rate,
                                                rheos_output global_step, int32_t decay_steps,
                                                double decay_rate, bool staircase,
                                                const char *name);
// From learning_rate to end_learning_rate in decay_steps steps, by a power of what is left of them.
// `cycle`: again and again, each time over twice, three times, ... as many steps.
RHEOS_API rheos_output rheos_polynomial_decay(rheos_scope *scope, double learning_rate,
                                              rheos_output global_step, int32_t decay_steps,
                                              double end_learning_rate, double power, bool cycle,
                                              const char *name);
// From learning_rate to alpha * learning_rate in decay_steps steps, as half a cosine.
RHEOS_API rheos_output rheos_cosine_decay(rheos_scope *scope, double learning_rate,
                                          rheos_output global_step, int32_t decay_steps,
                                          double alpha, const char *name);
// As rheos_cosine_decay(), repeated: each time t_mul times as long, from m_mul times as high.
RHEOS_API rheos_output rheos_cosine_decay_restarts(rheos_scope *scope, double learning_rate,
                                                   rheos_output global_step,
                                                   int32_t first_decay_steps, double t_mul,
                                                   double m_mul, double alpha, const char *name);
// learning_rate * ((alpha + linear) * cosine + beta), both falling to 0 in decay_steps steps.
RHEOS_API rheos_output rheos_linear_cosine_decay(rheos_scope *scope, double learning_rate,
                                                 rheos_output global_step, int32_t decay_steps,
                                                 double num_periods, double alpha, double beta,
                                                 const char *name);
// values[i] while the step is at most boundaries[i], which rise; values[count] beyond them all.
RHEOS_API rheos_output rheos_piecewise_constant(rheos_scope *scope, rheos_output global_step,
                                                const double *boundaries, const double *values,
                                                size_t count, const char *name);

// ---- Gradients kept within bounds
//
// A gradient by rows stays one, its values clipped. A gradient that is none stays none.

// Values below `minimum` become that, values above `maximum` that.
RHEOS_API rheos_gradient rheos_clip_gradient_by_value(rheos_scope *scope, rheos_gradient gradient,
                                                      double minimum, double maximum,
                                                      const char *name);
// Scaled down so that the euclidean norm is at most `clip_norm`.
RHEOS_API rheos_gradient rheos_clip_gradient_by_norm(rheos_scope *scope, rheos_gradient gradient,
                                                     double clip_norm, const char *name);
// As rheos_clip_gradient_by_norm(), for the norm divided by the number of elements; of dense
// gradients.
RHEOS_API rheos_gradient rheos_clip_gradient_by_average_norm(rheos_scope *scope,
                                                             rheos_gradient gradient,
                                                             double clip_norm, const char *name);
// The euclidean norm of all of them together.
RHEOS_API rheos_output rheos_global_norm(rheos_scope *scope, const rheos_gradient *gradients,
                                         size_t count, const char *name);
// All scaled down by one factor so that their global norm is at most `clip_norm`; `out_gradients`
// may be `gradients`. Returns the global norm that they had. A norm that is not finite makes them
// NaN.
RHEOS_API rheos_output rheos_clip_gradients_by_global_norm(rheos_scope *scope,
                                                           const rheos_gradient *gradients,
                                                           size_t count, double clip_norm,
                                                           const char *name,
                                                           rheos_gradient *out_gradients);

// ---- Savers: checkpoints in TensorFlow's format (tensor bundle)

// The nodes that save and restore: feed `filename`, run `save` or `restore`.
typedef struct rheos_saver {
  rheos_output filename;    // "save/Const", string scalar, the prefix of the checkpoint's files
  rheos_output save_path;   // fetch it to save
  rheos_operation restore;  // run it to restore
} rheos_saver;

// A saver for `count` variables under `names` (NULL: their own names); variables NULL means the
// collection "variables".
RHEOS_API rheos_saver rheos_saver_new(rheos_scope *scope, const rheos_variable *variables,
                                      const char *const *names, size_t count, const char *name);

// Something beside variables that a saver keeps: tensors under names, and how they come back.
typedef struct rheos_saveable_part {
  const char *name;             // in the checkpoint
  const char *shape_and_slice;  // NULL: the whole
  rheos_output tensor;          // its value when it is saved
} rheos_saveable_part;

typedef struct rheos_saveable {
  const char *name;  // what its names in checkpoints begin with
  // A mutable lookup table (the handle of one, as its op gives it): NAME-keys and NAME-values are
  // saved, and go back into it. graph NULL: what follows says it.
  rheos_output table;
  const rheos_saveable_part *parts;
  size_t num_parts;
  // Adds the operation that takes the values back, one for each part.
  rheos_operation (*restore)(rheos_scope *scope, const rheos_output *values, void *context);
  void *context;
} rheos_saveable;

typedef struct rheos_saver_options {
  const char *name RHEOS_LEFT_OUT;      // of the nodes' scope; NULL: "save"
  const char *filename RHEOS_LEFT_OUT;  // what `filename` is if it is not fed; NULL: "model"
  bool write_v1
      RHEOS_LEFT_OUT;  // write checkpoints of TensorFlow 0.x, one file each; both kinds are read
  bool reshape RHEOS_LEFT_OUT;  // restore tensors of another shape with as many elements
  bool sharded
      RHEOS_LEFT_OUT;  // one file of data (or V1 checkpoint) for each device with variables
  const rheos_saveable *saveables RHEOS_LEFT_OUT;  // what is saved beside the variables
  size_t num_saveables RHEOS_LEFT_OUT;
} rheos_saver_options;

// As rheos_saver_new(), with options; NULL: none. With saveables there need be no variables.
static inline rheos_saver rheos_saver_new_with(rheos_scope *scope, const rheos_variable *variables,
                                               const char *const *names, size_t count,
                                               const rheos_saver_options *options);

// Writes or reads the checkpoint `prefix` (`prefix.index`, `prefix.data-00000-of-00001`). To read,
// one of its files or its folder, of which the newest is taken, names it as well. A checkpoint that
// TensorFlow 2 wrote by objects is restored by the names that its variables had. What does not fit
// fails as rheos_restore_check() tells.
RHEOS_STATUS rheos_saver_save(rheos_saver saver, rheos_session *session, const char *prefix);
RHEOS_STATUS rheos_saver_restore(rheos_saver saver, rheos_session *session, const char *prefix);

// Keeps the newest checkpoints of a run, and lists them in their folder. One thread at a time.
typedef struct rheos_checkpoint_keeper rheos_checkpoint_keeper;

typedef struct rheos_checkpoint_keeper_options {
  rheos_optional_int max_to_keep
      RHEOS_LEFT_OUT;  // older ones are deleted; the default: 5, 0 or less: none is
  rheos_optional_float keep_every_n_hours
      RHEOS_LEFT_OUT;                 // one in so many stays nevertheless; the default: 10000
  bool no_meta_graph RHEOS_LEFT_OUT;  // else the graph is written beside, as `prefix.meta`
  const char *latest_filename RHEOS_LEFT_OUT;  // the list, in the folder; NULL: "checkpoint"
} rheos_checkpoint_keeper_options;

// `options` may be NULL. The saver's graph is to outlive it.
RHEOS_MUST_USE static inline rheos_status *rheos_checkpoint_keeper_new(
    rheos_saver saver, const rheos_checkpoint_keeper_options *options,
    rheos_checkpoint_keeper **out_keeper);
// Saves to `path`, with "-step" behind it unless `step` is negative; then writes the list, from
// which rheos_latest_checkpoint() tells the newest; then deletes what is too many.
RHEOS_STATUS rheos_checkpoint_keeper_save(rheos_checkpoint_keeper *keeper, rheos_session *session,
                                          const char *path, int64_t step);
// Takes over the checkpoints of an earlier run, oldest first, as the list of its folder has them
// (rheos_checkpoint_state_read()), so that they are listed and deleted in turn with the new ones.
// Those that are gone are left out. (TensorFlow's recover_last_checkpoints)
RHEOS_STATUS rheos_checkpoint_keeper_recover(rheos_checkpoint_keeper *keeper,
                                             const char *const *prefixes, size_t count);
// The files stay. NULL is accepted.
RHEOS_API void rheos_checkpoint_keeper_free(rheos_checkpoint_keeper *keeper);

// ---- Variables that start with values of a checkpoint

// Where the rows of a variable stand for the entries of a vocabulary, a file of an entry a line,
// which has changed since the checkpoint was written: rows of entries that both have are taken.
typedef struct rheos_vocabulary {
  const char *new_file;           // of the variable
  int64_t new_size;               // how many of its entries count
  int64_t num_oov_buckets;        // rows behind them, for entries that are not in it
  const char *old_file;           // of the checkpoint
  int64_t old_size;               // 0: all of its entries
  int32_t axis;                   // 0: rows, 1: columns
  rheos_initializer initializer;  // of the other rows; default: zeros
} rheos_vocabulary;

typedef struct rheos_checkpoint_assignment {
  const char *from;  // a tensor in the checkpoint; or a scope with its "/", "/" for all
  const char *to;    // a variable's name; or a scope with its "/"; NULL: `variables`
  const rheos_variable *variables;  // one variable, or the parts of one
  size_t num_variables;
  // NULL: the same entries as before. Not with scopes, which leave out variables that another
  // assignment names with a vocabulary.
  const rheos_vocabulary *vocabulary;
} rheos_checkpoint_assignment;

// Makes variables start with values in a checkpoint when they are initialized: their initializers
// are replaced. Scopes stand for all variables below. `checkpoint` is named as for
// rheos_saver_restore(). What does not fit fails as rheos_checkpoint_reader_check() tells, and
// nothing is changed then. (TensorFlow's init_from_checkpoint; with vocabularies, warm_start)
RHEOS_API void rheos_init_from_checkpoint(rheos_scope *scope, const char *checkpoint,
                                          const rheos_checkpoint_assignment *assignments,
                                          size_t count);

// Whether a checkpoint has what a saver's `restore` (or a group of any assignments of RestoreV2's
// values) asks it for: NULL, or one error that lists every name that is missing, with the nearest
// that is there, every other shape and dtype, and the names that nobody asks for, some of each.
// RHEOS_NOT_FOUND if names are missing, RHEOS_INVALID_ARGUMENT if only shapes or dtypes differ.
RHEOS_STATUS rheos_restore_check(rheos_operation restore, const char *checkpoint);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API rheos_variable rheos_variable_new_sized(rheos_scope *scope, rheos_output initial_value,
                                                  const rheos_variable_options *options,
                                                  size_t options_bytes);
static inline rheos_variable rheos_variable_new(rheos_scope *scope, rheos_output initial_value,
                                                const rheos_variable_options *options) {
  return rheos_variable_new_sized(scope, initial_value, options, sizeof *options);
}

RHEOS_API rheos_operation rheos_minimize_with_sized(rheos_scope *scope, rheos_optimizer optimizer,
                                                    rheos_output loss,
                                                    const rheos_minimize_options *options,
                                                    size_t options_bytes);
static inline rheos_operation rheos_minimize_with(rheos_scope *scope, rheos_optimizer optimizer,
                                                  rheos_output loss,
                                                  const rheos_minimize_options *options) {
  return rheos_minimize_with_sized(scope, optimizer, loss, options, sizeof *options);
}

RHEOS_API rheos_saver rheos_saver_new_with_sized(rheos_scope *scope,
                                                 const rheos_variable *variables,
                                                 const char *const *names, size_t count,
                                                 const rheos_saver_options *options,
                                                 size_t options_bytes);
static inline rheos_saver rheos_saver_new_with(rheos_scope *scope, const rheos_variable *variables,
                                               const char *const *names, size_t count,
                                               const rheos_saver_options *options) {
  return rheos_saver_new_with_sized(scope, variables, names, count, options, sizeof *options);
}

RHEOS_STATUS rheos_checkpoint_keeper_new_sized(rheos_saver saver,
                                               const rheos_checkpoint_keeper_options *options,
                                               size_t options_bytes,
                                               rheos_checkpoint_keeper **out_keeper);
RHEOS_MUST_USE static inline rheos_status *rheos_checkpoint_keeper_new(
    rheos_saver saver, const rheos_checkpoint_keeper_options *options,
    rheos_checkpoint_keeper **out_keeper) {
  return rheos_checkpoint_keeper_new_sized(saver, options, sizeof *options, out_keeper);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_TRAIN_H
