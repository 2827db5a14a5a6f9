// SPDX-License-Identifier: Apache-2.0
// Commands per second of real time, end to end: driver, link, ring, engine, memory, events.
#include <benchmark/benchmark.h>

#include <vector>

#include "npu/driver/device.hpp"
#include "tests/performance/in_flight.hpp"
#include "tests/performance/on_card.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kStreams = 8;
constexpr Bytes kCell = 64;

// Copies on all streams in turn.
Status work(platform::Platform& platform, driver::Device& device,
            const std::vector<driver::StreamId>& streams, driver::DeviceAddress memory) {
  driver::SubmitOptions options;
  options.interrupt = false;
  return keep_in_flight<driver::Ticket>(
      [&](std::uint64_t i) {
        const std::uint64_t stream = i % kStreams;
        const auto source = memory + stream * kCell;
        return device.submit(
            streams[stream],
            driver::DmaCommand::device_to_device(source, source + kStreams * kCell, kCell),
            options);
      },
      [&](std::uint64_t, const driver::Ticket& ticket) {
        return device.wait(ticket, driver::WaitPolicy::kPolling, platform.clock().now() + 1_s);
      });
}

Status submit_and_complete(platform::Platform& platform, Measurement& measured) {
  auto device = driver::Device::open_index(platform, 0);
  if (!device) return forward_error(device);
  std::vector<driver::StreamId> streams;
  for (std::uint64_t i = 0; i < kStreams; ++i) {
    auto stream = (*device)->create_stream();
    if (!stream) return forward_error(stream);
    streams.push_back(*stream);
  }
  auto memory = (*device)->allocate(2 * kStreams * kCell);
  if (!memory) return forward_error(memory);
  const Stopwatch watch;
  if (auto ok = work(platform, **device, streams, memory->address); !ok) return ok;
  measured.seconds = watch.seconds();
  measured.items = kItems;
  return (*device)->shutdown();
}

void submit_complete(benchmark::State& state, Software software) {
  measure_isolated(state, [software] { return measure_on_card(submit_and_complete, software); });
}
BENCHMARK_CAPTURE(submit_complete, counted, Software::kCounted)
    ->Name("dma/submit_complete")
    ->Apply(three_in_ms);
BENCHMARK_CAPTURE(submit_complete, free, Software::kFree)
    ->Name("dma/submit_complete_free")
    ->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
