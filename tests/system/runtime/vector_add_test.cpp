// SPDX-License-Identifier: Apache-2.0
// Sums of vectors: every element compared by the workload itself, on every kind of card, and at
// addresses and of sizes off every border through the kernel.
#include "kernels/device/shipped/elementwise.hpp"
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

// Vector cores, or coupled ones (hardware.md H1, configs/).
struct Card {
  const char* config;
  unsigned cores;
};
constexpr Card kCards[] = {{"910b2.yaml", 48}, {"910b.yaml", 64}, {"950pr.yaml", 64}};

using VectorCase = std::tuple<Card, const char*, std::uint64_t>;

class VectorAddOnCard : public testing::TestWithParam<VectorCase> {};

TEST_P(VectorAddOnCard, EveryElementIsRightWithBothHandshakes) {
  const auto& [card, type, elements] = GetParam();
  Machine machine({}, card.config);
  for (const auto* handshake : {"register", "memory"}) {
    const auto report = machine.workload(
        "vector_add", {"elements=" + std::to_string(elements), std::string("type=") + type,
                       std::string("handshake=") + handshake});
    // A block has at least 512 bytes, and there is one per core at most.
    const std::uint64_t bytes = elements * (type == std::string("fp32") ? 4 : 2);
    const auto blocks = std::min<std::uint64_t>((bytes + 511) / 512, card.cores);
    EXPECT_EQ(exact(report, "vector_add.blocks"), blocks);
    EXPECT_GT(metric(report, "vector_add.duration_us"), 0);
    EXPECT_GE(metric(report, "vector_add.host_to_host_us"), metric(report, "vector_add.run_us"));
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, VectorAddOnCard,
                         testing::Combine(testing::ValuesIn(kCards),
                                          testing::Values("fp16", "fp32"),
                                          testing::Values(1, 7, 127, 128, 1001, 65'537, 300'007)),
                         [](const auto& instance) {
                           const std::string config = std::get<0>(instance.param).config;
                           return config.substr(0, config.find('.')) + "_" +
                                  std::get<1>(instance.param) + "_" +
                                  std::to_string(std::get<2>(instance.param));
                         });

TEST(VectorAddRun, ThePartsOfARunAddUpToIt) {
  Machine machine({}, "910b2.yaml");
  const auto report = machine.workload("vector_add", {"elements=100000"});
  std::int64_t sum = 0;
  for (const auto* part : {"submit", "queue", "aicpu", "dispatch", "cores", "completion", "wait"}) {
    sum += exact(report, std::string("vector_add.breakdown.") + part + "_us");
  }
  EXPECT_EQ(sum, exact(report, "vector_add.run_us"));
}

TEST(VectorAddRun, MoreElementsTakeTheTimeThatTheirBytesTakeAtLeast) {
  Machine machine({}, "910b2.yaml");
  const auto small = machine.workload("vector_add", {"elements=1000000", "block_dim=1"});
  const auto large = machine.workload("vector_add", {"elements=4000000", "block_dim=1"});
  const double ratio =
      metric(large, "vector_add.duration_us") / metric(small, "vector_add.duration_us");
  EXPECT_GT(ratio, 3);
  EXPECT_LT(ratio, 4.1);
}

// c = a + b at `offset` bytes from lines' borders; what lies around c stays as it was.
void expect_sum_at(RuntimeCard& card, Bytes offset, std::size_t count) {
  const std::size_t floats = 4096;
  std::vector<float> values(floats);
  for (std::size_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i);
  const auto memory = must(card.context->allocate(3 * floats * 4));
  const DeviceAddress a = memory, b = memory + floats * 4, c = memory + 2 * floats * 4;
  for (const auto at : {a, b, c}) {
    ASSERT_THAT(card.context->copy_to_device(
                    at, {reinterpret_cast<const std::byte*>(values.data()), floats * 4}),
                IsOk());
  }
  kernels::vector::Elementwise work;
  work.to = (c + offset).value, work.a = (a + offset).value, work.b = (b + offset).value;
  work.count = count;
  std::vector<driver::TaskArgument> arguments;
  for (const auto word : kernels::vector::to_words(work)) {
    arguments.push_back(driver::scalar(word));
  }
  TaskGraph graph;
  driver::TaskOptions blocks;
  blocks.blocks = 2;
  must(graph.add(KernelId{1}, TaskShape::kAiv, arguments, blocks));
  ASSERT_THAT(card.run(graph), IsOk());
  std::vector<float> found(floats);
  ASSERT_THAT(
      card.context->copy_from_device({reinterpret_cast<std::byte*>(found.data()), floats * 4}, c),
      IsOk());
  for (std::size_t i = 0; i < floats; ++i) {
    const bool inside = i >= offset / 4 && i < offset / 4 + count;
    ASSERT_EQ(found[i], values[i] * (inside ? 2 : 1)) << "element " << i << " at " << offset;
  }
}

TEST(VectorAddKernel, AddressesAndSizesOffEveryBorderAreRight) {
  Machine({}, "910b2.yaml").on<RuntimeCard>([](RuntimeCard& card) {
    ASSERT_THAT(
        card.context->register_kernel(KernelId{1}, must(workloads::program_image("elementwise"))),
        IsOk());
    for (const Bytes offset : {0, 4, 12, 32, 60, 100}) {
      for (const std::size_t count : {1, 8, 17, 1001}) expect_sum_at(card, offset, count);
    }
  });
}

}  // namespace
}  // namespace npu::test
