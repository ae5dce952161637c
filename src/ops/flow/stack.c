// Stacks: what a loop forward leaves for the loop backward, version 1's way. A stack is an object
// that its handle stands for: V2's is a resource, whose element points to it, V1's a reference to a
// string that names it among the step's resources. Small items of one shape lie side by side: a
// tensor of one number takes seventy times its bytes.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ops/flow/loop_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/variable_util.h"
#include "resource/resource.h"
#include "tensor/variant.h"

enum { MOST_PACKED_BYTES = 64 };

typedef struct stack {
  rheos__variant variant;
  pthread_mutex_t mutex;
  char *name;
  rheos_dtype dtype;
  int64_t max_size;  // -1: none
  int64_t size;
  rheos_tensor **items;
  size_t capacity;
  // Or, where packed_bytes is not 0, that many of each item, all of this shape.
  size_t packed_bytes;
  rheos_shape packed_shape;
  char *bytes;
  size_t byte_capacity;
  bool is_closed;
} stack;

static void clear(stack *s) {
  for (int64_t i = 0; s->packed_bytes == 0 && i < s->size; i++) rheos_tensor_unref(s->items[i]);
  rheos__free(s->items);
  rheos__free(s->bytes);
  s->items = NULL;
  s->bytes = NULL;
  s->size = 0;
  s->capacity = s->byte_capacity = s->packed_bytes = 0;
}

static void free_stack(rheos__variant *variant) {
  stack *s = (stack *)variant;
  clear(s);
  pthread_mutex_destroy(&s->mutex);
  rheos__free(s->name);
  rheos__free(s);
}

static const rheos__variant_kind stack_kind = {.name = "Stack", .free = free_stack};

static rheos_status *new_stack(const char *name, rheos_dtype dtype, int64_t max_size,
                               stack **out_stack) {
  stack *s = rheos__alloc_zeroed(sizeof *s);
  char *copy = rheos__strdup(name);
  if (s == NULL || copy == NULL) {
    rheos__free(s);
    rheos__free(copy);
    return rheos__out_of_memory();
  }
  atomic_init(&s->variant.references, 1);
  s->variant.kind = &stack_kind;
  s->name = copy;
  s->dtype = dtype;
  s->max_size = max_size < 0 ? -1 : max_size;
  pthread_mutex_init(&s->mutex, NULL);
  *out_stack = s;
  return NULL;
}

static rheos_status *check_open(const stack *s) {
  if (!s->is_closed) return NULL;
  return RHEOS_INVALID("Stack[%s] has already been closed.", s->name);
}

static bool is_packable(const rheos_tensor *item) {
  return item->memory == NULL && item->dtype != RHEOS_STRING && item->dtype != RHEOS_VARIANT &&
         item->dtype != RHEOS_RESOURCE && item->size_bytes > 0 &&
         item->size_bytes <= MOST_PACKED_BYTES;
}

static rheos_status *packed_item(const stack *s, int64_t index, rheos_tensor **out_item) {
  RHEOS_TRY(rheos__tensor_new(s->dtype, &s->packed_shape, out_item));
  memcpy((*out_item)->data, s->bytes + (size_t)index * s->packed_bytes, s->packed_bytes);
  return NULL;
}

static rheos_status *unpack(stack *s) {
  if (!RHEOS_RESERVE(s->items, s->capacity, (size_t)s->size)) return rheos__out_of_memory();
  for (int64_t i = 0; i < s->size; i++) {
    rheos_status *status = packed_item(s, i, &s->items[i]);
    if (status == NULL) continue;
    while (--i >= 0) rheos_tensor_unref(s->items[i]);
    return status;
  }
  s->packed_bytes = 0;
  return NULL;
}

// An empty stack takes what comes as it comes.
static rheos_status *choose_form(stack *s, const rheos_tensor *item) {
  if (s->size == 0) {
    s->packed_bytes = is_packable(item) ? item->size_bytes : 0;
    s->packed_shape = item->shape;
  }
  if (s->packed_bytes == 0) return NULL;
  if (item->memory == NULL && rheos_shape_equal(&s->packed_shape, &item->shape)) return NULL;
  return unpack(s);
}

static rheos_status *push(stack *s, rheos_tensor *item) {
  RHEOS_TRY(check_open(s));
  if (s->max_size >= 0 && s->size >= s->max_size) {
    return RHEOS_INVALID("Stack[%s] overflowed its max_size (%lld)", s->name,
                         (long long)s->max_size);
  }
  RHEOS_TRY(choose_form(s, item));
  if (s->packed_bytes > 0) {
    const size_t used = (size_t)s->size * s->packed_bytes;
    if (!RHEOS_RESERVE(s->bytes, s->byte_capacity, used + s->packed_bytes)) {
      return rheos__out_of_memory();
    }
    memcpy(s->bytes + used, item->data, s->packed_bytes);
    s->size++;
    return NULL;
  }
  if (!RHEOS_RESERVE(s->items, s->capacity, (size_t)s->size + 1)) return rheos__out_of_memory();
  s->items[s->size++] = rheos_tensor_ref(item);
  return NULL;
}

