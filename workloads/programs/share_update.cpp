// SPDX-License-Identifier: Apache-2.0
// A share that is changed while both clients work: after how many windows the time is divided anew.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/sharing_client.hpp"

namespace npu::workloads {
namespace programs::share_update {
namespace {

struct Changed {
  std::uint64_t windows;
  Picoseconds latency;
};

constexpr Figure<Changed> kFigures[] = {{"converged_windows", "", from<&Changed::windows>},
                                        {"latency_us", "us", from<&Changed::latency>}};

class Update {
 public:
  Update(Context& context, driver::Device& device)
      : context_(context),
        device_(device),
        options_(time_slice_options(context.parameters)),
        windows_(context.parameters.integer("windows")),
        from_(static_cast<unsigned>(context.parameters.integer("from"))),
        to_(static_cast<unsigned>(context.parameters.integer("to"))) {}

  Status run() {
    auto scheduler = driver::TimeSliceScheduler::open(device_, options_);
    if (!scheduler) return forward_error(scheduler);
    const auto cycles = context_.parameters.integer("cycles");
    for (const auto* const name : {"changed", "other"}) {
      auto client = SharingClient::open(context_, device_, name, cycles, 4, nullptr);
      if (!client) return forward_error(client);
      clients_.push_back(std::move(*client));
    }
    if (auto ok = clients_[0]->join(**scheduler, {from_, driver::kWholeToken}); !ok) return ok;
    if (auto ok = clients_[1]->join(**scheduler, {100 - from_, driver::kWholeToken}); !ok)
      return ok;
    if (auto ok = work_and_watch(**scheduler); !ok) return ok;
    for (auto& client : clients_) {
      if (auto ok = client->close(); !ok) return ok;
    }
    return report(**scheduler);
  }

 private:
  platform::Clock& clock() { return context_.platform.clock(); }

  // The busy time of the first client, window by window, with the change half way.
  Status work_and_watch(driver::TimeSliceScheduler& scheduler) {
    // Its windows are looked at, not ones that lie across two.
    clock().sleep_until(scheduler.statistics().window_end);
    const Instant begin = clock().now();
    const auto all = static_cast<std::int64_t>(2 * windows_);
    Status worked;
    auto task = context_.platform.tasks().spawn("clients", [&] {
      auto counts = run_together(context_, clients_, begin + options_.window * all);
      if (!counts) worked = forward_error(counts);
    });
    if (!task) return forward_error(task);
    Picoseconds before;
    for (std::int64_t window = 0; window < all; ++window) {
      if (window == static_cast<std::int64_t>(windows_)) {
        if (auto ok = scheduler.set_quota(clients_[0]->turn()->id(), {to_, driver::kWholeToken});
            !ok) {
          return ok;
        }
        auto ok = scheduler.set_quota(clients_[1]->turn()->id(), {100 - to_, driver::kWholeToken});
        if (!ok) return ok;
      }
      clock().sleep_until(begin + options_.window * (window + 1));
      const auto busy = clients_[0]->turn()->statistics().busy;
      busy_.push_back(busy - before);
      before = busy;
    }
    (*task)->join();
    const auto all_of_it = clients_[0]->turn()->statistics();
    kernel_ =
        all_of_it.busy / static_cast<std::int64_t>(std::max<std::uint64_t>(all_of_it.launches, 1));
    latency_ = scheduler.statistics().update_latency;
    return worked;
  }

  // Whether a window was divided as wanted: within a tenth of the share, or what a change of turns
  // moves from one window to the next, 1.5 % of the window and a kernel.
  bool is_at(std::size_t window, unsigned percent) const {
    const auto one_percent = options_.window.count() / 100;
    const auto off = busy_[window].count() - one_percent * percent;
    const auto room = std::max(one_percent * percent / 10, one_percent * 3 / 2 + kernel_.count());
    return (off < 0 ? -off : off) <= room;
  }

  Status report(driver::TimeSliceScheduler&) {
    auto& table = context_.report.add_table("busy time of the client by windows",
                                            {"window", "share %", "busy %"});
    for (std::size_t i = 0; i < busy_.size(); ++i) {
      table.rows.push_back({std::to_string(i), std::to_string(i < windows_ ? from_ : to_),
                            Number::percent(static_cast<std::uint64_t>(busy_[i].count()),
                                            static_cast<std::uint64_t>(options_.window.count()))
                                .text()});
    }
    // Up to the first window from which on all are as wanted.
    std::size_t first = busy_.size();
    while (first > windows_ && is_at(first - 1, to_)) --first;
    report_figures(context_, "share_update.", kFigures, {first - windows_, latency_});
    if (first == busy_.size()) {
      context_.report.add_note(
          "converged_windows: the last window was not as it was changed to, either");
    }
    return {};
  }

  Context& context_;
  driver::Device& device_;
  const driver::TimeSliceOptions options_;
  const std::uint64_t windows_;
  const unsigned from_, to_;
  std::vector<std::unique_ptr<SharingClient>> clients_;
  std::vector<Picoseconds> busy_;
  Picoseconds kernel_, latency_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  if (auto ok = Update(context, **device).run(); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::share_update

Workload share_update() {
  std::vector<ParameterSpec> parameters = {
      {"from", ParameterType::kInteger, "%", "30", "the client's share at first", 1, 99},
      {"to", ParameterType::kInteger, "%", "60", "and then", 1, 99},
      {"windows", ParameterType::kInteger, "", "8", "before the change, and behind it", 2, 10'000},
      {"cycles", ParameterType::kInteger, "", "20000", "that a kernel takes", 1, 1'000'000'000}};
  for (auto& each : sharing_parameters()) parameters.push_back(std::move(each));
  parameters.push_back(card_parameter());
  return with_latencies({"share_update",
                         "A client's share changed at run time: windows until it is what it gets",
                         std::move(parameters), programs::share_update::run,
                         figure_rows(programs::share_update::kFigures)});
}

}  // namespace npu::workloads
