// SPDX-License-Identifier: Apache-2.0
#include "model/host/iommu.hpp"

#include <gtest/gtest.h>

#include <array>

#include "npu/base/units.hpp"

namespace npu::test {
namespace {

using model::Completion;
using model::Iommu;

constexpr std::uint16_t kFunction = 0x0100;
constexpr std::uint64_t kBus = 0x4000;
constexpr Bytes kPage = 4096;

class IommuTest : public testing::Test {
 protected:
  bool map(std::uint64_t bus, Bytes pages) {
    return iommu_.map({kFunction, bus, {memory_.data(), pages * kPage}});
  }
  // Where a byte of the function lies in its memory; -1: it is not mapped.
  std::ptrdiff_t place(std::uint64_t bus, Bytes length = 1) {
    const auto found = iommu_.translate(kFunction, bus, length, true);
    if (found.mapping == nullptr) return -1;
    return found.mapping->memory.data + (bus - found.mapping->bus) - memory_.data();
  }

  Iommu iommu_;
  std::array<std::byte, 8 * kPage> memory_{};
};

TEST_F(IommuTest, PagesGoAndWhatIsLeftStaysWhereItIs) {
  ASSERT_TRUE(map(kBus, 4));
  iommu_.unmap(kFunction, kBus + kPage, 2 * kPage);
  EXPECT_EQ(place(kBus + kPage - 1), 4095);
  EXPECT_EQ(place(kBus + kPage), -1);
  EXPECT_EQ(place(kBus + 3 * kPage - 1), -1);
  EXPECT_EQ(place(kBus + 3 * kPage), 3 * 4096);
  EXPECT_EQ(place(kBus + 4 * kPage), -1);
}

TEST_F(IommuTest, AnAccessInWhatIsLeftMayNotReachIntoWhatWent) {
  ASSERT_TRUE(map(kBus, 2));
  iommu_.unmap(kFunction, kBus + kPage, kPage);
  EXPECT_EQ(place(kBus + kPage - 8, 8), 4088);
  EXPECT_EQ(place(kBus + kPage - 8, 9), -1);
}

TEST_F(IommuTest, APageThatWentIsMappedAnew) {
  ASSERT_TRUE(map(kBus, 3));
  EXPECT_FALSE(map(kBus + kPage, 1));
  iommu_.unmap(kFunction, kBus + kPage, kPage);
  EXPECT_FALSE(map(kBus + kPage, 2)) << "the third is mapped";
  ASSERT_TRUE(map(kBus + kPage, 1));
  EXPECT_EQ(place(kBus + kPage), 0);
}

TEST_F(IommuTest, ARangeOverSeveralMappingsEndsThemAll) {
  ASSERT_TRUE(map(kBus, 2));
  ASSERT_TRUE(map(kBus + 3 * kPage, 2));
  iommu_.unmap(kFunction, kBus + kPage, 3 * kPage);
  EXPECT_EQ(place(kBus), 0);
  EXPECT_EQ(place(kBus + kPage), -1);
  EXPECT_EQ(place(kBus + 3 * kPage), -1);
  EXPECT_EQ(place(kBus + 4 * kPage), 4096);
}

TEST_F(IommuTest, TheLastPageOfTheAddressSpaceGoesAlone) {
  const std::uint64_t last = ~(kPage - 1);
  ASSERT_TRUE(map(last - kPage, 2));
  iommu_.unmap(kFunction, last - kPage, kPage);
  EXPECT_EQ(place(last - 1), -1);
  EXPECT_EQ(place(last), 4096);
  iommu_.unmap(kFunction, last, kPage);
  EXPECT_EQ(place(last), -1);
}

TEST_F(IommuTest, NothingIsMappedOverAMapping) {
  ASSERT_TRUE(map(kBus, 2));
  EXPECT_FALSE(map(kBus - kPage, 2));
  EXPECT_FALSE(map(kBus, 1));
  EXPECT_FALSE(map(kBus + kPage, 1));
  EXPECT_TRUE(map(kBus - kPage, 1));
  EXPECT_TRUE(map(kBus + 2 * kPage, 1));
}

TEST_F(IommuTest, OtherFunctionsPagesStay) {
  ASSERT_TRUE(map(kBus, 1));
  ASSERT_TRUE(iommu_.map({kFunction + 1, kBus, {memory_.data() + kPage, kPage}}));
  iommu_.unmap(kFunction + 1, 0, 16 * kPage);
  EXPECT_EQ(place(kBus), 0);
  EXPECT_EQ(iommu_.translate(kFunction + 1, kBus, 1, true).status, Completion::kUnsupportedRequest);
}

TEST_F(IommuTest, WhatIsLeftKeepsItsProcessAndDirection) {
  Iommu::Mapping mapping{kFunction, kBus, {memory_.data(), 2 * kPage}};
  mapping.direction = platform::DmaDirection::kDeviceReads;
  ASSERT_TRUE(iommu_.map(mapping));
  iommu_.bind(kFunction, kBus, 7);
  iommu_.unmap(kFunction, kBus, kPage);
  const auto status = [&](std::uint32_t pasid, bool writes) {
    return iommu_.translate({kFunction, pasid}, kBus + kPage, 8, writes).status;
  };
  EXPECT_EQ(status(7, false), Completion::kSuccess);
  EXPECT_EQ(status(8, false), Completion::kUnsupportedRequest);
  EXPECT_EQ(status(7, true), Completion::kPermission);
}

TEST_F(IommuTest, GivesAddressesThatAreNotNextToEachOther) {
  const auto first = iommu_.allocate(kPage, 64_KiB);
  const auto second = iommu_.allocate(kPage, kPage);
  EXPECT_EQ(first % 64_KiB, 0U);
  EXPECT_GT(second, first + kPage);
}

}  // namespace
}  // namespace npu::test
