// SPDX-License-Identifier: Apache-2.0
// Queues that give their slot away in awkward moments.
#include "command_bench.hpp"

namespace npu::test {
namespace {

using abi::ManagementOpcode;
using abi::PreemptMode;

constexpr std::uint16_t kBarriered = abi::kEntryCompletion | abi::kEntryBarrier;

model::ChipConfig one_slot_one_core() {
  auto config = command_chip_config();
  config.command.slots = 1;
  config.ai_cores = 1;
  return config;
}

// The entry behind the kernel is decoded, and dropped again, when the queue gives way.
TEST(CommandPreempt, AnEntryBehindAKernelThatCannotBeSavedTakesNothingFromIt) {
  CommandBench bench(one_slot_one_core());
  QueueSpec spec;
  spec.save_area = false;
  auto first = bench.make(spec);
  auto second = bench.make(spec);
  bench.device.store(0, std::uint64_t{0x1234});
  bench.push(first, spin(bench, 1, 1, 5000, 20));
  bench.push(first, nop(2, kBarriered));
  bench.ring(first);
  bench.submit(second, nop(3));
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(first), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(bench.tags(second).size(), 1U);
  EXPECT_EQ(bench.blocks(), 20U);
  EXPECT_EQ(bench.device.load<std::uint64_t>(0), 0x1234U) << "no save area, nothing saved";
}

TEST(CommandPreempt, ASuspendedQueueWithWorkLeftHasBeenPreempted) {
  CommandBench bench(one_slot_one_core());
  auto queue = bench.make();
  bench.push(queue, spin(bench, 1, 1, 5000, 1));
  bench.push(queue, nop(2, kBarriered));
  bench.ring(queue);
  bench.run(3_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kSuspend, queue).status, 0U);
  EXPECT_EQ(bench.descriptor(queue).preemptions, 1U);
  bench.on_queue(ManagementOpcode::kResume, queue);
  bench.run(20_us);
  bench.on_queue(ManagementOpcode::kSuspend, queue);
  EXPECT_EQ(bench.descriptor(queue).preemptions, 1U) << "nothing was left";
  EXPECT_EQ(bench.command.statistics().preemptions, 1U);
}

// One slot is not given up for as long as a kernel runs; a queue that waits gets the other one.
TEST(CommandPreempt, ASlotThatDoesNotComeFreeKeepsNobodyFromTheOthers) {
  auto config = command_chip_config();
  config.command.slots = 2;
  CommandBench bench(config);
  QueueSpec spec;
  spec.save_area = false;
  spec.core_mask = 1;
  auto endless = bench.make(spec);
  bench.submit(endless, spin(bench, 1, 1, 900'000'000, 1));  // 0.9 s
  bench.run(1_us);
  spec.core_mask = 2;
  auto busy = bench.make(spec);
  for (std::uint32_t i = 0; i < 60; ++i) bench.push(busy, spin(bench, 1, i, 3001, 1, kBarriered));
  auto waiting = bench.make(spec);
  bench.ring(busy);
  bench.submit(waiting, nop(1));
  bench.run(60_us);  // of them busy works 180
  EXPECT_EQ(bench.tags(waiting).size(), 1U) << "a quantum is 10 us";
  bench.run(300_us);
  EXPECT_EQ(bench.tags(busy).size(), 60U);
}

TEST(CommandPreempt, AKernelThatWasSavedIsNotGoneOnWithWithoutACore) {
  CommandBench bench(one_slot_one_core());
  auto queue = bench.make();
  bench.push(queue, spin(bench, 1, 1, 5000, 20));
  bench.push(queue, nop(2, kBarriered));
  bench.ring(queue);
  bench.run(8_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kSuspend, queue).status, 0U);
  auto half = bench.descriptor(queue);
  EXPECT_EQ(half.saved, 1);
  half.core_mask = {2, 0, 0, 0};  // of one core
  bench.device.store(kDescriptors, half);
  bench.on_queue(ManagementOpcode::kResume, queue);
  bench.run(20_us);
  const auto completion = bench.completion(queue);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->status, static_cast<int>(FaultCode::kInvalidCoreMask));
  EXPECT_EQ(bench.descriptor(queue).state, 3U);
  EXPECT_TRUE(bench.command.idle());
}

