// Copies between the host and a card. What goes to the card is put into a block of memory that both
// reach ("pinned"), so nobody waits until what was queued before has been done; the block is free
// again once the card has taken it. What comes from the card is waited for.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CARD_COPY_H
#define RHEOS_SRC_DEVICE_OPENCL_CARD_COPY_H

#include "device/opencl/card_memory.h"

// The blocks of a card, made by the first copy that takes one. NULL when memory is short.
typedef struct rheos__card_blocks rheos__card_blocks;
rheos__card_blocks *rheos__card_blocks_new(void);

// On return the bytes here may change; the card has them before whatever it is given next.
rheos_status *rheos__card_write(rheos__card *card, const rheos__card_place *to, const void *from,
                                size_t size_bytes);
// As they are once all that was given to the card has been done.
rheos_status *rheos__card_read(rheos__card *card, void *to, const rheos__card_place *from,
                               size_t size_bytes);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CARD_COPY_H
