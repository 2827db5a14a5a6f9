// SPDX-License-Identifier: Apache-2.0
// A process at work: which operation comes next.
#pragma once

#include <vector>

#include "tests/attack/queues/life.hpp"
#include "tests/attack/queues/queue_misuse.hpp"

namespace npu::attack {

class QueueOwner {
 public:
  explicit QueueOwner(QueueProcess& process);

  void open();
  void run(unsigned operations);
  // Everything comes to its end, and is as it must be; then nothing is left.
  void end();

 private:
  struct Kind {
    const char* name;
    unsigned weight;
    bool needs_queue;
    bool holds;  // not beside a disturber
    void (*run)(QueueOwner&, Lane&);
  };
  static const std::vector<Kind>& kinds();
  void one_operation();
  void create();
  void verify_all();

  QueueProcess& process_;
  fuzz::Random& random_;
  QueueWorld& world_;
  Submissions submissions_;
  Cells cells_;
  Life life_;
  QueueMisuse misuse_;
};

}  // namespace npu::attack
