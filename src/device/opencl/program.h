// Programs of a card, compiled once in a process and kept on disk between processes.
#ifndef RHEOS_SRC_DEVICE_OPENCL_PROGRAM_H
#define RHEOS_SRC_DEVICE_OPENCL_PROGRAM_H

#include "device/opencl/card.h"

// Kernel `name` of the program, which is compiled where it was not yet; the caller's. NULL in
// *out_kernel: it does not compile here.
rheos_status *rheos__card_kernel(rheos__card *card, const char *source, const char *name,
                                 cl_kernel *out_kernel);

// Frees what the card has compiled.
void rheos__card_forget_programs(rheos__card *card);

#endif  // RHEOS_SRC_DEVICE_OPENCL_PROGRAM_H
