/* SPDX-License-Identifier: Apache-2.0 */
/* The HAL, the layer below the ACL, as far as npusim has it (docs/sources/virtualisation.md S1, S3,
   S5). Written for npusim with the public names and values. Device numbers are those of
   drvGetDevIDs(); a device is opened (drvDeviceOpen, or aclrtSetDevice by the same program) before
   memory of it is asked for, else the error is INVALID_DEVICE. Device addresses are numbers that
   only these functions and kernels may use; managed ones are pointers, too. What is declared and
   not modelled returns NOT_SUPPORT.

   A null pointer or a size of 0 where a thing is needed is INVALID_VALUE; NO_DEVICE: the program
   does not run under `npusim exec`. What is said of a function's own errors comes on top. */
#ifndef NPUSIM_ASCEND_HAL_H
#define NPUSIM_ASCEND_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tagDrvError {
  DRV_ERROR_NONE = 0,
  DRV_ERROR_NO_DEVICE = 1,
  DRV_ERROR_INVALID_DEVICE = 2,
  DRV_ERROR_INVALID_VALUE = 3,
  DRV_ERROR_INVALID_HANDLE = 4,
  DRV_ERROR_INVALID_MALLOC_TYPE = 5,
  DRV_ERROR_OUT_OF_MEMORY = 6,
  DRV_ERROR_INNER_ERR = 7,
  DRV_ERROR_PARA_ERROR = 8,
  DRV_ERROR_REPEATED_INIT = 10,
  DRV_ERROR_NO_RESOURCES = 14,
  DRV_ERROR_WAIT_TIMEOUT = 16,
  DRV_ERROR_NOT_SUPPORT = 0xFFFE
} drvError_t;
typedef drvError_t DVresult;
typedef uint64_t DVdeviceptr;
typedef uint32_t DVdevice;

#if defined(__GNUC__)
#define NPU_HAL __attribute__((visibility("default")))
#else
#define NPU_HAL
#endif

/* --- Devices */
NPU_HAL drvError_t drvGetDevNum(uint32_t* count);
/* The first `length` numbers. INVALID_VALUE: there are not so many. */
NPU_HAL drvError_t drvGetDevIDs(uint32_t* devices, uint32_t length);
/* Opened as often as closed. `info` (may be null) is null afterwards. */
NPU_HAL drvError_t drvDeviceOpen(void** info, uint32_t device);
/* With the last one everything of the program on the device is given back. */
NPU_HAL drvError_t drvDeviceClose(uint32_t device);
enum {
  MODULE_TYPE_SYSTEM = 0,
  MODULE_TYPE_AICPU = 1,
  MODULE_TYPE_AICORE = 4,
  MODULE_TYPE_VECTOR_CORE = 7,
  MODULE_TYPE_COMPUTING = 0x8000
};
enum { INFO_TYPE_VERSION = 1, INFO_TYPE_CORE_NUM = 3 };
enum { INFO_TYPE_COMPUTING_TOKEN = 0 }; /* of MODULE_TYPE_COMPUTING */
/* Numbers of cores, and the computing token: the 8 bytes of DSMI's structure, a float of 0 to 65535
   in the lowest ones. NOT_SUPPORT: anything else. */
NPU_HAL drvError_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value);
/* `size`: in: bytes of room; out: bytes written. INVALID_VALUE: less than 8. */
NPU_HAL drvError_t halGetDeviceInfoByBuff(uint32_t device, int32_t module, int32_t info, void* buf,
                                          int32_t* size);
/* The computing token alone: NOT_SUPPORT otherwise, and where clients take no turns. INVALID_VALUE:
   none of 0 to 65535, or another size than 8. */
NPU_HAL drvError_t halSetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t value);
NPU_HAL drvError_t halSetDeviceInfoByBuff(uint32_t device, int32_t module, int32_t info, void* buf,
                                          int32_t size);
/* "Ascend910B2" and a zero byte. INVALID_VALUE: `length` is too small. */
NPU_HAL drvError_t halGetSocVersion(uint32_t device, char* name, uint32_t length);

