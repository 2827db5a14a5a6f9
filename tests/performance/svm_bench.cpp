// SPDX-License-Identifier: Apache-2.0
// Page faults of the card on managed memory that nobody has touched, per second of real time, end
// to end: walk, message or record, driver, page table, reply, replay.
#include <benchmark/benchmark.h>

#include <vector>

#include "npu/driver/managed.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "tests/performance/on_card.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kManagedQueues = 8;
constexpr std::uint64_t kPages = 16'384;  // 32 GiB

Status touch_all(platform::Platform& platform, driver::ProcessContext& process,
                 driver::DeviceAddress pages, driver::DeviceAddress room) {
  std::vector<std::unique_ptr<driver::Queue>> queues;
  for (std::uint64_t i = 0; i < kManagedQueues; ++i) {
    driver::QueueOptions options;
    options.ring.log2_entries = 12;  // room for all of them: the host has nothing to do meanwhile
    auto queue = process.create_queue(options);
    if (!queue) return forward_error(queue);
    queues.push_back(std::move(*queue));
  }
  std::vector<driver::QueueTicket> last(kManagedQueues);
  for (std::uint64_t i = 0; i < kPages; ++i) {
    const auto entry = driver::entries::copy_on_device(pages + i * driver::kPageSize, room, 64);
    auto ticket = queues[i % kManagedQueues]->submit(entry, platform.clock().now() + 10'000_ms);
    if (!ticket) return forward_error(ticket);
    last[i % kManagedQueues] = *ticket;
  }
  for (std::uint64_t i = 0; i < kManagedQueues; ++i) {
    const auto deadline = platform.clock().now() + 10'000_ms;
    auto done = queues[i]->wait(last[i], driver::WaitPolicy::kInterrupt, deadline);
    if (!done) return done;
  }
  return {};
}

Status faults(platform::Platform& platform, Measurement& measured, driver::FaultPolicy policy) {
  auto device = driver::Device::open_index(platform, 0);
  if (!device) return forward_error(device);
  auto process = driver::ProcessContext::open(**device);
  if (!process) return forward_error(process);
  driver::ManagedOptions options;
  options.policy = policy;
  const auto pager = workloads::program_image("pager");
  if (!pager) return forward_error(pager);
  options.pager = *pager;
  auto managed = driver::ManagedMemory::open(**device, (*process)->space(), options);
  if (!managed) return forward_error(managed);
  const auto pages = (*managed)->allocate(kPages * driver::kPageSize);
  if (!pages) return forward_error(pages);
  const auto room = (*process)->space().allocate(driver::kPageSize);
  if (!room) return forward_error(room);
  const Stopwatch watch;
  if (auto ok = touch_all(platform, **process, *pages, room->address); !ok) return ok;
  measured.seconds = watch.seconds();
  measured.items = (*managed)->statistics().faults;
  if (auto ok = (*managed)->close(); !ok) return ok;
  if (auto ok = (*process)->close(); !ok) return ok;
  return (*device)->shutdown();
}

void svm_faults(benchmark::State& state, driver::FaultPolicy policy) {
  measure_isolated(state, [policy] {
    return measure_on_card([policy](platform::Platform& platform, Measurement& measured) {
      return faults(platform, measured, policy);
    });
  });
}
BENCHMARK_CAPTURE(svm_faults, message, driver::FaultPolicy::kMessage)
    ->Name("svm/faults")
    ->Apply(three_in_ms);
BENCHMARK_CAPTURE(svm_faults, batch, driver::FaultPolicy::kBatch)
    ->Name("svm/faults_batch")
    ->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
