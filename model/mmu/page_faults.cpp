// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/page_faults.hpp"

#include <algorithm>
#include <iterator>

#include "model/mmu/mmu.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::PageFaultConsumer;
using abi::PageFaultControl;
using abi::PageFaultReply;
using abi::PageFaultSpaces;

PageFaults::PageFaults(CardRegisters& registers, Mmu& mmu)
    : registers_(registers), bank_(registers.bank()), mmu_(mmu) {
  mmu.attach(*this);
  bank_.on_write<PageFaultSpaces>([this](PageFaultSpaces value) { spaces_changed(value.raw); });
  bank_.on_write<PageFaultControl>([this](PageFaultControl value) { enable(value); });
  bank_.on_write<PageFaultConsumer>([this](PageFaultConsumer value) { consumed(value.raw); });
  bank_.on_write<PageFaultReply>([this](PageFaultReply value) { reply(value); });
  bank_.on_read<abi::PageFaultProducer>(
      [this] { return abi::PageFaultProducer::from_raw(produced_); });
}

void PageFaults::enable(PageFaultControl control) {
  if (control.get<PageFaultControl::Enable>() == 0) return;
  const auto log2 = std::clamp<std::uint32_t>(control.get<PageFaultControl::Log2Records>(), 7, 12);
  base_ = align_down(bank_.get<abi::PageFaultBase>().raw, 4096);
  size_ = std::uint32_t{1} << log2;
  produced_ = 0;
  ++epoch_;
  telling_ = false;
  bank_.set(PageFaultConsumer::from_raw(0));
  for (auto& fault : faults_) fault.told = false;
  tell_next();
}

void PageFaults::park(tlm::tlm_generic_payload& trans, std::uint64_t address, unsigned client,
                      Completion completion) {
  auto& info = Transaction::of(trans);
  const TaggedAddress page = align_down(tagged_address(info.vmid, address), abi::entry_span(0));
  const std::uint8_t write = trans.is_write() ? 1 : 0;
  for (auto& fault : faults_) {
    if (fault.page != page || fault.record.write != write || fault.record.core != info.core ||
        fault.record.unit != client) {
      continue;
    }
    fault.waiting.push_back(&trans);
    return;
  }
  Fault fault{};
  fault.record.address = address;
  fault.record.time_ns = registers_.device_time();
  fault.record.core = info.core;
  fault.record.vmid = vmid_of(info.vmid);
  fault.record.write = write;
  fault.record.forbidden = completion == Completion::kForbidden ? 1 : 0;
  fault.record.unit = static_cast<std::uint8_t>(client);
  fault.page = page;
  fault.completion = completion;
  fault.since = sim_now();
  fault.cause = info.cause;
  fault.waiting.push_back(&trans);
  faults_.push_back(std::move(fault));
  tell_next();
}

void PageFaults::consumed(std::uint32_t consumer) {
  if (base_ == 0) return;
  if (consumer != produced_) raise(0);
  tell_next();
}

void PageFaults::raise(std::uint64_t cause) {
  const auto control = bank_.get<PageFaultControl>();
  registers_.raise(control.get<PageFaultControl::Vector>(), cause);
}

// If there is something to tell, and room for it.
void PageFaults::tell_next() {
  const bool room = produced_ - bank_.get<PageFaultConsumer>().raw < size_;
  const bool untold =
      std::any_of(faults_.begin(), faults_.end(), [](const Fault& fault) { return !fault.told; });
  if (base_ == 0 || telling_ || !untold || !room) return;
  telling_ = true;
  mmu_.sim().agenda.at<&PageFaults::tell>(sim_now() + mmu_.fault_time(), *this, epoch_);
}

void PageFaults::tell(std::uint64_t epoch) {
  if (epoch != epoch_) return;
  telling_ = false;
  const auto next =
      std::find_if(faults_.begin(), faults_.end(), [](const Fault& fault) { return !fault.told; });
  if (next == faults_.end()) return;  // replied to before it was told of
  const bool was_empty = produced_ == bank_.get<PageFaultConsumer>().raw;
  next->told = true;
  next->record.number = ++produced_;
  const std::uint64_t place = (next->record.number - 1) & (size_ - 1);
  mmu_.post_to_host(registers_.function(), base_ + sizeof(abi::PageFaultRecord) * place,
                    next->record, next->cause);
  if (was_empty) raise(next->cause);
  tell_next();
}

void PageFaults::spaces_changed(std::uint32_t spaces) {
  const std::uint32_t gone = spaces_ & ~spaces;
  spaces_ = spaces;
  end([gone](const Fault& fault) { return (gone >> fault.record.vmid & 1) != 0; }, true);
}

void PageFaults::reply(PageFaultReply reply) {
  bank_.set(PageFaultReply{});
  if (reply.get<PageFaultReply::Start>() == 0) return;
  const auto vmid = reply.get<PageFaultReply::Vmid>();
  const bool all = reply.get<PageFaultReply::WholeSpace>() != 0;
  const auto page = align_down(bank_.get<abi::PageFaultAddress>().raw, abi::entry_span(0));
  const auto is_meant = [vmid, all, page](const Fault& fault) {
    constexpr std::uint64_t kInSpace = (std::uint64_t{1} << abi::kVirtualBits) - 1;
    return fault.record.vmid == vmid && (all || (fault.page & kInSpace) == page);
  };
  end(is_meant, reply.get<PageFaultReply::Abort>() != 0);
}

// Those of which which(fault) is true; what they wait for is there, or never will be.
template <class Which>
void PageFaults::end(Which which, bool abort) {
  std::vector<Fault> ended;
  const auto first = std::stable_partition(faults_.begin(), faults_.end(),
                                           [&](const Fault& fault) { return !which(fault); });
  std::move(first, faults_.end(), std::back_inserter(ended));
  faults_.erase(first, faults_.end());
  for (const auto& fault : ended) {
    mmu_.fault_ended(fault.page, fault.waiting, fault.since, fault.cause,
                     abort ? fault.completion : Completion::kSuccess);
  }
}

PageFaults::Waiting PageFaults::reset() {
  ++epoch_;
  telling_ = false;
  spaces_ = size_ = produced_ = 0;
  base_ = 0;
  Waiting all;
  for (const auto& fault : faults_) {
    all.insert(all.end(), fault.waiting.begin(), fault.waiting.end());
  }
  faults_.clear();
  return all;
}

}  // namespace npu::model
