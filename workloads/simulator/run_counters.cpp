// SPDX-License-Identifier: Apache-2.0
// What the models count of a whole run, each counter a row: its name behind its part's, where it is
// read, its unit. docs/reports.md says what it means.
#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "model/aicore/hazards/hazard_text.hpp"
#include "npu/abi/layout.hpp"
#include "workloads/simulator/system_view.hpp"

namespace npu::workloads {
namespace {

using model::AicpuStatistics, model::CommandStatistics, model::DmaEngineStatistics;
using model::HostStatistics, model::System;
using Count = std::optional<std::uint64_t>;

enum class As { kCount, kBytes, kEach };  // kEach: told for each submission, too

template <class Part>
struct Row {
  const char* name;
  Count (*read)(Part&);  // nothing: it is not counted in this run
  As as = As::kCount;
};

struct Card {
  System& system;
  model::Chip& chip;
};

// A member of the part, or what a member function returns; with several, a member of that.
template <auto kMember, auto... kMembers, class Part>
Count of(Part&& part) {
  if constexpr (sizeof...(kMembers) == 0) {
    return std::invoke(kMember, part);
  } else {
    return of<kMembers...>(std::invoke(kMember, part));
  }
}
template <auto kMember>
Count host(System& system) {
  return system.host().statistics().*kMember;
}
template <auto kMember, unsigned kBar>
Count bar(System& system) {
  return (system.host().statistics().*kMember)[kBar];
}
template <auto kMember>
Count dma(Card& card) {
  return card.chip.dma().statistics().*kMember;
}
template <auto kMember>
Count queues(Card& card) {
  return card.chip.command().statistics().*kMember;
}
template <auto kMember>
Count aicpus(Card& card) {
  return card.chip.aicpu_programs().statistics().*kMember;
}

Count submissions(System& system) {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < system.cards(); ++i) {
    sum += system.card(i).dma().statistics().ring_entries;
    sum += system.card(i).command().statistics().entries;
  }
  return sum;
}

Count driver_instructions(System& system) {
  const auto& executed = system.cpus().executed();
  return executed.is_known() ? Count(executed.all()) : std::nullopt;
}

Count overtaken(System& system) {
  const auto* const stores = system.host().overtaken();
  return stores != nullptr ? Count(stores->count()) : std::nullopt;
}

template <auto kMember>
Count iotlb(System& system) {
  std::uint64_t sum = 0;
  for (const auto& walker : system.host_memory().walkers()) sum += (walker.*kMember)();
  return sum;
}

Count host_memory(System& system) {
  const auto& memory = system.host_memory().memory();
  std::uint64_t sum = 0;
  for (unsigned node = 0; node < memory.nodes(); ++node) {
    sum += memory.bus(static_cast<int>(node)).moved();
  }
  return sum;
}

template <class Of>
std::uint64_t sum_of_cores(Card& card, Of of) {
  const auto& programs = card.chip.aicore_programs();
  std::uint64_t sum = 0;
  for (unsigned core = 0; core < programs.cores(); ++core) sum += of(programs.statistics(core));
  return sum;
}

Count hazards_of(Card& card) {
  const auto& programs = card.chip.aicore_programs();
  if (!programs.looks_for_hazards()) return std::nullopt;
  return programs.hazards().all().size();
}

Count pipe_instructions(Card& card) {
  return sum_of_cores(card, [](const auto& core) {
    return std::accumulate(core.instructions.begin(), core.instructions.end(), std::uint64_t{0});
  });
}

bool counts_programs(System& system) {
  return !system.simulation().counted_programs.empty();
}

Count scalar_instructions(Card& card) {
  if (!counts_programs(card.system)) return std::nullopt;
  return sum_of_cores(card, [](const auto& core) { return core.executed; });
}

Count aicpu_instructions(Card& card) {
  return counts_programs(card.system) ? aicpus<&AicpuStatistics::instructions>(card) : std::nullopt;
}

constexpr Row<System> kHost[] = {
    {"submissions", submissions},
    {"instructions", driver_instructions, As::kEach},
    {"mmio_reads", host<&HostStatistics::mmio_reads>, As::kEach},
    {"mmio_writes", host<&HostStatistics::mmio_writes>, As::kEach},
    {"mmio_reads_bar0", bar<&HostStatistics::bar_reads, abi::kRegisterBar>},
    {"mmio_writes_bar0", bar<&HostStatistics::bar_writes, abi::kRegisterBar>},
    {"mmio_reads_bar2", bar<&HostStatistics::bar_reads, abi::kMemoryBar>},
    {"mmio_writes_bar2", bar<&HostStatistics::bar_writes, abi::kMemoryBar>},
    {"combining_stores", host<&HostStatistics::combining_stores>, As::kEach},
    {"config_reads", host<&HostStatistics::config_reads>, As::kEach},
    {"config_writes", host<&HostStatistics::config_writes>, As::kEach},
    {"write_barriers", host<&HostStatistics::write_barriers>, As::kEach},
    {"read_barriers", host<&HostStatistics::read_barriers>, As::kEach},
    {"stores_overtaken", overtaken},
    {"interrupts", of<&System::interrupts, &model::Interrupts::taken>, As::kEach},
    {"polls", host<&HostStatistics::polls>, As::kEach},
    {"poll_calls", host<&HostStatistics::poll_calls>, As::kEach},
    {"context_switches", of<&System::cpus, &model::HostCpus::context_switches>, As::kEach},
    {"iotlb_hits", iotlb<&model::IommuWalker::hits>},
    {"iotlb_misses", iotlb<&model::IommuWalker::misses>},
    {"memory_bytes", host_memory}};

constexpr Row<Card> kCard[] = {{"dma.ring_entries", dma<&DmaEngineStatistics::ring_entries>},
                               {"dma.commands", dma<&DmaEngineStatistics::commands>},
                               {"dma.faults", dma<&DmaEngineStatistics::faults>},
                               {"queues.entries", queues<&CommandStatistics::entries>},
                               {"queues.faults", queues<&CommandStatistics::faults>},
                               {"cores.blocks", queues<&CommandStatistics::blocks>},
                               {"cores.instructions", pipe_instructions},
                               {"cores.scalar_instructions", scalar_instructions},
                               {"cores.hazards", hazards_of},
                               {"aicpus.instructions", aicpu_instructions},
                               {"aicpus.loads", aicpus<&AicpuStatistics::loads>},
                               {"aicpus.stores", aicpus<&AicpuStatistics::stores>}};

constexpr Row<MmuCounters> kMmu[] = {{"tlb_hits", of<&MmuCounters::hits>},
                                     {"tlb_misses", of<&MmuCounters::misses>},
                                     {"page_walks", of<&MmuCounters::walks>}};

constexpr Row<L2Counters> kL2[] = {{"bytes_read", of<&L2Counters::read>, As::kBytes},
                                   {"bytes_written", of<&L2Counters::written>, As::kBytes},
                                   {"hits", of<&L2Counters::hits>},
                                   {"misses", of<&L2Counters::misses>},
                                   {"write_backs", of<&L2Counters::write_backs>}};

constexpr Row<MemoryCounters> kMemory[] = {
    {"bytes_read", of<&MemoryCounters::read>, As::kBytes},
    {"bytes_written", of<&MemoryCounters::written>, As::kBytes},
    {"bursts_read", of<&MemoryCounters::bursts_read>},
    {"bursts_written", of<&MemoryCounters::bursts_written>},
    {"row_hits", of<&MemoryCounters::row_hits>},
    {"row_misses", of<&MemoryCounters::row_misses>},
    {"refreshes", of<&MemoryCounters::refreshes>}};

constexpr Row<LinkCounters> kLink[] = {{"bytes", of<&LinkCounters::payload>, As::kBytes},
                                       {"tlps", of<&LinkCounters::tlps>}};

constexpr Row<PeerLinkCounters> kPeerLink[] = {
    {"bytes", of<&PeerLinkCounters::payload>, As::kBytes},
    {"messages", of<&PeerLinkCounters::messages>}};

std::optional<std::uint64_t> busy_ns(PeerLinkCounters& link) {
  return static_cast<std::uint64_t>(link.busy.count()) / 1000;
}

// Of links that have a switch or NIC at an end, beside the above.
constexpr Row<PeerLinkCounters> kSwitchedLink[] = {
    {"busy_ns", busy_ns}, {"queue_peak_bytes", of<&PeerLinkCounters::queue_peak>, As::kBytes}};

constexpr Row<System> kSimulator[] = {
    {"events", of<&System::simulation, &model::Simulation::agenda, &model::Agenda::served>}};

template <class Part, std::size_t kRows>
void read(std::vector<RunCounter>& all, const std::string& name, const Row<Part> (&rows)[kRows],
          Part& part) {
  for (const auto& row : rows) {
    all.push_back({name + "." + row.name, row.read(part), row.as == As::kBytes ? "B" : "",
                   row.as == As::kEach});
  }
}

// Of parts that say what they are called.
template <class Part, std::size_t kRows>
void read(std::vector<RunCounter>& all, const Row<Part> (&rows)[kRows], std::vector<Part> parts) {
  for (auto& part : parts) read(all, part.name, rows, part);
}

}  // namespace

