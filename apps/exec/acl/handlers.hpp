// SPDX-License-Identifier: Apache-2.0
// What serves each call (apps/compat/protocol/calls.hpp). The words of a call are the parameters of
// the C API's function in their order, where nothing else is said; those of its answer are what it
// gives. Files: life_calls, stream_calls, event_calls, memory_calls,
// mapping_calls, copy_calls, fill_calls, managed_calls, kernel_calls,
// callback_calls, share_calls, hal_calls, management_calls.
#pragma once

#include "apps/exec/acl/caller.hpp"

namespace npu::exec::acl {

// So many units from now; beyond the end of time: never.
Instant after(platform::Clock& clock, std::uint64_t count, Picoseconds unit);
// Milliseconds of a call; UINT64_MAX: for ever.
Instant deadline_of(platform::Clock& clock, std::uint64_t milliseconds);

Outcome sleep(Caller& caller, CallRecord& call);
Outcome init(Caller& caller, CallRecord& call);
Outcome finalize(Caller& caller, CallRecord& call);
Outcome finalize_reference(Caller& caller, CallRecord& call);
Outcome get_device_count(Caller& caller, CallRecord& call);
Outcome set_device(Caller& caller, CallRecord& call);
Outcome reset_device(Caller& caller, CallRecord& call);
Outcome reset_device_force(Caller& caller, CallRecord& call);
Outcome get_device(Caller& caller, CallRecord& call);
Outcome get_soc_name(Caller& caller, CallRecord& call);
Outcome get_device_info(Caller& caller, CallRecord& call);
Outcome get_utilization(Caller& caller, CallRecord& call);
Outcome query_device_status(Caller& caller, CallRecord& call);
Outcome create_context(Caller& caller, CallRecord& call);
Outcome destroy_context(Caller& caller, CallRecord& call);
Outcome set_current_context(Caller& caller, CallRecord& call);
Outcome get_current_context(Caller& caller, CallRecord& call);
Outcome synchronize_device(Caller& caller, CallRecord& call);
Outcome create_stream(Caller& caller, CallRecord& call);
Outcome destroy_stream(Caller& caller, CallRecord& call);
Outcome destroy_stream_force(Caller& caller, CallRecord& call);
Outcome synchronize_stream(Caller& caller, CallRecord& call);
Outcome stream_query(Caller& caller, CallRecord& call);
Outcome stream_wait_event(Caller& caller, CallRecord& call);
Outcome set_stream_failure_mode(Caller& caller, CallRecord& call);
Outcome create_event(Caller& caller, CallRecord& call);
Outcome destroy_event(Caller& caller, CallRecord& call);
Outcome record_event(Caller& caller, CallRecord& call);
Outcome reset_event(Caller& caller, CallRecord& call);
Outcome query_event(Caller& caller, CallRecord& call);
Outcome synchronize_event(Caller& caller, CallRecord& call);
Outcome event_elapsed_time(Caller& caller, CallRecord& call);
Outcome allocate(Caller& caller, CallRecord& call);
Outcome free(Caller& caller, CallRecord& call);
Outcome allocate_host(Caller& caller, CallRecord& call);
Outcome free_host(Caller& caller, CallRecord& call);
Outcome register_host(Caller& caller, CallRecord& call);
Outcome peer_access(Caller& caller, CallRecord& call);
Outcome get_mem_info(Caller& caller, CallRecord& call);
Outcome memory_use(Caller& caller, CallRecord& call);
Outcome limit_memory(Caller& caller, CallRecord& call);
Outcome pointer_attributes(Caller& caller, CallRecord& call);
Outcome copy_turn(Caller& caller, CallRecord& call);
Outcome copy_in(Caller& caller, CallRecord& call);
Outcome copy_buffered(Caller& caller, CallRecord& call);
Outcome copy_out(Caller& caller, CallRecord& call);
Outcome copy_on_device(Caller& caller, CallRecord& call);
Outcome copy_pinned(Caller& caller, CallRecord& call);
Outcome copy_on_host(Caller& caller, CallRecord& call);
Outcome fill(Caller& caller, CallRecord& call);
Outcome fill_pinned(Caller& caller, CallRecord& call);
Outcome place(Caller& caller, CallRecord& call);
Outcome reserve(Caller& caller, CallRecord& call);
Outcome release(Caller& caller, CallRecord& call);
Outcome allocate_physical(Caller& caller, CallRecord& call);
Outcome free_physical(Caller& caller, CallRecord& call);
Outcome map(Caller& caller, CallRecord& call);
Outcome unmap(Caller& caller, CallRecord& call);
Outcome set_access(Caller& caller, CallRecord& call);
Outcome export_memory(Caller& caller, CallRecord& call);
Outcome import_memory(Caller& caller, CallRecord& call);
Outcome allocate_managed(Caller& caller, CallRecord& call);
Outcome touch_managed(Caller& caller, CallRecord& call);
Outcome managed_home(Caller& caller, CallRecord& call);
Outcome managed_advise(Caller& caller, CallRecord& call);
Outcome managed_prefetch(Caller& caller, CallRecord& call);
Outcome managed_attribute(Caller& caller, CallRecord& call);
Outcome load_binary(Caller& caller, CallRecord& call);
Outcome unload_binary(Caller& caller, CallRecord& call);
Outcome get_function(Caller& caller, CallRecord& call);
Outcome launch_kernel(Caller& caller, CallRecord& call);
Outcome set_res_limit(Caller& caller, CallRecord& call);
Outcome get_res_limit(Caller& caller, CallRecord& call);
Outcome reset_res_limit(Caller& caller, CallRecord& call);
Outcome error_message(Caller& caller, CallRecord& call);
Outcome subscribe_report(Caller& caller, CallRecord& call);
Outcome launch_callback(Caller& caller, CallRecord& call);
Outcome process_report(Caller& caller, CallRecord& call);
Outcome callback_done(Caller& caller, CallRecord& call);
Outcome use_stream_limits(Caller& caller, CallRecord& call);
Outcome get_thread_limit(Caller& caller, CallRecord& call);
Outcome open_device(Caller& caller, CallRecord& call);
Outcome fault_errors(Caller& caller, CallRecord& call);
Outcome share_name(Caller& caller, CallRecord& call);
Outcome share_end(Caller& caller, CallRecord& call);
Outcome share_admit(Caller& caller, CallRecord& call);
Outcome share_open(Caller& caller, CallRecord& call);
Outcome share_close(Caller& caller, CallRecord& call);
Outcome manage_card(Caller& caller, CallRecord& call);
Outcome manage_read(Caller& caller, CallRecord& call);
Outcome manage_write(Caller& caller, CallRecord& call);
Outcome manage_configuration(Caller& caller, CallRecord& call);
Outcome manage_memory(Caller& caller, CallRecord& call);
Outcome manage_processes(Caller& caller, CallRecord& call);
Outcome manage_quota(Caller& caller, CallRecord& call);
Outcome manage_token(Caller& caller, CallRecord& call);
Outcome manage_groups(Caller& caller, CallRecord& call);
Outcome manage_virtual_devices(Caller& caller, CallRecord& call);
Outcome manage_time(Caller& caller, CallRecord& call);
Outcome module_use(Caller& caller, CallRecord& call);
Outcome address_range(Caller& caller, CallRecord& call);
Outcome memory_advise(Caller& caller, CallRecord& call);
Outcome agent(Caller& caller, CallRecord& call);

}  // namespace npu::exec::acl
