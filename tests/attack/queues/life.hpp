// SPDX-License-Identifier: Apache-2.0
// The life of queues: created with any options, held and let go in every way, changed, destroyed
// in every state; and what must be in memory afterwards.
#pragma once

#include "tests/attack/queues/cells.hpp"
#include "tests/attack/queues/submissions.hpp"

namespace npu::attack {

class Life {
 public:
  Life(QueueProcess& process, Submissions& submissions, Cells& cells)
      : process_(process),
        random_(process.random),
        world_(process.world),
        submissions_(submissions),
        cells_(cells) {}

  void create(Lane& lane);
  void destroy(Lane& lane);
  void suspend(Lane& lane);
  void update(Lane& lane);
  void replace(Lane& lane);
  void evict();
  void restore();
  // Everything runs again; lanes with a fault lose their queue.
  void settle();
  // All entries are complete, and memory and counters say so.
  void verify(Lane& lane);
  // What the card says of a queue, at any time.
  void query(Lane& lane);

 private:
  void bury(Lane& lane, driver::QueueEnd end, bool ran);
  void after_end(Lane& lane);
  void make_busy(Lane& lane);
  void resume(Lane& lane);
  void enable(Lane& lane);
  void change(Lane& lane, const driver::QueueChange& change, const char* what);
  Instant hold_deadline(bool& sure);

  QueueProcess& process_;
  fuzz::Random& random_;
  QueueWorld& world_;
  Submissions& submissions_;
  Cells& cells_;
};

}  // namespace npu::attack
