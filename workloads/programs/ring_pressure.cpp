// SPDX-License-Identifier: Apache-2.0
// Many small commands through a ring that is kept full: none lost, none doubled, order kept.
//
// Every command of a stream is one half of a pair. The first half copies a tag that exists once
// into the stream's one slot, the second half copies the slot to a place of its own in a log. A
// command that is lost, doubled or overtaken leaves a wrong tag in the log.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "npu/abi/event.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace programs::ring_pressure {
namespace {

constexpr Bytes kSlotStride = 64;

struct Pressed {
  std::uint64_t commands, lost, doubled, out_of_order;
  driver::DmaStatistics dma;
  MeasuredSpan span;  // of so many

  std::uint64_t wraps() const { return commands / abi::kRingEntries; }
  MeasuredTime time() const { return {span.end - span.begin, {span}}; }
};

constexpr Figure<Pressed> kFigures[] = {
    {"commands", "", from<&Pressed::commands>},
    {"lost", "", from<&Pressed::lost>, {}, kNoMore},
    {"doubled", "", from<&Pressed::doubled>, {}, kNoMore},
    {"out_of_order", "", from<&Pressed::out_of_order>, {}, kNoMore},
    {"ring_full", "", from<&Pressed::dma, &driver::DmaStatistics::ring_full>},
    {"consumer_reads",
     "",
     from<&Pressed::dma, &driver::DmaStatistics::consumer_reads>,
     {},
     kNoMore},
    {"ring_wraps", "", from<&Pressed::wraps>},
    {"time_us", "us", from<&Pressed::time>},
    {"ns_per_command", "ns", from<&Pressed::span>}};

struct Lane {
  driver::StreamId stream;
  driver::EventId event;
  std::uint64_t submitted = 0;
  driver::Ticket last;
};

// The card's own counters, read without the driver's help.
struct CardCounters {
  std::uint32_t event = 0;
  std::uint64_t completed = 0;
  abi::FaultCode fault = abi::FaultCode::kNone;
};

Result<CardCounters> read_counters(Context& context, const driver::Device& device,
                                   const Lane& lane) {
  const auto& info = device.info();
  auto events = context.platform.map_bar(info.bdf(), abi::kRegisterBar, abi::kEventBlock,
                                         Bytes{abi::kEventStride} * abi::kMaxEvents,
                                         platform::Caching::kUncached);
  if (!events) return forward_error(events);
  auto window =
      context.platform.map_bar(info.bdf(), abi::kMemoryBar,
                               info.stream_window_base + lane.stream.value * abi::kStreamWindowSize,
                               abi::kStreamWindowSize, platform::Caching::kUncached);
  if (!window) return forward_error(window);
  const abi::EventRecord record{(*events)->read64(Bytes{abi::kEventStride} * lane.event.value)};
  return CardCounters{record.count(), platform::read_register<abi::StreamCompleted>(**window).raw,
                      record.fault()};
}

class Pressure {
 public:
  Pressure(Context& context, driver::Device& device)
      : context_(context),
        device_(device),
        cell_(context.parameters.size("cell")),
        pairs_((context.parameters.integer("commands") + 1) / 2) {}

  Status prepare() {
    // The tags, the log in device memory, and what is read back of it.
    const auto what = fmt::format("commands={} cell={}", context_.parameters.integer("commands"),
                                  size_name(cell_));
    if (auto ok = require_host_memory(what, 3 * pairs_ * cell_); !ok) return ok;
    for (std::uint64_t i = 0; i < context_.parameters.integer("streams"); ++i) {
      auto stream = device_.create_stream();
      if (!stream) return forward_error(stream);
      auto event = device_.stream_event(*stream);
      if (!event) return forward_error(event);
      lanes_.push_back({*stream, *event, 0, {}});
      auto counters = read_counters(context_, device_, lanes_.back());
      if (!counters) return forward_error(counters);
      before_.push_back(*counters);
    }
    auto tags = device_.allocate_host(pairs_ * cell_);
    if (!tags) return forward_error(tags);
    tags_ = std::move(*tags);
    fill_pattern(tags_->cpu(), context_.seed);
    auto log = device_.allocate(pairs_ * cell_);
    if (!log) return forward_error(log);
    log_ = *log;
    auto slots = device_.allocate(lanes_.size() * kSlotStride);
    if (!slots) return forward_error(slots);
    slots_ = *slots;
    return {};
  }

  Status run() {
    const Instant begin = context_.platform.clock().now();
    for (std::uint64_t pair = 0; pair < pairs_; ++pair) {
      const std::size_t index = pair % lanes_.size();
      const auto slot = slots_.address + index * kSlotStride;
      const auto in = driver::DmaCommand::host_to_device(tags_->bus() + pair * cell_, slot, cell_);
      const auto out =
          driver::DmaCommand::device_to_device(slot, log_.address + pair * cell_, cell_);
      if (auto ok = submit(lanes_[index], in); !ok) return ok;
      if (auto ok = submit(lanes_[index], out); !ok) return ok;
      if (pair % 4096 == 0) context_.step("submitting", pair, pairs_);
    }
    for (const auto& lane : lanes_) {
      if (lane.submitted == 0) continue;
      auto ok = device_.wait(lane.last, driver::WaitPolicy::kPolling,
                             deadline_of(context_, time_for(2 * pairs_ * cell_)));
      if (!ok) return ok;
    }
    measured_ = {begin, context_.platform.clock().now(), 0, 2 * pairs_};
    return {};
  }

