/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and copies. Device addresses are void pointers. But for managed memory, only these
   functions may use them. 207001: there is not so much. */
#ifndef NPUSIM_RT_MEM_H
#define NPUSIM_RT_MEM_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What kind of memory, and of which pages. */
typedef uint32_t rtMemType_t;
#define RT_MEMORY_DEFAULT 0x0U
#define RT_MEMORY_HBM 0x2U
#define RT_MEMORY_DDR 0x4U
#define RT_MEMORY_P2P_HBM 0x10U
#define RT_MEMORY_P2P_DDR 0x11U
#define RT_MEMORY_TS 0x40U
#define RT_MEMORY_SVM 0x90U
#define RT_MEMORY_POLICY_NONE 0x0U
#define RT_MEMORY_POLICY_HUGE_PAGE_FIRST 0x400U
#define RT_MEMORY_POLICY_HUGE_PAGE_ONLY 0x800U
#define RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY 0x1000U
#define RT_MEMORY_POLICY_HUGE_PAGE_FIRST_P2P 0x2000U
#define RT_MEMORY_POLICY_HUGE_PAGE_ONLY_P2P 0x4000U
#define RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P 0x8000U
#define RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY 0x10000U
#define RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY_P2P 0x20000U
#define NPUSIM_RT_MEMORY_PADDED 0x200000U /* npusim: the last 32 bytes are not the program's */

/* `size` bytes, as they are; all memory of the card is HBM. RT_MEMORY_SVM: managed memory.
   107000: no kind of memory, or several policies. */
RTS_API rtError_t rtMalloc(void** address, uint64_t size, rtMemType_t type, const uint16_t module);
RTS_API rtError_t rtMallocCached(void** address, uint64_t size, rtMemType_t type,
                                 const uint16_t module);
RTS_API rtError_t rtFree(void* address);
/* Pinned host memory, of which the address is an ordinary pointer. */
RTS_API rtError_t rtMallocHost(void** address, uint64_t size, const uint16_t module);
RTS_API rtError_t rtFreeHost(void* address);

typedef enum {
  RT_MEM_MALLOC_HUGE_FIRST = 0,
  RT_MEM_MALLOC_HUGE_ONLY = 1,
  RT_MEM_MALLOC_NORMAL_ONLY = 2,
  RT_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  RT_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  RT_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  RT_MEM_MALLOC_HUGE1G_ONLY = 6,
  RT_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  RT_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  RT_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000
} rtMallocPolicy;
typedef enum {
  RT_MEM_ADVISE_NONE = 0,
  RT_MEM_ADVISE_DVPP = 1,
  RT_MEM_ADVISE_TS = 2,
  RT_MEM_ADVISE_CACHED = 3
} rtMallocAdvise;
typedef enum {
  RT_MEM_MALLOC_ATTR_RSV = 0,
  RT_MEM_MALLOC_ATTR_MODULE_ID = 1,
  RT_MEM_MALLOC_ATTR_DEVICE_ID = 2,
  RT_MEM_MALLOC_ATTR_VA_FLAG = 3
} rtMallocAttr;
typedef union {
  uint16_t moduleId;
  uint32_t deviceId;
  uint32_t vaFlag;
  uint8_t rsv[8];
} rtMallocAttrValue;
typedef struct {
  rtMallocAttr attr;
  rtMallocAttrValue value;
} rtMallocAttribute_t;
typedef struct {
  rtMallocAttribute_t* attrs;
  size_t numAttrs;
} rtMallocConfig_t;
/* rtMalloc() or rtMallocCached() as configured; `config` may be null. The flag of addresses has no
   effect for device memory. 107001: the configured device is not set; 207000: DVPP. */
RTS_API rtError_t rtsMalloc(void** address, uint64_t size, rtMallocPolicy policy,
                            rtMallocAdvise advise, const rtMallocConfig_t* config);

typedef enum {
  RT_HOST_REGISTER_MAPPED = 0,
  RT_HOST_REGISTER_IOMEMORY = 4,
  RT_HOST_REGISTER_READONLY = 8
} rtHostRegisterType;
/* Memory of the program's own becomes pinned, as by aclrtHostRegister(). 107000: it cannot be read
   and written, or is registered already; 207000: of another type than MAPPED. */
RTS_API rtError_t rtHostRegister(void* address, uint64_t size, rtHostRegisterType type,
                                 void** device_address);
RTS_API rtError_t rtHostUnregister(void* address);

