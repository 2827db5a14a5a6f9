// SPDX-License-Identifier: Apache-2.0
// Two tenants of virtual functions of one card: one that attacks, and one that notices.
#pragma once

#include <memory>
#include <vector>

#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "workloads/programs/support/divided_card.hpp"

namespace npu::workloads {

// A virtual device, a process on it, and what its software could reach by hand.
class IsolationSide {
 public:
  static constexpr Bytes kBytes = 64_KiB;

  static Result<std::unique_ptr<IsolationSide>> open(Context& context,
                                                     const driver::VirtualDevice& made,
                                                     std::uint64_t seed);

  const driver::VirtualDevice& made() const { return made_; }
  driver::Device& device() { return *device_; }
  driver::ProcessContext& process() { return *process_; }
  driver::DeviceAddress memory() const { return memory_.address; }
  platform::BusAddress host() const { return host_->bus(); }
  platform::MmioRegion& registers() { return *registers_; }
  // A page of BAR2.
  Result<std::unique_ptr<platform::MmioRegion>> window(Bytes offset);
  Bytes limit() const { return made_.partition.memory; }

  // One entry on a queue of its own: kDeviceFault, as it should; the queue is gone.
  Status must_fault(const abi::QueueEntry& entry, abi::FaultCode expected);
  // One copy on the ring, with a stream of its own that is gone afterwards.
  Status must_fault(const driver::DmaCommand& command);
  // As many copies as that to the card; the median of what a call took.
  Result<Picoseconds> median_copy(unsigned copies);
  // Its memory is what it has written there, and nobody has told it of a fault.
  Status check_untouched();
  Status close();

 private:
  explicit IsolationSide(Context& context, const driver::VirtualDevice& made)
      : context_(context), made_(made) {}
  Status fill(std::uint64_t seed);

  Context& context_;
  driver::VirtualDevice made_;
  std::unique_ptr<driver::Device> device_;
  std::unique_ptr<driver::ProcessContext> process_;
  driver::StreamId stream_;
  driver::DeviceMemory memory_, scratch_;
  std::unique_ptr<platform::DmaMemory> host_, back_;
  std::unique_ptr<platform::MmioRegion> registers_;
};

}  // namespace npu::workloads
