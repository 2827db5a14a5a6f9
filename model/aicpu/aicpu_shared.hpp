// SPDX-License-Identifier: Apache-2.0
// What the AICPUs of one card share.
#pragma once

#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/core_windows.hpp"
#include "model/core/device_memory_port.hpp"
#include "model/core/kernel_port.hpp"
#include "model/core/program_loader.hpp"
#include "model/core/simulation.hpp"
#include "model/core/space_id.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::model {

class AicpuShared {
 public:
  enum class Access : std::uint8_t { kRead, kTranslateRead, kTranslateWrite };

  AicpuShared(Simulation& simulation, const CoreConfig& launch_times,
              const AicpuProgramConfig& program_times, DeviceMemoryPort& device_memory)
      : sim(simulation), launch(launch_times), config(program_times), memory(device_memory) {}
  virtual ~AicpuShared() = default;
  // What takes time and moves nothing: a read, or a translation. AicpuCore::answered() comes later.
  virtual void request(unsigned core, Access access, SpaceId vmid, std::uint64_t address,
                       Bytes length, std::uint64_t cause) = 0;
  // The cache of `core` is about to hold the line.
  virtual void caches(unsigned core, SpaceId vmid, std::uint64_t line) = 0;
  // By `core`, whose `writer` says by what: told to the other cores' caches.
  virtual Completion write(unsigned core, Writer writer, SpaceId vmid, std::uint64_t address,
                           const void* data, Bytes length) = 0;
  // When what AI Cores have written to these lines by now has come to the caches.
  virtual SimTime arrival(SpaceId vmid, std::uint64_t address, Bytes length) const = 0;
  // An AI Core's register is the way `core` has seen it; tells look_changed() when it is not.
  virtual void watch_register(unsigned core, unsigned ai_core) = 0;
  virtual void register_written(unsigned ai_core) = 0;
  // A core of a lower number has an access at this very time and has not made it.
  virtual bool goes_later(unsigned core, SimTime when) const = 0;
  virtual void done(unsigned core, const KernelBlock& block, const CommandFault& fault) = 0;

  Simulation& sim;
  const CoreConfig& launch;
  const AicpuProgramConfig& config;
  DeviceMemoryPort& memory;
  CoreWindows* windows = nullptr;
  // By function: the windows that its programs see, in their order.
  std::vector<std::vector<unsigned>> windows_of;
  ProgramLoader loader{abi::ImageKind::kAicpu, platform::kAicpuEntryName, sim.counted_programs,
                       sim.program_files};
  bool naive_polling = false;
};

}  // namespace npu::model
