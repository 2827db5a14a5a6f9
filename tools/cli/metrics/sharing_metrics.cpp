// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/metrics/sharing_metrics.hpp"

#include <array>

namespace npu::cli {
namespace {

constexpr const char *kGaugeType = "gauge", *kCounterType = "counter";

double seconds(Picoseconds time) {
  return static_cast<double>(time.count()) / 1e12;
}

double ratio_of(unsigned ppm) {
  return ppm / 1e6;
}

constexpr std::array<const char*, driver::kTimeSliceMessageKinds> kMessages = {
    "request", "grant", "taken", "drop", "release"};

class ClientSamples {
 public:
  ClientSamples(MetricFamilies& families, const exec::ClientSnapshot& client)
      : families_(families),
        labels_{{"client", client.program}, {"device", std::to_string(client.device)}} {}
  void gauge(const char* name, const char* help, double value) {
    families_.add(std::string("npusim_client_") + name, kGaugeType, help, labels_, value);
  }
  void counter(const char* name, const char* help, double value) {
    families_.add(std::string("npusim_client_") + name, kCounterType, help, labels_, value);
  }

 private:
  MetricFamilies& families_;
  const Labels labels_;
};

void add_memory(ClientSamples& to, const exec::ClientSnapshot& client) {
  const auto& memory = client.memory;
  to.gauge("allocated_bytes", "device memory of all cards that the client has allocated",
           static_cast<double>(memory.allocated));
  if (client.features.resident_bytes) {
    to.gauge("resident_managed_bytes", "its managed pages that are on cards",
             static_cast<double>(memory.managed));
  }
  to.counter("memory_refused_total", "allocations that its quota has refused",
             static_cast<double>(memory.refused));
  if (client.features.fault_counter) {
    to.counter("page_faults_total", "managed pages that were brought because the card touched them",
               static_cast<double>(client.page_faults));
    to.counter("page_fault_errors_total", "accesses of the card that nobody could serve",
               static_cast<double>(client.fault_errors));
    to.counter("page_fault_warnings_total", "that these were too many",
               static_cast<double>(client.fault_warnings));
  }
  to.gauge("modules", "programs of kernels in the card's memory",
           static_cast<double>(client.modules.count));
  to.gauge("module_bytes", "of that memory", static_cast<double>(client.modules.bytes));
  if (memory.limit == driver::MemoryQuota::kUnlimited) return;
  to.gauge("memory_quota_bytes", "that it may have", static_cast<double>(memory.limit));
  to.gauge("memory_quota_exceeded", "1: it has more than its quota, which was lowered",
           memory.used() > memory.limit ? 1 : 0);
}

void add_turn(ClientSamples& to, const driver::TimeSliceClientStatistics& turn) {
  to.gauge("core_quota_config_ratio", "share of the cores' time as it was said",
           turn.share.percent / 100.0);
  to.gauge("core_quota_effective_ratio", "after scaling and by the token",
           ratio_of(turn.effective_ppm));
  to.gauge("core_token_ratio", "hard cap", double{1.0} * turn.share.token / driver::kWholeToken);
  to.gauge("core_window_usage_seconds", "billed in the present window", seconds(turn.used));
  to.gauge("core_window_limit_seconds", "of the window's share", seconds(turn.limit));
  to.gauge("quota_debt_seconds", "had too much, and not given back", seconds(turn.debt));
  to.gauge("launch_window", "launches that may be in flight: more while they are in time (AIMD)",
           turn.launch_window);
  to.gauge("launches_under_way", "of the window", turn.launches_in_flight);
  to.counter("launches_total", "of kernels", static_cast<double>(turn.launches));
  to.gauge("throttled", "1: it waits, and has had its share of the window", turn.throttled ? 1 : 0);
  to.gauge("running", "1: it has the turn", turn.running ? 1 : 0);
  to.counter("core_busy_seconds_total", "that its address space has had AI Cores",
             seconds(turn.busy));
  to.counter("turns_total", "that it was granted", static_cast<double>(turn.time_slices));
  to.counter("turns_reclaimed_total", "taken from it without an answer",
             static_cast<double>(turn.reclaimed));
}

void add_scheduler(MetricFamilies& families, std::uint32_t device,
                   const driver::TimeSliceSchedulerStatistics& now) {
  const Labels labels = {{"device", std::to_string(device)}};
  const auto gauge = [&](const char* name, const char* help, double value) {
    families.add(std::string("npusim_scheduler_") + name, kGaugeType, help, labels, value);
  };
  const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
    families.add(std::string("npusim_scheduler_") + name, kCounterType, help, labels,
                 static_cast<double>(value));
  };
  gauge("clients", "that share the card's cores in time", now.clients);
  gauge("running_clients", "that may use the cores now", now.running);
  gauge("waiting_clients", "that want a turn", now.waiting);
  gauge("update_latency_seconds", "from the last change of a share until it held",
        seconds(now.update_latency));
  for (std::size_t kind = 0; kind < kMessages.size(); ++kind) {
    families.add("npusim_scheduler_messages_total", kCounterType, "between scheduler and agents",
                 {labels[0], {"kind", kMessages[kind]}}, static_cast<double>(now.messages[kind]));
  }
  counter("windows_total", "that have passed", now.windows);
  counter("messages_resent_total", "that were not answered in time", now.resent);
  counter("stale_total", "messages of turns that were over", now.stale);
  counter("reclaimed_total", "turns taken back without an answer", now.reclaimed);
  counter("client_disconnect_total", "clients that have left", now.left);
}

}  // namespace

CardWatch::CardWatch(std::vector<std::unique_ptr<driver::ManagementAccess>> cards)
    : cards_(std::move(cards)) {
  for (auto& card : cards_) managements_.push_back(std::make_unique<driver::Management>(*card));
}

void CardWatch::add_to(MetricFamilies& families) {
  for (std::size_t i = 0; i < managements_.size(); ++i) {
    auto& card = *managements_[i];
    const Labels labels = {{"device", std::to_string(i)}};
    const auto gauge = [&](const char* name, const char* help, double value) {
      families.add(std::string("npusim_device_") + name, kGaugeType, help, labels, value);
    };
    if (const auto memory = card.memory_use()) {
      gauge("memory_total_bytes", "HBM that can be allocated", static_cast<double>(memory->total));
      gauge("memory_used_bytes", "of it, in use", static_cast<double>(memory->used));
      gauge("memory_free_bytes", "of it, free",
            static_cast<double>(memory->total - std::min(memory->total, memory->used)));
    }
    if (const auto use = card.core_use(driver::CoreKind::kAll)) {
      gauge("utilization_ratio", "AI Cores with a block of a kernel since the last look",
            *use / 100.0);
    }
    if (const auto time = card.time()) {
      families.add("npusim_device_seconds_total", kCounterType,
                   "simulated time since the card's reset", labels, seconds(*time));
    }
  }
}

void add_sharing(MetricFamilies& families, const exec::ServerSnapshot& now) {
  for (const auto& client : now.clients) {
    ClientSamples to(families, client);
    add_memory(to, client);
    if (client.in_turns) add_turn(to, client.turn);
  }
  for (const auto& [device, scheduler] : now.schedulers) add_scheduler(families, device, scheduler);
}

}  // namespace npu::cli
