// SPDX-License-Identifier: Apache-2.0
// What programs ask of cards for management (apps/compat/protocol/management.hpp).
#include <algorithm>
#include <cstring>

#include "apps/compat/protocol/management.hpp"
#include "apps/dsmi/driver_devices.hpp"
#include "apps/exec/acl/guard.hpp"
#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

static_assert(compat::kManagementUnsupported ==
              compat::kManagementError + static_cast<int>(ErrorCode::kUnsupported));
static_assert(compat::kManagementNotFound ==
              compat::kManagementError + static_cast<int>(ErrorCode::kNotFound));
static_assert(compat::kManagementInvalid ==
              compat::kManagementError + static_cast<int>(ErrorCode::kInvalidArgument));

using compat::GroupRequest;
using compat::VirtualRequest;

tl::unexpected<Fault> refusal(const Error& error) {
  return fault(compat::kManagementError + static_cast<int>(error.code), error.message());
}

Value<CardManagement*> card_of(Caller& caller, const CallRecord& call) {
  auto card = caller.process().card_management(static_cast<std::int64_t>(call.words[0]));
  if (!card) return refusal(Error{ErrorCode::kNotFound, card.error().text});
  return card;
}

template <class T>
Outcome give(const Result<T>& result, std::uint64_t& word) {
  if (!result) return refusal(result.error());
  word = *result;
  return {};
}

void give_window(CallRecord& call, const void* from, Bytes bytes) {
  if (bytes != 0) std::memcpy(call.window.data, from, bytes);
}

Outcome make_group(CardManagement& card, CallRecord& call) {
  driver::ComputeGroupOptions options;
  if (call.bytes < sizeof options.cluster_mask) {
    return refusal(Error{ErrorCode::kInvalidArgument, "no mask of clusters"});
  }
  std::memcpy(&options.cluster_mask, call.window.data, sizeof options.cluster_mask);
  if (call.words[2] != 0) options.id = static_cast<std::uint32_t>(call.words[2] - 1);
  options.clusters = static_cast<unsigned>(call.words[3]);
  const auto made = card.access().create_group(options);
  if (!made) return refusal(made.error());
  give_window(call, &*made, sizeof *made);
  return {};
}

// A structure of the window, changed by `ask`, which gives a code.
template <class T, class Ask>
int with_window(CallRecord& call, Ask ask) {
  if (call.bytes < sizeof(T)) return DSMI_ERROR_PARAMETER;
  T structure{};
  std::memcpy(static_cast<void*>(&structure), call.window.data, sizeof structure);
  const int code = ask(structure);
  if (code == DSMI_OK) give_window(call, &structure, sizeof structure);
  return code;
}

int ask_devices(dsmi::DriverDevices& devices, unsigned device, CallRecord& call) {
  const auto vdev = static_cast<unsigned>(call.words[2]);
  switch (static_cast<VirtualRequest>(call.words[1])) {
    case VirtualRequest::kCreate: {
      dsmi_create_vdev_result made{};
      const int code = with_window<dsmi_create_vdev_res_stru>(
          call, [&](auto& wanted) { return devices.create(device, vdev, wanted, made); });
      if (code == DSMI_OK) give_window(call, &made, sizeof made);
      return code;
    }
    case VirtualRequest::kDestroy:
      return devices.destroy(device, vdev);
    case VirtualRequest::kQuery:
      return with_window<dsmi_vdev_query_stru>(
          call, [&](auto& asked) { return devices.query(device, asked); });
    case VirtualRequest::kTotal:
      return with_window<dsmi_soc_total_resource>(
          call, [&](auto& all) { return devices.total(device, all); });
    case VirtualRequest::kFree:
      return with_window<dsmi_soc_free_resource>(
          call, [&](auto& left) { return devices.free(device, left); });
    case VirtualRequest::kActivity: {
      unsigned percent = 0;
      const int code = devices.activity(device, vdev, percent);
      give_window(call, &percent, sizeof percent);
      return code;
    }
    case VirtualRequest::kSwitch: {
      bool on = false;
      const int code = devices.sriov(device, on);
      const unsigned is_on = on ? 1 : 0;
      give_window(call, &is_on, sizeof is_on);
      return code;
    }
    case VirtualRequest::kSetSwitch:
      return devices.set_sriov(device, vdev != 0);
  }
  return DSMI_ERROR_NOT_SUPPORT;
}

}  // namespace

