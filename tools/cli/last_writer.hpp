// SPDX-License-Identifier: Apache-2.0
// Who wrote a byte of a card's memory last, found while a run is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "npu/base/units.hpp"

namespace npu::model {
class System;
}

namespace npu::cli {

class LastWriter {
 public:
  // `address`: of a process' address space, or device-local; `until`: later writes do not count.
  LastWriter(unsigned card, std::uint64_t address, Instant until);
  ~LastWriter();
  LastWriter(const LastWriter&) = delete;
  LastWriter& operator=(const LastWriter&) = delete;

  // From now on, until text() is called or this ends.
  void watch(model::System& system);
  // A sentence, while the machine is there.
  std::string text();

 private:
  class Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace npu::cli
