/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: by the program's numbers (ASCEND_RT_VISIBLE_DEVICES). 107001: there is no such device.
 */
#ifndef NPUSIM_RT_DEV_H
#define NPUSIM_RT_DEV_H

#include <runtime/base.h>
#include <runtime/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { RT_RUN_MODE_OFFLINE = 0, RT_RUN_MODE_ONLINE = 1 } rtRunMode;
typedef enum {
  RT_DEVICE_STATUS_NORMAL = 0,
  RT_DEVICE_STATUS_ABNORMAL = 1,
  RT_DEVICE_STATUS_END = 0xFFFF
} rtDeviceStatus;
typedef enum { RT_DEV_RES_CUBE_CORE = 0, RT_DEV_RES_VECTOR_CORE = 1 } rtDevResLimitType_t;

/* 207004: ASCEND_RT_VISIBLE_DEVICES leaves none. */
RTS_API rtError_t rtGetDeviceCount(int32_t* count);
/* Opens the device for the process, makes its primary context the thread's, and counts. */
RTS_API rtError_t rtSetDevice(int32_t device);
/* Takes one rtSetDevice() back; the last one gives all of the process on the device back. */
RTS_API rtError_t rtDeviceReset(int32_t device);
RTS_API rtError_t rtDeviceResetForce(int32_t device);
/* 107002: none is set. */
RTS_API rtError_t rtGetDevice(int32_t* device);
/* Online: programs run on the host. */
RTS_API rtError_t rtGetRunMode(rtRunMode* mode);
/* "Ascend910B2" and a zero byte. 107000: `length` is too small. */
RTS_API rtError_t rtGetSocVersion(char* name, const uint32_t length);
/* Numbers of cores, by the HAL's numbers of modules (AICPU 1, AI Core 4, vector core 7) and of what
   is asked for (cores 3). 207000: anything else. */
RTS_API rtError_t rtGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value);
RTS_API rtError_t rtDeviceStatusQuery(const uint32_t device, rtDeviceStatus* status);
/* Waits for what the thread's context has submitted. */
RTS_API rtError_t rtDeviceSynchronize(void);

/* 107000: more cores than the card has. */
RTS_API rtError_t rtSetDeviceResLimit(const uint32_t device, const rtDevResLimitType_t type,
                                      const uint32_t value);
RTS_API rtError_t rtGetDeviceResLimit(const uint32_t device, const rtDevResLimitType_t type,
                                      uint32_t* value);
RTS_API rtError_t rtResetDeviceResLimit(const uint32_t device);
RTS_API rtError_t rtSetStreamResLimit(rtStream_t stream, const rtDevResLimitType_t type,
                                      const uint32_t value);
RTS_API rtError_t rtGetStreamResLimit(rtStream_t stream, const rtDevResLimitType_t type,
                                      uint32_t* value);
RTS_API rtError_t rtResetStreamResLimit(rtStream_t stream);
RTS_API rtError_t rtUseStreamResInCurrentThread(rtStream_t stream);
RTS_API rtError_t rtNotUseStreamResInCurrentThread(rtStream_t stream);
RTS_API rtError_t rtGetResInCurrentThread(const rtDevResLimitType_t type, uint32_t* value);

/* Copies between cards with a link need no permission. 207000: no link between the two. */
RTS_API rtError_t rtDeviceCanAccessPeer(int32_t* can, uint32_t device, uint32_t peer);

#ifdef __cplusplus
}
#endif
#endif
