// SPDX-License-Identifier: Apache-2.0
// An interrupt that closes, by itself.
#include "driver/link/leased_vector.hpp"

#include "driver/event/wait_loop.hpp"
#include "tests/driver/threads/crowd_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class LeasedVectorTest : public CrowdTest {
 protected:
  void SetUp() override {
    auto opened = must(fake.open_vector(card.config().bdf, 0));
    vector.open(std::move(opened));
  }

  LeasedVector vector;
};

// It is done as soon as it was looked at in vain and the interrupt has closed.
class WaitMetByClosing : public WaitLoop {
 public:
  WaitMetByClosing(platform::Clock& clock, LeasedVector& vector)
      : WaitLoop(clock, &vector, clock.now() + 10_ms), clock_(clock), vector_(vector) {}
  Done run() { return wait(WaitPolicy::kInterrupt, {}); }

 private:
  bool look() override {
    if (looked_) return true;
    looked_ = true;
    vector_.close(clock_);
    return false;
  }
  ConstByteSpan watched() const override { return {}; }
  Done probe() override { return false; }
  void learn_wake_cost(Picoseconds) override {}

  platform::Clock& clock_;
  LeasedVector& vector_;
  bool looked_ = false;
};

TEST_F(LeasedVectorTest, SaysThatItIsClosed) {
  vector.close(fake.clock());
  EXPECT_EQ(vector.count(), 0U);
  vector.wake();
  EXPECT_THAT(vector.wait_after(0, in(1_ms)), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(vector.daemon_wait_after(0, in(1_ms)), FailsWith(ErrorCode::kAborted));
  EXPECT_FALSE(card.vector(0).open);
}

TEST_F(LeasedVectorTest, WhatCameWhileItClosedIsFound) {
  const auto done = must(WaitMetByClosing(fake.clock(), vector).run());
  EXPECT_TRUE(done);
}

TEST_F(LeasedVectorTest, ClosesUnderACrowdThatSleepsAndWakes) {
  begin(kCrowd, [&](unsigned i) {
    for (;;) {
      pass(100_ns);
      const auto seen = vector.count();
      if (i == 0) vector.wake();
      const auto woken = vector.wait_after(seen, in(500_ns));
      if (!woken && woken.error().code == ErrorCode::kAborted) return;
    }
  });
  pass(50_us);
  vector.close(fake.clock());
  join();
  EXPECT_FALSE(card.vector(0).open);
}

}  // namespace
}  // namespace npu::driver
