// SPDX-License-Identifier: Apache-2.0
// Managed memory that one side has filled and the other touches, page after page: faults,
// migrations, and how fast pages come.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "npu/base/checked.hpp"
#include "npu/driver/managed.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/framework/random.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/managed_slowdown.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {
namespace programs::svm_touch {
namespace {

using driver::kPageSize;
using driver::ManagedMemory;

constexpr Bytes kTouched = 4096;  // of each page

Bytes step_of(const Context& context) {
  return context.parameters.size("step");
}

// What has been counted meanwhile; the largest batch and the warnings are those since the begin.
struct Touched : driver::ManagedStatistics {
  std::uint64_t touched_faults = 0;  // of who touches
  MeasuredSpan span;

  Number rate() const {
    return Number::gb_per_s(migrated_to_card_bytes + migrated_to_host_bytes, span.end - span.begin);
  }
};

constexpr Figure<Touched> kFigures[] = {
    {"faults", "", from<&Touched::touched_faults>, {"faults"}},
    {"batches", "", from<&Touched::batches>, {"batches"}},
    {"fault_errors", "", from<&Touched::fault_errors>},
    {"fault_error_warnings", "", from<&Touched::fault_error_warnings>},
    {"duplicates", "", from<&Touched::duplicates>},
    {"largest_batch", "", from<&Touched::largest_batch>},
    {"migrated_to_card_bytes", "B", from<&Touched::migrated_to_card_bytes>, {"to card"}},
    {"migrated_to_host_bytes", "B", from<&Touched::migrated_to_host_bytes>, {"to host"}},
    {"bandwidth_gb_per_s", "GB/s", from<&Touched::rate>, {"GB/s", 1}},
    {"time_us", "us", from<&Touched::span>, {"time us"}}};

class Touches {
 public:
  Touches(Context& context, QueueSession& session, ManagedMemory& managed)
      : context_(context),
        session_(session),
        managed_(managed),
        pages_(context.parameters.integer("pages")),
        step_(step_of(context)),
        by_card_(context.parameters.choice("by") == "card"),
        writes_(!by_card_ || context.parameters.choice("access") == "write"),
        table_(add_figure_table(context.report,
                                fmt::format("{} pages of 2 MiB, touched by the {} every {}", pages_,
                                            by_card_ ? "card" : "host", size_name(step_)),
                                {"order"}, kFigures)) {}

  Status prepare() {
    auto queue = session_.create_queue();
    if (!queue) return forward_error(queue);
    queue_ = std::move(*queue);
    const auto room = session_.allocate(kTouched);
    if (!room) return forward_error(room);
    room_ = *room;
    return {};
  }

  Status measure(const std::string& order) {
    const auto at = managed_.allocate(pages_ * kPageSize);
    if (!at) return forward_error(at);
    begin_ = *at;
    if (auto ok = fill(); !ok) return ok;
    if (auto ok = by_card_ ? Status{} : touch_all(ordered("sequential"), true); !ok) return ok;
    const auto before = managed_.statistics();
    const auto start = context_.platform.clock().now();
    if (auto ok = touch_all(ordered(order), by_card_); !ok) return ok;
    const Instant end = context_.platform.clock().now();
    Touched done{done_between(before, managed_.statistics()), 0, {start, end}};
    done.touched_faults = by_card_ ? done.faults : done.host_faults;
    report_figures(context_, "svm_touch." + order + ".", kFigures, done, &table_, {order});
    if (auto ok = check(); !ok) return ok;
    return managed_.free(begin_);
  }

  Status close() {
    queue_.reset();
    return {};
  }

 private:
  // By the host, so that no byte of it is like another page's.
  Status fill() {
    std::vector<std::byte> page(kPageSize);
    for (std::uint64_t i = 0; i < pages_; ++i) {
      fill_pattern({page.data(), page.size()}, context_.seed + i);
      auto written = managed_.write(begin_ + i * kPageSize, {page.data(), page.size()});
      if (!written) return written;
    }
    return {};
  }

  // Places, in steps from the beginning.
  std::vector<std::uint64_t> ordered(const std::string& order) const {
    const std::uint64_t places = pages_ * (kPageSize / step_);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(places));
    const std::uint64_t stride = order == "strided" ? context_.parameters.integer("stride") : 1;
    std::uint64_t at = 0, first = 0;
    for (auto& place : all) {
      place = at;
      at += stride;
      if (at >= places) at = ++first;
    }
    if (order != "random") return all;
    Random random(context_.seed);
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
    return all;
  }

