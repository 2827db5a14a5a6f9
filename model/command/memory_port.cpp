// SPDX-License-Identifier: Apache-2.0
#include "model/command/memory_port.hpp"

#include <cstring>

namespace npu::model {

tlm::tlm_generic_payload& MemoryPort::make(tlm::tlm_command command, const Place& place,
                                           Bytes length, std::uint64_t cause, Waiting waiting) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  waiting.host = place.host;
  waiting_[slot] = waiting;
  auto& trans = pool_.allocate(command, place.address, length);
  auto& info = Transaction::of(trans);
  info.vmid = place.vmid;
  info.pasid = place.pasid;
  info.cause = cause;
  info.context = std::uint64_t{epoch_} << 32 | slot;
  return trans;
}

SimTime MemoryPort::send(tlm::tlm_generic_payload& trans, bool to_host) {
  Transaction::of(trans).issued = sim_now();
  auto delay = sc_core::SC_ZERO_TIME;
  (to_host ? to_host_ : to_device_)(trans, delay);
  return sim_now() + delay.value();
}

void MemoryPort::issue(tlm::tlm_command command, const Place& place, Bytes length,
                       std::uint64_t cause, Waiting waiting) {
  send(make(command, place, length, cause, waiting), place.host);
}

void MemoryPort::translate(const Place& place, std::uint64_t cause, Waiting waiting) {
  sc_assert(place.host);
  auto& trans = make(tlm::TLM_READ_COMMAND, place, 8, cause, waiting);
  Transaction::of(trans).kind = TransactionKind::kTranslation;
  send(trans, true);
}

void MemoryPort::post(const Place& place, const void* data, Bytes length, std::uint64_t cause) {
  auto& trans = pool_.allocate(tlm::TLM_WRITE_COMMAND, place.address, length);
  auto& info = Transaction::of(trans);
  info.posted = true;
  info.pasid = place.pasid;
  info.cause = cause;
  std::memcpy(trans.get_data_ptr(), data, length);
  send(trans, true);
}

void MemoryPort::response(tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  if (info.context >> 32 == epoch_) {
    const auto slot = static_cast<std::uint32_t>(info.context);
    const Waiting waiting = waiting_[slot];
    free_.push_back(slot);
    const Answer answer{info.completion,         trans.get_address(), trans.get_data_ptr(),
                        trans.get_data_length(), info.issued,         waiting.host,
                        trans.is_write()};
    waiting.call(waiting.object, answer, waiting.argument);
  }
  trans.release();
}

void MemoryPort::reset() {
  ++epoch_;
  waiting_.clear();
  free_.clear();
}

}  // namespace npu::model
