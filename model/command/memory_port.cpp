// SPDX-License-Identifier: Apache-2.0
#include "model/command/memory_port.hpp"

#include <cstring>
#include <utility>

namespace npu::model {

// Returns the context by which the answer will be known.
std::uint64_t MemoryPort::wait_for_answer(const Place& place, Bytes length, Waiting waiting) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  waiting.host = place.host;
  waiting.function = function_of(place.space);
  waiting.address = place.address;
  waiting.length = length;
  waiting_[slot] = waiting;
  return slot;
}

MemoryPort::Waiting MemoryPort::take(std::uint64_t context) {
  const auto slot = static_cast<std::uint32_t>(context);
  free_.push_back(slot);
  return std::exchange(waiting_[slot], {});
}

tlm::tlm_generic_payload& MemoryPort::make(tlm::tlm_command command, const Place& place,
                                           Bytes length, std::uint64_t cause, Waiting waiting) {
  auto& trans = pool_.allocate(command, place.address, length);
  auto& info = Transaction::of(trans);
  if (!place.host) info.vmid = place.space;
  info.function = static_cast<std::uint8_t>(function_of(place.space));
  info.pasid = place.pasid;
  info.cause = cause;
  info.context = wait_for_answer(place, length, waiting);
  return trans;
}

tlm::tlm_sync_enum MemoryPort::send(tlm::tlm_generic_payload& trans, bool to_host) {
  Transaction::of(trans).issued = sim_now();
  auto delay = sc_core::SC_ZERO_TIME;
  return (to_host ? to_host_ : to_device_)(trans, delay);
}

void MemoryPort::refuse(const Place& place, Bytes length, Waiting waiting) {
  sim_.agenda.at<&MemoryPort::refused>(sim_now(), *this, wait_for_answer(place, length, waiting));
}

void MemoryPort::refused(std::uint64_t context) {
  const Waiting waiting = take(context);
  if (waiting.call == nullptr) return;
  const Answer answer{
      Completion::kCompleterAbort, waiting.address, nullptr, waiting.length, sim_now(), true, true};
  waiting.call(waiting.object, answer, waiting.argument);
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

bool MemoryPort::post(const Place& place, const void* data, Bytes length, std::uint64_t cause) {
  auto& trans = pool_.allocate(tlm::TLM_WRITE_COMMAND, place.address, length);
  auto& info = Transaction::of(trans);
  info.posted = true;
  info.function = static_cast<std::uint8_t>(function_of(place.space));
  info.pasid = place.pasid;
  info.cause = cause;
  std::memcpy(trans.get_data_ptr(), data, length);
  if (send(trans, true) != tlm::TLM_COMPLETED) return true;
  trans.release();
  return false;
}

void MemoryPort::response(tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  if (const Waiting waiting = take(info.context); waiting.call != nullptr) {
    const Answer answer{info.completion,         trans.get_address(), trans.get_data_ptr(),
                        trans.get_data_length(), info.issued,         waiting.host,
                        trans.is_write()};
    waiting.call(waiting.object, answer, waiting.argument);
  }
  trans.release();
}

void MemoryPort::reset(unsigned function) {
  for (auto& waiting : waiting_) {
    if (waiting.function == function) waiting.call = nullptr;
  }
}

}  // namespace npu::model
