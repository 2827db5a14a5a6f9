// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "driver/collectives/operation_plan.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kWindowUnit = 512;  // whole elements of every type, and even accesses

// What of an item is a turn's.
PlanRange window_of(const PlanItem& item, Bytes window, std::uint64_t turn) {
  const Bytes begin = std::min(item.size, turn * window);
  return {begin, std::min(item.size, begin + window)};
}

}  // namespace

Bytes exchange_window(const ExchangeRequest& request, Bytes buffer) {
  const Bytes each = request.one_item ? buffer : buffer / request.sends.size();
  return each / kWindowUnit * kWindowUnit;
}

std::optional<Plan> make_exchange(const ExchangeRequest& request, const PlanRank& me, Bytes window,
                                  std::uint64_t turn) {
  Plan plan(1);
  auto& step = plan.back();
  bool any = false;
  const auto copy = [&](PlanPlace from, PlanPlace to, Bytes size) {
    any = true;
    step.copies.push_back({from, to, size});
  };
  const auto& own = request.sends[me.rank];
  if (const auto now = window_of(own, window, turn); now.size() != 0) {
    copy({PlanMemory::kFrom, own.offset + now.begin},
         {PlanMemory::kTo, request.receives[me.rank].offset + now.begin}, now.size());
  }
  for (unsigned i = 1; i < me.ranks; ++i) {
    const unsigned reader = me.behind(i), peer = me.before(i);
    const auto& send = request.sends[reader];
    if (const auto now = window_of(send, window, turn); now.size() != 0) {
      if (step.readers.empty() || !request.one_item) {
        copy({PlanMemory::kFrom, send.offset + now.begin},
             {PlanMemory::kBuffer, request.one_item ? 0 : reader * window}, now.size());
      }
      step.readers.push_back(reader);
    }
    const auto& receive = request.receives[peer];
    if (const auto now = window_of(receive, window, turn); now.size() != 0) {
      any = true;
      step.reads.push_back({peer,
                            request.one_item ? 0 : me.rank * window,
                            {PlanMemory::kTo, receive.offset + now.begin},
                            now.size(),
                            request.reduces});
    }
  }
  if (!any) return std::nullopt;
  return plan;
}

}  // namespace npu::driver
