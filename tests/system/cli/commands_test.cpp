// SPDX-License-Identifier: Apache-2.0
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using Commands = Program;

TEST_F(Commands, help_is_there_for_the_program_and_for_each_command) {
  EXPECT_NE(npusim({"--help"}).out.find("usage: npusim"), std::string::npos);
  for (const auto* command : {"run", "list", "lspci", "config"}) {
    const auto result = npusim({command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find(command), std::string::npos);
    EXPECT_NE(result.out.find("usage: npusim"), std::string::npos);
  }
}

TEST_F(Commands, help_on_a_workload_shows_its_parameters) {
  const auto result = npusim({"run", "dma_latency", "--help"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, npusim({"run", "--help"}).out + "\n" + npusim({"list", "dma_latency"}).out);
  EXPECT_NE(result.out.find("iterations="), std::string::npos);
  expect_refused({"run", "dma_latncy", "--help"},
                 "no workload 'dma_latncy'; did you mean 'dma_latency'?");
}

TEST_F(Commands, the_version_is_one_line) {
  const auto result = npusim({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out.rfind("npusim ", 0), 0U);
}

TEST_F(Commands, list_shows_every_workload_with_defaults_and_units) {
  const auto result = npusim({"list"});
  EXPECT_EQ(result.exit_code, 0);
  for (const auto* name : {"first_tensor", "enumerate", "dma_latency", "dma_bandwidth",
                           "ring_pressure", "event_wait", "alloc_churn", "bar0_trap"}) {
    EXPECT_NE(result.out.find(std::string(name) + "\n"), std::string::npos) << name;
  }
  EXPECT_NE(result.out.find("iterations=5"), std::string::npos);
  EXPECT_EQ(npusim({"list", "dma_latency"}).out.rfind("dma_latency\n", 0), 0U);
}

TEST_F(Commands, options_may_stand_before_or_behind_the_command) {
  const auto before = npusim({"--config", "910b", "--set", "ai_cores=7", "config", "show"});
  const auto behind = npusim({"config", "show", "--set", "ai_cores=7", "--config=910b"});
  EXPECT_EQ(before.exit_code, 0);
  EXPECT_NE(before.out.find("ai_cores: 7\n"), std::string::npos);
  EXPECT_EQ(before.out, behind.out);
}

TEST_F(Commands, what_config_show_prints_is_a_configuration) {
  const auto shown = npusim({"config", "show", "system-8x910b"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  write("again.yaml", shown.out);
  EXPECT_EQ(npusim({"config", "show", "again.yaml"}).out, shown.out);
  EXPECT_EQ(npusim({"config", "check", "again"}).out, "again: valid\n");
}

TEST_F(Commands, a_configuration_beside_the_working_directory_comes_first) {
  const auto shipped = npusim({"config", "show", "910b"}).out;
  const std::string cores = "ai_cores: 64";
  auto mine = shipped;
  mine.replace(mine.find(cores), cores.size(), "ai_cores: 63");
  write("910b.yaml", mine);
  EXPECT_NE(npusim({"config", "show", "910b"}).out.find("ai_cores: 63"), std::string::npos);
}

TEST_F(Commands, an_installed_program_finds_its_configurations) {
  std::filesystem::create_directories(path("usr/bin"));
  std::filesystem::create_directories(path("usr/share/npusim"));
  std::filesystem::copy_file(NPU_BINARY_DIR "/bin/npusim", path("usr/bin/npusim"));
  std::filesystem::copy(NPU_SOURCE_DIR "/configs", path("usr/share/npusim/configs"),
                        std::filesystem::copy_options::recursive);
  const auto result =
      shell("LD_LIBRARY_PATH=" NPU_BINARY_DIR "/lib usr/bin/npusim config check 950");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "950: valid\n");
}

TEST_F(Commands, the_manual_page_has_every_option) {
  std::ifstream file(NPU_SOURCE_DIR "/docs/npusim.1");
  std::ostringstream page;
  page << file.rdbuf();
  for (const auto* option : {"-config", "-set", "-report", "-config-out", "-seed", "v", "vvv", "x",
                             "-help", "-version"}) {
    EXPECT_NE(page.str().find(std::string("Fl ") + option), std::string::npos) << option;
  }
}

}  // namespace
}  // namespace npu::cli
