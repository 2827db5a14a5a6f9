// SPDX-License-Identifier: Apache-2.0
#include "firmware/pager/window.hpp"

namespace npu::firmware {

abi::ControlStatus Window::status() {
  const auto status = get<abi::ControlStatus>();
  room_ = status.get<abi::ControlStatus::Room>();
  return status;
}

PageFault Window::take_fault() {
  put(abi::FaultNext::from_raw(1));
  PageFault fault;
  fault.info = get<abi::FaultAccessInfo>();
  const std::uint64_t high = get<abi::FaultHigh>().raw;
  fault.address = high << 32 | get<abi::FaultLow>().raw;
  return fault;
}

std::uint32_t Window::take_message() {
  put(abi::InboxNext::from_raw(1));
  ++taken_;
  return low_word(0);
}

std::uint32_t Window::low_word(unsigned i) {
  return port_.load_register(0, abi::kInbox + 8 * i);
}

std::uint32_t Window::high_word(unsigned i) {
  return port_.load_register(0, abi::kInbox + 8 * i + 4);
}

std::uint64_t Window::word(unsigned i) {
  const std::uint64_t high = high_word(i);
  return high << 32 | low_word(i);
}

void Window::send(abi::Message message) {
  // Nobody else takes room, so that there is as much as was seen last.
  while (room_ == 0 && status().get<abi::ControlStatus::Room>() == 0) {
    if (!port_.poll_again(kEver)) break;
  }
  if (room_ != 0) --room_;
  message.words[3] = taken_;
  for (unsigned i = 0; i < message.words.size(); ++i) {
    put_half(2 * i, static_cast<std::uint32_t>(message.words[i]));
    if (i == 0) continue;  // its high half is the message's number
    put_half(2 * i + 1, static_cast<std::uint32_t>(message.words[i] >> 32));
  }
  put(abi::OutboxSend::from_raw(1));
}

// The registers keep what was sent last, much of which is the same in the next message.
void Window::put_half(unsigned i, std::uint32_t value) {
  auto& there = outbox_[i];
  if (there == value) return;
  there = value;
  port_.store_register(0, abi::kOutbox + 4 * i, value);
}

void Window::reply(unsigned vmid, std::uint64_t address, bool abort) {
  port_.barrier();
  put_address<abi::ReplyLow, abi::ReplyHigh>(address);
  abi::Reply reply;
  reply.set<abi::Reply::Vmid>(vmid);
  reply.set<abi::Reply::Abort>(abort ? 1 : 0);
  put(reply);
}

void Window::invalidate_page(unsigned vmid, std::uint64_t address) {
  put_address<abi::InvalidateLow, abi::InvalidateHigh>(address);
  abi::Invalidate value;
  value.set<abi::Invalidate::Vmid>(vmid);
  invalidate(value);
}

void Window::invalidate_space(unsigned vmid) {
  abi::Invalidate value;
  value.set<abi::Invalidate::Vmid>(vmid);
  value.set<abi::Invalidate::WholeSpace>(1);
  invalidate(value);
}

void Window::invalidate(abi::Invalidate value) {
  port_.barrier();
  put(value);
  while (status().get<abi::ControlStatus::Invalidating>() != 0 && port_.poll_again(kEver)) continue;
}

}  // namespace npu::firmware
