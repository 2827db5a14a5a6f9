// SPDX-License-Identifier: Apache-2.0
// What work of a stream needs until it has ended: kernels' images, signals, memory. The work ends
// in the order in which it was submitted.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

class WorkInFlight {
 public:
  void add(StreamMark mark, std::shared_ptr<const void> kept) {
    if (kept == nullptr) return;
    if (work_.size() >= kMany) drop_ended();
    work_.push_back({std::move(mark), std::move(kept)});
  }
  // Everything until now; what is added while others wait is not among it.
  std::size_t size() const { return first_ + work_.size(); }
  // What was added before size() was `end` has ended.
  void ended(std::size_t end) {
    while (first_ < end && !work_.empty()) pop();
  }
  void clear() { ended(size()); }

 private:
  // Above this, each submission looks at the oldest.
  static constexpr std::size_t kMany = 256;

  struct Work {
    StreamMark mark;
    std::shared_ptr<const void> kept;
  };
  void drop_ended() {
    while (!work_.empty() && work_.front().mark.is_done()) pop();
  }
  void pop() {
    const auto last = std::move(work_.front());  // whose end may call back
    work_.pop_front();
    ++first_;
  }

  std::deque<Work> work_;
  std::size_t first_ = 0;  // how many came before
};

}  // namespace npu::driver
