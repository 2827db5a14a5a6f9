// SPDX-License-Identifier: Apache-2.0
#include "model/host/platform.hpp"

#include <fmt/format.h>

#include <cstring>

#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

HostPlatform::HostPlatform(const sc_core::sc_module_name& name, Simulation& simulation,
                           HostCpus& cpus, HostMemory& memory, Interrupts& interrupts,
                           std::vector<platform::HostBridge> bridges, ResourceLookup resources,
                           AtsLookup has_ats)
    : sc_module(name),
      cpu_socket("cpu_socket"),
      simulation_(simulation),
      cpus_(cpus),
      memory_(memory),
      interrupts_(interrupts),
      work_(simulation, cpus, memory, memory.config()),
      bridges_(std::move(bridges)),
      resources_(std::move(resources)),
      has_ats_(std::move(has_ats)),
      combining_(cpus.config().cores),
      track_(simulation.recorder.track("host.mmio")) {
  cpus_.on_handover([this] { drain_combining(); });
}

tlm::tlm_generic_payload& HostPlatform::request(tlm::tlm_command command, TransactionKind kind,
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

void HostPlatform::post(std::uint64_t address, const void* data, unsigned length, unsigned bar,
                        SimTime issued) {
  ++statistics_.mmio_writes;
  if (bar < HostStatistics::kBars) ++statistics_.bar_writes[bar];
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kMemory, address, data, length);
  Transaction::of(payload).posted = true;  // the final target releases it
  Transaction::of(payload).issued = issued;
  sc_core::sc_time delay;
  cpu_socket->b_transport(payload, delay);
}

std::uint64_t HostPlatform::load(std::uint64_t address, unsigned width, unsigned bar) {
  ++statistics_.mmio_reads;
  if (bar < HostStatistics::kBars) ++statistics_.bar_reads[bar];
  drain_combining();
  cpus_.charge(cpus_.config().mmio_load);
  cpus_.synchronise();
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_READ_COMMAND, TransactionKind::kMemory, address, nullptr, width);
  cpus_.transport(cpu_socket, payload);
  std::uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), width);
  simulation_.emit(track_, platform::Activity::kMmioRead, begin, sim_now(), cpus_.current().cause,
                   width, address);
  payload.release();
  return value;
}

void HostPlatform::store(std::uint64_t address, std::uint64_t value, unsigned width, unsigned bar) {
  drain_combining();
  cpus_.charge_store(cpus_.config().mmio_store);
  cpus_.synchronise();
  post(address, &value, width, bar, sim_now());
}

void HostPlatform::store_combining(std::uint64_t address, std::uint64_t value, unsigned width,
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

void HostPlatform::drain_combining() {
  auto& buffer = combining_[cpus_.current().core];
  if (buffer.length == 0) return;
  cpus_.synchronise();
  const unsigned length = std::exchange(buffer.length, 0U);
  post(buffer.address, buffer.bytes.data(), length, buffer.bar, buffer.issued);
}

void HostPlatform::trace_barrier(SimTime begin, bool read) {
  const auto& task = cpus_.current();
  simulation_.emit(task.track, platform::Activity::kBarrier, begin, cpus_.local_now(), task.cause,
                   0, read ? 1 : 0);
}

// The combined stores leave when the barrier completes.
void HostPlatform::write_barrier() {
  ++statistics_.write_barriers;
  const SimTime begin = cpus_.local_now();
  cpus_.charge_store(cpus_.config().barrier);
  drain_combining();
  trace_barrier(begin, false);
}

std::uint32_t HostPlatform::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  const bool ids = offset < 4 && headers_.knows(bdf);
  // A virtual function has no ids of its own: its class says whether it is there.
  const std::uint32_t value = ids ? access(bdf, pci::kRevision, 4) : access(bdf, offset, width);
  const bool there = value != kAllOnes >> (32 - 8 * (ids ? 4 : width));
  return there && headers_.knows(bdf) ? shown(bdf, offset, width, value) : value;
}

std::uint32_t HostPlatform::shown(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                                  std::uint32_t value) {
  const unsigned shift = 8 * (offset % 4);
  const std::uint32_t mask = (kAllOnes >> (32 - 8 * width)) << shift;
  return (headers_.shown(bdf, offset & ~3U, value << shift) & mask) >> shift;
}

std::uint32_t HostPlatform::access(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  ++statistics_.config_reads;
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_READ_COMMAND, TransactionKind::kConfig,
                          std::uint64_t{bdf.packed()} << 12 | offset, nullptr, width);
  cpus_.transport(cpu_socket, payload);
  std::uint32_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), width);
  payload.release();
  simulation_.emit(track_, platform::Activity::kConfigAccess, begin, sim_now(),
                   cpus_.current().cause, width, std::uint64_t{bdf.packed()} << 12 | offset);
  return value;
}

