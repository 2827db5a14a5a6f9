// SPDX-License-Identifier: Apache-2.0
// Reads a queue's entries from its ring, some of them ahead, and decodes the next one.
#pragma once

#include <vector>

#include "model/command/command_types.hpp"

namespace npu::model {

class EntryReader {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // A read has ended. False: what it brought is not wanted, or is a fault.
    virtual bool takes_entries(const Answer& answer) = 0;
    virtual void entries_read() = 0;
    // The entry at the queue's read index.
    virtual void entry_decoded(const abi::QueueEntry& entry, SimTime since) = 0;
  };

  EntryReader(CommandShared& shared, std::uint32_t track, Owner& owner);

  // A queue is loaded, and there is no read in flight.
  void begin(HardwareQueue& queue);
  // What is decoded is for nobody.
  void stop();
  void reset();

  // As many as there is room for, if no read is in flight.
  void fetch();
  bool fetching() const { return fetching_; }
  // The entry at the read index is not here yet.
  bool empty() const { return queue_->mqd.read_index == fetched_; }
  void decode();
  bool decoding() const { return decoding_; }

 private:
  void fetched(const Answer& answer, std::uint64_t first);
  void decoded(std::uint64_t generation);

  CommandShared& shared_;
  const std::uint32_t track_;
  Owner& owner_;
  HardwareQueue* queue_ = nullptr;
  std::vector<abi::QueueEntry> buffer_;  // ring of entries [read index, fetched_)
  std::uint64_t fetched_ = 0;
  bool fetching_ = false, decoding_ = false;
  SimTime decode_since_ = 0;
  std::uint32_t generation_ = 0;  // stops seen
};

}  // namespace npu::model
