// SPDX-License-Identifier: Apache-2.0
// How many launches of a client may be in flight: more by and by as long as they are done in time,
// fewer at once if they are not (AIMD).
#pragma once

#include <algorithm>

#include "npu/driver/time_slices.hpp"

namespace npu::driver {

class LaunchWindow {
 public:
  explicit LaunchWindow(const LaunchWindowOptions& options)
      : options_(options), size_(std::max(options.floor, std::min(options.start, options.most))) {}

  unsigned size() const { return size_; }
  // A launch of `begin` is done `now`, or is not yet. Launches from before the last change say
  // nothing; of the others a window of them makes it change, or the first that took too long.
  void note(Instant begin, Instant now) {
    if (begin < changed_) return;
    const bool late = now - begin > options_.target;
    if (!late && ++in_time_ < size_) return;
    size_ = late ? std::max(options_.floor, static_cast<unsigned>(std::uint64_t{size_} *
                                                                  options_.shrink_percent / 100))
                 : std::min(options_.most, size_ + options_.grow);
    in_time_ = 0;
    changed_ = now;
  }

 private:
  const LaunchWindowOptions options_;
  unsigned size_;
  unsigned in_time_ = 0;
  Instant changed_;
};

}  // namespace npu::driver
