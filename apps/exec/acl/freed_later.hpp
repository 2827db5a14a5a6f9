// SPDX-License-Identifier: Apache-2.0
// Memory that a program has freed while its streams had work in flight: it is given back when that
// has ended, so that no kernel or copy finds another owner's data at its address.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "npu/driver/execution_stream.hpp"
#include "npu/driver/types.hpp"

namespace npu::exec::acl {

class FreedLater {
 public:
  // Now, if nothing is in flight.
  void add(driver::DeviceAddress begin, Bytes size, std::vector<driver::StreamMark> in_flight,
           std::function<void()> give_back) {
    if (in_flight.empty()) return give_back();
    waiting_.push_back(std::make_shared<Freed>(
        Freed{begin.value, size, std::move(in_flight), std::move(give_back)}));
  }
  // Gives back what is not in use any more, and lets go of marks of work that has ended: a mark
  // must not outlive its card. Others may do the same while a look takes time.
  void reclaim() {
    for (const auto& freed : std::vector(waiting_)) {
      bool done = true;
      for (auto& each : freed->in_flight) {
        const auto mark = each;
        if (mark.is_done()) {
          each = {};
        } else {
          done = false;
        }
      }
      const auto place = std::find(waiting_.begin(), waiting_.end(), freed);
      if (!done || place == waiting_.end()) continue;
      waiting_.erase(place);
      freed->give_back();
    }
  }
  // Until there is less of it; false: there is none. For who needs the memory at once.
  bool wait_for_one(Instant deadline) {
    if (waiting_.empty()) return false;
    const auto oldest = waiting_.front();
    const auto marks = oldest->in_flight;
    for (const auto& mark : marks) static_cast<void>(mark.wait(deadline));
    reclaim();
    return std::find(waiting_.begin(), waiting_.end(), oldest) == waiting_.end();
  }
  // The program has freed some of these addresses.
  bool covers(driver::DeviceAddress address) const {
    for (const auto& each : waiting_) {
      if (address.value >= each->begin && address.value - each->begin < each->size) return true;
    }
    return false;
  }
  // What the space that ends gives back by itself.
  void clear() { waiting_.clear(); }

 private:
  struct Freed {
    std::uint64_t begin = 0;
    Bytes size = 0;
    std::vector<driver::StreamMark> in_flight;
    std::function<void()> give_back;
  };
  std::vector<std::shared_ptr<Freed>> waiting_;
};

}  // namespace npu::exec::acl
