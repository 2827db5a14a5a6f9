// SPDX-License-Identifier: Apache-2.0
// What programs ask of cards for management (apps/compat/protocol/management.hpp).
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

Value<CardManagement*> card_of(Caller& caller, std::int64_t number) {
  auto card = caller.process().card_management(number);
  if (!card) return refusal(Error{ErrorCode::kNotFound, card.error().text});
  return card;
}

template <class T>
Value<wire::Number> number_of(const Result<T>& result) {
  if (!result) return refusal(result.error());
  return wire::Number{*result};
}

Value<wire::Number> make_group(CardManagement& card, const CallOf<Call::kManageGroups>& call) {
  driver::ComputeGroupOptions options;
  const auto mask = call.first(sizeof options.cluster_mask);
  if (!mask || call.id > std::uint64_t{UINT32_MAX} + 1 || call.clusters > UINT32_MAX) {
    return refusal(Error{ErrorCode::kInvalidArgument, "no mask of clusters, id or number of them"});
  }
  std::memcpy(&options.cluster_mask, mask->data, mask->size);
  if (call.id != 0) options.id = static_cast<std::uint32_t>(call.id - 1);
  options.clusters = static_cast<unsigned>(call.clusters);
  const auto made = card.access().create_group(options);
  if (!made) return refusal(made.error());
  call.give(&*made, sizeof *made);
  return wire::Number{1};
}

// A structure of the window, changed by `ask`, which gives a code.
template <class T, class Ask>
int with_window(const CallWindow& call, Ask ask) {
  const auto given = call.first(sizeof(T));
  if (!given) return DSMI_ERROR_PARAMETER;
  T structure{};
  std::memcpy(static_cast<void*>(&structure), given->data, sizeof structure);
  const int code = ask(structure);
  if (code == DSMI_OK) call.give(&structure, sizeof structure);
  return code;
}

int ask_devices(dsmi::DriverDevices& devices, const CallOf<Call::kManageVirtual>& call) {
  if (call.virtual_device > UINT32_MAX) return DSMI_ERROR_PARAMETER;
  const auto device = static_cast<unsigned>(call.device);
  const auto vdev = static_cast<unsigned>(call.virtual_device);
  switch (call.request) {
    case VirtualRequest::kCreate: {
      dsmi_create_vdev_result made{};
      const int code = with_window<dsmi_create_vdev_res_stru>(
          call, [&](auto& wanted) { return devices.create(device, vdev, wanted, made); });
      if (code == DSMI_OK) call.give(&made, sizeof made);
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
      call.give(&percent, sizeof percent);
      return code;
    }
    case VirtualRequest::kSwitch: {
      bool on = false;
      const int code = devices.sriov(device, on);
      const unsigned is_on = on ? 1 : 0;
      call.give(&is_on, sizeof is_on);
      return code;
    }
    case VirtualRequest::kSetSwitch:
      return devices.set_sriov(device, vdev != 0);
  }
  return DSMI_ERROR_NOT_SUPPORT;
}

}  // namespace

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageCard>& call) {
  const auto card = card_of(caller, call.device);
  if (!card) return forward_fault(card);
  return wire::Number{(*card)->bdf().packed()};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageRead>& call) {
  const auto card = card_of(caller, call.card);
  if (!card) return forward_fault(card);
  return number_of((*card)->read(call.offset, call.bytes));
}

Outcome serve(Caller& caller, const CallOf<Call::kManageWrite>& call) {
  const auto card = card_of(caller, call.card);
  if (!card) return forward_fault(card);
  const auto done = (*card)->write(call.offset, call.bytes, call.value);
  if (!done) return refusal(done.error());
  return {};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageConfig>& call) {
  const auto card = card_of(caller, call.card);
  if (!card) return forward_fault(card);
  return number_of((*card)->read_config(call.offset));
}

Value<wire::CardMemory> serve(Caller& caller, const CallOf<Call::kManageMemory>& call) {
  const auto card = card_of(caller, call.device);
  if (!card) return forward_fault(card);
  caller.process().reclaim_freed();
  const auto use = (*card)->memory_use();
  if (!use) return refusal(use.error());
  return wire::CardMemory{use->total, use->used};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageProcesses>& call) {
  const auto card = card_of(caller, call.device);
  if (!card) return forward_fault(card);
  const auto all = (*card)->processes();
  if (!all) return refusal(all.error());
  std::vector<compat::ManagedProcess> told;
  for (const auto& one : *all) {
    if (told.size() == compat::kMostManagedProcesses) break;
    told.push_back({one.process.value, one.pasid, one.memory});
  }
  call.give(told.data(), told.size() * sizeof(compat::ManagedProcess));
  return wire::Number{told.size()};
}

Value<wire::CardQuota> serve(Caller& caller, const CallOf<Call::kManageQuota>& call) {
  const auto card = card_of(caller, call.device);
  if (!card) return forward_fault(card);
  caller.process().reclaim_freed();
  const auto use = (*card)->quota();
  if (!use) return refusal(use.error());
  return wire::CardQuota{use->limit, use->allocated, use->managed, use->most, use->refused};
}

// The answer is what there is.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageToken>& call) {
  const auto card = card_of(caller, call.card);
  if (!card) return forward_fault(card);
  if (call.sets != 0) {
    if (auto set = (*card)->set_token(call.token); !set) return refusal(set.error());
  }
  return wire::Number{(*card)->token()};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageGroups>& call) {
  const auto card = card_of(caller, call.card);
  if (!card) return forward_fault(card);
  auto& access = (*card)->access();
  switch (call.request) {
    case GroupRequest::kList: {
      const auto groups = access.groups();
      if (!groups) return refusal(groups.error());
      call.give(groups->data(), groups->size() * sizeof(driver::ComputeGroup));
      return wire::Number{groups->size()};
    }
    case GroupRequest::kCreate:
      return make_group(**card, call);
    case GroupRequest::kRemove: {
      if (call.id > UINT32_MAX) return refusal(Error{ErrorCode::kInvalidArgument, "no group"});
      const auto removed = access.remove_group(static_cast<std::uint32_t>(call.id));
      if (!removed) return refusal(removed.error());
      return wire::Number{0};
    }
  }
  return refusal(Error{ErrorCode::kUnsupported, "no such request"});
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageVirtual>& call) {
  const auto card = caller.process().machine().cards.open(call.device);
  if (!card) return refusal(Error{ErrorCode::kNotFound, card.error().text});
  const Guard held(*(*card)->dividing);
  if ((*card)->divided == nullptr) {
    std::vector<driver::Device*> devices(static_cast<std::size_t>(call.device) + 1);
    devices.back() = (*card)->device.get();
    (*card)->divided = std::make_unique<dsmi::DriverDevices>(devices);
  }
  const int code = ask_devices(*(*card)->divided, call);
  return wire::Number{static_cast<std::uint64_t>(code)};
}

// The answer: picoseconds since the machine's beginning.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManageTime>&) {
  return wire::Number{static_cast<std::uint64_t>(caller.clock().now().count())};
}

}  // namespace npu::exec::acl
