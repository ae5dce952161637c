// Fused loops as machine code, by LLVM's C interface. The loop is written down in vectors as wide
// as the processor's, four at a time, then one, then single numbers: nothing is left to LLVM's
// optimizer, which would take longer than all the rest. No flag lets LLVM change a result: each
// operation is rounded by itself, as the rows do it (unary.c, binary.c, compare.c and
// cast.c in ops/math/, activation.c in ops/nn/).
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/fused_float.h"
#include "device/cpu/loop_program.h"
#include "rheos/base.h"
#include "rheos/tensor.h"

enum { CHUNKS = 4, PLACES = 256, KINDS = RHEOS__LOOP_STEP };

typedef struct machine {
  LLVMOrcLLJITRef jit;
  int32_t vector_bytes;
  bool rounds;       // has an instruction for floor()
  bool has_refused;  // the loop that is compiled
} machine;

typedef struct emitter {
  const machine *m;
  const rheos__loop_program *p;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMValueRef function;
  int32_t lanes;                    // of a whole vector
  LLVMValueRef places[PLACES];      // addresses, those that are used
  LLVMValueRef numbers[PLACES][2];  // of kind NUMBER or COLUMN: alone, and in all lanes
  LLVMValueRef base, position;      // of the run: element in what moves on, and in a row
  // In the body of a loop
  int32_t width, chunks;  // lanes of a vector, vectors
  LLVMValueRef index;
  LLVMValueRef values[RHEOS__PROGRAM_STEPS][CHUNKS];
  LLVMValueRef loaded[PLACES][2][CHUNKS];  // of kind EACH and ROW
} emitter;

// ---- Types and constants

static LLVMTypeRef stored_type(const emitter *e, int dtype) {
  switch (dtype) {
    case RHEOS_FLOAT: return LLVMFloatTypeInContext(e->context);
    case RHEOS_DOUBLE: return LLVMDoubleTypeInContext(e->context);
    case RHEOS_INT32: return LLVMInt32TypeInContext(e->context);
    case RHEOS_INT64: return LLVMInt64TypeInContext(e->context);
    default: return LLVMInt8TypeInContext(e->context);  // bool
  }
}

static LLVMTypeRef computed_type(const emitter *e, int dtype) {
  return dtype == RHEOS_BOOL ? LLVMInt1TypeInContext(e->context) : stored_type(e, dtype);
}

static int32_t bytes_of(int dtype) {
  return dtype == RHEOS_BOOL ? 1 : dtype == RHEOS_DOUBLE || dtype == RHEOS_INT64 ? 8 : 4;
}

static bool is_float(int dtype) { return dtype == RHEOS_FLOAT || dtype == RHEOS_DOUBLE; }

static LLVMTypeRef wide(LLVMTypeRef type, int32_t width) {
  return width == 1 ? type : LLVMVectorType(type, (unsigned)width);
}

static LLVMValueRef int64(const emitter *e, int64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(e->context), (unsigned long long)value, true);
}

// In all lanes.
static LLVMValueRef constant(const emitter *e, int dtype, double value) {
  enum { MAX_LANES = 64 };
  LLVMTypeRef type = computed_type(e, dtype);
  LLVMValueRef one = is_float(dtype) ? LLVMConstReal(type, value)
                                     : LLVMConstInt(type, (unsigned long long)(int64_t)value, true);
  LLVMValueRef all[MAX_LANES];
  if (e->width == 1) return one;
  for (int32_t i = 0; i < e->width; i++) all[i] = one;
  return LLVMConstVector(all, (unsigned)e->width);
}

// ---- The operations on a vector, in the words of the rows

static LLVMValueRef call(emitter *e, const char *name, LLVMValueRef x) {
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
  return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, &type, 1), f, &x, 1, "");
}

