// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/heap.hpp"

#include "apps/compat/client/request.hpp"

namespace npu::compat {

int look_at(std::uint64_t address, PagePlace* place) {
  wire::PointerAttributes there;
  const int status = ask<Call::kPointerAttributes>({address}, &there);
  if (status != 0) return status;
  *place = {there.location == wire::kLocationManaged, there.heap != 0,
            there.page == wire::kPageOnHost};
  return 0;
}

int prefetch_heap(std::uint64_t address, std::size_t length, std::int64_t device) {
  constexpr std::uint64_t kPage = std::uint64_t{2} << 20, kOnDevice = 1;
  if (address == 0 || length == 0 || address % kPage != 0) return kRuntimeParameter;
  const OnDevice on;
  for (std::uint64_t at = 0; at < length; at += kPage) {
    PagePlace place;
    const int status = look_at(address + at, &place);
    if (status != 0) return status;
    if (!place.managed || !place.heap || !place.on_host) return kRuntimeParameter;
  }
  return ask<Call::kManagedPrefetch>(
      {address, length, {kOnDevice, static_cast<std::uint32_t>(device)}, 0, 1});
}

}  // namespace npu::compat
