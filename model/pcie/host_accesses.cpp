// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/host_accesses.hpp"

#include <algorithm>
#include <cstring>

namespace npu::model {

namespace {
// Where MSI and MSI-X messages go (x86).
constexpr std::uint64_t kMessageBase = 0xFEE0'0000, kMessageEnd = 0xFEF0'0000;
}  // namespace

HostAccesses::HostAccesses(Simulation& simulation, const RootComplexConfig& config,
                           HostMemoryPort& memory, InterruptSink& interrupts, Router& router)
    : simulation_(simulation),
      latency_(ticks(config.latency)),
      memory_(memory),
      interrupts_(interrupts),
      router_(router),
      track_(simulation.recorder.track("host.root_complex")),
      iommu_track_(simulation.recorder.track("host.iommu")) {}

std::uint64_t HostAccesses::take(Payload& payload, RootPort& port) {
  if (free_.empty()) {
    free_.push_back(dmas_.size());
    dmas_.emplace_back();
  }
  const std::uint64_t number = free_.back();
  free_.pop_back();
  dmas_[number] = {&payload, &port, nullptr, sim_now(), false};
  return number;
}

void HostAccesses::request_arrived(RootPort& port, Payload& payload) {
  simulation_.agenda.at<&HostAccesses::serve>(sim_now() + latency_, *this, take(payload, port));
}

void HostAccesses::serve(std::uint64_t number) {
  Dma& dma = dmas_[number];
  auto& payload = *dma.payload;
  auto& info = Transaction::of(payload);
  const std::uint64_t address = payload.get_address();
  if (!dma.port->function.bus_master()) return reject(number, Completion::kUnsupportedRequest);
  if (info.kind == TransactionKind::kPageRequest) return page_request(number);
  if (info.posted && address >= kMessageBase && address < kMessageEnd &&
      payload.get_data_length() == 4) {
    simulation_.agenda.at<&HostAccesses::interrupt>(std::max(sim_now(), dma.port->visible), *this,
                                                    number);
    return;
  }
  // Another device's BAR: down again, through the port that leads there.
  dma.peer = router_.peer_of(address, payload.get_data_length());
  if (dma.peer != nullptr) return push_writes(number);
  if (info.posted) {
    serve_write(number);
  } else {
    serve_read(number);
  }
}

void HostAccesses::reject(std::uint64_t number, Completion completion) {
  auto& payload = *dmas_[number].payload;
  if (Transaction::of(payload).posted) {
    payload.release();
    release(number);
    return;
  }
  refuse(payload, completion);
  simulation_.agenda.at<&HostAccesses::respond>(sim_now() + latency_, *this, number);
}

// A translation is asked for before posted writes, so it needs their permission, unless it is for
// reads alone (PCIe 10.2.2, the request's No Write flag).
HostMemoryPort::Access HostAccesses::access(const Payload& payload, bool begins) {
  const auto& info = Transaction::of(payload);
  const bool is_translation = info.kind == TransactionKind::kTranslation;
  DmaRequester requester{info.requester, info.pasid, info.posted || info.translated};
  requester.asks = is_translation;
  const Bytes length = is_translation ? 1 : payload.get_data_length();
  const bool writes = is_translation ? !info.no_write : payload.is_write();
  return begins ? memory_.access(requester, payload.get_address(), length, writes, info.cause)
                : memory_.reach(requester, payload.get_address(), length, writes, info.cause);
}

void HostAccesses::trace_lookup(const Payload& payload, const HostMemoryPort::Access& found) const {
  if (!simulation_.recorder.enabled()) return;
  constexpr unsigned kBdfShift = 48, kAtsShift = 47;
  const auto& info = Transaction::of(payload);
  const std::uint64_t ats = info.kind == TransactionKind::kTranslation ? 1 : 0;
  const std::uint64_t page = payload.get_address() & 0x7FFF'FFFF'F000;
  simulation_.emit(iommu_track_, platform::Activity::kIommuLookup, sim_now(),
                   sim_now() + ticks(found.lookup), info.cause, 0,
                   std::uint64_t{info.requester} << kBdfShift | ats << kAtsShift | page);
  if (found.walk == Picoseconds()) return;
  simulation_.emit(iommu_track_, platform::Activity::kIommuWalk,
                   sim_now() + ticks(found.lookup - found.walk), sim_now() + ticks(found.lookup),
                   info.cause, 0, std::uint64_t{info.requester} << kBdfShift | page);
}

// What it costs is known when the access begins; where the bytes are is asked again when they
// move, because the mapping may be gone by then.
void HostAccesses::serve_write(std::uint64_t number) {
  Dma& dma = dmas_[number];
  const auto result = access(*dma.payload, true);
  if (result.status != Completion::kSuccess) return reject(number, result.status);
  trace_lookup(*dma.payload, result);
  const SimTime earliest = sim_now() + ticks(result.latency);
  const SimTime visible = simulation_.weakest ? weakest_write(*dma.port, *dma.payload, earliest)
                                              : std::max(earliest, dma.port->visible);
  dma.port->visible = std::max(visible, dma.port->visible);
  simulation_.agenda.at<&HostAccesses::store>(visible, *this, number);
}

// Late. Relaxed writes pass each other, but only those of one transfer: a device that let a later
// transfer pass an earlier one could not keep the order of a stream.
SimTime HostAccesses::weakest_write(RootPort& port, const Payload& payload, SimTime visible) {
  const SimTime late = visible + simulation_.weakest->late(kLateWrite);
  const auto& info = Transaction::of(payload);
  if (!info.relaxed) {
    port.relaxed_cause = 0;
    return std::max(late, port.visible);
  }
  if (port.relaxed_cause == 0 || port.relaxed_cause != info.cause) {
    port.relaxed_cause = info.cause;
    port.visible_before = port.visible;
  }
  return std::max(late, port.visible_before + simulation_.weakest->time(kApart));
}

// Into the IOMMU's queue, behind the writes that came before.
void HostAccesses::page_request(std::uint64_t number) {
  const SimTime visible = dmas_[number].port->visible;
  if (visible > sim_now()) {
    simulation_.agenda.at<&HostAccesses::page_request>(visible, *this, number);
    return;
  }
  auto& payload = *dmas_[number].payload;
  release(number);
  const auto& info = Transaction::of(payload);
  PageRequestMessage message;
  std::memcpy(&message, payload.get_data_ptr(), sizeof message);
  memory_.page_requested({info.requester, info.pasid}, payload.get_address(), message, info.cause);
  payload.release();
}

void HostAccesses::store(std::uint64_t number) {
  const Dma dma = dmas_[number];
  release(number);
  auto& payload = *dma.payload;
  const auto result = access(payload, false);
  if (result.status == Completion::kSuccess) {
    const auto& info = Transaction::of(payload);
    const Bytes length = payload.get_data_length();
    const bool moves = payload.get_data_ptr() != nullptr;
    if (moves) std::memcpy(result.data, payload.get_data_ptr(), length);
    simulation_.emit(track_, platform::Activity::kHostWrite, dma.begin, sim_now(), info.cause,
                     length, payload.get_address());
    if (moves) memory_.written(result.data, length, info.cause);
  }
  payload.release();
}

void HostAccesses::serve_read(std::uint64_t number) {
  const Dma& dma = dmas_[number];
  const auto result = access(*dma.payload, true);
  if (result.status != Completion::kSuccess) return reject(number, result.status);
  trace_lookup(*dma.payload, result);
  SimTime served = std::max(sim_now() + ticks(result.latency), dma.port->visible);
  if (simulation_.weakest) {
    served += simulation_.weakest->late(kLateRead);
    // A read passes no write that came before it.
    if (dma.port->visible < sim_now()) sample_early(number);
  }
  simulation_.agenda.at<&HostAccesses::sample>(served, *this, number);
}

void HostAccesses::sample_early(std::uint64_t number) {
  Dma& dma = dmas_[number];
  auto& payload = *dma.payload;
  const bool is_data = Transaction::of(payload).kind == TransactionKind::kMemory;
  if (!is_data || payload.get_data_ptr() == nullptr) return;
  const auto found = access(payload, false);
  if (found.status != Completion::kSuccess) return;
  std::memcpy(payload.get_data_ptr(), found.data, payload.get_data_length());
  dma.sampled = true;
}

// Of what was sampled at the begin each line is what it was then, or what it is now.
void HostAccesses::sample_lines(Payload& payload, const std::byte* data) {
  constexpr Bytes kLine = 64;
  const Bytes length = payload.get_data_length();
  for (Bytes at = 0; at < length;) {
    const Bytes part = std::min<Bytes>(length - at, kLine - (payload.get_address() + at) % kLine);
    if (simulation_.weakest->half()) std::memcpy(payload.get_data_ptr() + at, data + at, part);
    at += part;
  }
}

void HostAccesses::sample(std::uint64_t number) {
  auto& payload = *dmas_[number].payload;
  auto& info = Transaction::of(payload);
  const auto result = access(payload, false);
  info.completion = result.status;
  if (result.status != Completion::kSuccess) {
    refuse(payload, result.status);
  } else if (info.kind == TransactionKind::kTranslation) {
    const std::uint64_t mapped = result.contiguous;
    std::memcpy(payload.get_data_ptr(), &mapped, sizeof mapped);
  } else if (dmas_[number].sampled) {
    sample_lines(payload, result.data);
  } else if (payload.get_data_ptr() != nullptr) {
    std::memcpy(payload.get_data_ptr(), result.data, payload.get_data_length());
  }
  simulation_.emit(track_, platform::Activity::kHostRead, dmas_[number].begin, sim_now(),
                   info.cause, payload.get_data_length(), payload.get_address());
  simulation_.agenda.at<&HostAccesses::respond>(sim_now() + latency_, *this, number);
}

void HostAccesses::respond(std::uint64_t number) {
  const Dma dma = dmas_[number];
  release(number);
  dma.port->end->send_completion(*dma.payload);
}

void HostAccesses::interrupt(std::uint64_t number) {
  auto& payload = *dmas_[number].payload;
  release(number);
  const auto& info = Transaction::of(payload);
  std::uint32_t data = 0;
  std::memcpy(&data, payload.get_data_ptr(), sizeof data);
  interrupts_.message(info.requester, payload.get_address(), data, info.cause);
  payload.release();
}

// By the time it is through every write that arrived before has said when it will be visible.
void HostAccesses::completion_arrived(RootPort& port, Payload& payload) {
  simulation_.agenda.at<&HostAccesses::push_writes>(sim_now() + latency_, *this,
                                                    take(payload, port));
}

// What does not end in host memory passes no write to it that came before.
void HostAccesses::push_writes(std::uint64_t number) {
  const SimTime visible = dmas_[number].port->visible;
  if (visible < sim_now()) return pass_on(number);
  simulation_.agenda.at<&HostAccesses::pass_on>(visible, *this, number);
}

void HostAccesses::pass_on(std::uint64_t number) {
  const Dma dma = dmas_[number];
  release(number);
  if (dma.peer != nullptr) {
    dma.peer->end->send_request(*dma.payload);
  } else {
    router_.completion_passed(*dma.payload);
  }
}

}  // namespace npu::model
