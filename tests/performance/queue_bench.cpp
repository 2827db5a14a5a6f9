// SPDX-License-Identifier: Apache-2.0
// Entries of a compute queue per second of real time, end to end: user-space submission, doorbell,
// command processor, DMA engine, memory, completion ring.
#include <benchmark/benchmark.h>

#include <vector>

#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "tests/performance/in_flight.hpp"
#include "tests/performance/on_card.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kQueues = 8;
constexpr Bytes kCopied = 64;

using Queues = std::vector<std::unique_ptr<driver::Queue>>;

// Copies over all queues in turn.
Status work(platform::Platform& platform, Queues& queues, driver::DeviceAddress memory) {
  driver::QueueEntryOptions options;
  options.interrupt = false;
  const auto soon = [&] { return platform.clock().now() + 1_s; };
  return keep_in_flight<driver::QueueTicket>(
      [&](std::uint64_t i) {
        const auto source = memory + i % kQueues * kCopied;
        return queues[i % kQueues]->submit(
            driver::entries::copy_on_device(source, source + kQueues * kCopied, kCopied), soon(),
            options);
      },
      [&](std::uint64_t i, const driver::QueueTicket& ticket) {
        return queues[i % kQueues]->wait(ticket, driver::WaitPolicy::kPolling, soon());
      });
}

Status queue_and_complete(platform::Platform& platform, Measurement& measured) {
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
  auto memory = (*process)->space().allocate(2 * kQueues * kCopied);
  if (!memory) return forward_error(memory);
  const Stopwatch watch;
  if (auto ok = work(platform, queues, memory->address); !ok) return ok;
  measured.seconds = watch.seconds();
  measured.items = kItems;
  queues.clear();
  if (auto ok = (*process)->close(); !ok) return ok;
  return (*device)->shutdown();
}

void queue_complete(benchmark::State& state, Software software) {
  measure_isolated(state, [software] { return measure_on_card(queue_and_complete, software); });
}
BENCHMARK_CAPTURE(queue_complete, counted, Software::kCounted)
    ->Name("queue/submit_complete")
    ->Apply(three_in_ms);
BENCHMARK_CAPTURE(queue_complete, free, Software::kFree)
    ->Name("queue/submit_complete_free")
    ->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
