// SPDX-License-Identifier: Apache-2.0
// The executor firmware on a core, with the AICPU's side of both handshakes played by the test.
#include "npu/abi/handshake.hpp"
#include "npu/abi/task_graph.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using abi::DispatchPayload;
using abi::Handshake;

constexpr std::uint64_t kExecutor = 0x30'0000;
constexpr std::uint64_t kHeader = kData, kLine = kData + 0x1000, kPayloads = kData + 0x2000;
constexpr SimTime kStep = 20'000 * kClock;  // between actions of the AICPU

class Executor {
 public:
  explicit Executor(abi::HandshakeKind kind) {
    bench.upload("executor", kExecutor);
    abi::RunHeader header;
    header.handshake = static_cast<std::uint32_t>(kind);
    header.workers = 1;
    header.handshakes = kLine;
    header.payloads = kPayloads;
    bench.memory.store(kHeader, header);
    open();
    bench.at(0, [this] { bench.launch_image(0, kExecutor, kHeader); });
    then([this] { line(offsetof(Handshake, aicpu_ready), 1); });
  }

  void open() { bench.cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen); }
  // A step later than what was said last.
  void then(std::function<void()> action) { bench.at(now_ += kStep, std::move(action)); }
  void line(std::size_t offset, std::uint32_t value) { bench.memory.store(kLine + offset, value); }
  Handshake line() { return bench.memory.load<Handshake>(kLine); }
  void base(std::uint32_t value) { bench.cores.write(0, abi::DataMainBase::kOffset, value); }
  std::uint32_t cond() { return bench.cores.read(0, abi::Cond::kOffset); }
  void payload(unsigned slot, Body body, std::uint32_t block = 0) {
    DispatchPayload payload;
    payload.kernel = kImage;
    payload.arguments = bench.keep(std::move(body));
    payload.block = block;
    payload.blocks = 4;
    bench.memory.store(kPayloads + slot * sizeof payload, payload);
  }

  AicoreBench bench;

 private:
  SimTime now_ = 0;
};

TEST(AicoreExecutor, IntroducesItselfWhenTheSchedulerIsReady) {
  Executor run(abi::HandshakeKind::kRegister);
  Handshake before, after;
  run.bench.at(kStep - 1, [&] { before = run.line(); });
  run.then([&] {
    after = run.line();
    run.base(abi::DataMainBase::kExit);
  });

  run.bench.run();

  EXPECT_EQ(before.aicore_done, 0U);
  EXPECT_EQ(after.aicore_done, 1U);
  EXPECT_EQ(after.core_type, static_cast<std::uint32_t>(abi::CoreType::kCoupled));
  EXPECT_EQ(run.cond(), abi::Cond::kExited);
  EXPECT_EQ(run.bench.ended(0).fault, FaultCode::kNone);
}

TEST(AicoreExecutor, RunsWhatDataMainBaseSaysAndAcknowledgesAndFinishesIt) {
  Executor run(abi::HandshakeKind::kRegister);
  std::vector<std::uint32_t> blocks, conds;
  const auto kernel = [&](AicorePort& port) {
    blocks.push_back(port.call().block);
    port.scalar(5000);
    return 0;
  };
  run.then([&] { run.base(abi::DataMainBase::kIdle); });
  run.then([&] {
    conds.push_back(run.cond());
    run.payload(1, kernel, 2);
    run.base(1);
  });
  run.bench.at(4 * kStep - kStep + 5000 * kClock, [&] { conds.push_back(run.cond()); });
  run.then([&] {
    conds.push_back(run.cond());
    run.payload(0, kernel, 3);
    run.base(2);
  });
  run.then([&] {
    conds.push_back(run.cond());
    run.base(abi::DataMainBase::kExit);
  });

  run.bench.run();

  EXPECT_EQ(blocks, (std::vector<std::uint32_t>{2, 3}));
  const auto finished = abi::Cond::kFinished;
  EXPECT_EQ(conds, (std::vector<std::uint32_t>{abi::Cond::kIdle, 1, finished | 1, finished | 2}));
  EXPECT_EQ(run.cond(), abi::Cond::kExited);
}

TEST(AicoreExecutor, TakesUpATaskWithinThePollAndTheReadsOfItsPayloadAndKernel) {
  Executor run(abi::HandshakeKind::kRegister);
  SimTime begun = 0, sent = 0;
  const auto kernel = [&](AicorePort& port) {
    port.data_main_base();
    begun = model::sim_now();
    return 0;
  };
  for (const unsigned id : {1U, 2U}) {  // the second finds the kernel in the instruction cache
    run.then([&run, &sent, kernel, id] {
      run.payload(id & 1, kernel);
      sent = model::sim_now();
      run.base(id);
    });
  }
  run.then([&] { run.base(abi::DataMainBase::kExit); });

  run.bench.run();

  // Poll at most 5 behind; ack 7; dcci 3; line of the payload 100, more of it 5 times 2;
  // header 100; what the kernel itself takes to look at the time 5. The executor counts nothing.
  const SimTime least = (7 + 3 + 100 + 5 * 2 + 100 + 5) * kClock;
  EXPECT_GE(begun - sent, least);
  EXPECT_LE(begun - sent, least + 2 * 5 * kClock);
}

TEST(AicoreExecutor, PutsWhatAKernelReturnedIntoItsPayload) {
  Executor run(abi::HandshakeKind::kRegister);
  run.then([&] {
    run.payload(1, [](AicorePort&) { return 42; });
    run.base(1);
  });
  run.then([&] { run.base(abi::DataMainBase::kExit); });

  run.bench.run();

  const auto payload = run.bench.memory.load<DispatchPayload>(kPayloads + sizeof(DispatchPayload));
  EXPECT_EQ(payload.result, 42U);
  EXPECT_EQ(run.bench.ended(0).fault, FaultCode::kNone);
}

TEST(AicoreExecutor, RunsWhatItsLineSaysUntilItSaysQuit) {
  Executor run(abi::HandshakeKind::kMemory);
  std::vector<Handshake> lines;
  const auto kernel = [](AicorePort& port) {
    port.scalar(5000);
    return 7;
  };
  run.then([&] {
    run.payload(0, kernel);
    run.line(offsetof(Handshake, task), static_cast<std::uint32_t>(kPayloads));
    run.line(offsetof(Handshake, task_sequence), 1);
  });
  run.bench.at(2 * kStep + 5000 * kClock, [&] { lines.push_back(run.line()); });
  run.then([&] {
    lines.push_back(run.line());
    run.line(offsetof(Handshake, control), 1);
  });

  run.bench.run();

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].task_status, 1);
  EXPECT_EQ(lines[0].done_sequence, 0U);
  EXPECT_EQ(lines[1].task_status, 0);
  EXPECT_EQ(lines[1].done_sequence, 1U);
  EXPECT_EQ(lines[1].task_result, 7U);
  EXPECT_TRUE(run.bench.has_ended(0));
}

TEST(AicoreExecutor, StopsWithTheFaultOfItsKernel) {
  Executor run(abi::HandshakeKind::kRegister);
  run.then([&] {
    run.payload(1, [](AicorePort& port) {
      port.wait_flag(Pipe::kCube, Pipe::kScalar, 1);
      return 0;
    });
    run.base(1);
  });

  run.bench.run();

  EXPECT_EQ(run.bench.ended(0).fault, FaultCode::kFlagDeadlock);
  EXPECT_EQ(run.bench.cores.read(0, abi::CoreStatus::kOffset),
            static_cast<std::uint32_t>(FaultCode::kFlagDeadlock));
}

}  // namespace
}  // namespace npu::test
