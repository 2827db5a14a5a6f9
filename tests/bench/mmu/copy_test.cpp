// SPDX-License-Identifier: Apache-2.0
// Copies of a core's memory pipe behind the MMU: what invalidations wait for.
#include <array>
#include <utility>

#include "mmu_bench.hpp"
#include "model/aicore/memory_pipe.hpp"

namespace npu::test {
namespace {

using Invalidate = abi::MmuInvalidate;
using platform::Pipe;

constexpr SimTime kCopyWalk = 4 * kPerEntry;
constexpr SimTime kCopyClock = 1000;
constexpr unsigned kCopyIssue = 10,
                   kCopyEnd = 500;  // clocks: before the requests, behind the last answer
constexpr Bytes kCopyHalf = 2048;
constexpr std::uint64_t kCopyBorder = 8 * kPage;

model::ProgramCoreConfig copy_config() {
  model::ProgramCoreConfig config{};
  config.segment = kCopyHalf;
  config.outstanding = 64_KiB;
  config.ub_to_gm = {kCopyHalf, kCopyIssue, kCopyEnd, 0, 100, 100};
  return config;
}

// A pipe that copies two halves of 2 KiB in VMID 1, to the end of a page and to the start of the
// next, as client 0.
class CopyBench : public MmuBench, private model::MemoryPipe::Owner {
 public:
  CopyBench() {
    on_translated = [this](std::uint64_t slot) {
      pipe_.translated(static_cast<std::uint32_t>(slot));
    };
    on_response = [this](std::uint64_t slot) {
      pipe_.answered(static_cast<std::uint32_t>(slot), kCopyHalf, {});
    };
    tables.map(1, kCopyBorder - kPage, 1 * kPage);
    tables.map(1, kCopyBorder, 2 * kPage);
    enable();
  }
  // A translation that is in the TLB from then on.
  void know(std::uint64_t address) {
    const auto hook = std::exchange(on_response, nullptr);
    access(true, 1, address);
    on_response = hook;
  }
  // Its first request is sent kCopyIssue clocks later, the second one clock behind it.
  void copy() {
    platform::CopyOut out;
    out.to = kCopyBorder - kCopyHalf;
    out.row_bytes = static_cast<std::uint32_t>(2 * kCopyHalf);
    pipe_.begin({model::PipeEntry::Kind::kInstruction, 0, 0, 0, 0, out}, {});
  }
  void run_to(SimTime when) { run(Picoseconds(when - model::sim_now())); }
  SimTime ended = 0;

 private:
  void send(Pipe, const model::MemoryRequest& request) override {
    auto& trans = sim.pool.allocate(tlm::TLM_WRITE_COMMAND, request.address, data_.data(),
                                    static_cast<unsigned>(request.row_bytes));
    auto& info = model::Transaction::of(trans);
    info.vmid = 1;
    info.context = request.slot;
    info.asks_translated = true;
    send_request(clients[0], trans);
  }
  model::DeviceMemoryPort::Hold hold() override { return mmu.memory().hold(1); }
  void release(model::DeviceMemoryPort::Hold hold) override { mmu.memory().release(hold); }
  bool pages_may_leave() const override { return mmu.memory().pages_may_leave(1); }
  bool reaches(std::uint64_t address, Bytes length, bool write) override {
    return mmu.memory().reaches(1, address, length, write);
  }
  void copy_ended(Pipe, const model::PipeEntry&, SimTime, SimTime, Bytes) override {
    ended = model::sim_now();
  }
  void copy_followed(Pipe, const model::PipeEntry&, const model::CopyChain::Path&) override {}
  void raise_behind(Pipe, const model::PipeEntry&, SimTime) override {}
  void copy_advanced(Pipe) override {}

  const model::ProgramCoreConfig core_ = copy_config();
  const model::CoreClock clock_{1'000'000'000};
  const model::InstructionTimes times_{core_, clock_};
  model::MemoryPipe pipe_{sim, core_, clock_, times_, Pipe::kMte3, *this};
  std::array<unsigned char, kCopyHalf> data_{};
};

TEST(MmuCopy, InvalidationDrainsWhileATranslationOfACopyIsInFlight) {
  CopyBench bench;
  bench.know(kCopyBorder - kCopyHalf);  // the second half's page is walked for
  const SimTime begin = model::sim_now();
  // The drop hits the first of the walk's reads: it begins anew then.
  const SimTime walked = begin + (kCopyIssue + 1) * kCopyClock + kPerEntry + kCopyWalk;
  const SimTime first_answered = begin + kCopyIssue * kCopyClock + kMemoryLatency;
  bench.copy();
  bench.run_to(begin + kCopyIssue * kCopyClock + 1);
  bench.invalidate(Invalidate::kRange, 1, 0, kPage);
  bench.run_to(first_answered);
  EXPECT_TRUE(bench.invalidating()) << "the first half has its translation and no answer";
  bench.run_to(first_answered + 1);
  EXPECT_FALSE(bench.invalidating()) << "the copy holds nothing yet";
  ASSERT_LT(first_answered + 1, walked);
  bench.run_to(walked + kMemoryLatency + kCopyEnd * kCopyClock + 1);
  EXPECT_EQ(bench.ended, walked + kMemoryLatency + kCopyEnd * kCopyClock);
}

// Whether an invalidation whose drop comes at `late` behind the end of the walk for the second half
// of a copy waits for the copy, to its very end. `again`: what the drop adds to the walk.
bool waits(std::int64_t late, SimTime again) {
  CopyBench bench;
  bench.know(kCopyBorder - kCopyHalf);
  const SimTime begin = model::sim_now();
  const SimTime walked = begin + (kCopyIssue + 1) * kCopyClock + kCopyWalk;
  bench.copy();
  bench.run_to(walked - kInvalidate + static_cast<SimTime>(late));
  bench.invalidate(Invalidate::kRange, 1, 0, kPage);
  const SimTime end = walked + again + kMemoryLatency + kCopyEnd * kCopyClock;
  bench.run_to(end);
  const bool waited = bench.invalidating();
  bench.run_to(end + 1);
  EXPECT_FALSE(bench.invalidating());
  EXPECT_EQ(bench.ended, end);
  return waited;
}

TEST(MmuCopy, IsNotWaitedForBeforeItsLastTranslation) {
  EXPECT_FALSE(waits(-1, kCopyWalk));
}
TEST(MmuCopy, IsWaitedForFromItsLastTranslationOn) {
  EXPECT_TRUE(waits(1, 0));
}

}  // namespace
}  // namespace npu::test
