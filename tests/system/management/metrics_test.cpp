// SPDX-License-Identifier: Apache-2.0
// What npusim metrics says of a card that is driven in this process.
#include "tests/system/cli/prometheus_parser.hpp"
#include "tests/system/management/managed_card.hpp"
#include "tools/cli/smi/metrics_text.hpp"

namespace npu::test {
namespace {

PrometheusText metrics() {
  const auto cards = cli::look_at_cards(std::nullopt, false);
  EXPECT_TRUE(cards);
  PrometheusText text(cli::metrics_text(*cards));
  EXPECT_EQ(text.error(), "");
  return text;
}

std::string series(const std::string& name, const std::string& more = "") {
  return name + R"({id="0",model_name="910B",pcie_bus_info="0000:01:00.0")" + more + "}";
}

TEST(DsmiMetrics, ADepartedClientsSeriesAreGone) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    driver::ProcessOptions options;
    options.process = driver::ProcessId{4711};
    const auto name = series("npu_chip_info_process_info", R"(,process_id="4711")");
    {
      QueueProcess other(managed.card, options);
      EXPECT_EQ(metrics().samples().at(name), 4) << "MB";
    }
    EXPECT_EQ(metrics().samples().count(name), 0U);
  });
}

TEST(DsmiMetrics, AreWhatTheCardHasDone) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    const auto used = series("npusim_hbm_used_bytes");
    const auto before = metrics().samples().at(used);
    must(managed.card.device->allocate(3_GiB));
    driver::QueueOptions options;
    options.core_mask = driver::first_cores(4);
    auto& queue = managed.process.add(options);
    const auto kernel =
        managed.process.launch(queue, "spin", 4, std::array{std::uint64_t{1'850'000}});
    metrics();
    ASSERT_TRUE(managed.card.run(queue, kernel));
    const auto text = metrics();
    EXPECT_EQ(text.samples().at(used) - before, static_cast<double>(3_GiB));
    const auto core = [&](const char* number) {
      return text.samples().at(series("npusim_core_utilization_ratio",
                                      R"(,kind="ai_core",core=")" + std::string(number) + '"'));
    };
    EXPECT_GT(core("3"), 0.5);
    EXPECT_EQ(core("4"), 0);
  });
}

}  // namespace
}  // namespace npu::test
