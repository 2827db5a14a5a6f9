// SPDX-License-Identifier: Apache-2.0
// `npusim who`: the last writer of a byte.
#include <regex>

#include "npu/abi/layout.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class Who : public Program {
 protected:
  // What is said of the address.
  std::string of(const std::string& address, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"--config", "910b2", "who", address, "vector_add"};
    for (auto& word : more) words.push_back(std::move(word));
    return good(npusim(words)).out;
  }
};

// The first memory of a process is that of its first allocation.
constexpr char kFirst[] = "0x200000000000";

TEST_F(Who, ACopyIsNamedWithItsCommand) {
  const auto said = of(kFirst);
  EXPECT_TRUE(std::regex_match(
      said, std::regex(std::string(kFirst) +
                       " of card0: written last at [0-9.]+ us by DMA for queue0\\.[0-9]+:[0-9]+, a "
                       "copy \\(H2D\\) of [0-9]+ bytes from 0x[0-9a-f]+ to 0x[0-9a-f]+\n")))
      << said;
}

TEST_F(Who, BeforeTheFirstWriteNobodyHasWritten) {
  EXPECT_EQ(of(kFirst, {"--at", "1us"}),
            "nobody has written " + std::string(kFirst) + " of card0\n");
}

TEST_F(Who, ADeviceLocalAddressIsThatOfTheSameByte) {
  const auto here = of(kFirst), local = of("0x0");
  EXPECT_EQ(here.substr(here.find(" of card0")), local.substr(local.find(" of card0")));
}

TEST_F(Who, AKernelIsNamedWithFileAndLine) {
  const auto said = good(npusim({"--config", "910b2", "who", "0x200000400000", "vector_operator"}));
  EXPECT_TRUE(std::regex_search(
      said.out, std::regex("by a kernel at \\S+:[0-9]+.* \\(operators, core [0-9]+, block [0-9]+, "
                           "instruction [0-9]+\\) for queue0")))
      << said.out;
}

// The scheduler of task graphs, whose stores leave their buffer while other programs run.
TEST_F(Who, AnAicpuIsNamedWithItsCore) {
  for (const std::string address : {"0x200001c00400", "0x200001c01000"}) {
    const auto said = good(npusim({"--config", "910b2", "who", address, "graph"})).out;
    EXPECT_TRUE(std::regex_match(
        said, std::regex(address + " of card0: written last at [0-9.]+ us by a store of AICPU "
                                   "[0-9]+\n")))
        << said;
  }
}

// The driver writes page tables through BAR2, behind the memory for programs.
TEST_F(Who, AStoreOfTheHostIsNamed) {
  const auto shown = good(npusim({"--config", "910b2", "config", "show"})).out;
  std::smatch usable;
  ASSERT_TRUE(std::regex_search(shown, usable, std::regex("usable_mib: ([0-9]+)")));
  const auto tables = (std::stoull(usable[1]) << 20) + abi::kReservedTableOffset;
  const auto said = of(std::to_string(tables));
  EXPECT_TRUE(std::regex_search(
      said, std::regex("written last at [0-9.]+ us by a store of the host or of another card\n")))
      << said;
}

TEST_F(Who, BadInputIsALine) {
  expect_refused({"--config", "910b2", "who", "0x1000"}, "who: give an address and a workload");
  expect_refused({"--config", "910b2", "who", "0xfg", "vector_add"},
                 "who: found '0xfg'; allowed: ADDRESS or CARD:ADDRESS, such as 0x200040000000");
  expect_refused({"--config", "910b2", "who", "1:0", "vector_add"},
                 "who: card 1; the machine has 1");
  expect_refused({"--config", "910b2", "who", "0", "vector_add", "more"}, "who: unexpected 'more'");
  expect_refused({"--config", "910b2", "who", "0", "vector_add", "--at", ""},
                 "--at: found ''; allowed: a time, such as 2.5ms");
  expect_refused({"--config", "910b2", "who", "0", "vector_add", "--at", "soon"},
                 "--at: found 'soon'; allowed: a time, such as 2.5ms");
}

}  // namespace
}  // namespace npu::cli
