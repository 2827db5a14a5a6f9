// SPDX-License-Identifier: Apache-2.0
#include "model/ats/host_pages.hpp"

#include <utility>

#include "model/mmu/mmu.hpp"
#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

HostPages::HostPages(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
                     const std::string& track, Mmu& mmu)
    : sc_module(name),
      mmu_(mmu),
      enabled_(config.mmu.fault_policy == PageFaultPolicy::kAts),
      requests_(
          sim, track, [this](auto& trans, auto& delay) { return send(trans, delay); }, *this),
      access_(
          sim, [this](auto& trans, auto& delay) { return send(trans, delay); },
          [this](auto& trans) { mmu_.host_answered(trans); },
          config.mmu.max_outstanding_host_reads) {
  host_socket.register_nb_transport_bw(this, &HostPages::response);
  for (unsigned i = 0; i < config.functions(); ++i) {
    auto& one = invalidating_.emplace_back();
    one.unit = std::make_unique<Invalidation>(mmu, i, [this, i] { invalidated(i); });
  }
}

void HostPages::connect(HostServicesPort& services,
                        std::function<void(std::uint64_t)> invalidated) {
  services_ = &services;
  requests_.connect(services);
  invalidated_ = std::move(invalidated);
}

tlm::tlm_sync_enum HostPages::send(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  return host_socket->nb_transport_fw(trans, phase, delay);
}

tlm::tlm_sync_enum HostPages::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                       sc_core::sc_time&) {
  if (Transaction::of(trans).kind == TransactionKind::kTranslation) {
    requests_.answered(trans);
  } else {
    access_.answered(trans);
  }
  return tlm::TLM_COMPLETED;
}

void HostPages::share(SpaceId space, std::uint32_t pasid) {
  if (!enabled_ || pasids_[space] == pasid) return;
  stop(space);
  pasids_[space] = pasid;
  invalidating_[function_of(space)].shared |= 1U << vmid_of(space);
}

void HostPages::stop(SpaceId space) {
  if (!shares(space)) return;
  requests_.stop(space, std::exchange(pasids_[space], 0));
  mmu_.drop(all_of_spaces(space, 1));
}

void HostPages::want(tlm::tlm_generic_payload& trans, std::uint64_t address) {
  const auto space = Transaction::of(trans).vmid;
  if (!services_->translations_enabled(function_of(space))) {
    return refused({&trans}, Completion::kNotMapped);
  }
  requests_.want(trans, align_down(tagged_address(space, address), abi::entry_span(0)),
                 pasids_[space]);
}

void HostPages::access(tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  access_.begin(trans, info.to_host == HostPage::kProcess ? pasids_[info.vmid] : 0);
}

std::byte* HostPages::find(SpaceId space, std::uint64_t address, Bytes length, bool write) const {
  const unsigned function = function_of(space);
  if (memory_ == nullptr || !shares(space) || !services_->translations_enabled(function)) {
    return nullptr;
  }
  return memory_->find(services_->requester_of(function), pasids_[space], address, length, write);
}

std::byte* HostPages::find_bus(SpaceId space, std::uint64_t bus, Bytes length, bool write) const {
  if (memory_ == nullptr || services_ == nullptr) return nullptr;
  return memory_->find(services_->requester_of(function_of(space)), 0, bus, length, write);
}

void HostPages::granted(TaggedAddress page, bool write, const Waiting& waiting) {
  mmu_.host_translated(page, write, waiting);
}

void HostPages::refused(const Waiting& waiting, Completion completion) {
  mmu_.host_refused(waiting, completion);
}

void HostPages::sent_back(tlm::tlm_generic_payload& trans) {
  mmu_.send_back(trans);
}

void HostPages::settled(TaggedAddress page, Completion completion) {
  mmu_.page_resolved(page, completion);
}

// --- What the endpoint tells ------------------------------------------------------------------

// After a Response Failure the function expects nothing more of the host (PCIe 10.5.2.3).
bool HostPages::page_response(unsigned function, const PageResponseMessage& message) {
  constexpr std::uint16_t kFailure = 0xF;
  const bool known = requests_.responded(function, message);
  if (known && message.code == kFailure) {
    services_->set_page_request_status(function, abi::pci::kPriStatusFailure);
  }
  return known;
}

TaggedRange HostPages::shared_range(unsigned function) const {
  TaggedRange range = kNoAddresses;
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    if ((invalidating_[function].shared >> vmid & 1) == 0) continue;
    const auto own = all_of_spaces(space_of(function, vmid), 1);
    if (range.first == kNoAddresses.first) range.first = own.first;
    range.last = own.last;
  }
  return range;
}

bool HostPages::invalidate(unsigned function, std::uint64_t request) {
  auto& own = invalidating_[function];
  if (own.shared == 0) return true;
  requests_.invalidate(function);
  own.next.push_back(request);
  if (!own.unit->busy()) begin_invalidation(function);
  return false;
}

void HostPages::begin_invalidation(unsigned function) {
  auto& own = invalidating_[function];
  own.now.swap(own.next);
  own.unit->start(shared_range(function));
}

void HostPages::invalidated(unsigned function) {
  auto& own = invalidating_[function];
  for (const auto request : std::exchange(own.now, {})) invalidated_(request);
  if (!own.next.empty()) begin_invalidation(function);
}

// Nothing that it had is in use any more.
void HostPages::function_reset(unsigned function) {
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) pasids_[space_of(function, vmid)] = 0;
  mmu_.host_refused(requests_.reset(function), Completion::kCompleterAbort);
  access_.reset(function);
  auto& own = invalidating_[function];
  own.unit->reset();
  own.shared = 0;
  own.now.insert(own.now.end(), own.next.begin(), own.next.end());
  own.next.clear();
  for (const auto request : std::exchange(own.now, {})) invalidated_(request);
}

}  // namespace npu::model
