// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "model/registers/word_windows.hpp"
#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

class WordWindowsTest : public testing::Test {
 protected:
  WordWindowsTest() {
    windows.add({0x800, 4}, [](std::uint32_t word) { return 0x1'0000'0000ULL * word + 7; });
  }
  WordWindows windows;
  std::array<unsigned char, 16> data{};
  std::uint32_t half(unsigned at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, data.data() + at, 4);
    return value;
  }
};

TEST_F(WordWindowsTest, AWordIsReadInHalvesOrWithOthers) {
  ASSERT_TRUE(windows.read(0x80C, data.data(), 4));
  EXPECT_EQ(half(0), 1U);
  ASSERT_TRUE(windows.read(0x808, data.data(), 16));
  EXPECT_EQ(half(0), 7U);
  EXPECT_EQ(half(4), 1U);
  EXPECT_EQ(half(8), 7U);
  EXPECT_EQ(half(12), 2U);
}

TEST_F(WordWindowsTest, WhatIsNotWholeInsideIsNotItsOwn) {
  EXPECT_FALSE(windows.read(0x7F8, data.data(), 16));
  EXPECT_FALSE(windows.read(0x818, data.data(), 16));
  EXPECT_FALSE(windows.read(0x802, data.data(), 4));
  EXPECT_FALSE(windows.read(0x820, data.data(), 8));
}

TEST(HbmEcc, AReadOfASpoiltBurstIsPoisonedAndTakesItsTime) {
  test::HbmSystem system(test::split_config(test::ramulator_timings()));
  ASSERT_TRUE(system.hbm.ecc().inject(0x1000, 2));
  std::uint32_t word = 1;
  Completion completion = Completion::kSuccess;
  system.port().on_response = [&](tlm::tlm_generic_payload& payload) {
    completion = Transaction::of(payload).completion;
    EXPECT_FALSE(payload.is_response_ok());
  };
  system.port().issue(false, 0x1000, &word, sizeof word);
  test::HbmSystem::run();
  EXPECT_EQ(completion, Completion::kPoisoned);
  EXPECT_EQ(system.port().last_response, 1000U * (1 + 15 + 16)) << "as of any other read";
}

TEST(HbmEcc, CountsTheBytesOfRequests) {
  test::HbmSystem system(test::split_config(test::ramulator_timings()));
  std::array<unsigned char, 256> bytes{};
  system.port().issue(true, 0x1000, bytes.data(), 256);
  system.port().issue(false, 0x1000, bytes.data(), 128);
  test::HbmSystem::run();
  EXPECT_EQ(system.hbm.traffic().written, 256U);
  EXPECT_EQ(system.hbm.traffic().read, 128U);
}

}  // namespace
}  // namespace npu::model
