// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/profile_sections.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "workloads/simulator/kernel_time.hpp"
#include "workloads/simulator/kernel_use_report.hpp"

namespace npu::workloads {
namespace {

// The memory that the driver "driver0" of a card hands out.
timeline::Profile::Memory memory_of(const std::string& track, const model::SystemConfig& config) {
  constexpr std::size_t kPrefix = 6;  // "driver"
  std::size_t card = 0;
  const char* const end = track.data() + track.size();
  if (track.size() <= kPrefix ||
      std::from_chars(track.data() + kPrefix, end, card).ec != std::errc() ||
      card >= config.cards.size()) {
    return {track, 0};
  }
  return {"card" + std::to_string(card) + ".hbm", config.cards[card].hbm.usable};
}

}  // namespace

void add_profile(reports::Report& report, timeline::Profile& profile,
                 const timeline::Profile::TrackName& name, const TrackCapacities& capacities,
                 const model::SystemConfig& config) {
  const auto capacity = [&](const std::string& track) { return capacities.of(track); };
  const auto memory = [&](const std::string& track) { return memory_of(track, config); };
  for (auto& [section, json] :
       profile.sections(Instant(report.simulated), {name, capacity, memory})) {
    report.add_section({section, std::move(json)});
  }
  // A workload that measured launches has said what bounded them.
  if (has_kernel_use(report)) return;
  add_kernel_limits(report, "kernels", profile.kernels());
  add_kernel_use(report, "kernels", profile.kernel_use(), config, capacities);
}

}  // namespace npu::workloads