static rheos_status *pop(stack *s, rheos_tensor **out_item) {
  RHEOS_TRY(check_open(s));
  if (s->size == 0) {
    return RHEOS_INVALID("Stack[%s] is empty when calling Pop().", s->name);
  }
  if (s->packed_bytes > 0) {
    RHEOS_TRY(packed_item(s, s->size - 1, out_item));
    s->size--;
    return NULL;
  }
  *out_item = s->items[--s->size];
  return NULL;
}

// ---- Handles

typedef struct stack_op {
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  int32_t num_inputs;
  const char *node_name;
  rheos__variable_cell *from;  // behind a handle that is a reference, else NULL
  rheos__variable_cell *made;  // behind the reference that the op gives, else NULL
} stack_op;

typedef struct slot {
  rheos__resource base;
  stack *stack;  // NULL: none of that name
} slot;

static void deinit_slot(rheos__resource *resource) {
  stack *s = ((slot *)resource)->stack;
  if (s != NULL) rheos__variant_unref(&s->variant);
}

static const rheos__resource_kind slot_kind = {"stack", sizeof(slot), NULL, deinit_slot};

static rheos_status *slot_of(rheos__step *step, const char *name, slot **out_slot) {
  rheos__resources *resources = rheos__step_resources(step);
  rheos__resource *found = NULL;
  if (resources == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__resources_get(resources, &slot_kind, name, NULL, &found));
  *out_slot = (slot *)found;
  rheos__resource_unref(found);  // the step keeps it
  return NULL;
}

static rheos_status *stack_of_cell(rheos__step *step, rheos__variable_cell *cell,
                                   stack **out_stack) {
  slot *found = NULL;
  RHEOS_TRY(slot_of(step, cell->base.name, &found));
  *out_stack = found->stack;
  return found->stack != NULL ? NULL : RHEOS_NOTFOUND("this step has no %s", cell->base.name);
}

// The stack behind input 0, borrowed.
static rheos_status *stack_of(const stack_op *o, rheos__step *step, const rheos_tensor *handle,
                              stack **out_stack) {
  if (o->from != NULL) return stack_of_cell(step, o->from, out_stack);
  return rheos__handle_object(handle, &stack_kind, o->op->name, (rheos__variant **)out_stack);
}

static void release(void *state) {
  stack_op *o = state;
  if (o->made != NULL) rheos__resource_unref(&o->made->base);
}

// The cell behind the reference that the node gives: a string that is the stack's name.
static rheos_status *make_cell(rheos__prepare *p, stack_op *o) {
  RHEOS_TRY(rheos__string_cell_new(p, "stack", &o->made));
  p->release = release;
  p->output_resource = &o->made->base;
  return NULL;
}

static rheos_status *prepare_stack(rheos__prepare *p) {
  stack_op *o = RHEOS_NEW_STATE(p, stack_op);
  const char *name = rheos__arena_strdup(p->arena, p->node_name);
  if (o == NULL || name == NULL) return rheos__out_of_memory();
  *o = (stack_op){.op = p->op, .attrs = p->attrs, .num_inputs = p->num_inputs, .node_name = name};
  RHEOS_TRY(rheos__string_cell_of(p, &o->from));
  p->compute = p->op->compute;
  return p->num_inputs == 0 ? make_cell(p, o) : NULL;
}

// ---- Stack, StackV2

static const char *name_of(const stack_op *o) {
  const char *name = rheos__attr_string(o->attrs, "stack_name");
  return name != NULL && name[0] != '\0' ? name : o->node_name;
}

static rheos_status *compute_make(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const stack_op *o = state;
  int64_t max_size = -1;
  if (o->num_inputs > 0) {
    if (inputs[0]->shape.rank != 0) {
      rheos__shape_text text;
      return RHEOS_INVALID("Stack size must be scalar, but had shape: %s",
                           rheos__shape_text_of(&inputs[0]->shape, &text));
    }
    max_size = rheos__tensor_int_at(inputs[0], 0);
  }
  stack *made = NULL;
  RHEOS_TRY(new_stack(name_of(o), rheos__attr_type(o->attrs, "elem_type"), max_size, &made));
  if (o->made == NULL) {
    return rheos__handle_tensor_take(&made->variant, &RHEOS_SHAPE(2), &outputs[0]);
  }
  slot *place = NULL;
  rheos_status *status = slot_of(step, o->made->base.name, &place);
  if (status != NULL) {
    rheos__variant_unref(&made->variant);
    return status;
  }
  if (place->stack != NULL) rheos__variant_unref(&place->stack->variant);
  place->stack = made;
  return NULL;
}

// Of resources too, as TensorFlow says of them.
static rheos_status *shape_make(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SHAPE(2);
  return NULL;
}