typedef enum tagProcType {
  PROCESS_CP1 = 0,
  PROCESS_CP2,
  PROCESS_DEV_ONLY,
  PROCESS_QS,
  PROCESS_HCCP,
  PROCESS_USER,
  PROCESS_CPTYPE_MAX
} processType_t;
typedef enum tagProcStatus {
  STATUS_NOMEM = 1,
  STATUS_SVM_PAGE_FALUT_ERR_OCCUR = 2,
  STATUS_SVM_PAGE_FALUT_ERR_CNT = 3,
  STATUS_MAX
} processStatus_t;
struct drv_process_status_output {
  uint32_t result;
  uint32_t reserve[8];
};
/* Accesses of the card to managed addresses that nobody could serve: whether there were some, or
   how many. Migrations are not among them. NOT_SUPPORT: of another kind of process or status. */
NPU_HAL drvError_t halCheckProcessStatusEx(DVdevice device, processType_t type,
                                           processStatus_t status,
                                           struct drv_process_status_output* out);
NPU_HAL drvError_t halCheckProcessStatus(DVdevice device, processType_t type,
                                         processStatus_t status, bool* matched);

#define SVM_AGENT_DEVICE 0u
#define SVM_AGENT_HOST 1u
/* Keeps the device open for memory of it, until the agent is closed; one that is open stays so.
   INVALID_VALUE: there is no such device; NOT_SUPPORT: `flag` is of no agent. */
NPU_HAL drvError_t halMemAgentOpen(uint32_t device, uint32_t flag);
/* One that is not open stays so. */
NPU_HAL drvError_t halMemAgentClose(uint32_t device, uint32_t flag);

/* --- Memory. The flag word: */
#define MEM_DEVICE_MASK 0x3FFull /* device */
#define MEM_VIRT_BIT 10          /* .. 13: kind */
#define MEM_SVM_VAL 0x0ull
#define MEM_DEV_VAL 0x1ull
#define MEM_HOST_VAL 0x2ull
#define MEM_HOST_AGENT_VAL 0x4ull
#define MEM_HOST_UVA_VAL 0x6ull
#define MEM_UVM_VAL 0x7ull
#define MEM_SVM (MEM_SVM_VAL << MEM_VIRT_BIT)
#define MEM_DEV (MEM_DEV_VAL << MEM_VIRT_BIT)
#define MEM_HOST (MEM_HOST_VAL << MEM_VIRT_BIT)
#define MEM_HOST_AGENT (MEM_HOST_AGENT_VAL << MEM_VIRT_BIT)
#define MEM_HOST_UVA (MEM_HOST_UVA_VAL << MEM_VIRT_BIT)
#define MEM_UVM (MEM_UVM_VAL << MEM_VIRT_BIT)
#define MEM_PHY_BIT 14 /* .. 16: memory type */
#define MEM_TYPE_DDR (0x0ull << MEM_PHY_BIT)
#define MEM_TYPE_HBM (0x1ull << MEM_PHY_BIT)
#define MEM_PAGE_HUGE (1ull << 17)
#define MEM_ALIGN_BIT 20 /* .. 24: log2 */
#define MEM_ADVISE_P2P (1ull << 25)
#define MEM_ADVISE_BAR (1ull << 28)
#define MEM_READONLY (1ull << 29)
#define MEM_HOST_RW_DEV_RO (1ull << 30)
#define MEM_PAGE_GIANT (1ull << 31)
#define MEM_MODULE_ID_BIT 56 /* .. 63: module, for halGetMemUsageInfo() */

/* MEM_DEV: device memory. MEM_HOST: host memory that the card reaches, of which `*address` is an
   ordinary pointer. MEM_SVM and MEM_UVM: managed memory, whose pages of 2 MiB are where they were
   used last. MEM_HOST_AGENT, MEM_HOST_UVA: NOT_SUPPORT; other kinds: INVALID_MALLOC_TYPE. Device
   memory is of pages of 2 MiB, which every alignment up to log2 = 21 has; more: NOT_SUPPORT. The
   other flags are taken: all device memory is HBM, and reached by peers. OUT_OF_MEMORY. */
NPU_HAL drvError_t halMemAlloc(void** address, unsigned long long size, unsigned long long flag);
/* INVALID_VALUE: not what halMemAlloc() gave. */
NPU_HAL drvError_t halMemFree(void* address);
/* To the program or from it, as the addresses say. INVALID_VALUE: `max` is less than `count`. */
NPU_HAL DVresult drvMemcpy(DVdeviceptr to, size_t max, DVdeviceptr from, size_t count);
typedef enum {
  DRV_MEMCPY_HOST_TO_HOST,
  DRV_MEMCPY_HOST_TO_DEVICE,
  DRV_MEMCPY_DEVICE_TO_HOST,
  DRV_MEMCPY_DEVICE_TO_DEVICE
} drvMemcpyKind_t;
struct memcpy_info {
  drvMemcpyKind_t dir;
  uint32_t devid;
  uint64_t reserve[2]; /* 0 */
};
/* NOT_SUPPORT: another direction than from device to host. */
NPU_HAL drvError_t halMemcpy(void* to, size_t max, void* from, size_t count,
                             struct memcpy_info* info);
