// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/message_channel.hpp"

#include <fmt/format.h>

#include "driver/event/wait_loop.hpp"
#include "driver/managed/sure_write.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

using abi::Message;
using abi::MessageControl;

Result<std::unique_ptr<MessageChannel>> MessageChannel::create(CardLink& link, unsigned vector) {
  auto memory = link.platform().allocate_dma(link.bdf(), kMessages * sizeof(Message), 4096,
                                             platform::DmaDirection::kDeviceWrites);
  if (!memory) return forward_error(memory);
  std::unique_ptr<MessageChannel> channel(new MessageChannel(link, std::move(*memory)));
  const auto base = abi::MessageBase::from_raw(channel->memory_->bus().value);
  if (auto ok = write_surely(link, base); !ok) return forward_error(ok);
  const auto control = MessageControl{}
                           .set<MessageControl::Enable>(1)
                           .set<MessageControl::Log2Messages>(kLog2Messages)
                           .set<MessageControl::Vector>(vector);
  if (auto ok = write_surely(link, control); !ok) return forward_error(ok);
  return channel;
}

// The program has ended. Its last message may still be on its way: the memory goes when the card
// has answered.
MessageChannel::~MessageChannel() {
  if (!link_.lost()) static_cast<void>(link_.read<abi::ControlState>());
}

ConstByteSpan MessageChannel::next() const {
  return ConstByteSpan{memory_->cpu().data + place(), 8};
}

std::optional<Message> MessageChannel::take_new() {
  if (!has_come()) return std::nullopt;
  link_.platform().read_barrier();
  Message message;
  for (std::size_t i = 0; i < message.words.size(); ++i) {
    message.words[i] = memory_->load<std::uint64_t>(place() + i * 8);
  }
  ++taken_;
  seen_taken_ = static_cast<std::uint32_t>(message.words[3]);
  return message;
}

std::optional<Message> MessageChannel::take() {
  if (put_off_.empty()) return take_new();
  const Message message = put_off_.front();
  put_off_.pop_front();
  return message;
}

void MessageChannel::acknowledge() {
  if (taken_ == acknowledged_) return;
  acknowledged_ = taken_;
  link_.write(abi::MessageConsumer::from_raw(taken_));
}

// `kept_` is in the order of numbers. What the card answers is behind what it wrote before.
bool MessageChannel::look() {
  const auto received = link_.read<abi::MessageReceived>();
  if (!received) return false;
  for (const auto& sent : kept_) {
    if (static_cast<std::int32_t>(sent.number - received->raw) > 0) write(sent);
  }
  link_.write(abi::MessageConsumer::from_raw(acknowledged_));
  const auto now = link_.read<abi::MessageReceived>();
  return now && now->raw == sent_;
}

void MessageChannel::write(const Sent& sent) {
  const auto& words = sent.message.words;
  if (sent.words > 1) link_.write(abi::MessageWord1::from_raw(words[1]));
  if (sent.words > 2) link_.write(abi::MessageWord2::from_raw(words[2]));
  if (sent.words > 3) link_.write(abi::MessageWord3::from_raw(words[3]));
  link_.write(abi::MessageSend::from_raw(words[0]));
}

Status MessageChannel::send(const Message& message, unsigned words) {
  auto& clock = link_.clock();
  const auto deadline = link_.ready_deadline();
  auto look_at = clock.now() + kFirstProbe;
  while (sent_ - seen_taken_ >= abi::kMessageSlots) {
    const auto taken = link_.read<abi::MessageTaken>();
    if (!taken && taken.error().code == ErrorCode::kDeviceLost) return forward_error(taken);
    if (taken) seen_taken_ = taken->raw;
    // It may itself wait for room.
    while (const auto come = take_new()) put_off(*come);
    acknowledge();
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("{}: the pager takes no messages", to_string(link_.bdf())));
    }
    if (clock.now() >= look_at) {
      static_cast<void>(look());
      look_at = clock.now() + kFirstProbe;
    }
    clock.relax({}, std::min(deadline, look_at));
  }
  while (!kept_.empty() && static_cast<std::int32_t>(kept_.front().number - seen_taken_) <= 0) {
    kept_.pop_front();
  }
  Sent sent{++sent_, words, message};
  using Head = abi::MessageSend;
  sent.message.words[0] |= (std::uint64_t{words} - 1) << Head::Words::kLow |
                           std::uint64_t{sent.number & 0xFF} << Head::Number::kLow;
  write(sent);
  kept_.push_back(sent);
  return {};
}

}  // namespace npu::driver
