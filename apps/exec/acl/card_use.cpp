// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/card_use.hpp"

#include <numeric>

#include "apps/exec/acl/guard.hpp"

namespace npu::exec::acl {

CardUse::CardUse(platform::Platform& platform, driver::Device& device)
    : lock_(platform.tasks().make_mutex()),
      access_(driver::manage(device)),
      management_(*access_) {}

Value<BusyCard> CardUse::take() {
  const Guard held(*lock_);
  const auto cube = management_.core_use(driver::CoreKind::kCube);
  if (!cube) return fault(cube.error());
  const auto vector = management_.core_use(driver::CoreKind::kVector);
  if (!vector) return fault(vector.error());
  const auto aicpus = management_.aicpu_uses();
  if (!aicpus) return fault(aicpus.error());
  BusyCard busy{*cube, *vector, 0};
  const auto sum = std::accumulate(aicpus->begin(), aicpus->end(), driver::Percent{0});
  if (!aicpus->empty()) busy.aicpus = sum / static_cast<driver::Percent>(aicpus->size());
  return busy;
}

}  // namespace npu::exec::acl
