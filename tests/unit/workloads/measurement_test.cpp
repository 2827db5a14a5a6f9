// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/measurement.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace npu::workloads {
namespace {

class HeardMarks : public platform::Tracer {
 public:
  explicit HeardMarks(bool enabled = true) { enabled_ = enabled; }
  std::uint32_t track(std::string_view name) override {
    names.emplace_back(name);
    return static_cast<std::uint32_t>(names.size() - 1);
  }
  void emit(const platform::TraceEvent& event) override { events.push_back(event); }
  std::uint64_t exchange_cause(std::uint64_t) override { return 0; }
  std::vector<std::string> names;
  std::vector<platform::TraceEvent> events;
};

TEST(Measurement, IsASpanOfTheMetricsTrack) {
  HeardMarks tracer;
  mark(tracer, "a.b_ns", {Instant(5_ns), Instant(9_ns), 77, 12}, platform::Statistic::kMean);
  ASSERT_EQ(tracer.events.size(), 1U);
  const auto& event = tracer.events[0];
  EXPECT_EQ(tracer.names[event.track], "workload.a.b_ns");
  EXPECT_EQ(event.activity, platform::Activity::kMeasurement);
  EXPECT_EQ(event.begin, Instant(5_ns));
  EXPECT_EQ(event.end, Instant(9_ns));
  EXPECT_EQ(event.cause, 77U);
  EXPECT_EQ(event.detail & 0xFF, static_cast<std::uint64_t>(platform::Statistic::kMean));
  EXPECT_EQ(event.detail >> 8, 12U);
}

TEST(Measurement, IsToldToNobodyIfNobodyRecords) {
  HeardMarks tracer(false);
  mark(tracer, "a", {Instant(), Instant(1_ns)});
  mark(tracer, "a", {{Instant(), Instant(1_ns)}}, platform::Statistic::kMost);
  EXPECT_TRUE(tracer.names.empty());
  EXPECT_TRUE(tracer.events.empty());
}

TEST(Measurement, RoundsAMeanHalfUp) {
  EXPECT_EQ(mean(Picoseconds(10), 4), Picoseconds(3));
  EXPECT_EQ(mean(Picoseconds(9), 4), Picoseconds(2));
  EXPECT_EQ(mean(Picoseconds(7), 0), Picoseconds(0));
}

}  // namespace
}  // namespace npu::workloads
