// SPDX-License-Identifier: Apache-2.0
// Copies of a core's memory pipe whose pages come and go by page faults.
#include "fault_bench.hpp"
#include "model/aicore/memory_pipe.hpp"

namespace npu::test {
namespace {

using Invalidate = abi::MmuInvalidate;
using platform::Pipe;

constexpr Bytes kCopied = 2048;
constexpr std::uint64_t kFirst = kVirtual, kSecond = kVirtual + kPage;

model::ProgramCoreConfig pipe_config() {
  model::ProgramCoreConfig config{};
  config.segment = kCopied;
  config.outstanding = 64_KiB;
  config.ub_to_gm = {kCopied, 10, 500, 0, 100, 100};
  config.gm_to_ub = {kCopied, 10, 0, 0, 100, 100};
  return config;
}

class LeavingBench : public PageFaultBench, private model::MemoryPipe::Owner {
 public:
  explicit LeavingBench(bool write) : write_(write) {
    on_translated = [this](std::uint64_t slot) {
      pipe_.translated(static_cast<std::uint32_t>(slot));
    };
    on_response = [this](std::uint64_t slot) {
      ++answers;
      pipe_.answered(static_cast<std::uint32_t>(slot), kCopied, {});
    };
  }
  void copy(std::uint64_t address) {
    platform::CopyOut out;
    out.to = address;
    out.row_bytes = static_cast<std::uint32_t>(kCopied);
    platform::CopyIn in;
    in.from = address;
    in.row_bytes = static_cast<std::uint32_t>(kCopied);
    in.to.buffer = platform::LocalBuffer::kUb;
    model::PipeEntry entry{model::PipeEntry::Kind::kInstruction, 0, 0, 0, 0, out};
    if (!write_) entry.instruction = in;
    pipe_.begin(entry, {});
    run(1_us);
  }
  void take_away(std::uint64_t address) {
    tables.set(kVmid, address, 0, 0);
    invalidate(Invalidate::kRange, kVmid, address, kPage);
    run(1_us);
  }
  void fault_in(std::uint64_t address, std::uint64_t to) {
    tables.map(kVmid, address, to);
    reply(address);
    run(2_us);
  }
  unsigned ended = 0, answers = 0;

 private:
  void send(Pipe, const model::MemoryRequest& request) override {
    auto& trans =
        sim.pool.allocate(write_ ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, request.address,
                          data_.data(), static_cast<unsigned>(request.row_bytes));
    auto& info = model::Transaction::of(trans);
    info.vmid = kVmid;
    info.context = request.slot;
    info.asks_translated = true;
    send_request(clients[0], trans);
  }
  model::DeviceMemoryPort::Hold hold() override { return mmu.memory().hold(kVmid); }
  void release(model::DeviceMemoryPort::Hold hold) override { mmu.memory().release(hold); }
  bool pages_may_leave() const override { return mmu.memory().pages_may_leave(kVmid); }
  bool reaches(std::uint64_t address, Bytes length, bool write) override {
    return mmu.memory().reaches(kVmid, address, length, write);
  }
  void copy_ended(Pipe, const model::PipeEntry&, SimTime, SimTime, Bytes) override { ++ended; }
  void copy_followed(Pipe, const model::PipeEntry&, const model::CopyChain::Path&) override {}
  void raise_behind(Pipe, const model::PipeEntry&, SimTime) override {}
  void copy_advanced(Pipe) override {}

  const bool write_;
  const model::ProgramCoreConfig core_ = pipe_config();
  const model::CoreClock clock_{1'000'000'000};
  const model::InstructionTimes times_{core_, clock_};
  model::MemoryPipe pipe_{sim, core_, clock_, times_, Pipe::kMte3, *this};
  std::array<unsigned char, kCopied> data_{};
};

class LeavingPage : public testing::TestWithParam<bool> {};

TEST_P(LeavingPage, ACopyBehindOneThatWaitsHoldsUpNobody) {
  LeavingBench bench(GetParam());
  bench.tables.map(kVmid, kSecond, 2 * kPage);
  bench.copy(kFirst);
  bench.copy(kSecond);
  EXPECT_EQ(bench.answers, 1U) << "the second one's";
  EXPECT_EQ(bench.ended, 0U);
  bench.take_away(kSecond);
  EXPECT_FALSE(bench.invalidating());
  bench.fault_in(kFirst, 3 * kPage);
  EXPECT_EQ(bench.ended, 1U);
  EXPECT_EQ(bench.faults.waiting(), 1U) << "the second one is sent again";
  bench.fault_in(kSecond, 4 * kPage);
  EXPECT_EQ(bench.ended, 2U);
  EXPECT_EQ(bench.answers, 3U);
  EXPECT_EQ(bench.last_address(), 4 * kPage);
}

TEST_P(LeavingPage, OneThatHasComeBackMeanwhileServesAReadAlone) {
  LeavingBench bench(GetParam());
  bench.tables.map(kVmid, kSecond, 2 * kPage);
  bench.copy(kFirst);
  bench.copy(kSecond);
  bench.take_away(kSecond);
  bench.tables.map(kVmid, kSecond, 4 * kPage);
  bench.fault_in(kFirst, 3 * kPage);
  EXPECT_EQ(bench.ended, 2U);
  // The page that came back has not been told to be written.
  EXPECT_EQ(bench.answers, GetParam() ? 3U : 2U);
}

TEST_P(LeavingPage, WithoutOneACopyIsSentOnce) {
  LeavingBench bench(GetParam());
  bench.tables.map(kVmid, kFirst, 2 * kPage);
  bench.copy(kFirst);
  bench.run(2_us);
  EXPECT_EQ(bench.ended, 1U);
  EXPECT_EQ(bench.answers, 1U);
}

INSTANTIATE_TEST_SUITE_P(Ways, LeavingPage, testing::Bool(), [](const auto& instance) {
  return std::string(instance.param ? "write" : "read");
});

}  // namespace
}  // namespace npu::test
