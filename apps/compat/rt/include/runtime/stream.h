/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: what is submitted to one runs in its order. A null stream is the default one of the
   thread's context, but where one is destroyed. 107003: of another context. Time-outs are
   milliseconds of simulated time, -1: for ever. */
#ifndef NPUSIM_RT_STREAM_H
#define NPUSIM_RT_STREAM_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `priority` 0 is looked at first; flags do not change anything. 207008: all in use. */
RTS_API rtError_t rtStreamCreate(rtStream_t* stream, int32_t priority);
RTS_API rtError_t rtStreamCreateWithFlags(rtStream_t* stream, int32_t priority, uint32_t flags);
/* Waits for what was submitted; or gives it up. */
RTS_API rtError_t rtStreamDestroy(rtStream_t stream);
RTS_API rtError_t rtStreamDestroyForce(rtStream_t stream);
/* 507015, 507035: a kernel has failed on a cube or a vector core. */
RTS_API rtError_t rtStreamSynchronize(rtStream_t stream);
/* 507046: not yet. */
RTS_API rtError_t rtStreamSynchronizeWithTimeout(rtStream_t stream, int32_t timeout);
/* 507004: not yet. */
RTS_API rtError_t rtStreamQuery(rtStream_t stream);
RTS_API rtError_t rtStreamWaitEvent(rtStream_t stream, rtEvent_t event);
/* After an error what is submitted goes on (0) or is dropped (1). */
RTS_API rtError_t rtStreamSetMode(rtStream_t stream, const uint64_t mode);

/* Functions of the program's in a stream's order; `thread`, as pthread_self() numbers it, runs
   them, one with each rtProcessReport(). 107000: another one has subscribed, or none. */
typedef void (*rtCallback_t)(void* data);
RTS_API rtError_t rtSubscribeReport(uint64_t thread, rtStream_t stream);
RTS_API rtError_t rtUnSubscribeReport(uint64_t thread, rtStream_t stream);
RTS_API rtError_t rtCallbackLaunch(rtCallback_t call, void* data, rtStream_t stream, bool block);
/* 107019: none came. */
RTS_API rtError_t rtProcessReport(int32_t timeout);

#ifdef __cplusplus
}
#endif
#endif
