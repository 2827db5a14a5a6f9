/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the vendor's compiler are not modelled: 207000. */
#ifndef NPUSIM_RT_MODEL_H
#define NPUSIM_RT_MODEL_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

RTS_API rtError_t rtModelExecute(rtModel_t model, rtStream_t stream, uint32_t flag);

#ifdef __cplusplus
}
#endif
#endif