/* By the card's engine for copies, between two places of device memory; returns when it is done.
   INVALID_VALUE: one of them is none, or `max` is less than `count`. */
NPU_HAL drvError_t halSdmaCopy(DVdeviceptr to, size_t max, DVdeviceptr from, size_t count);
NPU_HAL DVresult drvMemsetD8(DVdeviceptr to, size_t max, uint8_t value, size_t count);

/* Where the allocation that has the address begins, and its bytes; one of the two may be null.
   INVALID_VALUE: none has it. */
NPU_HAL drvError_t halMemGetAddressRange(DVdeviceptr address, DVdeviceptr* begin, size_t* size);

enum ADVISE_MEM_TYPE {
  ADVISE_PERSISTENT = 0, /* stays in the L2: NOT_SUPPORT */
  ADVISE_DEV_MEM = 1,
  ADVISE_ACCESS_READONLY = 2,
  ADVISE_ACCESS_READWRITE = 3,
  ADVISE_TYPE_MAX
};
/* ADVISE_DEV_MEM: of memory of MEM_SVM, pages that nobody has touched are made on the device now.
   The accesses: of whole allocations of MEM_DEV, and of mappings, the card may write there from now
   on or not. INVALID_VALUE: of other memory; NOT_SUPPORT: other advice. */
NPU_HAL drvError_t halMemAdvise(DVdeviceptr address, size_t count, unsigned int type,
                                DVdevice device);

enum drvRegisterTpye {
  HOST_MEM_MAP_DEV = 0,
  HOST_SVM_MAP_DEV = 1,
  DEV_SVM_MAP_HOST = 2,
  HOST_MEM_MAP_DEV_PCIE_TH = 3,
  DEV_MEM_MAP_HOST = 4,
  HOST_REGISTER_MAX_TPYE
};
/* Pages of the program's own (HOST_MEM_MAP_DEV, HOST_MEM_MAP_DEV_PCIE_TH), from a multiple of 4 KiB
   on, become pinned memory; no thread may write there during the call. HOST_SVM_MAP_DEV: memory of
   MEM_HOST. The device reaches it at `*mapped`, over the PCIe link; copies also take the program's
   own address. NOT_SUPPORT: device memory for the host. INVALID_VALUE: not all of it can
   be read and written, or some of it is pinned already. */
NPU_HAL drvError_t halHostRegister(void* source, uint64_t size, uint32_t flag, uint32_t device,
                                   void** mapped);
/* INVALID_VALUE: it was not registered there, on that device, or with that flag. */
NPU_HAL drvError_t halHostUnregister(void* source, uint32_t device);
NPU_HAL drvError_t halHostUnregisterEx(void* source, uint32_t device, uint32_t flag);

struct mem_module_usage {
  char name[32];          /* of the module */
  uint64_t cur_mem_size;  /* bytes that it has */
  uint64_t mem_peak_size; /* the most at a time */
  size_t reserved[8];
};
/* Device and managed memory that the program has on the device, by modules: those with the most
   first, `*count` of at most `room`. NOT_SUPPORT: cards of the 950 do not tell. */
NPU_HAL drvError_t halGetMemUsageInfo(uint32_t device, struct mem_module_usage* usage, size_t room,
                                      size_t* count);

#define MEM_INFO_TYPE_DDR_SIZE 1
#define MEM_INFO_TYPE_HBM_SIZE 2
struct MemPhyInfo { /* bytes, of pages of 4 KiB, 2 MiB, 1 GiB */
  unsigned long total, free;
  unsigned long huge_total, huge_free;
  unsigned long giant_total, giant_free;
};
__extension__ struct MemInfo {
  union {
    struct MemPhyInfo phy_info;
    uint64_t room[64];
  };
};
/* The card's memory is of one kind, of which pages of 2 MiB and 1 GiB are made: its size stands
   with both. There is no DDR. NOT_SUPPORT: other types. */
NPU_HAL DVresult halMemGetInfo(DVdevice device, unsigned int type, struct MemInfo* info);
NPU_HAL DVresult halMemGetInfoEx(DVdevice device, unsigned int type, struct MemInfo* info);

