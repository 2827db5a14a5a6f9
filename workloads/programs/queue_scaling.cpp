// SPDX-License-Identifier: Apache-2.0
// 1 to 1024 compute queues, with the same work for each: how throughput and fairness scale.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/queue_fleet.hpp"

namespace npu::workloads {
namespace programs::queue_scaling {
namespace {

struct Scaled {
  FleetTimes times;
  std::uint64_t entries;

  Number rate() const {
    return Number::quotient(entries * 1'000'000'000,
                            static_cast<std::uint64_t>(times.elapsed().count() / 1000), 0);
  }
};

constexpr Figure<Scaled> kFigures[] = {
    {"", "", from<&Scaled::entries>, {"entries"}},
    {"elapsed_us", "us", from<&Scaled::times, &FleetTimes::all>, {"us"}},
    {"entries_per_s", "1/s", from<&Scaled::rate>, {"entries/s"}},
    {"first_done_us", "us", from<&Scaled::times, &FleetTimes::first>, {"first done us"}},
    {"maps", "", from<&Scaled::times, &FleetTimes::maps>, {"maps"}},
    {"preemptions", "", from<&Scaled::times, &FleetTimes::preemptions>, {"preempted"}}};

Status measure(Context& context, driver::Device& device, std::uint64_t queues, Table& table) {
  FleetShape shape;
  shape.processes = (queues + kQueuesPerProcess - 1) / kQueuesPerProcess;
  shape.queues = queues;
  shape.entries = context.parameters.integer("entries");
  shape.options.ring.memory = queue_memory(context.parameters);
  auto fleet = QueueFleet::make(context, device, shape);
  if (!fleet) return forward_error(fleet);
  auto done = (*fleet)->run();
  if (!done) return forward_error(done);
  if (auto ok = (*fleet)->check(); !ok) return ok;

  const std::uint64_t entries = queues * shape.entries;
  report_figures(context, fmt::format("queue_scaling.{}.", queues), kFigures, {*done, entries},
                 &table, {std::to_string(queues)});
  return (*fleet)->close();
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  const auto& counts = context.parameters.integers("queues");
  auto& table =
      add_figure_table(context.report, "the same work on each of n queues", {"queues"}, kFigures);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    context.step(fmt::format("{} queues", counts[i]), i, counts.size());
    if (auto ok = measure(context, **device, counts[i], table); !ok) return ok;
  }
  context.report.add_note(
      "Every entry copies a word of its own on the card; all were compared. first done: when the "
      "first queue had all its entries complete; maps: times a queue was loaded into a slot.");
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::queue_scaling

Workload queue_scaling() {
  return with_latencies(
      {"queue_scaling",
       "The same work on 1 to 1024 compute queues at once; data compared",
       {{"queues", ParameterType::kIntegerList, "", "1..1024", "numbers of queues", 1, 1024},
        {"entries", ParameterType::kInteger, "", "16", "entries per queue", 1, 4096},
        queue_memory_parameter(),
        card_parameter()},
       programs::queue_scaling::run,
       figure_rows(programs::queue_scaling::kFigures)});
}

}  // namespace npu::workloads
