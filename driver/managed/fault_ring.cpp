// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/fault_ring.hpp"

#include <cstring>

#include "driver/managed/sure_write.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

using abi::PageFaultControl;
using abi::PageFaultRecord;
using abi::PageFaultReply;
using abi::PageFaultWaiting;

Result<std::unique_ptr<FaultRing>> FaultRing::create(CardLink& link, unsigned vector) {
  auto memory = link.platform().allocate_dma(link.bdf(), kRecords * sizeof(PageFaultRecord), 4096,
                                             platform::DmaDirection::kDeviceWrites);
  if (!memory) return forward_error(memory);
  std::unique_ptr<FaultRing> ring(new FaultRing(link, std::move(*memory)));
  if (auto ok = ring->serve(0); !ok) return forward_error(ok);
  const auto base = abi::PageFaultBase::from_raw(ring->memory_->bus().value);
  if (auto ok = write_surely(link, base); !ok) return forward_error(ok);
  const auto control = PageFaultControl{}
                           .set<PageFaultControl::Enable>(1)
                           .set<PageFaultControl::Log2Records>(kLog2Records)
                           .set<PageFaultControl::Vector>(vector);
  if (auto ok = write_surely(link, control); !ok) return forward_error(ok);
  link.write(PageFaultWaiting{});
  return ring;
}

// The card may still be about to write a record: the memory goes when it has answered.
FaultRing::~FaultRing() {
  if (link_.lost()) return;
  static_cast<void>(serve(0));
  link_.write(abi::PageFaultBase::from_raw(0));
  link_.write(PageFaultControl{}.set<PageFaultControl::Enable>(1));
  static_cast<void>(link_.read<abi::PageFaultControl>());
}

Status FaultRing::serve(std::uint32_t vmids) {
  return write_surely(link_, abi::PageFaultSpaces{}.set<abi::PageFaultSpaces::Vmids>(vmids));
}

bool FaultRing::has_come() const {
  const Bytes place = taken_ % kRecords * sizeof(PageFaultRecord);
  return memory_->load<std::uint32_t>(place + offsetof(PageFaultRecord, number)) == taken_ + 1;
}

// All records that the card has written so far are in memory when it has answered; those that are
// passed over come again.
bool FaultRing::look() {
  const auto written = link_.read<abi::PageFaultProducer>();
  if (!written) return false;
  taken_ = written->raw;
  give_back();
  link_.write(PageFaultWaiting{});
  const auto waiting = link_.read<PageFaultWaiting>();
  return waiting && waiting->get<PageFaultWaiting::WritesLost>() == 0;
}

std::vector<PageFaultRecord> FaultRing::take(std::size_t limit) {
  std::vector<PageFaultRecord> found;
  while (found.size() < limit) {
    if (!has_come()) break;
    const Bytes place = taken_ % kRecords * sizeof(PageFaultRecord);
    link_.platform().read_barrier();
    PageFaultRecord record;
    std::uint64_t words[sizeof record / 8];
    for (std::size_t i = 0; i < sizeof record / 8; ++i) {
      words[i] = memory_->load<std::uint64_t>(place + i * 8);
    }
    std::memcpy(&record, words, sizeof record);
    found.push_back(record);
    ++taken_;
  }
  return found;
}

void FaultRing::give_back() {
  link_.write(abi::PageFaultConsumer::from_raw(taken_));
}

void FaultRing::reply(unsigned vmid, std::uint64_t page, bool abort) {
  link_.write(abi::PageFaultAddress::from_raw(page));
  link_.write(PageFaultReply{}
                  .set<PageFaultReply::Vmid>(vmid)
                  .set<PageFaultReply::Abort>(abort ? 1 : 0)
                  .set<PageFaultReply::Start>(1));
}

}  // namespace npu::driver
