// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/rt/stubs.hpp"

#include "apps/compat/client/signals_held.hpp"

namespace npu::compat {

// Left alone at the process' end: threads may still be in calls.
Stubs& Stubs::all() {
  static Stubs* const kAll = new Stubs;
  return *kAll;
}

bool Stubs::add(const void* stub, void* binary, void* function, const char* name) {
  const Locked held(lock_);
  return stubs_.insert({stub, {binary, function, name}}).second;
}

void* Stubs::function_of(const void* stub) {
  const Locked held(lock_);
  const auto found = stubs_.find(stub);
  return found == stubs_.end() ? nullptr : found->second.function;
}

const void* Stubs::find(const char* name) {
  const Locked held(lock_);
  for (const auto& [stub, of] : stubs_) {
    if (of.name == name) return stub;
  }
  return nullptr;
}

void Stubs::forget(const void* binary) {
  const Locked held(lock_);
  for (auto each = stubs_.begin(); each != stubs_.end();) {
    each = each->second.binary == binary ? stubs_.erase(each) : std::next(each);
  }
}

}  // namespace npu::compat
