// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/measurement.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace npu::validate {
namespace {

constexpr const char* kNames = "id,sku,op,shape,dtype,attrs,metric,value,unit,l2,note\n";

Result<std::vector<Measurement>> load(const std::string& text) {
  const std::string path = testing::TempDir() + "/measurements.csv";
  std::ofstream(path) << text;
  return load_measurements(path);
}

Measurement only(const std::string& row) {
  const auto rows = load(kNames + row + "\n");
  EXPECT_TRUE(rows) << rows.error().context;
  return rows && !rows->empty() ? rows->front() : Measurement{};
}

std::string mistake(const std::string& text) {
  const auto rows = load(text);
  EXPECT_FALSE(rows);
  return rows ? "" : rows.error().context;
}

TEST(MeasurementTest, AListOfShapesIsOneOfTensors) {
  const auto row = only(
      R"(a,910B2,quant_matmul,"[[4, 8], [8, 16], null]","[""int8"", ""int8"", null]",{},task_duration,7.5,us,cold,n)");
  ASSERT_EQ(row.tensors.size(), 3U);
  EXPECT_EQ(row.elements(0), 32U);
  EXPECT_EQ(row.elements(1), 128U);
  EXPECT_FALSE(row.has(2));
  EXPECT_EQ(row.types, (std::vector<std::string>{"int8", "int8", ""}));
  EXPECT_EQ(row.value, 7.5);
  EXPECT_EQ(row.cache, "cold");
  EXPECT_EQ(row.line, 2);
}

TEST(MeasurementTest, AShapeOfOneTensorNeedsNoSecondBracket) {
  EXPECT_EQ(only("a,A3,softmax,\"[4,32]\",float16,,kernel,1,us,,").elements(0), 128U);
}

TEST(MeasurementTest, WordsNameSides) {
  const auto row = only("a,910B2,x,m=64 n=k=128 S0=S1=1024 D16 B2,float16,,kernel,1,us,,");
  const std::map<std::string, std::uint64_t> sides{
      {"m", 64}, {"n", 128}, {"k", 128}, {"S0", 1024}, {"S1", 1024}, {"D", 16}, {"B", 2}};
  EXPECT_EQ(row.sides, sides);
}

TEST(MeasurementTest, SidesMayHaveCommasUnitsAndTensors) {
  using Sides = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(only("a,910B2,x,\"N=32, tile=8KiB\",float16,,kernel,1,us,,").sides,
            (Sides{{"N", 32}, {"tile", 8192}}));
  EXPECT_EQ(only("a,910B2,x,4096 elements float16,float16,,kernel,1,us,,").sides.at("elements"),
            4096U);
  EXPECT_EQ(only("a,910B2,x,2 NPUs 64KiB,float16,,kernel,1,us,,").sides.at("KiB"), 64U);
  const auto row = only("a,910B2,x,\"x=[8,4] w=[2,4,16]\",float16,,kernel,1,us,,");
  ASSERT_EQ(row.tensors.size(), 2U);
  EXPECT_EQ(row.elements(1), 128U);
}

TEST(MeasurementTest, AttributesThatAreNoJsonAreNotRead) {
  EXPECT_TRUE(only("a,910B2,x,m=1,float16,cores=24,kernel,1,us,,").attributes.empty());
  EXPECT_EQ(only(R"(a,910B2,x,m=1,float16,"{""dim"": 1}",kernel,1,us,,)").attributes.at("dim"), 1);
}

TEST(MeasurementTest, MistakesNameTheLine) {
  EXPECT_NE(mistake("id,sku\na,b\n").find("csv:2: no column 'op'"), std::string::npos);
  for (const auto* value : {"", "x", "0", "-1", "nan", "inf", "1us", "1e999"}) {
    const auto text = std::string(kNames) + "a,910B2,x,m=1,float16,,kernel," + value + ",us,,\n";
    EXPECT_NE(mistake(text).find("csv:2: value: found"), std::string::npos) << value;
  }
  EXPECT_NE(mistake(std::string(kNames) + "a,b\n").find("csv:2: 2 fields"), std::string::npos);
  EXPECT_NE(mistake("").find("an empty file"), std::string::npos);
}

// A side that no 64 bits hold is none.
TEST(MeasurementTest, NumbersThatAreTooLongAreNoSides) {
  EXPECT_TRUE(only("a,910B2,x,m=99999999999999999999,float16,,kernel,1,us,,").sides.empty());
  EXPECT_EQ(only("a,910B2,x,[[-1]],float16,,kernel,1,us,,").elements(0), 0U);
}

}  // namespace
}  // namespace npu::validate
