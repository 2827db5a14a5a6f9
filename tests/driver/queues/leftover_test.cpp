// SPDX-License-Identifier: Apache-2.0
// A card that a driver has left with queues on it, and the next one that opens it.
#include "tests/driver/queues/queue_fixture.hpp"

namespace npu::driver {
namespace {

class LeftoverTest : public QueueTest {
 protected:
  void open_again() {
    SetUp();
    ASSERT_NE(process, nullptr);
    const auto queue = make();
    EXPECT_THAT(run(*queue), IsOk());
  }
};

TEST_F(LeftoverTest, ACardThatDidNotAnswerWhenItWasClosedIsEmptiedWhenItIsOpened) {
  auto queue = make();
  cp.stuck = true;
  queue.reset();
  process.reset();
  device.reset();
  EXPECT_EQ(cp.queues(), 1U);
  cp.stuck = false;
  open_again();
}

TEST_F(LeftoverTest, AsMuchIsTrueOfADeviceThatWasShutDownWithItsQueues) {
  auto queue = make();
  cp.stuck = true;
  EXPECT_THAT(device->shutdown(), IsOk());
  queue.reset();
  process.reset();
  device.reset();
  cp.stuck = false;
  open_again();
}

TEST_F(LeftoverTest, ACardThatWasClosedInOrderIsNotReset) {
  make().reset();
  process.reset();
  device.reset();
  const auto resets = card.resets();
  open_again();
  EXPECT_EQ(card.resets(), resets);
}

}  // namespace
}  // namespace npu::driver
