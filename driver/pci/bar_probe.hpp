// SPDX-License-Identifier: Apache-2.0
// The BARs of one function while they are sized: decoding is off, because a BAR full of ones would
// answer to somebody else's addresses, and what was overwritten is put back, also when the function
// is reset meanwhile: a reset keeps what the BARs hold at that instant, and configuration writes
// that come before it is over are lost.
#pragma once

#include <vector>

#include "driver/pci/config_space.hpp"

namespace npu::driver {

class BarProbe {
 public:
  // What a BAR register holds, and what is left of all ones.
  struct Register {
    std::uint32_t value = 0;
    std::uint32_t mask = 0;
  };

  BarProbe(ConfigAccess& config, platform::Clock& clock, platform::Bdf bdf)
      : config_(config), clock_(clock), bdf_(bdf) {}

  // Decoding off. kDeviceLost: does not answer; nothing was changed.
  Status begin();
  // BAR register `index`, 0 .. 5. kDeviceLost: does not answer.
  Result<Register> read(unsigned index);
  // COMMAND as it was before. kDeviceLost: the function was reset since begin(), so what read()
  // said is worth nothing; the BARs are what they were, unless it has not answered for 100 ms.
  Status end();
  // STATUS, as end() has seen it.
  std::uint16_t status() const { return status_; }

 private:
  struct Saved {
    std::uint32_t offset;
    std::uint32_t value;
  };

  bool restored();
  Status put_back();
  tl::unexpected<Error> no_answer() const;

  ConfigAccess& config_;
  platform::Clock& clock_;
  const platform::Bdf bdf_;
  std::uint16_t command_ = 0, status_ = 0;
  std::vector<Saved> saved_;
};

}  // namespace npu::driver
