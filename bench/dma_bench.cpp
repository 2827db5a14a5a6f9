// SPDX-License-Identifier: Apache-2.0
// Commands per second of real time, end to end: driver, link, ring, engine, memory, events.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/on_card.hpp"
#include "npu/driver/device.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kCommands = 200'000;
constexpr std::uint64_t kStreams = 8;
constexpr std::uint64_t kInFlight = 256;  // commands between a submission and its wait
constexpr Bytes kCell = 64;

// Submits kCommands copies, always kInFlight ahead of the one it waits for.
Status keep_in_flight(platform::Platform& platform, driver::Device& device,
                      const std::vector<driver::StreamId>& streams, driver::DeviceAddress memory) {
  std::vector<driver::Ticket> tickets(kInFlight);
  driver::SubmitOptions options;
  options.interrupt = false;
  for (std::uint64_t i = 0; i < kCommands + kInFlight; ++i) {
    auto& ticket = tickets[i % kInFlight];
    if (i >= kInFlight) {
      const auto deadline = platform.clock().now() + 1_s;
      auto done = device.wait(ticket, driver::WaitPolicy::kPolling, deadline);
      if (!done) return done;
    }
    if (i >= kCommands) continue;
    const std::uint64_t stream = i % kStreams;
    const auto source = memory + stream * kCell;
    auto submitted = device.submit(
        streams[stream],
        driver::DmaCommand::device_to_device(source, source + kStreams * kCell, kCell), options);
    if (!submitted) return forward_error(submitted);
    ticket = *submitted;
  }
  return {};
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
  if (auto ok = keep_in_flight(platform, **device, streams, memory->address); !ok) return ok;
  measured.seconds = watch.seconds();
  measured.items = kCommands;
  return (*device)->shutdown();
}

Measurement measure() {
  return measure_on_card(submit_and_complete);
}

void submit_complete(benchmark::State& state) {
  measure_isolated(state, measure);
}
BENCHMARK(submit_complete)
    ->Name("dma/submit_complete")
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::bench
