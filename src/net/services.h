// Methods of the two services, as rheos__services lists them.
#ifndef RHEOS_SRC_NET_SERVICES_H
#define RHEOS_SRC_NET_SERVICES_H

#include "net/server.h"

rheos_status *rheos__serve_CreateSession(rheos__served *served);
rheos_status *rheos__serve_ExtendSession(rheos__served *served);
rheos_status *rheos__serve_PartialRunSetup(rheos__served *served);
rheos_status *rheos__serve_RunStep(rheos__served *served);
rheos_status *rheos__serve_CloseSession(rheos__served *served);
rheos_status *rheos__serve_ListDevices(rheos__served *served);
rheos_status *rheos__serve_Reset(rheos__served *served);
rheos_status *rheos__serve_MakeCallable(rheos__served *served);
rheos_status *rheos__serve_RunCallable(rheos__served *served);
rheos_status *rheos__serve_ReleaseCallable(rheos__served *served);
rheos_status *rheos__serve_GetStatus(rheos__served *served);
rheos_status *rheos__serve_CreateWorkerSession(rheos__served *served);
rheos_status *rheos__serve_DeleteWorkerSession(rheos__served *served);
rheos_status *rheos__serve_RegisterGraph(rheos__served *served);
rheos_status *rheos__serve_DeregisterGraph(rheos__served *served);
rheos_status *rheos__serve_RunGraph(rheos__served *served);
rheos_status *rheos__serve_CleanupGraph(rheos__served *served);
rheos_status *rheos__serve_CleanupAll(rheos__served *served);
rheos_status *rheos__serve_RecvTensor(rheos__served *served);
rheos_status *rheos__serve_MarkRecvFinished(rheos__served *served);
rheos_status *rheos__serve_Logging(rheos__served *served);
rheos_status *rheos__serve_Tracing(rheos__served *served);
rheos_status *rheos__serve_RecvBuf(rheos__served *served);
rheos_status *rheos__serve_CompleteGroup(rheos__served *served);
rheos_status *rheos__serve_CompleteInstance(rheos__served *served);
rheos_status *rheos__serve_GetStepSequence(rheos__served *served);
rheos_status *rheos__serve_HoldSession(rheos__served *served);

// The master's session of that handle, with a reference.
rheos_status *rheos__serve_find(const rheos__served *served, const char *handle,
                                rheos__master_session **out_session);

#endif  // RHEOS_SRC_NET_SERVICES_H
