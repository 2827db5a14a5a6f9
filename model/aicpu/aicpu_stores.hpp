// SPDX-License-Identifier: Apache-2.0
// A core's stores to memory: the core sees the bytes at once, and everybody else when the store is
// done.
#pragma once

#include "model/aicpu/line_fetch.hpp"
#include "model/aicpu/posted_stores.hpp"
#include "model/aicpu/store_buffer.hpp"

namespace npu::model {

class AicpuStores {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Memory has refused a store although its translation permits it, which is told too late for
    // the access: the program ends at its next one.
    virtual void store_refused(const CommandFault& fault) = 0;
  };

  AicpuStores(AicpuShared& shared, unsigned number, AicpuThread& thread, AicpuRequests& requests,
              LineFetch& fetch, Owner& owner);

  // A block begins.
  void begin() { posted_.reset(); }
  // One store within a line, after it has found an entry and its translation is known. `releases`:
  // nobody sees it before the stores ahead of it.
  void post(std::uint64_t address, const void* data, Bytes length, bool releases);
  // The program waits until all are done.
  void await_all();
  SimTime all_done() const { return posted_.all_done(); }
  // What the core sees of the line at `address`, of which `line` is what memory has.
  void patch(std::uint64_t address, unsigned char* line) const { buffer_.patch(address, line); }
  // Those on their way are lost.
  void reset();

 private:
  SimTime leaves(std::uint64_t address, Bytes length, bool releases, SimTime others);
  void store_done(std::uint64_t resets);

  static constexpr SimTime kLate = 2'000'000;  // ps, with order.rule=weakest: at most

  AicpuShared& shared_;
  const unsigned number_;
  AicpuThread& thread_;
  AicpuRequests& requests_;
  LineFetch& fetch_;
  Owner& owner_;
  PostedStores posted_;
  StoreBuffer buffer_;  // of posted_ those that are not done
  std::uint32_t resets_ = 0;
};

}  // namespace npu::model
