// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/mmu.hpp"

#include <algorithm>

#include "model/core/posted_record.hpp"
#include "model/mmu/host_page_port.hpp"
#include "model/mmu/mmu_context.hpp"
#include "model/mmu/page_faults.hpp"
#include "model/mmu/peer_address.hpp"

namespace npu::model {

Mmu::Mmu(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
         unsigned device_index, unsigned clients)
    : sc_module(name),
      client_sockets("client_socket", clients),
      hbm_sockets("hbm_socket", clients),
      sim_(sim),
      track_(sim.recorder.track("card" + std::to_string(device_index) + ".mmu")),
      invalidate_time_(ticks(config.mmu.invalidate)),
      fault_time_(ticks(config.mmu.fault)),
      tlb_(config.mmu.tlb_entries, config.mmu.tlb_ways),
      walker_(sim, config, tlb_, statistics_, *this, track_,
              [this](tlm::tlm_generic_payload& trans) {
                tlm::tlm_phase phase = tlm::BEGIN_REQ;
                auto delay = sc_core::SC_ZERO_TIME;
                walker_socket->nb_transport_fw(trans, phase, delay);
              }),
      last_(clients, LastPages{tlb_.nothing(), tlb_.nothing()}),
      accesses_(std::size_t{config.functions()} * abi::kVmids),
      memory_(sim, tlb_, *this, accesses_, {hbm_sockets[0], walker_socket}),
      core_memory_(sim, tlb_, *this, accesses_,
                   {hbm_sockets[0], walker_socket, &peer_socket, &memory_}) {
  sc_assert(clients <= 256 && config.functions() <= kMaxFunctions);
  partitions_.resize(config.functions());
  for (unsigned i = 0; i < config.functions(); ++i) set_partition(i, config.partition(i));
  for (unsigned i = 0; i < clients; ++i) {
    client_sockets[i].register_nb_transport_fw(this, &Mmu::request, static_cast<int>(i));
    hbm_sockets[i].register_nb_transport_bw(this, &Mmu::response, static_cast<int>(i));
  }
  peer_socket.register_nb_transport_bw(this, &Mmu::peer_response);
  walker_socket.register_nb_transport_bw(this, &Mmu::walker_response);
}

void Mmu::set_partition(unsigned function, const Partition& partition) {
  partitions_[function] = partition;
  divided_ = std::count_if(partitions_.begin(), partitions_.end(),
                           [](const Partition& each) { return each.memory != 0; }) > 1;
}

void Mmu::connect(MemoryWatch& watch, std::vector<Writer> writers) {
  sc_assert(writers.size() == client_sockets.size());
  watch_ = &watch;
  writers_ = std::move(writers);
  memory_.connect(watch);
  core_memory_.connect(watch);
}

void Mmu::connect(HostPagePort& pages) {
  host_pages_ = &pages;
  memory_.connect(pages);
  core_memory_.connect(pages);
}

tlm::tlm_sync_enum Mmu::request(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
  auto& info = Transaction::of(trans);
  const auto by = static_cast<unsigned>(client);
  const bool found = is_physical(info.vmid) ? place(by, trans, info) : translate(by, trans, info);
  return found ? pass_on(by, trans, phase, delay) : tlm::TLM_ACCEPTED;
}

// The memory itself refuses what lies beyond all of it.
bool Mmu::place(unsigned client, tlm::tlm_generic_payload& trans, Transaction& info) {
  if (PeerAddress::is(trans.get_address())) return place_at_peer(client, trans, info);
  info.peer = 0;
  if (info.vmid == abi::kVmidPhysical && !divided_) return true;
  const std::uint64_t address = trans.get_address();
  if (accesses_.has(info.vmid)) {
    const auto& partition = partitions_[function_of(info.vmid)];
    if (partition.has_memory(address, info.extent(trans))) {
      trans.set_address(partition.memory_base + address);
      return true;
    }
  }
  info.sender_states.push(Hop{0, client, 0}.pack());
  fail(trans, Completion::kUnsupportedRequest);
  return false;
}

bool Mmu::place_at_peer(unsigned client, tlm::tlm_generic_payload& trans, Transaction& info) {
  const auto there = PeerAddress::of(trans.get_address());
  info.sender_states.push(Hop{there.address, client, 0}.pack());
  if (!can_leave(info)) {
    fail(trans, Completion::kNoPeer);
    return false;
  }
  trans.set_address(there.address);
  info.peer = there.peer;
  info.flow = static_cast<std::uint8_t>(client << 5 | (info.flow & 0x1FU));
  return true;
}

// Links carry contiguous data only, and only function 0's: the peer knows cards, not functions.
bool Mmu::can_leave(const Transaction& info) const {
  return peer_socket.size() != 0 && info.rows <= 1 && function_of(info.vmid) == 0;
}

tlm::tlm_sync_enum Mmu::pass_on(unsigned client, tlm::tlm_generic_payload& trans,
                                tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto& info = Transaction::of(trans);
  if (info.kind == TransactionKind::kTranslation) return end_translation(trans);
  if (info.to_host != HostPage::kNone) {
    host_pages_->access(trans);
    return tlm::TLM_ACCEPTED;
  }
  if (info.peer != 0) {
    peer_socket->nb_transport_fw(trans, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  // One that reduces moves its bytes later, and is told of by the local address then.
  const bool told = watch_ != nullptr && trans.is_write() && watch_->active();
  if (!told || info.reduction != abi::ReduceOperation::kNone || trans.get_data_ptr() == nullptr) {
    return hbm_sockets[client]->nb_transport_fw(trans, phase, delay);
  }
  return pass_on_told(client, trans, phase, delay);
}

tlm::tlm_sync_enum Mmu::end_translation(tlm::tlm_generic_payload& trans) {
  auto& info = Transaction::of(trans);
  const auto hop = Hop::of(info);
  trans.set_address(hop.address);
  accesses_.forget(info.vmid, hop.generation);
  info.completion = Completion::kSuccess;
  trans.set_response_status(tlm::TLM_OK_RESPONSE);
  sim_.agenda.at<&Mmu::answer>(sim_now(), *this, reinterpret_cast<std::uintptr_t>(&trans));
  return tlm::TLM_ACCEPTED;
}

// A posted write may be gone when somebody can be told.
tlm::tlm_sync_enum Mmu::pass_on_told(unsigned client, tlm::tlm_generic_payload& trans,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto& info = Transaction::of(trans);
  const SpaceId vmid = info.vmid;
  std::uint64_t address = is_physical(vmid)
                              ? trans.get_address() - partitions_[function_of(vmid)].memory_base
                              : Hop::of(info).address;
  const unsigned rows = std::max<unsigned>(info.rows, 1);
  const Bytes pitch = info.pitch, piece = trans.get_data_length() / rows;
  const auto answer = hbm_sockets[client]->nb_transport_fw(trans, phase, delay);
  for (unsigned row = 0; row < rows; ++row, address += pitch) {
    watch_->written(writers_[client], vmid, address, piece);
  }
  return answer;
}

// True if the request can be passed on.
bool Mmu::translate(unsigned client, tlm::tlm_generic_payload& trans, Transaction& info) {
  constexpr std::uint64_t kPage = abi::entry_span(0);
  const std::uint64_t address = trans.get_address();
  const bool stays_in_one_page = address % kPage + info.extent(trans) <= kPage;
  sc_assert(stays_in_one_page && !info.posted);
  info.sender_states.push(
      Hop{address & ~(~std::uint64_t{0} << abi::kVirtualBits), client, 0}.pack());
  if (address >> abi::kVirtualBits != 0 || !accesses_.has(info.vmid)) {
    fail(trans, Completion::kNotMapped);
    return false;
  }
  const TaggedAddress tagged = tagged_address(info.vmid, address);
  auto& last = last_[client][trans.is_write() ? 1 : 0];
  if (last->covers(tagged)) {
    tlb_.touch(*last);
  } else if (auto* const found = tlb_.lookup(tagged)) {
    last = found;
  } else {
    ++statistics_.misses;
    trace(info, address, false);
    walker_.miss(tagged, trans);
    return false;
  }
  std::uint64_t missing = 0;
  if ((last->clean && trans.is_write()) || (last->partial && !is_there(*last, trans, missing))) {
    ++statistics_.misses;
    trace(info, address, false);
    walker_.miss(tagged, trans);
    return false;
  }
  ++statistics_.hits;
  if (sim_.recorder.hears(platform::Activity::kTranslation)) trace(info, address, true);
  return use(*last, client, trans, info);
}

void Mmu::trace(const Transaction& info, std::uint64_t address, bool hit) const {
  sim_.emit(track_, platform::Activity::kTranslation, sim_now(), sim_now(), info.cause, 0,
            std::uint64_t{hit} << 63 | std::uint64_t{info.vmid} << 48 | address);
}

bool Mmu::use(const Translation& page, unsigned client, tlm::tlm_generic_payload& trans,
              Transaction& info) {
  if (!(trans.is_write() ? page.write : page.read)) {
    if (page.host == HostPage::kProcess) {
      host_pages_->want(trans, trans.get_address());  // which may have been forbidden only then
    } else {
      refuse(trans, Completion::kForbidden, trans.get_address());
    }
    return false;
  }
  if (const auto taken = takes(page, info); taken != Completion::kSuccess) {
    fail(trans, taken);
    return false;
  }
  const unsigned generation = accesses_.begin(info.vmid);
  info.sender_states.replace(Hop{trans.get_address(), client, generation}.pack());
  trans.set_address(page.translate(trans.get_address()));
  info.peer = page.peer;
  info.to_host = page.host;
  if (page.peer != 0) info.flow = static_cast<std::uint8_t>(client << 5 | (info.flow & 0x1FU));
  if (info.asks_translated) {
    tlm::tlm_phase phase = tlm::END_REQ;
    auto delay = sc_core::SC_ZERO_TIME;
    client_sockets[client]->nb_transport_bw(trans, phase, delay);
  }
  return true;
}

tlm::tlm_sync_enum Mmu::response(int client, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay) {
  auto& info = Transaction::of(trans);
  if (!is_physical(info.vmid)) {
    const auto hop = Hop::unpack(info.sender_states.pop());
    trans.set_address(hop.address);
    accesses_.end(info.vmid, hop.generation);
  } else if (info.peer != 0) {
    trans.set_address(
        PeerAddress{Hop::unpack(info.sender_states.pop()).address, info.peer}.named());
  } else if (partitions_.size() > 1) {
    trans.set_address(trans.get_address() - partitions_[function_of(info.vmid)].memory_base);
  }
  return client_sockets[static_cast<unsigned>(client)]->nb_transport_bw(trans, phase, delay);
}

tlm::tlm_sync_enum Mmu::peer_response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                      sc_core::sc_time& delay) {
  return response(static_cast<int>(Hop::of(Transaction::of(trans)).client), trans, phase, delay);
}

void Mmu::host_translated(TaggedAddress page, bool write, const Walker::Waiting& waiting) {
  Translation entry;
  entry.tag = page >> abi::kPageShift;
  entry.base = page & ((std::uint64_t{1} << abi::kVirtualBits) - 1);
  entry.read = true;
  entry.write = write;
  entry.host = HostPage::kProcess;
  tlb_.insert(entry);
  for (auto* const trans : waiting) {
    const unsigned client = Hop::of(Transaction::of(*trans)).client;
    if (!use(entry, client, *trans, Transaction::of(*trans))) continue;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    auto delay = sc_core::SC_ZERO_TIME;
    pass_on(client, *trans, phase, delay);
  }
}

void Mmu::host_refused(const Walker::Waiting& waiting, Completion completion) {
  for (auto* const trans : waiting) fail(*trans, completion);
}

void Mmu::host_answered(tlm::tlm_generic_payload& trans) {
  const auto hop = Hop::of(Transaction::of(trans));
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  response(static_cast<int>(hop.client), trans, phase, delay);
}

tlm::tlm_sync_enum Mmu::walker_response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                        sc_core::sc_time&) {
  walker_.answered(trans);
  return tlm::TLM_COMPLETED;
}

void Mmu::walked(const Walker::Waiting& waiting, Completion completion, Translation* page) {
  for (auto* const trans : waiting) {
    auto& info = Transaction::of(*trans);
    const auto hop = Hop::of(info);
    const unsigned client = hop.client;
    std::uint64_t missing = hop.address;
    if (page == nullptr) {
      refuse(*trans, completion, hop.address);
    } else if (page->partial && !is_there(*page, *trans, missing)) {
      refuse(*trans, Completion::kNotMapped, missing);
    } else if (page->clean && trans->is_write()) {
      walker_.miss(tagged_address(info.vmid, hop.address), *trans);
    } else if (use(*page, client, *trans, info)) {
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      auto delay = sc_core::SC_ZERO_TIME;
      pass_on(client, *trans, phase, delay);
    }
  }
}

// A request that cannot be translated, because of what is at `address`, waits if somebody serves
// such faults.
void Mmu::refuse(tlm::tlm_generic_payload& trans, Completion completion, std::uint64_t address) {
  const auto& info = Transaction::of(trans);
  if (completion == Completion::kNotMapped && memory_.shares(info.vmid)) {
    return host_pages_->want(trans, address);
  }
  auto* const faults = faults_.empty() ? nullptr : faults_[function_of(info.vmid)];
  if (faults == nullptr || !faults->keeps(info.vmid, completion)) return fail(trans, completion);
  ++statistics_.faults_kept;
  faults->park(trans, address, Hop::of(info).client, completion);
}

void Mmu::fault_ended(TaggedAddress page, const Walker::Waiting& waiting, SimTime since,
                      std::uint64_t cause, Completion completion) {
  sim_.emit(track_, platform::Activity::kPageFault, since, sim_now(), cause, 0, page);
  for (auto* const trans : waiting) {
    if (completion != Completion::kSuccess) {
      fail(*trans, completion);
    } else {
      ++statistics_.misses;
      walker_.miss(page, *trans);
    }
  }
}

bool Mmu::page_waits(SpaceId space, std::uint64_t address) const {
  const TaggedAddress page = align_down(tagged_address(space, address), abi::entry_span(0));
  return (!faults_.empty() && faults_[function_of(space)]->replays(page)) ||
         (host_pages_ != nullptr && host_pages_->replays(page));
}

void Mmu::send_back(tlm::tlm_generic_payload& trans) {
  Transaction::of(trans).completion = Completion::kPageFault;
  trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  sim_.agenda.at<&Mmu::answer>(sim_now(), *this, reinterpret_cast<std::uintptr_t>(&trans));
}

void Mmu::page_resolved(TaggedAddress page, Completion completion) {
  constexpr std::uint64_t kInSpace = (std::uint64_t{1} << abi::kVirtualBits) - 1;
  if (completion == Completion::kNotMapped) ++statistics_.not_mapped;
  if (completion == Completion::kForbidden) ++statistics_.forbidden;
  page_listener_->page_resolved(space_of_tagged(page), page & kInSpace, completion);
}

bool Mmu::post_to_host(unsigned function, std::uint64_t bus, const abi::PageFaultRecord& record,
                       std::uint64_t cause) {
  return post_record(sim_, host_socket, function, bus, record, cause);
}

// The answer must not come inside the request's call: the client is not ready for it.
void Mmu::fail(tlm::tlm_generic_payload& trans, Completion completion) {
  if (completion == Completion::kNotMapped) ++statistics_.not_mapped;
  if (completion == Completion::kForbidden) ++statistics_.forbidden;
  if (completion == Completion::kBadTable) ++statistics_.bad_table;
  Transaction::of(trans).completion = completion;
  trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  sim_.agenda.at<&Mmu::answer>(sim_now(), *this, reinterpret_cast<std::uintptr_t>(&trans));
}

void Mmu::answer(std::uint64_t pointer) {
  auto& trans = *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(pointer));
  const unsigned client = Hop::unpack(Transaction::of(trans).sender_states.pop()).client;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  client_sockets[client]->nb_transport_bw(trans, phase, delay);
}

// --- What functions say, and forget -----------------------------------------------------------

bool Mmu::tells_of_use(SpaceId space) const {
  return !faults_.empty() && faults_[function_of(space)]->serves(space);
}

std::optional<std::uint64_t> Mmu::residency_base(unsigned function) const {
  return faults_.empty() ? std::nullopt : faults_[function]->residency_base();
}

void Mmu::drop(const TaggedRange& range) {
  tlb_.drop(range);
  walker_.invalidate(range);
  if (watch_ != nullptr) watch_->translations_dropped(range.first, range.last);
}

std::uint64_t Mmu::context_base(unsigned function) const {
  return contexts_[function]->base();
}

void Mmu::function_reset(unsigned function) {
  contexts_[function]->reset();
  tlb_.drop(all_of_function(function));
  for (auto* const trans : walker_.reset(all_of_function(function)))
    fail(*trans, Completion::kCompleterAbort);
  if (faults_.empty()) return;
  for (auto* const trans : faults_[function]->reset()) fail(*trans, Completion::kCompleterAbort);
}

}  // namespace npu::model
