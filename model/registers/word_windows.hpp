// SPDX-License-Identifier: Apache-2.0
// Parts of BAR0 that show arrays of 64-bit words which are worked out when they are read.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "npu/abi/telemetry.hpp"

namespace npu::model {

class WordWindows {
 public:
  using Read = std::function<std::uint64_t(std::uint32_t word)>;

  void add(abi::WordWindow window, Read read) { all_.emplace_back(window, std::move(read)); }

  // A host read of whole double words. False: not all of it lies in one window, nothing was done.
  bool read(std::uint64_t offset, unsigned char* data, std::size_t length) const {
    if (offset % 4 != 0 || length % 4 != 0) return false;
    for (const auto& [window, word] : all_) {
      if (offset < window.offset || offset + length > window.end()) continue;
      const std::uint64_t begin = offset - window.offset;
      for (std::uint64_t at = begin; at < begin + length; at += 4, data += 4) {
        const auto half =
            static_cast<std::uint32_t>(word(static_cast<std::uint32_t>(at / 8)) >> (8 * (at % 8)));
        std::memcpy(data, &half, 4);
      }
      return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<abi::WordWindow, Read>> all_;
};

}  // namespace npu::model
