// SPDX-License-Identifier: Apache-2.0
// More queues than hardware slots: the command processor takes turns, and nobody starves.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/queue_fleet.hpp"

namespace npu::workloads {
namespace programs::queue_oversubscription {
namespace {

constexpr Figure<std::uint64_t> kSubmitted[] = {{"submitted", "", itself}};
constexpr Figure<FleetTimes> kFigures[] = {{"completed", "", from<&FleetTimes::completed>},
                                           {"elapsed_us", "us", from<&FleetTimes::all>},
                                           {"first_done_us", "us", from<&FleetTimes::first>},
                                           {"longest_gap_us", "us", from<&FleetTimes::longest_gap>},
                                           {"maps", "", from<&FleetTimes::maps>},
                                           {"preemptions", "", from<&FleetTimes::preemptions>}};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  FleetShape shape;
  shape.processes = context.parameters.integer("processes");
  shape.queues = context.parameters.integer("queues");
  shape.entries = context.parameters.integer("entries");
  shape.loops = context.parameters.integer("loops");
  shape.spin_cycles = context.parameters.integer("spin_cycles");
  shape.options.quantum = static_cast<std::int64_t>(context.parameters.integer("quantum")) * 1_us;
  shape.options.ring.memory = queue_memory(context.parameters);
  auto fleet = QueueFleet::make(context, **device, shape);
  if (!fleet) return forward_error(fleet);
  auto times = (*fleet)->run();
  if (!times) return forward_error(times);
  if (auto ok = (*fleet)->check(); !ok) return ok;
  const std::uint64_t submitted = shape.queues * shape.entries * shape.loops;
  report_figures(context, "queue_oversubscription.", kSubmitted, submitted);
  report_figures(context, "queue_oversubscription.", kFigures, *times);
  context.report.add_note(fmt::format(
      "{} entries on {} queues of {} processes, all complete once and their data compared; a queue "
      "was loaded into a slot {} times in all and gave way with work left {} times; longest_gap: "
      "the longest time between two completions of one queue, or to its first",
      submitted, shape.queues, shape.processes, times->maps, times->preemptions));
  if (auto ok = (*fleet)->close(); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::queue_oversubscription

Workload queue_oversubscription() {
  return with_latencies(
      {"queue_oversubscription",
       "More compute queues than hardware slots: all work done, none starved",
       {{"queues", ParameterType::kInteger, "", "65", "queues of all processes", 1, 1024},
        {"processes", ParameterType::kInteger, "", "1", "that they are dealt out to", 1, 8},
        {"entries", ParameterType::kInteger, "", "100", "per queue and loop", 1, 4096},
        {"loops", ParameterType::kInteger, "", "1", "times all of it is done", 1, 10'000},
        {"quantum", ParameterType::kInteger, "us", "20", "of each queue; 0: the card's default", 0,
         1'000'000},
        {"spin_cycles", ParameterType::kInteger, "", "10000",
         "every other entry is a kernel of one block that takes so many cycles; 0: none", 0,
         1'000'000'000},
        queue_memory_parameter(),
        card_parameter()},
       programs::queue_oversubscription::run,
       figure_rows(programs::queue_oversubscription::kSubmitted,
                   programs::queue_oversubscription::kFigures)});
}

}  // namespace npu::workloads
