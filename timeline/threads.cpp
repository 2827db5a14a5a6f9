// SPDX-License-Identifier: Apache-2.0
#include "timeline/threads.hpp"

#include <array>
#include <charconv>

namespace npu::timeline {
namespace {

// By category; empty: part of the host.
constexpr std::array<std::string_view, static_cast<std::size_t>(platform::Category::kCount)>
    kTitles{"workload", "driver",   "host CPUs", "PCIe", "DMA engines", "faults", "MMU",
            "queues",   "AI Cores", "AICPUs",    "L2",   "HBM",         "HCCS"};

}  // namespace

std::pair<std::string, std::string> Threads::split(const std::string& track) {
  const auto dot = track.find('.');
  if (dot == std::string::npos) return {track, track};
  return {track.substr(0, dot), track.substr(dot + 1)};
}

std::string Threads::process_title(const std::string& machine, platform::Category category) {
  const auto title = kTitles[static_cast<std::size_t>(category)];
  const bool is_card = machine.rfind("card", 0) == 0;
  return is_card ? machine + " " + std::string(title) : std::string(title);
}

// The host above the cards, a card's parts on the way that a request takes.
unsigned Threads::sort_index(const std::string& machine, platform::Category category) {
  constexpr unsigned kPerCard = 100;
  const auto place = static_cast<unsigned>(category);
  if (machine.rfind("card", 0) != 0) return place;
  unsigned card = 0;
  std::from_chars(machine.data() + 4, machine.data() + machine.size(), card);
  return kPerCard * (card + 1) + place;
}

std::string Threads::lane_name(const std::string& unit, std::size_t lane) {
  return lane == 0 ? unit : unit + " (" + std::to_string(lane + 1) + ")";
}

}  // namespace npu::timeline
