// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "tests/system/cli/program.hpp"
#include "tools/cli/option_table.hpp"

namespace npu::cli {
namespace {

using BadInput = Program;

TEST_F(BadInput, AnUnknownWorkloadNamesTheNearest) {
  expect_refused({"--config", "910b", "run", "dma_latncy"},
                 "no workload 'dma_latncy'; did you mean 'dma_latency'?");
}

TEST_F(BadInput, AnUnknownCommandNamesTheNearest) {
  expect_refused({"lspic"}, "unknown command 'lspic'; did you mean 'lspci'?");
}

TEST_F(BadInput, AnUnknownOptionNamesTheNearest) {
  expect_refused({"list", "--reprot", "x"}, "unknown option '--reprot'; did you mean '--report'?");
}

TEST_F(BadInput, AModelsWindowMustHoldAllTokens) {
  write("c.json",
        R"({"model_type": "mistral", "hidden_size": 128, "num_hidden_layers": 1,
            "num_attention_heads": 8, "intermediate_size": 176, "vocab_size": 504,
            "sliding_window": 8})");
  expect_refused({"--config", "910b2", "run", "transformer", "--set", "model=c.json", "--set",
                  "tokens=6", "--set", "steps=3"},
                 "model: 9 tokens are more than its sliding_window of 8: attention sees all "
                 "keys");
}

TEST_F(BadInput, AFaultThatTheMachineCannotHaveIsRefusedWhereverItIsAskedFor) {
  const auto refused = [this](const std::string& fault, const std::string& why) {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--config", "910b", "run", "enumerate", "--fault", fault},
             {"--config", "910b", "run", "enumerate", "--set", "faults=" + fault},
             {"--config", "910b", "lspci", "--set", "faults=" + fault}}) {
      const auto result = npusim(words);
      EXPECT_EQ(result.exit_code, 2) << fault;
      EXPECT_THAT(result.err, testing::HasSubstr(why));
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
  };
  refused("link_dwn", "did you mean 'link_down'?");
  refused("link_down,card=1", "no card 1: the machine has 1");
  refused("stuck_engine,engine=4", "no DMA engine 4: the card has 4");
  refused("hung_core,core=100000", "no AI Core 100000");
  refused("hung_aicpu,aicpu=7", "no AICPU 7: the card has 7");
  refused("hung_aicpu,vf=0", "takes at=, card=, for=, aicpu=");
  refused("hung_control_processor,vf=12", "no virtual function 12: card 0 can have 12");
  refused("link_retrained,lanes=3", "a power of two, at most 16");
  refused("link_retrained", "give a generation of 1..4, or lanes");
  refused("memory_error,address=0xFFFFFFFFFFFFFFFF", "an address below");
  refused("memory_error,bits=3", "give 1 or 2 bits");
  refused("thermal_throttling,clock=0", "a clock is 1 to 100 percent");
  refused("slow_channel,channel=100000", "no HBM channel 100000");
  refused("slow_channel,refreshes=9", "refreshes are 2 to 8 times");
}

TEST_F(BadInput, AnOptionOfAnotherCommandIsNotIgnored) {
  expect_refused({"list", "--report", "x"}, "option '--report' does not belong to 'list'");
  expect_refused({"-x", "config", "keys"}, "option '--hex' does not belong to 'config'");
}

TEST_F(BadInput, AnOptionWhoseValueWasForgottenDoesNotTakeTheNextOne) {
  const auto expect_missing = [&](const std::string& option, const std::string& next) {
    expect_refused({"--config", "910b", "run", "enumerate", option, next},
                   "option '" + option + "' has no value: '" + next + "' is an option itself");
    EXPECT_FALSE(std::filesystem::exists(path(next)));
  };
  for (const std::string option : {"--trace", "--report", "--html", "--vcd", "--set", "--seed"}) {
    expect_missing(option, "--profile");
  }
  good(npusim({"--config", "910b", "run", "enumerate", "--report=--profile"}));
  EXPECT_TRUE(std::filesystem::exists(path("--profile")));
}

TEST_F(BadInput, NothingAtAllListsTheCommands) {
  std::vector<std::string> names;
  for (const auto& row : command_table()) names.emplace_back(row.name);
  std::sort(names.begin(), names.end());
  std::string known;
  for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
  expect_refused({}, "no command; known: " + known + "; see npusim --help");
}

TEST_F(BadInput, AMissingConfigurationIsAskedFor) {
  expect_refused({"run", "enumerate"},
                 "--config is missing: give a chip or system file, e.g. 910b2");
}

