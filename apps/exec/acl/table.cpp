// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

using compat::Call;

constexpr std::pair<Call, Handler> kHandlers[] = {
    {Call::kSleep, sleep},
    {Call::kInit, init},
    {Call::kFinalize, finalize},
    {Call::kFinalizeReference, finalize_reference},
    {Call::kGetDeviceCount, get_device_count},
    {Call::kSetDevice, set_device},
    {Call::kResetDevice, reset_device},
    {Call::kResetDeviceForce, reset_device_force},
    {Call::kGetDevice, get_device},
    {Call::kGetSocName, get_soc_name},
    {Call::kGetDeviceInfo, get_device_info},
    {Call::kGetUtilization, get_utilization},
    {Call::kQueryDeviceStatus, query_device_status},
    {Call::kCreateContext, create_context},
    {Call::kDestroyContext, destroy_context},
    {Call::kSetCurrentContext, set_current_context},
    {Call::kGetCurrentContext, get_current_context},
    {Call::kSynchronizeDevice, synchronize_device},
    {Call::kCreateStream, create_stream},
    {Call::kDestroyStream, destroy_stream},
    {Call::kDestroyStreamForce, destroy_stream_force},
    {Call::kSynchronizeStream, synchronize_stream},
    {Call::kStreamQuery, stream_query},
    {Call::kStreamWaitEvent, stream_wait_event},
    {Call::kSetStreamFailureMode, set_stream_failure_mode},
    {Call::kCreateEvent, create_event},
    {Call::kDestroyEvent, destroy_event},
    {Call::kRecordEvent, record_event},
    {Call::kResetEvent, reset_event},
    {Call::kQueryEvent, query_event},
    {Call::kSynchronizeEvent, synchronize_event},
    {Call::kEventElapsedTime, event_elapsed_time},
    {Call::kMalloc, allocate},
    {Call::kFree, free},
    {Call::kMallocHost, allocate_host},
    {Call::kFreeHost, free_host},
    {Call::kRegisterHost, register_host},
    {Call::kPeerAccess, peer_access},
    {Call::kGetMemInfo, get_mem_info},
    {Call::kMemoryUse, memory_use},
    {Call::kLimitMemory, limit_memory},
    {Call::kPointerAttributes, pointer_attributes},
    {Call::kCopyIn, copy_in},
    {Call::kCopyOut, copy_out},
    {Call::kCopyTurn, copy_turn},
    {Call::kCopyBuffered, copy_buffered},
    {Call::kCopyOnHost, copy_on_host},
    {Call::kCopyOnDevice, copy_on_device},
    {Call::kCopyPinned, copy_pinned},
    {Call::kMemset, fill},
    {Call::kMemsetPinned, fill_pinned},
    {Call::kPlace, place},
    {Call::kReserveMemAddress, reserve},
    {Call::kReleaseMemAddress, release},
    {Call::kMallocPhysical, allocate_physical},
    {Call::kFreePhysical, free_physical},
    {Call::kMapMem, map},
    {Call::kUnmapMem, unmap},
    {Call::kMemSetAccess, set_access},
    {Call::kMemExport, export_memory},
    {Call::kMemImport, import_memory},
    {Call::kMallocManaged, allocate_managed},
    {Call::kManagedTouch, touch_managed},
    {Call::kManagedHome, managed_home},
    {Call::kManagedAdvise, managed_advise},
    {Call::kManagedPrefetch, managed_prefetch},
    {Call::kManagedAttribute, managed_attribute},
    {Call::kBinaryLoad, load_binary},
    {Call::kBinaryUnload, unload_binary},
    {Call::kBinaryGetFunction, get_function},
    {Call::kLaunchKernel, launch_kernel},
    {Call::kSetResLimit, set_res_limit},
    {Call::kGetResLimit, get_res_limit},
    {Call::kResetResLimit, reset_res_limit},
    {Call::kErrorMessage, error_message},
    {Call::kSubscribeReport, subscribe_report},
    {Call::kLaunchCallback, launch_callback},
    {Call::kProcessReport, process_report},
    {Call::kCallbackDone, callback_done},
    {Call::kUseStreamLimits, use_stream_limits},
    {Call::kGetThreadLimit, get_thread_limit},
    {Call::kOpenDevice, open_device},
    {Call::kFaultErrors, fault_errors},
    {Call::kShareName, share_name},
    {Call::kShareEnd, share_end},
    {Call::kShareAdmit, share_admit},
    {Call::kShareOpen, share_open},
    {Call::kShareClose, share_close},
    {Call::kManageCard, manage_card},
    {Call::kManageRead, manage_read},
    {Call::kManageWrite, manage_write},
    {Call::kManageConfig, manage_configuration},
    {Call::kManageMemory, manage_memory},
    {Call::kManageProcesses, manage_processes},
    {Call::kManageQuota, manage_quota},
    {Call::kManageToken, manage_token},
    {Call::kManageGroups, manage_groups},
    {Call::kManageVirtual, manage_virtual_devices},
    {Call::kManageTime, manage_time},
    {Call::kModuleUse, module_use},
    {Call::kAddressRange, address_range},
    {Call::kMemoryAdvise, memory_advise},
    {Call::kAgent, agent},
};

using Table = std::array<Handler, static_cast<std::size_t>(Call::kCount)>;

constexpr Table make_table() {
  Table table{};
  for (const auto& [call, handler] : kHandlers) table[static_cast<std::size_t>(call)] = handler;
  return table;
}

}  // namespace

Handler handler_of(Call call) {
  static constexpr Table kTable = make_table();
  return call < Call::kCount ? kTable[static_cast<std::size_t>(call)] : nullptr;
}

}  // namespace npu::exec::acl
