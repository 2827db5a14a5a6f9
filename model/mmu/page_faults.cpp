// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/page_faults.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/mmu/mmu.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::PageFaultConsumer;
using abi::PageFaultControl;
using abi::PageFaultReply;
using abi::PageFaultSpaces;

namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << abi::kPartShift;

}  // namespace

PageFaults::PageFaults(CardRegisters& registers, Mmu& mmu, PageFaultPolicy policy)
    : registers_(registers), bank_(registers.bank()), mmu_(mmu) {
  mmu.attach(*this);
  const std::uint32_t by_host = policy == PageFaultPolicy::kBatch ? 1 : 0;
  const std::uint32_t host_pages = policy == PageFaultPolicy::kAts ? 1 : 0;
  bank_.on_read<abi::PageFaultMode>([by_host, host_pages] {
    return abi::PageFaultMode{}
        .set<abi::PageFaultMode::ByHost>(by_host)
        .set<abi::PageFaultMode::HostPages>(host_pages);
  });
  bank_.on_write<PageFaultSpaces>([this](PageFaultSpaces value) { spaces_changed(value.raw); });
  bank_.on_write<PageFaultControl>([this](PageFaultControl value) { enable(value); });
  bank_.on_write<PageFaultConsumer>([this](PageFaultConsumer value) { consumed(value.raw); });
  bank_.on_write<PageFaultReply>([this](PageFaultReply value) { reply_written(value); });
  bank_.on_write<abi::PageFaultWaiting>([this](abi::PageFaultWaiting) { tell_again(); });
  bank_.on_read<abi::PageFaultWaiting>([this] {
    return abi::PageFaultWaiting{}
        .set<abi::PageFaultWaiting::Count>(
            static_cast<std::uint32_t>(std::min<std::size_t>(faults_.size(), 0xFFFF)))
        .set<abi::PageFaultWaiting::WritesLost>(writes_lost_ ? 1 : 0);
  });
  bank_.on_read<abi::PageFaultProducer>(
      [this] { return abi::PageFaultProducer::from_raw(produced_); });
}

void PageFaults::enable(PageFaultControl control) {
  if (control.get<PageFaultControl::Enable>() == 0) return;
  const auto log2 = std::clamp<std::uint32_t>(control.get<PageFaultControl::Log2Records>(), 7, 12);
  base_ = align_down(bank_.get<abi::PageFaultBase>().raw, 4096);
  size_ = std::uint32_t{1} << log2;
  written_.assign(size_, {});
  announcing_ = send_lost_ = false;
  produced_ = 0;
  ++epoch_;
  telling_ = false;
  bank_.set(PageFaultConsumer::from_raw(0));
  for (auto& fault : faults_) fault.state = Fault::State::kUntold;
  to_control_ = control.get<PageFaultControl::ToControl>() != 0;
  listener_changed();
  tell_next();
}

void PageFaults::listener_changed() {
  attended_ = !to_control_ || (listener_ != nullptr && listener_->takes_faults());
  if (!attended_) end([](const Fault&) { return true; }, true);
}

void PageFaults::park(tlm::tlm_generic_payload& trans, std::uint64_t address, unsigned client,
                      Completion completion) {
  auto& info = Transaction::of(trans);
  const TaggedAddress place = tagged_address(info.vmid, address);
  const TaggedAddress page = align_down(place, abi::entry_span(0));
  const TaggedAddress part = residency_base() ? align_down(place, kPart) : page;
  const std::uint8_t write = trans.is_write() ? 1 : 0;
  for (auto& fault : faults_) {
    if (fault.part != part || fault.record.write != write || fault.record.core != info.core ||
        fault.record.unit != client) {
      continue;
    }
    return join(fault, trans);
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
  fault.part = part;
  fault.completion = completion;
  fault.since = sim_now();
  fault.cause = info.cause;
  faults_.push_back(std::move(fault));
  join(faults_.back(), trans);
  tell_next();
}

void PageFaults::join(Fault& fault, tlm::tlm_generic_payload& trans) {
  if (!Transaction::of(trans).replays) return fault.waiting.push_back(&trans);
  fault.replays = true;
  mmu_.send_back(trans);
}

bool PageFaults::replays(TaggedAddress page) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [page](const Fault& fault) { return fault.replays && fault.page == page; });
}

std::optional<std::uint64_t> PageFaults::residency_base() const {
  const auto base = bank_.get<abi::PageResidencyBase>();
  if (base.get<abi::PageResidencyBase::Enable>() == 0) return std::nullopt;
  return base.raw & abi::PageResidencyBase::Address::kMask;
}

void PageFaults::consumed(std::uint32_t consumer) {
  if (base_ == 0 || to_control_) return;
  if (consumer != produced_) raise(0);
  tell_next();
}

// Those that the control processor is told of cannot be lost.
void PageFaults::tell_again() {
  writes_lost_ = false;
  if (to_control_) return;
  for (auto& fault : faults_) fault.state = Fault::State::kUntold;
  tell_next();
}

void PageFaults::raise(std::uint64_t cause) {
  const auto control = bank_.get<PageFaultControl>();
  registers_.raise(control.get<PageFaultControl::Vector>(), cause);
}

