// SPDX-License-Identifier: Apache-2.0
// Streams and events come and go, idle and busy.
#pragma once

#include "tests/attack/process.hpp"
#include "tests/attack/transfers.hpp"

namespace npu::attack {

class Streams {
 public:
  Streams(Process& process, Transfers& transfers) : process_(process), transfers_(transfers) {}

  void create();
  void destroy();
  void create_event();
  void destroy_event();
  void destroy_all();

 private:
  Process& process_;
  Transfers& transfers_;
};

}  // namespace npu::attack
