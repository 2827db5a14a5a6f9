// SPDX-License-Identifier: Apache-2.0
// The dirty lines that an L2 sends to the HBM. They are collected first: what is neighbouring among
// the lines that go together is one write.
#pragma once

#include <vector>

#include "model/l2/hbm_transfer.hpp"
#include "model/l2/numbered_records.hpp"

namespace npu::model {

class WriteBackQueue {
 public:
  explicit WriteBackQueue(HbmPort& port) : port_(port) {}

  // The present request drives the line out.
  void evict(Line line) { evicted_.push_back(line); }
  // Sends what it drove out; the writes are its own.
  void send_evicted(unsigned client, std::uint64_t cause) {
    if (!evicted_.empty()) send(client, cause, evicted_);
  }
  // Others have written part of the line. True: it is the first since send_snooped(), which has to
  // be called soon.
  bool snoop(Line line) {
    snooped_.push_back(line);
    return snooped_.size() == 1;
  }
  // Nobody has asked for these writes: they go through the first port, without a cause.
  void send_snooped() { send(0, 0, snooped_); }

  // The HBM has answered the write.
  HbmTransfer finish(std::uint32_t number) {
    transfers_.give_back(number);
    return transfers_[number];
  }

 private:
  void send(unsigned client, std::uint64_t cause, std::vector<Line>& lines);

  HbmPort& port_;
  NumberedRecords<HbmTransfer> transfers_;
  std::vector<Line> evicted_, snooped_;
};

}  // namespace npu::model
