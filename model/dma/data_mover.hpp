// SPDX-License-Identifier: Apache-2.0
// Moves the bytes of one command at a time through an engine's buffer: splits at chunk, read
// request and page borders, bounds what is outstanding, and writes in order what has arrived.
//
// H2D: reads over the link, HBM writes.  D2H: HBM reads, posted writes over the link.
// D2D: HBM reads and HBM writes take turns, a buffer full of each, so that the HBM does not turn
//      its data buses around for every chunk.
// Prefetch: reads through the L2, whose data stay there; done when the last line is there.
// P2P: the same at the same time, because one side is behind a link that is slower than the HBM.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/dma/dma_ports.hpp"
#include "model/dma/dma_types.hpp"

namespace npu::model {

class DataMover {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The last byte is written (D2H: has left for the host), or a fault stopped the transfer and
    // nothing of it is in flight any more.
    virtual void data_done(const CommandFault& fault) = 0;
    // It has met a page that is not there and may come; nothing of it is in flight any more.
    virtual void page_missing(const MissingPage& page) = 0;
  };

  DataMover(DmaShared& shared, std::uint8_t unit, std::uint32_t track, Listener& listener);

  // The ranges are checked; no other transfer is running.
  void start(const DmaRequest& request);
  // After page_missing(): `request` is to go on from here.
  void note_progress(DmaRequest& request) const;
  void read_done(std::uint32_t slot, tlm::tlm_generic_payload& trans);
  void write_done(std::uint32_t slot, tlm::tlm_generic_payload& trans);
  void reset();

  // D2H: a translation may be gone. True if bytes are still to be posted: none is until resume(),
  // and abort() ends the transfer. They begin at host_position() of the command.
  bool pause_posting();
  Bytes host_position() const { return write_issued_; }
  void resume();
  void abort(const CommandFault& fault);
  // Sends nothing more; ends without a fault of its own when nothing is in flight.
  void stop();
  bool paused() const { return paused_; }
  // Resets so far, for RequestTag.
  std::uint32_t epoch() const { return epoch_; }

 private:
  static constexpr Bytes kHostPage = 4096;

  struct Read {
    Bytes begin, end;  // of the command
    bool done;
  };
  struct Write {
    Bytes begin, end;  // of the command
    bool done;
  };
  struct Taken {
    SimTime when;
    Bytes bytes;
  };

  bool host_source() const { return operation_->source == abi::DmaSide::kHost; }
  bool host_target() const { return operation_->target == abi::DmaSide::kHost; }
  bool fills() const { return operation_->source == abi::DmaSide::kPattern; }
  bool prefetches() const { return operation_->target == abi::DmaSide::kCache; }
  bool turns() const {
    return !host_source() && !host_target() && !fills() && !prefetches() && !operation_->peer;
  }
  void prepare_fill(std::uint32_t pattern);
  unsigned char* at(Bytes position) const;
  Bytes next_read() const;
  bool may_read(Bytes length) const;
  void pump();
  void issue_reads();
  void issue_read(Bytes length);
  void issue_device_writes();
  void issue_posted_writes();
  void post(Bytes length);
  bool can_post(Bytes length) const { return posted_ == 0 || posted_ + length <= post_window_; }
  Bytes next_device_write() const;
  void take_turn();
  void arm_wake();
  bool may_send(SharedResource resource, Bytes length);
  bool path_is_free();
  void take_path(Bytes length);
  void path_freed(std::uint64_t epoch);
  void turn_came(std::uint64_t epoch);
  void reclaim();
  void wake(std::uint64_t epoch);
  bool finished() const;
  bool ending() const { return stopped_ || missing_ || fault_.failed(); }
  void fail(const CommandFault& fault);
  void miss(const tlm::tlm_generic_payload& trans);
  void take_up(const DmaRequest& request);
  CommandFault device_access_fault(tlm::tlm_generic_payload& trans) const;

  DmaShared& shared_;
  const std::uint8_t unit_;
  const std::uint32_t track_;
  Listener& listener_;
  const Bytes read_request_;  // largest read over the link
  const Bytes chunk_;         // largest HBM request
  const Bytes buffer_size_;
  const Bytes post_window_;      // posted bytes the transmitter has not yet taken
  const unsigned turn_overlap_;  // D2D: requests of one kind left when the other kind begins
  std::unique_ptr<unsigned char[]> buffer_;

  bool running_ = false;
  std::uint32_t epoch_ = 0;
  const abi::DmaOperation* operation_ = nullptr;  // of what was started last
  std::uint64_t source_ = 0, destination_ = 0, cause_ = 0;
  Bytes size_ = 0;
  Bytes requested_ = 0;     // reads issued up to here
  Bytes arrived_ = 0;       // read without a gap up to here
  Bytes write_issued_ = 0;  // writes issued up to here
  Bytes written_ = 0;       // written without a gap up to here: what the buffer need not keep
  Bytes skew_ = 0;          // where byte 0 lies in the buffer
  bool writing_ = false;    // D2D: whose turn it is
  bool paused_ = false;     // D2H: posts nothing until translations are known again
  SpaceId space_ = 0;
  DmaPorts::Reduction reduction_{};
  HostAgent agent_;
  bool stopped_ = false;
  CommandFault fault_;
  std::optional<MissingPage> missing_;
  // Of what has met it: neither read nor written behind.
  Bytes first_unread_ = 0, first_unwritten_ = 0;

  // Rings, which are not zeroed either. The oldest read is at read_head_, the oldest write to
  // device memory at write_head_.
  const std::uint32_t places_;  // of each; a power of two
  std::unique_ptr<Read[]> reads_;
  std::unique_ptr<Write[]> writes_;
  std::uint32_t read_head_ = 0, read_tail_ = 0;
  std::uint32_t write_head_ = 0, write_tail_ = 0;
  unsigned reads_in_flight_ = 0, writes_in_flight_ = 0;
  std::vector<Taken> taken_;  // ring of what the transmitter still has to take
  std::uint32_t taken_head_ = 0, taken_tail_ = 0;
  Bytes posted_ = 0;  // bytes in taken_
  bool wake_pending_ = false;
  SimTime path_free_ = 0;  // the engine's to device memory
  bool path_awaited_ = false;
  SimTime path_wanted_ = 0;    // since when, if it is
  SimTime turn_ = UINT64_MAX;  // when its function's may be: looked at again then
};

}  // namespace npu::model
