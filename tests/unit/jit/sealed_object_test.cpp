// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/sealed_object.hpp"

#include <gtest/gtest.h>

namespace npu::jit {
namespace {

ObjectName example_name() {
  return {std::string(64, '1'), std::string(64, '2')};
}

std::vector<std::byte> bytes_of(std::size_t size) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(i * 7));
  return bytes;
}

std::vector<std::byte> sealed_bytes(std::size_t size) {
  const auto bytes = bytes_of(size);
  return seal(example_name(), {bytes.data(), bytes.size()});
}

TEST(SealedObject, GivesBackWhatWasSealed) {
  for (const std::size_t size : {0U, 1U, 39U, 40U, 1000U}) {
    EXPECT_EQ(unseal(example_name(), sealed_bytes(size)).value(), bytes_of(size));
    EXPECT_EQ(sealed_bytes(size).size(), size + 40);
  }
}

TEST(SealedObject, IsRefusedWithAnyBitChanged) {
  const auto sealed = sealed_bytes(50);
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    auto changed = sealed;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(unseal(example_name(), changed)) << bit;
  }
}

TEST(SealedObject, IsRefusedCutOffAnywhereAndWithMoreBehind) {
  const auto sealed = sealed_bytes(50);
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(
        unseal(example_name(), {sealed.begin(), sealed.begin() + static_cast<long>(size)}));
  }
  auto longer = sealed;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(unseal(example_name(), longer));
}

TEST(SealedObject, IsRefusedUnderAnotherName) {
  const ObjectName other_key{std::string(64, '1'), std::string(64, '3')};
  const ObjectName other_toolchain{std::string(64, '3'), std::string(64, '2')};
  EXPECT_FALSE(unseal(other_key, sealed_bytes(50)));
  EXPECT_FALSE(unseal(other_toolchain, sealed_bytes(50)));
}

}  // namespace
}  // namespace npu::jit
