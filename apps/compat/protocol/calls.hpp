// SPDX-License-Identifier: Apache-2.0
// The calls a program makes of npusim: one for each function of the C API that needs the machine or
// what npusim keeps for the program. A row is all there is of a call: its number by its place, what
// it asks for, what it is answered with, its name in reports. Who makes calls (apps/compat/rt,
// apps/compat/hal, apps/dsmi/program) and who serves them (apps/exec/acl) have them from here.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "apps/compat/protocol/collective_messages.hpp"
#include "apps/compat/protocol/management.hpp"
#include "apps/compat/protocol/memory_messages.hpp"
#include "apps/compat/protocol/messages.hpp"
#include "apps/compat/protocol/operator_messages.hpp"
#include "apps/compat/protocol/wire.hpp"

namespace npu::compat {

// X(enumerator, what it asks for, what it is answered with, name in reports)
#define NPU_COMPAT_CALLS(X)                                                     \
  X(Sleep, Number, Nothing, "sleep")                                            \
  X(Init, Nothing, Nothing, "aclInit")                                          \
  X(Finalize, Nothing, Nothing, "aclFinalize")                                  \
  X(FinalizeReference, Nothing, Number, "aclFinalizeReference")                 \
  X(GetDeviceCount, Nothing, Number, "aclrtGetDeviceCount")                     \
  X(SetDevice, Device, Nothing, "aclrtSetDevice")                               \
  X(ResetDevice, Device, Nothing, "aclrtResetDevice")                           \
  X(ResetDeviceForce, Device, Nothing, "aclrtResetDeviceForce")                 \
  X(GetDevice, Nothing, Number, "aclrtGetDevice")                               \
  X(GetSocName, Nothing, Text, "aclrtGetSocName")                               \
  X(GetDeviceInfo, DeviceAttribute, Number, "aclrtGetDeviceInfo")               \
  X(QueryDeviceStatus, Device, Number, "aclrtQueryDeviceStatus")                \
  X(GetUtilization, Device, Utilization, "aclrtGetDeviceUtilizationRate")       \
  X(CreateContext, Device, Handle, "aclrtCreateContext")                        \
  X(DestroyContext, Handle, Nothing, "aclrtDestroyContext")                     \
  X(SetCurrentContext, Handle, Nothing, "aclrtSetCurrentContext")               \
  X(GetCurrentContext, Nothing, Handle, "aclrtGetCurrentContext")               \
  X(SynchronizeDevice, Number, Nothing, "aclrtSynchronizeDevice")               \
  X(CreateStream, StreamOptions, Handle, "aclrtCreateStream")                   \
  X(DestroyStream, Handle, Nothing, "aclrtDestroyStream")                       \
  X(DestroyStreamForce, Handle, Nothing, "aclrtDestroyStreamForce")             \
  X(SynchronizeStream, TimedWait, Nothing, "aclrtSynchronizeStream")            \
  X(StreamQuery, Handle, Number, "aclrtStreamQuery")                            \
  X(StreamWaitEvent, StreamWait, Nothing, "aclrtStreamWaitEvent")               \
  X(SetStreamFailureMode, FailureMode, Nothing, "aclrtSetStreamFailureMode")    \
  X(CreateEvent, Number, Handle, "aclrtCreateEvent")                            \
  X(DestroyEvent, Handle, Nothing, "aclrtDestroyEvent")                         \
  X(RecordEvent, EventPlace, Nothing, "aclrtRecordEvent")                       \
  X(ResetEvent, EventPlace, Nothing, "aclrtResetEvent")                         \
  X(QueryEvent, Handle, Number, "aclrtQueryEventStatus")                        \
  X(SynchronizeEvent, TimedWait, Nothing, "aclrtSynchronizeEvent")              \
  X(EventElapsedTime, EventPair, Number, "aclrtEventElapsedTime")               \
  X(Malloc, Allocation, Address, "aclrtMalloc")                                 \
  X(Free, Address, Nothing, "aclrtFree")                                        \
  X(MallocHost, Size, Handle, "aclrtMallocHost")                                \
  X(FreeHost, Handle, Nothing, "aclrtFreeHost")                                 \
  X(RegisterHost, Size, Handle, "aclrtHostRegister")                            \
  X(MapHost, Handle, Address, "aclrtHostGetDevicePointer")                      \
  X(UnmapHost, Handle, Nothing, "aclrtHostUnregister")                          \
  X(PeerAccess, PeerAccess, Number, "aclrtDeviceCanAccessPeer")                 \
  X(GetMemInfo, Number, MemoryInfo, "aclrtGetMemInfo")                          \
  X(MemoryUse, Nothing, MemoryUse, "npusimGetMemoryUse")                        \
  X(LimitMemory, Size, Nothing, "npusimLimitMemory")                            \
  X(PointerAttributes, Address, PointerAttributes, "aclrtPointerGetAttributes") \
  X(CopyIn, WindowCopy, Nothing, "aclrtMemcpy.host_to_device")                  \
  X(CopyOut, WindowCopy, Nothing, "aclrtMemcpy.device_to_host")                 \
  X(CopyTurn, Handle, Nothing, "aclrtMemcpyAsync.turn")                         \
  X(CopyBuffered, WindowCopy, Nothing, "aclrtMemcpyAsync.buffered")             \
  X(CopyOnHost, Handle, Nothing, "aclrtMemcpyAsync.host_to_host")               \
  X(CopyOnDevice, DeviceCopy, Nothing, "aclrtMemcpy.device_to_device")          \
  X(CopyPinned, PinnedCopy, Nothing, "aclrtMemcpyAsync.pinned")                 \
  X(Memset, Fill, Nothing, "aclrtMemset")                                       \
  X(MemsetPinned, PinnedFill, Nothing, "aclrtMemsetAsync.pinned")               \
  X(Place, Address, Number, "aclrtMemcpy.place")                                \
  X(ReserveMemAddress, Size, Address, "aclrtReserveMemAddress")                 \
  X(ReleaseMemAddress, Address, Nothing, "aclrtReleaseMemAddress")              \
  X(MallocPhysical, PhysicalMemory, Handle, "aclrtMallocPhysical")              \
  X(FreePhysical, Handle, Nothing, "aclrtFreePhysical")                         \
  X(MapMem, Mapping, Nothing, "aclrtMapMem")                                    \
  X(UnmapMem, Address, Nothing, "aclrtUnmapMem")                                \
  X(MemSetAccess, MappingAccess, Nothing, "aclrtMemSetAccess")                  \
  X(MemExport, Handle, Number, "aclrtMemExportToShareableHandle")               \
  X(MemImport, Import, Handle, "aclrtMemImportFromShareableHandle")             \
  X(MallocManaged, ManagedAllocation, ManagedAddress, "aclrtMemAllocManaged")   \
  X(ManagedTouch, ManagedTouch, TouchedPage, "page_fault")                      \
  X(ManagedHome, Nothing, ManagedHome, "fork")                                  \
  X(ManagedAdvise, ManagedAdvice, Nothing, "aclrtMemManagedAdvise")             \
  X(ManagedPrefetch, Prefetch, Nothing, "aclrtMemManagedPrefetchAsync")         \
  X(ManagedAttribute, ManagedAttribute, Number, "aclrtMemManagedGetAttr")       \
  X(BinaryLoad, Binary, Handle, "aclrtBinaryLoadFromFile")                      \
  X(BinaryUnload, Handle, Nothing, "aclrtBinaryUnLoad")                         \
  X(BinaryGetFunction, FunctionName, Handle, "aclrtBinaryGetFunction")          \
  X(BinaryKernels, Handle, Text, "aclrtBinaryGetFunctionCount")                 \
  X(FunctionInfo, Handle, FunctionInfo, "aclrtGetFunctionName")                 \
  X(FunctionParameters, Handle, Number, "aclrtFunctionGetParamInfo")            \
  X(BinaryGlobal, FunctionName, Variable, "aclrtBinaryGetGlobal")               \
  X(LaunchKernel, Launch, Nothing, "aclrtLaunchKernel")                         \
  X(SetKernelTimeout, Number, Number, "aclrtSetOpExecuteTimeOut")               \
  X(GetKernelTimeout, Nothing, KernelTimeout, "aclrtGetOpExecuteTimeout")       \
  X(SetResLimit, CoreLimit, Nothing, "aclrtSetDeviceResLimit")                  \
  X(GetResLimit, CoreLimit, Number, "aclrtGetDeviceResLimit")                   \
  X(ResetResLimit, CoreLimit, Nothing, "aclrtResetDeviceResLimit")              \
  X(ErrorMessage, Nothing, Text, "aclGetRecentErrMsg")                          \
  X(SubscribeReport, Subscription, Nothing, "aclrtSubscribeReport")             \
  X(LaunchCallback, Callback, Nothing, "aclrtLaunchCallback")                   \
  X(ProcessReport, ReportWait, DueCallback, "aclrtProcessReport")               \
  X(CallbackDone, Number, Nothing, "aclrtProcessReport.done")                   \
  X(UseStreamLimits, StreamLimits, Nothing, "aclrtUseStreamResInCurrentThread") \
  X(GetThreadLimit, CoreLimit, Number, "aclrtGetResInCurrentThread")            \
  X(OpenDevice, Device, Nothing, "drvDeviceOpen")                               \
  X(FaultErrors, Nothing, Number, "halCheckProcessStatusEx")                    \
  X(ShareName, SharedRange, Text, "halShmemCreateHandle")                       \
  X(ShareEnd, Text, Nothing, "halShmemDestroyHandle")                           \
  X(ShareAdmit, Admission, Nothing, "halShmemSetPidHandle")                     \
  X(ShareOpen, Text, Address, "halShmemOpenHandle")                             \
  X(ShareClose, Address, Nothing, "halShmemCloseHandle")                        \
  X(ManageCard, Device, Number, "dsmi.card")                                    \
  X(ManageRead, CardRegister, Number, "dsmi.read")                              \
  X(ManageWrite, CardRegister, Nothing, "dsmi.write")                           \
  X(ManageConfig, CardRegister, Number, "dsmi.configuration")                   \
  X(ManageMemory, Device, CardMemory, "dsmi.memory")                            \
  X(ManageProcesses, Device, Number, "dsmi.processes")                          \
  X(ManageQuota, Device, CardQuota, "dsmi.quota")                               \
  X(ManageToken, CardToken, Number, "dsmi.token")                               \
  X(ManageGroups, CardGroups, Number, "dsmi.groups")                            \
  X(ManageVirtual, VirtualDevices, Number, "dsmi.virtual_devices")              \
  X(ManageTime, Nothing, Number, "dsmi.time")                                   \
  X(ModuleUse, Device, Number, "aclrtGetMemUsageInfo")                          \
  X(AddressRange, Address, Range, "aclrtMemGetAddressRange")                    \
  X(MemoryAdvise, Advice, Nothing, "halMemAdvise")                              \
  X(Agent, AgentUse, Nothing, "halMemAgentOpen")                                \
  X(DefaultStream, Nothing, Handle, "aclrtCtxGetCurrentDefaultStream")          \
  X(PrimaryState, Device, Number, "aclrtGetPrimaryCtxState")                    \
  X(DeviceError, Device, Number, "aclrtGetErrorVerbose")                        \
  X(StreamInfo, Handle, StreamInfo, "aclrtStreamGetId")                         \
  X(StreamAbort, Handle, Nothing, "aclrtStreamAbort")                           \
  X(StreamStop, Handle, Nothing, "aclrtStreamStop")                             \
  X(EventInfo, Handle, EventInfo, "aclrtGetEventId")                            \
  X(EventTimestamp, Handle, Number, "aclrtEventGetTimestamp")                   \
  X(LastTask, Nothing, Number, "aclrtGetThreadLastTaskId")                      \
  X(LastFault, Nothing, FaultInfo, "aclrtSetExceptionInfoCallback")             \
  X(CreateNotify, Nothing, Handle, "aclrtCreateNotify")                         \
  X(DestroyNotify, Handle, Nothing, "aclrtDestroyNotify")                       \
  X(RecordNotify, EventPlace, Nothing, "aclrtRecordNotify")                     \
  X(WaitNotify, NotifyWait, Nothing, "aclrtWaitAndResetNotify")                 \
  X(NotifyNumber, Handle, Number, "aclrtGetNotifyId")                           \
  X(NotifyReset, Handle, Nothing, "aclrtNotifyBatchReset")                      \
  X(NotifyShare, NotifyShare, Text, "aclrtNotifyGetExportKey")                  \
  X(NotifyAdmit, NumberAdmission, Nothing, "aclrtNotifySetImportPid")           \
  X(NotifyOpen, Text, Handle, "aclrtNotifyImportByKey")                         \
  X(EventWaits, Handle, Number, "aclrtQueryEventWaitStatus")                    \
  X(StreamsLeft, Nothing, Number, "aclrtGetStreamAvailableNum")                 \
  X(Snapshot, Number, Nothing, "aclrtSnapShotProcessBackup")                    \
  X(CopyThrough, IndirectCopy, Number, "aclrtMemcpyAsyncWithOffset")            \
  X(ProfileStart, Number, Nothing, "aclprofStart")                              \
  X(ProfileTake, Nothing, Number, "aclprofStop")                                \
  X(ValueWrite, ValueWork, Nothing, "aclrtValueWrite")                          \
  X(ValueWait, ValueWork, Number, "aclrtValueWait")                             \
  X(ValueLook, Number, Nothing, "aclrtValueWait.look")                          \
  X(FillWords, WordFill, Nothing, "aclrtMemsetD32")                             \
  X(Reduce, ReducingCopy, Nothing, "aclrtReduceAsync")                          \
  X(Prefetch, PrefetchedRange, Nothing, "aclrtCmoAsync")                        \
  X(ShareLeave, Text, Nothing, "aclrtIpcMemClose")                              \
  X(MemAdmit, NumberAdmission, Nothing, "aclrtMemSetPidToShareableHandle")      \
  X(EventShare, Handle, Number, "aclrtIpcGetEventHandle")                       \
  X(EventOpen, Number, Handle, "aclrtIpcOpenEventHandle")                       \
  X(RunOperator, OperatorRun, Nothing, "aclopExecuteV2")                        \
  X(CaptureBegin, CaptureStart, Nothing, "aclmdlRICaptureBegin")                \
  X(CaptureEnd, Handle, Handle, "aclmdlRICaptureEnd")                           \
  X(CaptureInfo, Handle, CaptureState, "aclmdlRICaptureGetInfo")                \
  X(CaptureMode, Number, Number, "aclmdlRICaptureThreadExchangeMode")           \
  X(TaskGroupBegin, Handle, Nothing, "aclmdlRICaptureTaskGrpBegin")             \
  X(TaskGroupEnd, Handle, Handle, "aclmdlRICaptureTaskGrpEnd")                  \
  X(TaskUpdateBegin, UpdateStart, Nothing, "aclmdlRICaptureTaskUpdateBegin")    \
  X(TaskUpdateEnd, Handle, Nothing, "aclmdlRICaptureTaskUpdateEnd")             \
  X(ModelExecute, ModelStart, Number, "aclmdlRIExecuteAsync")                   \
  X(ModelLook, Nothing, Nothing, "aclmdlRIExecuteAsync.look")                   \
  X(ModelBuildBegin, Nothing, Handle, "aclmdlRIBuildBegin")                     \
  X(ModelBind, ModelStream, Nothing, "aclmdlRIBindStream")                      \
  X(ModelUnbind, ModelStream, Nothing, "aclmdlRIUnbindStream")                  \
  X(ModelEndTask, ModelStream, Nothing, "aclmdlRIEndTask")                      \
  X(ModelBuildEnd, Handle, Nothing, "aclmdlRIBuildEnd")                         \
  X(SwitchStream, StreamSwitch, Nothing, "aclrtSwitchStream")                   \
  X(ActiveStream, StreamActivation, Nothing, "aclrtActiveStream")               \
  X(LabelCreate, Nothing, Handle, "aclrtCreateLabel")                           \
  X(LabelDestroy, Handle, Nothing, "aclrtDestroyLabel")                         \
  X(LabelSet, LabelPlace, Nothing, "aclrtSetLabel")                             \
  X(LabelListCreate, Number, Handle, "aclrtCreateLabelList")                    \
  X(LabelListDestroy, Handle, Nothing, "aclrtDestroyLabelList")                 \
  X(LabelSwitch, LabelSwitch, Nothing, "aclrtSwitchLabelByIndex")               \
  X(ConditionCreate, ConditionValue, Handle, "aclmdlRICondHandleCreate")        \
  X(ConditionPlace, Handle, Address, "aclmdlRICondHandleGetCondPtr")            \
  X(ConditionTask, ConditionTask, Number, "aclmdlRIAddCondTask")                \
  X(CaptureBranch, BranchCapture, Nothing, "aclmdlRICaptureToModelRIBegin")     \
  X(ModelDestroy, Handle, Nothing, "aclmdlRIDestroy")                           \
  X(ModelStreams, Handle, Number, "aclmdlRIGetStreams")                         \
  X(ModelTasks, Handle, Number, "aclmdlRIGetTasksByStream")                     \
  X(ModelTask, Handle, ModelTaskInfo, "aclmdlRITaskGetType")                    \
  X(ModelText, Handle, Text, "aclmdlRIDebugJsonPrint")                          \
  X(CommunicatorRoot, Nothing, Number, "HcclGetRootInfo")                       \
  X(CommunicatorJoin, CommunicatorJoin, Nothing, "HcclCommInit")                \
  X(CommunicatorEnd, Handle, Nothing, "HcclCommDestroy")                        \
  X(CommunicatorInfo, Handle, CommunicatorInfo, "HcclGetCommName")              \
  X(CommunicatorFind, Text, Handle, "HcclCommGetHandleWithName")                \
  X(CommunicatorSwitch, CommunicatorSwitch, Nothing, "HcclCommSuspend")         \
  X(CommunicatorFailure, Handle, CommunicatorFailure, "HcclGetCommAsyncError")  \
  X(AllReduce, CollectiveWork, Nothing, "HcclAllReduce")                        \
  X(AllGather, CollectiveWork, Nothing, "HcclAllGather")                        \
  X(ReduceScatter, CollectiveWork, Nothing, "HcclReduceScatter")                \
  X(Broadcast, CollectiveWork, Nothing, "HcclBroadcast")                        \
  X(ReduceToRoot, CollectiveWork, Nothing, "HcclReduce")                        \
  X(Scatter, CollectiveWork, Nothing, "HcclScatter")                            \
  X(AllToAll, CollectiveWork, Nothing, "HcclAlltoAll")                          \
  X(Send, CollectiveWork, Nothing, "HcclSend")                                  \
  X(Receive, CollectiveWork, Nothing, "HcclRecv")                               \
  X(Barrier, CollectiveWork, Nothing, "HcclBarrier")                            \
  X(AllGatherV, CollectiveWork, Nothing, "HcclAllGatherV")                      \
  X(ReduceScatterV, CollectiveWork, Nothing, "HcclReduceScatterV")              \
  X(AllToAllV, CollectiveWork, Nothing, "HcclAlltoAllV")                        \
  X(SendReceive, CollectiveWork, Nothing, "HcclBatchSendRecv")                  \
  X(HostAccess, HostAccess, Nothing, "host_access")                             \
  X(CopyIsOver, PinnedInFlight, Number, "host_access.copy_is_over")

enum class Call : std::uint32_t {
  kEnd,  // the thread's last one, which is not answered
#define NPU_COMPAT_ENUMERATOR(name, request, answer, text) k##name,
  NPU_COMPAT_CALLS(NPU_COMPAT_ENUMERATOR)
#undef NPU_COMPAT_ENUMERATOR
      kCount,
};

inline constexpr std::string_view kCallNames[] = {"end",
#define NPU_COMPAT_NAME(name, request, answer, text) text,
                                                  NPU_COMPAT_CALLS(NPU_COMPAT_NAME)
#undef NPU_COMPAT_NAME
};

template <Call kCall>
struct CallRow;
#define NPU_COMPAT_ROW(name, request, answer, text) \
  template <>                                       \
  struct CallRow<Call::k##name> {                   \
    using Request = wire::request;                  \
    using Answer = wire::answer;                    \
  };
NPU_COMPAT_CALLS(NPU_COMPAT_ROW)
#undef NPU_COMPAT_ROW

template <Call kCall>
using Request = typename CallRow<kCall>::Request;
template <Call kCall>
using Answer = typename CallRow<kCall>::Answer;

}  // namespace npu::compat
