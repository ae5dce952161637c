#include "device/opencl/launch.h"

#include "base/arena.h"
#include "device/opencl/card_memory.h"
#include "device/opencl/program.h"

enum { GROUP = 128, SQUARE = 16, STRETCH_KERNELS = 64, FLUSHED_KERNELS = 8 };

// A stretch's: what a large card does in a millisecond.
static const double STRETCH_WORK = 4e9;

rheos__launch *rheos__launch_begin(rheos__card *card, rheos__arena *arena, int32_t num_inputs,
                                   int32_t num_stages) {
  rheos__launch *launch = rheos__arena_alloc_zeroed(arena, sizeof *launch);
  if (launch == NULL) return NULL;
  launch->card = card;
  launch->arena = arena;
  launch->num_inputs = num_inputs;
  launch->stage_capacity = num_stages;
  launch->stages = rheos__arena_alloc_zeroed(arena, (size_t)num_stages * sizeof *launch->stages);
  return launch->stages != NULL ? launch : NULL;
}

static bool is_broken(const rheos__launch *launch) {
  return launch->cannot || launch->status != NULL;
}

// Work-items that a group may have: registers and the group's own memory may bound a kernel's to
// fewer than the card has.
static size_t most_in_group(const rheos__card *card, cl_kernel kernel) {
  size_t most = 0;
  const cl_int code = card->cl->clGetKernelWorkGroupInfo(
      kernel, card->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  if (code != CL_SUCCESS || most == 0) most = card->max_group;
  return most > 0 ? most : 1;
}

// Whole groups that have all items.
static rheos__grid in_groups(const rheos__grid *wanted, size_t most) {
  rheos__grid grid = *wanted;
  if (grid.group[0] == 0) {
    grid.group[0] = grid.num_dims == 1 ? GROUP : SQUARE;
    grid.group[1] = grid.num_dims > 1 ? SQUARE : 1;
    grid.group[2] = 1;
    while (grid.group[0] * grid.group[1] > most) {
      grid.group[grid.group[1] > 1 ? 1 : 0] /= 2;
    }
  }
  for (uint32_t d = 0; d < grid.num_dims; d++) {
    grid.items[d] = (grid.items[d] + grid.group[d] - 1) / grid.group[d] * grid.group[d];
  }
  return grid;
}

void rheos__launch_add(rheos__launch *launch, const char *source, const char *name,
                       const rheos__stage_operand *operands, int32_t num_operands,
                       const rheos__grid *grid) {
  if (is_broken(launch)) return;
  cl_kernel kernel;
  const rheos__stage_operand *kept =
      rheos__arena_copy(launch->arena, operands, (size_t)num_operands * sizeof *operands);
  rheos__card_place *placed =
      rheos__arena_alloc_zeroed(launch->arena, (size_t)num_operands * sizeof *placed);
  launch->status = kept == NULL || placed == NULL
                       ? rheos__out_of_memory()
                       : rheos__card_kernel(launch->card, source, name, &kernel);
  launch->cannot = launch->status == NULL && kernel == NULL;
  if (is_broken(launch)) return;
  const size_t most = most_in_group(launch->card, kernel);
  const rheos__grid settled = in_groups(grid, most);
  launch->cannot = settled.group[0] * settled.group[1] * settled.group[2] > most;
  launch->stages[launch->num_stages++] = (rheos__stage){.kernel = kernel,
                                                        .operands = kept,
                                                        .placed = placed,
                                                        .num_operands = num_operands,
                                                        .num_arguments = 2 * num_operands,
                                                        .grid = settled};
}

void rheos__launch_add_text(rheos__launch *launch, rheos__text *text, const char *name,
                            const rheos__stage_operand *operands, int32_t num_operands,
                            const rheos__grid *grid) {
  if (text->failed) {
    if (launch->status == NULL) launch->status = rheos__out_of_memory();
  } else {
    rheos__launch_add(launch, text->data, name, operands, num_operands, grid);
  }
  rheos__text_deinit(text);
}

void rheos__launch_add_product(rheos__launch *launch, const rheos__blast_product *product,
                               const rheos__stage_operand *operands) {
  if (is_broken(launch)) return;
  rheos__stage stage = {.num_operands = 3};
  stage.operands = rheos__arena_copy(launch->arena, operands, 3 * sizeof *operands);
  stage.product = rheos__arena_copy(launch->arena, product, sizeof *product);
  if (stage.operands == NULL || stage.product == NULL) {
    launch->status = rheos__out_of_memory();
  } else {
    launch->stages[launch->num_stages++] = stage;
  }
}

static void set(rheos__launch *launch, size_t size_bytes, const void *value) {
  if (is_broken(launch)) return;
  rheos__stage *stage = &launch->stages[launch->num_stages - 1];
  launch->status =
      rheos__card_status(launch->card,
                         launch->card->cl->clSetKernelArg(
                             stage->kernel, (cl_uint)stage->num_arguments++, size_bytes, value),
                         "preparing a kernel");
}

void rheos__launch_set(rheos__launch *launch, const void *value, size_t size_bytes) {
  set(launch, size_bytes, value);
}

void rheos__launch_set_local(rheos__launch *launch, size_t size_bytes) {
  set(launch, size_bytes, NULL);
}

double rheos__launch_work(const rheos__prepare *p) {
  double bytes = 0;
  for (int32_t i = 0; i < p->num_inputs; i++) {
    bytes += (double)rheos_shape_num_elements(&p->input_shapes[i]) *
             (double)rheos_dtype_size(p->input_dtypes[i]);
  }
  for (int32_t i = 0; i < p->num_outputs; i++) {
    bytes += (double)rheos_shape_num_elements(&p->output_shapes[i]) *
             (double)rheos_dtype_size(p->output_dtypes[i]);
  }
  return (double)p->flops + (bytes > 0 ? bytes : 0);
}

rheos_status *rheos__launch_end(rheos__launch *launch, rheos__prepare *p, size_t scratch_bytes) {
  if (is_broken(launch)) {
    rheos__launch_release(launch);
    if (launch->status == NULL) {
      p->decline_reason = "its kernel does not compile for the device, or its groups are too large";
    }
    return launch->status;
  }
  launch->work = rheos__launch_work(p);
  launch->op = p->op->name;
  p->state = launch;
  p->run = rheos__launch_run;
  p->compute = NULL;
  p->release = rheos__launch_release;
  p->scratch_bytes = scratch_bytes;
  p->num_units = 1;
  p->unit_elements = 0;
  return NULL;
}

void rheos__launch_release(void *state) {
  rheos__launch *launch = state;
  for (int32_t i = 0; i < launch->num_stages; i++) {
    if (launch->stages[i].kernel != NULL) {
      launch->card->cl->clReleaseKernel(launch->stages[i].kernel);
    }
  }
  launch->num_stages = 0;
}

// ---- Running

static rheos_status *place_operand(const rheos__launch *launch, const rheos__stage_operand *operand,
                                   const void *const *inputs, void *const *outputs,
                                   const void *scratch, rheos__card_place *out) {
  const void *address = operand->number == RHEOS__SCRATCH ? scratch
                        : operand->number < launch->num_inputs
                            ? inputs[operand->number]
                            : outputs[operand->number - launch->num_inputs];
  *out = rheos__card_place_of(launch->card, address);
  out->offset += operand->offset_bytes;
  if (out->buffer != NULL) return NULL;
  return rheos_status_new(RHEOS_INTERNAL, "operand %d is not in the memory of the device",
                          (int)operand->number);
}

// Sets what changed since the kernel ran last: in most steps nothing.
static cl_int set_place(const rheos__cl *cl, const rheos__stage *stage, int32_t i,
                        const rheos__card_place *place) {
  rheos__card_place *last = &stage->placed[i];
  cl_int code = CL_SUCCESS;
  if (last->buffer != place->buffer) {
    last->buffer = NULL;
    code =
        cl->clSetKernelArg(stage->kernel, (cl_uint)(2 * i), sizeof place->buffer, &place->buffer);
    if (code == CL_SUCCESS) {
      code = cl->clSetKernelArg(stage->kernel, (cl_uint)(2 * i + 1), sizeof place->offset,
                                &place->offset);
    }
  } else if (last->offset != place->offset) {
    last->buffer = NULL;
    code = cl->clSetKernelArg(stage->kernel, (cl_uint)(2 * i + 1), sizeof place->offset,
                              &place->offset);
  }
  if (code == CL_SUCCESS) *last = *place;
  return code;
}

static rheos_status *run_product(const rheos__launch *launch, const rheos__stage *stage,
                                 const void *const *inputs, void *const *outputs,
                                 const void *scratch, cl_event *mark) {
  rheos__card_place places[3];
  for (int32_t i = 0; i < 3; i++) {
    RHEOS_TRY(place_operand(launch, &stage->operands[i], inputs, outputs, scratch, &places[i]));
  }
  launch->card->num_kernels++;
  return rheos__blast_run(launch->card, stage->product, &places[0], &places[1], &places[2], mark);
}

// With the lock held. `mark`: where the event of the kernel goes; NULL: it has none.
static rheos_status *run_stage(const rheos__launch *launch, const rheos__stage *stage,
                               const void *const *inputs, void *const *outputs, const void *scratch,
                               cl_event *mark) {
  const rheos__cl *cl = launch->card->cl;
  if (stage->product != NULL) return run_product(launch, stage, inputs, outputs, scratch, mark);
  for (int32_t i = 0; i < stage->num_operands; i++) {
    rheos__card_place place;
    RHEOS_TRY(place_operand(launch, &stage->operands[i], inputs, outputs, scratch, &place));
    RHEOS_TRY(rheos__card_status(launch->card, set_place(cl, stage, i, &place),
                                 "setting an operand of a kernel"));
  }
  launch->card->num_kernels++;
  return rheos__card_status(
      launch->card,
      cl->clEnqueueNDRangeKernel(launch->card->queue, stage->kernel, stage->grid.num_dims, NULL,
                                 stage->grid.items, stage->grid.group, 0, NULL, mark),
      "starting a kernel");
}

// Whether a stretch ends with what is queued now. With the lock held. Drivers that keep kernels
// until they are asked are asked now and then, so the card begins.
static bool ends_stretch(rheos__card *card, const rheos__launch *launch) {
  const int32_t before = card->num_queued;
  card->queued_work += launch->work;
  card->num_queued += launch->num_stages;
  if (card->num_queued / FLUSHED_KERNELS != before / FLUSHED_KERNELS) {
    card->cl->clFlush(card->queue);
  }
  if (card->queued_work < STRETCH_WORK && card->num_queued < STRETCH_KERNELS) return false;
  card->queued_work = 0;
  card->num_queued = 0;
  return true;
}

// Until the stretch before is done.
static rheos_status *wait_for(rheos__card *card, cl_event mark) {
  if (mark == NULL) return NULL;
  const cl_int code = card->cl->clWaitForEvents(1, &mark);
  card->cl->clReleaseEvent(mark);
  return rheos__card_status(card, code, "waiting for a kernel");
}

// Arguments after those that were set beforehand. With the lock held.
static rheos_status *set_numbers(const rheos__launch *launch, const uint64_t *numbers,
                                 int32_t count) {
  const rheos__stage *stage = &launch->stages[0];
  for (int32_t i = 0; i < count; i++) {
    const cl_ulong number = numbers[i];
    const cl_uint at = (cl_uint)(stage->num_arguments + i);
    RHEOS_TRY(rheos__card_status(
        launch->card, launch->card->cl->clSetKernelArg(stage->kernel, at, sizeof number, &number),
        "setting a number of a kernel"));
  }
  return NULL;
}

rheos_status *rheos__launch_run_with(const rheos__launch *launch, const void *const *inputs,
                                     void *const *outputs, void *scratch, const uint64_t *numbers,
                                     int32_t num_numbers) {
  rheos__card *card = launch->card;
  if (launch->num_stages == 0) return NULL;
  RHEOS_TRY(rheos__card_check(card));
  cl_event mark = NULL, before = NULL;
  pthread_mutex_lock(&card->mutex);
  const bool ends = ends_stretch(card, launch);
  atomic_store_explicit(&card->last_op, launch->op, memory_order_relaxed);
  rheos_status *status = set_numbers(launch, numbers, num_numbers);
  for (int32_t i = 0; i < launch->num_stages && status == NULL; i++) {
    const bool is_last = i + 1 == launch->num_stages;
    status = run_stage(launch, &launch->stages[i], inputs, outputs, scratch,
                       ends && is_last ? &mark : NULL);
  }
  if (mark != NULL) {
    before = card->mark;
    card->mark = mark;
    card->cl->clFlush(card->queue);
  }
  pthread_mutex_unlock(&card->mutex);
  rheos_status *waited = wait_for(card, before);
  if (status == NULL) return waited;
  rheos_status_free(waited);
  return status;
}

rheos_status *rheos__launch_run(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)first_unit, (void)last_unit;
  return rheos__launch_run_with(state, inputs, outputs, scratch, NULL, 0);
}
