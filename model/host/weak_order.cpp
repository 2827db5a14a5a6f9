// SPDX-License-Identifier: Apache-2.0
#include "model/host/weak_order.hpp"

#include <fmt/format.h>

namespace npu::model {
namespace {

std::string place(const HeldStore& store) {
  return fmt::format("BAR{}+{:#x}", store.bar.number, store.address - store.bar.address);
}

}  // namespace

WeakOrder::WeakOrder(Simulation& simulation, std::uint64_t seed, Post post)
    : simulation_(simulation),
      order_(seed),
      buffer_(simulation.agenda, order_,
              simulation.weakest ? HeldStores::kLongest : HeldStores::kLongestRegister,
              [this](const HeldStore& store, const auto& held) { leave(store, held); }),
      memory_(mixed(seed)),
      post_(std::move(post)) {}

// Empty: the card does not act on it.
std::string WeakOrder::trigger_text(const HeldStore& store) const {
  if (store.combines || !trigger_of_ || store.bar.number == MappedBar::kNone) return {};
  const auto name =
      trigger_of_(store.bar.function, store.bar.number, store.address - store.bar.address);
  if (name.empty()) return {};
  return fmt::format("{} ({} {})", name, to_string(store.bar.function), place(store));
}

void WeakOrder::of_core(unsigned core) {
  if (core != core_) drain();
  core_ = core;
}

void WeakOrder::enter(unsigned core, const HeldStore& store) {
  of_core(core);
  time_passes(store.issued);
  const bool is_trigger = !trigger_text(store).empty();
  const auto number = buffer_.enter(store);
  if (!is_trigger) return;
  memory_.mark();
  last_trigger_.clear();
  marked_by_ = number;
}

void WeakOrder::before_load(unsigned core, std::uint64_t address, unsigned width,
                            const MappedBar& bar, bool combines) {
  of_core(core);
  buffer_.before_load(address, width, bar, combines);
}

void WeakOrder::leave(const HeldStore& store, const std::vector<HeldStore>& held) {
  post_(store);
  const auto trigger = trigger_text(store);
  if (trigger.empty()) return;
  if (store.number == marked_by_) last_trigger_ = trigger;
  std::uint64_t stores = 0;
  const HeldStore* first = nullptr;
  for (const auto& other : held) {
    if (!other.combines || other.number > store.number) continue;
    if (first == nullptr) first = &other;
    stores += other.stores;
  }
  if (first != nullptr) overtaken_.record(stores, trigger, place(*first));
}

// Not earlier than half of the longest time: what is stored now may be seen late.
void WeakOrder::time_passes(SimTime now) {
  if (is_due_) return;
  is_due_ = true;
  const SimTime when = now + kLongest / 2 + order_.time(kLongest / 2);
  simulation_.agenda.at<&WeakOrder::publish>(when, *this);
}

void WeakOrder::publish(std::uint64_t) {
  is_due_ = false;
  last_trigger_.clear();
  memory_.publish();
}

void WeakOrder::drain() {
  buffer_.drain();
  last_trigger_.clear();
  memory_.publish();
}

std::byte* WeakOrder::device_reads(std::byte* data, Bytes length) {
  const auto look = memory_.look(data, length);
  if (look.stale != 0 && !last_trigger_.empty()) {
    overtaken_.record(look.stale, last_trigger_,
                      fmt::format("host memory at bus address {:#x}", look.first));
  }
  return look.data;
}

}  // namespace npu::model
