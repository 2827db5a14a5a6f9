// SPDX-License-Identifier: Apache-2.0
// Work of which a number of items is on its way at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::bench {

inline constexpr std::uint64_t kItems = 200'000;
inline constexpr std::uint64_t kInFlight = 256;  // items between a submission and its wait

// `submit(i)` gives a ticket (Result<Ticket>) for each of kItems items, `wait(i, ticket)` waits for
// the item (Status); always kInFlight apart.
template <class Ticket, class Submit, class Wait>
Status keep_in_flight(const Submit& submit, const Wait& wait) {
  std::vector<Ticket> tickets(kInFlight);
  for (std::uint64_t i = 0; i < kItems + kInFlight; ++i) {
    auto& ticket = tickets[i % kInFlight];
    if (i >= kInFlight) {
      if (auto done = wait(i - kInFlight, ticket); !done) return done;
    }
    if (i >= kItems) continue;
    auto submitted = submit(i);
    if (!submitted) return forward_error(submitted);
    ticket = *submitted;
  }
  return {};
}

}  // namespace npu::bench
