// SPDX-License-Identifier: Apache-2.0
// Arrays whose memory is not written before it is used.
#include "model/core/zeroed_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace npu::test {
namespace {

TEST(ZeroedArray, BeginsWithZerosWhereMemoryWasUsedBefore) {
  constexpr std::size_t kElements = 1000;
  for (int round = 0; round < 3; ++round) {
    model::ZeroedArray<std::uint32_t> array(kElements);
    EXPECT_EQ(std::count(array.data(), array.data() + kElements, 0U), kElements);
    std::fill_n(array.data(), kElements, 0xFFFF'FFFFU);
  }
}

TEST(ZeroedArray, BeginsAtALineOfTheHostsCaches) {
  for (std::size_t size = 1; size < 40; ++size) {
    const model::ZeroedArray<std::uint32_t> array(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U);
    EXPECT_EQ(array.size(), size);
  }
}

TEST(ZeroedArray, KeepsWhatIsWritten) {
  constexpr std::size_t kElements = 100'000;
  model::ZeroedArray<std::uint64_t> array(kElements);
  for (std::size_t i = 0; i < kElements; ++i) array[i] = i * i;
  for (std::size_t i = 0; i < kElements; ++i) ASSERT_EQ(array[i], i * i);
}

}  // namespace
}  // namespace npu::test
