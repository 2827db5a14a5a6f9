// SPDX-License-Identifier: Apache-2.0
// Accesses of the card to pages that are the host's: requests of the MMU's clients, which may be
// large and strided, as reads and posted writes of up to 4 KiB over the link. Reads of all requests
// together are bounded, and leave in the order of the requests; writes as fast as the link takes
// them. A request ends when its last byte has come, or has left. What has no data moves none.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "model/ats/translation_requests.hpp"
#include "model/core/buffered_pool.hpp"

namespace npu::model {

class HostAccess {
 public:
  using Send = TranslationRequests::Send;
  // The request has ended, with Transaction::completion and response status.
  using Ended = std::function<void(tlm::tlm_generic_payload&)>;

  // At most `reads` outstanding.
  HostAccess(Simulation& sim, Send send, Ended ended, unsigned reads)
      : sim_(sim), send_(std::move(send)), ended_(std::move(ended)), most_reads_(reads) {}
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;

  // `trans` is for addresses of the process; `pasid` 0: for bus addresses of the function. It never
  // ends inside the call.
  void begin(tlm::tlm_generic_payload& trans, std::uint32_t pasid);
  // A read has been answered. The payload is released.
  void answered(tlm::tlm_generic_payload& piece);
  // Gives up what the function has begun: it ends soon, with kCompleterAbort.
  void reset(unsigned function);

 private:
  struct Access {
    tlm::tlm_generic_payload* trans = nullptr;  // null: free, or given up
    std::uint32_t pasid = 0;
    std::uint16_t generation = 0;
    Bytes issued = 0;          // of the payload's data
    unsigned outstanding = 0;  // reads
    Completion completion = Completion::kSuccess;
    bool write = false;
  };
  // A piece's Transaction::context.
  struct Tag {
    std::uint16_t access;
    std::uint16_t generation;
    std::uint32_t offset;  // in the payload's data
    std::uint64_t pack() const {
      return std::uint64_t{access} << 48 | std::uint64_t{generation} << 32 | offset;
    }
    static Tag unpack(std::uint64_t v) {
      return {static_cast<std::uint16_t>(v >> 48), static_cast<std::uint16_t>(v >> 32),
              static_cast<std::uint32_t>(v)};
    }
  };

  tlm::tlm_generic_payload& next_piece(std::uint16_t number);
  bool all_issued(const Access& access) const {
    return access.issued >= access.trans->get_data_length();
  }
  void read_on();
  void write_on(std::uint64_t);
  void left(std::uint64_t number);
  void end(std::uint16_t number);
  void answer(std::uint64_t trans);

  Simulation& sim_;
  const Send send_;
  const Ended ended_;
  const unsigned most_reads_;
  unsigned reads_ = 0;  // outstanding
  bool writing_ = false;
  std::vector<Access> accesses_;
  std::deque<std::uint16_t> to_read_, to_write_;
  BufferedPool buffers_;
};

}  // namespace npu::model
