// SPDX-License-Identifier: Apache-2.0
// Which layer a node is in, by the names that exporters give.
#include <gtest/gtest.h>

#include "workloads/programs/support/network_report.hpp"

namespace npu::workloads {
namespace {

TEST(Layers, ANameIsCutBehindThePartThatFollowsANumber) {
  EXPECT_EQ(layer_of("/bert/layer.3/attention/self/MatMul"), "/bert/layer.3/attention");
  EXPECT_EQ(layer_of("/layer1/layer1.0/conv1/Conv"), "/layer1/layer1.0");
  EXPECT_EQ(layer_of("/layer.3/MatMul"), "/layer.3");
}

TEST(Layers, WithoutANumberOnlyTheLastPartGoes) {
  EXPECT_EQ(layer_of("/pooler/dense/MatMul_1"), "/pooler/dense");
  EXPECT_EQ(layer_of("/MatMul_1"), "");
  EXPECT_EQ(layer_of("n17"), "");
  EXPECT_EQ(layer_of(""), "");
}

}  // namespace
}  // namespace npu::workloads
