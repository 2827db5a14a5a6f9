// SPDX-License-Identifier: Apache-2.0
// Enough device memory is free, but not in one piece (requirements.md M2): what the error says
// without compaction, and what compaction costs, part by part. Contents must survive it.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/block_contents.hpp"
#include "workloads/programs/support/churned_memory.hpp"
#include "workloads/programs/support/compaction_stages.hpp"

namespace npu::workloads {
namespace programs::compaction {
namespace {

constexpr Bytes kWanted = 3_GiB;

constexpr Figure<driver::MemoryStatistics> kWithout[] = {
    {"free_bytes", "B", from<&driver::MemoryStatistics::free>},
    {"largest_free_bytes", "B", from<&driver::MemoryStatistics::largest_free_block>}};

constexpr Figure<MeasuredTime> kTime[] = {{"ms", "ms", itself, {"ms"}}};  // behind a part's name

struct Compacted {
  driver::CompactionReport done;
  MeasuredSpan allocation;

  Number rate() const { return Number::gb_per_s(done.moved, done.copy); }
};

constexpr Figure<Compacted> kFigures[] = {
    {"moved_bytes", "B", from<&Compacted::done, &driver::CompactionReport::moved>},
    {"moved_blocks", "", from<&Compacted::done, &driver::CompactionReport::blocks>},
    {"copy_gb_per_s", "GB/s", from<&Compacted::rate>},
    {"allocation_ms", "ms", from<&Compacted::allocation>}};

// 1 + 2 + 1 GiB and all the rest; then the 2 GiB and the first 1 GiB are freed, which leaves 3 GiB
// around the second 1 GiB.
struct Blocks {
  driver::DeviceMemory first, middle, third, rest;
};

// Takes what a card has beyond a multiple of 4 GiB, power of two by power of two, so that the case
// is the same on every card: the first three blocks side by side in one block of 4 GiB.
Status take_remainder(driver::Device& device, Bytes remainder) {
  for (Bytes piece = driver::kPageSize; piece <= remainder; piece *= 2) {
    if ((remainder & piece) == 0) continue;
    if (const auto memory = device.allocate(piece); !memory) return forward_error(memory);
  }
  return {};
}

Result<Blocks> allocate_blocks(Context& context, driver::Device& device) {
  const Bytes all = device.memory_statistics().total;
  const Bytes total = all / 4_GiB * 4_GiB;
  const Bytes needed = 4_GiB + 2 * context.parameters.size("running_bytes") + driver::kPageSize;
  if (total < needed) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the card has {} MiB of device memory; this case needs {}", all >> 20,
                            (needed + 4_GiB - 1) / 4_GiB * 4096));
  }
  if (auto ok = take_remainder(device, all - total); !ok) return forward_error(ok);
  Blocks blocks;
  const std::pair<driver::DeviceMemory*, Bytes> wanted[] = {{&blocks.first, 1_GiB},
                                                            {&blocks.middle, 2_GiB},
                                                            {&blocks.third, 1_GiB},
                                                            {&blocks.rest, total - 4_GiB}};
  for (const auto& [block, size] : wanted) {
    const auto memory = device.allocate(size);
    if (!memory) return forward_error(memory);
    *block = *memory;
  }
  return blocks;
}

Status make_holes(driver::Device& device, const Blocks& blocks) {
  if (auto ok = device.free(blocks.middle.address); !ok) return ok;
  return device.free(blocks.first.address);
}

Status expect_refusal(Context& context) {
  driver::DeviceOptions options;
  options.compact_on_demand = false;
  auto device = open_card(context, options);
  if (!device) return forward_error(device);
  const auto blocks = allocate_blocks(context, **device);
  if (!blocks) return forward_error(blocks);
  if (auto ok = make_holes(**device, *blocks); !ok) return ok;
  const auto refused = (*device)->allocate(kWanted);
  if (refused) {
    return fail(ErrorCode::kWrongData,
                fmt::format("without compaction 3 GiB were found at {:#x}, expected: out of memory",
                            refused->address.value));
  }
  if (refused.error().code != ErrorCode::kOutOfMemory) return forward_error(refused);
  const auto memory = (*device)->memory_statistics();
  report_figures(context, "compaction.without.", kWithout, memory);
  context.report.add_note("without compaction: " + refused.error().message());
  return (*device)->shutdown();
}

// Copies within the last `2 * bytes` of a block, one per stream, not waited for.
Result<std::vector<driver::Ticket>> start_copies(driver::Device& device,
                                                 const driver::DeviceMemory& block,
                                                 const std::vector<driver::StreamId>& streams,
                                                 Bytes bytes) {
  const auto source = block.address + (block.size - 2 * bytes);
  std::vector<driver::Ticket> tickets;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const Bytes part = bytes / streams.size() / driver::kPageSize * driver::kPageSize;
    const auto from = source + i * part;
    auto ticket =
        device.submit(streams[i], driver::DmaCommand::device_to_device(from, from + bytes, part));
    if (!ticket) return forward_error(ticket);
    tickets.push_back(*ticket);
  }
  return tickets;
}

