// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/threads.hpp"

#include <array>
#include <charconv>

namespace npu::timeline {
namespace {

// By category; empty: part of the host.
constexpr std::array<std::string_view, static_cast<std::size_t>(platform::Category::kCount)>
    kTitles{"workload", "driver",   "host CPUs", "PCIe", "DMA engines", "faults", "MMU",
            "queues",   "AI Cores", "AICPUs",    "L2",   "HBM",         "HCCS"};

bool is_card(const std::string& name) {
  return name.rfind("card", 0) == 0;
}
bool is_peer_link(const std::string& name) {
  return name.rfind("hccs", 0) == 0 || name.rfind("fabric_", 0) == 0;
}

}  // namespace

std::string Threads::machine_of(const std::string& track) {
  return track.substr(0, track.find('.'));
}

std::string Threads::address_behind(const std::string& name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? std::string() : " " + found->second;
}

// The process of a card has the card's name, that of links between cards none of them.
std::string Threads::unit_name(const std::string& track) const {
  const auto dot = track.find('.');
  if (dot == std::string::npos || is_peer_link(track)) return track;
  const std::string name = track.substr(dot + 1);
  if (is_card(track)) return name;
  for (std::size_t end = track.size(); end != std::string::npos; end = track.rfind('.', end - 1)) {
    const auto address = address_behind(track.substr(0, end));
    if (!address.empty()) return name + address;
  }
  return name;
}

std::string Threads::process_title(const std::string& machine, platform::Category category) const {
  const std::string title(kTitles[static_cast<std::size_t>(category)]);
  return is_card(machine) ? machine + address_behind(machine) + " " + title : title;
}

// The host above the cards, a card's parts on the way that a request takes.
unsigned Threads::sort_index(const std::string& machine, platform::Category category) {
  constexpr unsigned kPerCard = 100;
  const auto place = static_cast<unsigned>(category);
  if (!is_card(machine)) return place;
  unsigned card = 0;
  std::from_chars(machine.data() + 4, machine.data() + machine.size(), card);
  return kPerCard * (card + 1) + place;
}

std::string Threads::lane_name(const std::string& unit, std::size_t lane) {
  return lane == 0 ? unit : unit + " (" + std::to_string(lane + 1) + ")";
}

}  // namespace npu::timeline
