/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory; address ranges, physical memory, mappings. */
#ifndef NPUSIM_RT_MEM_VIRTUAL_H
#define NPUSIM_RT_MEM_VIRTUAL_H

#include <runtime/mem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Managed memory: one address for host and card. `flag` 0: of the heap, whose pages drvMem...
   functions of the HAL and the two below move; 1: what aclrtMemAllocManaged() gives; else 207000.
 */
RTS_API rtError_t rtMemAllocManaged(void** address, uint64_t size, uint32_t flag,
                                    const uint16_t module);
RTS_API rtError_t rtMemFreeManaged(void* address);
/* Pages of the heap that the host has, from a multiple of 2 MiB on, to the device. */
RTS_API rtError_t rtMemPrefetchToDevice(void* address, uint64_t length, int32_t device);
/* As halMemAdvise() of the thread's device; 207000 likewise. */
typedef enum {
  RT_ADVISE_PERSISTENT = 0,
  RT_ADVISE_DEV_MEM = 1,
  RT_ADVISE_ACCESS_READONLY = 2,
  RT_ADVISE_ACCESS_READWRITE = 3
} rtAdviseMemType;
RTS_API rtError_t rtMemAdvise(void* address, uint64_t count, uint32_t advise);

typedef enum {
  RT_MEMORY_LOCATION_INVALID = 0,
  RT_MEMORY_LOCATION_DEVICE = 1,
  RT_MEMORY_LOCATION_HOST = 2,
  RT_MEMORY_LOCATION_HOST_NUMA = 3
} rtMemManagedLocationType;
typedef struct {
  rtMemManagedLocationType type;
  int32_t id;
} rtMemManagedLocation;
/* Advice 0 .. 5 and attributes 1 .. 8 as the ACL numbers them. */
RTS_API rtError_t rtMemManagedAdvise(const void* address, uint64_t size, uint16_t advise,
                                     rtMemManagedLocation location);
RTS_API rtError_t rtMemManagedPrefetchAsync(const void* address, size_t size,
                                            rtMemManagedLocation location, uint32_t flags,
                                            rtStream_t stream);
RTS_API rtError_t rtMemManagedGetAttr(int32_t attribute, const void* address, size_t size,
                                      void* data, size_t data_size);

/* --- Address ranges, physical memory, mappings. Sizes are multiples of 2 MiB; alignment, wanted
   address and flags are taken and do not change anything. */
typedef void* rtDrvMemHandle;
typedef struct DrvMemProp {
  uint32_t side; /* 1: the device; 0, the host, is 207000 */
  uint32_t devid;
  uint32_t module_id;
  uint32_t pg_type;
  uint32_t mem_type;
  uint64_t reserve;
} rtDrvMemProp_t;
typedef enum { RT_MEM_HANDLE_TYPE_NONE = 0, RT_MEM_HANDLE_TYPE_POSIX = 2 } rtDrvMemHandleType;
typedef enum {
  RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} rtDrvMemGranularityOptions;
typedef enum {
  RT_MEM_ACCESS_FLAGS_NONE = 0,
  RT_MEM_ACCESS_FLAGS_READ = 1,
  RT_MEM_ACCESS_FLAGS_READWRITE = 3
} rtMemAccessFlags;
typedef struct {
  rtMemAccessFlags flags;
  rtMemLocation location;
  uint8_t rsv[12];
} rtMemAccessDesc;
RTS_API rtError_t rtReserveMemAddress(void** address, size_t size, size_t alignment, void* wanted,
                                      uint64_t flags);
RTS_API rtError_t rtReleaseMemAddress(void* address);
RTS_API rtError_t rtMallocPhysical(rtDrvMemHandle* handle, size_t size, rtDrvMemProp_t* properties,
                                   uint64_t flags);
RTS_API rtError_t rtFreePhysical(rtDrvMemHandle handle);
RTS_API rtError_t rtMapMem(void* address, size_t size, size_t offset, rtDrvMemHandle handle,
                           uint64_t flags);
RTS_API rtError_t rtUnmapMem(void* address);
RTS_API rtError_t rtMemSetAccess(void* address, size_t size, rtMemAccessDesc* descriptors,
                                 size_t count);
RTS_API rtError_t rtMemGetAllocationGranularity(rtDrvMemProp_t* properties,
                                                rtDrvMemGranularityOptions option,
                                                size_t* granularity);
RTS_API rtError_t rtMemExportToShareableHandle(rtDrvMemHandle handle, rtDrvMemHandleType type,
                                               uint64_t flags, uint64_t* shareable);
RTS_API rtError_t rtMemImportFromShareableHandle(uint64_t shareable, int32_t device,
                                                 rtDrvMemHandle* handle);

#ifdef __cplusplus
}
#endif
#endif