void report_compaction(Context& context, const driver::CompactionReport& done,
                       const CompactionStages& stages, const MeasuredSpan& allocation) {
  MeasuredTime pause{done.pause, {}, platform::Statistic::kSpan};
  std::map<std::string, std::vector<MeasuredSpan>> spans;
  for (const auto& part : stages.last()) {
    pause.spans.push_back(part.span);
    spans[part.name].push_back(part.span);
  }
  report_figures(context, "compaction.pause_", kTime, pause);
  auto& table = add_figure_table(context.report, "pause of the compaction", {"part"}, kTime);
  for (const auto& [name, time] : {std::pair{"quiesce", done.quiesce},
                                   {"plan", done.plan},
                                   {"copy", done.copy},
                                   {"remap", done.remap},
                                   {"invalidate", done.invalidate},
                                   {"resume", done.resume}}) {
    report_figures(context, fmt::format("compaction.{}_", name), kTime, {time, spans[name]}, &table,
                   {name});
  }
  report_figures(context, "compaction.", kFigures, {done, allocation});
}

Status compact(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  std::vector<driver::StreamId> streams;
  for (std::uint64_t i = 0; i < 1 + context.parameters.integer("running"); ++i) {
    const auto stream = (*device)->create_stream();
    if (!stream) return forward_error(stream);
    streams.push_back(*stream);
  }
  auto contents =
      BlockContents::make(context, **device, streams[0], context.parameters.size("window"));
  if (!contents) return forward_error(contents);
  const auto blocks = allocate_blocks(context, **device);
  if (!blocks) return forward_error(blocks);
  const Bytes windows = (*device)->memory_statistics().total / driver::kPageSize *
                        std::max(context.parameters.size("window"), 4_KiB);
  const auto what = "window=" + size_name(context.parameters.size("window"));
  if (auto ok = require_host_memory(what, windows); !ok) return ok;
  // The running copies have the end of the large block to themselves.
  const Bytes running = context.parameters.size("running_bytes");
  const Bytes tagged = blocks->rest.size - 2 * running;
  if (auto ok = contents->write(blocks->third.address, blocks->third.size, 3); !ok) return ok;
  if (auto ok = contents->write(blocks->rest.address, tagged, 4); !ok) return ok;
  if (auto ok = make_holes(**device, *blocks); !ok) return ok;

  const auto tickets =
      start_copies(**device, blocks->rest, {streams.begin() + 1, streams.end()}, running);
  if (!tickets) return forward_error(tickets);
  const CompactionStages stages(context);
  const Instant called = context.platform.clock().now();
  const auto memory = (*device)->allocate(kWanted);
  const MeasuredSpan allocation{called, context.platform.clock().now()};
  if (!memory) return forward_error(memory);
  for (const auto& ticket : *tickets) {
    auto done = (*device)->wait(ticket, driver::WaitPolicy::kPolling, deadline_of(context));
    if (!done) return done;
  }
  if (auto ok = contents->write(memory->address, memory->size, 5); !ok) return ok;
  if (auto ok = contents->check(blocks->third.address, blocks->third.size, 3); !ok) return ok;
  if (auto ok = contents->check(blocks->rest.address, tagged, 4); !ok) return ok;
  report_compaction(context, (*device)->compaction_statistics().last, stages, allocation);
  context.report.add_note("the blocks' contents were compared after the move and are intact");
  return {};
}

Status run(Context& context) {
  if (context.parameters.choice("case") == "random") return churn_with_compaction(context);
  if (auto ok = expect_refusal(context); !ok) return ok;
  return compact(context);
}

}  // namespace
}  // namespace programs::compaction

Workload compaction() {
  auto figures = figure_rows(programs::compaction::kWithout, programs::compaction::kTime,
                             programs::compaction::kFigures);
  for (const auto& row : churn_figures()) figures.push_back(row);
  return {
      "compaction",
      "Free memory in pieces: the refusal without compaction, the pause with it, by parts",
      {choice_parameter(
           "case", "m2",
           "m2: 1 + 2 + 1 GiB and the rest, then 3 GiB; random: churn at high occupancy",
           {"m2", "random"}),
       {"running", ParameterType::kInteger, "", "4", "m2: streams that copy meanwhile", 0, 64},
       {"running_bytes", ParameterType::kSize, "B", "2GiB", "m2: what they copy together", 128_MiB,
        16_GiB},
       window_parameter(),
       {"rounds", ParameterType::kInteger, "", "2000", "random: blocks allocated or freed", 1,
        10'000'000},
       {"occupancy", ParameterType::kInteger, "%", "95", "random: of the device memory", 1, 100},
       {"max_size", ParameterType::kSize, "B", "256MiB", "random: largest block", 2_MiB, 16_GiB},
       card_parameter()},
      programs::compaction::run,
      std::move(figures)};
}

}  // namespace npu::workloads
