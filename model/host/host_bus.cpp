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
      track_(simulation.recorder.track("host.mmio")) {}

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

void HostBus::post(std::uint64_t address, const void* data, unsigned length, unsigned bar,
                   SimTime issued) {
  ++statistics_.mmio_writes;
  if (bar < HostStatistics::kBars) ++statistics_.bar_writes[bar];
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kMemory, address, data, length);
  Transaction::of(payload).posted = true;  // the final target releases it
  Transaction::of(payload).issued = issued;
  sc_core::sc_time delay;
  socket_->b_transport(payload, delay);
}

std::uint64_t HostBus::load(std::uint64_t address, unsigned width, unsigned bar) {
  ++statistics_.mmio_reads;
  if (bar < HostStatistics::kBars) ++statistics_.bar_reads[bar];
  drain_combining();
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

void HostBus::store(std::uint64_t address, std::uint64_t value, unsigned width, unsigned bar) {
  drain_combining();
  cpus_.charge_store(cpus_.config().mmio_store);
  cpus_.synchronise();
  post(address, &value, width, bar, sim_now());
}

void HostBus::store_combining(std::uint64_t address, std::uint64_t value, unsigned width,
                              unsigned bar) {
  ++statistics_.combining_stores;
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
  post(buffer.address, buffer.bytes.data(), length, buffer.bar, buffer.issued);
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
  drain_combining();
  trace_barrier(begin, false);
}

void HostBus::read_barrier() {
  ++statistics_.read_barriers;
  trace_barrier(cpus_.local_now(), true);
}

std::uint32_t HostBus::read_config(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  ++statistics_.config_reads;
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

Completion HostBus::invalidate(std::uint16_t requester, std::uint64_t bus) {
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kInvalidation,
                          std::uint64_t{requester} << 12, &bus, sizeof bus);
  cpus_.transport(socket_, payload);
  const auto completion = Transaction::of(payload).completion;
  payload.release();
  return completion;
}

}  // namespace npu::model
