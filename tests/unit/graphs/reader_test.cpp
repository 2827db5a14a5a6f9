// SPDX-License-Identifier: Apache-2.0
// Every kind of mistake in a graph file, with the exact line that its author sees.
#include <gtest/gtest.h>

#include "tests/unit/graphs/graph_text.hpp"

namespace npu::workloads {
namespace {

const std::string kOneTask = "tasks:\n  - name: t\n";

std::string tensor_error(const std::string& tensor) {
  return error_of("tensors:\n  x: " + tensor + "\n" + kOneTask);
}

TEST(GraphReader, AnotherSchemaIsRefused) {
  const auto spec = parse_graph("schema: npusim.graph/2\nabout: a\n" + kOneTask, "g.yaml", "");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().message(),
            "g.yaml:1:9: schema: found 'npusim.graph/2'; allowed: npusim.graph/1");
}

TEST(GraphReader, UnknownMissingAndDuplicateKeysArePlaced) {
  EXPECT_EQ(error_of("task:\n  - name: t\n"), "1:1: unknown key 'task'; did you mean 'tasks'?");
  EXPECT_EQ(error_of("tensors: {}\n"), "-1:1: missing key 'tasks'");
  EXPECT_EQ(error_of(kOneTask + "    name: u\n"),
            "3:5: tasks: duplicate key 'name', first on line 4");
}

TEST(GraphReader, ATensorNeedsAKnownTypeAndSides) {
  EXPECT_EQ(tensor_error("{type: fp64, rows: 1, columns: 1}"),
            "2:13: tensors.x.type: no type 'fp64'; did you mean 'fp16'?");
  EXPECT_EQ(tensor_error("{type: fp32, rows: 1}"), "2:6: tensors.x: missing key 'columns'");
  EXPECT_EQ(tensor_error("{type: fp32, rows: 0, columns: 1}"),
            "2:25: tensors.x: is 0; allowed: 1..1073741824");
  EXPECT_EQ(tensor_error("{type: fp32, rows: 10, columns: 8, tile: [4, 8]}"),
            "2:3: tensors.x: 10 x 8 are no whole tiles of 4 x 8");
  EXPECT_EQ(tensor_error("{type: fp32, rows: 1, columns: 1, contents: many}"),
            "2:50: tensors.x.contents: found 'many'; allowed: a number from -1e30 to 1e30");
}

TEST(GraphReader, AnExpressionsMistakeIsAtItsCharacter) {
  EXPECT_EQ(error_of("tasks:\n  - for: {i: 2 * m}\n"), "2:18: for: nothing is called 'm' here");
  EXPECT_EQ(error_of("tasks:\n  - name: \"t_{1 / 0}\"\n"), "2:17: division by zero");
  EXPECT_EQ(error_of("tasks:\n  - name: t_{i\n"), "2:13: tasks.name: is never closed");
}

TEST(GraphReader, ALoopsVariableEndsWithItsTask) {
  EXPECT_EQ(error_of("tasks:\n  - for: {i: 2}\n    name: t_{i}\n  - name: u_{i}\n"),
            "4:14: tasks.name: nothing is called 'i' here");
  EXPECT_EQ(error_of("parameters: {i: 1}\ntasks:\n  - for: {i: 2}\n"),
            "3:11: for: 'i' is the name of something else already");
}

TEST(GraphReader, KernelsAndTheirArgumentsAreKnown) {
  EXPECT_EQ(error_of("tasks:\n  - kernel: matmull\n"),
            "2:13: tasks.kernel: no kernel 'matmull'; did you mean 'matmul'?");
  EXPECT_EQ(error_of("tasks:\n  - kernel: matmul\n    arguments: {a: x, q: x}\n"),
            "3:23: arguments of matmul: unknown key 'q'; allowed: a, b, c");
  EXPECT_EQ(error_of("tasks:\n  - blocks: 2\n"),
            "2:5: tasks: without a kernel there are none; found blocks");
  EXPECT_EQ(error_of("tasks:\n  - shape: aic\n"), "2:12: tasks.shape: only 'none' runs no kernel");
}

TEST(GraphReader, AShapeIsTheKernelsOwnOrNone) {
  const std::string tensors = "tensors:\n  x: {type: fp32, rows: 1, columns: 1}\n";
  const auto task = [&](const std::string& shape) {
    return tensors + "tasks:\n  - kernel: elementwise\n    shape: " + shape +
           "\n    arguments: {op: abs, to: x, a: x}\n";
  };
  for (const auto* shape : {"aic", "mixed"}) {
    EXPECT_EQ(error_of(task(shape)),
              "5:12: tasks.shape: kernel elementwise is made for other cores; found " +
                  std::string(shape) + "; allowed: aiv, or none");
  }
  for (const auto* shape : {"aiv", "none"}) {
    EXPECT_TRUE(parse_graph("schema: npusim.graph/1\nabout: a\n" + task(shape), "g.yaml", ""));
  }
}

TEST(GraphReader, TensorsAreKnownByName) {
  const std::string tensors = "tensors:\n  abc: {type: fp32, rows: 1, columns: 1}\n";
  EXPECT_EQ(
      error_of(tensors + "tasks:\n  - kernel: elementwise\n    arguments: {op: abs, to: abd}\n"),
      "5:30: to: no tensor 'abd'; did you mean 'abc'?");
  EXPECT_EQ(
      error_of(tensors + "tasks:\n  - kernel: elementwise\n    arguments: {op: asb, to: abc}\n"),
      "5:21: op: no operation 'asb'; did you mean 'abs'?");
}

TEST(GraphReader, OverridesReplaceParametersAndThoseThatFollowFromThem) {
  const std::string text =
      "parameters: {n: 2, m: n + 1}\ntasks:\n  - for: {i: m}\n    name: t_{i}\n";
  EXPECT_EQ(read_graph(text).built.graph.tasks(), 3U);
  EXPECT_EQ(read_graph(text, "n=9").built.graph.tasks(), 10U);
  EXPECT_EQ(read_graph(text, "n=9,m=4").built.graph.tasks(), 4U);
}

TEST(GraphReader, OverridesOfNothingAndOfNoNumberAreRefused) {
  const std::string text = "parameters: {batch: 2}\n" + kOneTask;
  EXPECT_EQ(error_of(text, "bach=3"),
            "parameters=bach=3: the graph has no parameter 'bach'; did you mean 'batch'?");
  EXPECT_EQ(error_of(text, "batch=x"),
            "parameters=batch=x: 'batch=x' is not of the form name=number");
  EXPECT_EQ(error_of(text, "batch"), "parameters=batch: 'batch' is not of the form name=number");
  EXPECT_EQ(error_of(text, "batch=1,batch=2"), "parameters=batch=1,batch=2: 'batch' is set twice");
}

TEST(GraphReader, AFormulaNeedsItsArguments) {
  const std::string tensors = "tensors:\n  x: {type: fp32, rows: 1, columns: 1}\n" + kOneTask;
  EXPECT_EQ(error_of(tensors + "check:\n  tensors:\n    - {tensor: x}\n"),
            "7:7: check.tensors: one of 'equals' and 'formula' is needed");
  EXPECT_EQ(error_of(tensors + "check:\n  tensors:\n    - {tensor: x, formula: matmul, "
                               "arguments: {a: x}}\n"),
            "7:47: check.tensors.formula: missing key 'b'");
}

}  // namespace
}  // namespace npu::workloads