TEST_F(BadInput, AParameterOrKeyThatDoesNotExistIsLookedForInBoth) {
  const std::string text = "neither a parameter of dma_latency nor a key of the configuration; ";
  expect_refused({"--config", "910b", "run", "dma_latency", "--set", "iteratoins=1"},
                 "--set iteratoins=1: " + text + "did you mean 'iterations'?");
  expect_refused({"--config", "910b", "run", "dma_latency", "--set", "link.lnaes=8"},
                 "--set link.lnaes=8: " + text + "did you mean 'link.lanes'?");
  expect_refused({"--config", "910b", "run", "dma_latency", "--set", "iterations"},
                 "--set iterations: not of the form key=value");
}

// Upper case alone is as good a guess as any.
TEST_F(BadInput, ANameInAnotherCaseIsSuggested) {
  expect_refused({"--config", "910b2", "run", "matmul", "--set", "M=128"},
                 "--set M=128: neither a parameter of matmul nor a key of the configuration; did "
                 "you mean 'm'?");
  expect_refused({"RUN"}, "unknown command 'RUN'; did you mean 'run'?");
}

TEST_F(BadInput, SmiAndMetricsAskForASocketOrAMachine) {
  for (const std::string command : {"smi", "metrics"}) {
    expect_refused({command},
                   command +
                       ": give --socket PATH, of a running npusim serve --management "
                       "PATH, or --config CONFIG, a machine to be looked at, e.g. 910b2");
  }
}

TEST_F(BadInput, AConfigurationValueOutOfRangeNamesTheArgument) {
  expect_refused({"run", "dma_latency", "--config", "910b", "--set", "link.generation=6"},
                 "--set link.generation=6: link.generation: found '6'; allowed: 1..5");
}

TEST_F(BadInput, AMistakeInAFileIsPlaced) {
  write("my.yaml", "schema: npusim.chip/1\nsystem: single-card.yaml\nnmae: x\n");
  expect_refused({"--config", "my", "lspci"},
                 "my.yaml:3:1: unknown key 'nmae'; did you mean 'name'?");
}

TEST_F(BadInput, AMistakeInAGraphIsPlaced) {
  write("my.yaml",
        "schema: npusim.graph/1\nabout: x\ntasks:\n  - name: a\n    after: [b]\n  - kernal: "
        "matmul\n");
  expect_refused({"--config", "910b", "run", "graph", "--set", "graph=my.yaml"},
                 "my.yaml:6:5: tasks: unknown key 'kernal'; did you mean 'kernel'?");
}

TEST_F(BadInput, AGraphThatDoesNotExistNamesTheNearest) {
  expect_refused({"--config", "910b", "run", "graph", "--set", "graph=vectr_diamond"},
                 "no graph 'vectr_diamond'; did you mean 'vector_diamond'?");
}

TEST_F(BadInput, ADumpThatCannotBeWrittenCostsNoRun) {
  expect_refused(
      {"--config", "910b", "run", "graph", "--set", "dump_tensors=no/such/folder/t.json"},
      "dump_tensors=no/such/folder/t.json: cannot be written: No such file or directory");
  EXPECT_EQ(shell("mkdir t.json.bin").exit_code, 0);
  expect_refused({"--config", "910b", "run", "graph", "--set", "dump_tensors=t.json"},
                 "dump_tensors=t.json.bin: cannot be written: Is a directory");
  EXPECT_FALSE(std::filesystem::exists(path("t.json"))) << "nothing is left behind";
}

TEST_F(BadInput, AParameterThatTheGraphHasNotIsRefused) {
  expect_refused(
      {"--config", "910b", "run", "graph", "--set", "graph=chain", "--set", "parameters=lenght=3"},
      "parameters=lenght=3: the graph has no parameter 'lenght'; did you mean "
      "'length'?");
}

TEST_F(BadInput, ASeedIsANumber) {
  expect_refused({"--config", "910b", "run", "enumerate", "--seed", "one"},
                 "--seed: found 'one'; allowed: 0..18446744073709551615");
}

TEST_F(BadInput, AReportThatCannotBeWrittenCostsNoRun) {
  expect_refused({"--config", "910b", "run", "enumerate", "--report", "no/such/folder.json"},
                 "--report no/such/folder.json: cannot be written: No such file or directory");
}

