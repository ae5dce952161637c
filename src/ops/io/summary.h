// What the families of summaries share: the fields of the messages, and making tensors of them.
#ifndef RHEOS_SRC_OPS_IO_SUMMARY_H
#define RHEOS_SRC_OPS_IO_SUMMARY_H

#include "codec/wire.h"

// Fields of Summary and Summary.Value.
enum { RHEOS__SUMMARY_VALUE = 1 };
enum {
  RHEOS__VALUE_TAG = 1,
  RHEOS__VALUE_SIMPLE = 2,
  RHEOS__VALUE_IMAGE = 4,
  RHEOS__VALUE_HISTOGRAM = 5,
  RHEOS__VALUE_AUDIO = 6,
  RHEOS__VALUE_NODE_NAME = 7,
  RHEOS__VALUE_TENSOR = 8,
  RHEOS__VALUE_METADATA = 9
};

// A fresh scalar of the message's bytes, which are given up.
rheos_status *rheos__give_summary(rheos__buffer *message, rheos_tensor **out_tensor);
// As rheos__give_summary(), of a message of one value.
rheos_status *rheos__give_summary_value(rheos__buffer *value, rheos_tensor **out_tensor);
// The tag of one of several media: "TAG/KIND/NUMBER", or "TAG/KIND" where there can be but one.
void rheos__put_media_tag(rheos__buffer *value, const rheos_string *tag, const char *kind,
                          int64_t number, int64_t max_outputs);

// For event files: what the ops write. The tensor is of a dtype and shape that they take, or an
// error says so; `value` and `summary` are to be thrown away after a failure.
rheos_status *rheos__put_histogram(const char *name, const rheos_tensor *values,
                                   rheos__buffer *value);
// One that values are added to, as they come; those that are not finite are left out. NULL: no
// memory.
typedef struct rheos__running_histogram rheos__running_histogram;
rheos__running_histogram *rheos__running_histogram_new(void);
void rheos__running_histogram_add(rheos__running_histogram *running, double value);
void rheos__running_histogram_put(const rheos__running_histogram *running, rheos__buffer *value);
rheos_status *rheos__put_pictures(const rheos_string *tag, const rheos_tensor *pictures,
                                  int64_t max_images, rheos__buffer *summary);
rheos_status *rheos__put_sounds(const rheos_string *tag, const rheos_tensor *sounds,
                                float sample_rate, int64_t max_sounds, rheos__buffer *summary);

#endif  // RHEOS_SRC_OPS_IO_SUMMARY_H