bool PageFaults::may_tell() const {
  if (to_control_) return attended_;
  return base_ != 0 && produced_ - bank_.get<PageFaultConsumer>().raw < size_;
}

// If there is something to tell, and room for it.
void PageFaults::tell_next() {
  const bool untold =
      announcing_ || std::any_of(faults_.begin(), faults_.end(), [](const Fault& fault) {
        return fault.state == Fault::State::kUntold;
      });
  if (telling_ || !untold || !may_tell()) return;
  telling_ = true;
  mmu_.sim().agenda.at<&PageFaults::tell>(sim_now() + mmu_.fault_time(), *this, epoch_);
}

void PageFaults::tell(std::uint64_t epoch) {
  if (epoch != epoch_) return;
  telling_ = false;
  if (announcing_) return announce();
  const auto next = std::find_if(faults_.begin(), faults_.end(), [](const Fault& fault) {
    return fault.state == Fault::State::kUntold;
  });
  if (next == faults_.end()) return;  // replied to before it was told of
  next->state = Fault::State::kTold;
  next->record.number = ++produced_;
  if (to_control_) {
    listener_->fault_waits();
  } else {
    post(next->record, next->cause);
  }
  tell_next();
}

void PageFaults::post(const abi::PageFaultRecord& record, std::uint64_t cause) {
  const bool was_empty = produced_ - 1 == bank_.get<PageFaultConsumer>().raw;
  const std::uint64_t place = (record.number - 1) & (size_ - 1);
  written_[place] = record;
  const bool sent =
      mmu_.post_to_host(registers_.function(), base_ + sizeof record * place, record, cause);
  send_lost_ = send_lost_ || !sent;
  if (was_empty) raise(cause);
}

void PageFaults::host_write_lost() {
  if (std::exchange(writes_lost_, true) || to_control_ || base_ == 0) return;
  announcing_ = true;
  tell_next();
}

void PageFaults::announce() {
  announcing_ = false;
  abi::PageFaultRecord record;
  record.time_ns = registers_.device_time();
  record.unit = static_cast<std::uint8_t>(abi::PageFaultUnit::kWritesLost);
  record.number = ++produced_;
  post(record, 0);
  raise(0);  // what was taken may not be known here
  tell_next();
}

// An interrupt that was lost came behind a record that the host has not taken.
void PageFaults::may_send_again() {
  const auto consumer = bank_.get<PageFaultConsumer>().raw;
  if (to_control_ || base_ == 0 || produced_ == consumer || produced_ - consumer > size_) return;
  if (std::exchange(send_lost_, false)) {
    for (auto number = consumer; number != produced_; ++number) {
      const std::uint64_t place = number & (size_ - 1);
      const auto& record = written_[place];
      mmu_.post_to_host(registers_.function(), base_ + sizeof record * place, record, 0);
    }
  }
  raise(0);
}

unsigned PageFaults::to_take() const {
  return static_cast<unsigned>(
      std::count_if(faults_.begin(), faults_.end(),
                    [](const Fault& fault) { return fault.state == Fault::State::kTold; }));
}

std::optional<abi::PageFaultRecord> PageFaults::take() {
  const auto next = std::find_if(faults_.begin(), faults_.end(), [](const Fault& fault) {
    return fault.state == Fault::State::kTold;
  });
  if (next == faults_.end()) return std::nullopt;
  next->state = Fault::State::kTaken;
  return next->record;
}

void PageFaults::spaces_changed(std::uint32_t spaces) {
  const std::uint32_t gone = spaces_ & ~spaces;
  spaces_ = spaces;
  end([gone](const Fault& fault) { return (gone >> fault.record.vmid & 1) != 0; }, true);
}

void PageFaults::reply_written(PageFaultReply reply) {
  bank_.set(PageFaultReply{});
  if (reply.get<PageFaultReply::Start>() == 0 || writes_lost_) return;
  const auto vmid = static_cast<std::uint8_t>(reply.get<PageFaultReply::Vmid>());
  const bool abort = reply.get<PageFaultReply::Abort>() != 0;
  if (reply.get<PageFaultReply::WholeSpace>() != 0) {
    end([vmid](const Fault& fault) { return fault.record.vmid == vmid; }, abort);
  } else {
    this->reply(vmid, bank_.get<abi::PageFaultAddress>().raw, abort);
  }
}

void PageFaults::reply(SpaceId vmid, std::uint64_t page, bool abort) {
  constexpr std::uint64_t kInSpace = (std::uint64_t{1} << abi::kVirtualBits) - 1;
  page = align_down(page, abi::entry_span(0));
  end(
      [vmid, page](const Fault& fault) {
        return fault.record.vmid == vmid && (fault.page & kInSpace) == page;
      },
      abort);
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
    const auto completion = abort ? fault.completion : Completion::kSuccess;
    mmu_.fault_ended(fault.page, fault.waiting, fault.since, fault.cause, completion);
    if (fault.replays) mmu_.page_resolved(fault.page, completion);
  }
}

PageFaults::Waiting PageFaults::reset() {
  ++epoch_;
  telling_ = to_control_ = writes_lost_ = announcing_ = send_lost_ = false;
  attended_ = true;
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
