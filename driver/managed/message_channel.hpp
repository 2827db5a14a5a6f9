// SPDX-License-Identifier: Apache-2.0
// Messages to and from the program on the card's control processor (abi/control.hpp). Not locked.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "driver/link/card_link.hpp"
#include "npu/abi/control.hpp"

namespace npu::driver {

class MessageChannel {
 public:
  static Result<std::unique_ptr<MessageChannel>> create(CardLink& link, unsigned vector);
  ~MessageChannel();
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  // The oldest that was put off, or has come; nothing: none has.
  std::optional<abi::Message> take();
  // Whether there is one to take.
  bool waits() const { return !put_off_.empty() || has_come(); }
  // Only what has come.
  std::optional<abi::Message> take_new();
  void put_off(const abi::Message& message) { put_off_.push_back(message); }
  // The oldest of those that were put off for which is_meant(message).
  template <class IsMeant>
  std::optional<abi::Message> take_put_off(IsMeant is_meant) {
    const auto found = std::find_if(put_off_.begin(), put_off_.end(), is_meant);
    if (found == put_off_.end()) return std::nullopt;
    const abi::Message message = *found;
    put_off_.erase(found);
    return message;
  }
  // An interrupt follows the next message, and if one has come since.
  void acknowledge();
  // What was lost on its way to the card is sent again. False: it does not answer now.
  bool look();
  // The first `words` of it, 1 to 4; the others mean nothing to the program. kTimeout: it takes no
  // messages.
  Status send(const abi::Message& message, unsigned words);
  // Which changes when a message comes.
  ConstByteSpan next() const;

 private:
  static constexpr unsigned kLog2Messages = 7;
  static constexpr std::uint32_t kMessages = 1U << kLog2Messages;

  MessageChannel(CardLink& link, std::unique_ptr<platform::DmaMemory> memory)
      : link_(link), memory_(std::move(memory)) {}

  Bytes place() const { return taken_ % kMessages * sizeof(abi::Message); }
  bool has_come() const { return memory_->load<std::uint32_t>(place() + 4) == taken_ + 1; }

  struct Sent {
    std::uint32_t number = 0;
    unsigned words = 0;
    abi::Message message;
  };
  void write(const Sent& sent);

  CardLink& link_;
  std::unique_ptr<platform::DmaMemory> memory_;
  std::deque<abi::Message> put_off_;
  std::uint32_t taken_ = 0, acknowledged_ = 0;
  std::uint32_t sent_ = 0, seen_taken_ = 0;
  std::deque<Sent> kept_;  // that the program is not known to have taken
};

}  // namespace npu::driver
