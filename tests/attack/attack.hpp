// SPDX-License-Identifier: Apache-2.0
// The whole attack: opens the cards, lets attackers loose in rounds, alone or several at a time,
// and looks at the cards between them.
#pragma once

#include <memory>
#include <vector>

#include "tests/attack/worker.hpp"

namespace npu::attack {

class Attack {
 public:
  Attack(platform::Platform& host, std::uint64_t seed, unsigned cards);

  const World& run(std::uint64_t operations);

 private:
  void open(unsigned cards);
  void round(unsigned operations);
  void look_at_cards();
  void look_for_faults(unsigned card);
  void end();

  World world_;
  fuzz::Random random_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace npu::attack