std::vector<RunCounter> SystemView::counters() const {
  std::vector<RunCounter> all;
  read(all, "host", kHost, system_);
  for (unsigned i = 0; i < system_.cards(); ++i) {
    Card card{system_, system_.card(i)};
    read(all, fmt::format("card{}", i), kCard, card);
  }
  read(all, kMmu, mmus());
  read(all, kL2, l2s());
  read(all, kMemory, memories());
  read(all, kLink, links());
  for (auto& link : peer_links()) {
    read(all, link.name, kPeerLink, link);
    if (link.switched) read(all, link.name, kSwitchedLink, link);
  }
  read(all, "simulator", kSimulator, system_);
  return all;
}

std::vector<std::string> SystemView::overtaken_stores() const {
  const auto* const stores = system_.host().overtaken();
  return stores != nullptr ? stores->told() : std::vector<std::string>{};
}

std::vector<std::string> SystemView::hazards() const {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    auto& cores = system_.card(i).aicore_programs();
    cores.tell_stuck();
    const auto& hazards = cores.hazards().all();
    model::HazardText text(cores.hazards(), cores.loader());
    lines.reserve(lines.size() + hazards.size());
    for (const auto& hazard : hazards) {
      lines.push_back(fmt::format("card{}: {}", i, text.of(hazard)));
    }
  }
  return lines;
}

}  // namespace npu::workloads
