// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/counters.hpp"

#include <fmt/format.h>

namespace npu::workloads {
namespace {

class Writer {
 public:
  Writer(Report& report, std::string prefix) : report_(report), prefix_(std::move(prefix) + ".") {}
  void count(const std::string& name, std::uint64_t value) {
    report_.add_counter(prefix_ + name, Number::count(value));
  }
  void bytes(const std::string& name, Bytes value) {
    report_.add_counter(prefix_ + name, Number::count(value), "B");
  }
  // The count, and its share of each submission if there were any.
  void per_submission(const std::string& name, std::uint64_t value, std::uint64_t submissions) {
    count(name, value);
    if (submissions == 0) return;
    report_.add_counter(prefix_ + name + "_per_submission",
                        Number::quotient(value, submissions, 3));
  }

 private:
  Report& report_;
  std::string prefix_;
};

void add_host(Report& report, const HostCounters& host, std::uint64_t submissions) {
  Writer writer(report, "host");
  writer.count("submissions", submissions);
  const auto each = [&](const std::string& name, std::uint64_t value) {
    writer.per_submission(name, value, submissions);
  };
  if (host.instructions) each("instructions", *host.instructions);
  each("mmio_reads", host.mmio_reads);
  each("mmio_writes", host.mmio_writes);
  for (const auto& bar : host.bars) {
    const std::string name = "_bar" + std::to_string(bar.number);
    writer.count("mmio_reads" + name, bar.reads);
    writer.count("mmio_writes" + name, bar.writes);
  }
  each("combining_stores", host.combining_stores);
  each("config_reads", host.config_reads);
  each("config_writes", host.config_writes);
  each("write_barriers", host.write_barriers);
  each("read_barriers", host.read_barriers);
  if (host.overtaken) writer.count("stores_overtaken", host.overtaken->stores);
  each("interrupts", host.interrupts);
  each("polls", host.polls);
  each("poll_calls", host.poll_calls);
  each("context_switches", host.context_switches);
  writer.count("iotlb_hits", host.iotlb_hits);
  writer.count("iotlb_misses", host.iotlb_misses);
  writer.count("memory_bytes", host.memory_bytes);
}

// A driver without a barrier is named where one looks for what is wrong with a run.
void add_overtaken(Report& report, const HostCounters::Overtaken& overtaken) {
  if (overtaken.stores == 0) return;
  report.add_note(fmt::format("a write barrier is missing: {} stores overtaken, the first of them:",
                              overtaken.stores));
  for (const auto& line : overtaken.told) report.add_note(line);
}

void add_card(Report& report, const CardCounters& card) {
  Writer writer(report, card.name);
  writer.count("dma.ring_entries", card.ring_entries);
  writer.count("dma.commands", card.dma_commands);
  writer.count("dma.faults", card.dma_faults);
  writer.count("queues.entries", card.queue_entries);
  writer.count("queues.faults", card.queue_faults);
  writer.count("cores.blocks", card.blocks);
  writer.count("cores.instructions", card.instructions);
  if (card.executed) {
    writer.count("cores.scalar_instructions", card.executed->cores);
    writer.count("aicpus.instructions", card.executed->aicpus);
  }
  writer.count("aicpus.loads", card.aicpu_loads);
  writer.count("aicpus.stores", card.aicpu_stores);
}

void add_memory(Report& report, const MemoryCounters& memory) {
  Writer writer(report, memory.name);
  writer.bytes("bytes_read", memory.read);
  writer.bytes("bytes_written", memory.written);
  writer.count("bursts_read", memory.bursts_read);
  writer.count("bursts_written", memory.bursts_written);
  writer.count("row_hits", memory.row_hits);
  writer.count("row_misses", memory.row_misses);
  writer.count("refreshes", memory.refreshes);
}

void add_l2(Report& report, const L2Counters& l2) {
  Writer writer(report, l2.name);
  writer.bytes("bytes_read", l2.read);
  writer.bytes("bytes_written", l2.written);
  writer.count("hits", l2.hits);
  writer.count("misses", l2.misses);
  writer.count("write_backs", l2.write_backs);
}

}  // namespace

void add_counters(Report& report, const SimulatorView& simulator) {
  std::uint64_t submissions = 0;
  const auto cards = simulator.cards();
  for (const auto& card : cards) submissions += card.ring_entries + card.queue_entries;
  const auto host = simulator.host();
  add_host(report, host, submissions);
  if (host.overtaken) add_overtaken(report, *host.overtaken);
  for (const auto& card : cards) add_card(report, card);
  for (const auto& mmu : simulator.mmus()) {
    Writer writer(report, mmu.name);
    writer.count("tlb_hits", mmu.hits);
    writer.count("tlb_misses", mmu.misses);
    writer.count("page_walks", mmu.walks);
  }
  for (const auto& l2 : simulator.l2s()) add_l2(report, l2);
  for (const auto& memory : simulator.memories()) add_memory(report, memory);
  for (const auto& link : simulator.links()) {
    Writer writer(report, link.name);
    writer.bytes("bytes", link.payload);
    writer.count("tlps", link.tlps);
  }
  for (const auto& link : simulator.peer_links()) {
    Writer writer(report, link.name);
    writer.bytes("bytes", link.payload);
    writer.count("messages", link.messages);
  }
  report.add_counter("simulator.events", Number::count(simulator.events()));
}

}  // namespace npu::workloads
