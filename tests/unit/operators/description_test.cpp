// SPDX-License-Identifier: Apache-2.0
// Descriptions of operators of one's own: what is read, and the line for what cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/operators/table.hpp"
#include "tests/support/test_folder.hpp"

namespace npu::operators {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Descriptions : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return files_.write(name, text);
  }
  std::string error_of(const std::string& text) const {
    const auto rows = read_descriptions(write("own.yaml", text), folder_);
    return rows ? "" : rows.error().context;
  }
  OperatorRow row_of(const std::string& text) const {
    return read_descriptions(write("own.yaml", text), folder_).value().at(0);
  }

  test::TestFolder files_;
  const std::string folder_ = files_.path();
};

constexpr const char* kWhole = R"(name: halves
source: other.cpp
cores: cube
sides: rows, columns
inputs:
  x: rows, columns
  places: {shape: rows, dtype: int32, below: columns}
results:
  y: {shape: "rows, columns / 2", dtype: int8}
macros: {LEFT: 1}
types: float16, bf16
roundings: 9
)";

TEST_F(Descriptions, ARowHasWhatTheFileSays) {
  const auto row = row_of(kWhole);
  EXPECT_EQ(row.name, "halves");
  EXPECT_EQ(row.folder, folder_);
  EXPECT_EQ(row.file, "other.cpp");
  EXPECT_EQ(row.type, jit::KernelType::kCube);
  EXPECT_EQ(row.family, Family::kTensors);
  EXPECT_THAT(row.types, ElementsAre(DataType::kFp16, DataType::kBf16));
  EXPECT_EQ(row.roundings, 9U);
  EXPECT_EQ(row.macros.at("NPU_JIT_LEFT"), "1");
  ASSERT_EQ(row.inputs.size(), 2U);
  EXPECT_EQ(row.inputs[1].name, "places");
  EXPECT_EQ(row.inputs[1].below, "columns");
  EXPECT_EQ(row.results[0].dtype, "int8");
}

TEST_F(Descriptions, WhatIsLeftOutIsTheUsual) {
  const auto row = row_of("name: a\nsides: n\ninputs: {x: n}\nresults: {y: n}\n");
  EXPECT_EQ(row.file, "own.cpp");
  EXPECT_EQ(row.type, jit::KernelType::kVector);
  EXPECT_TRUE(row.types.empty());
}

TEST_F(Descriptions, AFileHasOneOperatorOrAListOfThem) {
  const auto file = write("two.yaml",
                          "- {name: a, sides: n, inputs: {x: n}, results: {y: n}}\n"
                          "- {name: b, sides: n, inputs: {x: n}, results: {y: n}}\n");
  const auto rows = read_descriptions(file, folder_).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].name, "b");
}

TEST_F(Descriptions, WhatIsWrongIsToldInALineWithItsPlace) {
  const std::string rest = "sides: n\ninputs: {x: n}\nresults: {y: n}\n";
  const std::string named = "name: a\n" + rest;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {rest, "name: it is missing"},
      {"name: 9a\n" + rest, "own.yaml:1:7: name: found '9a'; allowed: a C identifier"},
      {"name: a\nname: b\n" + rest, "own.yaml:2:1: name: is there twice"},
      {"name: [a]\n" + rest, "name: found a list; allowed: text"},
      {named + "core: cube\n", "core: no such key; did you mean 'cores'?"},
      {named + "cores: scalar\n", "cores: found 'scalar'; allowed: cube, vector, mixed"},
      {named + "types: float8\n", "types: \"float8\" is no element type"},
      {named + "roundings: -1\n", "roundings: found '-1'; allowed: 0 to 65536"},
      {named + "macros: {A: \"1&2\"}\n", "macros.A: macro NPU_JIT_A may hold neither '&'"},
      {named + "macros: {A B: 1}\n", "is no name of a macro"},
      {named + "parameters: matmul\n", "parameters: no such key"},
      {"name: a\nsides: n, n\ninputs: {x: n}\nresults: {y: n}\n", "each once"},
      {"name: a\nsides: n\ninputs: {x: m}\nresults: {y: n}\n",
       "x: found 'm'; allowed: a number, n"},
      {"name: a\nsides: n\ninputs: {x: n}\nresults: {y: n / 0}\n", "y: a division by 0"},
      {"name: a\nsides: n\ninputs: {}\nresults: {y: n}\n", "inputs: 1 to 8 are possible"},
      {"name: a\nsides: n\ninputs: [x]\nresults: {y: n}\n", "inputs: found a list"},
      {"name: a\nsides: n\ninputs: {x: {form: n}}\nresults: {y: n}\n",
       "inputs.x.form: no such key; allowed: shape, dtype, below"},
      {"name: a\nsides: n\ninputs: {x: n}\n", "results: it is missing"},
      {"just text\n", "a map with a name"},
      {"a: [\n", "own.yaml:"},
  };
  for (const auto& [text, told] : cases) {
    EXPECT_THAT(error_of(text), HasSubstr(told)) << text;
    EXPECT_THAT(error_of(text), testing::Not(HasSubstr("\n")));
  }
  EXPECT_THAT(read_descriptions(folder_ + "/none.yaml", folder_).error().context,
              HasSubstr("no such file"));
}

