// SPDX-License-Identifier: Apache-2.0
// Accesses whose translation no TLB has: the program waits for it, which takes kMemoryLatency here,
// and the access is made then.
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kFar = AicpuBench::kPage;
constexpr std::uint64_t kWalkNs = kMemoryLatency / kNs;

class AicpuTranslation : public testing::Test {
 protected:
  AicpuTranslation() {
    bench.unknown = {1};
    bench.memory.verdict = [this](tlm::tlm_generic_payload& trans) {
      const bool asks = model::Transaction::of(trans).kind == model::TransactionKind::kTranslation;
      if (asks) bench.unknown.erase(trans.get_address() / AicpuBench::kPage);
      return asks ? answer : model::Completion::kSuccess;
    };
  }
  std::uint64_t cost(const Program& measured) {
    std::uint64_t ns = 0;
    const auto done = bench.run_program([&](AicpuPort& port) {
      ns = elapsed(port, [&] { measured(port); });
      return 0;
    });
    EXPECT_FALSE(done.fault.failed());
    return ns;
  }

  AicpuBench bench;
  model::Completion answer = model::Completion::kSuccess;
};

const Program kStore = [](AicpuPort& port) { return port.store(kFar, 4, 7), 0; };

TEST_F(AicpuTranslation, AStoreWaitsForItOnce) {
  EXPECT_EQ(cost(kStore), kWalkNs + 1);
  EXPECT_EQ(cost(kStore), 1U);
}

TEST_F(AicpuTranslation, ABarrierWaitsForAStoreThatHasWaited) {
  EXPECT_EQ(cost([](AicpuPort& port) { return port.store(kFar, 4, 7), port.barrier(), 0; }),
            kWalkNs + 40);
}

TEST_F(AicpuTranslation, AnAtomicWaitsForIt) {
  EXPECT_EQ(cost([](AicpuPort& port) { return static_cast<int>(port.fetch_add(kFar, 4, 1)); }),
            kWalkNs + 35);
  EXPECT_EQ(bench.peek(kFar), 1U);
}

TEST_F(AicpuTranslation, ALoadWaitsForItAndForTheMemory) {
  EXPECT_EQ(cost([](AicpuPort& port) { return static_cast<int>(port.load(kFar, 4)); }),
            kWalkNs + 113);
}

TEST_F(AicpuTranslation, AStoreIsOnItsWayWhenItIsKnownAndNotBefore) {
  const SimTime done = 50'000 * kNs + kMemoryLatency + 40 * kNs;
  std::uint32_t before = 1, after = 0;
  bench.at(done - 1, [&] { before = bench.peek(kFar); });
  bench.at(done + 1, [&] { after = bench.peek(kFar); });
  bench.run_program([&](AicpuPort& port) {
    port.compute(static_cast<unsigned>(50'000 - port.system_counter()));
    return kStore(port);
  });
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(after, 7U);
}

TEST_F(AicpuTranslation, TheBytesOfALoadAreThoseOfWhenItIsKnown) {
  std::uint64_t loaded = 0;
  bench.at(50'000 * kNs + kMemoryLatency - 1, [&] {
    const std::uint32_t value = 9;  // of somebody whom no cache hears of
    std::memcpy(bench.memory.bytes.data() + kFar, &value, sizeof value);
  });
  bench.run_program([&](AicpuPort& port) {
    port.compute(static_cast<unsigned>(50'000 - port.system_counter()));
    loaded = port.load(kFar, 4);
    return 0;
  });
  EXPECT_EQ(loaded, 9U);
}

TEST_F(AicpuTranslation, ThatFailsEndsTheBlockAndNothingIsWritten) {
  answer = model::Completion::kNotMapped;
  const auto done = bench.run_program(kStore);
  EXPECT_EQ(done.fault.code, FaultCode::kTranslation);
  EXPECT_EQ(done.fault.address, kFar);
  EXPECT_TRUE(done.fault.write);
  EXPECT_EQ(bench.peek(kFar), 0U);
}

}  // namespace
}  // namespace npu::test
