// SPDX-License-Identifier: Apache-2.0
// What every TLM-2.0 transaction of npusim carries beside the generic payload, and the pool the
// payloads come from.
//
// Protocol on all nb_transport sockets (which there are: model/README.md, "Sockets"):
//  - request:  initiator calls nb_transport_fw(trans, BEGIN_REQ, delay); the target returns
//              TLM_ACCEPTED. `delay` is 0 on entry unless the socket's header says otherwise.
//  - response: for everything but posted writes the target later calls
//              nb_transport_bw(trans, BEGIN_RESP, 0); the initiator returns TLM_COMPLETED.
//  - posted:   no response. The initiator hands its reference over; the final target releases it.
//              Where a socket's header says so a refused one comes back at once, TLM_COMPLETED.
//  - There is no END_REQ/END_RESP, but that the MMU tells who asks for it (asks_translated) with
//    nb_transport_bw(trans, END_REQ, 0) that a request is translated, inside the request's call if
//    it is at once; initiators bound what they have outstanding.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "model/core/space_id.hpp"
#include "npu/abi/element.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

enum class TransactionKind : std::uint8_t {
  kMemory,        // address is a bus address, or device-local inside the card
  kConfig,        // address = packed BDF << 12 | offset; always non-posted
  kInterrupt,     // an MSI-X message: a posted 4-byte write to the entry's address
  kTranslation,   // ATS request: a non-posted read of 8 bytes; the answer is the number of bytes
                  // from the address that are mapped for device writes (no_write: for reads), or
                  // an error completion. Of a process' addresses: 0 where nothing is mapped.
                  // To the MMU: answered when the address is translated, nothing moves
  kInvalidation,  // ATS Invalidate Request of the host, 8 bytes, address = packed BDF << 12; what
                  // answers it is the Invalidate Completion
  kPageRequest,   // PRI message to the host, posted; data: PageRequestMessage, address of the page
  kPageResponse,  // its answer, posted, address = packed BDF << 12; data: PageResponseMessage
};

// Messages are routed by id, or to the root complex, not by address.
constexpr bool is_routed_by_id(TransactionKind kind) {
  return kind == TransactionKind::kInvalidation || kind == TransactionKind::kPageResponse;
}

// What a Page Request says (PCIe 10.4.1), beside requester and PASID, which every request has.
struct PageRequestMessage {
  std::uint16_t group = 0;  // Page Request Group Index, 9 bits
  bool read = false, write = false, last = false;
};
// A PRG Response (PCIe 10.4.2).
struct PageResponseMessage {
  std::uint32_t pasid = 0;
  std::uint16_t group = 0;
  std::uint16_t code = 0;  // platform::PageResponse
};

// How a non-posted request ended, as a PCIe completion says it.
enum class Completion : std::uint8_t {
  kSuccess,
  kUnsupportedRequest,
  kCompleterAbort,
  kPermission,  // IOMMU: mapped, but not for this direction
  kTimeout,
  kPoisoned,
  kNotMapped,     // MMU: no translation of the device virtual address
  kForbidden,     // MMU: mapped, but not for this kind of access
  kBadTable,      // MMU: a table could not be read, or an entry makes no sense
  kNoPeer,        // HCCS: no link to that card
  kPeerLinkDown,  // HCCS: the link is down, or went down before the response came
  kPeerRefused,   // HCCS: the peer does not let this card in
  kPageFault,     // MMU: of a request that `replays`: the page may come, see PagePort (ports.hpp)
};

// A page of the host's in an address space of the card.
enum class HostPage : std::uint8_t {
  kNone,     // it is not
  kProcess,  // at its address in a process, whose PASID the request has (model/ats)
  kBus,      // at a bus address of the function (abi/page_table.hpp: Host)
};

// What components on a request's way keep with it until its answer comes back by them: who passes a
// request on pushes what it needs, and pops it from the answer. Nobody sees what others have
// pushed. A posted request has no answer: what it has at its end goes with it.
class SenderStates {
 public:
  void push(std::uint64_t state) {
    sc_assert(count_ < kMost);
    states_[count_++] = state;
  }
  std::uint64_t pop() {
    sc_assert(count_ > 0);
    return states_[--count_];
  }
  // What was pushed last.
  std::uint64_t top() const {
    sc_assert(count_ > 0);
    return states_[count_ - 1];
  }
  void replace(std::uint64_t state) {
    sc_assert(count_ > 0);
    states_[count_ - 1] = state;
  }
  unsigned count() const { return count_; }
  void clear() { count_ = 0; }

 private:
  static constexpr unsigned kMost = 3;

  std::array<std::uint64_t, kMost> states_{};
  unsigned count_ = 0;
};

class Transaction : public tlm::tlm_extension<Transaction> {
 public:
  static constexpr std::size_t kInlineData = 64;

