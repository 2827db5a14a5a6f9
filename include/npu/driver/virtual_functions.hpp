// SPDX-License-Identifier: Apache-2.0
// Virtual functions of a card: how many there are, what of the card each has, and what is left. The
// physical function's driver cuts a virtual device out of the card by a template or by numbers, and
// whoever gets the virtual function opens it as any card: Device::open(platform, bdf).
// Source: virtualisation.md V1..V3.
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

// Amounts of what a card can be cut into.
struct CardShare {
  std::uint32_t ai_cores = 0;  // clusters, as CardInfo::ai_cores counts them
  std::uint32_t aicpus = 0;
  Bytes memory = 0;  // whole pages of 2 MiB; what the card needs for itself is part of it
  std::uint32_t vpc = 0, jpegd = 0, jpege = 0, venc = 0, vdec = 0;  // media units

  friend constexpr bool operator==(const CardShare& a, const CardShare& b) {
    return a.ai_cores == b.ai_cores && a.aicpus == b.aicpus && a.memory == b.memory &&
           a.vpc == b.vpc && a.jpegd == b.jpegd && a.jpege == b.jpege && a.venc == b.venc &&
           a.vdec == b.vdec;
  }
  friend constexpr bool operator!=(const CardShare& a, const CardShare& b) { return !(a == b); }
};

struct VirtualTemplate {
  std::string name;  // 1..16 bytes, such as "vir06_1c_16g"
  CardShare share;
};

// Members of a group take turns on the same AI Cores instead of owning some; memory, AICPUs and
// media units are each member's own.
struct GroupShare {
  std::uint32_t group = 0;      // vfg, 0..3
  std::uint32_t token = 1;      // its part of a round: token / sum of the members' tokens
  std::uint32_t token_max = 1;  // ... at most while others have nothing to run; at least token
  std::uint32_t task_timeout_us = 0;  // longest run of a block; 0: none
  bool vip = false;                   // its turn comes first
};

// In proportion to the other functions', where it binds; 1..255.
struct FunctionWeights {
  std::uint8_t dma = 1;   // DMA engines
  std::uint8_t hbm = 1;   // device memory's bandwidth
  std::uint8_t link = 1;  // bandwidth of the card's PCIe link
};

struct VirtualDeviceOptions {
  std::string name;                    // of a template; empty: `share` says all
  CardShare share;                     // without a template: cores, AICPUs and memory are not 0
  std::optional<std::uint32_t> index;  // of the virtual function; none: the first without a device
  std::optional<GroupShare> group;     // none: it owns its cores
  FunctionWeights weights;
};

struct VirtualDevice {
  std::uint32_t id = 0;     // as tools number it: 16 * DEVICE_INDEX + 100 + index
  std::uint32_t index = 0;  // of the virtual function, from 0
  // The virtual function's; none while SR-IOV is off or has fewer functions.
  std::optional<platform::Bdf> bdf;
  std::string name;  // of the template; empty: made by numbers
  CardShare share;
  std::uint32_t first_core = 0, first_aicpu = 0;  // on the card
  Bytes memory_base = 0;                          // in the physical function's memory
  std::optional<GroupShare> group;
  FunctionWeights weights;
};

// All members may be called from several tasks at once. kDeviceLost as Device. kTimeout: the card
// did not end a command in Options::timeout. What create() was to make is taken back then: at once
// if the card ends the command within another time-out, and else by the next member that is called
// when it has; until then that is kTimeout, too, and the device's memory is nobody's.
class NPU_API VirtualFunctions {
 public:
  struct Options {
    // Longest wait for the card; destroying a device lasts as long as scrubbing its memory.
    Picoseconds timeout = 1_s;
  };

  // Of a physical function, which must outlive it. Memory of virtual devices that are there already
  // is taken from the device's allocator. kUnsupported: the card cannot be divided, or `device` is
  // a virtual function; kOutOfMemory: something else was allocated there.
  static Result<std::unique_ptr<VirtualFunctions>> open(Device& device, const Options& options);
  static Result<std::unique_ptr<VirtualFunctions>> open(Device& device) {
    return open(device, Options());
  }
  ~VirtualFunctions();  // what exists stays as it is
  VirtualFunctions(const VirtualFunctions&) = delete;
  VirtualFunctions& operator=(const VirtualFunctions&) = delete;

  // Most there can be (TotalVFs).
  std::uint32_t total() const;
  // How many there are now.
  Result<std::uint32_t> count() const;
  // Linux' sriov_numvfs: the number there is already does nothing; a new one only from 0 on (kBusy)
  // and none at all while virtual devices exist (kBusy); more than total(): kOutOfRange. Returns
  // when they can be used: 100 ms later, or 1 s behind 0. A step that fails is taken back.
  Status set_count(std::uint32_t count);

  const std::vector<VirtualTemplate>& templates() const;
  // What there is on the card, the physical function's own included.
  CardShare totals() const;
  // What no virtual device has.
  Result<CardShare> free_share() const;

  // kNotFound: no such template; kOutOfRange: no such virtual function (SR-IOV off, or fewer);
  // kAlreadyExists: it has a device; kOutOfResources: every function has one, or too few cores,
  // AICPUs or media units are free, which the context names; kOutOfMemory: no piece that large is
  // free; kInvalidArgument: a share, group, token or weight that cannot be, or a group whose
  // members have another number of cores; kBusy: something runs on the cores.
  Result<VirtualDevice> create(const VirtualDeviceOptions& options);
  // By index of the function. kNotFound: it has no device; kBusy: its driver has it open.
  Status destroy(std::uint32_t index);
  // As many as the first that fails allows; that one's error.
  Status destroy_all();
  // In the order of their functions.
  Result<std::vector<VirtualDevice>> list() const;

  struct Impl;

 private:
  explicit VirtualFunctions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
