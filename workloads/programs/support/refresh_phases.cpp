// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/refresh_phases.hpp"

#include "model/config/system_config.hpp"

namespace npu::workloads {
namespace {

Picoseconds round_of(const model::HbmTimings& timings) {
  const std::uint64_t banks =
      std::uint64_t{timings.stacks} * timings.bank_groups * timings.banks_per_group;
  const bool per_bank = timings.trfc_pb != 0;
  const std::uint64_t clocks = per_bank ? static_cast<std::uint64_t>(timings.trefi_pb) * banks
                                        : static_cast<std::uint64_t>(timings.trefi);
  return Picoseconds(
      static_cast<std::int64_t>(clocks * 1'000'000 / (timings.clock_hz / 1'000'000)));
}

}  // namespace

RefreshPhases::RefreshPhases(Context& context, std::size_t card, std::uint64_t count)
    : context_(context), count_(static_cast<std::int64_t>(count)) {
  if (context.machine == nullptr || card >= context.machine->cards.size()) return;
  round_ = round_of(context.machine->cards[card].hbm.timings);
}

void RefreshPhases::wait(std::uint64_t index) {
  if (round_ == Picoseconds()) return;
  auto& clock = context_.platform.clock();
  const std::int64_t round = round_.count();
  const std::int64_t rounds = (clock.now() + round_).since_power_up().count() / round + 1;
  const std::int64_t phase = static_cast<std::int64_t>(index) * round / count_;
  clock.sleep_until(Instant(Picoseconds(rounds * round + phase)));
}

}  // namespace npu::workloads
