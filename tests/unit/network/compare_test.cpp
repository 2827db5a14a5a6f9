// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compare.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace npu::network {
namespace {

Tensor floats(const std::vector<float>& values) {
  return Tensor::of(ElementType::kFloat, {values.size()}, values);
}

TEST(Compare, RealsWithinTheErrorOfTheirType) {
  EXPECT_TRUE(compare(floats({1, 2}), floats({1.0009F, 2})));
  EXPECT_FALSE(compare(floats({100, 2e-3F}), floats({100, 3e-3F})));
  EXPECT_TRUE(compare(floats({100, 2e-3F}), floats({100, 3e-3F}), true));
  EXPECT_FALSE(compare(floats({100, 2e-3F}), floats({100, 6e-3F}), true));
  const auto apart = compare(floats({1, 2}), floats({1, 2.1F}));
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().code, ErrorCode::kWrongData);
  EXPECT_NE(apart.error().context.find("element 1"), std::string::npos);
}

TEST(Compare, WhatIsNoNumberAndInfinities) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(compare(floats({nan, infinite}), floats({nan, infinite})));
  EXPECT_FALSE(compare(floats({nan}), floats({1})));
  EXPECT_FALSE(compare(floats({1}), floats({nan})));
  EXPECT_FALSE(compare(floats({infinite}), floats({-infinite})));
}

TEST(Compare, IntegersAreEqual) {
  const auto of = [](std::int32_t value) {
    return Tensor::of<std::int32_t>(ElementType::kInt32, {1}, {value});
  };
  EXPECT_TRUE(compare(of(1 << 30), of(1 << 30)));
  EXPECT_FALSE(compare(of(1 << 30), of((1 << 30) + 1)));
}

TEST(Compare, TypesAndSides) {
  EXPECT_FALSE(compare(floats({1}), Tensor::of<std::int32_t>(ElementType::kInt32, {1}, {1})));
  EXPECT_FALSE(compare(floats({1}), Tensor::of<float>(ElementType::kFloat, {}, {1})));
}

}  // namespace
}  // namespace npu::network
