// SPDX-License-Identifier: Apache-2.0
// Files as the standard's library writes them, and files that are something else.
#include "workloads/network/onnx_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "workloads/network/interpreter.hpp"

namespace npu::network {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OnnxFile : public ::testing::Test {
 protected:
  OnnxFile() : folder_(fs::path(::testing::TempDir()) / "npusim_onnx_file") {
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }
  template <class Message>
  fs::path write(const std::string& name, const Message& message) {
    std::ofstream file(path(name), std::ios::binary);
    EXPECT_TRUE(message.SerializeToOstream(&file));
    return path(name);
  }
  // z = Add(x, c), with a constant of two elements.
  static onnx::ModelProto model() {
    onnx::ModelProto made;
    made.set_ir_version(8);
    made.add_opset_import()->set_version(15);
    auto* const graph = made.mutable_graph();
    graph->set_name("g");
    auto* const node = graph->add_node();
    node->set_op_type("Add");
    node->add_input("x");
    node->add_input("c");
    node->add_output("z");
    auto* const constant = graph->add_initializer();
    constant->set_name("c");
    constant->set_data_type(onnx::TensorProto::FLOAT);
    constant->add_dims(2);
    constant->add_float_data(1.5F);
    constant->add_float_data(-2);
    for (auto* const value : {graph->add_input(), graph->add_output()}) {
      value->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    }
    graph->mutable_input(0)->set_name("x");
    graph->mutable_output(0)->set_name("z");
    return made;
  }
  std::string problem(const onnx::ModelProto& wrong) {
    const auto read = read_model(write("wrong.onnx", wrong));
    if (read) return "none";
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(read.error().context, HasSubstr("wrong.onnx"));
    return read.error().context;
  }

 private:
  fs::path folder_;
};

TEST_F(OnnxFile, AModelHasNodesConstantsInputsAndOutputs) {
  const auto graph = read_model(write("m.onnx", model()));
  ASSERT_TRUE(graph) << graph.error().context;
  EXPECT_EQ(graph->opset, 15);
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(graph->nodes[0].op, "Add");
  EXPECT_EQ(graph->constants.at("c").values<float>(), (std::vector<float>{1.5F, -2}));
  ASSERT_EQ(graph->inputs.size(), 1U);
  EXPECT_EQ(graph->inputs[0].name, "x");
  EXPECT_FALSE(graph->inputs[0].has_shape);
}

TEST_F(OnnxFile, WhatIsNoModelSaysSo) {
  EXPECT_EQ(read_model(path("none.onnx")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_model(path("")).error().code, ErrorCode::kNotFound);
  std::ofstream(path("text.onnx")) << "this is no model\n";
  EXPECT_EQ(read_model(path("text.onnx")).error().code, ErrorCode::kInvalidArgument);
  std::ofstream(path("empty.onnx")).close();
  EXPECT_EQ(read_model(path("empty.onnx")).error().code, ErrorCode::kInvalidArgument);
}

// Each length of a whole file, which a copy that broke off leaves.
TEST_F(OnnxFile, AFileThatEndsEarlyIsNoModelOrALesserOne) {
  const std::string whole = model().SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path("cut.onnx"), std::ios::binary) << whole.substr(0, size);
    const auto graph = read_model(path("cut.onnx"));
    if (!graph) {
      EXPECT_EQ(graph.error().code, ErrorCode::kInvalidArgument);
    }
  }
}

TEST_F(OnnxFile, TensorsOfEveryTypeComeFromFieldsAndFromBytes) {
  for (const auto& row : kElementTypes) {
    if (row.bytes == 0) continue;
    onnx::TensorProto proto;
    proto.set_data_type(static_cast<int>(row.type));
    proto.add_dims(2);
    std::string raw(2 * row.bytes, 0);
    raw[0] = 1;
    raw[row.bytes] = 2;
    proto.set_raw_data(raw);
    const auto read = read_tensor(write("t.pb", proto));
    ASSERT_TRUE(read) << row.name;
    EXPECT_EQ(read->type, row.type);
    EXPECT_EQ(std::memcmp(read->bytes.data(), raw.data(), raw.size()), 0);
    raw.pop_back();
    proto.set_raw_data(raw);
    EXPECT_EQ(read_tensor(write("t.pb", proto)).error().code, ErrorCode::kInvalidArgument);
  }
  onnx::TensorProto half;
  half.set_data_type(onnx::TensorProto::FLOAT16);
  half.add_dims(1);
  half.add_int32_data(0x3C00);
  EXPECT_EQ(read_tensor(write("t.pb", half))->values<std::uint16_t>()[0], 0x3C00U);
}