static LLVMValueRef add(emitter *e, int dtype, LLVMValueRef x, LLVMValueRef y) {
  return is_float(dtype) ? LLVMBuildFAdd(e->b, x, y, "") : LLVMBuildAdd(e->b, x, y, "");
}
static LLVMValueRef sub(emitter *e, int dtype, LLVMValueRef x, LLVMValueRef y) {
  return is_float(dtype) ? LLVMBuildFSub(e->b, x, y, "") : LLVMBuildSub(e->b, x, y, "");
}
static LLVMValueRef mul(emitter *e, int dtype, LLVMValueRef x, LLVMValueRef y) {
  return is_float(dtype) ? LLVMBuildFMul(e->b, x, y, "") : LLVMBuildMul(e->b, x, y, "");
}
static LLVMValueRef neg(emitter *e, int dtype, LLVMValueRef x) {
  return is_float(dtype) ? LLVMBuildFNeg(e->b, x, "") : LLVMBuildNeg(e->b, x, "");
}
static LLVMValueRef divide(emitter *e, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFDiv(e->b, x, y, "");
}
static LLVMValueRef choose(emitter *e, LLVMValueRef test, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(e->b, test, x, y, "");
}

// x OP y, false for NaN but for !=.
typedef enum order { GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL } order;
static LLVMValueRef compare(emitter *e, int dtype, order o, LLVMValueRef x, LLVMValueRef y) {
  static const LLVMRealPredicate reals[] = {LLVMRealOGT, LLVMRealOGE, LLVMRealOLT,
                                            LLVMRealOLE, LLVMRealOEQ, LLVMRealUNE};
  static const LLVMIntPredicate whole[] = {LLVMIntSGT, LLVMIntSGE, LLVMIntSLT,
                                           LLVMIntSLE, LLVMIntEQ,  LLVMIntNE};
  return is_float(dtype) ? LLVMBuildFCmp(e->b, reals[o], x, y, "")
                         : LLVMBuildICmp(e->b, whole[o], x, y, "");
}

// Of two numbers the one that is `o` the other, the first if that is NaN.
static LLVMValueRef extreme(emitter *e, int dtype, order o, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef first = compare(e, dtype, o, x, y);
  if (is_float(dtype)) first = LLVMBuildOr(e->b, first, compare(e, dtype, NOT_EQUAL, x, x), "");
  return choose(e, first, x, y);
}

// y == 0 ? 0 : value
static LLVMValueRef unless_zero(emitter *e, int dtype, LLVMValueRef y, LLVMValueRef value) {
  LLVMValueRef zero = constant(e, dtype, 0);
  return choose(e, compare(e, dtype, EQUAL, y, zero), zero, value);
}

static LLVMValueRef absolute(emitter *e, int dtype, LLVMValueRef x) {
  if (is_float(dtype)) return call(e, "llvm.fabs", x);
  return choose(e, compare(e, dtype, LESS, x, constant(e, dtype, 0)), neg(e, dtype, x), x);
}

static LLVMValueRef sign(emitter *e, int dtype, LLVMValueRef x) {
  LLVMValueRef zero = constant(e, dtype, 0);
  LLVMValueRef below = choose(e, compare(e, dtype, LESS, x, zero), constant(e, dtype, -1), x);
  return choose(e, compare(e, dtype, GREATER, x, zero), constant(e, dtype, 1), below);
}

static LLVMValueRef cast(emitter *e, int from, int to, LLVMValueRef x) {
  LLVMTypeRef type = wide(computed_type(e, to), e->width);
  if (from == to) return x;
  if (to == RHEOS_BOOL) return compare(e, from, NOT_EQUAL, x, constant(e, from, 0));
  if (is_float(from)) return LLVMBuildFPCast(e->b, x, type, "");  // to the other one
  if (is_float(to)) {
    return from == RHEOS_BOOL ? LLVMBuildUIToFP(e->b, x, type, "")
                              : LLVMBuildSIToFP(e->b, x, type, "");
  }
  if (from == RHEOS_BOOL) return LLVMBuildZExt(e->b, x, type, "");
  return to == RHEOS_INT64 ? LLVMBuildSExt(e->b, x, type, "") : LLVMBuildTrunc(e->b, x, type, "");
}

