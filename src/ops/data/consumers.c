// Ops that go over datasets themselves: ReduceDataset, DatasetToSingleElement, DatasetCardinality.
#include "ops/data/dataset_hash.h"
#include "ops/data/dataset_spec.h"

// Fails where a value does not have the shape that the node is declared to give.
static rheos_status *check_shapes(const rheos__attrs *attrs, rheos_tensor *const *values) {
  const rheos_attr_value *shapes = rheos__attrs_find(attrs, "output_shapes");
  for (int32_t i = 0; i < shapes->count; ++i) {
    if (rheos_shape_compatible(&shapes->shapes[i], &values[i]->shape)) continue;
    rheos__shape_text a, b;
    return RHEOS_INVALID("Incompatible shapes at component %d: expected %s but got %s.", (int)i,
                         rheos__shape_text_of(&shapes->shapes[i], &a),
                         rheos__shape_text_of(&values[i]->shape, &b));
  }
  return NULL;
}

// ---- ReduceDataset

typedef struct reduction {
  rheos__dataset_spec *spec;
  const rheos__attrs *attrs;
  int32_t num_state;
} reduction;

static const rheos__dataset_kind reduce_kind = {.name = "Reduce"};

static void release_reduction(void *state) {
  rheos__dataset_spec_unref(((reduction *)state)->spec);
}

static rheos_status *check_reduction(const rheos__dataset *d, int32_t num_state) {
  const rheos__data_function *f = rheos__dataset_function(d, 0);
  const rheos__dataset *input = d->inputs[0];
  const int32_t n = num_state + input->num_components;
  if (f->num_args - f->num_captured != n || f->num_results != num_state) {
    return RHEOS_INVALID(
        "the function of a reduction takes state and element, and gives the state");
  }
  for (int32_t i = 0; i < n; ++i) {
    const rheos_tensor *first = i < num_state ? d->args[1 + i] : NULL;
    if (i < num_state && first == NULL) return RHEOS_INVALID("the state must be tensors");
    const rheos_dtype type = i < num_state ? first->dtype : input->types[i - num_state];
    if (f->arg_types[i] == type && (i >= num_state || f->result_types[i] == type)) continue;
    return RHEOS_INVALID("Data type mismatch at argument %d of the function of a reduction",
                         (int)i);
  }
  return NULL;
}

