// SPDX-License-Identifier: Apache-2.0
// The cache between the MMU and the HBM that all cores of a card share: physically addressed,
// write back, allocates on reads and writes, least recently used line out first.
//
// Protocol: model/core/transaction.hpp. Requests are device-local, of any length and alignment,
// contiguous or strided. Bytes move when the request is accepted, unless its data pointer is null;
// time follows from the lines it touches:
//  - It is `noc` from the core to the slices and back. A slice serves lines in order of acceptance,
//    each for as many clocks as its bytes take; what it reads comes `hit` later, what it writes is
//    taken `write` later. The response comes with the last line.
//  - A line that is not there is read from the HBM and comes `fill` after that; neighbouring lines
//    of a request are read together. Others that want it meanwhile wait for the same read.
//    A write of a whole line needs no read, and no write waits for one.
//  - The line that makes room is written to the HBM if it is dirty.
//  - A read of the HBM that ends with kPoisoned fails all that wait for it in the same way; its
//  lines
//    are not kept, nor what was written to parts of them, so that the next read meets the error.
//  - With all miss buffers, write buffers or ways of its slice taken, a request waits at that line.
// What others write to the HBM (bytes_written()) is dropped here; a dirty line goes to the HBM if
// they have not written all of it. What they read costs nothing here. Accesses beyond the memory:
// TLM_ADDRESS_ERROR_RESPONSE and kUnsupportedRequest. With L2Config::size 0 every request goes to
// the HBM and back as it is.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <optional>
#include <string_view>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/l2/l2_statistics.hpp"
#include "model/l2/line_store.hpp"

namespace npu::model {

class L2 : public sc_core::sc_module, public WriteObserver {
 public:
  // `clients`: number of client sockets, each with an HBM socket of its own.
  // Trace events carry the track `track_name`.
  L2(const sc_core::sc_module_name& name, Simulation& sim, const L2Config& config, unsigned clients,
     std::string_view track_name);

  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<L2>> client_sockets;
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<L2>> hbm_sockets;

  const L2Statistics& statistics() const { return statistics_; }
  // Forgets every line but those on their way, without writing back: a cold cache at no cost.
  void invalidate_all();
  // The same of a part of the memory, whole lines: what a function leaves that is reset.
  void invalidate(std::uint64_t address, Bytes length);
  void bytes_written(std::uint64_t address, Bytes length) override;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A request from acceptance to response.
  struct Access {
    tlm::tlm_generic_payload* trans;
    std::uint64_t row, end;  // of the present row
    std::uint64_t address;   // first byte that was not looked up
    SimTime arrival;         // at the slices
    SimTime ready;           // of what is known
    SimTime tail;            // from a line being there to the response
    SimTime blocked;         // since when
    std::uint32_t fills;     // reads it waits for
    std::uint32_t next;      // of those that wait for a slice, or of the free ones
    std::uint16_t rows;      // that were not looked up to their end
    std::uint16_t client;
    bool write;
    std::uint32_t hits, misses;  // lines
  };
  // A read or write of neighbouring lines in the HBM.
  struct Transfer {
    Line first;
    SimTime lag;  // of a read: HBM's response until its last line is in its slice
    std::uint32_t lines;
    std::uint32_t waiters, last;  // of a read: a list; of a free one: the next
    SimTime sent;
    std::uint64_t cause;
    bool spoilt;  // the read has met an error that cannot be corrected
  };
  struct Waiter {
    std::uint32_t access, next;
  };
  struct Miss {
    Line line;
    std::uint32_t transfer;
  };
  struct Slice {
    SimTime free = 0;
    std::vector<Miss> misses;
    unsigned write_backs = 0;
    std::uint32_t first = kNone, last = kNone;  // requests that wait here
  };
  // A line that a request touches.
  struct Touch {
    LineStore::Block block;
    Line line = 0;
    unsigned slice = 0;
    Bytes bytes = 0;
  };

  tlm::tlm_sync_enum request(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void accept(unsigned client, tlm::tlm_generic_payload& trans);
  std::uint32_t new_access(unsigned client, tlm::tlm_generic_payload& trans);
  unsigned walk(std::uint32_t number, unsigned resumed);
  bool touch(std::uint32_t number, const Touch& at, unsigned resumed);
  void hit(std::uint32_t number, const Touch& at, LineStore::Entry entry);
  SimTime occupy(Access& access, const Touch& at);
  SimTime time_of(Bytes bytes) const;
  void ready(std::uint32_t number);
  void answer(std::uint64_t number);

  bool allocate(std::uint32_t number, const Touch& at, LineStore::Entry* set, unsigned resumed);
  void fetch(std::uint32_t number, const Touch& at, SimTime lag);
  std::uint32_t transfer_of(const Touch& at) const;
  std::uint32_t new_transfer(Line first);
  void wait_for(std::uint32_t number, std::uint32_t transfer);
  void send_fetch(const Access& access);
  void send_write_backs(unsigned client, std::uint64_t cause, std::vector<Line>& lines);
  void snooped_dirty(Line line);
  void send_snooped(std::uint64_t);
  void send(unsigned client, std::uint64_t cause, tlm::tlm_command command, std::uint32_t transfer);
  void filled(std::uint64_t transfer);
  void finish_write_back(std::uint32_t transfer);
  void release(std::uint32_t transfer);
  void trace(const Access& access) const;
  void trace(const Transfer& transfer, platform::Activity activity) const;
  void enqueue(std::uint32_t number, unsigned slice, bool in_front);
  void resume(unsigned slice);
  unsigned slice_of(Line line) const { return store_->slice_of(store_->block_of(line), line); }

  Simulation& sim_;
  const std::uint32_t track_;
  const L2Config config_;
  const SimTime noc_, hit_, write_, fill_;
  unsigned line_shift_ = 0;
  SimTime line_time_ = 0;  // of a whole line in its slice
  std::optional<LineStore> store_;
  bool used_ = false;  // holds lines, perhaps
  std::vector<Slice> slices_;
  std::vector<Access> accesses_;
  std::vector<Transfer> transfers_;
  std::vector<Waiter> waiters_;
  std::uint32_t free_access_ = kNone, free_transfer_ = kNone, free_waiter_ = kNone;
  std::uint32_t run_ = kNone;     // read that the present request makes longer
  std::uint32_t joined_ = kNone;  // read that the present request waits for already
  std::vector<Line> victims_;     // dirty lines that the present request drove out
  std::vector<Line> snooped_;     // dirty lines that others have written part of
  L2Statistics statistics_;
};

}  // namespace npu::model