// NULL if there is none.
static LLVMValueRef operation(emitter *e, const rheos__loop_step *s, LLVMValueRef x, LLVMValueRef y,
                              LLVMValueRef z) {
  const int t = s->dtype;
  LLVMBuilderRef b = e->b;
  LLVMValueRef one = NULL, zero = NULL;
  if (t != RHEOS_BOOL) one = constant(e, t, 1), zero = constant(e, t, 0);
  switch ((rheos__simple)s->code) {
    case RHEOS__SIMPLE_ADD: return z == NULL ? add(e, t, x, y) : add(e, t, add(e, t, x, y), z);
    case RHEOS__SIMPLE_SUB: return sub(e, t, x, y);
    case RHEOS__SIMPLE_MUL: return mul(e, t, x, y);
    case RHEOS__SIMPLE_DIV: return divide(e, x, y);
    case RHEOS__SIMPLE_MAXIMUM: return extreme(e, t, GREATER, x, y);
    case RHEOS__SIMPLE_MINIMUM: return extreme(e, t, LESS, x, y);
    case RHEOS__SIMPLE_SQUARED_DIFFERENCE: x = sub(e, t, x, y); return mul(e, t, x, x);
    case RHEOS__SIMPLE_TANH_GRAD: return mul(e, t, y, sub(e, t, one, mul(e, t, x, x)));
    case RHEOS__SIMPLE_SIGMOID_GRAD: return mul(e, t, mul(e, t, y, x), sub(e, t, one, x));
    case RHEOS__SIMPLE_RELU_GRAD:
      return mul(e, t, x, choose(e, compare(e, t, GREATER, y, zero), one, zero));
    case RHEOS__SIMPLE_NEG: return neg(e, t, x);
    case RHEOS__SIMPLE_ABS: return absolute(e, t, x);
    case RHEOS__SIMPLE_SQUARE: return mul(e, t, x, x);
    case RHEOS__SIMPLE_RELU: return choose(e, compare(e, t, LESS, x, zero), zero, x);
    case RHEOS__SIMPLE_RECIPROCAL: return divide(e, one, x);
    case RHEOS__SIMPLE_DIV_NO_NAN: return unless_zero(e, t, y, divide(e, x, y));
    case RHEOS__SIMPLE_MUL_NO_NAN: return unless_zero(e, t, y, mul(e, t, x, y));
    case RHEOS__SIMPLE_SQRT: return call(e, "llvm.sqrt", x);
    case RHEOS__SIMPLE_RSQRT: return divide(e, one, call(e, "llvm.sqrt", x));
    case RHEOS__SIMPLE_FLOOR: return e->m->rounds ? call(e, "llvm.floor", x) : NULL;
    case RHEOS__SIMPLE_CEIL: return e->m->rounds ? call(e, "llvm.ceil", x) : NULL;
    case RHEOS__SIMPLE_RINT: return e->m->rounds ? call(e, "llvm.rint", x) : NULL;
    case RHEOS__SIMPLE_SIGN: return sign(e, t, x);
    case RHEOS__SIMPLE_RELU6:
      y = constant(e, t, 6);
      y = choose(e, compare(e, t, GREATER, x, y), y, x);
      return choose(e, compare(e, t, LESS, x, zero), zero, y);
    case RHEOS__SIMPLE_LEAKY_RELU:
      y = mul(e, t, x, constant(e, t, s->parameter));
      return choose(e, compare(e, t, GREATER, x, zero), x, y);
    case RHEOS__SIMPLE_SQRT_GRAD:
      return unless_zero(e, t, y, divide(e, mul(e, t, constant(e, t, 0.5), y), x));
    case RHEOS__SIMPLE_RSQRT_GRAD:
      z = mul(e, t, mul(e, t, constant(e, t, -0.5), y), x);
      return unless_zero(e, t, y, mul(e, t, mul(e, t, z, x), x));
    case RHEOS__SIMPLE_RECIPROCAL_GRAD:
      return unless_zero(e, t, y, mul(e, t, mul(e, t, neg(e, t, y), x), x));
    case RHEOS__SIMPLE_GREATER: return compare(e, t, GREATER, x, y);
    case RHEOS__SIMPLE_GREATER_EQUAL: return compare(e, t, GREATER_EQUAL, x, y);
    case RHEOS__SIMPLE_LESS: return compare(e, t, LESS, x, y);
    case RHEOS__SIMPLE_LESS_EQUAL: return compare(e, t, LESS_EQUAL, x, y);
    case RHEOS__SIMPLE_EQUAL: return compare(e, t, EQUAL, x, y);
    case RHEOS__SIMPLE_NOT_EQUAL: return compare(e, t, NOT_EQUAL, x, y);
    case RHEOS__SIMPLE_LOGICAL_AND: return LLVMBuildAnd(b, x, y, "");
    case RHEOS__SIMPLE_LOGICAL_OR: return LLVMBuildOr(b, x, y, "");
    case RHEOS__SIMPLE_LOGICAL_NOT: return LLVMBuildNot(b, x, "");
    case RHEOS__SIMPLE_SELECT: return choose(e, x, y, z);
    case RHEOS__SIMPLE_CAST: return cast(e, t, s->out_dtype, x);
    default: return NULL;
  }
}

