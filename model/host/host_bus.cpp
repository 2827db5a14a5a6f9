// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_bus.hpp"

#include <cstring>
#include <utility>

namespace npu::model {

HostBus::HostBus(Socket& socket, Simulation& simulation, HostCpus& cpus, HostStatistics& statistics)
    : socket_(socket),
      simulation_(simulation),
      cpus_(cpus),
      statistics_(statistics),
      combining_(cpus.config().cores),
      track_(simulation.recorder.track("host.mmio")) {
  const auto& config = cpus.config();
  auto& weakest = simulation.weakest;
  if (config.order == HostOrder::kStrong && !weakest) return;
  const std::uint64_t of_rule = weakest ? weakest->next() : 0;
  const std::uint64_t seed = mixed(config.run_seed) ^ config.order_seed ^ of_rule;
  weak_ = std::make_unique<WeakOrder>(simulation, seed,
                                      [this](const HeldStore& store) { post_held(store); });
}

tlm::tlm_generic_payload& HostBus::request(tlm::tlm_command command, TransactionKind kind,
                                           std::uint64_t address, const void* data,
                                           unsigned length) {
  auto& payload = simulation_.pool.allocate(command, address, nullptr, length);
  auto& info = Transaction::of(payload);
  info.kind = kind;
  info.cause = cpus_.current().cause;
  info.issued = sim_now();
  if (data) std::memcpy(info.inline_data.data(), data, length);
  return payload;
}

tlm::tlm_generic_payload& HostBus::posted(std::uint64_t address, const void* data, unsigned length,
                                          unsigned bar) {
  ++statistics_.mmio_writes;
  if (bar < HostStatistics::kBars) ++statistics_.bar_writes[bar];
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kMemory, address, data, length);
  Transaction::of(payload).posted = true;  // the final target releases it
  return payload;
}

void HostBus::send(tlm::tlm_generic_payload& payload, SimTime issued) {
  Transaction::of(payload).issued = issued;
  sc_core::sc_time delay;
  socket_->b_transport(payload, delay);
}

// --- Stores that leave when a barrier or chance says so -----------------------------------------

void HostBus::post_held(const HeldStore& store) {
  auto& payload = posted(store.address, store.bytes.data(), store.length, store.bar.number);
  Transaction::of(payload).cause = store.cause;
  send(payload, store.issued);
}

void HostBus::hold(std::uint64_t address, std::uint64_t value, unsigned width, const MappedBar& bar,
                   bool combines) {
  HeldStore store;
  store.address = address;
  store.length = width;
  std::memcpy(store.bytes.data(), &value, width);
  store.bar = bar;
  store.combines = combines;
  store.issued = cpus_.local_now();
  store.cause = cpus_.current().cause;
  weak_->enter(cpus_.current().core, store);
}

void HostBus::before_load(std::uint64_t address, unsigned width, const MappedBar& bar,
                          bool combines) {
  if (!weak_) return drain_combining();
  if (bar.number == MappedBar::kNone) return drain();
  cpus_.synchronise();
  weak_->time_passes(sim_now());
  weak_->before_load(cpus_.current().core, address, width, bar, combines);
}

void HostBus::drain() {
  if (!weak_) return drain_combining();
  if (!weak_->empty()) cpus_.synchronise();
  weak_->drain();
}

// --- What a core does ---------------------------------------------------------------------------

std::uint64_t HostBus::load(std::uint64_t address, unsigned width, const MappedBar& bar,
                            bool combines) {
  ++statistics_.mmio_reads;
  if (bar.number < HostStatistics::kBars) ++statistics_.bar_reads[bar.number];
  before_load(address, width, bar, combines);
  cpus_.charge(cpus_.config().mmio_load);
  cpus_.synchronise();
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_READ_COMMAND, TransactionKind::kMemory, address, nullptr, width);
  cpus_.transport(socket_, payload);
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), width);
  simulation_.emit(track_, platform::Activity::kMmioRead, begin, sim_now(), cpus_.current().cause,
                   width, address);
  payload.release();
  return value;
}

void HostBus::store(std::uint64_t address, std::uint64_t value, unsigned width,
                    const MappedBar& bar) {
  const bool held = weak_ && bar.number != MappedBar::kNone;
  if (!held) drain();
  cpus_.charge_store(cpus_.config().mmio_store);
  cpus_.synchronise();
  if (held) return hold(address, value, width, bar, false);
  send(posted(address, &value, width, bar.number), sim_now());
}

void HostBus::store_combining(std::uint64_t address, std::uint64_t value, unsigned width,
                              const MappedBar& bar) {
  ++statistics_.combining_stores;
  if (weak_) {
    hold(address, value, width, bar, true);
    return cpus_.charge_store(cpus_.config().wc_store);
  }
  auto& buffer = combining_[cpus_.current().core];
  const bool joins = buffer.length > 0 && address == buffer.address + buffer.length &&
                     address / buffer.bytes.size() == buffer.address / buffer.bytes.size();
  if (!joins) {
    drain_combining();
    buffer.address = address;
    buffer.bar = bar;
    buffer.issued = cpus_.local_now();
  }
  cpus_.charge_store(cpus_.config().wc_store);
  std::memcpy(buffer.bytes.data() + buffer.length, &value, width);
  buffer.length += width;
}

void HostBus::drain_combining() {
  auto& buffer = combining_[cpus_.current().core];
  if (buffer.length == 0) return;
  cpus_.synchronise();
  const unsigned length = std::exchange(buffer.length, 0U);
  send(posted(buffer.address, buffer.bytes.data(), length, buffer.bar.number), buffer.issued);
}

void HostBus::trace_barrier(SimTime begin, bool read) {
  const auto& task = cpus_.current();
  simulation_.emit(task.track, platform::Activity::kBarrier, begin, cpus_.local_now(), task.cause,
                   0, read ? 1 : 0);
}

// The combined stores leave when the barrier completes.
void HostBus::write_barrier() {
  ++statistics_.write_barriers;
  const SimTime begin = cpus_.local_now();
  cpus_.charge_store(cpus_.config().barrier);
  drain();
  trace_barrier(begin, false);
}

void HostBus::read_barrier() {
  ++statistics_.read_barriers;
  trace_barrier(cpus_.local_now(), true);
}

std::uint32_t HostBus::read_config(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  ++statistics_.config_reads;
  if (weak_) drain();  // a call into the operating system
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_READ_COMMAND, TransactionKind::kConfig,
                          config_address(bdf, offset), nullptr, width);
  cpus_.transport(socket_, payload);
  std::uint32_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), width);
  payload.release();
  trace_config(bdf, offset, width, begin);
  return value;
}

void HostBus::write_config(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                           std::uint32_t value) {
  ++statistics_.config_writes;
  if (weak_) drain();  // a call into the operating system
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kConfig,
                          config_address(bdf, offset), &value, width);
  cpus_.transport(socket_, payload);
  payload.release();
  trace_config(bdf, offset, width, begin);
}

void HostBus::trace_config(platform::Bdf bdf, std::uint32_t offset, unsigned width, SimTime begin) {
  simulation_.emit(track_, platform::Activity::kConfigAccess, begin, sim_now(),
                   cpus_.current().cause, width, config_address(bdf, offset));
}

Completion HostBus::invalidate(std::uint32_t requester, std::uint64_t bus) {
  if (weak_) drain();
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kInvalidation,
                          std::uint64_t{requester} << 12, &bus, sizeof bus);
  cpus_.transport(socket_, payload);
  const auto completion = Transaction::of(payload).completion;
  payload.release();
  return completion;
}

}  // namespace npu::model
