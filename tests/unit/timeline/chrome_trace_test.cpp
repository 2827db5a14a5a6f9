// SPDX-License-Identifier: Apache-2.0
// Whatever the events are: JSON of every one that is shown, with its exact times.
#include "tools/timeline/chrome_trace.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tools/timeline/cause.hpp"

namespace npu::timeline {
namespace {

using nlohmann::json;
using platform::Activity;
using platform::TraceEvent;

struct WrittenText : ByteSink {
  Status append(ConstByteSpan more) override {
    text.append(reinterpret_cast<const char*>(more.data), more.size);
    return {};
  }
  std::string text;
};

std::string written(const std::vector<TraceEvent>& events, const Filter& filter) {
  WrittenText out;
  ChromeTrace trace(out, filter, [](std::uint32_t track) {
    return track % 7 == 0 ? "odd \"name\"\\\n" : "card" + std::to_string(track % 3) + ".unit";
  });
  for (const auto& event : events) trace.on_event(event);
  trace.complete();
  EXPECT_TRUE(trace.finish({{"a \"key\"", "a\tvalue"}}));
  return out.text;
}

std::vector<json> of_phase(const std::string& text, const std::string& phase) {
  std::vector<json> found;
  const auto trace = json::parse(text, nullptr, false);
  EXPECT_FALSE(trace.is_discarded()) << text.substr(0, 2000);
  if (trace.is_discarded()) return found;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

class RandomEvents {
 public:
  explicit RandomEvents(std::uint64_t seed) : random_(seed) {}

  std::vector<TraceEvent> make(std::size_t count) {
    std::vector<TraceEvent> events(count);
    std::int64_t now = 0;
    for (auto& event : events) {
      now += below(3) == 0 ? 0 : static_cast<std::int64_t>(below(1'000'000));
      const auto length = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(now) + 1));
      event = {Instant(Picoseconds(now - length)),
               Instant(Picoseconds(now)),
               cause(),
               below(2) == 0 ? 0 : any(),
               any(),
               static_cast<std::uint32_t>(below(40)),
               static_cast<Activity>(below(platform::kActivities))};
      // Of so many entries at once, each has an arrow.
      if (event.activity == Activity::kDmaSubmit) event.detail &= 0x7'FFFF'FFFF;
    }
    return events;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::uint64_t any() { return random_() >> below(64); }
  std::uint64_t cause() {
    const auto card = static_cast<std::uint32_t>(below(64));
    switch (below(4)) {
      case 0:
        return platform::dma_cause(card, any());
      case 1:
        return platform::queue_cause(card, static_cast<std::uint32_t>(any()), any());
      case 2:
        return platform::task_cause(card, any(), static_cast<std::uint32_t>(any()));
      default:
        return 0;
    }
  }
  std::mt19937_64 random_;
};

std::string slice_name(const TraceEvent& event) {
  const auto operation =
      static_cast<std::size_t>(platform::PipeDetail::unpack(event.detail).operation);
  const bool is_named = event.activity == Activity::kPipe && operation < platform::kPipeOperations;
  return std::string(is_named ? platform::kPipeOperationNames[operation]
                              : to_string(event.activity));
}

TEST(ChromeTrace, IsJsonWhateverTheEvents) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto events = RandomEvents(seed).make(1500);
    Filter all;
    all.units = {"*"};  // those that are counters alone otherwise, too
    const auto slices = of_phase(written(events, all), "X");
    ASSERT_EQ(slices.size(), events.size()) << seed;
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(slices[i].at("name"), slice_name(events[i]));
      EXPECT_EQ(slices[i].at("args").value("cause", "-"), cause_text(events[i].cause));
      EXPECT_DOUBLE_EQ(slices[i].at("ts").get<double>(), events[i].begin.since_power_up().us());
    }
  }
}

