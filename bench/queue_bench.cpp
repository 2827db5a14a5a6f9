// SPDX-License-Identifier: Apache-2.0
// Entries of a compute queue per second of real time, end to end: user-space submission, doorbell,
// command processor, DMA engine, memory, completion ring.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/on_card.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kEntries = 200'000;
constexpr std::uint64_t kInFlight = 256;  // entries between a submission and its wait
constexpr std::uint64_t kQueues = 8;
constexpr Bytes kCell = 64;

using Queues = std::vector<std::unique_ptr<driver::Queue>>;

// Submits kEntries copies over all queues, always kInFlight ahead of the one it waits for.
Status keep_in_flight(platform::Platform& platform, Queues& queues, driver::DeviceAddress memory) {
  std::vector<driver::QueueTicket> tickets(kInFlight);
  driver::QueueEntryOptions options;
  options.interrupt = false;
  for (std::uint64_t i = 0; i < kEntries + kInFlight; ++i) {
    auto& ticket = tickets[i % kInFlight];
    auto& queue = *queues[i % kQueues];
    const auto deadline = platform.clock().now() + 1_s;
    if (i >= kInFlight) {
      auto done = queue.wait(ticket, driver::WaitPolicy::kPolling, deadline);
      if (!done) return done;
    }
    if (i >= kEntries) continue;
    const auto source = memory + i % kQueues * kCell;
    auto submitted =
        queue.submit(driver::entries::copy_on_device(source, source + kQueues * kCell, kCell),
                     deadline, options);
    if (!submitted) return forward_error(submitted);
    ticket = *submitted;
  }
  return {};
}

Status submit_and_complete(platform::Platform& platform, Measurement& measured) {
  auto device = driver::Device::open_index(platform, 0);
  if (!device) return forward_error(device);
  auto process = driver::ProcessContext::open(**device);
  if (!process) return forward_error(process);
  Queues queues;
  for (std::uint64_t i = 0; i < kQueues; ++i) {
    driver::QueueOptions options;
    options.interrupt = false;
    auto queue = (*process)->create_queue(options);
    if (!queue) return forward_error(queue);
    queues.push_back(std::move(*queue));
  }
  auto memory = (*process)->space().allocate(2 * kQueues * kCell);
  if (!memory) return forward_error(memory);
  const Stopwatch watch;
  if (auto ok = keep_in_flight(platform, queues, memory->address); !ok) return ok;
  measured.seconds = watch.seconds();
  measured.items = kEntries;
  queues.clear();
  if (auto ok = (*process)->close(); !ok) return ok;
  return (*device)->shutdown();
}

Measurement measure() {
  return measure_on_card(submit_and_complete);
}

void submit_complete(benchmark::State& state) {
  measure_isolated(state, measure);
}
BENCHMARK(submit_complete)
    ->Name("queue/submit_complete")
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::bench
