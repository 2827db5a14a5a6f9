// SPDX-License-Identifier: Apache-2.0
// Managed memory that is brought to the card and back before anybody touches it there.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/page_touches.hpp"

namespace npu::workloads {
namespace programs::svm_prefetch {
namespace {

using driver::kPageSize;
using driver::MemoryLocation;

struct Prefetched {
  std::uint64_t faults;
  Bytes bytes;
  MeasuredSpan span;

  Number rate() const { return Number::gb_per_s(bytes, span.end - span.begin); }
};

constexpr Figure<Prefetched> kFigures[] = {
    {"faults", "", from<&Prefetched::faults>, {"faults afterwards", 2}},
    {"bytes", "B", from<&Prefetched::bytes>},
    {"bandwidth_gb_per_s", "GB/s", from<&Prefetched::rate>, {"GB/s", 1}},
    {"time_us", "us", from<&Prefetched::span>, {"time us"}}};

class Prefetch {
 public:
  Prefetch(Context& context, driver::ManagedMemory& managed, PageTouches& touches,
           std::uint64_t pages)
      : context_(context),
        managed_(managed),
        touches_(touches),
        pages_(pages),
        table_(add_figure_table(context.report, fmt::format("{} pages of 2 MiB", pages), {"to"},
                                kFigures)) {}

  Status measure(MemoryLocation to, const std::string& prefix, const char* side) {
    auto& clock = context_.platform.clock();
    const auto before = managed_.statistics();
    const Instant begin = clock.now();
    const auto ticket = managed_.prefetch(touches_.place(0), pages_ * kPageSize, to);
    if (!ticket) return forward_error(ticket);
    if (auto ok = managed_.wait(*ticket, deadline_of(context_)); !ok) return ok;
    const MeasuredSpan span{begin, clock.now()};
    const auto moved = managed_.statistics();
    const Bytes bytes = (moved.migrated_to_card_bytes - before.migrated_to_card_bytes) +
                        (moved.migrated_to_host_bytes - before.migrated_to_host_bytes);
    if (auto ok = touch(to); !ok) return ok;
    const auto after = managed_.statistics();
    const auto faults = (after.faults - moved.faults) + (after.host_faults - moved.host_faults);
    report_figures(context_, prefix, kFigures, {faults, bytes, span}, &table_, {side});
    return {};
  }

 private:
  Status touch(MemoryLocation by) {
    std::byte byte{};
    for (std::uint64_t i = 0; i < pages_; ++i) {
      // Written, so that the way back is worth measuring.
      auto ok = by == MemoryLocation::host() ? managed_.read(touches_.place(i), {&byte, 1})
                                             : touches_.touch(i, true);
      if (!ok) return ok;
    }
    return {};
  }

  Context& context_;
  driver::ManagedMemory& managed_;
  PageTouches& touches_;
  const std::uint64_t pages_;
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
  auto managed = open_managed(context, **device, (*session)->process().space());
  if (!managed) return forward_error(managed);
  PageTouches touches(context, **session, **managed, pages);
  if (auto ok = touches.open(true); !ok) return ok;
  Prefetch prefetch(context, **managed, touches, pages);
  const auto card = MemoryLocation::card((*device)->info().device_index);
  if (auto ok = prefetch.measure(card, "svm_prefetch.", "card"); !ok) return ok;
  const auto host = MemoryLocation::host();
  if (auto ok = prefetch.measure(host, "svm_prefetch.to_host.", "host"); !ok) return ok;
  if (auto ok = touches.check(); !ok) return ok;
  context.report.add_note(
      "from the call until all pages are there, in runs of up to 16 pages; then each page is "
      "touched there; every byte compared");
  if (auto ok = touches.close(); !ok) return ok;
  if (auto ok = (*managed)->close(); !ok) return ok;
  return (*session)->close();
}

}  // namespace
}  // namespace programs::svm_prefetch

Workload svm_prefetch() {
  return with_latencies(
      {"svm_prefetch",
       "Managed memory brought to the card and back ahead of its use: faults and bandwidth",
       {{"pages", ParameterType::kInteger, "", "64", "of 2 MiB", 1, 16'384},
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::svm_prefetch::run,
       figure_rows(programs::svm_prefetch::kFigures)});
}

}  // namespace npu::workloads
