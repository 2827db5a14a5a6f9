/* SPDX-License-Identifier: Apache-2.0 */
/* Events. One that was never recorded, or was reset since, is not ready: the host's wait for it and
   a time from or to it are 107000. */
#ifndef NPUSIM_RT_EVENT_H
#define NPUSIM_RT_EVENT_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RT_EVENT_INIT = 0, /* or not ready */
  RT_EVENT_RECORDED = 1
} rtEventStatus_t;

/* Every event synchronises and has a time, whatever the flag. 207007: all in use. */
RTS_API rtError_t rtEventCreate(rtEvent_t* event);
RTS_API rtError_t rtEventCreateWithFlag(rtEvent_t* event, uint32_t flag);
RTS_API rtError_t rtEventCreateExWithFlag(rtEvent_t* event, uint32_t flag);
RTS_API rtError_t rtEventDestroy(rtEvent_t event);
RTS_API rtError_t rtEventRecord(rtEvent_t event, rtStream_t stream);
RTS_API rtError_t rtEventReset(rtEvent_t event, rtStream_t stream);
RTS_API rtError_t rtEventQueryStatus(rtEvent_t event, rtEventStatus_t* status);
RTS_API rtError_t rtEventSynchronize(rtEvent_t event);
/* Milliseconds of simulated time, -1: for ever. 507047. */
RTS_API rtError_t rtEventSynchronizeWithTimeout(rtEvent_t event, const int32_t timeout);
RTS_API rtError_t rtEventElapsedTime(float* milliseconds, rtEvent_t start, rtEvent_t end);

#ifdef __cplusplus
}
#endif
#endif
