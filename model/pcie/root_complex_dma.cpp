// SPDX-License-Identifier: Apache-2.0
// Root complex: what devices send - host memory accesses, interrupts, completions.
#include <algorithm>
#include <cstring>

#include "model/pcie/root_complex.hpp"
#include "model/pcie/root_port.hpp"

namespace npu::model {

namespace {
// Where MSI and MSI-X messages go (x86).
constexpr std::uint64_t kMessageBase = 0xFEE0'0000, kMessageEnd = 0xFEF0'0000;
constexpr unsigned kTranslationBytes = 8;
}  // namespace

std::uint64_t RootComplex::take_dma(Payload& payload, RootPort& port) {
  if (free_dmas_.empty()) {
    free_dmas_.push_back(dmas_.size());
    dmas_.emplace_back();
  }
  const std::uint64_t number = free_dmas_.back();
  free_dmas_.pop_back();
  dmas_[number] = {&payload, &port, nullptr, sim_now()};
  return number;
}

void RootComplex::release_dma(std::uint64_t number) {
  free_dmas_.push_back(number);
}

SimTime RootComplex::request_arrived(unsigned port, Payload& payload) {
  const auto number = take_dma(payload, *ports_[port]);
  simulation_.agenda.at<&RootComplex::serve>(sim_now() + ticks(config_.latency), *this, number);
  return 0;
}

void RootComplex::serve(std::uint64_t number) {
  Dma& dma = dmas_[number];
  auto& payload = *dma.payload;
  auto& info = Transaction::of(payload);
  const std::uint64_t address = payload.get_address();
  if (!dma.port->function.bus_master()) return reject(number, Completion::kUnsupportedRequest);
  if (info.kind == TransactionKind::kPageRequest) return page_request(number);
  if (info.posted && address >= kMessageBase && address < kMessageEnd &&
      payload.get_data_length() == 4) {
    simulation_.agenda.at<&RootComplex::interrupt>(std::max(sim_now(), dma.port->visible), *this,
                                                   number);
    return;
  }
  // Another device's BAR: down again, through the port that leads there.
  auto* const peer =
      redirects_peers_ ? nullptr : port_of_address(address, payload.get_data_length());
  if (peer != nullptr) {
    dma.peer = peer;
    return push_writes(number);
  }
  if (info.posted) {
    serve_write(number);
  } else {
    serve_read(number);
  }
}

void RootComplex::reject(std::uint64_t number, Completion completion) {
  auto& payload = *dmas_[number].payload;
  if (Transaction::of(payload).posted) {
    payload.release();
    release_dma(number);
    return;
  }
  refuse(payload, completion);
  simulation_.agenda.at<&RootComplex::respond>(sim_now() + ticks(config_.latency), *this, number);
}

// A translation is asked for before posted writes, so it needs their permission, unless it is for
// reads alone (PCIe 10.2.2, the request's No Write flag).
HostMemoryPort::Access RootComplex::access(const Payload& payload, bool begins) {
  const auto& info = Transaction::of(payload);
  const bool is_translation = info.kind == TransactionKind::kTranslation;
  DmaRequester requester{info.requester, info.pasid, info.posted || info.translated};
  requester.asks = is_translation;
  const Bytes length = is_translation ? 1 : payload.get_data_length();
  const bool writes = is_translation ? !info.no_write : payload.is_write();
  return begins ? memory_.access(requester, payload.get_address(), length, writes, info.cause)
                : memory_.reach(requester, payload.get_address(), length, writes, info.cause);
}

void RootComplex::trace_lookup(const Payload& payload, const HostMemoryPort::Access& found) const {
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
void RootComplex::serve_write(std::uint64_t number) {
  Dma& dma = dmas_[number];
  const auto result = access(*dma.payload, true);
  if (result.status != Completion::kSuccess) return reject(number, result.status);
  trace_lookup(*dma.payload, result);
  dma.port->visible = std::max(sim_now() + ticks(result.latency), dma.port->visible);
  simulation_.agenda.at<&RootComplex::store>(dma.port->visible, *this, number);
}

// Into the IOMMU's queue, behind the writes that came before.
void RootComplex::page_request(std::uint64_t number) {
  const SimTime visible = dmas_[number].port->visible;
  if (visible > sim_now()) {
    simulation_.agenda.at<&RootComplex::page_request>(visible, *this, number);
    return;
  }
  auto& payload = *dmas_[number].payload;
  release_dma(number);
  const auto& info = Transaction::of(payload);
  PageRequestMessage message;
  std::memcpy(&message, payload.get_data_ptr(), sizeof message);
  memory_.page_requested({info.requester, info.pasid}, payload.get_address(), message, info.cause);
  payload.release();
}

void RootComplex::respond_to_page_request(std::uint16_t requester,
                                          const PageResponseMessage& message, std::uint64_t cause) {
  auto& payload = simulation_.pool.allocate(tlm::TLM_WRITE_COMMAND, std::uint64_t{requester} << 12,
                                            nullptr, sizeof message);
  auto& info = Transaction::of(payload);
  info.kind = TransactionKind::kPageResponse;
  info.posted = true;
  info.pasid = message.pasid;
  info.cause = cause;
  info.issued = sim_now();
  std::memcpy(payload.get_data_ptr(), &message, sizeof message);
  simulation_.agenda.at<&RootComplex::issue>(sim_now() + ticks(config_.latency), *this,
                                             handle_of(payload));
}

void RootComplex::store(std::uint64_t number) {
  const Dma dma = dmas_[number];
  release_dma(number);
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

void RootComplex::serve_read(std::uint64_t number) {
  const Dma& dma = dmas_[number];
  const auto result = access(*dma.payload, true);
  if (result.status != Completion::kSuccess) return reject(number, result.status);
  trace_lookup(*dma.payload, result);
  const SimTime served = std::max(sim_now() + ticks(result.latency), dma.port->visible);
  simulation_.agenda.at<&RootComplex::sample>(served, *this, number);
}

void RootComplex::sample(std::uint64_t number) {
  auto& payload = *dmas_[number].payload;
  auto& info = Transaction::of(payload);
  const auto result = access(payload, false);
  info.completion = result.status;
  if (result.status != Completion::kSuccess) {
    refuse(payload, result.status);
  } else if (info.kind == TransactionKind::kTranslation) {
    const std::uint64_t mapped = result.contiguous;
    std::memcpy(payload.get_data_ptr(), &mapped, kTranslationBytes);
  } else if (payload.get_data_ptr() != nullptr) {
    std::memcpy(payload.get_data_ptr(), result.data, payload.get_data_length());
  }
  simulation_.emit(track_, platform::Activity::kHostRead, dmas_[number].begin, sim_now(),
                   info.cause, payload.get_data_length(), payload.get_address());
  simulation_.agenda.at<&RootComplex::respond>(sim_now() + ticks(config_.latency), *this, number);
}

void RootComplex::respond(std::uint64_t number) {
  const Dma dma = dmas_[number];
  release_dma(number);
  dma.port->end->send_completion(*dma.payload);
}

void RootComplex::interrupt(std::uint64_t number) {
  auto& payload = *dmas_[number].payload;
  release_dma(number);
  const auto& info = Transaction::of(payload);
  std::uint32_t data = 0;
  std::memcpy(&data, payload.get_data_ptr(), sizeof data);
  interrupts_.message(info.requester, payload.get_address(), data, info.cause);
  payload.release();
}

// By the time it is through every write that arrived before has said when it will be visible.
void RootComplex::completion_arrived(unsigned port, Payload& payload) {
  simulation_.agenda.at<&RootComplex::push_writes>(sim_now() + ticks(config_.latency), *this,
                                                   take_dma(payload, *ports_[port]));
}

// What does not end in host memory passes no write to it that came before.
void RootComplex::push_writes(std::uint64_t number) {
  const SimTime visible = dmas_[number].port->visible;
  if (visible < sim_now()) return pass_on(number);
  simulation_.agenda.at<&RootComplex::pass_on>(visible, *this, number);
}

// A completion for a core; or a request, or a completion, for another device, which goes down
// again.
void RootComplex::pass_on(std::uint64_t number) {
  const Dma dma = dmas_[number];
  release_dma(number);
  if (dma.peer != nullptr) {
    dma.peer->end->send_request(*dma.payload);
  } else if (Transaction::of(*dma.payload).requester == 0) {
    deliver(handle_of(*dma.payload));
  } else {
    forward_completion(*dma.payload);
  }
}

void RootComplex::forward_completion(Payload& payload) {
  auto* port = port_of_bus(Transaction::of(payload).requester >> 8);
  if (port && port->end) {
    port->end->send_completion(payload);
  } else {
    payload.release();  // unexpected completion: its requester is gone
  }
}

}  // namespace npu::model
