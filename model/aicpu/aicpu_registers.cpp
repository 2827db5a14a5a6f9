// SPDX-License-Identifier: Apache-2.0
// An AICPU's accesses to the register windows of AI Cores (runtime.md A1): posted stores in
// order, loads one after another.
#include <algorithm>

#include "model/aicpu/aicpu_core.hpp"

namespace npu::model {
namespace {

// Argument of register_arrives(): a word of a window of less than 2^13 bytes.
struct Arrival {
  unsigned core;  // 12 bits
  std::uint32_t offset, value;
  std::uint32_t resets;  // that the core had seen then; 9 bits

  std::uint64_t pack() const {
    return std::uint64_t{resets & 0x1FF} << 55 | std::uint64_t{core} << 43 |
           std::uint64_t{offset / 4} << 32 | value;
  }
  static Arrival unpack(std::uint64_t v) {
    return {static_cast<unsigned>(v >> 43 & 0xFFF), static_cast<std::uint32_t>(v >> 32 & 0x7FF) * 4,
            static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 55)};
  }
};
constexpr unsigned kMostWindows = 0x1000;
static_assert(abi::kCoreWindowSize <= 0x2000);

}  // namespace

unsigned AicpuCore::core_windows() const {
  const auto function = function_of(block_.vmid);
  return function < shared_.windows_of.size()
             ? static_cast<unsigned>(shared_.windows_of[function].size())
             : 0;
}

// The card's number of a window that the program has, if there is such a register.
std::optional<unsigned> AicpuCore::window(unsigned core, std::uint32_t offset) const {
  if (core >= core_windows() || offset >= abi::kCoreWindowSize || offset % 4 != 0) return {};
  const unsigned number = shared_.windows_of[function_of(block_.vmid)][core];
  return number < kMostWindows ? std::optional(number) : std::nullopt;
}

void AicpuCore::store_register(unsigned core, std::uint32_t offset, std::uint32_t value) {
  check();
  rounds_.acted();
  ++statistics_.register_stores;
  const SimTime issued = register_stores_.post(std::max(local_, sim_now()));
  local_ = issued + ticks(shared_.config.register_store);
  const auto window = this->window(core, offset);
  if (!window) return;
  const SimTime visible = issued + ticks(shared_.config.register_visible);
  if (core >= register_visible_.size()) register_visible_.resize(core + std::size_t{1});
  register_visible_[core] = visible;
  sim_.agenda.at<&AicpuCore::register_arrives>(visible, *this,
                                               Arrival{*window, offset, value, resets_}.pack());
}

void AicpuCore::register_arrives(std::uint64_t argument) {
  const auto arrival = Arrival::unpack(argument);
  if (arrival.resets != (resets_ & 0x1FF)) return;  // lost on its way
  if (!shared_.windows->open_to(arrival.core, function_of(block_.vmid))) return;
  shared_.windows->write(arrival.core, arrival.offset, arrival.value);
  shared_.register_written(arrival.core);
}

// A load does not overtake stores to the same window (Device-nGnRE).
std::uint32_t AicpuCore::load_register(unsigned core, std::uint32_t offset) {
  const std::uint64_t place = std::uint64_t{core} << 32 | offset;
  ++statistics_.register_loads;
  if (rounds_.replaying()) {
    if (const auto* const look = rounds_.replayed(true, place, 4)) {
      const std::uint64_t value = look->value;
      const SimTime began = rounds_.began();
      local_ = began + look->ended;
      rounds_.saw({place, value, began + look->sampled, local_, 4, true});
      return static_cast<std::uint32_t>(value);
    }
  }
  if (core < register_visible_.size()) local_ = std::max(local_, register_visible_[core]);
  local_ += register_load_ - register_load_ / 2;
  synchronise();
  const SimTime sampled = local_;
  const auto window = this->window(core, offset);
  const bool open = window && shared_.windows->open_to(*window, function_of(block_.vmid));
  const std::uint32_t value = open ? shared_.windows->read(*window, offset) : ~std::uint32_t{0};
  local_ += register_load_ / 2;
  rounds_.saw({place, value, sampled, local_, 4, true});
  return value;
}

}  // namespace npu::model
