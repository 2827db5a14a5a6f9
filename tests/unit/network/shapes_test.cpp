// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/shapes.hpp"

#include <gmock/gmock.h>

namespace npu::network {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph open_graph() {
  Graph graph;
  graph.inputs = {{"x", ElementType::kFloat, true, {-1, 3, -1}},
                  {"ids:0", ElementType::kInt64, false, {}}};
  return graph;
}

TEST(Shapes, OpenSidesAreFilled) {
  auto graph = open_graph();
  ASSERT_TRUE(set_shapes(graph, "x:2x3x224,ids:0:7"));
  EXPECT_THAT(graph.inputs[0].sides, ElementsAre(2, 3, 224));
  EXPECT_THAT(graph.inputs[1].sides, ElementsAre(7));
  EXPECT_TRUE(graph.inputs[1].has_shape);
}

TEST(Shapes, NothingChangesNothing) {
  auto graph = open_graph();
  ASSERT_TRUE(set_shapes(graph, ""));
  EXPECT_FALSE(graph.inputs[1].has_shape);
}

TEST(Shapes, OthersAreRefusedByName) {
  for (const auto& [text, why] :
       {std::pair{"y:1", "no input 'y'; there are x, ids:0"}, std::pair{"x", "'x' is not"},
        std::pair{"x:", "'x:' is not"}, std::pair{"x:2x3", "the model has other sides"},
        std::pair{"x:2x4x1", "the model has other sides"}, std::pair{"x:2x-3x1", "is not NAME"},
        std::pair{"x:2x3x", "is not NAME"}, std::pair{"x:2x3x99999999999999999999", "is not NAME"},
        std::pair{",", "'' is not"}}) {
    auto graph = open_graph();
    const auto ok = set_shapes(graph, text);
    ASSERT_FALSE(ok) << text;
    EXPECT_THAT(ok.error().context, HasSubstr(why));
    EXPECT_EQ(ok.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace npu::network