Outcome manage_card(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  call.words[0] = (*card)->bdf().packed();
  return {};
}

// Words: card, offset, bytes; the value of a write behind them.
Outcome manage_read(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  return give((*card)->read(call.words[1], call.words[2]), call.words[0]);
}

Outcome manage_write(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  const auto done = (*card)->write(call.words[1], call.words[2], call.words[3]);
  if (!done) return refusal(done.error());
  return {};
}

Outcome manage_configuration(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  return give((*card)->read_config(call.words[1]), call.words[0]);
}

Outcome manage_memory(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  caller.process().reclaim_freed();
  const auto use = (*card)->memory_use();
  if (!use) return refusal(use.error());
  call.words[0] = use->total;
  call.words[1] = use->used;
  return {};
}

Outcome manage_processes(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  const auto all = (*card)->processes();
  if (!all) return refusal(all.error());
  std::vector<compat::ManagedProcess> told;
  for (const auto& one : *all) {
    if (told.size() == compat::kMostManagedProcesses) break;
    told.push_back({one.process.value, one.pasid, one.memory});
  }
  give_window(call, told.data(), told.size() * sizeof(compat::ManagedProcess));
  call.words[0] = told.size();
  return {};
}

Outcome manage_quota(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  caller.process().reclaim_freed();
  const auto use = (*card)->quota();
  if (!use) return refusal(use.error());
  const std::uint64_t words[] = {use->limit, use->allocated, use->managed, use->most, use->refused};
  std::copy(std::begin(words), std::end(words), call.words);
  return {};
}

// Words: card; 1: set it, to word 2. The answer is what there is.
Outcome manage_token(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  if (call.words[1] != 0) {
    if (auto set = (*card)->set_token(call.words[2]); !set) return refusal(set.error());
  }
  call.words[0] = (*card)->token();
  return {};
}

Outcome manage_groups(Caller& caller, CallRecord& call) {
  const auto card = card_of(caller, call);
  if (!card) return forward_fault(card);
  auto& access = (*card)->access();
  switch (static_cast<GroupRequest>(call.words[1])) {
    case GroupRequest::kList: {
      const auto groups = access.groups();
      if (!groups) return refusal(groups.error());
      give_window(call, groups->data(), groups->size() * sizeof(driver::ComputeGroup));
      call.words[0] = groups->size();
      return {};
    }
    case GroupRequest::kCreate:
      return make_group(**card, call);
    case GroupRequest::kRemove: {
      const auto removed = access.remove_group(static_cast<std::uint32_t>(call.words[2]));
      if (!removed) return refusal(removed.error());
      return {};
    }
  }
  return refusal(Error{ErrorCode::kUnsupported, "no such request"});
}

Outcome manage_virtual_devices(Caller& caller, CallRecord& call) {
  const auto device = static_cast<std::int64_t>(call.words[0]);
  const auto card = caller.process().machine().cards.open(device);
  if (!card) return refusal(Error{ErrorCode::kNotFound, card.error().text});
  const Guard held(*(*card)->dividing);
  if ((*card)->divided == nullptr) {
    std::vector<driver::Device*> devices(static_cast<std::size_t>(device) + 1);
    devices.back() = (*card)->device.get();
    (*card)->divided = std::make_unique<dsmi::DriverDevices>(devices);
  }
  const int code = ask_devices(*(*card)->divided, static_cast<unsigned>(device), call);
  call.words[0] = static_cast<std::uint64_t>(code);
  return {};
}

// The answer: picoseconds since the machine's beginning.
Outcome manage_time(Caller& caller, CallRecord& call) {
  call.words[0] = static_cast<std::uint64_t>(caller.clock().now().count());
  return {};
}

}  // namespace npu::exec::acl