TEST_F(BadInput, WhatAWorkloadFindsWrongIsBadInputToo) {
  const std::vector<std::string> run{"--config", "910b", "run"};
  const auto refused = [&](std::vector<std::string> arguments, const std::string& line) {
    arguments.insert(arguments.begin(), run.begin(), run.end());
    expect_refused(arguments, line);
  };
  refused({"first_tensor", "--set", "card=3"}, "card=3: the machine has cards 0..0");
  refused({"stream_overlap", "--set", "size=66B"}, "stream_overlap: size=66B: no multiple of 4 B");
  refused({"vector_operator", "--set", "op=exp", "--set", "type=int32"},
          "vector_operator: op=exp: not for type=int32");
  refused({"matmul", "--set", "block_dim=65"},
          "matmul: block_dim 65: the card has 64 clusters of cores");
  refused({"collective"},
          "collective: ranks=2: the machine has 1; system-2x910b2 has two with a link between "
          "them, system-8x910b eight");
  refused({"collective", "--set", "op=scatter", "--set", "algorithm=ring"},
          "collective: algorithm=ring: scatter cannot be done so");
  refused({"moe_exchange", "--set", "experts=7"},
          "moe_exchange: experts=7: no multiple of ranks=2");
  refused({"moe_exchange", "--set", "hidden=100"}, "moe_exchange: hidden=100: no multiple of 32");
  refused({"moe_exchange", "--set", "experts=4"}, "moe_exchange: chosen=8: more than experts=4");
  refused({"p2p_bandwidth"},
          "p2p_bandwidth: cards=2: the machine has 1; system-2x910b2 has two with a link between "
          "them, system-8x910b eight");
}

TEST_F(BadInput, SequencesOfCardsNeedExpertsOfAllCards) {
  const auto refused = [&](const std::string& setting, const std::string& line) {
    const std::map<std::string, std::string> good{{"model", "tiny-moe"},
                                                  {"batch", "4"},
                                                  {"data_parallel", "2"},
                                                  {"expert_parallel", "2"},
                                                  {"moe_comm", "dispatch"}};
    std::vector<std::string> arguments{"--config", "system-2x910b2", "run", "transformer"};
    const std::string changed = setting.substr(0, setting.find('='));
    for (const auto& [name, value] : good) {
      if (name == changed) continue;
      arguments.insert(arguments.end(), {"--set", name + "=" + value});
    }
    arguments.insert(arguments.end(), {"--set", setting});
    expect_refused(arguments, line);
  };
  refused("tensor_parallel=2", "data_parallel=2: tensor_parallel is to be 1");
  refused("expert_parallel=1", "data_parallel=2: expert_parallel is to be equal");
  refused("moe_comm=allreduce", "data_parallel=2: moe_comm is to be dispatch");
  refused("batch=3", "data_parallel=2: it does not divide batch=3");
  refused("model=tiny", "moe_comm=dispatch: tiny has no experts");
}

TEST_F(BadInput, AParameterThatAsksForMoreThanThereIsIsNamed) {
  const auto refused = [&](const std::string& workload, const std::string& set,
                           const std::string& line) {
    expect_refused({"--config", "910b2", "run", workload, "--set", set}, workload + ": " + line);
  };
  refused("vmm_map", "spaces=18",
          "out of resources: all 18 address spaces of the card in use; asked for with spaces=18");
  refused("vmm_map", "sizes=128GiB",
          "out of memory: 137438953472 bytes of device memory requested, 65766686720 free, largest "
          "free block 65766686720; asked for with sizes=128GiB");
  refused("share_quota", "quotas=100GiB",
          "the quotas and one block are more than the 62720 MiB that the card has");
  refused("tlb_sweep", "footprints=128GiB",
          "nothing to measure: a footprint must be at most the 62718MiB that the card has in "
          "one piece, at least a stride, and 1GiB for giant pages");
}

TEST_F(BadInput, EveryRefusalIsOneLineAndExitCode2) {
  const std::vector<std::vector<std::string>> all{
      {"--config"},
      {"--config", "", "lspci"},
      {"--config", "none", "lspci"},
      {"--config", "/", "lspci"},
      {"--config", "910b", "--config", "950", "lspci"},
      {"config"},
      {"config", "shwo", "910b"},
      {"config", "show"},
      {"config", "show", "910b", "950"},
      {"config", "check", "910b", "--set", "a\nb=1"},
      {"list", "nothing"},
      {"--config", "910b", "lspci", "extra"},
      {"--config", "910b", "run", "enumerate", "extra"},
      {"--config", "910b", "run", "enumerate", "--set", "exhaustive=maybe"},
      {"--config", "910b", "run", "dma_latency", "--set", "iterations=0"},
      {"--config", "910b", "run", "dma_latency", "--set", "iterations=1", "--set", "iterations=2"},
      {"--seed"},
      {"--frobnicate=\x01\x02"},
      {"run", "--", "--help"},
      {"gdb"},
      {"--config", "910b", "gdb", "exec"},
      {"--config", "910b", "gdb", "exec", "--seed", "2", "--", "./program"},
      {"--config", "910b", "gdb", "enumerate", "--races"},
  };
  for (const auto& arguments : all) {
    const auto result = npusim(arguments);
    const std::string shown = ::testing::PrintToString(arguments) + ": " + result.err;
    EXPECT_EQ(result.exit_code, 2) << shown;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << shown;
    EXPECT_EQ(result.err.rfind("npusim: ", 0), 0U) << shown;
  }
}

}  // namespace
}  // namespace npu::cli
