// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/page_invalidator.hpp"

#include <fmt/format.h>

#include "npu/abi/registers.hpp"

namespace npu::driver {

using abi::PageInvalidate;

Result<bool> PageInvalidator::invalidate(unsigned vmid, std::uint64_t page, Instant deadline) {
  auto& clock = link_.clock();
  if (auto ok = link_.alive(); !ok) return forward_error(ok);
  ++number_;
  link_.write(abi::PageInvalidateAddress::from_raw(page));
  link_.platform().write_barrier();
  link_.write(PageInvalidate{}
                  .set<PageInvalidate::Vmid>(vmid)
                  .set<PageInvalidate::Number>(number_)
                  .set<PageInvalidate::Start>(1));
  for (;;) {
    // A card that does not decode memory now may do so later.
    const auto value = link_.read<PageInvalidate>();
    if (!value && value.error().code == ErrorCode::kDeviceLost) return forward_error(value);
    if (value && !value->get<PageInvalidate::Start>()) {
      const bool begun = value->get<PageInvalidate::Number>() == number_;
      return begun && !value->get<PageInvalidate::WritesLost>();
    }
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("{}: the MMU has not dropped the translation of {:#x} of VMID {}",
                              to_string(link_.bdf()), page, vmid));
    }
    clock.relax({}, deadline);
  }
}

}  // namespace npu::driver
