// SPDX-License-Identifier: Apache-2.0
// 1 to 1024 compute queues, with the same work for each: how throughput and fairness scale.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "workloads/framework/latencies.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/queue_fleet.hpp"

namespace npu::workloads {
namespace programs::queue_scaling {
namespace {

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
  const std::string prefix = fmt::format("queue_scaling.{}", queues);
  const auto rate = Number::quotient(entries * 1'000'000'000,
                                     static_cast<std::uint64_t>(done->elapsed().count() / 1000), 0);
  const auto elapsed = FleetTimes::report(context, prefix + ".elapsed_us", done->all);
  context.report.add_metric(prefix + ".entries_per_s", rate, "1/s");
  const auto first = FleetTimes::report(context, prefix + ".first_done_us", done->first);
  context.report.add_metric(prefix + ".maps", Number::count(done->maps), "");
  context.report.add_metric(prefix + ".preemptions", Number::count(done->preemptions), "");
  table.rows.push_back({std::to_string(queues), std::to_string(entries), elapsed.text(),
                        rate.text(), first.text(), std::to_string(done->maps),
                        std::to_string(done->preemptions)});
  return (*fleet)->close();
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  const auto& counts = context.parameters.integers("queues");
  Table table{"the same work on each of n queues",
              {"queues", "entries", "us", "entries/s", "first done us", "maps", "preempted"},
              {}};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    context.step(fmt::format("{} queues", counts[i]), i, counts.size());
    if (auto ok = measure(context, **device, counts[i], table); !ok) return ok;
  }
  context.report.add_table(table.title, table.columns).rows = table.rows;
  context.report.add_note(
      "Every entry copies a word of its own on the card; all were compared. first done: when the "
      "first queue had all its entries complete; maps: times a queue was loaded into a slot.");
  return (*device)->shutdown();
}

Status run_with_latencies(Context& context) {
  return with_latencies(context, "queue_scaling", run);
}

}  // namespace
}  // namespace programs::queue_scaling

Workload queue_scaling() {
  return {"queue_scaling",
          "The same work on 1 to 1024 compute queues at once; data compared",
          {{"queues", ParameterType::kIntegerList, "", "1..1024", "numbers of queues", 1, 1024},
           {"entries", ParameterType::kInteger, "", "16", "entries per queue", 1, 4096},
           queue_memory_parameter(),
           card_parameter()},
          programs::queue_scaling::run_with_latencies};
}

}  // namespace npu::workloads
