// SPDX-License-Identifier: Apache-2.0
// Virtual functions of a card and the virtual devices behind them. The program that drives the
// physical function assigns a partition of the card to each device, by a template or by numbers.
// The user of the virtual function opens it like any card: Device::open(platform, bdf). Source:
// virtualisation.md V1..V3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"
#include "npu/platform/pci.hpp"

namespace npu::driver {

// Amounts of a card's resources.
struct CardPartition {
  std::uint32_t ai_cores = 0;  // clusters, as CardInfo::ai_cores counts them
  std::uint32_t aicpus = 0;
  Bytes memory = 0;  // bytes, whole pages of 2 MiB; includes the card's own need
  std::uint32_t vpc = 0, jpegd = 0, jpege = 0, venc = 0, vdec = 0;  // media units

  friend constexpr bool operator==(const CardPartition& a, const CardPartition& b) {
    return a.ai_cores == b.ai_cores && a.aicpus == b.aicpus && a.memory == b.memory &&
           a.vpc == b.vpc && a.jpegd == b.jpegd && a.jpege == b.jpege && a.venc == b.venc &&
           a.vdec == b.vdec;
  }
  friend constexpr bool operator!=(const CardPartition& a, const CardPartition& b) {
    return !(a == b);
  }
};

struct VirtualTemplate {
  std::string name;  // 1 .. 16 bytes, such as "vir06_1c_16g"
  CardPartition partition;
};

// The devices of a group share their AI Cores in time. Each has its own memory, AICPUs and media
// units.
struct GroupPartition {
  std::uint32_t group = 0;            // vfg, 0 .. 3
  std::uint32_t token = 1;            // part of a round: token / sum of all members' tokens
  std::uint32_t token_max = 1;        // the same while others have nothing to run; at least token
  std::uint32_t task_timeout_us = 0;  // longest run of a block, microseconds; 0: no limit
  bool vip = false;                   // runs first in a round
};

// Relative weights under contention between functions, 1 .. 255.
struct FunctionWeights {
  std::uint8_t dma = 1;   // DMA engines
  std::uint8_t hbm = 1;   // bandwidth of device memory
  std::uint8_t link = 1;  // bandwidth of the card's PCIe link
};

struct VirtualDeviceOptions {
  std::string name;                     // of a template; empty: `partition` instead
  CardPartition partition;              // cores, AICPUs and memory are not 0
  std::optional<std::uint32_t> index;   // of the virtual function; none: the first free one
  std::optional<GroupPartition> group;  // none: own cores
  FunctionWeights weights;
};

struct VirtualDevice {
  std::uint32_t id = 0;     // number for tools: 16 * DEVICE_INDEX + 100 + index
  std::uint32_t index = 0;  // of the virtual function, from 0
  // None: SR-IOV is off or has fewer functions.
  std::optional<platform::Bdf> bdf;
  std::string name;  // of the template; empty: none
  CardPartition partition;
  std::uint32_t first_core = 0, first_aicpu = 0;  // on the card
  Bytes memory_base = 0;                          // in the physical function's memory
  std::optional<GroupPartition> group;
  FunctionWeights weights;
};

// All members may be called from several tasks at once. Errors of all members:
// kDeviceLost, kIo: the card does not answer.
// kTimeout: the card did not end a command within Options::timeout. A create() is then undone when
// the command has ended. Until then later members fail with kTimeout, too, and the device's memory
// stays reserved.
class NPU_API VirtualFunctions {
 public:
  struct Options {
    // Longest wait for a command. Destroying a device includes scrubbing its memory.
    Picoseconds timeout = 1_s;
  };

  // `device` is a physical function and must outlive it. Memory of existing virtual devices is
  // reserved in the device's allocator.
  // kUnsupported: the card cannot be divided, or `device` is a virtual function.
  // kOutOfMemory: memory of an existing virtual device is in use otherwise.
  static Result<std::unique_ptr<VirtualFunctions>> open(Device& device, const Options& options);
  static Result<std::unique_ptr<VirtualFunctions>> open(Device& device) {
    return open(device, Options());
  }
  ~VirtualFunctions();  // virtual devices remain
  VirtualFunctions(const VirtualFunctions&) = delete;
  VirtualFunctions& operator=(const VirtualFunctions&) = delete;

  // Maximum number of virtual functions (TotalVFs).
  std::uint32_t total() const;
  // Present number of virtual functions.
  Result<std::uint32_t> count() const;
  // Sets the number of virtual functions, as Linux' sriov_numvfs. Returns when they can be used:
  // after 100 ms, or 1 s after a change to 0. Setting the present number changes nothing. A failed
  // step is undone.
  // kBusy: from one number above 0 to another, or while virtual devices exist.
  // kOutOfRange: more than total().
  // kPermissionDenied: the operating system refuses.
  Status set_count(std::uint32_t count);

  const std::vector<VirtualTemplate>& templates() const;
  // All resources of the card, including the physical function's.
  CardPartition totals() const;
  // Resources of no virtual device.
  Result<CardPartition> free_partition() const;

  // Creates a virtual device.
  // kNotFound: no such template.
  // kOutOfRange: no such virtual function (SR-IOV is off, or fewer).
  // kAlreadyExists: the function has a device.
  // kOutOfResources: all functions have a device, or not enough cores, AICPUs or media units are
  // free in one piece. The context names them.
  // kOutOfMemory: no free piece of memory is large enough.
  // kInvalidArgument: partition, group, token or weight out of range, or the group's members have
  // another number of cores.
  // kBusy: something runs on the cores.
  Result<VirtualDevice> create(const VirtualDeviceOptions& options);
  // Destroys the device of the function with this index.
  // kNotFound: it has none.
  // kBusy: its driver has it open.
  Status destroy(std::uint32_t index);
  // Destroys devices by ascending index, up to the first error.
  Status destroy_all();
  // All devices, by index.
  Result<std::vector<VirtualDevice>> list() const;

  struct Impl;

 private:
  explicit VirtualFunctions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
