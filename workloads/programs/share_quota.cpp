// SPDX-License-Identifier: Apache-2.0
// Clients with memory quotas, which take memory in every way there is until they are refused: what
// is on the card by managed memory gives way to what cannot leave, and comes back as far as there
// is room. Then limits are lowered and raised.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {
namespace programs::share_quota {
namespace {

using driver::kPageSize;

constexpr Figure<driver::QuotaUse> kFigures[] = {
    {"quota_bytes", "B", from<&driver::QuotaUse::limit>},
    {"allocated_bytes", "B", from<&driver::QuotaUse::allocated>},
    {"managed_bytes", "B", from<&driver::QuotaUse::managed>},
    {"refused", "", from<&driver::QuotaUse::refused>}};

struct Client {
  std::string name;
  std::shared_ptr<driver::MemoryQuota> quota;
  std::unique_ptr<QueueSession> session;
  std::unique_ptr<driver::ManagedMemory> managed;
  std::unique_ptr<driver::Queue> queue;
  driver::DeviceAddress pages;
  std::vector<driver::DeviceMemory> plain;
  std::vector<driver::MemoryHandle> physical;

  driver::AddressSpace& space() { return session->process().space(); }
};

Status wrong(const Client& client, std::string what) {
  return fail(ErrorCode::kWrongData, fmt::format("{}: {}", client.name, what));
}

class Quotas {
 public:
  Quotas(Context& context, driver::Device& device)
      : context_(context),
        device_(device),
        block_(context.parameters.size("block")),
        managed_pages_(context.parameters.integer("managed_pages")) {}

  Status run() {
    const auto& quotas = context_.parameters.sizes("quotas");
    if (auto ok = check(quotas); !ok) return ok;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      if (auto ok = open(i, quotas[i]); !ok) return ok;
    }
    for (auto& client : clients_) {
      if (auto ok = fill(*client); !ok) return ok;
      if (auto ok = bring_back(*client); !ok) return ok;
      report(*client);
    }
    for (auto& client : clients_) {
      if (auto ok = change(*client); !ok) return ok;
    }
    for (auto& client : clients_) {
      if (auto ok = close(*client); !ok) return ok;
    }
    return {};
  }

 private:
  // The quotas are what refuses, not the card: all of them fit on it, and each has room for a
  // block.
  Status check(const std::vector<Bytes>& quotas) const {
    const auto mib = [](Bytes size) { return fmt::format("{} MiB", size >> 20); };
    const auto refuse = [](std::string what) {
      return fail(ErrorCode::kInvalidArgument, std::move(what));
    };
    if (block_ % kPageSize != 0) {
      return refuse(fmt::format("block={}: no whole pages of 2 MiB", block_));
    }
    const Bytes left = device_.memory_statistics().free;
    Bytes all = block_;  // that is asked for when a quota was raised
    for (const Bytes quota : quotas) {
      if (block_ > quota) {
        return refuse(
            fmt::format("block={} is more than the quota of {}", mib(block_), mib(quota)));
      }
      all += std::min(quota, left);
      if (all <= left) continue;
      return refuse(fmt::format("the quotas and one block are more than the {} that the card has",
                                mib(left)));
    }
    return {};
  }

  Status open(std::size_t number, Bytes quota) {
    auto client = std::make_unique<Client>();
    client->name = fmt::format("c{}", number);
    client->quota = std::make_shared<driver::MemoryQuota>(quota);
    driver::ProcessOptions options;
    options.quota = client->quota;
    auto session = QueueSession::open(context_, device_, options);
    if (!session) return forward_error(session);
    client->session = std::move(*session);
    if (managed_pages_ != 0) {
      if (auto ok = open_pages(*client); !ok) return ok;
    }
    clients_.push_back(std::move(client));
    return {};
  }

  Status open_pages(Client& client) {
    auto managed = open_managed(context_, device_, client.space());
    if (!managed) return forward_error(managed);
    client.managed = std::move(*managed);
    auto queue = client.session->create_queue();
    if (!queue) return forward_error(queue);
    client.queue = std::move(*queue);
    const auto at = client.managed->allocate(managed_pages_ * kPageSize);
    if (!at) return forward_error(at);
    client.pages = *at;
    return touch_pages(client);
  }

  // Whatever the quota has left beside allocations is theirs: as many as it has room for are there,
  // unless they are used in place.
  Status touch_pages(Client& client) {
    for (std::uint64_t i = 0; i < managed_pages_; ++i) {
      auto ticket = client.queue->submit(driver::entries::fill(client.pages + i * kPageSize, 64, 1),
                                         deadline_of(context_));
      if (!ticket) return forward_error(ticket);
      auto ok = client.queue->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline_of(context_));
      if (!ok) return ok;
    }
    const auto use = client.quota->use();
    const bool in_place = client.managed->policy() == driver::FaultPolicy::kAts;
    const Bytes wanted = in_place ? 0 : std::min(managed_pages_, room_for_pages(use)) * kPageSize;
    if (use.managed != wanted) {
      return wrong(client,
                   fmt::format("{} bytes of managed pages, {} have room", use.managed, wanted));
    }
    return check(client);
  }

