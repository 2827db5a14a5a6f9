// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/deferred.hpp"

#include <gtest/gtest.h>

namespace npu::timeline {
namespace {

class Keeper : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    heard.push_back(event.cause);
    if (names != nullptr) last_name = names->name(event.track);
  }
  std::vector<std::uint64_t> heard;
  const Deferred* names = nullptr;
  std::string last_name;
};

TEST(DeferredEvents, ComeInTheirOrderToAll) {
  Keeper first, second;
  Deferred events({&first, &second}, [](std::uint32_t) { return "unit"; });
  constexpr std::uint64_t kEvents = 100'000;
  platform::TraceEvent event{};
  for (event.cause = 0; event.cause < kEvents; ++event.cause) events.on_event(event);
  events.finish();
  ASSERT_EQ(first.heard.size(), kEvents);
  for (std::uint64_t i = 0; i < kEvents; ++i) ASSERT_EQ(first.heard[i], i);
  EXPECT_EQ(second.heard, first.heard);
}

TEST(DeferredEvents, HaveTracksWhoseNamesAreKnownThen) {
  Keeper keeper;
  Deferred events({&keeper}, [](std::uint32_t track) { return "unit" + std::to_string(track); });
  keeper.names = &events;
  platform::TraceEvent event{};
  for (event.track = 0; event.track < 10'000; ++event.track) events.on_event(event);
  events.finish();
  EXPECT_EQ(keeper.last_name, "unit9999");
  EXPECT_EQ(events.name(17), "unit17");
}

TEST(DeferredEvents, OfARunWithoutAnyAreNone) {
  Keeper keeper;
  Deferred events({&keeper}, [](std::uint32_t) { return ""; });
  events.finish();
  EXPECT_TRUE(keeper.heard.empty());
}

}  // namespace
}  // namespace npu::timeline