void HostPlatform::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                         std::uint32_t value) {
  if (headers_.knows(bdf)) headers_.write(bdf, offset, width, value);
  ++statistics_.config_writes;
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kConfig,
                          std::uint64_t{bdf.packed()} << 12 | offset, &value, width);
  cpus_.transport(cpu_socket, payload);
  payload.release();
  simulation_.emit(track_, platform::Activity::kConfigAccess, begin, sim_now(),
                   cpus_.current().cause, width, std::uint64_t{bdf.packed()} << 12 | offset);
}

bool HostPlatform::in_task() const {
  const auto process = sc_core::sc_get_current_process_handle();
  return process.valid() && process.proc_kind() == sc_core::SC_THREAD_PROC_;
}

void HostPlatform::free_dma(const Iommu::Mapping& mapping,
                            const std::vector<std::uint16_t>& others) {
  const bool waits = in_task();
  if (waits) cpus_.charge(cpus_.config().call);
  for (const auto requester : others) {
    unmap(requester, mapping.bus, mapping.memory.size);
    if (waits) work_.unmap(mapping);
  }
  unmap(mapping.requester, mapping.bus, mapping.memory.size);
  if (waits) work_.take_back(mapping);
  memory_.free(mapping.memory);
}

void HostPlatform::unmap(std::uint16_t requester, std::uint64_t bus, Bytes size) {
  const bool waits = in_task();
  if (waits) cpus_.synchronise();
  if (waits && has_ats_(platform::Bdf::unpack(requester))) {
    memory_.retire(requester, bus, size);
    invalidate(requester, bus, size);
  }
  memory_.unmap(requester, bus, size);
}

void HostPlatform::invalidate(std::uint16_t requester, std::uint64_t bus, Bytes size) {
  const SimTime begin = sim_now();
  auto& payload = request(tlm::TLM_WRITE_COMMAND, TransactionKind::kInvalidation,
                          std::uint64_t{requester} << 12, &bus, sizeof bus);
  cpus_.transport(cpu_socket, payload);
  const auto completion = Transaction::of(payload).completion;
  payload.release();
  const std::uint64_t cause = cpus_.current().cause;
  if (completion == Completion::kTimeout) memory_.not_invalidated(requester, bus, cause);
  simulation_.emit(track_, platform::Activity::kAtsInvalidation, begin, sim_now(), cause, size,
                   std::uint64_t{requester} << 48 | (bus & 0xFFFF'FFFF'F000));
}

std::uint32_t HostPlatform::find_capability(platform::Bdf bdf, std::uint8_t id) {
  if (!(read16(bdf, pci::kStatus) & pci::kStatusCapabilities)) return 0;
  std::uint32_t offset = read8(bdf, pci::kCapabilityPointer) & 0xFCU;
  // 48 capabilities of 4 bytes fill 0x40..0xFF; more steps than that are a loop.
  for (int steps = 0; offset >= 0x40 && steps < 48; ++steps) {
    const std::uint16_t header = read16(bdf, offset);
    if ((header & 0xFF) == id) return offset;
    offset = (header >> 8) & 0xFCU;
  }
  return 0;
}

// Looked for once, as an operating system does: it does not move.
std::uint32_t HostPlatform::find_extended_capability(platform::Bdf bdf, std::uint16_t id) {
  auto& found = extended_[{bdf.packed(), id}];
  // Capabilities of 8 bytes fill 0x100..0xFFF; more steps than that are a loop.
  std::uint32_t offset = pci::kExtendedStart;
  for (int steps = 0; found == 0 && offset >= pci::kExtendedStart && steps < 480; ++steps) {
    const std::uint32_t header = read32(bdf, offset);
    if (header == 0 || header == kAllOnes) break;
    if ((header & 0xFFFF) == id) found = offset;
    offset = header >> 20;
  }
  return found;
}

Status HostPlatform::reset_function(platform::Bdf bdf) {
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const auto express = find_capability(bdf, pci::kCapPciExpress);
  if (express == 0 || !(read32(bdf, express + pci::kExpDeviceCap) & pci::kExpDeviceCapFlr)) {
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no function level reset");
  }
  const auto control = read16(bdf, express + pci::kExpDeviceControl);
  write16(bdf, express + pci::kExpDeviceControl,
          static_cast<std::uint16_t>(control | pci::kExpDeviceControlFlr));
  // PCIe 6.6.2: a function completes its reset within 100 ms.
  const Instant deadline = now() + 100_ms;
  while (!present(bdf)) {
    if (now() >= deadline) {
      return fail(ErrorCode::kTimeout, to_string(bdf) + " does not answer 100 ms after FLR");
    }
    sleep_until(now() + 1_ms);
  }
  return {};
}

}  // namespace npu::model
