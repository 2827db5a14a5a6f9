// SPDX-License-Identifier: Apache-2.0
// Processes and threads of a timeline: a process is a part of the machine ("card0 01:00.0 DMA
// engines"), a thread a lane of a unit of it ("dma.engine0").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "npu/platform/trace.hpp"
#include "tools/timeline/lanes.hpp"

namespace npu::timeline {

struct Thread {
  std::uint32_t process = 0;  // from 1
  std::uint32_t number = 0;   // from 1, unique in the whole timeline
};

// Where units are on the PCI bus ("01:00.0"), by what names of their tracks begin with.
using BusAddresses = std::map<std::string, std::string>;

class Threads {
 public:
  void set_bus_addresses(BusAddresses addresses) { addresses_ = std::move(addresses); }

  // A name that has not been told of yet.
  struct News {
    Thread thread;
    std::string process_name;  // empty: it is known
    std::string thread_name;   // empty: it is known
    unsigned sort_index = 0;   // of the process, for processes
  };

  // The thread for an event; `name` is called for the name of its track if that is needed, and
  // `tell` for each process or thread that is new.
  template <class Name, class Tell>
  Thread of(const platform::TraceEvent& event, Name&& name, Tell&& tell) {
    Unit& unit = unit_of(event.track, platform::row_of(event.activity).category, name, tell);
    const std::size_t lane = unit.lanes.take(event.begin, event.end);
    if (lane == unit.numbers.size()) {
      unit.numbers.push_back(++last_thread_);
      tell(News{{unit.process, last_thread_}, {}, lane_name(unit.name, lane), 0});
    }
    return {unit.process, unit.numbers[lane]};
  }

  // The process of a part of a card, for counters.
  template <class Tell>
  std::uint32_t process(const std::string& machine, platform::Category category, Tell&& tell) {
    return process_of(machine, category, tell);
  }

 private:
  static constexpr std::size_t kCategories = static_cast<std::size_t>(platform::Category::kCount);
  struct Unit {
    std::uint32_t process = 0;  // 0: not known yet
    std::string name;
    Lanes lanes;
    std::vector<std::uint32_t> numbers;  // of threads, by lane
  };

  template <class Name, class Tell>
  Unit& unit_of(std::uint32_t track, platform::Category category, Name&& name, Tell&& tell) {
    const std::size_t index = track * kCategories + static_cast<std::size_t>(category);
    if (index >= units_.size()) units_.resize((track + 1) * kCategories);
    Unit& unit = units_[index];
    if (unit.process == 0) {
      const std::string track_name = name(track);
      unit.name = unit_name(track_name);
      unit.process = process_of(machine_of(track_name), category, tell);
    }
    return unit;
  }
  template <class Tell>
  std::uint32_t process_of(const std::string& machine, platform::Category category, Tell&& tell) {
    const std::string title = process_title(machine, category);
    const auto [at, is_new] =
        processes_.emplace(title, static_cast<std::uint32_t>(processes_.size() + 1));
    if (is_new) tell(News{{at->second, 0}, title, {}, sort_index(machine, category)});
    return at->second;
  }

  static std::string machine_of(const std::string& track);  // "card0.dma.engine0" -> "card0"
  std::string unit_name(const std::string& track) const;    // -> "dma.engine0"
  // " 01:00.0", or nothing.
  std::string address_behind(const std::string& name) const;
  std::string process_title(const std::string& machine, platform::Category category) const;
  static unsigned sort_index(const std::string& machine, platform::Category category);
  static std::string lane_name(const std::string& unit, std::size_t lane);

  std::vector<Unit> units_;  // by track and category
  std::map<std::string, std::uint32_t> processes_;
  BusAddresses addresses_;
  std::uint32_t last_thread_ = 0;
};

}  // namespace npu::timeline