// ---- Reading and writing

// The dtype of operand k: what Select chooses by is a bool.
static int dtype_of(const rheos__loop_step *s, int32_t k) {
  return s->code == RHEOS__SIMPLE_SELECT && k == 0 ? RHEOS_BOOL : s->dtype;
}

// The address of element `at` of a place.
static LLVMValueRef address(emitter *e, int32_t place, int dtype, LLVMValueRef at,
                            LLVMTypeRef type) {
  LLVMValueRef bytes = LLVMBuildMul(e->b, at, int64(e, bytes_of(dtype)), "");
  LLVMValueRef a = LLVMBuildInBoundsGEP2(e->b, LLVMInt8TypeInContext(e->context), e->places[place],
                                         &bytes, 1, "");
  return LLVMBuildBitCast(e->b, a, LLVMPointerType(type, 0), "");
}

static LLVMValueRef load_at(emitter *e, int32_t place, int dtype, LLVMValueRef at, int32_t width) {
  LLVMTypeRef type = wide(stored_type(e, dtype), width);
  LLVMValueRef x = LLVMBuildLoad2(e->b, type, address(e, place, dtype, at, type), "");
  LLVMSetAlignment(x, (unsigned)bytes_of(dtype));
  if (dtype != RHEOS_BOOL) return x;
  return LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(type), "");
}

static LLVMValueRef splat(emitter *e, LLVMValueRef x, int32_t width) {
  LLVMTypeRef type = wide(LLVMTypeOf(x), width);
  LLVMTypeRef lane = LLVMInt32TypeInContext(e->context);
  LLVMValueRef first = LLVMBuildInsertElement(e->b, LLVMGetUndef(type), x, LLVMConstNull(lane), "");
  LLVMValueRef zeros = LLVMConstNull(wide(lane, width));
  return LLVMBuildShuffleVector(e->b, first, LLVMGetUndef(type), zeros, "");
}

// Where chunk c begins, from `start` on.
static LLVMValueRef element_of(emitter *e, LLVMValueRef start, int32_t c) {
  LLVMValueRef at = LLVMBuildAdd(e->b, e->index, int64(e, (int64_t)c * e->width), "");
  return start == NULL ? at : LLVMBuildAdd(e->b, start, at, "");
}

static LLVMValueRef operand(emitter *e, const rheos__loop_step *s, int32_t k, int32_t c) {
  const rheos__loop_input in = s->in[k];
  if (in.kind == RHEOS__LOOP_STEP) return e->values[in.from][c];
  if (in.kind == RHEOS__LOOP_NUMBER || in.kind == RHEOS__LOOP_COLUMN) {
    return e->numbers[in.from][e->width > 1];
  }
  const int32_t is_row = in.kind == RHEOS__LOOP_ROW;
  LLVMValueRef *slot = &e->loaded[in.from][is_row][c];
  if (*slot == NULL) {
    LLVMValueRef at = element_of(e, is_row ? e->position : e->base, c);
    *slot = load_at(e, in.from, dtype_of(s, k), at, e->width);
  }
  return *slot;
}

