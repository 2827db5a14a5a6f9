// SPDX-License-Identifier: Apache-2.0
// A register that reads as what was written, written until it does: a card that decodes no memory
// for a moment loses writes, and nothing else tells of that.
#pragma once

#include <fmt/format.h>

#include "driver/link/card_link.hpp"

namespace npu::driver {

// kTimeout, kDeviceLost.
template <class R>
Status write_surely(CardLink& link, R value) {
  auto& clock = link.clock();
  const auto deadline = link.ready_deadline();
  for (;;) {
    link.write(value);
    const auto back = link.read<R>();
    if (back && back->raw == value.raw) return {};
    if (!back && back.error().code == ErrorCode::kDeviceLost) return forward_error(back);
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, fmt::format("{}: {} does not keep what is written",
                                                   to_string(link.bdf()), R::kName));
    }
    clock.relax({}, deadline);
  }
}

}  // namespace npu::driver
