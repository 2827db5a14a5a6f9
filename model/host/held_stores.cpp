// SPDX-License-Identifier: Apache-2.0
#include "model/host/held_stores.hpp"

#include <algorithm>
#include <cstring>

namespace npu::model {
namespace {

bool same_bytes(const HeldStore& held, std::uint64_t address, unsigned width) {
  return held.address < address + width && address < held.address + held.length;
}

}  // namespace

// Nothing newer touches its bytes: it is the last store to its line.
void HeldStores::put_behind(HeldStore& store, std::uint64_t address, unsigned width) {
  SimTime leaves = store.leaves;
  for (const auto& held : held_) {
    if (same_bytes(held, address, width)) leaves = std::max(leaves, held.leaves);
  }
  if (leaves == store.leaves) return;
  store.leaves = leaves;
  agenda_.at<&HeldStores::serve>(leaves, *this);
}

// With a store that is held, of the same line: on its bytes or right behind them.
bool HeldStores::join(const HeldStore& store) {
  const auto line = store.bytes.size();
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) {
    if (held->address / line != store.address / line) continue;
    const auto at = store.address - held->address;
    const bool fits = held->combines && store.address >= held->address && at <= held->length;
    if (!fits) return false;  // what is older may be behind this one, which has the same bytes
    std::memcpy(held->bytes.data() + at, store.bytes.data(), store.length);
    held->length = std::max(held->length, static_cast<unsigned>(at) + store.length);
    ++held->stores;
    ++next_;
    put_behind(*held, store.address, store.length);
    return true;
  }
  return false;
}

std::uint64_t HeldStores::enter(HeldStore store) {
  if (store.combines && join(store)) return next_ - 1;
  store.number = next_++;
  const SimTime longest = store.combines ? kLongest : longest_register_;
  const SimTime wait = order_.time(order_.half() ? longest : kShort);
  store.leaves = store.issued + wait;
  if (!store.combines) {
    for (const auto& held : held_) {
      const bool in_order = !held.combines && held.bar.function == store.bar.function;
      if (in_order) store.leaves = std::max(store.leaves, held.leaves);
    }
  }
  held_.push_back(store);
  agenda_.at<&HeldStores::serve>(store.leaves, *this);
  put_behind(held_.back(), store.address, store.length);
  return store.number;
}

void HeldStores::before_load(std::uint64_t address, unsigned width, const MappedBar& bar,
                             bool combines) {
  SimTime until = 0;
  for (const auto& held : held_) {
    const bool registers = !combines && !held.combines && held.bar.function == bar.function;
    if (!registers && !same_bytes(held, address, width)) continue;
    until = std::max(until, held.leaves);
  }
  leave_until(until);
}

void HeldStores::drain() {
  leave_until(UINT64_MAX);
}

void HeldStores::serve(std::uint64_t) {
  leave_until(sim_now());
}

// What leaves at the same time does so in program order.
void HeldStores::leave_until(SimTime time) {
  for (;;) {
    const auto first = std::min_element(
        held_.begin(), held_.end(),
        [](const HeldStore& a, const HeldStore& b) { return a.leaves < b.leaves; });
    if (first == held_.end() || first->leaves > time) return;
    const HeldStore store = *first;
    held_.erase(first);
    leave_(store, held_);
  }
}

}  // namespace npu::model
