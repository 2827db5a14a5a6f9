// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/system_view.hpp"

#include <fmt/format.h>

#include "model/config/link_rate.hpp"

namespace npu::workloads {
namespace {

LinkCounters counters_of(std::string name, std::uint64_t rate, const model::LinkStatistics& link) {
  LinkCounters counters;
  counters.name = std::move(name);
  counters.raw_bytes_per_second = rate;
  counters.busy = Picoseconds(static_cast<std::int64_t>(link.busy));
  counters.tlps = link.tlps;
  counters.payload = link.payload_bytes;
  counters.header = link.header_bytes;
  counters.dllp = link.dllp_bytes;
  counters.credit_stall = Picoseconds(static_cast<std::int64_t>(link.credit_stall));
  return counters;
}

}  // namespace

Picoseconds SystemView::simulated_time() const {
  return Picoseconds(static_cast<std::int64_t>(model::sim_now()));
}

std::vector<LinkCounters> SystemView::links() const {
  std::vector<LinkCounters> all;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    const auto& link = system_.fabric().link(i);
    const auto rate = model::link_bytes_per_second(link.config());
    all.push_back(
        counters_of(fmt::format("card{}.link.down", i), rate, link.downstream_statistics()));
    all.back().track = std::string(link.name()) + ".down";
    all.push_back(counters_of(fmt::format("card{}.link.up", i), rate, link.upstream_statistics()));
    all.back().track = std::string(link.name()) + ".up";
  }
  return all;
}

std::vector<MemoryCounters> SystemView::memories() const {
  std::vector<MemoryCounters> all;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    const auto& config = system_.config().cards[i].hbm;
    const auto now = system_.card(i).hbm().statistics();
    MemoryCounters counters;
    counters.name = fmt::format("card{}.hbm", i);
    counters.peak_bytes_per_second = model::hbm_bytes_per_second(config);
    counters.read = now.bursts_read * config.timings.burst;
    counters.written = now.bursts_written * config.timings.burst;
    counters.bursts_read = now.bursts_read;
    counters.bursts_written = now.bursts_written;
    counters.row_hits = now.row_hits;
    counters.row_misses = now.row_misses;
    counters.refreshes = now.refreshes;
    counters.data = now.data;
    counters.refresh = now.refresh;
    counters.turnaround = now.turnaround;
    counters.row = now.row;
    counters.column = now.column;
    counters.idle = now.idle;
    all.push_back(counters);
  }
  return all;
}

std::vector<MmuCounters> SystemView::mmus() const {
  std::vector<MmuCounters> all;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    const auto& now = system_.card(i).mmu().statistics();
    all.push_back(
        {fmt::format("card{}.mmu", i), now.hits, now.misses, now.walks, now.entries_read});
  }
  return all;
}

std::vector<L2Counters> SystemView::l2s() const {
  std::vector<L2Counters> all;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    const auto& config = system_.config().cards[i].l2;
    if (config.size == 0) continue;
    const auto& now = system_.card(i).l2().statistics();
    L2Counters counters;
    counters.name = fmt::format("card{}.l2", i);
    counters.slices = config.slices;
    counters.peak_bytes_per_second = config.slices * config.slice_per_clock * config.clock_hz;
    counters.read = now.bytes_read;
    counters.written = now.bytes_written;
    counters.hits = now.read_hits + now.read_merged + now.write_hits;
    counters.misses = now.read_misses + now.write_misses;
    counters.write_backs = now.write_backs;
    counters.fetched = now.fetches * config.line;
    counters.written_back = now.write_backs * config.line;
    counters.snooped = now.snooped;
    counters.busy = now.busy;
    counters.queued = now.queued;
    counters.blocked = now.blocked;
    all.push_back(counters);
  }
  return all;
}

std::vector<PeerLinkCounters> SystemView::peer_links() const {
  std::vector<PeerLinkCounters> all;
  const auto& fabric = system_.hccs();
  const auto& plan = fabric.plan();
  for (std::size_t i = 0; i < plan.links.size(); ++i) {
    const auto& link = plan.links[i];
    const bool switched = plan.nodes[link.low].passes() || plan.nodes[link.high].passes();
    for (const unsigned side : {0U, 1U}) {
      const auto& now = fabric.wire(i, side).statistics();
      all.push_back({link.name + (side == 0 ? ".up" : ".down"), fabric.wire(i, side).rate(),
                     Picoseconds(static_cast<std::int64_t>(now.busy)), now.messages,
                     now.payload_bytes, now.wire_bytes, now.queue_peak, switched});
    }
  }
  return all;
}

std::vector<AicpuPhase> SystemView::aicpu_phases(std::size_t card) const {
  // Those of the scheduler, which come first.
  static constexpr std::array<const char*, 7> kNames{"idle",     "handshake", "wiring", "dispatch",
                                                     "complete", "drain",     "dump"};
  const auto aicpus = system_.card(static_cast<unsigned>(card)).aicpu_programs().statistics();
  const bool counted = !system_.simulation().counted_programs.empty();
  std::vector<AicpuPhase> all;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto& work = aicpus.phases[i];
    all.push_back({kNames[i], counted ? std::optional(work.instructions) : std::nullopt, work.loads,
                   work.misses, work.stores + work.atomics,
                   work.register_loads + work.register_stores});
  }
  return all;
}

std::vector<FunctionWaits> SystemView::function_waits() const {
  std::vector<FunctionWaits> all;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    const auto& config = system_.config().cards[i];
    const auto& bandwidth = system_.card(i).dma().bandwidth();
    const auto waited = [&bandwidth](model::SharedResource resource, unsigned function) {
      return Picoseconds(static_cast<std::int64_t>(bandwidth.waited(resource, function)));
    };
    for (unsigned f = 0; f < config.functions(); ++f) {
      FunctionWaits waits;
      waits.name = f < config.physical_functions()
                       ? fmt::format("card{}", i)
                       : fmt::format("card{}.vf{}", i, f - config.physical_functions());
      waits.link_to_card = waited(model::SharedResource::kLinkToCard, f);
      waits.link_to_host = waited(model::SharedResource::kLinkToHost, f);
      waits.hbm = waited(model::SharedResource::kHbm, f);
      all.push_back(waits);
    }
  }
  return all;
}

std::string SystemView::track_name(std::uint32_t track) const {
  const auto& names = system_.simulation().recorder.track_names();
  return track < names.size() ? names[track] : std::string();
}

// A card, what its driver does, and its end of the bus and its link.
std::map<std::string, std::string> SystemView::bus_addresses() const {
  std::map<std::string, std::string> all;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    const auto address =
        platform::to_string(platform::Bdf::unpack(system_.fabric().endpoint(i).requester()));
    all[fmt::format("card{}", i)] = address;
    all[fmt::format("driver{}", i)] = address;
    all[system_.fabric().endpoint(i).name()] = address;
    all[system_.fabric().link(i).name()] = address;
  }
  return all;
}

}  // namespace npu::workloads