#define STACK_OP_WITH(NAME, FLAGS, SIGNATURE, DOC, SHAPE, GRADIENT, COMPUTE)                \
  const rheos__op_def rheos__op_##NAME = {                                                  \
      .name = #NAME,                                                                        \
      .signature = SIGNATURE,                                                               \
      .doc = DOC,                                                                           \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | (FLAGS), \
      .shape = SHAPE,                                                                       \
      .gradient = GRADIENT,                                                                 \
      .prepare = prepare_stack,                                                             \
      .compute = COMPUTE,                                                                   \
  };
#define STACK_OP(NAME, SIGNATURE, DOC, SHAPE, COMPUTE) \
  STACK_OP_WITH(NAME, 0, SIGNATURE, DOC, SHAPE, rheos__no_gradient, COMPUTE)

STACK_OP(Stack, "-> handle: Ref(string); elem_type: type; stack_name: string = \"\"",
         "A stack of tensors that lasts as long as the step.", shape_make, compute_make)
STACK_OP(StackV2, "max_size: int32 -> handle: resource; elem_type: type; stack_name: string = \"\"",
         "A stack of tensors, at most `max_size` if that is not negative.", shape_make,
         compute_make)

// ---- StackPush, StackPop, StackClose

static rheos_status *compute_push(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  stack *s = NULL;
  RHEOS_TRY(stack_of(state, step, inputs[0], &s));
  if (s->dtype != inputs[1]->dtype) {
    return RHEOS_INVALID("Must have type %s but got %s", rheos_dtype_name(s->dtype),
                         rheos_dtype_name(inputs[1]->dtype));
  }
  rheos_tensor *item = NULL;
  RHEOS_TRY(rheos__tensor_keep(inputs[1], &item));
  pthread_mutex_lock(&s->mutex);
  rheos_status *status = push(s, item);
  pthread_mutex_unlock(&s->mutex);
  if (status != NULL) {
    rheos_tensor_unref(item);
    return status;
  }
  outputs[0] = item;
  return NULL;
}

static rheos_status *shape_push(rheos__infer *c) {
  c->output_shapes[0] = c->input_shapes[1];
  return NULL;
}

static rheos_status *compute_pop(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const stack_op *o = state;
  stack *s = NULL;
  RHEOS_TRY(stack_of(o, step, inputs[0], &s));
  const rheos_dtype asked = rheos__attr_type(o->attrs, "elem_type");
  if (s->dtype != asked) {
    return rheos_status_new(RHEOS_INTERNAL, "Stack[%s] has elements of %s, not %s", s->name,
                            rheos_dtype_name(s->dtype), rheos_dtype_name(asked));
  }
  pthread_mutex_lock(&s->mutex);
  rheos_status *status = pop(s, &outputs[0]);
  pthread_mutex_unlock(&s->mutex);
  return status;
}

static rheos_status *shape_close(rheos__infer *c) { return rheos__infer_pair(c, 0); }

static rheos_status *compute_close(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)outputs;
  stack *s = NULL;
  RHEOS_TRY(stack_of(state, step, inputs[0], &s));
  pthread_mutex_lock(&s->mutex);
  clear(s);
  s->is_closed = true;
  pthread_mutex_unlock(&s->mutex);
  return NULL;
}

void rheos__gradient_stack_push(rheos__grad *g) { (void)g; }

// What is popped was pushed by a loop that this one computes gradients of.
static void gradient_pop(rheos__grad *g) { rheos__refuse_second_order(g->scope); }

#define PUSH_DOC "Puts `elem` on the stack. `swap_memory` is accepted: it stays where it is."
STACK_OP_WITH(StackPush, 0,
              "handle: Ref(string), elem: T -> output: T; T: type; swap_memory: bool = false",
              PUSH_DOC, shape_push, rheos__gradient_stack_push, compute_push)
STACK_OP_WITH(StackPushV2, 0,
              "handle: resource, elem: T -> output: T; T: type; swap_memory: bool = false",
              PUSH_DOC, shape_push, rheos__gradient_stack_push, compute_push)
// The gradient says what shape they have, of which it knows what was pushed.
STACK_OP_WITH(StackPop, RHEOS_OP_SHAPES_OF_GRAPH,
              "handle: Ref(string) -> elem: elem_type; elem_type: type",
              "Takes the latest element from the stack.", rheos__shape_none, gradient_pop,
              compute_pop)
STACK_OP_WITH(StackPopV2, RHEOS_OP_SHAPES_OF_GRAPH,
              "handle: resource -> elem: elem_type; elem_type: type",
              "Takes the latest element from the stack.", rheos__shape_none, gradient_pop,
              compute_pop)
STACK_OP(StackClose, "handle: Ref(string) ->", "Lets go of the stack's elements.", shape_close,
         compute_close)
STACK_OP(StackCloseV2, "handle: resource ->", "Lets go of the stack's elements.", shape_close,
         compute_close)