  Status check_counts() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const auto& lane = lanes_[i];
      const auto counters = read_counters(context_, device_, lane);
      if (!counters) return forward_error(counters);
      const auto completed = counters->completed - before_[i].completed;
      if (completed < lane.submitted) lost_ += lane.submitted - completed;
      if (completed > lane.submitted) doubled_ += completed - lane.submitted;
      const auto counted = static_cast<std::uint32_t>(counters->event - before_[i].event);
      if (completed == lane.submitted && counted == static_cast<std::uint32_t>(lane.submitted) &&
          counters->fault == abi::FaultCode::kNone) {
        continue;
      }
      return fail(ErrorCode::kWrongData,
                  fmt::format("stream {}: {} commands submitted, STREAM_COMPLETED counts {}, its "
                              "event {}, fault: {}",
                              lane.stream.value, lane.submitted, completed, counted,
                              to_string(counters->fault)));
    }
    return {};
  }

  Status check_log() {
    auto copy = device_.allocate_host(log_.size);
    if (!copy) return forward_error(copy);
    auto read =
        device_.copy(lanes_[0].stream,
                     driver::DmaCommand::device_to_host(log_.address, (*copy)->bus(), log_.size),
                     driver::WaitPolicy::kPolling, deadline_of(context_, time_for(log_.size)));
    if (!read) return read;
    for (std::uint64_t pair = 0; pair < pairs_; ++pair) {
      const auto offset = pair * cell_;
      if (std::memcmp(tags_->cpu().data + offset, (*copy)->cpu().data + offset, cell_) != 0) {
        ++wrong_tags_;
      }
    }
    return check_equal(tags_->cpu(), (*copy)->cpu(), "the log of tags");
  }

  Status report() const {
    const auto statistics = device_.dma_statistics();
    const std::uint64_t commands = 2 * pairs_;
    report_figures(context_, "ring_pressure.", kFigures,
                   {commands, lost_, doubled_, wrong_tags_, statistics, measured_});
    context_.report.add_note(
        fmt::format("{} commands on {} streams: none lost, none doubled, in order on "
                    "every stream; the full ring was met {} times and wrapped {} times",
                    commands, lanes_.size(), statistics.ring_full, commands / abi::kRingEntries));
    if (statistics.rejected != 0) return fail(ErrorCode::kQueueFull, "submissions were rejected");
    if (commands > std::uint64_t{4} * abi::kRingEntries && statistics.ring_full == 0) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("streams={}, commands={}: the ring was never full; use fewer streams",
                              lanes_.size(), context_.parameters.integer("commands")));
    }
    return {};
  }

  Status clean_up() {
    for (const auto& lane : lanes_) {
      auto ok = device_.destroy_stream(lane.stream, deadline_of(context_));
      if (!ok) return ok;
    }
    if (auto ok = device_.free(log_.address); !ok) return ok;
    return device_.free(slots_.address);
  }

 private:
  Status submit(Lane& lane, const driver::DmaCommand& command) {
    driver::SubmitOptions options;
    options.interrupt = false;
    auto ticket = device_.submit(lane.stream, command, options);
    if (!ticket) return forward_error(ticket);
    ++lane.submitted;
    lane.last = *ticket;
    return {};
  }

  Context& context_;
  driver::Device& device_;
  Bytes cell_;
  std::uint64_t pairs_;
  std::vector<Lane> lanes_;
  std::vector<CardCounters> before_;
  std::unique_ptr<platform::DmaMemory> tags_;
  driver::DeviceMemory log_;
  driver::DeviceMemory slots_;
  MeasuredSpan measured_{};       // all commands
  std::uint64_t lost_ = 0;        // submitted, not counted by the card
  std::uint64_t doubled_ = 0;     // counted by the card, not submitted
  std::uint64_t wrong_tags_ = 0;  // cells of the log with a tag that another command should leave
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  {
    Pressure pressure(context, **device);
    if (auto ok = pressure.prepare(); !ok) return ok;
    if (auto ok = pressure.run(); !ok) return ok;
    if (auto ok = pressure.check_counts(); !ok) return ok;
    if (auto ok = pressure.check_log(); !ok) return ok;
    if (auto ok = pressure.report(); !ok) return ok;
    if (auto ok = pressure.clean_up(); !ok) return ok;
  }
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::ring_pressure

Workload ring_pressure() {
  return {"ring_pressure",
          "A million small commands through a full ring: none lost, none doubled, order kept",
          {{"commands", ParameterType::kInteger, "", "1000000", "commands to submit (even)", 2,
            100'000'000},
           {"streams", ParameterType::kInteger, "", "4", "streams they are spread over", 1, 1024},
           {"cell", ParameterType::kSize, "B", "8", "bytes that each command copies", 8, 64},
           ring_parameter(),
           card_parameter()},
          programs::ring_pressure::run,
          figure_rows(programs::ring_pressure::kFigures)};
}

}  // namespace npu::workloads
