// SPDX-License-Identifier: Apache-2.0
// Groups of a card's AI Cores. A group owns whole clusters. Kernels of its processes
// (ProcessOptions::group) run only there, and kernels of other processes only on the remaining
// clusters, group 0. AICPUs, DMA engines, memory and link are not divided.
//
// Cores are numbered as in a CoreMask: first the AICs, or coupled cores, by cluster; then the
// vector cores, cluster by cluster. The groups exist while the device is open. The functions may be
// called from several tasks at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

inline constexpr std::uint32_t kComputeGroups = 32;  // ids 0 .. 31; 0: the remaining clusters

struct ComputeGroup {
  std::uint32_t id = 0;
  CoreMask clusters{};         // bit i: cluster i
  CoreMask cores{};            // of these clusters
  unsigned cluster_count = 0;  // number of bits in `clusters`
  unsigned vector_cores = 0;   // number in all clusters; 0: coupled cores
  unsigned processes = 0;      // open in the group
};

struct ComputeGroupOptions {
  std::optional<std::uint32_t> id;  // 1 .. kComputeGroups - 1; none: the lowest free id
  unsigned clusters = 0;            // the lowest ones of group 0; 0: cluster_mask instead
  CoreMask cluster_mask{};
};

// Errors of all functions:
// kUnsupported: the card has no command processor.
// kInvalidArgument: the device is shut down.
// kDeviceLost, kIo: the card does not answer.
//
// Moves clusters from group 0 to a new group. One cluster must remain.
// kInvalidArgument: id out of range; `clusters` and `cluster_mask` both set or both 0; more
// clusters than the card has.
// kAlreadyExists: the id is in use.
// kOutOfResources: no id is free, or group 0 has not these clusters and one more.
// kBusy: a process is open on the card, in any group.
NPU_API Result<ComputeGroup> create_compute_group(Device& device,
                                                  const ComputeGroupOptions& options);
// Returns a group's clusters to group 0.
// kInvalidArgument: group 0.
// kNotFound: no such group.
// kBusy: a process is open on the card.
NPU_API Status remove_compute_group(Device& device, std::uint32_t id);
// All groups, by id.
NPU_API Result<std::vector<ComputeGroup>> compute_groups(Device& device);

}  // namespace npu::driver
