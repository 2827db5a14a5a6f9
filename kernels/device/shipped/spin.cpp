// SPDX-License-Identifier: Apache-2.0
// A kernel whose blocks take so many clocks as its one argument word says: work for queues.
#include <algorithm>

#include "npu/aicore/kernel.hpp"

namespace {

constexpr std::uint64_t kPiece = 1U << 30;

int spin(npu::platform::AicorePort& port) {
  const npu::aicore::Arguments arguments(port, 1);
  for (auto left = arguments.word(0); left > 0;) {
    const auto piece = std::min(left, kPiece);
    port.scalar(static_cast<unsigned>(piece));
    left -= piece;
  }
  return 0;
}

}  // namespace

NPU_KERNEL(spin, 1)
