// SPDX-License-Identifier: Apache-2.0
// Events of a timeline written per second of real time: what --trace costs beside the run.
#include <benchmark/benchmark.h>

#include "tools/timeline/chrome_trace.hpp"
#include "tools/timeline/gzip.hpp"

namespace npu::bench {
namespace {

using platform::Activity;
using platform::TraceEvent;

class Counted : public timeline::ByteSink {
 public:
  Status append(ConstByteSpan more) override {
    bytes += more.size;
    return {};
  }
  std::uint64_t bytes = 0;
};

// What a copy of 8 B through the DMA ring emits.
std::vector<TraceEvent> of_a_copy(std::uint64_t number) {
  constexpr std::int64_t kApart = 49'000;
  const auto begin = static_cast<std::int64_t>(number) * kApart;
  const auto cause = platform::dma_cause(0, number);
  std::vector<TraceEvent> events;
  const auto add = [&](Activity activity, std::int64_t after, std::int64_t length,
                       std::uint64_t bytes, std::uint64_t detail, std::uint32_t track) {
    const Instant from(Picoseconds(begin + after));
    events.push_back({from, from + Picoseconds(length), cause, bytes, detail, track, activity});
  };
  add(Activity::kBarrier, 12'000, 12'000, 0, 0, 1);
  add(Activity::kTlp, 30'000, 81'905, 32, 60, 2);
  add(Activity::kDmaSubmit, 0, 49'000, 8, number % 4, 3);
  add(Activity::kMmioWrite, 30'000, 131'905, 32, 0x0200'000F'5000'E8E0 + 32 * number, 4);
  add(Activity::kIommuLookup, 1'000'000, 0, 0, 0x0100'0000'0000'0000 + number, 5);
  add(Activity::kEngineStart, 2'000'000, 40'000, 0, 0, 6);
  add(Activity::kDataRead, 2'040'000, 361'905, 8, 0, 6);
  add(Activity::kDataWrite, 2'401'905, 33'345, 8, 0, 6);
  add(Activity::kHbmWrite, 2'401'905, 30'000, 8, 1, 7);
  add(Activity::kCompletion, 2'435'250, 40'000, 0, 0, 6);
  add(Activity::kCommand, 2'000'000, 2'400'625, 8, number % 4, 8);
  return events;
}

void write_events(benchmark::State& state) {
  const bool compressed = state.range(0) != 0;
  std::vector<TraceEvent> events;
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    for (const auto& event : of_a_copy(number)) events.push_back(event);
  }
  Counted out;
  for (auto _ : state) {
    timeline::Gzip gzip(out);
    timeline::ByteSink& sink = compressed ? static_cast<timeline::ByteSink&>(gzip) : out;
    timeline::ChromeTrace trace(
        sink, {}, [](std::uint32_t track) { return "card0.unit" + std::to_string(track); });
    for (const auto& event : events) trace.on_event(event);
    trace.complete();
    if (!trace.finish({})) state.SkipWithError("cannot be written");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events.size() * state.iterations()));
  state.SetBytesProcessed(static_cast<std::int64_t>(out.bytes));
}
BENCHMARK(write_events)->Name("trace/json")->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(write_events)->Name("trace/json_gz")->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::bench
