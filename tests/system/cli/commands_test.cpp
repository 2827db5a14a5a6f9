// SPDX-License-Identifier: Apache-2.0
#include "npu/abi/register_reference.hpp"
#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"
#include "tools/cli/option_table.hpp"

namespace npu::cli {
namespace {

using Commands = Program;

TEST_F(Commands, HelpIsThereForTheProgramAndForEachCommand) {
  EXPECT_NE(npusim({"--help"}).out.find("usage: npusim"), std::string::npos);
  for (const auto* command : {"run", "list", "lspci", "config"}) {
    const auto result = good(npusim({command, "--help"}));
    EXPECT_NE(result.out.find(command), std::string::npos);
    EXPECT_NE(result.out.find("usage: npusim"), std::string::npos);
  }
}

TEST_F(Commands, HelpOnAWorkloadShowsItsParameters) {
  const auto result = good(npusim({"run", "dma_latency", "--help"}));
  EXPECT_EQ(result.out, npusim({"run", "--help"}).out + "\n" + npusim({"list", "dma_latency"}).out);
  EXPECT_NE(result.out.find("iterations="), std::string::npos);
  expect_refused({"run", "dma_latncy", "--help"},
                 "no workload 'dma_latncy'; did you mean 'dma_latency'?");
}

TEST_F(Commands, HelpIsACommandToo) {
  EXPECT_EQ(npusim({"help"}).out, npusim({"--help"}).out);
  EXPECT_EQ(npusim({"help", "sweep"}).out, npusim({"sweep", "--help"}).out);
  EXPECT_EQ(npusim({"help", "run", "matmul"}).out, npusim({"run", "matmul", "--help"}).out);
  expect_refused({"help", "swep"}, "unknown command 'swep'; did you mean 'sweep'?");
}

TEST_F(Commands, TheVersionIsOneLine) {
  const auto result = good(npusim({"--version"}));
  EXPECT_EQ(result.out.rfind("npusim ", 0), 0U);
  EXPECT_EQ(npusim({"-V"}).out, result.out);
}

TEST_F(Commands, RegistersPrintsEveryRowOfTheTables) {
  const auto result = good(npusim({"registers"}));
  for (const auto& block : abi::kRegisterBlocks) {
    for (const auto* row = block.begin; row != block.end; ++row) {
      EXPECT_NE(result.out.find("  " + std::string(row->name) + "\n"), std::string::npos)
          << row->name;
    }
  }
}

TEST_F(Commands, RegistersPrintsEveryFieldBelowItsRegister) {
  const auto out = npusim({"registers"}).out;
  for (const auto& block : abi::kRegisterBlocks) {
    for (const auto* field = block.fields; field != block.fields_end; ++field) {
      const auto at = out.find("  " + std::string(field->of) + "\n");
      const auto end = out.find("\n  0x", at);  // the next register
      const auto lines = out.substr(at, end + 1 - at);
      const auto name = std::string(field->name.empty() ? field->unit : field->name);
      EXPECT_NE(lines.find("    " + name), std::string::npos) << lines << name;
      EXPECT_NE(lines.find(" " + std::string(field->meaning) + "\n"), std::string::npos) << lines;
    }
  }
}

TEST_F(Commands, RegistersOfAPatternAreThoseAlone) {
  EXPECT_EQ(npusim({"registers", "dma_door*"}).out,
            "BAR0: offsets from its start\n"
            "  offset  size  access  reset  name\n"
            "          bits  access  reset    field\n"
            "  0x1010     4  RW        0x0  DMA_DOORBELL\n"
            "          15:0  RW        0x0    ProducerIndex  slot after the last valid entry,"
            " 0 .. kRingEntries - 1\n");
  EXPECT_EQ(npusim({"registers", "STREAM_FAULT"}).out,
            "stream window in BAR2: offsets from the start of the window\n"
            "  offset  size  access  reset  name\n"
            "          bits  access  reset    field\n"
            "  0x000c     4  RO        0x0  STREAM_FAULT\n"
            "          31:0  RO        0x0    FaultCode: of the stream's first failed command;"
            " cleared by writing Enable = 1\n");
  expect_refused({"registers", "DMA_DORBELL"},
                 "no register 'DMA_DORBELL'; did you mean 'DMA_DOORBELL'?");
  expect_refused({"registers", "A", "B"}, "registers: unexpected 'B'");
}

TEST_F(Commands, ListHasALineForEachWorkloadAndSaysWhatItDoes) {
  const auto result = good(npusim({"list"}));
  std::istringstream lines(result.out), names(npusim({"list", "--names"}).out);
  std::size_t column = 0;
  for (std::string line, name; std::getline(lines, line);) {
    ASSERT_TRUE(std::getline(names, name));
    EXPECT_EQ(line.rfind(name + "  ", 0), 0U) << line;
    const auto text = line.find_first_not_of(' ', name.size());
    if (column == 0) column = text;
    EXPECT_EQ(text, column) << line;
    EXPECT_EQ(line.find("  ", text), std::string::npos) << line;
  }
  EXPECT_NE(result.out.find("\ndma_latency "), std::string::npos);
}

TEST_F(Commands, ListShowsOneWorkloadWithDefaultsAndUnits) {
  const auto one = npusim({"list", "dma_latency"});
  EXPECT_EQ(one.out.rfind("dma_latency\n", 0), 0U);
  EXPECT_NE(one.out.find("\n    card=0 "), std::string::npos);
  EXPECT_NE(one.out.find(" copies per size (integer, 1..100000)\n"), std::string::npos);
  expect_refused({"list", "dma_latency", "--names"},
                 "list: --names is for the list of all workloads");
}

TEST_F(Commands, OptionsMayStandBeforeOrBehindTheCommand) {
  const auto before = npusim({"--config", "910b", "--set", "ai_cores=7", "config", "show"});
  const auto behind = npusim({"config", "show", "--set", "ai_cores=7", "--config=910b"});
  EXPECT_EQ(before.exit_code, 0);
  EXPECT_NE(before.out.find("ai_cores: 7\n"), std::string::npos);
  EXPECT_EQ(before.out, behind.out);
}

TEST_F(Commands, WhatConfigShowPrintsIsAConfiguration) {
  const auto shown = good(npusim({"config", "show", "system-8x910b"}));
  write("again.yaml", shown.out);
  EXPECT_EQ(npusim({"config", "show", "again.yaml"}).out, shown.out);
  EXPECT_EQ(npusim({"config", "check", "again"}).out, "again: valid\n");
}

TEST_F(Commands, AConfigurationBesideTheWorkingDirectoryComesFirst) {
  const auto shipped = npusim({"config", "show", "910b"}).out;
  const std::string cores = "ai_cores: 64";
  auto mine = shipped;
  mine.replace(mine.find(cores), cores.size(), "ai_cores: 63");
  write("910b.yaml", mine);
  EXPECT_NE(npusim({"config", "show", "910b"}).out.find("ai_cores: 63"), std::string::npos);
}

TEST_F(Commands, AnInstalledProgramFindsItsConfigurations) {
  std::filesystem::create_directories(path("usr/bin"));
  std::filesystem::create_directories(path("usr/share/npusim"));
  std::filesystem::copy_file(binary_dir() + "/bin/npusim", path("usr/bin/npusim"));
  std::filesystem::copy(source_dir() + "/configs", path("usr/share/npusim/configs"),
                        std::filesystem::copy_options::recursive);
  const auto result =
      good(shell("LD_LIBRARY_PATH=" + binary_dir() + "/lib usr/bin/npusim config check 950"));
  EXPECT_EQ(result.out, "950: valid\n");
}

TEST_F(Commands, HelpOfACommandHasEveryOptionOfIts) {
  for (const auto& command : command_table()) {
    const auto help = npusim({std::string(command.name), "--help"}).out;
    for (const auto& option : option_table()) {
      if (option.command.empty() || !belongs(option, command.name)) continue;
      const std::string wanted = option.kind == Value::kRepeatable
                                     ? std::string("  -") + option.letter + " "
                                     : "  --" + std::string(option.name);
      EXPECT_NE(help.find("\n" + wanted), std::string::npos) << command.name << wanted;
    }
    EXPECT_NE(npusim({"--help"}).out.find("\n  " + std::string(command.name) + " "),
              std::string::npos);
  }
}

TEST_F(Commands, TheManualPageHasEveryCommandAndOption) {
  const std::string page = file_text(source_dir() + "/docs/npusim.1");
  for (const auto& command : command_table()) {
    const std::string name(command.name);
    EXPECT_NE(page.find("\n.Cm " + name), std::string::npos) << name;
    EXPECT_NE(page.find("\n.It Cm " + name + "\n"), std::string::npos) << name;
  }
  const std::string options = page.substr(page.find("\n.Ss Options\n"));
  for (const auto& option : option_table()) {
    const std::string name = "Fl -" + std::string(option.name);
    const bool there = options.find(name + " ") != std::string::npos ||
                       options.find(name + "\n") != std::string::npos;
    EXPECT_TRUE(there) << name;
  }
}

}  // namespace
}  // namespace npu::cli
