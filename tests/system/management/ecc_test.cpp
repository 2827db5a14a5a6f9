// SPDX-License-Identifier: Apache-2.0
// Errors of the memory: 3 of one bit and 1 of two, and what becomes of them.
#include <algorithm>

#include "dsmi/dcmi_interface_api.h"
#include "npu/driver/management.hpp"
#include "tests/system/management/managed_card.hpp"

namespace npu::test {
namespace {

using driver::DmaCommand;

class EccBench {
 public:
  explicit EccBench(platform::Platform& host)
      : host_(host),
        managed(host),
        access_(driver::manage(*managed.card.device)),
        card(*access_),
        stream_(must(managed.card.device->create_stream())),
        block_(must(managed.card.device->allocate(8_MiB))),
        buffer_(must(managed.card.device->allocate_host(1_MiB))) {}

  // Reads `bytes` of the block through the DMA.
  Status read(Bytes offset, Bytes bytes) {
    return managed.card.device->copy(
        stream_, DmaCommand::device_to_host(block_.address + offset, buffer_->bus(), bytes),
        driver::WaitPolicy::kPolling, host_.clock().now() + 1_s);
  }
  // Device-local addresses: the first 8 MiB that are used are somebody's, whoever that is; so all
  // of the memory's first pages are struck, and found by who reads there.
  void inject(Bytes offset, unsigned bits) {
    EXPECT_TRUE(card.inject_error(local_ + offset, bits));
  }
  dsmi_ecc_info_stru counts(int type = DSMI_DEVICE_TYPE_HBM) {
    dsmi_ecc_info_stru info{};
    EXPECT_EQ(dsmi_get_ecc_info(0, type, &info), DSMI_OK);
    return info;
  }
  dsmi_ecc_pages_stru pages() {
    dsmi_ecc_pages_stru info{};
    EXPECT_EQ(dsmi_get_total_ecc_isolated_pages_info(0, DSMI_DEVICE_TYPE_HBM, &info), DSMI_OK);
    return info;
  }
  unsigned health() {
    unsigned health = ~0U;
    EXPECT_EQ(dsmi_get_device_health(0, &health), DSMI_OK);
    return health;
  }
  std::vector<unsigned> codes() {
    std::vector<unsigned> codes(DSMI_ERROR_CODES_MAX);
    int count = -1;
    EXPECT_EQ(dsmi_get_device_errorcode(0, &count, codes.data()), DSMI_OK);
    codes.resize(static_cast<std::size_t>(std::max(count, 0)));
    return codes;
  }
  // Three of one bit, in bursts of their own, and one of two.
  void strike() {
    for (const Bytes at : {0, 4096, 8192}) inject(at, 1);
    inject(64_KiB, 2);
  }
  void set_local(std::uint64_t address) { local_ = address; }
  driver::DeviceAddress address() const { return block_.address; }

 private:
  platform::Platform& host_;

 public:
  SupervisedCard managed;

 private:
  std::unique_ptr<driver::ManagementAccess> access_;

 public:
  driver::Management card;

 private:
  driver::StreamId stream_;
  driver::DeviceMemory block_;
  std::unique_ptr<platform::DmaMemory> buffer_;
  std::uint64_t local_ = 0;
};

// Of the memory's next event; -1: there is none.
int next_assertion(dms_fault_event* told = nullptr) {
  dsmi_event event{};
  dsmi_event_filter memory{};
  memory.filter_flag = DSMI_EVENT_FILTER_FLAG_NODE_TYPE;
  memory.node_type = DSMI_NODE_TYPE_HBM;
  if (dsmi_read_fault_event(0, 0, memory, &event) != DSMI_OK) return -1;
  if (told != nullptr) *told = event.event_t.dms_event;
  return event.event_t.dms_event.assertion;
}

// Where the block lies, as the card's own tables say.
void locate(Machine& machine, EccBench& bench) {
  const auto local = must(machine.system.card(0).mmu().memory().local(
      static_cast<std::uint8_t>(bench.managed.card.device->address_space().vmid()),
      bench.address().value));
  bench.set_local(local);
}

// Runs `body` on a machine of its own, which the block is found on.
template <class F>
void on_located(F body) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    EccBench bench(host);
    locate(machine, bench);
    body(bench);
  });
}

