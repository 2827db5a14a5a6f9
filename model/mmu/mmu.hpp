// SPDX-License-Identifier: Apache-2.0
// Memory management unit of a card: translates the device virtual addresses of its clients
// (include/npu/abi/page_table.hpp) between them and the HBM.
//
// Protocol: model/core/transaction.hpp. An address of a function's own (is_physical()) is counted
// from the start of its memory and refused beyond it (kUnsupportedRequest). Others are translated
// by the function's tables, which cannot lead out of its memory either; such a request stays in one
// 2 MiB page, all its rows if it is strided, and is not posted. Looking up the TLB is a pipelined
// step of the memory controller's front end (HbmConfig::frontend) and costs no time of its own; a
// miss costs the walk. Requests that hit overtake ones that wait for a walk. Bytes move when the
// request is passed on, so for a miss after nb_transport_fw() has returned: the payload's data
// pointer stays valid until the response. The response carries the virtual address again. Whoever
// watches memory is told of writes at that time. A request that cannot be translated moves no bytes
// and is answered with TLM_ADDRESS_ERROR_RESPONSE and kNotMapped, kForbidden or kBadTable, when
// that is known.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/space_id.hpp"
#include "model/mmu/mmu_memory.hpp"
#include "model/mmu/walker.hpp"
#include "npu/abi/page_fault.hpp"

