// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/card_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace npu::workloads {

ParameterSpec card_parameter() {
  return {"card", ParameterType::kInteger, "", "0", "device index of the card to use", 0, 255};
}

ParameterSpec policy_parameter() {
  return choice_parameter("policy", "polling", "how to wait for a copy",
                          {"polling", "interrupt", "adaptive"});
}

ParameterSpec ring_parameter() {
  return choice_parameter("ring", "device", "memory that holds the DMA ring", {"device", "host"});
}

ParameterSpec directions_parameter(const std::string& default_value) {
  return choices_parameter("directions", default_value, "directions to copy in",
                           {"h2d", "d2h", "d2d"});
}

driver::RingPlacement ring_placement(const ParameterSet& parameters) {
  const auto& specs = parameters.specs();
  const bool declared = std::any_of(specs.begin(), specs.end(),
                                    [](const ParameterSpec& s) { return s.name == "ring"; });
  return declared && parameters.choice("ring") == "host" ? driver::RingPlacement::kHostMemory
                                                         : driver::RingPlacement::kDeviceMemory;
}

RingPlace ring_place(const ParameterSet& parameters) {
  return ring_placement(parameters) == driver::RingPlacement::kHostMemory
             ? RingPlace::kHostMemory
             : RingPlace::kDeviceMemory;
}

namespace {

driver::DeviceOptions as_asked(const Context& context, driver::DeviceOptions options) {
  options.ring = ring_placement(context.parameters);
  options.features = context.features;
  options.ready_timeout = context.patience.value_or(options.ready_timeout);
  options.submit_timeout = context.patience.value_or(options.submit_timeout);
  return options;
}

}  // namespace

Result<std::unique_ptr<driver::Device>> open_card_at(Context& context,
                                                     const driver::ScanResult& found,
                                                     std::uint32_t index) {
  return driver::Device::open_index(context.platform, found, index, as_asked(context, {}));
}

Result<std::unique_ptr<driver::Device>> open_card(Context& context, driver::DeviceOptions options) {
  options = as_asked(context, options);
  if (context.function) return driver::Device::open(context.platform, *context.function, options);
  const auto index = static_cast<std::uint32_t>(context.parameters.integer("card"));
  return driver::Device::open_index(context.platform, index, options);
}

driver::WaitPolicy wait_policy(const std::string& name) {
  if (name == "interrupt") return driver::WaitPolicy::kInterrupt;
  if (name == "adaptive") return driver::WaitPolicy::kAdaptive;
  return driver::WaitPolicy::kPolling;
}

abi::DmaOpcode direction_opcode(const std::string& direction) {
  const auto* const operation = abi::find_dma_operation(direction);
  return operation != nullptr ? operation->opcode : abi::DmaOpcode::kHostToDevice;
}

void fill_pattern(ByteSpan bytes, std::uint64_t seed) {
  std::size_t offset = 0;
  std::uint64_t word = 0;
  for (; bytes.size - offset >= sizeof word; offset += sizeof word) {
    word = Random::splitmix64(seed);
    std::memcpy(bytes.data + offset, &word, sizeof word);
  }
  if (offset == bytes.size) return;
  word = Random::splitmix64(seed);
  std::memcpy(bytes.data + offset, &word, bytes.size - offset);
}

Status check_equal(ConstByteSpan expected, ConstByteSpan found, const std::string& what) {
  const bool same =
      expected.size == found.size &&
      (expected.size == 0 || std::memcmp(expected.data, found.data, expected.size) == 0);
  if (same) return {};
  const std::size_t common = std::min(expected.size, found.size);
  const auto* differs = std::mismatch(expected.data, expected.data + common, found.data).first;
  const auto at = static_cast<std::size_t>(differs - expected.data);
  if (at == common) {
    return fail(ErrorCode::kWrongData,
                fmt::format("{}: {} bytes expected, {} found", what, expected.size, found.size));
  }
  return fail(
      ErrorCode::kWrongData,
      fmt::format("{}: byte {} of {} is {:#04x}, expected {:#04x}", what, at, expected.size,
                  static_cast<unsigned>(found.data[at]), static_cast<unsigned>(expected.data[at])));
}

}  // namespace npu::workloads
