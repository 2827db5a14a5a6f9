// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_registers.hpp"

#include <algorithm>

namespace npu::model {
namespace {

// Argument of arrives(): a word of a window of less than 2^13 bytes.
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

AicpuRegisters::AicpuRegisters(AicpuShared& shared, AicpuThread& thread, PollRounds& rounds,
                               AicpuWork& work)
    : shared_(shared),
      thread_(thread),
      rounds_(rounds),
      work_(work),
      load_(ticks(shared.config.register_load)),
      posted_(shared.config.register_stores, ticks(shared.config.register_store_done)) {}

void AicpuRegisters::reset() {
  visible_.clear();
  ++resets_;
}

unsigned AicpuRegisters::windows() const {
  const auto function = function_of(thread_.space());
  return function < shared_.windows_of.size()
             ? static_cast<unsigned>(shared_.windows_of[function].size())
             : 0;
}

std::optional<unsigned> AicpuRegisters::window(unsigned core, std::uint32_t offset) const {
  if (core >= windows() || offset >= abi::kCoreWindowSize || offset % 4 != 0) return {};
  const unsigned number = shared_.windows_of[function_of(thread_.space())][core];
  return number < kMostWindows ? std::optional(number) : std::nullopt;
}

void AicpuRegisters::store(unsigned core, std::uint32_t offset, std::uint32_t value) {
  thread_.check();
  rounds_.acted();
  ++work_.register_stores;
  const SimTime issued = posted_.post(std::max(thread_.local(), sim_now()));
  thread_.set_local(issued + ticks(shared_.config.register_store));
  const auto window = this->window(core, offset);
  if (!window) return;
  const SimTime visible = issued + ticks(shared_.config.register_visible);
  if (core >= visible_.size()) visible_.resize(core + std::size_t{1});
  visible_[core] = visible;
  shared_.sim.agenda.at<&AicpuRegisters::arrives>(visible, *this,
                                                  Arrival{*window, offset, value, resets_}.pack());
}

void AicpuRegisters::arrives(std::uint64_t argument) {
  const auto arrival = Arrival::unpack(argument);
  if (arrival.resets != (resets_ & 0x1FF)) return;  // lost on its way
  if (!shared_.windows->open_to(arrival.core, function_of(thread_.space()))) return;
  shared_.windows->write(arrival.core, arrival.offset, arrival.value);
  shared_.register_written(arrival.core);
}

// A load does not overtake stores to the same window (Device-nGnRE).
std::uint32_t AicpuRegisters::load(unsigned core, std::uint32_t offset) {
  const std::uint64_t place = std::uint64_t{core} << 32 | offset;
  ++work_.register_loads;
  if (rounds_.replaying()) {
    if (const auto* const look = rounds_.replayed(true, place, 4)) {
      const std::uint64_t value = look->value;
      const SimTime began = rounds_.began();
      thread_.set_local(began + look->ended);
      rounds_.saw({place, value, began + look->sampled, thread_.local(), 4, true});
      return static_cast<std::uint32_t>(value);
    }
  }
  if (core < visible_.size()) thread_.reach(visible_[core]);
  thread_.pass(load_ - load_ / 2);
  thread_.synchronise();
  const SimTime sampled = thread_.local();
  const auto window = this->window(core, offset);
  const bool open = window && shared_.windows->open_to(*window, function_of(thread_.space()));
  const std::uint32_t value = open ? shared_.windows->read(*window, offset) : ~std::uint32_t{0};
  thread_.pass(load_ / 2);
  rounds_.saw({place, value, sampled, thread_.local(), 4, true});
  return value;
}

SimTime AicpuRegisters::stores_done() const {
  SimTime done = posted_.all_done();
  for (const SimTime visible : visible_) done = std::max(done, visible);
  return done;
}

}  // namespace npu::model
