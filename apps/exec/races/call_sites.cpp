// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/races/call_sites.hpp"

#include <string_view>
#include <utility>

#include "machine/races/code_places.hpp"

namespace npu::exec::races {
namespace {

// Libraries between a program and npusim, and those that call the program back.
bool is_left_out(std::string_view module) {
  for (const char* const name :
       {"libnpuclient.so", "libascendcl.so", "libacl_rt.so", "libruntime.so", "libascend_hal.so",
        "libnpudsmi.so", "libc.so", "libstdc++.so", "[vdso]"}) {
    if (npu::races::file_of(module).rfind(name, 0) == 0) return true;
  }
  return false;
}

}  // namespace

std::uint32_t CallSites::place(const std::string& program, pid_t process, compat::Call call,
                               Frames frames) {
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [known, is_new] = known_.try_emplace(Key{program, call, frames}, next);
  if (!is_new) return known->second;
  auto maps = std::make_shared<const std::string>(npu::races::maps_of(process));
  const auto& before = places_.back().maps;
  if (before != nullptr && *before == *maps) maps = before;
  places_.push_back({program, call, std::move(frames), std::move(maps)});
  return next;
}

std::uint32_t CallSites::thread(const std::string& name) {
  const auto next = static_cast<std::uint32_t>(threads_.size());
  const auto [known, is_new] = known_threads_.try_emplace(name, next);
  if (is_new) threads_.push_back(name);
  return known->second;
}

std::string CallSites::stack_of(std::uint32_t place) const {
  const auto& site = places_[place];
  if (site.maps == nullptr) return {};
  const npu::races::CodePlaces modules(*site.maps, is_left_out);
  npu::races::StackText text;
  for (std::size_t i = 0; i < site.frames.size() && !text.complete(); ++i) {
    // Return addresses are behind the call. An access of the program's own is where it is: behind
    // the frame of the signal.
    const bool exact = site.call == compat::Call::kHostAccess && text.empty();
    text.add(modules.texts_of(exact ? site.frames[i] : site.frames[i] - 1));
  }
  return text.text();
}

}  // namespace npu::exec::races
