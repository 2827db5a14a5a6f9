// SPDX-License-Identifier: Apache-2.0
// pciutils judges the configuration spaces: dumps for -F, an exported tree for -A linux-sysfs.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "model/pcie/config_dump.hpp"
#include "tests/bench/pcie/pcie_bench.hpp"
#include "tests/support/test_folder.hpp"

namespace npu::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(("LC_ALL=C " + command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return text;
  char buffer[4096];
  while (const auto n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  pclose(pipe);
  return text;
}

class Lspci : public testing::Test {
 protected:
  void SetUp() override {
    if (output_of("lspci --version").find("lspci version") == std::string::npos) {
      FAIL() << "pciutils is missing; set-up/packages.txt lists it";
    }
  }

  model::ConfigReader reader(PcieBench& bench) {
    return
        [&bench](Bdf bdf, std::uint32_t offset) { return bench.fabric.peek_config(bdf, offset); };
  }
  // With `vfs` virtual functions of the card at 01:00.0, all functions there are.
  std::vector<model::FoundFunction> with_virtual_functions(PcieBench& bench, unsigned vfs) {
    bench.run([&] {
      const auto sriov = bench.find_extended(kCard, pci::kExtSriov);
      bench.config_write(kCard, sriov + pci::kSriovNumVfs, vfs, 2);
      bench.config_write(kCard, sriov + pci::kSriovControl, 9, 2);
    });
    auto functions = bench.fabric.functions();
    const auto found = bench.fabric.virtual_functions(0);
    functions.insert(functions.end(), found.begin(), found.end());
    return functions;
  }
  // What lspci says about the whole hierarchy of `config`.
  std::string decoded(const model::SystemConfig& config, const std::string& options = "-vvv") {
    PcieBench bench(config);
    const auto read = reader(bench);
    std::ofstream dump(files_.path("dump.txt"));
    for (const auto& function : bench.fabric.functions()) {
      dump << model::lspci_dump(read, function.bdf, model::class_name(read, function.bdf));
    }
    dump.close();
    return output_of("lspci -F " + files_.path("dump.txt") + " " + options);
  }
  const TestFolder files_;
};

void expect_no_complaint(const std::string& text) {
  for (const char* complaint :
       {"<chain looped>", "<chain broken>", "!!! Unknown header type", "<access denied>",
        "(rev ff)", "Unknown ID", "<broken-64-bit-slot>", "(overdriven)", "<?>"}) {
    EXPECT_THAT(text, Not(HasSubstr(complaint)));
  }
}

model::SystemConfig with_device(std::uint16_t device, unsigned generation) {
  auto config = two_bridges();
  for (auto& card : config.cards) {
    card.pci.device_id = device;
    card.link.generation = generation;
  }
  return config;
}

TEST_F(Lspci, DecodesThe910bWithoutComplaint) {
  const auto text = decoded(with_device(abi::kDevice910b, 4));
  expect_no_complaint(text);
  for (const char* found :
       {"Device d110", "MSI-X: Enable- Count=128 Masked-", "Express (v2) Endpoint",
        "Advanced Error Reporting", "Single Root I/O Virtualization (SR-IOV)", "Total VFs: 8",
        "Speed 16GT/s", "Width x16", "FLReset+", "Address Translation Service",
        "Process Address Space ID", "Latency Tolerance Reporting",
        "Device Serial Number 11-22-33-44-55-66-77-88", "Alternative Routing-ID Interpretation",
        "Vector table: BAR=0 offset=00006000", "PBA: BAR=0 offset=00007000"}) {
    EXPECT_THAT(text, HasSubstr(found));
  }
}

TEST_F(Lspci, DecodesACardThatUsesTheHostsPages) {
  auto config = with_device(abi::kDevice910b, 4);
  EXPECT_THAT(decoded(config), Not(HasSubstr("Page Request Interface")));
  for (auto& card : config.cards) {
    card.mmu.fault_policy = model::PageFaultPolicy::kAts;
    card.mmu.max_page_requests = 32;
  }
  const auto text = decoded(config);
  expect_no_complaint(text);
  EXPECT_THAT(text, HasSubstr("Page Request Interface (PRI)"));
  EXPECT_THAT(text,
              HasSubstr("Page Request Capacity: 00000020, Page Request Allocation: 00000000"));
}

TEST_F(Lspci, DecodesThe950WithoutComplaint) {
  const auto text = decoded(with_device(abi::kDevice950, 5));
  expect_no_complaint(text);
  EXPECT_THAT(text, HasSubstr("Device d200"));
  EXPECT_THAT(text, HasSubstr("Speed 32GT/s"));
}

TEST_F(Lspci, DecodesACardOfTheFirstGenerationWithoutSriov) {
  auto config = with_device(abi::kDevice910, 1);
  for (auto& card : config.cards) card.pci.sriov_total_vfs = 0;
  const auto text = decoded(config);
  expect_no_complaint(text);
  EXPECT_THAT(text, Not(HasSubstr("SR-IOV")));
}

TEST_F(Lspci, DecodesPortsAndBridges) {
  const auto text = decoded(two_bridges());
  for (const char* found : {"Root Port (Slot+)", "Upstream Port", "Downstream Port (Slot+)",
                            "Access Control Services", "secondary=01, subordinate=05"}) {
    EXPECT_THAT(text, HasSubstr(found));
  }
}

TEST_F(Lspci, DrawsTheTree) {
  const auto text = decoded(two_bridges(), "-t");
  EXPECT_THAT(text, HasSubstr("[0000:80]---00.0-[81]--+-00.0"));
  EXPECT_THAT(text, HasSubstr("\\-00.1"));
  EXPECT_THAT(text, HasSubstr("00.0-[01-05]----00.0-[02-05]--+-00.0-[03]----00.0"));
}

TEST_F(Lspci, FindsSizesInTheExportedTree) {
  PcieBench bench(two_bridges());
  std::string error;
  ASSERT_FALSE(model::export_sysfs(files_.path(), bench.fabric.functions(), reader(bench), error))
      << error;
  const auto text = output_of("lspci -A linux-sysfs -O sysfs.path=" + files_.path() + " -vvv");
  expect_no_complaint(text);
  EXPECT_THAT(text, HasSubstr("[size=32K]"));
  EXPECT_THAT(text, HasSubstr("[size=64G]"));
  EXPECT_THAT(text, HasSubstr("NUMA node: 1"));
}

TEST_F(Lspci, DecodesVirtualFunctionsInADump) {
  PcieBench bench;
  const auto read = reader(bench);
  std::ofstream dump(files_.path("dump.txt"));
  for (const auto& function : with_virtual_functions(bench, 4)) {
    dump << model::lspci_dump(read, function.bdf, model::class_name(read, function.bdf));
  }
  dump.close();
  const auto text = output_of("lspci -F " + files_.path("dump.txt") + " -vvv");
  expect_no_complaint(text);
  EXPECT_THAT(text, HasSubstr("IOVCtl:\tEnable+ Migration- Interrupt- MSE+"));
  const auto last = text.substr(text.find("01:01.3"));
  for (const char* found : {"MSI-X: Enable- Count=128 Masked-", "Express (v2) Endpoint", "FLReset+",
                            "Alternative Routing-ID Interpretation"}) {
    EXPECT_THAT(last, HasSubstr(found));
  }
}

TEST_F(Lspci, NamesVirtualFunctionsAndTheirSizesInTheExportedTree) {
  PcieBench bench;
  std::string error;
  const auto functions = with_virtual_functions(bench, 4);
  ASSERT_FALSE(model::export_sysfs(files_.path(), functions, reader(bench), error)) << error;
  const auto text =
      output_of("lspci -A linux-sysfs -O sysfs.path=" + files_.path() + " -vvv -nn -s 01:01.");
  expect_no_complaint(text);
  EXPECT_EQ(functions.size(), 3U + 4U);
  for (const char* found : {"01:01.0 Processing accelerators [1200]", "[19e5:d805]",
                            "01:01.3 Processing", "[size=64K]", "[size=4G]"}) {
    EXPECT_THAT(text, HasSubstr(found));
  }
}

TEST_F(Lspci, SetpciWritesIntoTheExportedTree) {
  PcieBench bench;
  std::string error;
  ASSERT_FALSE(model::export_sysfs(files_.path(), bench.fabric.functions(), reader(bench), error))
      << error;
  const std::string setpci =
      "setpci -A linux-sysfs -O sysfs.path=" + files_.path() + " -s 01:00.0 ";
  EXPECT_EQ(output_of(setpci + "COMMAND=0006"), "");
  EXPECT_EQ(output_of(setpci + "COMMAND"), "0006\n");
  EXPECT_EQ(output_of(setpci + "CAP_MSIX+2.W"), "007f\n");
}

}  // namespace
}  // namespace npu::test