namespace npu::model {

class HostPagePort;
class MmuContext;
class PageFaults;

class Mmu : public sc_core::sc_module,
            public ResetListener,
            public PagePort,
            private Walker::Listener {
 public:
  using ClientSocket = tlm_utils::passthrough_target_socket_tagged_optional<Mmu>;
  using HbmSocket = tlm_utils::simple_initiator_socket_tagged<Mmu>;

  // `clients`: number of client sockets, at most 256; `device_index` is the card's, in traces. All
  // references outlive the module.
  Mmu(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
      unsigned device_index, unsigned clients);

  sc_core::sc_vector<ClientSocket> client_sockets;
  // Device-local addresses; one for each client, so that ports are not shared.
  sc_core::sc_vector<HbmSocket> hbm_sockets;
  // Requests for other cards' memory (Transaction::peer), of all clients; need not be bound. The
  // address is device-local there. Without a link to that card, or if the request is strided:
  // kNoPeer. One without data takes its time; transport_dbg moves the bytes.
  tlm_utils::simple_initiator_socket_optional<Mmu> peer_socket{"peer_socket"};
  // Records of page faults, posted; need not be bound where no function is told of any.
  tlm_utils::simple_initiator_socket_optional<Mmu> host_socket{"host_socket"};
  // Reads of table entries.
  tlm_utils::simple_initiator_socket<Mmu> walker_socket{"walker_socket"};

  // Tells `watch` of writes from now on; `writers`: who each client is.
  void connect(MemoryWatch& watch, std::vector<Writer> writers);
  // Pages of the host in spaces that share them; without it there are none.
  void connect(HostPagePort& pages);
  // The host has granted what `waiting` wanted, or has not, or one of their accesses has ended.
  void host_translated(TaggedAddress page, bool write, const Walker::Waiting& waiting);
  void host_refused(const Walker::Waiting& waiting, Completion completion);
  void host_answered(tlm::tlm_generic_payload& trans);
  // Of requests that do not wait for pages.
  void connect(PageListener& listener) override { page_listener_ = &listener; }
  bool page_waits(SpaceId space, std::uint64_t address) const override;
  // `trans` is one of these, and its page may come.
  void send_back(tlm::tlm_generic_payload& trans);
  void page_resolved(TaggedAddress page, Completion completion);
  // Whose bytes memory().direct_pointer() gives, of device-local addresses.
  void connect(DirectMemory& direct_memory) {
    memory_.connect(direct_memory);
    core_memory_.connect(direct_memory);
  }
  // The same memory, at once.
  MmuMemory& memory() { return memory_; }
  const MmuMemory& memory() const { return memory_; }
  // With that of other cards: for AI Cores.
  MmuMemory& core_memory() { return core_memory_; }

  const MmuStatistics& statistics() const { return statistics_; }
  // Drops what is the function's. Its requests that wait for a walk are answered with
  // kCompleterAbort and move no bytes: their initiators have been reset, too, and use their buffers
  // for something else.
  void function_reset(unsigned function) override;

  // What the function has is another; it has been reset.
  void set_partition(unsigned function, const Partition& partition);
  // For the functions' contexts. Before the simulation starts: the next function's.
  void attach(MmuContext& context) { contexts_.push_back(&context); }
  void attach(PageFaults& faults) { faults_.push_back(&faults); }
  void drop(const TaggedRange& range);
  AccessGenerations& accesses() { return accesses_; }
  void count_invalidation() { ++statistics_.invalidations; }
  Simulation& sim() { return sim_; }
  SimTime invalidate_time() const { return invalidate_time_; }
  // From a walk that fails to the record of it, and from one record to the next.
  SimTime fault_time() const { return fault_time_; }
  // What waited for `page` is walked for again, or, unless `completion` is kSuccess, fails.
  void fault_ended(TaggedAddress page, const Walker::Waiting& waiting, SimTime since,
                   std::uint64_t cause, Completion completion);
  // False: the function may not send now.
  bool post_to_host(unsigned function, std::uint64_t bus, const abi::PageFaultRecord& record,
                    std::uint64_t cause);

 private:
  // What is kept with a client's request (Transaction::sender_states).
  struct Hop {
    std::uint64_t address;
    unsigned client;
    unsigned generation;

    std::uint64_t pack() const {
      return std::uint64_t{generation} << 56 | std::uint64_t{client} << 48 | address;
    }
    static Hop of(const Transaction& info) { return unpack(info.sender_states.top()); }
    static Hop unpack(std::uint64_t v) {
      return {v & 0xFFFF'FFFF'FFFF, static_cast<unsigned>(v >> 48 & 0xFF),
              static_cast<unsigned>(v >> 56)};
    }
  };
  // The page a client last used for reads [0] and writes [1].
  using LastPages = std::array<Translation*, 2>;

  tlm::tlm_sync_enum request(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  tlm::tlm_sync_enum peer_response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  tlm::tlm_sync_enum pass_on(unsigned client, tlm::tlm_generic_payload& trans,
                             tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum pass_on_told(unsigned client, tlm::tlm_generic_payload& trans,
                                  tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum walker_response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  bool translate(unsigned client, tlm::tlm_generic_payload& trans, Transaction& info);
  tlm::tlm_sync_enum end_translation(tlm::tlm_generic_payload& trans);
  bool use(const Translation& page, unsigned client, tlm::tlm_generic_payload& trans,
           Transaction& info);
  void trace(const Transaction& info, std::uint64_t address, bool hit) const;
  void refuse(tlm::tlm_generic_payload& trans, Completion completion, std::uint64_t address);
  void fail(tlm::tlm_generic_payload& trans, Completion completion);
  void answer(std::uint64_t trans);
  void walked(const Walker::Waiting& waiting, Completion completion, Translation* page) override;
  std::uint64_t context_base(unsigned function) const override;
  const Partition& partition(unsigned function) const override { return partitions_[function]; }
  bool tells_of_use(SpaceId space) const override;
  bool exchange(std::uint64_t entry, std::uint64_t from, std::uint64_t to) override {
    return memory_.exchange(entry, from, to);
  }
  std::optional<std::uint64_t> residency_base(unsigned function) const override;
  bool is_there(const Translation& page, tlm::tlm_generic_payload& trans, std::uint64_t& missing) {
    const auto& info = Transaction::of(trans);
    return tlb_.has_parts(page, Hop::of(info).address, std::max<Bytes>(info.extent(trans), 1),
                          missing);
  }
  bool place(unsigned client, tlm::tlm_generic_payload& trans, Transaction& info);
  bool place_at_peer(unsigned client, tlm::tlm_generic_payload& trans, Transaction& info);
  bool can_leave(const Transaction& info) const;
  // Whether such a request can be sent to where the page is. The host reduces nothing: PCIe has no
  // such writes.
  Completion takes(const Translation& page, const Transaction& info) const {
    if (page.peer != 0) return can_leave(info) ? Completion::kSuccess : Completion::kNoPeer;
    const bool plain = info.reduction == abi::ReduceOperation::kNone && host_pages_ != nullptr;
    return page.host == HostPage::kNone || plain ? Completion::kSuccess
                                                 : Completion::kUnsupportedRequest;
  }

  Simulation& sim_;
  const std::uint32_t track_;
  const SimTime invalidate_time_, fault_time_;
  std::vector<Partition> partitions_;  // by function
  bool divided_ = false;               // several have memory
  Tlb tlb_;
  MmuStatistics statistics_;
  Walker walker_;
  std::vector<LastPages> last_;  // by client
  MemoryWatch* watch_ = nullptr;
  HostPagePort* host_pages_ = nullptr;
  PageListener* page_listener_ = nullptr;
  std::vector<Writer> writers_;  // by client, if there is a watch
  AccessGenerations accesses_;
  MmuMemory memory_, core_memory_;
  std::vector<MmuContext*> contexts_;  // by function
  std::vector<PageFaults*> faults_;    // by function
};

}  // namespace npu::model
