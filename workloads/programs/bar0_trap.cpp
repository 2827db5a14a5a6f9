// SPDX-License-Identifier: Apache-2.0
// Stream windows of 32 KiB do not fit a BAR0 of 32 KiB (requirements.md M4): asking for one there
// must fail with a clear error, while hundreds of streams work in BAR2.
#include <cstring>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace programs::bar0_trap {
namespace {

constexpr Bytes kCell = 64;

struct Created {
  std::uint64_t streams;
  MeasuredSpan each;  // as many
};

constexpr Figure<std::uint64_t> kRefusals[] = {{"bar0_refused", "", itself}};
constexpr Figure<Created> kFigures[] = {{"streams", "", from<&Created::streams>},
                                        {"create_stream_ns", "ns", from<&Created::each>}};

Status expect_refusal(Context& context, driver::Device& device) {
  driver::StreamOptions options;
  options.placement = driver::StreamPlacement::kBar0;
  const auto stream = device.create_stream(options);
  if (stream) {
    return fail(ErrorCode::kWrongData, "stream " + std::to_string(stream->value) +
                                           " got a window in BAR0, expected: out of range");
  }
  if (stream.error().code != ErrorCode::kOutOfRange) return forward_error(stream);
  report_figures(context, "bar0_trap.", kRefusals, 1);
  context.report.add_note("window in BAR0: " + stream.error().message());
  return {};
}

// One cell per stream: out to the card on that stream, and back on the same one.
Status copy_on_all(Context& context, driver::Device& device,
                   const std::vector<driver::StreamId>& streams) {
  const Bytes size = streams.size() * kCell;
  auto out = device.allocate_host(size);
  auto back = device.allocate_host(size);
  auto cells = device.allocate(size);
  if (!out) return forward_error(out);
  if (!back) return forward_error(back);
  if (!cells) return forward_error(cells);
  fill_pattern((*out)->cpu(), context.seed);
  std::vector<driver::Ticket> tickets;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const Bytes at = i * kCell;
    const auto there =
        driver::DmaCommand::host_to_device((*out)->bus() + at, cells->address + at, kCell);
    const auto here =
        driver::DmaCommand::device_to_host(cells->address + at, (*back)->bus() + at, kCell);
    auto first = device.submit(streams[i], there);
    if (!first) return forward_error(first);
    auto second = device.submit(streams[i], here);
    if (!second) return forward_error(second);
    tickets.push_back(*second);
  }
  for (const auto& ticket : tickets) {
    auto done = device.wait(ticket, driver::WaitPolicy::kPolling, deadline_of(context));
    if (!done) return done;
  }
  if (auto ok = check_equal((*out)->cpu(), (*back)->cpu(), "the streams' cells"); !ok) return ok;
  return device.free(cells->address);
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  if (auto ok = expect_refusal(context, **device); !ok) return ok;
  const auto count = context.parameters.integer("streams");
  std::vector<driver::StreamId> streams;
  const Instant begin = context.platform.clock().now();
  for (std::uint64_t i = 0; i < count; ++i) {
    context.step("creating streams", i, count);
    auto stream = (*device)->create_stream();
    if (!stream) return forward_error(stream);
    streams.push_back(*stream);
  }
  const Instant created = context.platform.clock().now();
  if (auto ok = copy_on_all(context, **device, streams); !ok) return ok;
  for (const auto stream : streams) {
    if (auto ok = (*device)->destroy_stream(stream, deadline_of(context)); !ok) return ok;
  }
  report_figures(context, "bar0_trap.", kFigures, {count, {begin, created, 0, count}});
  context.report.add_note(std::to_string(count) +
                          " streams in BAR2 each copied a cell to the card and back, intact");
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::bar0_trap

Workload bar0_trap() {
  return {"bar0_trap",
          "Stream windows in BAR0 fail with a clear error; in BAR2 hundreds of streams work",
          {{"streams", ParameterType::kInteger, "", "256", "streams to create in BAR2", 1, 1024},
           card_parameter()},
          programs::bar0_trap::run,
          figure_rows(programs::bar0_trap::kRefusals, programs::bar0_trap::kFigures)};
}

}  // namespace npu::workloads
