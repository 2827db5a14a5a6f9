// SPDX-License-Identifier: Apache-2.0
// Groups of a card's AI Cores. A group takes whole clusters for itself: kernels of the processes
// that are opened in it (ProcessOptions::group) run on its cores alone, and those of all other
// processes on the rest, which is group 0. AICPUs, DMA engines, memory and link are not divided.
//
// Cores are numbered as in a CoreMask: first the AICs, or coupled cores, by cluster, then the
// vector cores, those of a cluster beside each other. The driver keeps the groups, for as long as
// the device is open, and writes the masks of queues by them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

inline constexpr std::uint32_t kComputeGroups = 32;  // of a card; 0 is the rest

struct ComputeGroup {
  std::uint32_t id = 0;
  CoreMask clusters{};         // bit i: cluster i
  CoreMask cores{};            // theirs
  unsigned cluster_count = 0;  // bits of `clusters`
  unsigned vector_cores = 0;   // of all of them; 0: coupled
  unsigned processes = 0;      // that are open in it
};

struct ComputeGroupOptions {
  std::optional<std::uint32_t> id;  // 1 .. kComputeGroups - 1; none: the lowest free one
  unsigned clusters = 0;            // as many of group 0, the lowest ones; 0: those of the mask
  CoreMask cluster_mask{};
};

// All with kUnsupported: the card has no command processor; kInvalidArgument: the device is shut
// down; kDeviceLost, kIo.
//
// Takes clusters out of group 0, of which one must stay. kInvalidArgument: an id out of range,
// neither a number nor a mask or both, a cluster that the card has not; kAlreadyExists: the id;
// kOutOfResources: no id is free, or group 0 has not these clusters and one more; kBusy: a process
// is open on the card, whatever its group.
NPU_API Result<ComputeGroup> create_compute_group(Device& device,
                                                  const ComputeGroupOptions& options);
// Its clusters are group 0's again. kInvalidArgument: group 0; kNotFound; kBusy: a process is open
// on the card.
NPU_API Status remove_compute_group(Device& device, std::uint32_t id);
// All, group 0 first.
NPU_API Result<std::vector<ComputeGroup>> compute_groups(Device& device);

}  // namespace npu::driver
