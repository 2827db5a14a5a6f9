// SPDX-License-Identifier: Apache-2.0
#include "model/control/control_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/mmu/mmu.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::ControlState;
using abi::ControlStatus;
using abi::MessageControl;

ControlUnit::ControlUnit(CardRegisters& registers, Mmu& mmu, PageFaults& faults, ControlPort& port)
    : registers_(registers),
      bank_(registers.bank()),
      function_(registers.function()),
      faults_(faults),
      port_(port),
      invalidation_(mmu, function_, [this] { port_.window_changed(function_); }) {
  faults.connect(*this);
  bank_.on_write<ControlState>([this](ControlState value) { state_written(value); });
  bank_.on_write<MessageControl>([this](MessageControl value) { enable(value); });
  bank_.on_write<abi::MessageConsumer>([this](abi::MessageConsumer) { consumed(); });
  bank_.on_write<abi::MessageWord1>([this](abi::MessageWord1) { written_ |= 1; });
  bank_.on_write<abi::MessageWord2>([this](abi::MessageWord2) { written_ |= 2; });
  bank_.on_write<abi::MessageWord3>([this](abi::MessageWord3) { written_ |= 4; });
  bank_.on_read<abi::MessageReceived>([this] { return abi::MessageReceived::from_raw(received_); });
  bank_.on_write<abi::MessageSend>([this](abi::MessageSend value) { received(value.raw); });
  bank_.on_read<abi::MessageProducer>([this] { return abi::MessageProducer::from_raw(produced_); });
  bank_.on_read<abi::MessageTaken>([this] { return abi::MessageTaken::from_raw(taken_); });
}

// --- The driver's side ------------------------------------------------------------------------

void ControlUnit::state_written(ControlState state) {
  ControlState now;
  now.set<ControlState::Running>(1);
  const bool starts = !running_ && state.get<ControlState::Start>() != 0;
  if (starts) {
    running_ = true;
    faults_.listener_changed();
    port_.start_program(function_, bank_.get<abi::ControlImage>().raw,
                        bank_.get<abi::ControlArguments>().raw);
  }
  bank_.set(running_ ? now : ControlState{});
}

void ControlUnit::program_ended(const CommandFault& fault) {
  running_ = false;
  ControlState now;
  now.set<ControlState::Ended>(1);
  now.set<ControlState::Fault>(static_cast<std::uint32_t>(fault.code));
  bank_.set(now);
  faults_.listener_changed();
  raise(0);
}

void ControlUnit::enable(MessageControl control) {
  if (control.get<MessageControl::Enable>() == 0) return;
  const auto log2 = std::clamp<std::uint32_t>(control.get<MessageControl::Log2Messages>(), 7, 12);
  base_ = align_down(bank_.get<abi::MessageBase>().raw, 4096);
  size_ = std::uint32_t{1} << log2;
  produced_ = taken_ = received_ = 0;
  written_ = 0;
  outbox_.assign(size_, {});
  inbox_.clear();
  bank_.set(abi::MessageConsumer{});
  port_.window_changed(function_);
}

void ControlUnit::consumed() {
  if (bank_.get<abi::MessageConsumer>().raw != produced_) raise(0);
  if (announcing_) host_write_lost();
  port_.window_changed(function_);
}

void ControlUnit::received(std::uint64_t head) {
  using Head = abi::MessageSend;
  const unsigned words = static_cast<unsigned>((head & Head::Words::kMask) >> Head::Words::kLow);
  const bool whole = std::exchange(written_, 0) == (1U << words) - 1;
  const bool next = (head & Head::Number::kMask) >> Head::Number::kLow == ((received_ + 1) & 0xFF);
  if (size_ == 0 || !whole || !next || inbox_.size() == abi::kMessageSlots) return;
  ++received_;
  head &= ~std::uint64_t{Head::Words::kMask | Head::Number::kMask};
  inbox_.push_back({{head, bank_.get<abi::MessageWord1>().raw, bank_.get<abi::MessageWord2>().raw,
                     bank_.get<abi::MessageWord3>().raw}});
  port_.window_changed(function_);
}

void ControlUnit::raise(std::uint64_t cause) {
  if (size_ == 0) return;
  registers_.raise(bank_.get<MessageControl>().get<MessageControl::Vector>(), cause);
}

// --- The program's side -----------------------------------------------------------------------

std::uint32_t ControlUnit::room() const {
  return size_ - (produced_ - bank_.get<abi::MessageConsumer>().raw);
}

std::uint32_t ControlUnit::read(std::uint32_t offset) const {
  if (offset % 4 != 0 || offset >= abi::kControlWindowSize) return ~std::uint32_t{0};
  if (offset != ControlStatus::kOffset) return words_[offset / 4];
  ControlStatus status;
  status.set<ControlStatus::Faults>(std::min(faults_.to_take(), 255U));
  status.set<ControlStatus::Messages>(static_cast<std::uint32_t>(inbox_.size()));
  status.set<ControlStatus::Room>(std::min(room(), 255U));
  status.set<ControlStatus::Invalidating>(invalidation_.busy() ? 1 : 0);
  return status.raw;
}

