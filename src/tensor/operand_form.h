// Forms of operands: a kernel may want an operand in another form than the one it comes in, such as the
// weights of a layer in the order that its loops read them. Where the operand stays from step to step,
// a constant or a variable, that form is made once and kept by the session, for all steps that want
// the same one; it is made again when the variable has changed.
//
// A large form is made when it is wanted of the same bytes for the second time: memory that no
// process had before costs more than the first step gains by it, and a step may be the only one.
//
// A form holds on to neither the variable's tensor nor its bytes: it knows them by
// rheos__tensor_content(), so that a variable is still changed in place. Steps take a reference to
// the form's own tensor: one that goes on with the value from before a change keeps the form of that.
#ifndef RHEOS_SRC_TENSOR_OPERAND_FORM_H
#define RHEOS_SRC_TENSOR_OPERAND_FORM_H

#include "tensor/resource.h"

// What a kernel says of the form it wants.
typedef struct rheos__form_wish {
  int32_t input;  // the operand
  size_t bytes;   // of the form; 0: none is wanted
  bool at_once;   // it is small, or there is no way without: made when it is first wanted
  // What the form depends on besides the operand's bytes: forms by the same `make` with equal keys are
  // equal. Copied.
  const void *key;
  size_t key_bytes;
  rheos_status *(*make)(const void *state, const void *from, void *form);  // aligned to 64 bytes
  const void *state;
} rheos__form_wish;

// What a kernel with such a wish finds in the operand's place.
typedef struct rheos__formed {
  const void *plain;  // the operand as it came
  const void *form;   // NULL: there is none yet
} rheos__formed;

typedef struct rheos__forms rheos__forms;  // all of a session
typedef struct rheos__form rheos__form;

// Counted: forms keep the table. NULL when memory is short.
rheos__forms *rheos__forms_new(void);
void rheos__forms_unref(rheos__forms *forms);

// The form of what is in the variable `cell`, or if that is NULL of the tensor `constant`; there may be
// one already. Either is kept as long as the form. The caller gets a reference.
rheos_status *rheos__forms_get(rheos__forms *forms, rheos__resource *cell, rheos_tensor *constant,
                               const rheos__form_wish *wish, rheos__form **out_form);
void rheos__form_unref(rheos__form *form);

// The form of `from`, which came out of the variable or is the constant, with a reference; made by
// `wish` unless it is there. NULL where it is not made yet.
rheos_status *rheos__form_take(rheos__form *form, const rheos__form_wish *wish, rheos_tensor *from,
                               rheos_tensor **out_form);

// What the forms take that were made and are still there, and how often forms were made, for tests.
size_t rheos__forms_bytes(rheos__forms *forms);
int64_t rheos__forms_made(const rheos__forms *forms);

#endif  // RHEOS_SRC_TENSOR_OPERAND_FORM_H
