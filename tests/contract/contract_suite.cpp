// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/contract_suite.hpp"

#include <gtest/gtest.h>

#include "tests/contract/contract_case.hpp"

namespace npu::test {
namespace {

class ContractTest : public testing::Test {
 public:
  ContractTest(ContractFactory factory, ContractCase contract_case)
      : factory_(std::move(factory)), case_(contract_case) {}

  void TestBody() override {
    const auto environment = factory_();
    ASSERT_NE(environment, nullptr);
    if (case_.needs_card && !environment->card()) GTEST_SKIP() << "no card on this machine";
    bool finished = false;
    environment->run([&] {
      case_.body(*environment);
      finished = true;
    });
    EXPECT_TRUE(finished) << "the environment did not run the case to its end";
  }

 private:
  ContractFactory factory_;
  ContractCase case_;
};

}  // namespace

bool register_contract_suite(const std::string& name, const ContractFactory& factory) {
  const std::string suite = "Platform/" + name;
  for (const auto& cases :
       {config_cases(), memory_cases(), interrupt_cases(), time_cases(), queue_cases()}) {
    for (const auto& contract_case : cases) {
      testing::RegisterTest(suite.c_str(), contract_case.name, nullptr, nullptr, __FILE__, __LINE__,
                            [factory, contract_case]() -> testing::Test* {
                              return new ContractTest(factory, contract_case);
                            });
    }
  }
  return true;
}

}  // namespace npu::test
