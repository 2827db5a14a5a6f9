// SPDX-License-Identifier: Apache-2.0
// Completion as shells do it: the script is loaded into a real bash and zsh.
#include <gmock/gmock.h>

#include <set>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

const std::string kNpusimPath = binary_dir() + "/bin/npusim";

struct Case {
  std::string words;  // behind "npusim", as a shell would part them; the last one is at the cursor
  std::vector<std::string> expected;  // among what is offered
  std::string not_expected = {};
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{
      {"''", {"run", "list", "completion", "sweep"}, "--config"},
      {"co", {"compare", "config", "completion"}, "run"},
      {"run dma_l", {"dma_latency"}, "dma_bandwidth"},
      {"list ve", {"vector_add", "vector_operator"}, "run"},
      {"run --tr", {"--trace", "--trace-window", "--trace-unit", "--trace-cause"}, "--report"},
      {"lspci --", {"--config", "--set", "--hex"}, "--report"},
      {"--config 910b", {"910b", "910b2"}, "950"},
      {"--config 910b run dma_latency --set iter", {"iterations="}, "directions="},
      {"run dma_latency --set link.gen", {"link.generation="}, "link.lanes="},
      {"report r.json --format m", {"markdown"}, "text"},
      {"serve --pace ''", {"fast", "wall"}, "--pace"},
      {"config ''", {"show", "check", "keys"}, "run"},
      {"config check 95", {"950"}, "910b"},
      {"completion ''", {"bash", "zsh"}, "run"},
      {"registers DMA_", {"DMA_DOORBELL", "DMA_QUEUE_BASE"}, "CHIP_ID"},
      {"report give", {"given.json"}, "run"},
  };
  return kCases;
}

class Completion : public Program {
 protected:
  std::set<std::string> lines(const Result& result) const {
    EXPECT_EQ(result.err, "");
    std::istringstream text(result.out);
    std::set<std::string> found;
    for (std::string line; std::getline(text, line);) found.insert(line);
    return found;
  }
  // `parts`: words as bash parts them, also at '='.
  std::set<std::string> bash(const std::string& parts) const {
    write("c.bash", "source <(" + kNpusimPath + " completion bash)\nCOMP_WORDS=(npusim " + parts +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\nat=${COMP_WORDS[COMP_CWORD]}\n"
                        "[[ $at == = ]] && at=\n"
                        "_npusim " +
                        kNpusimPath + " \"$at\"\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines(shell("bash --norc c.bash"));
  }
  std::set<std::string> zsh(const std::string& words) const {
    write("c.zsh",
          "compdef() { : }\ncompadd() { while [[ $1 == -* && $1 != -- ]]; do shift; [[ -z $1 ]] && "
          "shift; done; shift; print -l -- \"$@\" }\ncompset() { : }\n"
          "_files() { print -l -- $PREFIX*(N) }\nsource <(" +
              kNpusimPath + " completion zsh)\nwords=(" + kNpusimPath + " " + words +
              ")\nCURRENT=$#words\nPREFIX=$words[-1]\n_npusim\n");
    return lines(shell("zsh -f c.zsh"));
  }
  void expect(const std::set<std::string>& found, const Case& wanted) const {
    for (const auto& word : wanted.expected) {
      EXPECT_THAT(found, testing::Contains(word)) << wanted.words;
    }
    EXPECT_THAT(found, testing::Not(testing::Contains(wanted.not_expected))) << wanted.words;
  }
};

TEST_F(Completion, OfBashOffersWhatFits) {
  write("given.json", "{}");
  for (const auto& each : cases()) expect(bash(each.words), each);
}

TEST_F(Completion, OfZshOffersWhatFits) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "NOT RUN: no zsh";
  write("given.json", "{}");
  for (const auto& each : cases()) expect(zsh(each.words), each);
}

TEST_F(Completion, OfBashGoesOnBehindAnEqualsSign) {
  expect(bash("--config = 910b"), {"=", {"910b", "910b2"}, "--config=910b"});
  expect(bash("run dma_latency --set directions ="), {"=", {"h2d", "d2h"}, "directions=h2d"});
  expect(bash("report r.json --format ="), {"=", {"text", "csv"}, "--format=text"});
}

TEST_F(Completion, OfZshKeepsWholeWords) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "NOT RUN: no zsh";
  expect(zsh("run dma_latency --set directions="), {"", {"directions=h2d"}, "h2d"});
  expect(zsh("--config=910b"), {"", {"--config=910b2"}, "910b2"});
}

TEST_F(Completion, NeverFailsWhateverStandsOnTheLine) {
  for (const auto* words : {"", "npusim", "npusim --", "npusim run", "npusim '' ''", "npusim --set",
                            "npusim --set= x", "npusim run nothing --set =", "npusim -vvv -x ''",
                            "npusim run run --config '*'", "npusim -- -- --", "= = ="}) {
    const auto result = shell(kNpusimPath + " completion words bash -- " + words);
    EXPECT_EQ(result.exit_code, 0) << words << ": " << result.err;
  }
}

TEST_F(Completion, NamesTheShellsThatItHas) {
  expect_refused({"completion"}, "completion: give a shell: bash, zsh");
  expect_refused({"completion", "fish"}, "completion: no script for 'fish'; there are bash, zsh");
  expect_refused({"completion", "bash", "x"}, "completion: unexpected 'x'");
}

}  // namespace
}  // namespace npu::cli
