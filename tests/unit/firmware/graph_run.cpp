// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/firmware/graph_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace npu::test {

void GraphRun::place() {
  std::vector<std::uint32_t> producers;
  std::vector<abi::TensorDump> dumps;
  const auto predicates = machine.allocate(nodes.size() * 4 + 4);
  header.tasks = static_cast<std::uint32_t>(nodes.size());
  header.descriptors = machine.allocate(nodes.size() * sizeof(abi::TaskDescriptor) + 64);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    abi::TaskDescriptor task;
    task.kernel = 0x4000;
    task.shape = static_cast<std::uint16_t>(node.shape);
    task.blocks = node.blocks;
    task.flags = node.flags;
    task.first_producer = static_cast<std::uint32_t>(producers.size());
    task.producers = static_cast<std::uint32_t>(node.producers.size());
    if (node.predicate >= 0) {
      task.predicate = predicates + 4 * i;
      machine.put(task.predicate, static_cast<std::uint32_t>(node.predicate));
    }
    task.first_dump = static_cast<std::uint32_t>(dumps.size());
    task.dumps = node.dumped > 0 ? 2 : 0;
    const auto tensor = node.dumped > 0 ? machine.allocate(node.dumped + 64) : 0;
    for (std::uint32_t stage = 1; stage <= task.dumps; ++stage) {
      dumps.push_back({tensor + 3, machine.allocate(node.dumped), node.dumped, 0, stage, 0, {}});
    }
    producers.insert(producers.end(), node.producers.begin(), node.producers.end());
    machine.put(header.descriptors + i * sizeof task, task);
  }
  header.producer_count = static_cast<std::uint32_t>(producers.size());
  header.producers = machine.allocate(producers.size() * 4 + 4);
  if (!producers.empty()) {
    std::memcpy(machine.at(header.producers, producers.size() * 4), producers.data(),
                producers.size() * 4);
  }
  header.handshakes = machine.allocate(header.workers * sizeof(abi::Handshake));
  header.payloads = machine.allocate(header.workers * 2 * sizeof(abi::DispatchPayload));
  header.scratch_bytes = abi::run_scratch_bytes(header.tasks, header.producer_count);
  header.scratch = machine.allocate(header.scratch_bytes);
  header.result = machine.allocate(sizeof(abi::RunResult));
  machine.put(header.result, abi::RunResult{});
  if (header.record_count > 0) {
    header.records = machine.allocate(header.record_count * sizeof(abi::TaskRecord));
  }
  header.dump_count = dumps.size();
  header.dumps = machine.allocate(dumps.size() * sizeof(abi::TensorDump) + 64);
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    machine.put(header.dumps + i * sizeof dumps[i], dumps[i]);
  }
  address = machine.allocate(sizeof header);
  machine.put(address, header);
}

std::array<abi::TensorDump, 2> GraphRun::dumps_of(std::uint32_t task) {
  const auto at = header.descriptors + task * sizeof(abi::TaskDescriptor);
  const auto first = machine.get<abi::TaskDescriptor>(at).first_dump;
  return machine.get<std::array<abi::TensorDump, 2>>(header.dumps +
                                                     first * sizeof(abi::TensorDump));
}

void GraphRun::expect_complete_and_in_order() const {
  const bool coupled = machine.cores[0].type == CoreType::kCoupled;
  std::vector<std::uint64_t> ended(nodes.size()), begun(nodes.size(), ~std::uint64_t{0});
  std::vector<std::size_t> lanes(nodes.size());
  for (const auto& run : machine.log) {
    ++lanes[run.task];
    ended[run.task] = std::max(ended[run.task], run.end);
    begun[run.task] = std::min(begun[run.task], run.begin);
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const unsigned per_block = node.shape == TaskShape::kMixed && !coupled ? 3 : 1;
    const bool runs = node.shape != TaskShape::kNone && node.predicate != 0;
    ASSERT_EQ(lanes[i], runs ? node.blocks * per_block : 0) << "task " << i;
    for (const auto p : node.producers) {
      if (!runs) continue;
      ASSERT_LE(ended[p], begun[i]) << "task " << i << " before its producer " << p;
    }
  }
}

}  // namespace npu::test