  TransactionKind kind = TransactionKind::kMemory;
  Completion completion = Completion::kSuccess;
  bool posted = false;
  bool asks_translated = false;  // of a virtual address, see above
  bool translated = false;       // to the host: the address was translated by ATS before
  bool relaxed = false;          // posted write of data: may pass others of its cause (PCIe 2.4.1)
  bool no_write = false;         // of kTranslation: only to read
  HostPage to_host = HostPage::kNone;  // in the MMU: the page is the host's
  bool replays = false;                // does not wait in the MMU for a page that somebody serves
  bool type0 = false;  // of kConfig: on the bus it is meant for; bridges on its way route
                       // it as type 1 (PCIe 7.3.3)
  // Of a write: what is there becomes reduction(what is there, data); see
  // model/dma/reduce_unit.hpp.
  abi::ReduceOperation reduction = abi::ReduceOperation::kNone;
  abi::ElementType element = abi::ElementType::kInt8;
  SpaceId vmid = 0;             // address space of a device address (space_id.hpp)
  std::uint32_t requester = 0;  // packed BDF
  std::uint16_t peer = 0;       // another card's memory: its index + 1; 0: this card's
  std::uint8_t function = 0;    // of the card: whom the host reaches, or who sends to the host
  std::uint8_t flow = 0;  // who sends it: MMU client and DMA engine; flows share HCCS links fairly
  std::uint32_t pasid = 0;  // process a bus address belongs to; 0: none (the driver's own)
  // Strided request, of the cores to device memory: `rows` equal pieces of the payload's data, one
  // after another there and `pitch` bytes apart in memory. Contiguous if rows <= 1.
  std::uint32_t pitch = 0;
  std::uint16_t rows = 1;
  std::uint16_t core = 0;           // AI Core or AICPU + 1 that makes the request; 0: another unit
  std::uint64_t cause = 0;          // platform/trace.hpp
  std::uint64_t issued = 0;         // SimTime at the initiator
  std::uint64_t translated_at = 0;  // SimTime, of who asks for it (asks_translated); 0: not yet
  std::uint64_t hbm_until = 0;      // SimTime until which the L2 waited for the HBM; 0: it did not
  std::uint32_t l2_hits = 0;        // lines of the L2 that it found there
  std::uint32_t l2_misses = 0;      // and did not
  std::uint64_t context = 0;        // the initiator's own
  SenderStates sender_states;       // of components between the initiator and here
  std::array<unsigned char, kInlineData> inline_data{};  // payload of small accesses

  tlm_extension_base* clone() const override { return new Transaction(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const Transaction&>(other);
  }

  // Makes a payload out of a pool, with its data pointer set, a new request.
  static void prepare(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                      std::uint64_t address, unsigned length);
  // Bytes of device memory from the first to behind the last that the payload's data lie in.
  std::uint64_t extent(const tlm::tlm_generic_payload& payload) const {
    const std::uint64_t length = payload.get_data_length();
    if (rows <= 1) return length;
    return std::uint64_t{pitch} * (rows - 1U) + length / rows;
  }
  // Of a payload from one of npusim's pools, which all are; a foreign one has get_extension().
  static Transaction& of(tlm::tlm_generic_payload& payload);
  static const Transaction& of(const tlm::tlm_generic_payload& payload);
};

// A generic payload with its extension beside it: they are used together, and lie in as few cache
// lines as they can.
class alignas(64) PooledPayload : public tlm::tlm_generic_payload {
 public:
  explicit PooledPayload(tlm::tlm_mm_interface* pool) : tlm_generic_payload(pool) {
    set_extension(&transaction);
  }
  ~PooledPayload() override {
    set_mm(nullptr);
    clear_extension(&transaction);
  }

  Transaction transaction;
};

inline Transaction& Transaction::of(tlm::tlm_generic_payload& payload) {
  return static_cast<PooledPayload&>(payload).transaction;
}
inline const Transaction& Transaction::of(const tlm::tlm_generic_payload& payload) {
  return static_cast<const PooledPayload&>(payload).transaction;
}

// Payloads with their extension; one pool per simulation.
class TransactionPool : public tlm::tlm_mm_interface {
 public:
  TransactionPool() = default;
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;

  // A payload with one reference, its data pointer at inline_data if `data` is null (then
  // length <= kInlineData). Give it back with release().
  tlm::tlm_generic_payload& allocate(tlm::tlm_command command, std::uint64_t address,
                                     unsigned char* data, unsigned length);
  // The same without data, of any length: costs the time of the access and moves nothing.
  tlm::tlm_generic_payload& allocate_timing(tlm::tlm_command command, std::uint64_t address,
                                            unsigned length);
  void free(tlm::tlm_generic_payload* payload) override;
  std::size_t in_use() const { return all_.size() - idle_.size(); }

 private:
  std::vector<std::unique_ptr<PooledPayload>> all_;
  std::vector<tlm::tlm_generic_payload*> idle_;
};

}  // namespace npu::model
