// SPDX-License-Identifier: Apache-2.0
// Runs of whole graphs whose AICPUs' stores are seen as late as can be configured, or one at a
// time: what the scheduler's threads tell each other does not depend on it.
#include <cctype>
#include <tuple>

#include "tests/system/signals/poll_plans.hpp"

namespace npu::test {
namespace {

class LateStores : public testing::TestWithParam<std::tuple<PollPlan, const char*>> {};

TEST_P(LateStores, ChangeNoResult) {
  const auto& [plan, key] = GetParam();
  Machine machine({std::string("cards.0.aicpu_core.") + key}, plan.config);
  const auto report = machine.workload(plan.workload, plan.values);  // its error fails the test
  EXPECT_FALSE(report.metrics().empty());
  EXPECT_FALSE(HasFailure());
}

std::string name_of(const testing::TestParamInfo<LateStores::ParamType>& instance) {
  const PollPlan& plan = std::get<0>(instance.param);
  std::string name = std::string(plan.name) + "_" + plan.handshake + "_";
  const std::string value = std::get<1>(instance.param) + std::string("_") + plan.config;
  for (const char c : value) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Runs, LateStores,
                         testing::Combine(testing::ValuesIn(poll_plans()),
                                          testing::Values("store_done_ns=100000",
                                                          "store_done_ns=777", "store_buffer=1")),
                         name_of);

}  // namespace
}  // namespace npu::test
