// SPDX-License-Identifier: Apache-2.0
// The latency of one copy at a time, and where each nanosecond of it went.
#include <vector>

#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/copy_path.hpp"
#include "workloads/programs/support/refresh_phases.hpp"
#include "workloads/programs/support/typical_sample.hpp"

namespace npu::workloads {
namespace programs::dma_latency {
namespace {

class Bench {
 public:
  Bench(Context& context, driver::Device& device, driver::StreamId stream)
      : context_(context), device_(device), stream_(stream) {}

  // All iterations of one direction and size.
  Status run(const std::string& direction, Bytes size) {
    // Both ends, one or two windows, and what is expected.
    const auto asked = "sizes=" + size_name(size);
    if (auto ok = require_host_memory(asked, 4 * size); !ok) return ok;
    auto path =
        CopyPath::create(context_, device_, stream_, direction_opcode(direction), size, size);
    if (!path) return forward_error(path);
    const auto iterations = context_.parameters.integer("iterations");
    std::vector<LatencySample> samples;
    RefreshPhases phases(context_, device_.info().device_index, iterations);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      const std::uint64_t seed = context_.seed ^ (size << 16) ^ i;
      if (auto ok = (*path)->prepare(0, size, seed); !ok) return ok;
      phases.wait(i);
      auto sample = measure((*path)->command(0, size));
      if (!sample) return forward_error(sample);
      const std::string what = direction + " copy of " + size_name(size);
      if (auto ok = (*path)->verify(0, size, seed, what); !ok) return ok;
      samples.push_back(std::move(*sample));
    }
    report(direction, size, samples);
    return {};
  }

 private:
  Result<LatencySample> measure(const driver::DmaCommand& command) {
    MilestoneCollector collector(ring_place(context_.parameters));
    const TraceSession session(context_.trace, collector);
    const auto policy = wait_policy(context_.parameters.choice("policy"));
    auto& clock = context_.platform.clock();
    const Instant begin = clock.now();
    driver::SubmitOptions options;
    options.interrupt = policy != driver::WaitPolicy::kPolling;  // nobody would take it
    auto ticket = device_.submit(stream_, command, options);
    if (!ticket) return forward_error(ticket);
    if (auto ok = device_.wait(*ticket, policy, deadline_of(context_)); !ok)
      return forward_error(ok);
    const auto cause = platform::dma_cause(device_.info().device_index, ticket->position);
    auto breakdown = collector.parts(cause, {begin, clock.now()});
    if (!breakdown) return forward_error(breakdown);
    return LatencySample{std::move(breakdown->parts), *breakdown->wait, begin, cause};
  }

  void report(const std::string& direction, Bytes size, const std::vector<LatencySample>& samples) {
    const std::string group = direction + " latency in ns, waiting by " +
                              context_.parameters.choice("policy") + ", ring in " +
                              context_.parameters.choice("ring") + " memory";
    report_latencies(context_, "dma." + direction + "." + size_name(size), group, size_name(size),
                     samples);
  }

  Context& context_;
  driver::Device& device_;
  driver::StreamId stream_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  Bench bench(context, **device, *stream);
  const auto& directions = context.parameters.choices("directions");
  const auto& sizes = context.parameters.sizes("sizes");
  std::uint64_t done = 0;
  for (const auto& direction : directions) {
    for (const auto size : sizes) {
      context.step(direction + " " + size_name(size), done++, directions.size() * sizes.size());
      if (auto ok = bench.run(direction, size); !ok) return ok;
    }
  }
  context.report.add_note(
      "Each row is the iteration nearest to the medians of all parts. Its parts add up to its "
      "latency, latency and wait to the time of the call. submit: submit() called to the first "
      "store of the entry; entry_store: to ring entry written; doorbell: to the doorbell register; "
      "engine_start: to the first data request; data: to the last data written; completion: to the "
      "event record visible to the host; wait: to the return of wait(). With polling, wait "
      "includes "
      "the time to the next poll. Copies begin evenly over a round of refreshes of the card's "
      "memory, all its rows closed; the place in the ring makes some clocks of difference.");
  if (ring_place(context.parameters) == RingPlace::kHostMemory) {
    context.report.add_note(
        "The ring is in host memory: no entry crosses the link at submission, so submit is no part "
        "of "
        "its own, entry_store ends "
        "when the doorbell leaves the CPU, and engine_start includes fetching the entry over the "
        "link.");
  }
  if (auto ok = (*device)->destroy_stream(*stream, deadline_of(context)); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::dma_latency

Workload dma_latency() {
  return {"dma_latency",
          "Latency of single copies, broken down into its parts; data compared byte for byte",
          {{"sizes", ParameterType::kSizeList, "B", "64..1MiB", "sizes to copy", 1, 1_GiB},
           directions_parameter("h2d,d2h,d2d"),
           {"iterations", ParameterType::kInteger, "", "9", "copies per size", 1, 100'000},
           policy_parameter(),
           ring_parameter(),
           card_parameter()},
          programs::dma_latency::run};
}

}  // namespace npu::workloads
