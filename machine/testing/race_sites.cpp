// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/race_sites.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "machine/races/code_places.hpp"

namespace npu::testkit {
namespace {

bool is_left_out(std::string_view module) {
  for (const char* const name :
       {"libnpusim.so", "libc.so", "libstdc++.so", "libgmock", "libgtest"}) {
    if (races::file_of(module).rfind(name, 0) == 0) return true;
  }
  return false;
}

}  // namespace

std::uint32_t RaceSites::here() {
  constexpr int kMostFrames = 32;
  std::array<void*, kMostFrames> found{};
  const int count = ::backtrace(found.data(), kMostFrames);
  Frames frames;
  for (int i = 0; i < count; ++i) frames.push_back(reinterpret_cast<std::uint64_t>(found[i]));
  const auto [known, is_new] =
      known_.try_emplace(std::move(frames), static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(&known->first);
  return known->second;
}

std::string RaceSites::text_of(std::uint32_t site) const {
  if (site == 0) return {};
  const races::CodePlaces places(races::maps_of(::getpid()), is_left_out);
  races::StackText text("testing::");
  for (const auto frame : *sites_[site]) {
    if (text.complete()) break;
    text.add(places.texts_of(frame - 1));  // the call is in front of where it returns to
  }
  return text.text();
}

}  // namespace npu::testkit