// Programs on one core, whose blocks take 6 us: what the cores are told of them.
class SeenPrograms : public model::KernelPort {
 public:
  explicit SeenPrograms(CommandBench& bench) : sim_(bench.sim) {
    bench.command.connect_aicore(*this);
  }
  void connect(Listener& listener) override { listener_ = &listener; }
  unsigned cores() const override { return 1; }
  void start(unsigned, const model::KernelBlock& block) override {
    blocks.push_back(block);
    sim_.agenda.at<&SeenPrograms::end>(model::sim_now() + 6'000'000, *this);
  }
  void stop(std::uint64_t) override {}

  std::vector<model::KernelBlock> blocks;

 private:
  void end(std::uint64_t) { listener_->block_done(0, blocks.back(), {}); }

  model::Simulation& sim_;
  Listener* listener_ = nullptr;
};

QueueEntry program(std::uint32_t tag, std::uint32_t blocks) {
  abi::LaunchPayload payload{};
  payload.blocks = blocks;
  payload.image = kVirtual + kData;
  return entry_of(QueueOpcode::kLaunchAiCore, tag, payload);
}

// Flags between the blocks hang on it.
TEST(CommandPreempt, AKernelThatGoesOnIsStillTheSameLaunchToTheCores) {
  CommandBench bench(one_slot_one_core());
  SeenPrograms programs(bench);
  auto first = bench.make();
  auto second = bench.make({2});
  bench.submit(first, program(1, 4));
  bench.submit(second, program(2, 4));
  bench.run(200_us);
  std::map<std::uint64_t, std::vector<std::uint64_t>> contexts;  // by cause, in order of the blocks
  for (const auto& block : programs.blocks) contexts[block.cause].push_back(block.context);
  ASSERT_EQ(contexts.size(), 2U);
  EXPECT_GE(bench.command.statistics().preemptions, 2U);
  const auto& a = contexts.begin()->second;
  const auto& b = contexts.rbegin()->second;
  EXPECT_EQ(a, std::vector<std::uint64_t>(4, a.front()));
  EXPECT_EQ(b, std::vector<std::uint64_t>(4, b.front()));
  EXPECT_NE(a.front(), b.front()) << "each had blocks left when the other ran";
}

TEST(CommandPreempt, ASavedKernelThatIsRemovedLeavesItsPlaceToOthers) {
  CommandBench bench(one_slot_one_core());
  SeenPrograms programs(bench);
  for (unsigned i = 0; i < 3; ++i) {
    auto queue = bench.make();
    bench.submit(queue, program(1, 4));
    bench.run(8_us);
    bench.on_queue(ManagementOpcode::kSuspend, queue);
    EXPECT_EQ(bench.descriptor(queue).saved, 1);
    EXPECT_TRUE(bench.command.idle());
    bench.on_queue(ManagementOpcode::kRemoveQueue, queue);
    EXPECT_EQ(programs.blocks.back().context, programs.blocks.front().context);
  }
  EXPECT_TRUE(bench.command.idle());
}

// A doorbell comes at every moment of loading, working and unloading.
TEST(CommandPreempt, NoDoorbellIsLost) {
  CommandBench bench(one_slot_one_core());
  auto queue = bench.make();
  auto other = bench.make({2});
  std::uint32_t written = 0;
  for (std::int64_t delay = 0; delay < 4000; delay += 50) {
    bench.submit(queue, nop(written++));
    bench.submit(other, nop(1));
    bench.run(Picoseconds(delay * 1000));
    bench.submit(queue, nop(written++));
    bench.run(20_us);
    ASSERT_EQ(bench.tags(queue).size(), 2U) << delay << " ns";
    ASSERT_EQ(bench.tags(other).size(), 1U);
  }
}

// An impossible one at every moment, too: the descriptor tells of it.
TEST(CommandPreempt, AnImpossibleDoorbellIsInTheDescriptorWheneverItComes) {
  CommandBench bench(one_slot_one_core());
  auto other = bench.make({2});
  for (std::int64_t delay = 0; delay < 2500; delay += 50) {
    auto queue = bench.make();
    bench.submit(queue, nop(1));
    bench.submit(other, nop(1));
    bench.run(Picoseconds(delay * 1000));
    bench.doorbell(queue, 1000);
    bench.run(20_us);
    const auto state = bench.descriptor(queue);
    ASSERT_EQ(state.state, 3U) << delay << " ns";
    ASSERT_EQ(state.error, static_cast<int>(FaultCode::kIndexBeyondRing)) << delay << " ns";
    ASSERT_EQ(state.error_address, 1000U);
    ASSERT_EQ(bench.on_queue(ManagementOpcode::kRemoveQueue, queue).status, 0U);
    ASSERT_EQ(bench.tags(other).size(), 1U);
  }
}

