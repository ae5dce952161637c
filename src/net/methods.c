#include "net/methods.h"

#define OF_MASTER(constant, name) "/tensorflow.MasterService/" #name,
#define OF_WORKER(constant, name) "/tensorflow.WorkerService/" #name,
#define OF_OWN(constant, name) "/rheos.SessionService/" #name,
const char *const rheos__method_names[RHEOS__NUM_METHODS] = {
    RHEOS__MASTER_METHODS(OF_MASTER) RHEOS__WORKER_METHODS(OF_WORKER) RHEOS__OWN_METHODS(OF_OWN)};
