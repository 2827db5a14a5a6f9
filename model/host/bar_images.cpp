// SPDX-License-Identifier: Apache-2.0
#include "model/host/bar_images.hpp"

namespace npu::model {

void BarImages::set(unsigned bar, Bytes size, std::uint32_t flags) {
  if (size == 0) return;
  const std::uint64_t address_bits = ~(size - 1);
  image_[bar] = flags & 0xF;
  mask_[bar] = static_cast<std::uint32_t>(address_bits) & ~0xFU;
  if ((flags & 0x6) == 0x4 && bar + 1 < mask_.size()) {
    mask_[bar + 1] = static_cast<std::uint32_t>(address_bits >> 32);
  }
}

void BarImages::write(std::uint32_t offset, unsigned width, std::uint32_t value) {
  const std::uint32_t bar = offset / 4;
  const std::uint32_t shift = 8 * (offset % 4);
  const std::uint32_t written = width == 4 ? ~0U : ((1U << (8 * width)) - 1) << shift;
  const std::uint32_t changed = written & mask_[bar];
  image_[bar] = (image_[bar] & ~changed) | (value << shift & changed);
}

void BarImages::forget() {
  for (std::size_t bar = 0; bar < image_.size(); ++bar) image_[bar] &= ~mask_[bar];
}

}  // namespace npu::model
