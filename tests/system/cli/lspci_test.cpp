// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using Lspci = Program;

TEST_F(Lspci, ListsTheBridgeAndTheCard) {
  const auto result = good(npusim({"--config", "910b", "lspci"}));
  EXPECT_NE(result.out.find("00:00.0 PCI bridge: 19e5:"), std::string::npos);
  EXPECT_NE(result.out.find("01:00.0 Processing accelerator: 19e5:d110"), std::string::npos);
}

// 910B alone is the card of the source documents.
TEST_F(Lspci, NamesTheFamilyOfShippingParts) {
  const auto shipping = npusim({"--config", "910b2", "lspci"}).out;
  EXPECT_NE(shipping.find("19e5:d802 910B1/B2/B3/B4 (rev "), std::string::npos) << shipping;
  const auto documents = npusim({"--config", "910b", "lspci"}).out;
  EXPECT_NE(documents.find("19e5:d110 910B (rev "), std::string::npos) << documents;
}

TEST_F(Lspci, ShowsBarSizesAndTheNumaNode) {
  const auto result = npusim({"--config", "910b", "lspci", "-v"});
  EXPECT_TRUE(std::regex_search(result.out, std::regex("Region 0: Memory at .*size=32K\\]")));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("Region 2: Memory at .*size=64G\\]")));
  EXPECT_NE(result.out.find("NUMA node: 0"), std::string::npos);
  EXPECT_EQ(result.out.find("UESta:"), std::string::npos);
}

TEST_F(Lspci, ShowsFieldsWhenAskedForAll) {
  const auto result = npusim({"--config", "910b", "lspci", "-vvv", "--set", "link.generation=3"});
  for (const auto* field :
       {"LnkSta: Speed 8GT/s, Width x16", "Count=256", "Vector table: BAR=0 offset=00006000",
        "UESta:", "Total VFs: 12", "VF offset: 16, stride: 1, Device ID: d805"}) {
    EXPECT_NE(result.out.find(field), std::string::npos) << field;
  }
}

TEST_F(Lspci, TheBigSystemShowsItsEightCardsOnBothNodes) {
  const auto result = npusim({"--config", "system-8x910b", "lspci", "-v"});
  const std::regex card("Processing accelerator: 19e5:d110");
  EXPECT_EQ(std::distance(std::sregex_iterator(result.out.begin(), result.out.end(), card),
                          std::sregex_iterator()),
            8);
  EXPECT_NE(result.out.find("NUMA node: 1"), std::string::npos);
}

TEST_F(Lspci, ItsDumpIsDecodedByPciutilsWithoutComplaint) {
  for (const auto* config : {"910b", "system-8x910b"}) {
    write("dump.txt", npusim({"--config", config, "lspci", "-x"}).out);
    const auto decoded = good(shell("LC_ALL=C lspci -F dump.txt -vvv"));
    for (const auto* part : {"MSI-X: Enable- Count=256", "Express (v2) Endpoint",
                             "Advanced Error Reporting", "Total VFs: 12"}) {
      EXPECT_NE(decoded.out.find(part), std::string::npos) << part;
    }
    for (const auto* complaint :
         {"<chain looped>", "<chain broken>", "!!! Unknown header type", "(rev ff)", "Unknown ID",
          "<broken-64-bit-slot>", "(overdriven)", "<?>"}) {
      EXPECT_EQ(decoded.out.find(complaint), std::string::npos) << complaint;
    }
  }
}

}  // namespace
}  // namespace npu::cli
