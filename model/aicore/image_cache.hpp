// SPDX-License-Identifier: Apache-2.0
// Which images a core's instruction cache holds, by their digests: the last used ones that fit.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "npu/abi/kernel_image.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class ImageCache {
 public:
  explicit ImageCache(Bytes size) : size_(size) {}

  // Also makes it the one that was used last.
  bool holds(const abi::ImageHeader& header) {
    const auto found = std::find_if(images_.begin(), images_.end(), [&](const Image& image) {
      return image.digest == header.digest;
    });
    if (found == images_.end()) return false;
    std::rotate(images_.begin(), found, found + 1);
    return true;
  }
  // One that is larger than all of the cache is not kept.
  void keep(const abi::ImageHeader& header) {
    if (header.size > size_) return;
    images_.insert(images_.begin(), {header.digest, header.size});
    Bytes held = 0;
    const auto out = std::find_if(images_.begin(), images_.end(), [&](const Image& image) {
      held += image.size;
      return held > size_;
    });
    images_.erase(out, images_.end());
  }
  void clear() { images_.clear(); }

 private:
  struct Image {
    std::array<std::uint8_t, 32> digest;
    Bytes size;
  };

  const Bytes size_;
  std::vector<Image> images_;  // last used first
};

}  // namespace npu::model
