// SPDX-License-Identifier: Apache-2.0
// Clients whose managed arrays are larger than their memory quotas: each pays with its own pages,
// and how much longer its passes take than with a quota for all of them.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/page_touches.hpp"

namespace npu::workloads {
namespace programs::share_oversubscribe {
namespace {

using driver::kPageSize;

struct Passes {
  Picoseconds time;
  driver::ManagedStatistics done;
  Bytes most = 0;
};

struct Compared {
  Passes with_room, within;

  Number slowdown() const {
    return Number::quotient(static_cast<std::uint64_t>(within.time.count()),
                            static_cast<std::uint64_t>(with_room.time.count()), 4);
  }
  std::uint64_t faults() const { return within.done.faults; }
  std::uint64_t evictions() const { return within.done.evictions; }
};

constexpr Figure<Compared> kFigures[] = {
    {"", "us", from<&Compared::with_room, &Passes::time>, {"with room us"}},
    {"", "us", from<&Compared::within, &Passes::time>, {"within us"}},
    {"slowdown", "", from<&Compared::slowdown>, {"slowdown"}},
    {"faults", "", from<&Compared::faults>},
    {"evictions", "", from<&Compared::evictions>, {"evictions"}}};

class Client {
 public:
  static Result<std::unique_ptr<Client>> open(Context& context, driver::Device& device,
                                              std::string name, Bytes quota, std::uint64_t pages) {
    auto client = std::make_unique<Client>();
    client->context_ = &context;
    client->name_ = std::move(name);
    client->pages_ = pages;
    client->quota_ = std::make_shared<driver::MemoryQuota>(driver::MemoryQuota::kUnlimited);
    driver::ProcessOptions options;
    options.quota = client->quota_;
    auto session = QueueSession::open(context, device, options);
    if (!session) return forward_error(session);
    client->session_ = std::move(*session);
    auto managed = open_managed(context, device, client->session_->process().space());
    if (!managed) return forward_error(managed);
    client->managed_ = std::move(*managed);
    client->touches_ =
        std::make_unique<PageTouches>(context, *client->session_, *client->managed_, pages);
    if (auto ok = client->touches_->open(true); !ok) return forward_error(ok);
    // Besides what the process has on the card anyway.
    client->limit_ = client->quota_->use().allocated + quota;
    return client;
  }

  const std::string& name() const { return name_; }
  void limit() { quota_->set_limit(limit_); }
  const driver::MemoryQuota& quota() const { return *quota_; }

  Status pass() {
    const Instant begin = context_->platform.clock().now();
    const auto before = managed_->statistics();
    const auto passes = context_->parameters.integer("passes");
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (std::uint64_t page = 0; page < pages_; ++page) {
        if (auto ok = touches_->touch(page, true); !ok) return ok;
      }
    }
    last_.time = context_->platform.clock().now() - begin;
    const auto after = managed_->statistics();
    last_.done.faults = after.faults - before.faults;
    last_.done.evictions = after.evictions - before.evictions;
    last_.most = quota_->use().used();
    return {};
  }
  const Passes& last() const { return last_; }
  Status bring_home() {
    std::byte byte{};
    for (std::uint64_t page = 0; page < pages_; ++page) {
      if (auto ok = managed_->read(touches_->place(page), {&byte, 1}); !ok) return ok;
    }
    return {};
  }

  Status close() {
    if (auto ok = touches_->check(); !ok) return ok;
    if (auto ok = touches_->close(); !ok) return ok;
    if (auto ok = managed_->close(); !ok) return ok;
    managed_.reset();
    return session_->close();
  }

 private:
  Context* context_ = nullptr;
  std::string name_;
  std::uint64_t pages_ = 0;
  Bytes limit_ = 0;
  std::shared_ptr<driver::MemoryQuota> quota_;
  std::unique_ptr<QueueSession> session_;
  std::unique_ptr<driver::ManagedMemory> managed_;
  std::unique_ptr<PageTouches> touches_;
  Passes last_;
};

using Clients = std::vector<std::unique_ptr<Client>>;

// All at once.
Status pass_together(Context& context, Clients& clients) {
  std::vector<Status> done(clients.size());
  std::vector<std::unique_ptr<platform::Task>> tasks;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    auto task = context.platform.tasks().spawn(clients[i]->name(),
                                               [&, i] { done[i] = clients[i]->pass(); });
    if (!task) return forward_error(task);
    tasks.push_back(std::move(*task));
  }
  for (auto& task : tasks) task->join();
  for (const auto& each : done) {
    if (!each) return each;
  }
  return {};
}

Status measure(Context& context, Clients& clients) {
  if (auto ok = pass_together(context, clients); !ok) return ok;
  std::vector<Passes> with_room;
  for (auto& client : clients) {
    with_room.push_back(client->last());
    if (auto ok = client->bring_home(); !ok) return ok;
    client->limit();
  }
  if (auto ok = pass_together(context, clients); !ok) return ok;
  auto& table = add_figure_table(context.report, "clients", {"client", "quota MiB"}, kFigures);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const auto& within = clients[i]->last();
    const Bytes limit = clients[i]->quota().limit();
    if (within.most > limit) {
      return fail(ErrorCode::kWrongData, clients[i]->name() + " has more than its quota");
    }
    report_figures(context, "share_oversubscribe." + clients[i]->name() + ".", kFigures,
                   {with_room[i], within}, &table,
                   {clients[i]->name(), std::to_string(limit / 1_MiB)});
  }
  return {};
}

Status run(Context& context) {
  const auto pages = context.parameters.integer("pages");
  const auto& quotas = context.parameters.integers("quotas");
  if (auto ok = require_host_memory(fmt::format("pages={}", pages),
                                    2 * pages * kPageSize * quotas.size());
      !ok) {
    return ok;
  }
  auto device = open_card(context);
  if (!device) return forward_error(device);
  Clients clients;
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    auto client = Client::open(context, **device, fmt::format("c{}", i),
                               pages * quotas[i] / 100 * kPageSize, pages);
    if (!client) return forward_error(client);
    clients.push_back(std::move(*client));
  }
  if (auto ok = measure(context, clients); !ok) return ok;
  for (auto& client : clients) {
    if (auto ok = client->close(); !ok) return ok;
  }
  context.report.add_note(
      "slowdown: against the same touches of both without quotas; evictions: pages of the client's "
      "own that had to leave for its quota. Every byte compared");
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::share_oversubscribe

Workload share_oversubscribe() {
  return with_latencies(
      {"share_oversubscribe",
       "Clients whose managed memory is larger than their quotas: what each pays",
       {list_by_place({"quotas", ParameterType::kIntegerList, "%", "50,100",
                       "of each client's pages", 5, 1000}),
        {"pages", ParameterType::kInteger, "", "24", "of 2 MiB, of each client", 1, 4096},
        {"passes", ParameterType::kInteger, "", "2", "over them", 1, 1000},
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::share_oversubscribe::run,
       figure_rows(programs::share_oversubscribe::kFigures)});
}

}  // namespace npu::workloads
