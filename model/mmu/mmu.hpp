// SPDX-License-Identifier: Apache-2.0
// Memory management unit of a card: translates the device virtual addresses of its clients
// (include/npu/abi/page_table.hpp) between them and the HBM.
//
// Protocol: model/core/transaction.hpp. A request of VMID 0 is passed on as it is. Others are
// translated; such a request stays in one 2 MiB page, all its rows if it is strided, and is not
// posted. Looking up the TLB is a
// pipelined step of the memory controller's front end (HbmConfig::frontend) and costs no time of
// its own; a miss costs the walk. Requests that hit overtake ones that wait for a walk.
// Bytes move when the request is passed on, so for a miss after nb_transport_fw() has returned:
// the payload's data pointer stays valid until the response. The response carries the virtual
// address again. Whoever watches memory is told of writes at that time. A request that cannot be
// translated moves no bytes and is answered with TLM_ADDRESS_ERROR_RESPONSE and kNotMapped,
// kForbidden or kBadTable, when that is known.
//
// As DeviceMemory it moves bytes at once, through the first client's HBM port and the walker's:
// what the TLB holds is used but not touched, other tables are read, and nothing is counted.
// kUnsupportedRequest: no memory there.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <vector>

#include "model/core/device_memory.hpp"
#include "model/core/ports.hpp"
#include "model/mmu/walker.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class Mmu : public sc_core::sc_module,
            public ResetListener,
            public DeviceMemory,
            private Walker::Listener {
 public:
  using ClientSocket = tlm_utils::simple_target_socket_tagged_optional<Mmu>;
  using HbmSocket = tlm_utils::simple_initiator_socket_tagged<Mmu>;

  // `clients`: number of client sockets, at most 256. Installs itself behind the MMU registers of
  // `registers`; all references outlive the module.
  Mmu(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
      CardRegisters& registers, unsigned clients);

  sc_core::sc_vector<ClientSocket> client_sockets;
  // Device-local addresses; one for each client, so that ports are not shared.
  sc_core::sc_vector<HbmSocket> hbm_sockets;
  // Requests for other cards' memory (Transaction::peer), of all clients; need not be bound. The
  // address is device-local there. Without a link to that card, or if the request is strided or
  // has no data: kNoPeer.
  tlm_utils::simple_initiator_socket_optional<Mmu> peer_socket{"peer_socket"};
  // Reads of table entries.
  tlm_utils::simple_initiator_socket<Mmu> walker_socket{"walker_socket"};

  // Tells `watch` of writes from now on; `writers`: who each client is.
  void connect(MemoryWatch& watch, std::vector<Writer> writers);
  Completion read(std::uint8_t vmid, std::uint64_t address, void* data, Bytes length) override;
  Completion read_rows(std::uint8_t vmid, std::uint64_t address, std::uint32_t rows,
                       Bytes row_bytes, std::uint64_t pitch, void* data) override;
  std::optional<std::uint64_t> local(std::uint8_t vmid, std::uint64_t address) override;
  bool knows(std::uint8_t vmid, std::uint64_t address, bool write) const override;
  Completion write(Writer writer, std::uint8_t vmid, std::uint64_t address, const void* data,
                   Bytes length) override;
  // Whose bytes lend() gives, of device-local addresses.
  void connect(Lender& lender) { lender_ = &lender; }
  const std::byte* lend(std::uint8_t vmid, std::uint64_t address, Bytes length,
                        Borrower& borrower) override;
  void give_back(const std::byte* from, Bytes length, Borrower& borrower) override {
    lender_->give_back(from, length, borrower);
  }
  Hold hold(std::uint8_t vmid) override;
  void release(Hold hold) override;

  const MmuStatistics& statistics() const { return statistics_; }
  // Drops everything. Requests that wait for a walk are answered with kCompleterAbort and move no
  // bytes: their initiators have been reset, too, and use their buffers for something else.
  void function_reset() override;

 private:
  // Transaction::hop_context of what a client has sent.
  struct Hop {
    std::uint64_t address;
    unsigned client;
    unsigned generation;

    std::uint64_t pack() const {
      return std::uint64_t{generation} << 56 | std::uint64_t{client} << 48 | address;
    }
    static Hop unpack(std::uint64_t v) {
      return {v & 0xFFFF'FFFF'FFFF, static_cast<unsigned>(v >> 48 & 0xFF),
              static_cast<unsigned>(v >> 56)};
    }
  };
  // Accesses of one address space between translation and response. Each invalidation opens a new
  // generation and waits for the others. Four, because a reset may leave one unfinished.
  struct InFlight {
    static constexpr unsigned kGenerations = 4;
    std::array<std::uint32_t, kGenerations> count{};
    unsigned generation = 0;
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
  void fail(tlm::tlm_generic_payload& trans, Completion completion);
  void answer(std::uint64_t trans);
  void walked(const Walker::Waiting& waiting, Completion completion, Translation* page) override;
  std::uint64_t context_base() const override;

  Completion resolve(std::uint8_t vmid, std::uint64_t address, bool write, std::uint64_t& local);
  Completion find_page(TaggedAddress address, Translation& page);
  Completion move(tlm::tlm_command command, std::uint8_t vmid, std::uint64_t address,
                  unsigned char* data, Bytes length, std::uint64_t& local);

  void install_hooks();
  void drop(const TaggedRange& range);
  void invalidate_written(abi::MmuInvalidate value);
  void invalidate_due(std::uint64_t epoch);
  bool drained() const;
  void finish_invalidation();

  Simulation& sim_;
  const std::uint32_t track_;
  RegisterBank& bank_;
  const SimTime invalidate_time_;
  const Bytes installed_;
  Tlb tlb_;
  MmuStatistics statistics_;
  Walker walker_;
  std::vector<LastPages> last_;  // by client
  MemoryWatch* watch_ = nullptr;
  Lender* lender_ = nullptr;
  std::vector<Writer> writers_;  // by client, if there is a watch
  std::array<InFlight, abi::kVmids> in_flight_{};

  enum class Invalidation { kNone, kWritten, kDraining };
  Invalidation invalidation_ = Invalidation::kNone;
  abi::MmuInvalidate invalidate_value_;  // as last written
  TaggedRange invalidate_range_ = kEverything;
  std::uint64_t epoch_ = 0;  // resets so far
};

}  // namespace npu::model
