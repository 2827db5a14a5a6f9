// SPDX-License-Identifier: Apache-2.0
// What an adaptive wait knows about a stream: per class of sizes (log2), the last few times from
// submission to completion. Their mean without the shortest and the longest follows a stream that
// turns faster or slower (or finds the link shared all of a sudden) within a window and ignores a
// single outlier. A moving mean of the same memory would do neither, and a median would jump
// between the modes of a stream that finds the link taken every other time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

struct LatencyEstimate {
  bool known = false;
  Picoseconds mean;
  Picoseconds early;      // few are done sooner
  bool was_long = false;  // the last wait was taken for a long one, so it slept all the time
};

class LatencyWindow {
 public:
  static constexpr unsigned kSamples = 7;

  void learn(Picoseconds sample, bool was_long) {
    samples_[next_] = sample;
    next_ = static_cast<std::uint8_t>((next_ + 1U) % kSamples);
    count_ = static_cast<std::uint8_t>(std::min(count_ + 1U, kSamples));
    was_long_ = was_long;
  }
  LatencyEstimate estimate() const {
    if (count_ == 0) return {};
    auto sorted = samples_;
    for (auto end = sorted.begin(); end != sorted.begin() + count_; ++end) {  // insertion sort
      std::rotate(std::upper_bound(sorted.begin(), end, *end), end, end + 1);
    }
    const unsigned cut = count_ / kFew;  // from either end
    Picoseconds sum;
    for (unsigned i = cut; i < count_ - cut; ++i) sum += sorted[i];
    const auto mean = sum / (count_ - 2 * cut);
    // Too few to show how much they scatter: assume an eighth.
    return {true, mean, cut == 0 ? sorted[0] - mean / 8 : sorted[cut], was_long_};
  }

 private:
  static constexpr unsigned kFew = 4;

  std::array<Picoseconds, kSamples> samples_{};  // a ring
  std::uint8_t next_ = 0, count_ = 0;
  bool was_long_ = false;
};

class LatencyPredictor {
 public:
  static constexpr unsigned kClasses = 40;  // up to 1 TiB

  LatencyEstimate estimate(unsigned size_class) const {
    return classes_[std::min(size_class, kClasses - 1)].estimate();
  }
  void learn(unsigned size_class, Picoseconds sample, bool was_long) {
    classes_[std::min(size_class, kClasses - 1)].learn(sample, was_long);
  }
  void forget() { classes_.fill(LatencyWindow{}); }

 private:
  std::array<LatencyWindow, kClasses> classes_{};
};

}  // namespace npu::driver
