// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "firmware/aicpu/watchdog.hpp"

#include "firmware/aicpu/tensor_copies.hpp"
#include "tests/unit/firmware/part_fixture.hpp"

namespace npu::test {
namespace {

using firmware::Stop;
using firmware::WatchdogTimes;
using platform::AicpuPhase;

class WatchdogAlone : public Part {
 protected:
  WatchdogAlone() {
    graph.header.watchdog_ns = 320'000;
    place();
    thread = std::make_unique<firmware::RunThread>(port, graph.address);
    cores = std::make_unique<firmware::ThreadCores>(thread->run);
  }
  // Looks when it is due. False: the run was given up.
  bool look(firmware::Watchdog& watchdog) {
    port.compute(static_cast<unsigned>(watchdog.deadline() - port.now()));
    watchdog.look_around();
    return !thread->stop.look();
  }

  std::unique_ptr<firmware::RunThread> thread;
  std::unique_ptr<firmware::ThreadCores> cores;
};

TEST_F(WatchdogAlone, GivesARunUpThatStandsStillForItsQuietTime) {
  const auto& times = thread->times;
  firmware::Watchdog watchdog(*thread, *cores);
  watchdog.begin();
  const auto began = port.now();
  while (look(watchdog)) continue;
  EXPECT_EQ(thread->stop.why(), Stop::kTimeout);
  EXPECT_GE(port.now() - began, times.quiet);
  EXPECT_LT(port.now() - began, times.quiet + times.look);
}

TEST_F(WatchdogAlone, BeginsAnewWhenSomethingHasMoved) {
  firmware::Watchdog watchdog(*thread, *cores);
  watchdog.begin();
  for (unsigned i = 0; i < 3 * WatchdogTimes::kQuietLooks; ++i) {
    if (i % WatchdogTimes::kQuietLooks == 0) thread->progress.note_lane();
    ASSERT_TRUE(look(watchdog)) << "look " << i;
  }
}

class CopiesOfATask : public Part {
 protected:
  CopiesOfATask() {
    Node node;
    node.dumped = 5000;
    graph.add(node);
    place();
  }
};

TEST_F(CopiesOfATask, AreTakenAtTheirStagePieceByPiece) {
  firmware::Progress progress(*run);
  firmware::PhaseMark phase(port);
  firmware::TensorCopies copies(*run, phase, progress);
  const auto what = graph.dumps_of(0)[0];
  graph.machine.put(what.tensor + 4999, std::uint8_t{0x5A});
  copies.take(0, abi::DumpStage::kBeforeDispatch);
  EXPECT_EQ(graph.machine.get<std::uint8_t>(what.copy + 4999), 0x5A);
  EXPECT_NE(graph.dumps_of(0)[0].taken, 0U);
  EXPECT_EQ(graph.dumps_of(0)[1].taken, 0U);
  EXPECT_EQ(control<firmware::ThreadProgress>(firmware::scratch::kProgress).copied, 2U);
  EXPECT_GT(copies.ticks(), 0U);
}

TEST_F(CopiesOfATask, InterruptThePhaseThatTheThreadIsIn) {
  firmware::Progress progress(*run);
  firmware::PhaseMark phase(port);
  firmware::TensorCopies copies(*run, phase, progress);
  phase.enter(AicpuPhase::kComplete, 0);
  copies.take(0, abi::DumpStage::kAfterCompletion);
  EXPECT_EQ(port.phases, (std::vector<AicpuPhase>{AicpuPhase::kComplete, AicpuPhase::kDump,
                                                  AicpuPhase::kComplete}));
}

}  // namespace
}  // namespace npu::test