void ControlUnit::write(std::uint32_t offset, std::uint32_t value) {
  if (offset % 4 != 0 || offset >= abi::kControlWindowSize) return;
  switch (offset) {
    case ControlStatus::kOffset:
    case abi::FaultLow::kOffset:
    case abi::FaultHigh::kOffset:
    case abi::FaultAccessInfo::kOffset:
      return;
    case abi::FaultNext::kOffset:
      return take_fault();
    case abi::Reply::kOffset:
      return reply(abi::Reply::from_raw(value));
    case abi::Invalidate::kOffset:
      return invalidate(abi::Invalidate::from_raw(value));
    case abi::OutboxSend::kOffset:
      return send();
    case abi::InboxNext::kOffset: {
      if (inbox_.empty()) return;
      std::memcpy(&word(abi::kInbox), inbox_.front().words.data(), sizeof(abi::Message));
      inbox_.pop_front();
      ++taken_;
      return;
    }
    default:
      word(offset) = value;
  }
}

void ControlUnit::take_fault() {
  abi::FaultAccessInfo info;
  if (const auto record = faults_.take()) {
    word(abi::FaultLow::kOffset) = static_cast<std::uint32_t>(record->address);
    word(abi::FaultHigh::kOffset) = static_cast<std::uint32_t>(record->address >> 32);
    info.set<abi::FaultAccessInfo::Core>(record->core);
    info.set<abi::FaultAccessInfo::Vmid>(record->vmid);
    info.set<abi::FaultAccessInfo::Write>(record->write);
    info.set<abi::FaultAccessInfo::Forbidden>(record->forbidden);
    info.set<abi::FaultAccessInfo::Unit>(record->unit);
    info.set<abi::FaultAccessInfo::Valid>(1);
  }
  word(abi::FaultAccessInfo::kOffset) = info.raw;
}

std::uint64_t ControlUnit::address(std::uint32_t low) const {
  return std::uint64_t{words_[low / 4 + 1]} << 32 | words_[low / 4];
}

void ControlUnit::reply(abi::Reply reply) {
  faults_.reply(static_cast<std::uint8_t>(reply.get<abi::Reply::Vmid>()),
                address(abi::ReplyLow::kOffset), reply.get<abi::Reply::Abort>() != 0);
}

void ControlUnit::invalidate(abi::Invalidate value) {
  constexpr std::uint64_t kSpan = abi::entry_span(0);
  const auto vmid = value.get<abi::Invalidate::Vmid>();
  if (invalidation_.busy() || vmid >= abi::kVmids) return;
  const auto space = space_of(function_, vmid);
  const bool all = value.get<abi::Invalidate::WholeSpace>() != 0;
  const std::uint64_t page = align_down(address(abi::InvalidateLow::kOffset), kSpan);
  if (!all && page >> abi::kVirtualBits != 0) return;
  invalidation_.start(
      all ? all_of_spaces(space, 1)
          : TaggedRange{tagged_address(space, page), tagged_address(space, page + kSpan - 1)});
}

void ControlUnit::send() {
  if (size_ == 0 || room() == 0) return;
  abi::Message message;
  std::memcpy(message.words.data(), &word(abi::kOutbox), sizeof message);
  put(message);
}

void ControlUnit::put(const abi::Message& message) {
  const bool was_empty = produced_ == bank_.get<abi::MessageConsumer>().raw;
  auto& kept = outbox_[produced_ & (size_ - 1)];
  ++produced_;
  kept = message;
  kept.words[0] = (message.words[0] & 0xFFFF'FFFF) | std::uint64_t{produced_} << 32;
  post(produced_);
  if (was_empty) raise(0);
}

void ControlUnit::host_write_lost() {
  announcing_ = size_ != 0;
  if (!announcing_ || room() == 0) return;
  announcing_ = false;
  put({});
  raise(0);  // what was taken may not be known here
}

void ControlUnit::post(std::uint32_t number) {
  const std::uint64_t place = (number - 1) & (size_ - 1);
  port_.post(function_, base_ + sizeof(abi::Message) * place, outbox_[place], 0);
}

void ControlUnit::send_again() {
  const auto consumer = bank_.get<abi::MessageConsumer>().raw;
  if (size_ == 0 || produced_ - consumer > size_ || produced_ == consumer) return;
  for (auto number = consumer; number != produced_; ++number) post(number + 1);
  raise(0);
}

void ControlUnit::reset() {
  invalidation_.reset();
  running_ = false;
  size_ = produced_ = taken_ = received_ = 0;
  announcing_ = false;
  written_ = 0;
  base_ = 0;
  inbox_.clear();
  words_.fill(0);
}

}  // namespace npu::model
