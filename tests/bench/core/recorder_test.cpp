// SPDX-License-Identifier: Apache-2.0
// Which events are made: those that a sink hears.
#include "model/core/recorder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace npu::test {
namespace {

using platform::Activity;

class Listener : public platform::TraceSink {
 public:
  explicit Listener(std::vector<Activity> heard) : heard_(std::move(heard)) {}
  bool hears(Activity activity) const override {
    for (const Activity each : heard_) {
      if (each == activity) return true;
    }
    return false;
  }
  void on_event(const platform::TraceEvent&) override {}

 private:
  std::vector<Activity> heard_;
};

// Says nothing of what it hears.
class Everything : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent&) override {}
};

TEST(Recorder, HearsWhatOneOfItsSinksHears) {
  model::Recorder recorder;
  Listener kernels({Activity::kKernelBlock}), reads({Activity::kHbmRead});
  EXPECT_FALSE(recorder.hears(Activity::kKernelBlock));
  recorder.add(kernels);
  EXPECT_TRUE(recorder.hears(Activity::kKernelBlock));
  EXPECT_FALSE(recorder.hears(Activity::kHbmRead));
  recorder.add(reads);
  EXPECT_TRUE(recorder.hears(Activity::kHbmRead));
  recorder.remove(reads);
  EXPECT_FALSE(recorder.hears(Activity::kHbmRead));
  EXPECT_TRUE(recorder.hears(Activity::kKernelBlock));
}

TEST(Recorder, HearsAllForASinkThatDoesNotSay) {
  model::Recorder recorder;
  Everything everything;
  recorder.add(everything);
  for (unsigned i = 0; i < static_cast<unsigned>(Activity::kCount); ++i) {
    EXPECT_TRUE(recorder.hears(static_cast<Activity>(i))) << i;
  }
}

}  // namespace
}  // namespace npu::test
