// SPDX-License-Identifier: Apache-2.0
// Compute groups as users of a device make them.
#include "npu/driver/compute_groups.hpp"

#include "driver/queue/queue_manager.hpp"
#include "npu/abi/queue_registers.hpp"

namespace npu::driver {
namespace {

struct GroupedCard {
  CoreGroups* groups;
  CoreGroups::Cores cores;
};

Result<GroupedCard> grouped(Device& device) {
  const auto manager = manager_of(device);
  if (!manager) return forward_error(manager);
  const auto topology = (*manager)->link().read<abi::CoreTopology>();
  if (!topology) return forward_error(topology);
  return GroupedCard{&(*manager)->groups(),
                     {topology->get<abi::CoreTopology::Clusters>(),
                      topology->get<abi::CoreTopology::VectorCores>()}};
}

}  // namespace

Result<ComputeGroup> create_compute_group(Device& device, const ComputeGroupOptions& options) {
  const auto card = grouped(device);
  if (!card) return forward_error(card);
  return card->groups->create(options, card->cores);
}

Status remove_compute_group(Device& device, std::uint32_t id) {
  const auto card = grouped(device);
  if (!card) return forward_error(card);
  return card->groups->remove(id);
}

Result<std::vector<ComputeGroup>> compute_groups(Device& device) {
  const auto card = grouped(device);
  if (!card) return forward_error(card);
  return card->groups->list(card->cores);
}

}  // namespace npu::driver
