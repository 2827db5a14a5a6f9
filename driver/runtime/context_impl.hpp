// SPDX-License-Identifier: Apache-2.0
// A device context: the process it is on the card, and who works for it there.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "driver/runtime/context_parts.hpp"
#include "driver/runtime/graph_runner.hpp"
#include "npu/driver/program.hpp"
#include "npu/driver/staged_copies.hpp"

namespace npu::driver {

struct DeviceContext::Impl {
  Impl(platform::Platform& machine, std::shared_ptr<UnifiedAddresses> shared)
      : platform(machine), addresses(std::move(shared)) {}

  Status open(std::uint32_t index);
  Status start(Result<std::unique_ptr<Device>> opened);
  Status learn_cores();
  Status close();
  Status need_device() const;

  Result<DeviceAddress> allocate(Bytes size);
  Status upload(ProgramImage& image, abi::ImageKind kind, ConstByteSpan object);
  std::uint32_t card_index() const { return device ? device->info().device_index : 0; }

  platform::Platform& platform;
  const std::shared_ptr<UnifiedAddresses> addresses;
  std::unique_ptr<Device> device;
  std::unique_ptr<ProcessContext> process;
  CoreCounts cores;
  Programs programs;
  std::unique_ptr<StagedCopies> copies;
  std::optional<GraphRunner> runner;
  RunReport last;
};

}  // namespace npu::driver