static void store(emitter *e, const rheos__loop_step *s, int32_t c, LLVMValueRef value) {
  LLVMTypeRef type = wide(stored_type(e, s->out_dtype), e->width);
  if (s->out_dtype == RHEOS_BOOL) value = LLVMBuildZExt(e->b, value, type, "");
  LLVMValueRef to = address(e, s->out, s->out_dtype, element_of(e, e->base, c), type);
  LLVMSetAlignment(LLVMBuildStore(e->b, value, to), (unsigned)bytes_of(s->out_dtype));
}

// All steps on `chunks` vectors of `width` lanes from e->index on.
static bool body(emitter *e) {
  memset(e->loaded, 0, sizeof e->loaded);
  for (int32_t i = 0; i < e->p->num_steps; i++) {
    const rheos__loop_step *s = &e->p->steps[i];
    for (int32_t c = 0; c < e->chunks; c++) {
      LLVMValueRef in[RHEOS__PROGRAM_INPUTS] = {NULL};
      for (int32_t k = 0; k < s->num_in; k++) in[k] = operand(e, s, k, c);
      e->values[i][c] = operation(e, s, in[0], in[1], in[2]);
      if (e->values[i][c] == NULL) return false;
      if (s->is_stored) store(e, s, c, e->values[i][c]);
      if (s->is_stored) e->loaded[s->out][0][c] = e->values[i][c];
    }
  }
  return true;
}

// ---- Loops

static LLVMBasicBlockRef new_block(emitter *e) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, "");
}

static LLVMValueRef begin_phi(emitter *e, LLVMValueRef first, LLVMBasicBlockRef from) {
  LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMInt64TypeInContext(e->context), "");
  LLVMAddIncoming(phi, &first, &from, 1);
  return phi;
}

// Elements from `from` on while `width` * `chunks` are left of `count`; gives where it ends.
static LLVMValueRef span(emitter *e, LLVMValueRef from, LLVMValueRef count, int32_t width,
                         int32_t chunks) {
  LLVMValueRef step = int64(e, (int64_t)width * chunks);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), loop = new_block(e), after = new_block(e);
  LLVMValueRef end = LLVMBuildAdd(e->b, from, step, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLE, end, count, ""), loop, after);
  LLVMPositionBuilderAtEnd(e->b, loop);
  e->index = begin_phi(e, from, before);
  e->width = width;
  e->chunks = chunks;
  if (!body(e)) return NULL;
  LLVMBasicBlockRef last = LLVMGetInsertBlock(e->b);
  LLVMValueRef next = LLVMBuildAdd(e->b, e->index, step, "");
  LLVMAddIncoming(e->index, &next, &last, 1);
  end = LLVMBuildAdd(e->b, next, step, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLE, end, count, ""), loop, after);
  LLVMPositionBuilderAtEnd(e->b, after);
  LLVMValueRef result = begin_phi(e, from, before);
  LLVMAddIncoming(result, &next, &last, 1);
  return result;
}

static bool run_of(emitter *e, LLVMValueRef count) {
  LLVMValueRef at = span(e, int64(e, 0), count, e->lanes, CHUNKS);
  if (at != NULL) at = span(e, at, count, e->lanes, 1);
  return at != NULL && span(e, at, count, 1, 1) != NULL;
}

// Reads what operands of kind `kind` have in common for a run: `at` is the number of the element.
static void load_numbers(emitter *e, rheos__loop_kind kind, LLVMValueRef at) {
  for (int32_t i = 0; i < e->p->num_steps; i++) {
    const rheos__loop_step *s = &e->p->steps[i];
    for (int32_t k = 0; k < s->num_in; k++) {
      if (s->in[k].kind != kind || e->numbers[s->in[k].from][0] != NULL) continue;
      LLVMValueRef x = load_at(e, s->in[k].from, dtype_of(s, k), at, 1);
      e->numbers[s->in[k].from][0] = x;
      e->numbers[s->in[k].from][1] = splat(e, x, e->lanes);
    }
  }
}

