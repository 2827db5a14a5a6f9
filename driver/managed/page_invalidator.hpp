// SPDX-License-Identifier: Apache-2.0
// Makes the card drop its translation of a managed page (PAGE_INVALIDATE), behind a change of its
// table entry. Beside what MemoryManager's mutex is for, which may be held for long. Not locked:
// FaultService is.
#pragma once

#include "driver/link/card_link.hpp"

namespace npu::driver {

class PageInvalidator {
 public:
  explicit PageInvalidator(CardLink& link) : link_(link) {}

  // `change()` writes the entry. Returns when that has arrived and no access uses a translation
  // from before; both are done again if the card has lost some of it. kTimeout, kDeviceLost.
  template <class Change>
  Status drop(unsigned vmid, std::uint64_t page, Change change) {
    const auto deadline = link_.ready_deadline();
    for (;;) {
      change();
      const auto arrived = invalidate(vmid, page, deadline);
      if (!arrived) return forward_error(arrived);
      if (*arrived) return {};
    }
  }

 private:
  // False: the card has lost writes before.
  Result<bool> invalidate(unsigned vmid, std::uint64_t page, Instant deadline);

  CardLink& link_;
  std::uint8_t number_ = 0;  // of the last one
};

}  // namespace npu::driver
