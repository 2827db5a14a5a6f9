// SPDX-License-Identifier: Apache-2.0
// One slice of an L2: its timeline, its buffers for misses and write-backs, and the requests that
// wait here for one of them or for a way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/core/agenda.hpp"
#include "model/l2/line_store.hpp"

namespace npu::model {

class L2Slice {
 public:
  L2Slice(unsigned miss_buffers, unsigned write_buffers);

  // A line's turn of length `time`, behind all before it; when it begins.
  SimTime occupy(SimTime earliest, SimTime time) {
    const SimTime start = std::max(earliest, free_);
    free_ = start + time;
    return start;
  }

  // Lines on their way here, each with the number of the read that brings it.
  bool has_miss_buffer() const { return misses_.size() < miss_buffers_; }
  bool has_misses() const { return !misses_.empty(); }
  void begin_miss(Line line, std::uint32_t fill) { misses_.push_back({line, fill}); }
  std::uint32_t fill_of(Line line) const;
  void end_miss(Line line);

  // Lines on their way to the HBM. What others write takes a buffer even if there is none, since
  // nobody can be made to wait for that.
  bool has_write_buffer() const { return write_backs_ < write_buffers_; }
  void begin_write_back() { ++write_backs_; }
  void end_write_back() { --write_backs_; }

  // Requests by number, in their order. One that has to wait again after its turn stays in front.
  bool has_blocked() const { return !blocked_.empty(); }
  void block(std::uint32_t request) { blocked_.push_back(request); }
  void block_again(std::uint32_t request) { blocked_.push_front(request); }
  std::uint32_t take_blocked() {
    const std::uint32_t request = blocked_.front();
    blocked_.pop_front();
    return request;
  }

 private:
  struct Miss {
    Line line;
    std::uint32_t fill;
  };

  unsigned miss_buffers_, write_buffers_;
  SimTime free_ = 0;
  std::vector<Miss> misses_;
  unsigned write_backs_ = 0;
  std::deque<std::uint32_t> blocked_;
};

}  // namespace npu::model
