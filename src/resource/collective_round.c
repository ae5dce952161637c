#include "resource/collective_round.h"

#include <assert.h>
#include <string.h>

rheos__round *rheos__round_new(const rheos__collective *what) {
  const size_t count = (size_t)what->group_size;
  rheos__round *r = rheos__alloc_zeroed(sizeof *r + count * sizeof r->contributions[0]);
  rheos__named_rank *members = rheos__alloc_array(count, sizeof *members);
  if (r == NULL || members == NULL) {
    rheos__free(members);
    rheos__free(r);
    return NULL;
  }
  r->what = *what;
  r->what.device = NULL;
  r->what.input = NULL;
  r->members = members;
  return r;
}

void rheos__round_free(rheos__round *r) {
  for (int32_t i = 0; i < r->num_come; ++i) {
    rheos_tensor_unref(r->contributions[i].input);
    rheos_tensor_unref(r->contributions[i].output);
    rheos__free(r->members[i].device);
  }
  rheos__free(r->members);
  rheos__free(r->why);
  rheos__free(r);
}

int32_t rheos__round_place_of(const rheos__round *r, const char *device) {
  for (int32_t i = 0; i < r->num_come; ++i) {
    if (strcmp(r->members[i].device, device) == 0) return i;
  }
  return -1;
}

void rheos__round_fail(rheos__round *r, rheos_code code, const char *why) {
  if (r->failed != RHEOS_OK) return;
  r->failed = code;
  r->why = rheos__strdup(why);
}

void rheos__round_fail_take(rheos__round *r, rheos_status *status) {
  rheos__round_fail(r, rheos_status_code(status), rheos_status_message(status));
  rheos_status_free(status);
}

rheos_status *rheos__round_failure(const rheos__round *r) {
  return r->failed == RHEOS_OK ? NULL
                               : rheos_status_new(r->failed, "%s", r->why != NULL ? r->why : "");
}

rheos_status *rheos__round_come_to(rheos__round *r, const rheos__collective *what) {
  if (r->what.group_size != what->group_size) {
    return rheos_status_new(RHEOS_INTERNAL, "Collective instance %d has %d members, not %d",
                            (int)what->instance_key, (int)r->what.group_size,
                            (int)what->group_size);
  }
  char *device = rheos__strdup(what->device);
  if (device == NULL) return rheos__out_of_memory();
  rheos__contribution *c = &r->contributions[r->num_come];
  if (what->input != NULL) c->input = rheos_tensor_ref(what->input);
  c->is_source = what->is_source;
  r->members[r->num_come] = (rheos__named_rank){.device = device, .rank = what->rank};
  ++r->num_come;
  ++r->num_users;
  rheos_status *differs = rheos__collective_check_fits(&r->what, what);
  if (differs != NULL) rheos__round_fail_take(r, differs);
  return NULL;
}

static void sort_by_rank(rheos__round *r) {
  const int32_t count = r->num_come;
  for (int32_t i = 1; i < count; ++i) {  // insertion: groups are small, or come nearly in order
    for (int32_t j = i; j > 0 && rheos__compare_ranks(&r->members[j], &r->members[j - 1]) < 0;
         --j) {
      const rheos__named_rank member = r->members[j];
      const rheos__contribution contribution = r->contributions[j];
      r->members[j] = r->members[j - 1];
      r->contributions[j] = r->contributions[j - 1];
      r->members[j - 1] = member;
      r->contributions[j - 1] = contribution;
    }
  }
}

static void number_by_name(rheos__round *r) {
  for (int32_t i = 0; i < r->num_come; ++i) {
    r->contributions[i].by_name = 0;
    for (int32_t j = 0; j < r->num_come; ++j) {
      r->contributions[i].by_name +=
          rheos__compare_devices(r->members[j].device, r->members[i].device) < 0;
    }
  }
}

static rheos_status *check_source(const rheos__round *r) {
  int32_t source = -1;
  if (r->what.type != RHEOS__COLLECTIVE_BROADCAST) return NULL;
  for (int32_t i = 0; i < r->num_come; ++i) {
    if (!r->contributions[i].is_source) continue;
    if (source >= 0) return rheos__collective_second_source(&r->what, source, i);
    source = i;
  }
  return source < 0 ? rheos__collective_no_source(&r->what) : NULL;
}

bool rheos__round_begin_combining(rheos__round *r) {
  assert(r->num_come == r->what.group_size);
  sort_by_rank(r);
  if (r->members[r->num_come - 1].rank >= 0) number_by_name(r);  // any has asked for one
  rheos_status *status = check_source(r);
  if (status != NULL) {
    rheos__round_fail_take(r, status);
    return false;
  }
  r->state = RHEOS__COMBINING;
  return true;
}

bool rheos__round_is_decided(const rheos__round *r) {
  return r->state != RHEOS__GATHERING || r->failed != RHEOS_OK;
}
