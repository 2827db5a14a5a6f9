/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts. */
#ifndef NPUSIM_RT_CONTEXT_H
#define NPUSIM_RT_CONTEXT_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `flags` are taken and do not change anything. 107001. */
RTS_API rtError_t rtCtxCreateEx(rtContext_t* context, uint32_t flags, int32_t device);
RTS_API rtError_t rtCtxDestroyEx(rtContext_t context);
RTS_API rtError_t rtCtxSetCurrent(rtContext_t context);
RTS_API rtError_t rtCtxGetCurrent(rtContext_t* context);
RTS_API rtError_t rtCtxSynchronize(void);

#ifdef __cplusplus
}
#endif
#endif