// `values`: the state, room for an element, room for the next state.
static rheos_status *reduce_all(const rheos__dataset *d, int32_t num_state, rheos__step *step,
                                rheos__iterator *iterator, rheos_tensor **values) {
  const int32_t n = d->inputs[0]->num_components;
  rheos_tensor **results = values + num_state + n;
  for (;;) {
    bool end = false;
    RHEOS_TRY(rheos__iterator_next(iterator, step, values + num_state, &end));
    if (end) return NULL;
    RHEOS_TRY(rheos__dataset_call_take(d, 0, values, num_state + n, step, results));
    memcpy(values, results, (size_t)num_state * sizeof *values);
    memset(results, 0, (size_t)num_state * sizeof *values);
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
}

static rheos_status *reduce(const rheos__dataset *d, int32_t num_state, rheos__step *step,
                            rheos_tensor **outputs) {
  RHEOS_TRY(check_reduction(d, num_state));
  const size_t room = 2 * (size_t)num_state + (size_t)d->inputs[0]->num_components;
  rheos_tensor **values = rheos__alloc_array(room, sizeof *values);
  if (values == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_state; ++i) values[i] = rheos_tensor_ref(d->args[1 + i]);
  rheos__iterator *iterator = NULL;
  rheos_status *status = rheos__iterator_new_outer(d->inputs[0], step, &iterator);
  if (status == NULL) {
    rheos__call_states *before = rheos__iterator_enter(iterator, step);
    status = reduce_all(d, num_state, step, iterator, values);
    rheos__iterator_leave(step, before);
  }
  rheos__iterator_free(iterator);
  for (int32_t i = 0; status == NULL && i < num_state; ++i) {
    outputs[i] = values[i];
    values[i] = NULL;
  }
  rheos__element_clear(values, (int32_t)room);
  rheos__free(values);
  return status;
}

static rheos_status *compute_reduce(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const reduction *r = state;
  rheos__dataset *d = NULL;
  RHEOS_TRY(rheos__dataset_new(r->spec, inputs, &d));
  rheos_status *status = reduce(d, r->num_state, step, outputs);
  rheos__dataset_unref(d);
  return status != NULL ? status : check_shapes(r->attrs, outputs);
}

static rheos_status *prepare_reduce(rheos__prepare *p) {
  reduction *r = RHEOS_NEW_STATE(p, reduction);
  if (r == NULL) return rheos__out_of_memory();
  r->attrs = p->attrs;
  r->num_state = rheos__attrs_find(p->attrs, "Tstate")->count;
  if (p->num_outputs != r->num_state) {
    return RHEOS_INVALID("a reduction with %d values of state is declared to give %d",
                         (int)r->num_state, (int)p->num_outputs);
  }
  RHEOS_TRY(rheos__dataset_spec_new(p, &reduce_kind, &r->spec));
  p->release = release_reduction;
  p->compute = compute_reduce;
  return NULL;
}

static rheos_status *shape_components(rheos__infer *c) {
  const rheos_attr_value *shapes = rheos__attrs_find(c->attrs, "output_shapes");
  if (shapes->count != c->num_outputs) {
    return RHEOS_INVALID("`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                         (int)shapes->count, (int)c->num_outputs);
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = shapes->shapes[i];
  return NULL;
}

const rheos__op_def rheos__op_ReduceDataset = {
    .name = "ReduceDataset",
    .signature =
        "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> components: "
        "output_types; f: func; Tstate: list(type) >= 1; Targuments: list(type) >= "
        "0" RHEOS_DATASET_TYPES "; use_inter_op_parallelism: bool = true; metadata: string = \"\"",
    .doc = "The state that calls of `f` with the state so far and each element end with.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS,
    .shape = shape_components,
    .gradient = rheos__no_gradient,
    .prepare = prepare_reduce,
};

// ---- DatasetToSingleElement

static rheos_status *get_single(rheos__dataset *d, rheos__step *step, rheos_tensor **outputs) {
  rheos__iterator *iterator = NULL;
  bool end = false;
  RHEOS_TRY(rheos__iterator_new_outer(d, step, &iterator));
  rheos__call_states *before = rheos__iterator_enter(iterator, step);
  rheos_status *status = rheos__iterator_next(iterator, step, outputs, &end);
  if (status == NULL && end) status = RHEOS_INVALID("Dataset was empty.");
  if (status == NULL) status = rheos__iterator_skip(iterator, step, &end);
  if (status == NULL && !end) status = RHEOS_INVALID("Dataset had more than one element.");
  rheos__iterator_leave(step, before);
  rheos__iterator_free(iterator);
  return status;
}

// The dataset in a tensor, whose elements must be what the node is declared to give.
static rheos_status *check_element(const rheos__attrs *attrs, const rheos_tensor *tensor,
                                   const char *op, rheos__dataset **out_dataset) {
  const rheos_attr_value *types = rheos__attrs_find(attrs, "output_types");
  RHEOS_TRY(rheos__dataset_of(tensor, op, out_dataset));
  const rheos__dataset *d = *out_dataset;
  if (d->num_components != types->count) {
    return RHEOS_INVALID("Number of components does not match: expected %d types but got %d.",
                         (int)types->count, (int)d->num_components);
  }
  for (int32_t i = 0; i < types->count; ++i) {
    if (d->types[i] == types->types[i]) continue;
    return RHEOS_INVALID("Data type mismatch at component %d: expected %s but got %s.", (int)i,
                         rheos_dtype_name(types->types[i]), rheos_dtype_name(d->types[i]));
  }
  return NULL;
}

static rheos_status *compute_single(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const rheos__attrs *attrs = *(const rheos__attrs **)state;
  rheos__dataset *d = NULL;
  RHEOS_TRY(check_element(attrs, inputs[0], "DatasetToSingleElement", &d));
  RHEOS_TRY(get_single(d, step, outputs));
  return check_shapes(attrs, outputs);
}

static rheos_status *prepare_of_attrs(rheos__prepare *p, rheos__compute_fn compute) {
  const rheos__attrs **attrs = RHEOS_NEW_STATE(p, const rheos__attrs *);
  if (attrs == NULL) return rheos__out_of_memory();
  *attrs = p->attrs;
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_single(rheos__prepare *p) {
  return prepare_of_attrs(p, compute_single);
}

const rheos__op_def rheos__op_DatasetToSingleElement = {
    .name = "DatasetToSingleElement",
    .signature = "dataset: variant -> components: output_types" RHEOS_DATASET_TYPES
                 "; metadata: string = \"\"",
    .doc = "The element of a dataset that has one.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_components,
    .gradient = rheos__no_gradient,
    .prepare = prepare_single,
};

// ---- GetElementAtIndex

static rheos_status *not_at(const rheos__dataset *d, int64_t index, int64_t count) {
  if (count < 0) {
    return rheos_status_new(
        RHEOS_FAILED_PRECONDITION,
        "Dataset of type %s has %s cardinality, which does not support random access.",
        d->kind->name, count == RHEOS__CARDINALITY_INFINITE ? "an infinite" : "an unknown");
  }
  return rheos_status_new(RHEOS_OUT_OF_RANGE, "Index out of range [0, %lld):%lld", (long long)count,
                          (long long)index);
}

rheos_status *rheos__dataset_at(rheos__dataset *dataset, int64_t index, rheos__step *step,
                                rheos_tensor **element) {
  const int64_t count = rheos__dataset_cardinality(dataset);
  if (dataset->kind->at == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "Random access is not implemented for this dataset of type %s.",
                            dataset->kind->name);
  }
  if (index < 0 || index >= count) return not_at(dataset, index, count);
  return dataset->kind->at(dataset, index, step, element);
}

rheos_status *rheos__dataset_at_input(rheos__dataset *dataset, int64_t index, rheos__step *step,
                                      rheos_tensor **element) {
  return rheos__dataset_at(dataset->inputs[0], index, step, element);
}

static rheos_status *compute_at(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                rheos_tensor **outputs) {
  const rheos__attrs *attrs = *(const rheos__attrs **)state;
  rheos__dataset *d = NULL;
  RHEOS_TRY(check_element(attrs, inputs[0], "GetElementAtIndex", &d));
  if (inputs[1]->num_elements != 1) return RHEOS_INVALID("index must be a scalar");
  RHEOS_TRY(rheos__dataset_at(d, *(const int64_t *)inputs[1]->data, step, outputs));
  return check_shapes(attrs, outputs);
}

static rheos_status *prepare_at(rheos__prepare *p) { return prepare_of_attrs(p, compute_at); }

const rheos__op_def rheos__op_GetElementAtIndex = {
    .name = "GetElementAtIndex",
    .signature = "dataset: variant, index: int64 -> components: output_types" RHEOS_DATASET_TYPES,
    .doc = "Element `index` of a dataset that can tell it without making those before it.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_components,
    .gradient = rheos__no_gradient,
    .prepare = prepare_at,
};

// ---- DatasetCardinality

static rheos_status *compute_cardinality(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__dataset *d = NULL;
  RHEOS_TRY(rheos__dataset_of(inputs[0], "DatasetCardinality", &d));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SCALAR, &outputs[0]));
  *(int64_t *)outputs[0]->data = rheos__dataset_cardinality(d);
  return NULL;
}

#define CARDINALITY(op, attrs)                                                                   \
  const rheos__op_def rheos__op_##op = {                                                         \
      .name = #op,                                                                               \
      .signature = "input_dataset: variant -> cardinality: int64" attrs,                         \
      .doc =                                                                                     \
          "How many elements there are; -1: no end, -2: it cannot be told without making them.", \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                                      \
      .shape = rheos__shape_scalar,                                                              \
      .gradient = rheos__no_gradient,                                                            \
      .compute = compute_cardinality,                                                            \
  };
CARDINALITY(DatasetCardinality, "; cardinality_options: string = \"\"")
CARDINALITY(ExperimentalDatasetCardinality, "")

// ---- DatasetFingerprint

static rheos_status *compute_fingerprint(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__dataset *d = NULL;
  uint64_t hash = 0;
  RHEOS_TRY(rheos__dataset_of(inputs[0], "DatasetFingerprint", &d));
  RHEOS_TRY(rheos__dataset_hash(d, &hash));
  return rheos_tensor_from_values(RHEOS_UINT64, RHEOS_SCALAR, &hash, &outputs[0]);
}

const rheos__op_def rheos__op_DatasetFingerprint = {
    .name = "DatasetFingerprint",
    .signature = "input_dataset: variant -> fingerprint: uint64",
    .doc = "A number that stands for what makes the elements; not that of TensorFlow.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_fingerprint,
};
