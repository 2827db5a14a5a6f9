// SPDX-License-Identifier: Apache-2.0
// Pages that host and card read in turns, and that somebody writes now and then: moved each time,
// or copied because they were said to be of read mostly.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/managed_slowdown.hpp"
#include "workloads/programs/support/page_touches.hpp"

namespace npu::workloads {
namespace programs::svm_read_mostly {
namespace {

using driver::kPageSize;
using driver::ManagedMemory;
using Done = driver::ManagedStatistics;

constexpr Figure<ManagedRun> kFigures[] = {
    {"time_us", "us", from<&ManagedRun::span>, {"time us"}},
    {"faults", "", from<&ManagedRun::done, &Done::faults>, {"card faults"}},
    {"host_faults", "", from<&ManagedRun::done, &Done::host_faults>, {"host faults"}},
    {"upgrades", "", from<&ManagedRun::done, &Done::upgrades>, {"upgrades"}},
    {"migrated_to_card_bytes",
     "B",
     from<&ManagedRun::done, &Done::migrated_to_card_bytes>,
     {"to card"}},
    {"migrated_to_host_bytes",
     "B",
     from<&ManagedRun::done, &Done::migrated_to_host_bytes>,
     {"to host"}}};

class Turns {
 public:
  Turns(Context& context, driver::Device& device, QueueSession& session)
      : context_(context),
        device_(device),
        session_(session),
        pages_(context.parameters.integer("pages")),
        rounds_(context.parameters.integer("rounds")),
        writes_(context.parameters.integer("writes")),
        table_(add_figure_table(
            context.report,
            fmt::format("{} pages of 2 MiB, read by both sides in {} rounds", pages_, rounds_),
            {"pages"}, kFigures)) {}

  Status measure(bool advised) {
    auto managed = open_managed(context_, device_, session_.process().space());
    if (!managed) return forward_error(managed);
    PageTouches touches(context_, session_, **managed, pages_);
    if (auto ok = touches.open(true); !ok) return ok;
    const auto before = (*managed)->statistics();
    const Instant begin = context_.platform.clock().now();
    for (std::uint64_t round = 0; round < rounds_; ++round) {
      if (auto ok = read_all(**managed, touches, advised); !ok) return ok;
      for (std::uint64_t i = 0; i < std::min(writes_, pages_); ++i) {
        if (auto ok = touches.touch((round * writes_ + i) % pages_, true); !ok) return ok;
      }
    }
    const MeasuredSpan span{begin, context_.platform.clock().now()};
    report_figures(context_,
                   std::string("svm_read_mostly.") + (advised ? "advised." : "unadvised."),
                   kFigures, {span, done_between(before, (*managed)->statistics())}, &table_,
                   {advised ? "of read mostly" : "plain"});
    if (auto ok = touches.check(); !ok) return ok;
    if (auto ok = touches.close(); !ok) return ok;
    return (*managed)->close();
  }

 private:
  // A write has ended the advice; it is given again, as programs do.
  Status read_all(ManagedMemory& managed, PageTouches& touches, bool advised) {
    if (advised) {
      auto ok = managed.advise(touches.place(0), pages_ * kPageSize,
                               driver::MemoryAdvice::kReadMostly, true);
      if (!ok) return ok;
    }
    std::byte byte{};
    for (std::uint64_t i = 0; i < pages_; ++i) {
      if (auto ok = touches.touch(i, false); !ok) return ok;
      if (auto ok = managed.read(touches.place(i), {&byte, 1}); !ok) return ok;
    }
    return {};
  }

  Context& context_;
  driver::Device& device_;
  QueueSession& session_;
  const std::uint64_t pages_, rounds_, writes_;
  Table& table_;
};

Status run(Context& context) {
  const auto pages = context.parameters.integer("pages");
  if (auto ok = require_host_memory(fmt::format("pages={}", pages), 3 * pages * kPageSize); !ok) {
    return ok;
  }
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  Turns turns(context, **device, **session);
  for (const bool advised : {false, true}) {
    if (auto ok = turns.measure(advised); !ok) return ok;
  }
  context.report.add_note(
      "in each round the card and then the host read each page, and the card writes some; a write "
      "makes copies go and ends the advice, which is given again in the next round; every byte "
      "compared");
  return (*session)->close();
}

}  // namespace
}  // namespace programs::svm_read_mostly

Workload svm_read_mostly() {
  return with_latencies(
      {"svm_read_mostly",
       "Managed pages that both sides read: moved each time, or copied where that was advised",
       {{"pages", ParameterType::kInteger, "", "8", "of 2 MiB", 1, 16'384},
        {"rounds", ParameterType::kInteger, "", "4", "of reading by both sides", 1, 1000},
        {"writes", ParameterType::kInteger, "", "1", "pages that the card writes in a round", 0,
         16'384},
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::svm_read_mostly::run,
       figure_rows(programs::svm_read_mostly::kFigures)});
}

}  // namespace npu::workloads
