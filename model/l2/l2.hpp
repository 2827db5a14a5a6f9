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
//    No write needs a read: the line keeps which of its bytes were written. A read of others reads
//    the whole line.
//  - The line that makes room is written to the HBM if it is dirty. Assumed: one of which only some
//    bytes were written takes as long as a whole one.
//  - A read of the HBM that ends with kPoisoned fails all that wait for it in the same way; its
//    lines are not kept, nor what was written to parts of them, so that the next read meets the
//    error.
//  - With all miss buffers, write buffers or ways of its slice taken, a request waits at that line.
// What others write to the HBM (bytes_written()) is dropped here; a dirty line goes to the HBM if
// they have not written all of it. What they read costs nothing here. Accesses beyond the memory:
// TLM_ADDRESS_ERROR_RESPONSE and kUnsupportedRequest. With L2Config::size 0 every request goes to
// the HBM and back as it is.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <optional>
#include <string_view>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/l2/hbm_transfer.hpp"
#include "model/l2/l2_access.hpp"
#include "model/l2/l2_slice.hpp"
#include "model/l2/l2_statistics.hpp"
#include "model/l2/line_cursor.hpp"
#include "model/l2/line_fills.hpp"
#include "model/l2/line_store.hpp"
#include "model/l2/line_turns.hpp"
#include "model/l2/numbered_records.hpp"
#include "model/l2/write_back_queue.hpp"
#include "model/l2/written_bytes.hpp"

namespace npu::model {

class L2 : public sc_core::sc_module, public WriteObserver, private HbmPort {
 public:
  // `clients`: number of client sockets, each with an HBM socket of its own.
  // Trace events carry the track `track_name`.
  L2(const sc_core::sc_module_name& name, Simulation& sim, const L2Config& config, unsigned clients,
     std::string_view track_name);

  sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged<L2>> client_sockets;
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<L2>> hbm_sockets;

  const L2Statistics& statistics() const { return statistics_; }
  // Forgets every line but those on their way, without writing back: a cold cache at no cost.
  void invalidate_all();
  // The same of a part of the memory, whole lines: what a function leaves that is reset.
  void invalidate(std::uint64_t address, Bytes length);
  void bytes_written(std::uint64_t address, Bytes length) override;

 private:
  static constexpr unsigned kNone = UINT32_MAX;  // no slice

  using Access = L2Access;
  // A line that a request touches.
  struct Touch {
    LineStore::Block block;
    Line line;
    unsigned slice;
    LineStore::Entry* set;
    Bytes offset, bytes;
  };
  static constexpr unsigned kAhead = 4;  // lines whose sets are on their way from the host's memory

  tlm::tlm_sync_enum request(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void accept(unsigned client, tlm::tlm_generic_payload& trans);
  unsigned walk(std::uint32_t number, unsigned resumed);
  void look_ahead(LineCursor& next, LineStore::Block& block, Touch& at);
  bool touch(Access& access, const Touch& at, LineTurns& turns, unsigned resumed);
  bool touch_partial(Access& access, const Touch& at, unsigned way, LineTurns& turns,
                     unsigned resumed);
  bool allocate(Access& access, const Touch& at, LineTurns& turns, unsigned resumed);
  void make_room(const Touch& at, LineStore::Entry entry);
  void fetch(const Touch& at, SimTime start);
  SimTime occupy(const Touch& at, LineTurns& turns) {
    return turns.occupy(slices_[at.slice], at.bytes, times_);
  }
  void account(Access& access, const LineTurns& turns);
  void resume(unsigned slice);
  void resume(const HbmTransfer& transfer, const LineStore::Block& first);
  template <class Use>
  void each_line(const HbmTransfer& transfer, const LineStore::Block& first, Use use);
  void ready(std::uint32_t number);
  void answer(std::uint64_t number);

  void send(unsigned client, tlm::tlm_command command, const HbmTransfer& transfer,
            std::uint32_t number) override;
  void filled(std::uint64_t fill);
  void line_filled(const LineStore::Block& block, Line line, bool spoilt);
  void finish_write_back(std::uint32_t number);
  void send_snooped(std::uint64_t) { write_backs_.send_snooped(); }
  void trace(const Access& access) const;
  void trace(const HbmTransfer& transfer, platform::Activity activity) const;

  Simulation& sim_;
  const std::uint32_t track_;
  const L2Config config_;
  const LineTimes times_;
  const SimTime noc_, hit_, write_, fill_;
  unsigned line_shift_ = 0;
  std::optional<LineStore> store_;
  WrittenBytes written_;  // of lines that were not read
  bool used_ = false;     // holds lines, perhaps
  std::vector<L2Slice> slices_;
  std::uint32_t waiting_ = 0;  // requests, at any slice
  NumberedRecords<Access> accesses_;
  LineFills fills_;
  WriteBackQueue write_backs_;
  L2Statistics statistics_;
};

}  // namespace npu::model
