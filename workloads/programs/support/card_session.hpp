// SPDX-License-Identifier: Apache-2.0
// What most programs begin with: a card, a deadline, data that can be recognised.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/driver/device.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/framework/milestones.hpp"

namespace npu::workloads {

// After which a wait that should end in micro- or milliseconds is given up, unless the context
// says.
inline constexpr Picoseconds kTimeout = 10_s;

// Parameters shared by programs.
ParameterSpec card_parameter();    // "card": DEVICE_INDEX of the card to use
ParameterSpec policy_parameter();  // "policy": how to wait
ParameterSpec ring_parameter();    // "ring": where the ring lives
ParameterSpec directions_parameter(const std::string& default_value);

// "card" and, if any, "ring", over `options`.
Result<std::unique_ptr<driver::Device>> open_card(Context& context,
                                                  driver::DeviceOptions options = {});
// Card `index` of those that were found, with "ring", if any.
Result<std::unique_ptr<driver::Device>> open_card_at(Context& context,
                                                     const driver::ScanResult& found,
                                                     std::uint32_t index);
driver::WaitPolicy wait_policy(const std::string& name);
driver::RingPlacement ring_placement(const ParameterSet& parameters);
RingPlace ring_place(const ParameterSet& parameters);
abi::DmaOpcode direction_opcode(const std::string& direction);  // "h2d", "d2h", "d2d"

// What moving or computing `bytes` takes at most: 10 MB/s.
inline Picoseconds time_for(Bytes bytes) {
  return static_cast<std::int64_t>(bytes) * 100_ns;
}

// `work`: what the card may rightly take for what is waited for; beyond the range of time: for
// ever.
inline Instant deadline_of(Context& context, Picoseconds work = {}) {
  return context.platform.clock().now() + context.patience.value_or(kTimeout) + work;
}

// Pseudo-random bytes, a function of `seed` alone.
void fill_pattern(ByteSpan bytes, std::uint64_t seed);
// kWrongData naming the first byte that differs; `what` says which data.
Status check_equal(ConstByteSpan expected, ConstByteSpan found, const std::string& what);

}  // namespace npu::workloads
