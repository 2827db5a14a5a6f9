// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/ecc.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "model/telemetry/ecc_record.hpp"

namespace npu::model {
namespace {

constexpr Bytes kBurst = 64, kInstalled = 1 << 20;

class EccTest : public testing::Test, public MemoryErrorListener {
 protected:
  EccTest() { ecc.connect(*this); }
  void memory_error(std::uint64_t address, unsigned bits) override {
    heard.emplace_back(address, bits);
  }
  hbm::Ecc ecc{kBurst, kInstalled};
  std::vector<std::pair<std::uint64_t, unsigned>> heard;
};

TEST_F(EccTest, OneBitIsCorrectedAndFoundOnce) {
  ASSERT_TRUE(ecc.inject(100, 1));
  EXPECT_FALSE(ecc.read(0, 64));
  EXPECT_TRUE(heard.empty()) << "another burst";
  EXPECT_FALSE(ecc.read(127, 1));
  EXPECT_EQ(heard, (std::vector<std::pair<std::uint64_t, unsigned>>{{64, 1}}));
  EXPECT_FALSE(ecc.any());
}

TEST_F(EccTest, TwoBitsSpoilEveryReadAndAreToldOnce) {
  ASSERT_TRUE(ecc.inject(64, 2));
  EXPECT_TRUE(ecc.read(64, 64));
  EXPECT_TRUE(ecc.read(0, 128));
  EXPECT_EQ(heard.size(), 1U);
  EXPECT_FALSE(ecc.read(128, 64));
}

TEST_F(EccTest, FlipsOfOneBurstAddUp) {
  ecc.inject(64, 1);
  ecc.inject(70, 1);
  EXPECT_TRUE(ecc.read(64, 4));
  EXPECT_EQ(heard.front().second, 2U);
}

TEST_F(EccTest, AWholeWriteHealsAndAPartOfOneDoesNot) {
  ecc.inject(64, 2);
  ecc.written(64, 63);
  EXPECT_TRUE(ecc.read(64, 64));
  ecc.written(60, 68);
  EXPECT_FALSE(ecc.read(64, 64));
}

TEST_F(EccTest, WhatLiesBetweenTheRowsOfARequestIsNotTouched) {
  ecc.inject(1024 + 64, 2);
  EXPECT_FALSE(ecc.meets(false, {0, 64, 4, 1024}));
  EXPECT_TRUE(ecc.meets(false, {64, 64, 4, 1024})) << "the second row";
  EXPECT_FALSE(ecc.meets(true, {64, 64, 4, 1024})) << "written";
  EXPECT_FALSE(ecc.any());
}

TEST_F(EccTest, RefusesWhatThereIsNot) {
  EXPECT_FALSE(ecc.inject(kInstalled, 1));
  EXPECT_FALSE(ecc.inject(0, 0));
  EXPECT_FALSE(ecc.inject(0, 3));
  EXPECT_FALSE(ecc.any());
}

TEST(EccRecord, AResetForgetsTheCountsAndNotTheRecord) {
  EccRecord record;
  record.add(0, 1);
  record.add(EccRecord::kPage, 2);
  record.function_reset();
  EXPECT_EQ(record.since_reset().singles, 0U);
  EXPECT_EQ(record.recorded().singles, 1U);
  EXPECT_EQ(record.recorded().doubles, 1U);
  EXPECT_EQ(record.isolated().doubles, 1U);
  record.clear();
  EXPECT_EQ(record.recorded().doubles, 0U);
  EXPECT_EQ(record.isolated().doubles, 0U);
}

TEST(EccRecord, APageGoesOutOfUseAtItsEighthCorrectedErrorOrItsFirstOther) {
  EccRecord record;
  for (unsigned i = 0; i < abi::kEccSinglesOfPage - 1; ++i) record.add(i * 64, 1);
  EXPECT_EQ(record.isolated().singles, 0U);
  record.add(4096, 1);
  EXPECT_EQ(record.isolated().singles, 1U);
  record.add(4096, 2);
  EXPECT_EQ(record.isolated().singles, 0U) << "counts as the worse";
  EXPECT_EQ(record.isolated().doubles, 1U);
}

}  // namespace
}  // namespace npu::model
