// SPDX-License-Identifier: Apache-2.0
// Clients with shares of a card's cores: what each gets of the time, and how much longer its work
// takes than alone.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/latencies.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/sharing_client.hpp"

namespace npu::workloads {
namespace programs::share_fairness {
namespace {

// What a client has done together with the others; `had`: if they shared it in time slices.
struct Use {
  std::uint64_t launches, alone;
  Picoseconds time;
  std::optional<driver::TimeSliceClientStatistics> had;

  Number slowdown() const { return Number::quotient(alone, launches, 4); }
  std::optional<Number> share() const {
    if (!had) return {};
    return Number::percent(static_cast<std::uint64_t>(had->busy.count()),
                           static_cast<std::uint64_t>(time.count()));
  }
  template <auto kMember>
  static FigureValue when_shared(const Use& use) {
    return use.had ? FigureValue((*use.had).*kMember) : FigureValue();
  }
};

constexpr Figure<Use> kOfClient[] = {
    {"launches", "", from<&Use::launches>, {"launches"}},
    {"", "", from<&Use::alone>, {"alone"}},
    {"slowdown", "", from<&Use::slowdown>, {"slowdown", 2}},
    {"share", "%", from<&Use::share>, {"busy %", 1, ""}},
    {"", "", Use::when_shared<&driver::TimeSliceClientStatistics::time_slices>, {"turns", 2, ""}},
    {"launch_window",
     "",
     Use::when_shared<&driver::TimeSliceClientStatistics::launch_window>,
     {"launch window", 2, ""}}};

constexpr Figure<driver::TimeSliceSchedulerStatistics> kOfScheduler[] = {
    {"windows", "", from<&driver::TimeSliceSchedulerStatistics::windows>},
    {"resent", "", from<&driver::TimeSliceSchedulerStatistics::resent>},
    {"reclaimed", "", from<&driver::TimeSliceSchedulerStatistics::reclaimed>}};

class Fairness {
 public:
  Fairness(Context& context, driver::Device& device)
      : context_(context),
        device_(device),
        shares_(context.parameters.integers("shares")),
        options_(time_slice_options(context.parameters)),
        time_(static_cast<std::int64_t>(context.parameters.integer("windows")) * options_.window) {}

  Status run() {
    if (auto ok = open(); !ok) return ok;
    if (auto ok = measure_alone(); !ok) return ok;
    if (auto ok = measure_together(); !ok) return ok;
    for (auto& client : clients_) {
      if (auto ok = client->close(); !ok) return ok;
    }
    return {};
  }

 private:
  // Of client i: the last of a list stands for all that come after.
  static std::uint64_t of(const std::vector<std::uint64_t>& list, std::size_t i) {
    return list[std::min(i, list.size() - 1)];
  }

  Status open() {
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      auto client = SharingClient::open(
          context_, device_, fmt::format("c{}", i), of(context_.parameters.integers("cycles"), i),
          static_cast<std::uint32_t>(context_.parameters.integer("blocks")), nullptr);
      if (!client) return forward_error(client);
      clients_.push_back(std::move(*client));
    }
    return {};
  }

  Instant now() const { return context_.platform.clock().now(); }

  Status measure_alone() {
    for (auto& client : clients_) {
      const auto done = client->run_until(now() + time_);
      if (!done) return forward_error(done);
      if (auto ok = client->drain(); !ok) return ok;
      alone_.push_back(*done);
    }
    return {};
  }

  Status measure_together() {
    std::unique_ptr<driver::TimeSliceScheduler> scheduler;
    if (context_.parameters.flag("sharing")) {
      auto opened = driver::TimeSliceScheduler::open(device_, options_);
      if (!opened) return forward_error(opened);
      scheduler = std::move(*opened);
      for (std::size_t i = 0; i < clients_.size(); ++i) {
        const driver::CoreQuota share{
            static_cast<unsigned>(shares_[i]),
            static_cast<unsigned>(of(context_.parameters.integers("tokens"), i))};
        if (auto ok = clients_[i]->join(*scheduler, share); !ok) return ok;
      }
    }
    const Instant begin = now();
    Latencies latencies;
    const auto done = [&] {
      const TraceSession listening(context_.trace, latencies);
      return run_together(context_, clients_, begin + time_);
    }();
    if (!done) return forward_error(done);
    report(*done, scheduler.get());
    latencies.report(context_, "share_fairness");
    for (auto& client : clients_) {
      if (auto ok = client->leave(); !ok) return ok;
    }
    return {};
  }

  void report(const std::vector<std::uint64_t>& done, driver::TimeSliceScheduler* scheduler) {
    auto& table =
        add_figure_table(context_.report, "clients", {"client", "share %", "token"}, kOfClient);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      const auto& name = clients_[i]->name();
      Use use{done[i], alone_[i], time_, {}};
      if (const auto* turn = clients_[i]->turn()) use.had = turn->statistics();
      report_figures(context_, "share_fairness." + name + ".", kOfClient, use, &table,
                     {name, std::to_string(shares_[i]),
                      std::to_string(of(context_.parameters.integers("tokens"), i))});
    }
    if (scheduler == nullptr) return;
    report_figures(context_, "share_fairness.", kOfScheduler, scheduler->statistics());
  }

  Context& context_;
  driver::Device& device_;
  const std::vector<std::uint64_t> shares_;
  const driver::TimeSliceOptions options_;
  const Picoseconds time_;
  std::vector<std::unique_ptr<SharingClient>> clients_;
  std::vector<std::uint64_t> alone_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  if (auto ok = Fairness(context, **device).run(); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::share_fairness

Workload share_fairness() {
  std::vector<ParameterSpec> parameters = {
      list_by_place(
          {"shares", ParameterType::kIntegerList, "%", "30,70", "of the clients", 0, 100}),
      list_by_place({"tokens", ParameterType::kIntegerList, "", "65535",
                     "hard caps, of 65535; the last one is that of all clients that come after", 0,
                     65'535}),
      list_by_place({"cycles", ParameterType::kIntegerList, "", "20000",
                     "that a kernel takes; the last one is that of all clients that come after", 1,
                     1'000'000'000}),
      {"blocks", ParameterType::kInteger, "", "4", "of a kernel", 1, 65'535},
      {"windows", ParameterType::kInteger, "", "10", "how long, alone and together", 1, 100'000},
      {"sharing", ParameterType::kFlag, "", "on", "off: everybody at any time", 0, 1}};
  for (auto& each : sharing_parameters()) parameters.push_back(std::move(each));
  parameters.push_back(card_parameter());
  return {"share_fairness", "Clients with shares of a card's cores: what each gets, against alone",
          std::move(parameters), programs::share_fairness::run,
          figure_rows(programs::share_fairness::kOfClient, programs::share_fairness::kOfScheduler)};
}

}  // namespace npu::workloads