TEST(DsmiEcc, InjectedErrorsCountWhenAReadMeetsThem) {
  on_located([](EccBench& bench) {
    bench.strike();
    EXPECT_EQ(bench.counts().single_bit_error_count, 0U);
    EXPECT_EQ(bench.health(), 0U);
    EXPECT_TRUE(bench.read(0, 32_KiB));
    EXPECT_EQ(bench.counts().single_bit_error_count, 3U);
    EXPECT_EQ(bench.counts().double_bit_error_count, 0U);
    EXPECT_EQ(bench.health(), 1U) << "minor";
    EXPECT_EQ(bench.codes(), std::vector<unsigned>{DSMI_CODE_HBM_SINGLE_BIT});
    EXPECT_TRUE(bench.read(0, 32_KiB));
    EXPECT_EQ(bench.counts().single_bit_error_count, 3U) << "corrected in memory, too";
  });
}

TEST(DsmiEcc, WhatCannotBeCorrectedFailsTheReadAndIsCritical) {
  on_located([](EccBench& bench) {
    bench.strike();
    const auto read = bench.read(64_KiB, 4_KiB);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kDeviceFault);
    EXPECT_EQ(bench.counts().double_bit_error_count, 1U);
    EXPECT_EQ(bench.health(), 3U) << "critical";
    EXPECT_EQ(bench.codes(), std::vector<unsigned>{DSMI_CODE_HBM_MULTI_BIT});
    EXPECT_EQ(bench.pages().isolated_pages_double_bit_error, 1U);
  });
}

TEST(DsmiEcc, AKernelThatReadsWhatCannotBeCorrectedFails) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    SupervisedCard managed(host);
    const auto access = driver::manage(*managed.card.device);
    driver::Management card(*access);
    auto& process = managed.process;
    auto& queue = process.add();
    const auto sum = process.memory + 1_MiB, addend = process.memory + 2_MiB;
    EXPECT_TRUE(managed.card.run(queue, process.add(queue, sum, addend, 64_KiB, 4)));
    machine.system.card(0).l2().invalidate_all();
    const auto local = must(machine.system.card(0).mmu().memory().local(
        static_cast<std::uint8_t>(process.process->space().vmid()), addend.value + 4096));
    EXPECT_TRUE(card.inject_error(local, 2));

    const auto failed = managed.card.run(queue, process.add(queue, sum, addend, 64_KiB, 4));

    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kDeviceFault);
    EXPECT_EQ(must(process.process->query(queue.id())).error, abi::FaultCode::kPoisoned);
    dsmi_ecc_info_stru info{};
    EXPECT_EQ(dsmi_get_ecc_info(0, DSMI_DEVICE_TYPE_HBM, &info), DSMI_OK);
    EXPECT_EQ(info.double_bit_error_count, 1U);
  });
}

TEST(DsmiEcc, TheRecordSurvivesAResetAndTheCountsDoNot) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    {
      EccBench bench(host);
      locate(machine, bench);
      bench.strike();
      EXPECT_FALSE(bench.read(0, 128_KiB));
    }
    const auto bdf = platform::Bdf::unpack(machine.system.fabric().endpoint(0).requester());
    ASSERT_TRUE(host.reset_function(bdf));
    EccBench bench(host);
    EXPECT_EQ(bench.counts().single_bit_error_count, 0U);
    EXPECT_EQ(bench.counts().double_bit_error_count, 0U);
    EXPECT_EQ(bench.health(), 0U);
    EXPECT_TRUE(bench.codes().empty());
    EXPECT_EQ(bench.counts(DSMI_HBM_RECORDED_SINGLE_ADDR).single_bit_error_count, 3U);
    EXPECT_EQ(bench.counts(DSMI_HBM_RECORDED_MULTI_ADDR).double_bit_error_count, 1U);
    EXPECT_EQ(bench.pages().isolated_pages_double_bit_error, 1U);
    EXPECT_EQ(dsmi_clear_ecc_isolated_statistics_info(0, DSMI_DEVICE_TYPE_HBM), DSMI_OK);
    EXPECT_EQ(bench.pages().corrected_ecc_errors_aggregate_total, 0U);
    EXPECT_EQ(bench.pages().isolated_pages_double_bit_error, 0U);
  });
}