static void load_place(emitter *e, LLVMValueRef places, int32_t place) {
  if (e->places[place] != NULL) return;
  LLVMTypeRef type = LLVMPointerType(LLVMInt8TypeInContext(e->context), 0);
  LLVMValueRef at = int64(e, place);
  LLVMValueRef from = LLVMBuildInBoundsGEP2(e->b, type, places, &at, 1, "");
  e->places[place] = LLVMBuildLoad2(e->b, type, from, "");
}

// A run a row: from `begin` % inner on first, then from the start of each.
static bool rows(emitter *e, LLVMValueRef begin, LLVMValueRef count, LLVMValueRef inner) {
  LLVMBuilderRef b = e->b;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), loop = new_block(e), after = new_block(e);
  LLVMValueRef zero = int64(e, 0);
  LLVMValueRef first_position = LLVMBuildURem(b, begin, inner, "");
  LLVMValueRef first_row = LLVMBuildUDiv(b, begin, inner, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, zero, count, ""), loop, after);
  LLVMPositionBuilderAtEnd(b, loop);
  e->base = begin_phi(e, zero, before);
  e->position = begin_phi(e, first_position, before);
  LLVMValueRef row = begin_phi(e, first_row, before);
  load_numbers(e, RHEOS__LOOP_COLUMN, row);
  LLVMValueRef left = LLVMBuildSub(b, count, e->base, "");
  LLVMValueRef n = LLVMBuildSub(b, inner, e->position, "");
  n = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, n, left, ""), n, left, "");
  if (!run_of(e, n)) return false;
  LLVMBasicBlockRef last = LLVMGetInsertBlock(b);
  LLVMValueRef next_base = LLVMBuildAdd(b, e->base, n, "");
  LLVMValueRef next_row = LLVMBuildAdd(b, row, int64(e, 1), "");
  LLVMAddIncoming(e->base, &next_base, &last, 1);
  LLVMAddIncoming(e->position, &zero, &last, 1);
  LLVMAddIncoming(row, &next_row, &last, 1);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next_base, count, ""), loop, after);
  LLVMPositionBuilderAtEnd(b, after);
  return true;
}

static void add_attribute(emitter *e, const char *name, const char *value) {
  LLVMAttributeRef a = LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name), value,
                                                 (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(e->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

static bool emit_function(emitter *e, const char *name) {
  LLVMTypeRef byte = LLVMInt8TypeInContext(e->context), whole = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef arguments[] = {LLVMPointerType(LLVMPointerType(byte, 0), 0), whole, whole, whole};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), arguments, 4, false);
  e->function = LLVMAddFunction(e->module, name, type);
  add_attribute(e, "prefer-vector-width", "512");
  add_attribute(e, "min-legal-vector-width", "512");
  LLVMPositionBuilderAtEnd(e->b, new_block(e));
  LLVMValueRef places = LLVMGetParam(e->function, 0), count = LLVMGetParam(e->function, 2);
  for (int32_t i = 0; i < e->p->num_steps; i++) {
    const rheos__loop_step *s = &e->p->steps[i];
    for (int32_t k = 0; k < s->num_in; k++) {
      if (s->in[k].kind != RHEOS__LOOP_STEP) load_place(e, places, s->in[k].from);
    }
    if (s->is_stored) load_place(e, places, s->out);
  }
  load_numbers(e, RHEOS__LOOP_NUMBER, int64(e, 0));
  const bool made = e->p->has_rows
                        ? rows(e, LLVMGetParam(e->function, 1), count, LLVMGetParam(e->function, 3))
                        : run_of(e, count);
  if (made) LLVMBuildRetVoid(e->b);
  return made;
}

