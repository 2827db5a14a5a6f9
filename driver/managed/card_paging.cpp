// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/card_paging.hpp"

#include "driver/managed/card_pages.hpp"

namespace npu::driver {

Result<std::uint32_t> CardPaging::take() {
  for (;;) {
    const auto slot = slots_.create();
    if (slot) return slot;
    const auto oldest = slots_.oldest(slots_.now());
    if (oldest == abi::kNoSlot) return slot;
    if (auto ok = slots_[oldest].pages->evict(oldest); !ok) return forward_error(ok);
  }
}

}  // namespace npu::driver