TEST_F(OnnxFile, DataOfAFileBesideTheModelIsRead) {
  auto made = model();
  auto* const constant = made.mutable_graph()->mutable_initializer(0);
  constant->clear_float_data();
  constant->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [constant](const char* key, const char* value) {
    auto* const entry = constant->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", "weights.bin");
  add("offset", "4");
  const float values[] = {9, 1.5F, -2};
  std::ofstream(path("weights.bin"), std::ios::binary)
      .write(reinterpret_cast<const char*>(values), sizeof values);
  const auto graph = read_model(write("m.onnx", made));
  ASSERT_TRUE(graph) << graph.error().context;
  EXPECT_EQ(graph->constants.at("c").values<float>(), (std::vector<float>{1.5F, -2}));

  constant->mutable_external_data(1)->set_value("8");
  EXPECT_THAT(problem(made), HasSubstr("ends early"));
  constant->mutable_external_data(0)->set_value("../weights.bin");
  EXPECT_THAT(problem(made), HasSubstr("external data at"));
  constant->mutable_external_data(0)->set_value("/etc/passwd");
  EXPECT_THAT(problem(made), HasSubstr("external data at"));
}

TEST_F(OnnxFile, WhatCannotBeIsTold) {
  auto unknown = model();
  unknown.mutable_graph()->mutable_initializer(0)->set_data_type(99);
  EXPECT_THAT(problem(unknown), HasSubstr("elements of type 99"));
  auto negative = model();
  negative.mutable_graph()->mutable_initializer(0)->set_dims(0, -1);
  EXPECT_THAT(problem(negative), HasSubstr("a side of -1"));
  auto huge = model();
  huge.mutable_graph()->mutable_initializer(0)->set_dims(0, std::int64_t{1} << 62);
  EXPECT_THAT(problem(huge), HasSubstr("a side of"));
  auto nothing = model();
  nothing.mutable_graph()->mutable_node(0)->set_input(0, "y");
  EXPECT_THAT(problem(nothing), HasSubstr("takes 'y', which nothing before it gives"));
  auto twice = model();
  twice.mutable_graph()->mutable_node(0)->set_output(0, "c");
  EXPECT_THAT(problem(twice), HasSubstr("given twice"));
  auto output = model();
  output.mutable_graph()->mutable_output(0)->clear_name();
  EXPECT_THAT(problem(output), HasSubstr("an output has no name"));
  auto input = model();
  input.mutable_graph()->mutable_input(0)->clear_name();
  EXPECT_THAT(problem(input), HasSubstr("an input has no name"));
  auto again = model();
  *again.mutable_graph()->add_input() = again.graph().input(0);
  EXPECT_THAT(problem(again), HasSubstr("is there twice"));
  auto constant = model();
  constant.mutable_graph()->mutable_initializer(0)->clear_name();
  EXPECT_THAT(problem(constant), HasSubstr("an initializer has no name"));
}

TEST_F(OnnxFile, NodesThatCannotBeMappedAreNamed) {
  auto made = model();
  auto* const node = made.mutable_graph()->add_node();
  node->set_name("n1");
  node->set_op_type("Frobnicate");
  node->add_output("w");
  auto* const other = made.mutable_graph()->add_node();
  other->set_domain("com.example");
  other->set_op_type("Add");
  other->add_output("v");
  const auto graph = read_model(write("m.onnx", made));
  ASSERT_TRUE(graph);
  const auto mapped = check_mapped(*graph);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(mapped.error().context,
              HasSubstr("2 of 3 nodes cannot be mapped to operators: Frobnicate 'n1', "
                        "com.example.Add"));
}

}  // namespace
}  // namespace npu::network
