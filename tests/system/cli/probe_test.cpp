// SPDX-License-Identifier: Apache-2.0
// npusim probe: what was tried is told, and turning a feature off turns its entry.
#include <nlohmann/json.hpp>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class Probe : public Program {
 protected:
  nlohmann::json matrix(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--config", "910b2", "probe"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    good(npusim(arguments));
    return nlohmann::json::parse(text("capability_matrix.json"));
  }
  // Of the entries that are true or false.
  static void expect_true(const nlohmann::json& matrix, const std::vector<std::string>& keys) {
    for (const auto& [key, value] : matrix.items()) {
      if (!value.is_boolean()) continue;
      const bool wanted = std::find(keys.begin(), keys.end(), key) != keys.end();
      EXPECT_EQ(value.get<bool>(), wanted) << key << ": " << matrix["reasons"].dump();
    }
  }
};

TEST_F(Probe, ACardThatBringsPagesToItsMemory) {
  const auto found = matrix();
  expect_true(found, {"svm_alloc_enforceable", "token_set_available", "resident_metric_available",
                      "support_managed_svm", "support_mem_prefetch_to_device",
                      "support_mem_advise_effective", "support_vmm_reserve_map",
                      "support_page_fault_counter", "support_device_stream_res_limit"});
  EXPECT_GT(found["dynamic_update_latency_ms"].get<double>(), 0);
  EXPECT_LE(found["dynamic_update_latency_ms"].get<double>(), 2.01);
}

TEST_F(Probe, ACardThatUsesTheHostsPages) {
  expect_true(
      matrix({"--set", "mmu.fault_policy=ats"}),
      {"token_set_available", "support_managed_svm", "support_host_uva_flag",
       "support_vmm_reserve_map", "support_page_fault_counter", "support_device_stream_res_limit"});
}

// A key of the driver's turns its own entry, and those that are about the same.
TEST_F(Probe, EachFeatureCanBeSwitchedOff) {
  const std::vector<std::string> all = {
      "svm_alloc_enforceable",          "token_set_available",
      "resident_metric_available",      "support_managed_svm",
      "support_mem_prefetch_to_device", "support_mem_advise_effective",
      "support_vmm_reserve_map",        "support_page_fault_counter",
      "support_device_stream_res_limit"};
  const std::vector<std::string> of_managed = {
      "svm_alloc_enforceable", "resident_metric_available", "support_mem_prefetch_to_device",
      "support_mem_advise_effective", "support_page_fault_counter"};
  for (const auto& key : all) {
    auto left = all;
    const auto goes = [&](const std::string& name) {
      const bool managed =
          key == "support_managed_svm" &&
          std::find(of_managed.begin(), of_managed.end(), name) != of_managed.end();
      return name == key || managed;
    };
    left.erase(std::remove_if(left.begin(), left.end(), goes), left.end());
    const auto found = matrix({"--set", "driver.features." + key + "=false"});
    expect_true(found, left);
    EXPECT_EQ(found["dynamic_update_latency_ms"].is_null(), key == "token_set_available");
  }
}

TEST_F(Probe, SharesThatStayAsTheyAreAndTheHostsOwnPages) {
  EXPECT_TRUE(matrix({"--set", "dynamic_update=false"})["dynamic_update_latency_ms"].is_null());
  const auto found =
      matrix({"--set", "mmu.fault_policy=ats", "--set", "support_host_uva_flag=false"});
  EXPECT_FALSE(found["support_host_uva_flag"].get<bool>());
}

TEST_F(Probe, ACardWithoutComputeQueues) {
  const auto found = matrix({"--set", "command.slots=0"});
  expect_true(found, {});
  EXPECT_TRUE(found["dynamic_update_latency_ms"].is_null());
  EXPECT_FALSE(found["reasons"]["token_set_available"].get<std::string>().empty());
}

TEST_F(Probe, WritesWhereItIsTold) {
  good(npusim({"--config", "910b2", "probe", "--output", "there.json"}));
  EXPECT_FALSE(text("there.json").empty());
  expect_refused({"--config", "910b2", "probe", "more"}, "probe: unexpected 'more'");
}

}  // namespace
}  // namespace npu::cli
