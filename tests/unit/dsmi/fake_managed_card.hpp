// SPDX-License-Identifier: Apache-2.0
// A card for libnpudsmi that is nothing but registers, and a machine of such.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "apps/dsmi/client/wall_host.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

class FakeRegisters : public platform::MmioRegion {
 public:
  Bytes size() const override { return bytes_.size(); }
  std::uint32_t read32(Bytes offset) override { return get<std::uint32_t>(offset); }
  std::uint64_t read64(Bytes offset) override { return get<std::uint64_t>(offset); }
  void write32(Bytes offset, std::uint32_t value) override { put(offset, value); }
  void write64(Bytes offset, std::uint64_t value) override { put(offset, value); }
  template <class T>
  void put(Bytes offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  void fill(unsigned char value) { bytes_.fill(value); }

 private:
  template <class T>
  T get(Bytes offset) const {
    T value{};
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::array<unsigned char, abi::kBar0Size> bytes_{};
};

class FakeManagedCard : public driver::ManagementAccess {
 public:
  FakeManagedCard() {
    set(abi::TelemetryCapability::from_raw(0x41F));
    set(abi::CoreTopology{}
            .set<abi::CoreTopology::Clusters>(24)
            .set<abi::CoreTopology::VectorCores>(2));
    set(abi::QueueCores{}.set<abi::QueueCores::Aicpus>(6));
    set(abi::DeviceStatus{}.set<abi::DeviceStatus::Ready>(1));
    set(abi::HbmPeakRate::from_raw(1'000'000'000'000));
    set(abi::CoreClock{}.set<abi::CoreClock::Rated>(1800).set<abi::CoreClock::Present>(1700));
    region.put(abi::kChipNameWindow.at(0), std::uint64_t{0x32'62'30'31'39});  // "910b2"
    set(abi::DeviceTime::from_raw(1'000'000));
  }
  template <class R>
  void set(R value) {
    region.put(R::kOffset, value.raw);
  }
  void busy(unsigned core, std::uint64_t ns) { region.put(abi::kCoreBusyWindow.at(core), ns); }
  // As the card does.
  void log(abi::LoggedEvent event) {
    event.number = ++logged_;
    const auto place = (event.number - 1) % abi::kEventLogRecords;
    region.put(abi::kEventLogWindow.at(4 * place), event);
    set(abi::EventLogCount::from_raw(logged_));
  }

  platform::Bdf bdf() const override { return {1, 2, 3}; }
  platform::MmioRegion& registers() override { return region; }
  std::uint32_t read_config(std::uint32_t offset) override {
    if (gone) return abi::pci::kAllOnes;
    if (offset == abi::pci::kVendorId) return 0xD802'19E5;
    return offset == abi::pci::kSubsystemVendor ? 0x0100'19E5 : 0;
  }
  Result<driver::MemoryUse> memory_use() override { return memory; }
  Result<std::vector<driver::CardProcess>> processes() override { return process_list; }

  FakeRegisters region;
  bool gone = false;
  driver::MemoryUse memory{64_GiB, 3_GiB};
  std::vector<driver::CardProcess> process_list{{driver::ProcessId{4711}, 1, 5_GiB}};

 private:
  std::uint32_t logged_ = 0;
};

class DsmiTest : public testing::Test {
 protected:
  void TearDown() override { detach(); }

  static std::vector<FakeManagedCard*> attach_two() {
    std::vector<FakeManagedCard*> made;
    Machine machine;
    for (int i = 0; i < 2; ++i) {
      auto one = std::make_unique<FakeManagedCard>();
      made.push_back(one.get());
      machine.cards.push_back(std::move(one));
    }
    machine.clock = &wall_clock();
    machine.tasks = &wall_tasks();
    EXPECT_TRUE(attach(std::move(machine)));
    return made;
  }

  std::vector<FakeManagedCard*> cards = attach_two();
  FakeManagedCard& card = *cards[0];
};

}  // namespace npu::dsmi