// The second line of each is the tensor's.
TEST_F(Descriptions, WhatIsWrongOfATensorHasTheTensorsPlace) {
  const std::string head = "{name: a, sides: \"m, n\", types: \"float16, float32\",\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"inputs: {x: m, x: n}, results: {y: n}}", "2:16: inputs.x: is there twice"},
      {"inputs: {x: m}, results: {x: n}}", "2:27: results.x: an input has this name"},
      {"inputs: {x: m}, results: {y: n, y: m}}", "2:33: results.y: is there twice"},
      {"inputs: {x: m}, results: {y: k}}", "2:30: results.y: found 'k'; allowed: a number, m, n"},
      {"inputs: {x: m}, results: {y: {dtype: int8}}}", "2:27: results.y.shape: it is missing"},
      {"inputs: {x: m}, results: {y: }}", "2:27: results.y: found nothing; allowed: a shape"},
      {"inputs: {x: m}, results: {9: m}}", "2:27: results.9: a tensor's name is a C identifier"},
      {"inputs: {x: {shape: m, shape: n}}, results: {y: m}}", "2:24: inputs.x.shape: is there"},
      {"inputs: {x: {shape: m, dtype: int32, below: k}}, results: {y: m}}",
       "2:45: inputs.x.below: found 'k'"},
      {"inputs: {x: {shape: m, dtype: int32, below: \"m, n\"}}, results: {y: m}}",
       "2:45: inputs.x.below: 2 numbers; one is wanted"},
      {"inputs: {x: {shape: m, dtype: float16, below: m}}, results: {y: m}}",
       "2:47: inputs.x.below: indices are integers; the tensor is float16"},
      {"inputs: {x: {shape: m, below: m}}, results: {y: m}}",
       "2:31: inputs.x.below: indices are integers; the tensor is float16"},
      {"inputs: {x: m}, results: {y: {shape: m, dtype: int32, below: m}}}",
       "2:62: results.y.below: results are no indices"}};
  for (const auto& [text, told] : cases) {
    EXPECT_THAT(error_of(head + text + "\n"), HasSubstr("own.yaml:" + told)) << text;
  }
}

TEST_F(Descriptions, MacrosOfNpusimAreNotForDescriptions) {
  const std::string rest = "name: a\nsides: n\ninputs: {x: n}\nresults: {y: n}\nmacros: {";
  for (const auto* const name :
       {"KERNEL_NAME", "ELEMENT_A", "ELEMENT_C", "ELEMENTS", "LAYOUTS", "TEXT", "QUOTE"}) {
    EXPECT_THAT(
        error_of(rest + "A: 1, " + name + ": int8}\n"),
        HasSubstr("own.yaml:5:16: macros." + std::string(name) + ": " + name + " is npusim's own"));
  }
  EXPECT_THAT(error_of(rest + "A: 1, A: 2}\n"), HasSubstr("macros.A: is there twice"));
}