// As many lanes as fit a vector of the widest numbers.
static int32_t lanes_of(const machine *m, const rheos__loop_program *p) {
  int32_t widest = 4;
  for (int32_t i = 0; i < p->num_steps; i++) {
    if (bytes_of(p->steps[i].dtype) > widest) widest = bytes_of(p->steps[i].dtype);
    if (bytes_of(p->steps[i].out_dtype) > widest) widest = bytes_of(p->steps[i].out_dtype);
  }
  return m->vector_bytes / widest;
}

// ---- The compiler

static bool succeeded(LLVMErrorRef error) {
  if (error != NULL) LLVMConsumeError(error);
  return error == NULL;
}

static bool has(const char *features, const char *feature) {
  return strstr(features, feature) != NULL;
}

static bool start(machine *m) {
  char *features = LLVMGetHostCPUFeatures();
  m->vector_bytes = has(features, "+avx512vl") ? 64 : has(features, "+avx") ? 32 : 16;
#if defined(__x86_64__)
  m->rounds = has(features, "+sse4.1");
#elif defined(__aarch64__)
  m->rounds = true;
#endif
  LLVMDisposeMessage(features);
  return LLVMInitializeNativeTarget() == 0 && LLVMInitializeNativeAsmPrinter() == 0 &&
         succeeded(LLVMOrcCreateLLJIT(&m->jit, NULL)) && m->jit != NULL;
}

// Without this, LLVM prints what it cannot do and ends the process.
static void note_refusal(LLVMDiagnosticInfoRef info, void *has_refused) {
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) *(bool *)has_refused = true;
}

// Hands the module over.
static bool add_module(machine *m, const rheos__loop_program *p, const char *name) {
  LLVMOrcThreadSafeContextRef owner = LLVMOrcCreateNewThreadSafeContext();
  emitter *e = calloc(1, sizeof *e);
  bool made = false;
  if (e != NULL) {
    e->m = m;
    e->p = p;
    e->lanes = lanes_of(m, p);
    e->context = LLVMOrcThreadSafeContextGetContext(owner);
    LLVMContextSetDiagnosticHandler(e->context, note_refusal, &m->has_refused);
    e->module = LLVMModuleCreateWithNameInContext(name, e->context);
    LLVMSetDataLayout(e->module, LLVMOrcLLJITGetDataLayoutStr(m->jit));
    LLVMSetTarget(e->module, LLVMOrcLLJITGetTripleString(m->jit));
    e->b = LLVMCreateBuilderInContext(e->context);
    made = emit_function(e, name);
    LLVMDisposeBuilder(e->b);
    if (made) {
      LLVMOrcThreadSafeModuleRef module = LLVMOrcCreateNewThreadSafeModule(e->module, owner);
      made = succeeded(
          LLVMOrcLLJITAddLLVMIRModule(m->jit, LLVMOrcLLJITGetMainJITDylib(m->jit), module));
    } else {
      LLVMDisposeModule(e->module);
    }
  }
  free(e);
  LLVMOrcDisposeThreadSafeContext(owner);
  return made;
}

static rheos__loop_fn compile(const rheos__loop_program *program) {
  static machine the_machine;
  static bool tried;
  static unsigned number;
  if (!tried && !start(&the_machine)) the_machine.jit = NULL;
  tried = true;
  if (the_machine.jit == NULL) return NULL;
  char name[32];
  snprintf(name, sizeof name, "loop_%u", number++);
  LLVMOrcExecutorAddress at = 0;
  the_machine.has_refused = false;
  if (!add_module(&the_machine, program, name) ||
      !succeeded(LLVMOrcLLJITLookup(the_machine.jit, &at, name)) || the_machine.has_refused) {
    return NULL;
  }
  return (rheos__loop_fn)(uintptr_t)at;
}

__attribute__((visibility("default"))) extern const rheos__loop_compiler rheos__llvm_loops;
const rheos__loop_compiler rheos__llvm_loops = {RHEOS_VERSION_STRING, compile};
