// SPDX-License-Identifier: Apache-2.0
// Workloads with order.rule=weakest, each run in a process of its own, as they are or without one
// synchronisation of the driver or of the programs on the card.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "npu/testing/without_barriers.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {

// Of .ci/run; .ci/full has 20.
inline unsigned order_seeds(unsigned usual) {
  const char* const text = std::getenv("NPU_ORDER_SEEDS");
  return text == nullptr ? usual : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

struct OrderCase {
  std::string workload;
  std::vector<std::string> parameters;
  std::string config = "910b2.yaml";
};

inline std::string shipped_graph(const std::string& name) {
  return "graph=" + source_dir() + "/workloads/graphs/" + name + ".yaml";
}
inline std::string written_predicate() {
  return "graph=" + source_dir() + "/tests/system/order/written_predicate.yaml";
}

// What is left out: a place of the driver's write barriers, or of a kind of the card's programs.
struct LeftOut {
  std::optional<std::size_t> driver_place;
  std::optional<model::Omission> of_card;
};

struct OrderRun {
  std::string outcome = "the process ended";  // empty: complete, and no store was overtaken
  std::size_t places = 0;                     // of what is left out
  std::uint64_t left_out = 0;                 // calls
};

inline std::string order_text(const OrderCase& what, unsigned seed, const LeftOut& without) {
  Machine machine({"order.rule=weakest", "order.seed=" + std::to_string(seed)}, what.config);
  auto& omission = machine.system.simulation().omission;
  if (without.of_card) omission.emplace(*without.of_card);
  std::optional<testkit::WithoutBarriers> host;
  if (without.driver_place) {
    machine.decorate = [&](platform::Platform& inner) -> platform::Platform& {
      return host.emplace(inner, testkit::WithoutBarriers::Without::kWriteBarriers,
                          without.driver_place);
    };
  }
  reports::Report report;
  const Status status = machine.attempt(report, what.workload, what.parameters, seed);
  const auto* const overtaken = machine.system.host().overtaken();
  std::string outcome = status ? "" : status.error().message();
  if (outcome.empty() && overtaken->count() != 0) outcome = overtaken->told().front();
  std::replace(outcome.begin(), outcome.end(), '\n', ' ');
  std::ostringstream text;
  text << outcome << '\n'
       << (host       ? host->places()
           : omission ? omission->places().size()
                      : 0)
       << ' '
       << (host       ? host->left_out()
           : omission ? omission->calls()
                      : 0)
       << '\n';
  return text.str();
}

// A process that ends otherwise has not completed either.
inline OrderRun order_run(const OrderCase& what, unsigned seed, const LeftOut& without = {}) {
  constexpr unsigned kSeconds = 60;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    const std::string text = order_text(what, seed, without);
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t size = 0; (size = read(ends[0], piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  OrderRun run;
  if (status != 0) return run;
  std::istringstream lines(text);
  std::getline(lines, run.outcome);
  lines >> run.places >> run.left_out;
  return run;
}

}  // namespace npu::test
