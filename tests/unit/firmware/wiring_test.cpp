// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "firmware/aicpu/wiring.hpp"

#include "tests/unit/firmware/part_fixture.hpp"

namespace npu::test {
namespace {

using firmware::ReadyClass;
using firmware::TaskState;

// Without cores: what is ready goes into the shared rings.
class WiringOfATask : public Part {
 protected:
  void begin() {
    place();
    stop = std::make_unique<firmware::RunStop>(*run);
    queues = std::make_unique<firmware::ReadyQueues>(*run);
    progress = std::make_unique<firmware::Progress>(*run);
    copies = std::make_unique<firmware::TensorCopies>(*run, phase, *progress);
    ready = std::make_unique<firmware::ReadyTasks>(*run, cores, *queues, *copies);
    wiring = std::make_unique<firmware::Wiring>(*run, cores, *ready, *stop, phase);
  }
  RunStatus failure() {
    abi::RunResult result;
    stop->read_failure(result);
    return static_cast<RunStatus>(result.status);
  }
  std::uint32_t successors_of(std::uint32_t task) {
    return run->load32(run->task(task, offsetof(TaskState, successors)));
  }

  firmware::Cores cores;
  firmware::PhaseMark phase{port};
  std::unique_ptr<firmware::RunStop> stop;
  std::unique_ptr<firmware::ReadyQueues> queues;
  std::unique_ptr<firmware::Progress> progress;
  std::unique_ptr<firmware::TensorCopies> copies;
  std::unique_ptr<firmware::ReadyTasks> ready;
  std::unique_ptr<firmware::Wiring> wiring;
};

TEST_F(WiringOfATask, GoesOnAFewTasksAtATimeAndSaysWhenAllAreWired) {
  for (int i = 0; i < 40; ++i) graph.add(TaskShape::kAiv);
  begin();
  EXPECT_TRUE(wiring->wire_some());
  EXPECT_EQ(wiring->next(), 32U);
  EXPECT_TRUE(wiring->wire_some());
  EXPECT_EQ(wiring->next(), 40U);
  EXPECT_EQ(wiring->ended(), 0U);
  EXPECT_FALSE(wiring->wire_some());
  EXPECT_NE(wiring->ended(), 0U);
  EXPECT_EQ(queues->shared(ReadyClass::kAiv), 40U);
}

TEST_F(WiringOfATask, AConsumerWaitsInTheListOfItsProducer) {
  graph.add(TaskShape::kAic);
  graph.add(TaskShape::kAiv, {0});
  begin();
  wiring->wire_some();
  EXPECT_EQ(successors_of(0), 1U);  // edge 0, + 1
  EXPECT_EQ(queues->shared(ReadyClass::kAic), 1U);
  EXPECT_EQ(queues->shared(ReadyClass::kAiv), 0U);
}

TEST_F(WiringOfATask, AConsumerWhoseProducerHasEndedAlreadyIsReady) {
  graph.add(TaskShape::kAic);
  graph.add(TaskShape::kAiv, {0});
  begin();
  run->store32(run->task(0, offsetof(TaskState, successors)), firmware::kClosed);
  wiring->wire_some();
  EXPECT_EQ(queues->shared(ReadyClass::kAiv), 1U);
}

TEST_F(WiringOfATask, ATaskWithoutAShapeIsInNoQueue) {
  graph.add(TaskShape::kNone);
  begin();
  wiring->wire_some();
  EXPECT_FALSE(ready->skipped().empty());
}

TEST_F(WiringOfATask, AProducerThatDoesNotExistEndsTheRun) {
  graph.add(TaskShape::kAic, {1});
  begin();
  wiring->wire_some();
  EXPECT_EQ(failure(), RunStatus::kBadHeader);
  EXPECT_EQ(wiring->next(), 0U);
}

TEST_F(WiringOfATask, MoreBlocksTogetherThanThereAreCoresEndTheRun) {
  graph.add(Node{TaskShape::kAic, {}, 2, abi::kTaskCooperative});
  begin();
  wiring->wire_some();
  EXPECT_EQ(failure(), RunStatus::kNotCoresident);
}

}  // namespace
}  // namespace npu::test