#define DV_MEM_SVM 0x0001u        /* managed, and nowhere yet */
#define DV_MEM_SVM_HOST 0x0002u   /* managed, on the host */
#define DV_MEM_SVM_DEVICE 0x0004u /* managed, on the device */
#define DV_MEM_LOCK_HOST 0x0008u  /* host memory */
#define DV_MEM_LOCK_DEV 0x0010u   /* device memory */
#define DV_MEM_USER_MALLOC 0x0080u
#define DV_MEM_UVM 0x0200u
struct DVattribute {
  uint32_t memType; /* one of these */
  uint32_t resv1, resv2;
  uint32_t devId;    /* of device memory, and of DV_MEM_SVM_DEVICE */
  uint32_t pageSize; /* bytes */
  uint32_t resv[8];
};
NPU_HAL DVresult drvMemGetAttribute(DVdeviceptr address, struct DVattribute* attribute);

/* --- Managed memory */
typedef enum drv_uvm_location_type {
  DRV_UVM_LOCATION_TYPE_INVALID = 0,
  DRV_UVM_LOCATION_TYPE_DEVICE = 1,
  DRV_UVM_LOCATION_TYPE_HOST = 2,
  DRV_UVM_LOCATION_TYPE_HOST_NUMA = 3
} drv_uvm_location_type;
struct drv_uvm_location {
  drv_uvm_location_type type;
  int id;
};
enum {
  READ_MOSTLY = 0,
  UNSET_READ_MOSTLY = 1,
  PREFER_LOCATION = 2,
  UNSET_PREFER_LOCATION = 3,
  ACCESS_BY_LOCATION = 4,
  UNSET_ACCESS_BY_LOCATION = 5
};
enum {
  MEM_RANGE_ATTR_READ_MOSTLY = 1,
  MEM_RANGE_ATTR_PREFERRED_LOC = 2,
  MEM_RANGE_ATTR_ACCESS_BY = 3,
  MEM_RANGE_ATTR_PREFERRED_LOC_TYPE = 4,
  MEM_RANGE_ATTR_PREFERRED_LOC_ID = 5,
  MEM_RANGE_ATTR_LAST_PREFETCH_LOC = 6,
  MEM_RANGE_ATTR_LAST_PREFETCH_LOC_TYPE = 7,
  MEM_RANGE_ATTR_LAST_PREFETCH_LOC_ID = 8
};
/* Memory of MEM_SVM only, from a multiple of 2 MiB on, whose pages the host has; else
   INVALID_VALUE. Returns when it is there. */
NPU_HAL DVresult drvMemPrefetchToDevice(DVdeviceptr address, size_t length, DVdevice device);
/* Memory of MEM_UVM only, like the functions below; else INVALID_VALUE. `flags` are 0. Pages that
   nobody has touched stay where they are: nowhere. Read-mostly ones to the host: INVALID_VALUE. */
NPU_HAL drvError_t halMemManagedPrefetch(DVdeviceptr address, size_t size,
                                         struct drv_uvm_location to, uint32_t flags);
/* Range i goes to locations[j] for the largest j with location_index[j] <= i, of which the first is
   0 and all grow. At most 4096 ranges and 64 locations (INVALID_VALUE). */
NPU_HAL drvError_t halMemManagedPrefetchBatch(DVdeviceptr* addresses, size_t* sizes, size_t count,
                                              struct drv_uvm_location* locations,
                                              size_t* location_index, size_t location_count,
                                              uint64_t flags);
NPU_HAL drvError_t halMemManagedAdvise(DVdeviceptr address, size_t size, uint32_t advise,
                                       struct drv_uvm_location location);
/* What all pages of the range have in common, each as an int32_t; sizes[i] is at least 4. A device
   of -1 is the host, -2 several or none. */
NPU_HAL drvError_t halMemManagedRangeGetAttributes(void** data, size_t* sizes, uint32_t* attributes,
                                                   size_t count, DVdeviceptr address, size_t size);

