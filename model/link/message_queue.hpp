// SPDX-License-Identifier: Apache-2.0
// Messages that wait, in order. Takes no more memory than twice what waits at most, and allocates
// nothing once it has been that long.
#pragma once

#include <tlm>
#include <vector>

namespace npu::model {

class MessageQueue {
 public:
  bool empty() const { return head_ == messages_.size(); }
  tlm::tlm_generic_payload& front() const { return *messages_[head_]; }
  void push(tlm::tlm_generic_payload& message) { messages_.push_back(&message); }
  tlm::tlm_generic_payload& pop() {
    auto& message = front();
    ++head_;
    if (2 * head_ >= messages_.size()) {
      messages_.erase(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return message;
  }

 private:
  std::vector<tlm::tlm_generic_payload*> messages_;
  std::size_t head_ = 0;
};

}  // namespace npu::model