TEST(DsmiEcc, ClearingEndsTheAlarmsOnceWithAnEventEach) {
  on_located([](EccBench& bench) {
    bench.strike();
    EXPECT_FALSE(bench.read(0, 128_KiB));
    for (int raised = 0; raised < 4; ++raised) EXPECT_EQ(next_assertion(), 1) << raised;
    ASSERT_EQ(dsmi_clear_ecc_isolated_statistics_info(0, DSMI_DEVICE_TYPE_HBM), DSMI_OK);
    EXPECT_EQ(bench.health(), 0U);
    EXPECT_TRUE(bench.codes().empty());
    EXPECT_EQ(bench.counts().double_bit_error_count, 1U) << "of the reset, not of the record";
    EXPECT_EQ(bench.pages().isolated_pages_double_bit_error, 0U);
    dms_fault_event ended{};
    EXPECT_EQ(next_assertion(&ended), 0);
    EXPECT_EQ(ended.event_id, DSMI_CODE_HBM_SINGLE_BIT);
    EXPECT_EQ(next_assertion(&ended), 0);
    EXPECT_EQ(ended.event_id, DSMI_CODE_HBM_MULTI_BIT);
    ASSERT_EQ(dcmi_set_device_clear_ecc_statistics_info(0, 0), DCMI_OK);
    EXPECT_EQ(next_assertion(), -1) << "nothing was up";
  });
}

TEST(DsmiEcc, TheNextErrorRaisesTheAlarmAgain) {
  on_located([](EccBench& bench) {
    for (const Bytes at : {0, 4096}) {
      bench.inject(at, 1);
      EXPECT_TRUE(bench.read(at, 4_KiB));
      EXPECT_EQ(next_assertion(), 1);
      EXPECT_EQ(bench.health(), 1U);
      EXPECT_EQ(bench.codes(), std::vector<unsigned>{DSMI_CODE_HBM_SINGLE_BIT});
      ASSERT_EQ(dsmi_clear_ecc_isolated_statistics_info(0, DSMI_DEVICE_TYPE_HBM), DSMI_OK);
      EXPECT_EQ(next_assertion(), 0);
      EXPECT_EQ(bench.health(), 0U);
    }
  });
}

// The same calls get the same pages, but for one that is on the list.
TEST(DsmiEcc, WhoOpensNextDoesNotGetIsolatedPages) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    const auto used = [](EccBench& bench) {
      const auto memory = bench.managed.card.device->memory_statistics();
      return memory.total - memory.free;
    };
    Bytes before = 0;
    {
      EccBench bench(host);
      locate(machine, bench);
      before = used(bench);
      bench.strike();
      EXPECT_FALSE(bench.read(0, 128_KiB));
      EXPECT_EQ(used(bench), before);  // who has it keeps it
    }
    {
      EccBench bench(host);
      EXPECT_EQ(used(bench), before + 2_MiB);
      for (Bytes at = 0; at < 8_MiB; at += 1_MiB) EXPECT_TRUE(bench.read(at, 1_MiB));
      EXPECT_EQ(dsmi_clear_ecc_isolated_statistics_info(0, DSMI_DEVICE_TYPE_HBM), DSMI_OK);
    }
    EccBench bench(host);
    EXPECT_EQ(used(bench), before);
    EXPECT_FALSE(bench.read(0, 128_KiB));
  });
}

TEST(DsmiEcc, OtherMemoriesAreNotSupported) {
  Machine().on<EccBench>([](EccBench&) {
    dsmi_ecc_info_stru info{};
    EXPECT_EQ(dsmi_get_ecc_info(0, DSMI_DEVICE_TYPE_DDR, &info), DSMI_ERROR_NOT_SUPPORT);
    EXPECT_EQ(dsmi_get_ecc_info(0, DSMI_DEVICE_TYPE_SRAM, &info), DSMI_ERROR_NOT_SUPPORT);
    dsmi_ecc_pages_stru pages{};
    EXPECT_EQ(dsmi_get_total_ecc_isolated_pages_info(0, DSMI_DEVICE_TYPE_NPU, &pages),
              DSMI_ERROR_NOT_SUPPORT);
  });
}

}  // namespace
}  // namespace npu::test
