// SPDX-License-Identifier: Apache-2.0
// What has happened before what: vector clocks over the pipes of all cores. A pipe counts what it
// does. A clock says how much of each pipe is known to be over.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "npu/platform/aicore_port.hpp"

namespace npu::model {

// The n-th thing that a pipe of a core does, from 1 on.
struct Moment {
  std::uint16_t core = 0;
  platform::Pipe pipe = platform::Pipe::kScalar;
  std::uint32_t number = 0;
};

class Clock {
 public:
  using Counts = std::array<std::uint32_t, platform::kPipes>;

  explicit Clock(std::uint16_t core = 0) : core_(core) {}

  bool covers(const Moment& moment) const {
    return count(moment.core, moment.pipe) >= moment.number;
  }
  std::uint32_t count(std::uint16_t core, platform::Pipe pipe) const {
    const auto index = static_cast<std::size_t>(pipe);
    if (core == core_) return own_[index];
    return others_ && core < others_->size() ? (*others_)[core][index] : 0;
  }
  void set(platform::Pipe pipe, std::uint32_t number) {
    own_[static_cast<std::size_t>(pipe)] = number;
  }
  // What either knows.
  void join(const Clock& other) {
    if (other.core_ == core_) {
      raise(own_, other.own_);
      if (others_ == other.others_ || !other.others_) return;
    }
    // Shared, since flags within a core change nothing of it.
    auto others = others_ ? std::make_shared<Others>(*others_) : std::make_shared<Others>();
    const auto cores = std::max<std::size_t>(other.others_ ? other.others_->size() : 0,
                                             std::max(core_, other.core_) + 1U);
    if (others->size() < cores) others->resize(cores);
    if (other.others_) {
      for (std::size_t i = 0; i < other.others_->size(); ++i)
        raise((*others)[i], (*other.others_)[i]);
    }
    if (other.core_ != core_) {
      raise((*others)[other.core_], other.own_);
      raise(own_, (*others)[core_]);
    }
    others_ = std::move(others);
  }

 private:
  using Others = std::vector<Counts>;

  static void raise(Counts& to, const Counts& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }

  std::uint16_t core_;
  Counts own_{};
  std::shared_ptr<const Others> others_;
};

}  // namespace npu::model