typedef enum tagRtMemcpyKind {
  RT_MEMCPY_HOST_TO_HOST = 0,
  RT_MEMCPY_HOST_TO_DEVICE = 1,
  RT_MEMCPY_DEVICE_TO_HOST = 2,
  RT_MEMCPY_DEVICE_TO_DEVICE = 3,
  RT_MEMCPY_MANAGED = 4,               /* as the addresses say */
  RT_MEMCPY_ADDR_DEVICE_TO_DEVICE = 5, /* 207000 */
  RT_MEMCPY_HOST_TO_DEVICE_EX = 6,     /* the bytes are taken at once */
  RT_MEMCPY_DEVICE_TO_HOST_EX = 7,
  RT_MEMCPY_DEFAULT = 8 /* as the addresses say */
} rtMemcpyKind_t;
/* 107000: `max` is less than `count`, or no kind of copy. */
RTS_API rtError_t rtMemcpy(void* to, uint64_t max, const void* from, uint64_t count,
                           rtMemcpyKind_t kind);
RTS_API rtError_t rtMemcpyAsync(void* to, uint64_t max, const void* from, uint64_t count,
                                rtMemcpyKind_t kind, rtStream_t stream);
RTS_API rtError_t rtMemcpy2d(void* to, uint64_t to_pitch, const void* from, uint64_t from_pitch,
                             uint64_t width, uint64_t height, rtMemcpyKind_t kind);
RTS_API rtError_t rtMemcpy2dAsync(void* to, uint64_t to_pitch, const void* from,
                                  uint64_t from_pitch, uint64_t width, uint64_t height,
                                  rtMemcpyKind_t kind, rtStream_t stream);
RTS_API rtError_t rtMemset(void* address, uint64_t max, uint32_t value, uint64_t count);
RTS_API rtError_t rtMemsetAsync(void* address, uint64_t max, uint32_t value, uint64_t count,
                                rtStream_t stream);

typedef enum tagRtMemInfoType {
  RT_MEMORYINFO_DDR = 0,
  RT_MEMORYINFO_HBM = 1,
  RT_MEMORYINFO_DDR_HUGE = 2,
  RT_MEMORYINFO_DDR_NORMAL = 3,
  RT_MEMORYINFO_HBM_HUGE = 4,
  RT_MEMORYINFO_HBM_NORMAL = 5,
  RT_MEMORYINFO_DDR_P2P_HUGE = 6,
  RT_MEMORYINFO_DDR_P2P_NORMAL = 7,
  RT_MEMORYINFO_HBM_P2P_HUGE = 8,
  RT_MEMORYINFO_HBM_P2P_NORMAL = 9,
  RT_MEMORYINFO_HBM_HUGE1G = 10,
  RT_MEMORYINFO_HBM_P2P_HUGE1G = 11
} rtMemInfoType_t;
/* Of HBM. */
RTS_API rtError_t rtMemGetInfo(size_t* free, size_t* total);
/* Of DDR, which the card has not: 0. */
RTS_API rtError_t rtMemGetInfoEx(rtMemInfoType_t type, size_t* free, size_t* total);

typedef struct {
  char name[32];        /* of the module */
  uint64_t curMemSize;  /* bytes that it has */
  uint64_t memPeakSize; /* the most at a time */
  size_t reserved[8];
} rtMemUsageInfo_t;
/* Device and managed memory that the program was given on the device since it was set, by modules:
   the largest first, `*count` of at most `room`. 207000: cards of the 950 do not tell. */
RTS_API rtError_t rtGetMemUsageInfo(uint32_t device, rtMemUsageInfo_t* info, size_t room,
                                    size_t* count);

typedef enum {
  RT_MEMORY_LOC_HOST = 0,
  RT_MEMORY_LOC_DEVICE = 1,
  RT_MEMORY_LOC_UNREGISTERED = 2,
  RT_MEMORY_LOC_MANAGED = 3,
  RT_MEMORY_LOC_HOST_NUMA = 4
} rtMemLocationType;
typedef struct {
  uint32_t id;
  rtMemLocationType type;
} rtMemLocation;
typedef enum {
  RT_MEMORY_TYPE_HOST = 1,
  RT_MEMORY_TYPE_DEVICE = 2,
  RT_MEMORY_TYPE_SVM = 3,
  RT_MEMORY_TYPE_DVPP = 4,
  RT_MEMORY_TYPE_USER = 5
} rtMemoryType_t;
typedef struct {
  rtMemoryType_t memoryType;
  rtMemLocationType locationType;
  uint32_t deviceID;
  uint32_t pageSize; /* bytes; 0: unregistered */
} rtPointerAttributes_t;
RTS_API rtError_t rtPointerGetAttributes(rtPointerAttributes_t* attributes, const void* address);
/* Where the allocation that has the address begins, and its bytes; one of the two may be null. */
RTS_API rtError_t rtMemGetAddressRange(void* address, void** begin, size_t* size);

#ifdef __cplusplus
}
#endif
#endif
