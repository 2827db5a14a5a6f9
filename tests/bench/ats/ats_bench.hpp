// SPDX-License-Identifier: Apache-2.0
// An MMU with a space whose addresses are a process', and the host behind.
#pragma once

#include "model/ats/host_pages.hpp"
#include "model/ats/shared_spaces.hpp"
#include "npu/platform/process_addresses.hpp"
#include "tests/bench/ats/host_side.hpp"
#include "tests/bench/mmu/mmu_bench.hpp"

namespace npu::test {

inline constexpr unsigned kShared = 3;  // VMID
inline constexpr SimTime kUs = 1'000'000;

inline model::ChipConfig ats_chip() {
  auto config = mmu_chip_config();
  config.mmu.fault_policy = model::PageFaultPolicy::kAts;
  config.mmu.max_page_requests = 4;
  config.mmu.max_outstanding_host_reads = 3;
  return config;
}

class AtsBench : public MmuBench {
 public:
  AtsBench() : MmuBench(ats_chip(), sc_core::sc_gen_unique_name("bench")) {
    pages.host_socket.bind(host.socket);
    pages.connect(host, [this](std::uint64_t request) { invalidated.push_back(request); });
    pages.connect(host);
    mmu.connect(pages);
    enable();
    share(true);
  }
  void share(bool on) {
    write(abi::SharedSpace{}
              .set<abi::SharedSpace::Pasid>(HostSide::kPasid)
              .set<abi::SharedSpace::Vmid>(kShared)
              .set<abi::SharedSpace::Enable>(on ? 1 : 0));
  }
  using MmuBench::read;
  Response read(std::uint64_t address) { return access(false, kShared, address); }
  Response store(std::uint64_t address) { return access(true, kShared, address); }
  bool respond(const HostSide::Asked& to, platform::PageResponse code) {
    return pages.page_response(0, {to.pasid, to.message.group, static_cast<std::uint16_t>(code)});
  }
  // A request of the cores: rows of the payload's data, or of none.
  std::uint64_t issue_rows(bool is_write, std::uint64_t address, unsigned rows, unsigned row_bytes,
                           std::uint32_t pitch, unsigned char* data,
                           abi::ReduceOperation reduction = abi::ReduceOperation::kNone) {
    const auto command = is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    auto& trans = data == nullptr ? sim.pool.allocate_timing(command, address, rows * row_bytes)
                                  : sim.pool.allocate(command, address, data, rows * row_bytes);
    auto& info = model::Transaction::of(trans);
    info.vmid = kShared;
    info.rows = static_cast<std::uint16_t>(rows);
    info.pitch = pitch;
    info.context = issued;
    info.reduction = reduction;
    EXPECT_EQ(send_request(clients[0], trans), tlm::TLM_ACCEPTED);
    return issued++;
  }

  HostSide host{sim};
  model::HostPages pages{"ats", sim, config, "ats", mmu};
  model::SharedSpaces spaces{registers, pages};
  std::vector<std::uint64_t> invalidated;
};

}  // namespace npu::test
