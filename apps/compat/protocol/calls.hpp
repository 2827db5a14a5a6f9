// SPDX-License-Identifier: Apache-2.0
// The calls a program makes of npusim: one for each function of the C API that needs the machine or
// what npusim keeps for the program. What their words are stands with who makes them
// (apps/compat/rt, apps/compat/hal) and who serves them (apps/exec/acl), in the order of the
// function's parameters.
#pragma once

#include <cstdint>
#include <string_view>

namespace npu::compat {

// X(enumerator, name in reports)
#define NPU_COMPAT_CALLS(X)                              \
  X(End, "end")                                          \
  X(Sleep, "sleep")                                      \
  X(Init, "aclInit")                                     \
  X(Finalize, "aclFinalize")                             \
  X(FinalizeReference, "aclFinalizeReference")           \
  X(GetDeviceCount, "aclrtGetDeviceCount")               \
  X(SetDevice, "aclrtSetDevice")                         \
  X(ResetDevice, "aclrtResetDevice")                     \
  X(ResetDeviceForce, "aclrtResetDeviceForce")           \
  X(GetDevice, "aclrtGetDevice")                         \
  X(GetSocName, "aclrtGetSocName")                       \
  X(GetDeviceInfo, "aclrtGetDeviceInfo")                 \
  X(QueryDeviceStatus, "aclrtQueryDeviceStatus")         \
  X(GetUtilization, "aclrtGetDeviceUtilizationRate")     \
  X(CreateContext, "aclrtCreateContext")                 \
  X(DestroyContext, "aclrtDestroyContext")               \
  X(SetCurrentContext, "aclrtSetCurrentContext")         \
  X(GetCurrentContext, "aclrtGetCurrentContext")         \
  X(SynchronizeDevice, "aclrtSynchronizeDevice")         \
  X(CreateStream, "aclrtCreateStream")                   \
  X(DestroyStream, "aclrtDestroyStream")                 \
  X(DestroyStreamForce, "aclrtDestroyStreamForce")       \
  X(SynchronizeStream, "aclrtSynchronizeStream")         \
  X(StreamQuery, "aclrtStreamQuery")                     \
  X(StreamWaitEvent, "aclrtStreamWaitEvent")             \
  X(SetStreamFailureMode, "aclrtSetStreamFailureMode")   \
  X(CreateEvent, "aclrtCreateEvent")                     \
  X(DestroyEvent, "aclrtDestroyEvent")                   \
  X(RecordEvent, "aclrtRecordEvent")                     \
  X(ResetEvent, "aclrtResetEvent")                       \
  X(QueryEvent, "aclrtQueryEventStatus")                 \
  X(SynchronizeEvent, "aclrtSynchronizeEvent")           \
  X(EventElapsedTime, "aclrtEventElapsedTime")           \
  X(Malloc, "aclrtMalloc")                               \
  X(Free, "aclrtFree")                                   \
  X(MallocHost, "aclrtMallocHost")                       \
  X(FreeHost, "aclrtFreeHost")                           \
  X(RegisterHost, "aclrtHostRegister")                   \
  X(PeerAccess, "aclrtDeviceCanAccessPeer")              \
  X(GetMemInfo, "aclrtGetMemInfo")                       \
  X(MemoryUse, "npusimGetMemoryUse")                     \
  X(LimitMemory, "npusimLimitMemory")                    \
  X(PointerAttributes, "aclrtPointerGetAttributes")      \
  X(CopyIn, "aclrtMemcpy.host_to_device")                \
  X(CopyOut, "aclrtMemcpy.device_to_host")               \
  X(CopyTurn, "aclrtMemcpyAsync.turn")                   \
  X(CopyBuffered, "aclrtMemcpyAsync.buffered")           \
  X(CopyOnHost, "aclrtMemcpyAsync.host_to_host")         \
  X(CopyOnDevice, "aclrtMemcpy.device_to_device")        \
  X(CopyPinned, "aclrtMemcpyAsync.pinned")               \
  X(Memset, "aclrtMemset")                               \
  X(MemsetPinned, "aclrtMemsetAsync.pinned")             \
  X(Place, "aclrtMemcpy.place")                          \
  X(ReserveMemAddress, "aclrtReserveMemAddress")         \
  X(ReleaseMemAddress, "aclrtReleaseMemAddress")         \
  X(MallocPhysical, "aclrtMallocPhysical")               \
  X(FreePhysical, "aclrtFreePhysical")                   \
  X(MapMem, "aclrtMapMem")                               \
  X(UnmapMem, "aclrtUnmapMem")                           \
  X(MemSetAccess, "aclrtMemSetAccess")                   \
  X(MemExport, "aclrtMemExportToShareableHandle")        \
  X(MemImport, "aclrtMemImportFromShareableHandle")      \
  X(MallocManaged, "aclrtMemAllocManaged")               \
  X(ManagedTouch, "page_fault")                          \
  X(ManagedHome, "fork")                                 \
  X(ManagedAdvise, "aclrtMemManagedAdvise")              \
  X(ManagedPrefetch, "aclrtMemManagedPrefetchAsync")     \
  X(ManagedAttribute, "aclrtMemManagedGetAttr")          \
  X(BinaryLoad, "aclrtBinaryLoadFromFile")               \
  X(BinaryUnload, "aclrtBinaryUnLoad")                   \
  X(BinaryGetFunction, "aclrtBinaryGetFunction")         \
  X(LaunchKernel, "aclrtLaunchKernel")                   \
  X(SetResLimit, "aclrtSetDeviceResLimit")               \
  X(GetResLimit, "aclrtGetDeviceResLimit")               \
  X(ResetResLimit, "aclrtResetDeviceResLimit")           \
  X(ErrorMessage, "aclGetRecentErrMsg")                  \
  X(SubscribeReport, "aclrtSubscribeReport")             \
  X(LaunchCallback, "aclrtLaunchCallback")               \
  X(ProcessReport, "aclrtProcessReport")                 \
  X(CallbackDone, "aclrtProcessReport.done")             \
  X(UseStreamLimits, "aclrtUseStreamResInCurrentThread") \
  X(GetThreadLimit, "aclrtGetResInCurrentThread")        \
  X(OpenDevice, "drvDeviceOpen")                         \
  X(FaultErrors, "halCheckProcessStatusEx")              \
  X(ShareName, "halShmemCreateHandle")                   \
  X(ShareEnd, "halShmemDestroyHandle")                   \
  X(ShareAdmit, "halShmemSetPidHandle")                  \
  X(ShareOpen, "halShmemOpenHandle")                     \
  X(ShareClose, "halShmemCloseHandle")                   \
  X(ManageCard, "dsmi.card")                             \
  X(ManageRead, "dsmi.read")                             \
  X(ManageWrite, "dsmi.write")                           \
  X(ManageConfig, "dsmi.configuration")                  \
  X(ManageMemory, "dsmi.memory")                         \
  X(ManageProcesses, "dsmi.processes")                   \
  X(ManageQuota, "dsmi.quota")                           \
  X(ManageToken, "dsmi.token")                           \
  X(ManageGroups, "dsmi.groups")                         \
  X(ManageVirtual, "dsmi.virtual_devices")               \
  X(ManageTime, "dsmi.time")                             \
  X(ModuleUse, "aclrtGetMemUsageInfo")                   \
  X(AddressRange, "aclrtMemGetAddressRange")             \
  X(MemoryAdvise, "halMemAdvise")                        \
  X(Agent, "halMemAgentOpen")

enum class Call : std::uint32_t {
#define NPU_COMPAT_ENUMERATOR(name, text) k##name,
  NPU_COMPAT_CALLS(NPU_COMPAT_ENUMERATOR)
#undef NPU_COMPAT_ENUMERATOR
      kCount,
};

inline constexpr std::string_view kCallNames[] = {
#define NPU_COMPAT_NAME(name, text) text,
    NPU_COMPAT_CALLS(NPU_COMPAT_NAME)
#undef NPU_COMPAT_NAME
};

}  // namespace npu::compat
