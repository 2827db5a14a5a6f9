// SPDX-License-Identifier: Apache-2.0
// What all attackers share: the cards, what they must have in use, and what was found.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "npu/driver/device.hpp"

namespace npu::attack {

// What a card must have in use; blocks count themselves in and out.
struct Occupancy {
  Bytes used = 0;
  unsigned unmovable = 0;  // pinned, or lent to another card
};

class World {
 public:
  static constexpr std::size_t kMostFindings = 20;

  World(platform::Platform& machine_host, std::uint64_t run_seed)
      : host(machine_host), seed(run_seed) {}

  // One line: seed, operation, what was expected and what was found.
  void find(const std::string& what) {
    findings.push_back(fmt::format("seed {}, operation {}: {}", seed, operation, what));
  }
  bool give_up() const { return findings.size() >= kMostFindings; }
  Instant deadline() const { return host.clock().now() + 10_s; }
  void count(const char* kind) { ++kinds[kind]; }

  platform::Platform& host;
  const std::uint64_t seed;
  std::vector<std::unique_ptr<driver::Device>> cards;
  std::vector<Occupancy> occupancy;         // by card
  std::vector<std::uint64_t> sure_faults;   // by card, since the last look
  std::vector<std::uint64_t> maybe_faults;  // of commands whose memory was taken away
  bool compacts = true;                     // on demand
  bool alone = false;                       // one task only: what is free is known at every call

  std::uint64_t operation = 0;
  std::uint64_t compared = 0;  // bytes
  std::uint64_t faults = 0;    // provoked
  std::map<std::string, std::uint64_t> kinds;
  std::vector<std::string> findings;
};

template <class T>
std::string text(const Result<T>& result) {
  return result ? std::string("success") : result.error().message();
}

}  // namespace npu::attack
