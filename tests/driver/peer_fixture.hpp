// SPDX-License-Identifier: Apache-2.0
// Two cards of 64 pages with an HCCS link between them, a third without one.
#pragma once

#include <array>

#include "npu/abi/page_table.hpp"
#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {

class PeerTest : public testing::Test {
 protected:
  static constexpr Bytes kPages = 64;

  void SetUp() override {
    for (unsigned i = 0; i < 3; ++i) {
      test::FakeCardConfig config;
      config.bdf = {static_cast<std::uint8_t>(1 + i), 0, 0};
      config.index = i;
      config.hbm_size = kPages * kPageSize;
      config.bar2_size = 256_MiB;
      config.hccs_links = i == 0 ? 0b010 : i == 1 ? 0b001 : 0;
      fakes[i] = &fake.add_card(config);
      DeviceOptions options;
      options.ready_timeout = options.compaction_timeout = 1_ms;
      auto opened = must(Device::open(fake, config.bdf, options));
      devices[i] = std::move(opened);
    }
  }

  AddressSpace& space(unsigned card) { return devices[card]->address_space(); }
  Instant in(Picoseconds time) { return fake.scheduler.now() + time; }
  // Where memory of `of` is in its own card; mapped for reading and writing.
  DeviceAddress map(AddressSpace& of, MemoryHandle memory, Bytes size,
                    Access access = Access::kReadWrite) {
    const auto at = *of.reserve(size);
    EXPECT_THAT(of.map(at, size, memory), IsOk());
    EXPECT_THAT(of.set_access(at, size, access), IsOk());
    return at;
  }
  std::uint64_t physical(unsigned card, DeviceAddress at) {
    return *fakes[card]->mmu().locate(space(card).vmid(), at.value);
  }
  void put(unsigned card, DeviceAddress at, std::uint64_t value) {
    fakes[card]->memory().write(physical(card, at), &value, sizeof value);
  }
  std::uint64_t get(unsigned card, DeviceAddress at) {
    std::uint64_t value = 0;
    fakes[card]->memory().read(physical(card, at), &value, sizeof value);
    return value;
  }
  // A copy of a word by card 0 on a stream of its own: kNone, or how it failed.
  abi::FaultCode copy(DeviceAddress from, DeviceAddress to, Bytes size = 8) {
    const auto stream = *devices[0]->create_stream();
    const auto done =
        devices[0]->copy(stream, DmaCommand::device_to_peer(from, ImportedAddress(to), size),
                         WaitPolicy::kPolling, in(1_s));
    EXPECT_THAT(devices[0]->destroy_stream(stream, in(1_s)), IsOk());
    const auto fault = *devices[0]->take_fault();
    EXPECT_EQ(done.has_value(), !fault);
    return fault ? fault->code : abi::FaultCode::kNone;
  }

  test::FakePlatform fake;
  std::array<test::FakeCard*, 3> fakes{};
  std::array<std::unique_ptr<Device>, 3> devices;
};

}  // namespace npu::driver
