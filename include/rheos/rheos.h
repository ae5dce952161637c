// All of Rheos that C programs use. (For front ends of other languages there are
// <rheos/front_end.h> and
// <rheos/control_context.h> too.)
#ifndef RHEOS_RHEOS_H
#define RHEOS_RHEOS_H

#include <rheos/array.h>
#include <rheos/base.h>
#include <rheos/collections.h>
#include <rheos/control_flow.h>
#include <rheos/credentials.h>
#include <rheos/dataset.h>
#include <rheos/eager.h>
#include <rheos/events.h>
#include <rheos/examples.h>
#include <rheos/format.h>
#include <rheos/function.h>
#include <rheos/gradients.h>
#include <rheos/graph.h>
#include <rheos/graph_util.h>
#include <rheos/host.h>
#include <rheos/lint.h>
#include <rheos/op_def.h>
#include <rheos/ops.h>
#include <rheos/placement.h>
#include <rheos/ranks.h>
#include <rheos/saved_model.h>
#include <rheos/scope.h>
#include <rheos/server.h>
#include <rheos/session.h>
#include <rheos/statistics.h>
#include <rheos/tensor.h>
#include <rheos/trace.h>
#include <rheos/train.h>
#include <rheos/watch.h>

#include <rheos/lines.h>  // last: it wraps functions declared above

#endif  // RHEOS_RHEOS_H
