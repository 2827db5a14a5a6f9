// SPDX-License-Identifier: Apache-2.0
// 21 KB for every word that the command line takes: error lines say how long it is, not what.
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using Arguments = std::vector<std::string>;

class LongText : public Program {
 protected:
  void expect_short(const Arguments& arguments) const {
    const auto result = npusim(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_LT(result.err.size(), 1000U) << result.err;
    EXPECT_NE(result.err.find("... (21504 bytes)"), std::string::npos) << result.err;
  }
  const std::string long_ = std::string(21'504, 'x');
};

TEST_F(LongText, OfCommandsAndTheirArgumentsIsNotRepeated) {
  const std::vector<Arguments> all{{long_},
                                   {"list", long_},
                                   {"list", "list", long_},
                                   {"config", long_},
                                   {"config", "show", long_},
                                   {"config", "keys", long_},
                                   {"config", "show", "910b", long_},
                                   {"run", long_},
                                   {"run", long_, "--help"},
                                   {"run", "enumerate", long_},
                                   {"lspci", long_},
                                   {"serve", long_},
                                   {"sysfs", long_, "--config", "910b"},
                                   {"sysfs", long_, "--config", "910b", "--live"}};
  for (const auto& arguments : all) expect_short(arguments);
}

TEST_F(LongText, OfOptionsIsNotRepeated) {
  for (const std::string option : {"--seed", "--report", "--config-out", "--config"}) {
    expect_short(
        {"run", "enumerate", option == "--config" ? "--seed=1" : "--config=910b", option, long_});
  }
  for (const auto& option : {"--socket=" + long_, "--ecam=" + long_, "--pace=" + long_}) {
    expect_short({"serve", "--config", "910b", option});
  }
}

TEST_F(LongText, OfParametersAndKeysIsNotRepeated) {
  for (const std::string key : {"sizes=", "policy=", "iterations=", "link.lanes=", "name=", "core=",
                                "hbm.policy=", "hbm.timings=", "cards.0.link.lanes="}) {
    const auto result = npusim({"--config", "910b", "run", "dma_latency", "--set", key + long_});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_LT(result.err.size(), 1000U) << result.err;
    EXPECT_NE(result.err.find(" bytes)"), std::string::npos) << "how long it is: " << result.err;
  }
  for (const std::string key : {"graph=", "parameters=", "dump_tensors="}) {
    const auto result = npusim({"--config", "910b", "run", "graph", "--set", key + long_});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_LT(result.err.size(), 1000U) << result.err;
  }
}

TEST_F(LongText, OfUnknownKeysIsNotRepeated) {
  for (const auto& set : {long_, long_ + "=1", "cards.0." + long_ + "=1"}) {
    for (const auto& command : {Arguments{"run", "dma_latency"}, Arguments{"config", "show"}}) {
      Arguments arguments{"--config", "910b", "--set", set};
      arguments.insert(arguments.end(), command.begin(), command.end());
      const auto result = npusim(arguments);
      EXPECT_EQ(result.exit_code, 2) << result.err;
      EXPECT_LT(result.err.size(), 1000U) << result.err;
    }
  }
}

}  // namespace
}  // namespace npu::cli