/* --- Address ranges, physical memory and mappings; sizes are multiples of 2 MiB */
typedef struct drv_mem_handle drv_mem_handle_t;
enum drv_mem_side { MEM_HOST_SIDE = 0, MEM_DEV_SIDE = 1 };
enum drv_mem_pg_type { MEM_NORMAL_PAGE_TYPE = 0, MEM_HUGE_PAGE_TYPE = 1, MEM_GIANT_PAGE_TYPE = 2 };
enum drv_mem_type {
  MEM_HBM_TYPE = 0,
  MEM_DDR_TYPE = 1,
  MEM_P2P_HBM_TYPE = 2,
  MEM_P2P_DDR_TYPE = 3
};
struct drv_mem_prop {
  uint32_t side;
  uint32_t devid;
  uint32_t module_id;
  uint32_t pg_type;
  uint32_t mem_type;
  uint64_t reserve;
};
typedef enum { MEM_HANDLE_TYPE_NONE = 0, MEM_HANDLE_TYPE_FABRIC = 1 } drv_mem_handle_type;
typedef enum {
  MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} drv_mem_granularity_options;
typedef enum {
  MEM_ACCESS_TYPE_NONE = 0,
  MEM_ACCESS_TYPE_READ = 1,
  MEM_ACCESS_TYPE_READWRITE = 3
} drv_mem_access_type;
struct drv_mem_location {
  uint32_t id;
  enum drv_mem_side side;
};
struct drv_mem_access_desc {
  drv_mem_access_type type;
  struct drv_mem_location location;
  unsigned int rsv[2];
};
/* `alignment`, `address` and `flag` are 0 (NOT_SUPPORT). Of the first device that is open. */
NPU_HAL drvError_t halMemAddressReserve(void** range, size_t size, size_t alignment, void* address,
                                        uint64_t flag);
NPU_HAL drvError_t halMemAddressFree(void* range);
/* NOT_SUPPORT: of the host. */
NPU_HAL drvError_t halMemCreate(drv_mem_handle_t** handle, size_t size,
                                const struct drv_mem_prop* prop, uint64_t flag);
NPU_HAL drvError_t halMemRelease(drv_mem_handle_t* handle);
/* Readable and writable at once. */
NPU_HAL drvError_t halMemMap(void* address, size_t size, size_t offset, drv_mem_handle_t* handle,
                             uint64_t flag);
NPU_HAL drvError_t halMemUnmap(void* address);
NPU_HAL drvError_t halMemSetAccess(void* address, size_t size,
                                   struct drv_mem_access_desc* descriptors, size_t count);
/* NOT_SUPPORT: fabric handles. Whoever knows the number may have the memory. */
NPU_HAL drvError_t halMemExportToShareableHandle(drv_mem_handle_t* handle, drv_mem_handle_type type,
                                                 uint64_t flags, uint64_t* shareable);
NPU_HAL drvError_t halMemImportFromShareableHandle(uint64_t shareable, uint32_t device,
                                                   drv_mem_handle_t** handle);
NPU_HAL drvError_t halMemGetAllocationGranularity(const struct drv_mem_prop* prop,
                                                  drv_mem_granularity_options option,
                                                  size_t* granularity);

/* --- Memory under a name, for other programs */
#define NPU_HAL_NAME_LENGTH 65
/* Of a whole allocation. `length`, of the room for the name, is at least 65. */
NPU_HAL DVresult halShmemCreateHandle(DVdeviceptr address, size_t size, char* name,
                                      uint32_t length);
/* The name ends. Who has opened it keeps the memory. */
NPU_HAL DVresult halShmemDestroyHandle(const char* name);
/* Nobody else may open it. */
NPU_HAL DVresult halShmemSetPidHandle(const char* name, int ids[], int count);
/* Of the first device that is open. INVALID_VALUE: no such name, or not for this process. */
NPU_HAL DVresult halShmemOpenHandle(const char* name, DVdeviceptr* address);
NPU_HAL DVresult halShmemOpenHandleByDevId(DVdevice device, const char* name, DVdeviceptr* address);
NPU_HAL DVresult halShmemCloseHandle(DVdeviceptr address);

/* --- Queues of messages between host and device: not modelled. */
typedef struct QueueAttr QueueAttr;
NPU_HAL drvError_t halQueueInit(unsigned int device);
NPU_HAL drvError_t halQueueCreate(unsigned int device, const QueueAttr* attributes,
                                  unsigned int* queue);
NPU_HAL drvError_t halQueueDestroy(unsigned int device, unsigned int queue);
NPU_HAL drvError_t halQueueEnQueue(unsigned int device, unsigned int queue, void* buffer);
NPU_HAL drvError_t halQueueDeQueue(unsigned int device, unsigned int queue, void** buffer);

#ifdef __cplusplus
}
#endif

#include <ascend_hal_external.h>

#endif
