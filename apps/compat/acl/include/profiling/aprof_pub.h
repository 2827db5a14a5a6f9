/* SPDX-License-Identifier: Apache-2.0 */
/* What else the vendor's libraries tell the profiler. */
#ifndef NPUSIM_APROF_PUB_H
#define NPUSIM_APROF_PUB_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model of that number is on the device: aclprofModelSubscribe() knows it. 0, or -1: it is
   known already. */
ACL_FUNC_VISIBILITY int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t model,
                                                          const uint32_t device);

#ifdef __cplusplus
}
#endif
#endif
