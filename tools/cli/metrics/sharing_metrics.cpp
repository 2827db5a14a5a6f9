// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/metrics/sharing_metrics.hpp"

#include <array>

namespace npu::cli {
namespace {

double seconds(Picoseconds time) {
  return static_cast<double>(time.count()) / 1e12;
}

double ratio_of(unsigned ppm) {
  return ppm / 1e6;
}

constexpr std::array<const char*, driver::kTimeSliceMessageKinds> kMessages = {
    "request", "grant", "taken", "drop", "release"};

// Adds samples of these labels: name behind `prefix`, help, value.
auto samples(MetricFamilies& families, const char* prefix, const Labels& labels) {
  return [&families, prefix, labels](const char* name, const char* help, auto value) {
    families.add(std::string(prefix) + name, help, labels, static_cast<double>(value));
  };
}

template <class Add>
void add_memory(const Add& add, const exec::ClientSnapshot& client) {
  const auto& memory = client.memory;
  add("allocated_bytes", "device memory of all cards that the client has allocated",
      memory.allocated);
  if (client.features.resident_bytes) {
    add("resident_managed_bytes", "its managed pages that are on cards", memory.managed);
  }
  add("memory_refused_total", "allocations that its quota has refused", memory.refused);
  if (client.features.fault_counter) {
    add("page_faults_total", "managed pages that were brought because the card touched them",
        client.page_faults);
    add("page_fault_errors_total", "accesses of the card that nobody could serve",
        client.fault_errors);
    add("page_fault_warnings_total", "that these were too many", client.fault_warnings);
  }
  add("modules", "programs of kernels in the card's memory", client.modules.count);
  add("module_bytes", "of that memory", client.modules.bytes);
  if (memory.limit == driver::MemoryQuota::kUnlimited) return;
  add("memory_quota_bytes", "that it may have", memory.limit);
  add("memory_quota_exceeded", "1: it has more than its quota, which was lowered",
      memory.used() > memory.limit ? 1 : 0);
}

template <class Add>
void add_turn(const Add& add, const driver::TimeSliceClientStatistics& turn) {
  add("core_quota_config_ratio", "share of the cores' time as it was said",
      turn.quota.percent / 100.0);
  add("core_quota_effective_ratio", "after scaling and by the token", ratio_of(turn.effective_ppm));
  add("core_token_ratio", "hard cap", double{1.0} * turn.quota.token / driver::kWholeToken);
  add("core_window_usage_seconds", "billed in the present window", seconds(turn.used));
  add("core_window_limit_seconds", "of the window's share", seconds(turn.limit));
  add("quota_debt_seconds", "had too much, and not given back", seconds(turn.debt));
  add("launch_window", "launches that may be in flight: more while they are in time (AIMD)",
      turn.launch_window);
  add("launches_under_way", "of the window", turn.launches_in_flight);
  add("launches_total", "of kernels", turn.launches);
  add("throttled", "1: it waits, and has had its share of the window", turn.throttled ? 1 : 0);
  add("running", "1: it has the turn", turn.running ? 1 : 0);
  add("core_busy_seconds_total", "that its address space has had AI Cores", seconds(turn.busy));
  add("turns_total", "that it was granted", turn.time_slices);
  add("turns_reclaimed_total", "taken from it without an answer", turn.reclaimed);
}

void add_scheduler(MetricFamilies& families, std::uint32_t device,
                   const driver::TimeSliceSchedulerStatistics& now) {
  const Labels labels = {{"device", std::to_string(device)}};
  const auto add = samples(families, "npusim_scheduler_", labels);
  add("clients", "that share the card's cores in time", now.clients);
  add("running_clients", "that may use the cores now", now.running);
  add("waiting_clients", "that want a turn", now.waiting);
  add("update_latency_seconds", "from the last change of a share until it held",
      seconds(now.update_latency));
  for (std::size_t kind = 0; kind < kMessages.size(); ++kind) {
    families.add("npusim_scheduler_messages_total", "between scheduler and agents",
                 {labels[0], {"kind", kMessages[kind]}}, static_cast<double>(now.messages[kind]));
  }
  add("windows_total", "that have passed", now.windows);
  add("messages_resent_total", "that were not answered in time", now.resent);
  add("stale_total", "messages of turns that were over", now.stale);
  add("reclaimed_total", "turns taken back without an answer", now.reclaimed);
  add("client_disconnect_total", "clients that have left", now.left);
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
    const auto add = samples(families, "npusim_device_", labels);
    if (const auto memory = card.memory_use()) {
      add("memory_total_bytes", "HBM that can be allocated", memory->total);
      add("memory_used_bytes", "of it, in use", memory->used);
      add("memory_free_bytes", "of it, free",
          memory->total - std::min(memory->total, memory->used));
    }
    if (const auto use = card.core_use(driver::CoreKind::kAll)) {
      add("utilization_ratio", "AI Cores with a block of a kernel since the last look",
          *use / 100.0);
    }
    if (const auto time = card.time()) {
      families.add(kDeviceSeconds, kDeviceSecondsHelp, labels, seconds(*time));
    }
  }
}

void add_sharing(MetricFamilies& families, const exec::ServerSnapshot& now) {
  for (const auto& client : now.clients) {
    const auto add =
        samples(families, "npusim_client_",
                {{"client", client.program}, {"device", std::to_string(client.device)}});
    add_memory(add, client);
    if (client.in_turns) add_turn(add, client.turn);
  }
  for (const auto& [device, scheduler] : now.schedulers) add_scheduler(families, device, scheduler);
}

}  // namespace npu::cli
