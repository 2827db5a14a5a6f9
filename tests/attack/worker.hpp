// SPDX-License-Identifier: Apache-2.0
// One attacker at work: which operation comes next.
#pragma once

#include <functional>
#include <vector>

#include "tests/attack/mappings.hpp"
#include "tests/attack/misuse.hpp"
#include "tests/attack/streams.hpp"
#include "tests/attack/wrong_copies.hpp"

namespace npu::attack {

class Worker {
 public:
  Worker(World& world, std::uint64_t seed);

  void open();
  void run(unsigned operations);  // ends with nothing in flight
  void verify_all() { mappings_.verify_all(); }
  void close();

 private:
  struct Kind {
    const char* name;
    unsigned weight;
    std::function<void(Worker&)> run;
  };

  static const std::vector<Kind>& kinds();
  void one_operation();
  void copies();

  Process process_;
  Transfers transfers_;
  Mappings mappings_;
  Streams streams_;
  Misuse misuse_;
  WrongCopies wrong_copies_;
};

}  // namespace npu::attack