  // A copy of the card's, or a load of the host's, each when the one before has ended.
  Status touch_all(const std::vector<std::uint64_t>& order, bool by_card) {
    std::vector<std::byte> bytes(kTouched);
    for (const auto place : order) {
      const auto from = begin_ + place * step_;
      auto touched = by_card ? touch(from) : managed_.read(from, {bytes.data(), bytes.size()});
      if (!touched) return touched;
    }
    return {};
  }
  // By the card, which leaves it as it was, written or not.
  Status touch(driver::DeviceAddress at) {
    if (auto ok = copy(at, room_); !ok || !writes_) return ok;
    return copy(room_, at);
  }
  Status copy(driver::DeviceAddress from, driver::DeviceAddress to) {
    const auto deadline = deadline_of(context_);
    const auto ticket =
        queue_->submit(driver::entries::copy_on_device(from, to, kTouched), deadline);
    if (!ticket) return forward_error(ticket);
    return queue_->wait(*ticket, driver::WaitPolicy::kPolling, deadline);
  }

  Status check() {
    if (!context_.functional) return {};
    std::vector<std::byte> expected(kPageSize), found(kPageSize);
    for (std::uint64_t i = 0; i < pages_; ++i) {
      fill_pattern({expected.data(), expected.size()}, context_.seed + i);
      auto read = managed_.read(begin_ + i * kPageSize, {found.data(), found.size()});
      if (!read) return read;
      auto same = check_equal({expected.data(), expected.size()}, {found.data(), found.size()},
                              fmt::format("page {}", i));
      if (!same) return same;
    }
    return {};
  }

  Context& context_;
  QueueSession& session_;
  ManagedMemory& managed_;
  const std::uint64_t pages_;
  const Bytes step_;
  const bool by_card_, writes_;
  Table& table_;
  std::unique_ptr<driver::Queue> queue_;
  driver::DeviceAddress begin_, room_;
};

Status run(Context& context) {
  if (!is_power_of_two(step_of(context))) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("step={} is no power of two", step_of(context)));
  }
  const auto what = fmt::format("pages={}", context.parameters.integer("pages"));
  const Bytes filled = context.parameters.integer("pages") * kPageSize;
  if (auto ok = require_host_memory(what, 2 * filled); !ok) return ok;
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  auto managed = open_managed(context, **device, (*session)->process().space());
  if (!managed) return forward_error(managed);
  Touches touches(context, **session, **managed);
  if (auto ok = touches.prepare(); !ok) return ok;
  std::uint64_t done = 0;
  const auto& orders = context.parameters.choices("orders");
  for (const auto& order : orders) {
    context.step(order, done++, orders.size());
    if (auto ok = touches.measure(order); !ok) return ok;
  }
  context.report.add_note(
      fmt::format("each page filled by the host and touched by {} bytes; a touch begins when the "
                  "one before has "
                  "ended; every byte compared",
                  kTouched));
  if (auto ok = touches.close(); !ok) return ok;
  if (auto ok = (*managed)->close(); !ok) return ok;
  return (*session)->close();
}

}  // namespace
}  // namespace programs::svm_touch

Workload svm_touch() {
  return with_latencies(
      {"svm_touch",
       "Managed memory touched page after page: faults, migrations, bandwidth",
       {{"pages", ParameterType::kInteger, "", "16", "of 2 MiB", 1, 65'536},
        choices_parameter("orders", "sequential,strided,random", "in which pages are touched",
                          {"sequential", "strided", "random"}),
        {"stride", ParameterType::kInteger, "", "4", "steps, of the strided order", 1, 65'536},
        {"step", ParameterType::kSize, "B", "2MiB",
         "from one touch to the next in memory; a power of two", 4_KiB, 2_MiB},
        choice_parameter("by", "card", "who touches what the other has", {"card", "host"}),
        choice_parameter(
            "access", "read",
            "what the card does to a page; what it has for the host to touch, it has written",
            {"read", "write"}),
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::svm_touch::run,
       figure_rows(programs::svm_touch::kFigures)});
}

}  // namespace npu::workloads
