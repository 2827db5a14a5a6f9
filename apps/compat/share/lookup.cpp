// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/share/lookup.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>

#include "apps/compat/share/hooks.hpp"

namespace npu::share {
namespace {

// noexcept as dlsym() is: else a call from there is none in its place.
using Lookup = void*(void*, const char*) noexcept;

// The C library's dlsym(), which ours hides: by the names of its versions on the machines there
// are.
Lookup* real_lookup() {
  static std::atomic<Lookup*> known{nullptr};
  if (auto* const before = known.load()) return before;
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    if (void* const found = ::dlvsym(RTLD_NEXT, "dlsym", version)) {
      known = reinterpret_cast<Lookup*>(found);
      break;
    }
  }
  return known;
}

// A library that the program has opened by itself, and functions that it has asked it for: no
// search order leads there.
std::atomic<void*>& opened() {
  static std::atomic<void*> library{nullptr};
  return library;
}
std::array<std::atomic<void*>, kMostHooks>& asked_for() {
  static std::array<std::atomic<void*>, kMostHooks> functions{};
  return functions;
}

}  // namespace

void* real_function(const char* name) {
  auto& known = asked_for()[place_of(*find_hook(name))];
  if (void* const function = known.load()) return function;
  void* const library = opened().load();
  void* const found = real_lookup()(library == nullptr ? RTLD_NEXT : library, name);
  known = found;
  return found;
}

}  // namespace npu::share

// The last call is in the caller's place (a sibling call), so that RTLD_NEXT is next to the caller.
extern "C" __attribute__((visibility("default"), optimize("optimize-sibling-calls"))) void* dlsym(
    void* library, const char* name) noexcept {
  namespace share = npu::share;
  const auto* const hook = share::find_hook(name);
  if (hook == nullptr) return share::real_lookup()(library, name);
  if (library == RTLD_DEFAULT || library == RTLD_NEXT) return hook->function;
  void* const function = share::real_lookup()(library, name);
  if (function == nullptr || function == hook->function) return function;
  share::opened() = library;
  share::asked_for()[share::place_of(*hook)] = function;
  return hook->function;
}
