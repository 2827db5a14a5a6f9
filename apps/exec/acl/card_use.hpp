// SPDX-License-Identifier: Apache-2.0
// How busy a card has been since the same program asked before; at first, since the card's reset.
#pragma once

#include <cstdint>
#include <memory>

#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/management.hpp"

namespace npu::exec::acl {

// Percent.
struct BusyCard {
  driver::Percent cube = 0;    // of all of the kind
  driver::Percent vector = 0;  // of all of the kind
  driver::Percent aicpus = 0;  // of all of them
};

class CardUse {
 public:
  CardUse(platform::Platform& platform, driver::Device& device);

  Value<BusyCard> take();

 private:
  const std::unique_ptr<platform::Mutex> lock_;  // one thread of the program at a time
  const std::unique_ptr<driver::ManagementAccess> access_;
  driver::Management management_;
};

}  // namespace npu::exec::acl