TEST_F(Descriptions, QuotientsBySidesAreThoseOfACall) {
  const auto row =
      row_of("name: a\nsides: m, n\ninputs: {x: \"m, n\", w: n / m}\nresults: {y: n}\n");
  EXPECT_THAT(sides_of(row, {{3, 6}, {2}}, {}).value(), ElementsAre(3, 6));
  EXPECT_EQ(sides_of(row, {{4, 6}, {1}}, {}).error().context, "w: 6 / 4 leaves a remainder");
  EXPECT_EQ(sides_of(row, {{0, 6}, {1}}, {}).error().context, "w: a division by 0");
  EXPECT_THAT(error_of("name: a\nsides: m\ninputs: {x: m / (2 - 2)}\nresults: {y: m}\n"),
              HasSubstr("inputs.x: found '(2 - 2)'"));
  EXPECT_THAT(error_of("name: a\nsides: m\ninputs: {x: 7 / 2 * m}\nresults: {y: m}\n"),
              HasSubstr("inputs.x: 7 / 2 leaves a remainder"));
}

TEST_F(Descriptions, ShapesAreProductsAndQuotientsOfSides) {
  const auto row = row_of("name: a\nsides: m, n\ninputs: {x: m}\nresults: {y: n}\n");
  const auto of = [&](const char* text) { return numbers_of(text, row, {6, 8}); };
  EXPECT_THAT(of("m, n").value(), ElementsAre(6, 8));
  EXPECT_THAT(of(" m * n/3 , 5").value(), ElementsAre(16, 5));
  EXPECT_THAT(of("n / 2 * m").value(), ElementsAre(24));
  EXPECT_EQ(of("n / 3").error().context, "8 / 3 leaves a remainder");
  EXPECT_THAT(of("m,").error().context, HasSubstr("found ''"));
  EXPECT_THAT(of("m + n").error().context, HasSubstr("found 'm + n'; allowed: a number, m, n"));
  EXPECT_THAT(numbers_of("m * n", row, {1ULL << 31, 1ULL << 31}).error().context,
              HasSubstr("more than 17592186044415 elements"));
}

TEST_F(Descriptions, SidesFollowFromTheShapesOfInputs) {
  const auto row =
      row_of("name: a\nsides: m, n, k\ninputs: {x: \"m, n\", w: n * 2}\nresults: {y: \"m, k\"}\n");
  EXPECT_THAT(sides_of(row, {{3, 4}, {8}}, {{"k", 5}}).value(), ElementsAre(3, 4, 5));
  EXPECT_EQ(sides_of(row, {{3, 4}, {8}}, {}).error().context, "k: no input has this side");
  EXPECT_EQ(sides_of(row, {{3, 4}, {7}}, {{"k", 5}}).error().context, "w: found [7]; allowed: [8]");
  EXPECT_EQ(sides_of(row, {{3, 4}}, {}).error().context, "1 inputs; 2 are wanted");
  EXPECT_THAT(sides_of(row, {{3}, {8}}, {}).error().context, HasSubstr("x: 1 dimensions"));
  EXPECT_THAT(sides_of(row, {{3, 4}, {8}}, {{"m", 4}, {"k", 1}}).error().context,
              HasSubstr("m is 3 here, and 4 before"));
  EXPECT_THAT(sides_of(row, {{3, 4}, {8}}, {{"j", 4}}).error().context, HasSubstr("j is no side"));
}

TEST_F(Descriptions, ANameStandsForOneOperator) {
  write("own.yaml", "name: softmax\nsides: n\ninputs: {x: n}\nresults: {y: n}\n");
  EXPECT_THAT(read_operators(folder_).error().context,
              HasSubstr("own.yaml: an operator softmax is in"));
  write("own.yaml", kWhole);
  const auto rows = read_operators(":" + folder_ + ":").value();
  EXPECT_EQ(rows.back().name, "halves");
  EXPECT_GT(rows.size(), 70U);
  EXPECT_THAT(read_operators(folder_ + "/nowhere").error().context,
              HasSubstr("NPUSIM_OPERATORS_PATH: "));
}

}  // namespace
}  // namespace npu::operators