  static std::uint64_t room_for_pages(const driver::QuotaUse& use) {
    return use.allocated < use.limit ? (use.limit - use.allocated) / kPageSize : 0;
  }

  // What is said of the memory is what there is of the quota.
  Status check(Client& client) {
    const auto seen = client.space().memory_statistics();
    const auto use = client.quota->use();
    const Bytes left = use.used() < use.limit ? use.limit - use.used() : 0;
    if (seen.total > use.limit || seen.free > left || seen.largest_free_block > left) {
      return wrong(client, fmt::format("{} of {} said to be free, {} of {} are", seen.free,
                                       seen.total, left, use.limit));
    }
    return {};
  }

  // By turns in both ways, until neither goes, whatever managed pages leave.
  Status fill(Client& client) {
    for (bool plain = true;; plain = !plain) {
      const Bytes before = client.quota->use().used();
      Status got;
      if (plain) {
        auto memory = client.space().allocate(block_);
        if (memory) client.plain.push_back(*memory);
        got = memory ? Status() : forward_error(memory);
      } else {
        auto memory = client.space().create_memory(block_);
        if (memory) client.physical.push_back(*memory);
        got = memory ? Status() : forward_error(memory);
      }
      if (auto ok = check(client); !ok) return ok;
      if (got) continue;
      if (got.error().code != ErrorCode::kOutOfMemory) return got;
      const auto use = client.quota->use();
      if (use.refused == 0)
        return wrong(client, "refused for another reason: " + got.error().context);
      if (use.allocated + block_ <= use.limit) return wrong(client, "refused within the quota");
      if (use.used() != before) return wrong(client, "pages left for what was refused");
      return {};
    }
  }

  // Room for half of the managed pages at least, and all of them are touched.
  Status bring_back(Client& client) {
    if (managed_pages_ == 0) return {};
    while (!client.plain.empty() && 2 * room_for_pages(client.quota->use()) < managed_pages_) {
      if (auto ok = client.space().free(client.plain.back().address); !ok) return ok;
      client.plain.pop_back();
    }
    return touch_pages(client);
  }

  void report(Client& client) {
    report_figures(context_, "share_quota." + client.name + ".", kFigures, client.quota->use());
  }

  // Half of it: what is there stays, and nothing comes until allocations are below; twice as much:
  // it does.
  Status change(Client& client) {
    const Bytes whole = client.quota->limit();
    const Bytes before = client.quota->use().used();
    client.quota->set_limit(whole / 2);
    if (client.quota->use().used() != before) return wrong(client, "memory was revoked");
    while (!client.plain.empty() && client.quota->use().allocated + block_ > whole / 2) {
      if (client.space().allocate(block_)) return wrong(client, "memory beyond the lowered quota");
      if (auto ok = check(client); !ok) return ok;
      if (auto ok = client.space().free(client.plain.back().address); !ok) return ok;
      client.plain.pop_back();
    }
    client.quota->set_limit(2 * whole);
    auto memory = client.space().allocate(block_);
    if (!memory) return wrong(client, "no memory of a raised quota: " + memory.error().context);
    client.plain.push_back(*memory);
    return check(client);
  }

  Status close(Client& client) {
    for (const auto& memory : client.plain) {
      if (auto ok = client.space().free(memory.address); !ok) return ok;
    }
    for (const auto memory : client.physical) {
      if (auto ok = client.space().release_memory(memory); !ok) return ok;
    }
    client.queue.reset();
    if (client.managed) {
      if (auto ok = client.managed->close(); !ok) return ok;
      client.managed.reset();
    }
    if (auto ok = client.session->close(); !ok) return ok;
    const auto use = client.quota->use();
    return use.used() == 0 ? Status() : wrong(client, fmt::format("{} bytes stay", use.used()));
  }

  Context& context_;
  driver::Device& device_;
  const Bytes block_;
  const std::uint64_t managed_pages_;
  std::vector<std::unique_ptr<Client>> clients_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  if (auto ok = Quotas(context, **device).run(); !ok) return ok;
  context.report.add_note(
      "allocated_bytes: blocks, by allocations, handles and what the process has on the card "
      "itself; refused: calls over the quota, without touching the card. At each step what is said "
      "of free and total memory was compared with the quota. Managed pages gave way to the blocks; "
      "some blocks were given back, and the pages came where there was room: these are the numbers "
      "here. Then the quota was halved and doubled");
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::share_quota

Workload share_quota() {
  return with_latencies(
      {"share_quota",
       "Clients with memory quotas: what they get in every way, and what they are told",
       {list_by_place(
            {"quotas", ParameterType::kSizeList, "B", "64MiB,256MiB", "of the clients", 16 << 20}),
        {"block", ParameterType::kSize, "B", "4MiB",
         "that is taken at a time, whole pages of 2 MiB", 2 << 20},
        {"managed_pages", ParameterType::kInteger, "", "4",
         "of 2 MiB that each client's copies touch; 0: no managed memory", 0, 1'024},
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::share_quota::run,
       figure_rows(programs::share_quota::kFigures)});
}

}  // namespace npu::workloads
