// SPDX-License-Identifier: Apache-2.0
// Whether the card knows a process: from its first queue on until its last one is gone. Under the
// process' mutex.
#pragma once

#include "driver/queue/process_commands.hpp"
#include "driver/queue/process_resources.hpp"

namespace npu::driver {

// Of a command that failed: whether the card may have executed it nevertheless.
inline bool may_be_done(const Error& error) {
  return error.code != ErrorCode::kBadDevice && error.code != ErrorCode::kQueueFull;
}

class ProcessMapping {
 public:
  ProcessMapping(CardLink& link, QueueManager& manager, ProcessCommands& commands,
                 ProcessResources& resources)
      : link_(link), manager_(manager), commands_(commands), resources_(resources) {}

  bool is_mapped() const { return mapped_; }
  // The card cannot be made to forget it: nobody else gets its ids.
  bool is_withheld() const { return withheld_; }

  Status map();
  // Its last queue is gone. What has no answer in time is repeated by the next queue, or by the end
  // of the process.
  void unmap(Instant end, DeadlineOf whose);
  // Its end.
  void close();
  // False: nobody else may have its ids.
  bool forget();

 private:
  bool tell_to_forget(Instant deadline, DeadlineOf whose);
  void note_unmapped();

  CardLink& link_;
  QueueManager& manager_;
  ProcessCommands& commands_;
  ProcessResources& resources_;
  bool mapped_ = false;     // the card knows the process
  bool unmapping_ = false;  // it was told to forget it, and has not answered
  bool withheld_ = false;
};

}  // namespace npu::driver