TEST(ChromeTrace, HasTheSameBytesEveryTime) {
  const auto events = RandomEvents(77).make(20'000);
  EXPECT_EQ(written(events, {}), written(events, {}));
}

// Perfetto reads them as hexadecimal digits in 64 bits; larger ones were all the same to it.
TEST(ChromeTrace, HasArrowsOfRequestsThatAViewerTellsApart) {
  std::vector<TraceEvent> events;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const auto begin = Instant(Picoseconds(10 * i));
    events.push_back({begin, begin + Picoseconds(5), platform::queue_cause(i % 3, 40'000 + i, i), 0,
                      0, 1, Activity::kDmaSubmit});
  }
  std::set<std::uint64_t> ids;
  for (const auto& arrow : of_phase(written(events, {}), "s")) {
    const std::string id = arrow.at("id");
    EXPECT_LE(id.size(), 16U) << id;
    ids.insert(std::stoull(id, nullptr, 16));
  }
  EXPECT_EQ(ids.size(), events.size());
}

// Who waits may look after a while, and wait again.
TEST(ChromeTrace, EndsAnArrowAtTheWaitThatDidNotTimeOut) {
  const auto cause = platform::queue_cause(0, 2, 7);
  const auto event = [cause](Activity activity, std::int64_t begin, std::uint64_t detail) {
    const auto at = Instant(Picoseconds(begin));
    return TraceEvent{at, at + Picoseconds(10), cause, 0, detail, 1, activity};
  };
  const std::uint64_t timed_out = std::uint64_t{1} << platform::kWaitTimedOut;
  const auto text =
      written({event(Activity::kDmaSubmit, 10, 0), event(Activity::kEventWait, 20, timed_out | 2),
               event(Activity::kEventWait, 40, 2)},
              {});
  EXPECT_EQ(of_phase(text, "t").size(), 1U);
  const auto ends = of_phase(text, "f");
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_NEAR(ends[0].at("ts").get<double>(), 49e-6, 1e-9);
}

// An entry that nobody waits for, and one with the same number of the queue that comes after it;
// `first` is the cause of a queue's first entry.
void expect_other_arrows(std::uint64_t first) {
  const auto event = [first](Activity activity, std::int64_t begin, std::uint64_t index) {
    return TraceEvent{Instant(Picoseconds(begin)),
                      Instant(Picoseconds(begin + 100)),
                      first + index,
                      0,
                      0,
                      1,
                      activity};
  };
  const std::vector<TraceEvent> events{
      event(Activity::kDmaSubmit, 1000, 0),      event(Activity::kQueueDoorbell, 2000, 0),
      event(Activity::kDmaSubmit, 3000, 1),      event(Activity::kDmaSubmit, 11000, 0),
      event(Activity::kQueueDoorbell, 12000, 0), event(Activity::kEventWait, 13000, 0),
      event(Activity::kDmaSubmit, 14000, 1)};
  for (const auto& causes : {std::vector<std::uint64_t>{}, {events[0].cause, events[2].cause}}) {
    Filter filter;
    filter.causes = causes;
    const std::string text = written(events, filter);
    const auto begins = of_phase(text, "s"), steps = of_phase(text, "t"),
               ends = of_phase(text, "f");
    ASSERT_EQ(begins.size(), 4U);
    std::set<std::string> ids;
    for (const auto& begin : begins) ids.insert(begin.at("id"));
    EXPECT_EQ(ids.size(), 4U);
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].at("id"), begins[0].at("id"));
    EXPECT_EQ(steps[1].at("id"), begins[2].at("id"));
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].at("id"), begins[2].at("id"));
  }
}

TEST(ChromeTrace, HasOtherArrowsOfAQueueThatIsMadeAnew) {
  expect_other_arrows(platform::queue_cause(0, 3, 0));
}

// Whenever managed memory is opened.
TEST(ChromeTrace, HasOtherArrowsOfPageCopiesThatAreCountedAnew) {
  expect_other_arrows(platform::page_copy_cause(0, 1));
}

TEST(ChromeTrace, CallsAnInstructionOfACoreWhatItDoes) {
  platform::PipeDetail detail;
  detail.pipe = platform::Pipe::kMte1;
  detail.operation = platform::PipeOperation::kL1ToL0b;
  detail.after = platform::BeganAfter::kFlag;
  detail.flag = platform::Pipe::kMte2;
  const std::vector<TraceEvent> events{
      {Instant(), Instant(Picoseconds(5)), 0, 0, detail.pack(), 1, Activity::kPipe}};
  const auto slice = of_phase(written(events, {}), "X").at(0);
  EXPECT_EQ(slice.at("name"), "l1_to_l0b");
  EXPECT_EQ(slice.at("args").at("after"), "flag");
  EXPECT_EQ(slice.at("args").at("flag"), "mte2");
}

TEST(ChromeTrace, HasEverySliceOfALongRunOnce) {
  std::vector<TraceEvent> events(10'000);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto begin = Instant(Picoseconds(static_cast<std::int64_t>(i)));
    events[i] = {begin, begin + Picoseconds(1), 0, i + 1, 0, 2, Activity::kHostRead};
  }
  const auto slices = of_phase(written(events, {}), "X");
  ASSERT_EQ(slices.size(), events.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    ASSERT_EQ(slices[i].at("args").at("bytes"), i + 1);
  }
}

}  // namespace
}  // namespace npu::timeline
