// SPDX-License-Identifier: Apache-2.0
// An MMU with a function whose page faults are served from a ring in host memory.
#pragma once

#include "mmu_bench.hpp"
#include "model/mmu/page_faults.hpp"

namespace npu::test {

inline constexpr unsigned kVmid = 3, kVector = 9;
inline constexpr std::uint64_t kRing = 0x8000;
inline constexpr SimTime kFault = 40'000;

inline model::ChipConfig fault_chip() {
  auto config = mmu_chip_config();
  config.mmu.fault = 40_ns;
  return config;
}

class PageFaultBench : public MmuBench, private model::InterruptPort {
 public:
  PageFaultBench() : MmuBench(fault_chip(), sc_core::sc_gen_unique_name("bench")) {
    mmu.host_socket.bind(host.socket);
    registers.connect(static_cast<model::InterruptPort&>(*this));
    tables.map(kVmid, kVirtual + 200 * kPage, kPage);  // tables on the way are there
    enable();
    write(abi::PageFaultBase::from_raw(kRing));
    write(abi::PageFaultControl{}
              .set<abi::PageFaultControl::Enable>(1)
              .set<abi::PageFaultControl::Log2Records>(7)
              .set<abi::PageFaultControl::Vector>(kVector));
    write(abi::PageFaultSpaces::from_raw(1U << kVmid));
  }
  std::uint32_t produced() { return read<abi::PageFaultProducer>().raw; }
  using MmuBench::read;
  abi::PageFaultRecord record(std::uint32_t number) {
    abi::PageFaultRecord found;
    std::memcpy(&found, host.bytes.data() + kRing + (number - 1) % 128 * sizeof found,
                sizeof found);
    EXPECT_EQ(found.number, number);
    return found;
  }
  void reply(std::uint64_t page, bool abort = false, bool all = false) {
    write(abi::PageFaultAddress::from_raw(page));
    write(abi::PageFaultReply{}
              .set<abi::PageFaultReply::Vmid>(kVmid)
              .set<abi::PageFaultReply::WholeSpace>(all ? 1 : 0)
              .set<abi::PageFaultReply::Abort>(abort ? 1 : 0)
              .set<abi::PageFaultReply::Start>(1));
  }

  model::PageFaults faults{registers, mmu, model::PageFaultPolicy::kMessage};
  StandInMemory host{"host", sim, 64_KiB};
  std::vector<unsigned> raised;

 private:
  void raise(unsigned, unsigned vector, std::uint64_t) override { raised.push_back(vector); }
};

}  // namespace npu::test
