// SPDX-License-Identifier: Apache-2.0
// Graphs of streams on the fake card: what has run, and with which arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "npu/driver/stream_graph.hpp"
#include "tests/driver/streams/stream_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {

using Numbers = std::vector<std::uint32_t>;

class StreamGraphTest : public StreamTest {
 protected:
  KernelLaunch numbered(LaunchCores cores, std::uint32_t blocks, std::uint64_t argument = 0) {
    auto launch = kernel(cores, argument);
    launch.blocks = blocks;
    return launch;
  }
  void fill(ExecutionStream& stream, Bytes words) {
    const auto entry = entries::fill(memory(), 4 * words, 0);
    ASSERT_THAT(stream.submit(&entry, 1), IsOk());
  }
  // Captures vector, cube, cube, fill, vector: 1 to 5.
  void capture(ExecutionStream& stream, StreamGraph& graph) {
    ASSERT_THAT(stream.begin_capture(graph), IsOk());
    ASSERT_THAT(stream.launch(numbered(LaunchCores::kVector, 1, 11)), IsOk());
    ASSERT_THAT(stream.launch(numbered(LaunchCores::kCube, 2, 12)), IsOk());
    ASSERT_THAT(stream.launch(numbered(LaunchCores::kCube, 3, 13)), IsOk());
    fill(stream, 4);
    ASSERT_THAT(stream.launch(numbered(LaunchCores::kVector, 5, 15)), IsOk());
    ASSERT_THAT(stream.end_capture(), IsOk());
  }
  // What each executed launch has found in its arguments.
  std::vector<std::uint64_t> arguments() {
    std::vector<std::uint64_t> found;
    for (const auto& executed : cp.executed()) {
      const auto opcode = static_cast<abi::QueueOpcode>(executed.entry.opcode);
      if (opcode != abi::QueueOpcode::kLaunchAiCore) continue;
      const auto payload = executed.entry.get<abi::LaunchPayload>();
      std::uint64_t value = 0;
      const auto place = card.mmu().locate(process->vmid(), payload.arguments);
      card.memory().read(*place, &value, sizeof value);
      found.push_back(value);
    }
    return found;
  }
  std::size_t copies() const {
    const auto& all = cp.executed();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& each) {
      return each.entry.opcode == static_cast<std::uint8_t>(abi::QueueOpcode::kHostToDevice);
    }));
  }
  std::size_t doorbells_in(const std::function<void()>& act) {
    fake.bus_log.clear();
    fake.log_bus = true;
    act();
    fake.log_bus = false;
    const auto& all = fake.bus_log;
    const Bytes page = kDoorbells + 4096 * process->doorbell_page();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& each) {
      return each.kind == BusAccess::Kind::kWrite && each.bar == 2 && each.offset >= page &&
             each.offset < page + 4096;
    }));
  }
};

}  // namespace npu::driver