// One process' kernel does not hold up another one's commands.
TEST(CommandPreempt, ACommandDoesNotWaitForAKernelWithoutEnd) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, spin(bench, 1, 1, 900'000'000, 1));  // 0.9 s
  bench.run(10_us);
  const auto held = bench.on_queue(ManagementOpcode::kSuspend, queue, PreemptMode::kDrain, 110_us);
  EXPECT_EQ(held.status, static_cast<std::uint32_t>(abi::ManagementStatus::kNotDrained));
  auto other = bench.make({2});
  bench.submit(other, nop(1));
  bench.submit(queue, nop(2));
  bench.run(20_us);
  EXPECT_EQ(bench.tags(other).size(), 1U);
  EXPECT_TRUE(bench.tags(queue).empty()) << "nothing more is started";
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  EXPECT_EQ(
      bench.on_queue(ManagementOpcode::kRemoveQueue, queue, PreemptMode::kDrain, 110_us).status,
      static_cast<std::uint32_t>(abi::ManagementStatus::kNotDrained));
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kRemoveQueue, queue, PreemptMode::kReset).status, 0U);
  EXPECT_TRUE(bench.command.idle());
}

// Suspended, not drained, resumed before it was: it goes on as if nothing had been.
TEST(CommandPreempt, AQueueThatIsResumedBeforeItHasDrainedGoesOn) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, spin(bench, 1, 1, 300'000, 1));
  bench.push(queue, nop(2, kBarriered));
  bench.ring(queue);
  bench.run(10_us);
  bench.on_queue(ManagementOpcode::kSuspend, queue, PreemptMode::kDrain, 110_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  bench.run(300_us);
  EXPECT_EQ(bench.tags(queue), (std::vector<std::uint32_t>{1, 2}));
}

// Copies of every kind: one that runs in each engine, one behind it, others not yet with an engine.
TEST(CommandPreempt, AResetStopsCopiesAtTheNextBorderOfAnAccess) {
  using Op = QueueOpcode;
  const std::uint64_t host = CommandBench::host_share(1, 768_KiB);
  for (const auto op :
       {Op::kHostToDevice, Op::kDeviceToHost, Op::kDeviceToDevice, Op::kFill, Op::kPrefetch}) {
    SCOPED_TRACE(to_string(op));
    static CommandBench bench;
    bench.device.latency = bench.host.latency = 1'000'000;  // 1 us: 64 KiB, an engine's buffer
    bench.device.keep_record = bench.host.keep_record = false;
    auto queue = bench.make({1, 6, false});
    for (std::uint32_t i = 0; i < 12; ++i) {
      const std::uint64_t from = op == Op::kHostToDevice ? host : kVirtual + 1_MiB;
      const std::uint64_t in_card = op == Op::kPrefetch ? 0 : kVirtual + kData;
      const std::uint64_t to = op == Op::kDeviceToHost ? host : in_card;
      bench.push(queue, op == Op::kFill ? fill(i, kData, 2_MiB, i)
                                        : entry_of(op, i, abi::CopyPayload{from, to, 1_MiB}));
    }
    bench.ring(queue);
    bench.run(op == Op::kFill ? 9_us : 18_us);  // fills are not read first
    EXPECT_EQ(
        bench.on_queue(ManagementOpcode::kRemoveQueue, queue, PreemptMode::kReset, 12_us).status,
        0U);
    EXPECT_TRUE(bench.command.idle());
    const auto done = bench.tags(queue).size();
    EXPECT_LT(done, 12U);
    bench.device.keep_record = bench.host.keep_record = true;
    bench.run(1_ms);
    EXPECT_TRUE(bench.device.seen.empty());
    EXPECT_TRUE(bench.host.seen.empty());
    EXPECT_EQ(bench.tags(queue).size(), 0U);
    EXPECT_EQ(bench.faults(), 0U);
  }
}

}  // namespace
}  // namespace npu::test
