// SPDX-License-Identifier: Apache-2.0
// Runs of whole machines whose AICPUs and AI Cores poll, with every poll round executed or with
// rounds passed over.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/folders.hpp"
#include "tests/system/support/machine.hpp"
#include "workloads/simulator/counted_software.hpp"

namespace npu::test {

struct PollPlan {
  const char* name;
  const char* config;
  const char* workload;
  std::string handshake;
  std::vector<std::string> values;

  friend std::ostream& operator<<(std::ostream& out, const PollPlan& plan) {
    return out << plan.name;
  }
};

// How it is run.
struct PollWay {
  bool naive = false;  // every round of poll loops
  bool twins =
      false;  // the programs of the card that count (kernels/counting/), whose count takes no time
  std::vector<std::string> overrides;
};

// Lines, one for each event and each metric of a run.
class Recorded : private platform::TraceSink {
 public:
  Recorded(const PollPlan& plan, const PollWay& way) : machine_(way.overrides, plan.config) {
    if (way.twins) workloads::add_counted_programs(machine_.system);
    auto& recorder = machine_.system.simulation().recorder;
    recorder.add(*this);
    for (unsigned i = 0; i < machine_.system.cards(); ++i) {
      machine_.system.card(i).aicore_programs().naive_polling(way.naive);
      machine_.system.card(i).aicpu_programs().poll_naively(way.naive);
    }
    const auto report = machine_.workload(plan.workload, plan.values);
    recorder.remove(*this);
    for (const auto& metric : report.metrics()) {
      lines_.push_back(metric.name + " " + metric.value.text());
    }
    std::sort(lines_.begin(), lines_.end());
    skipped_ = machine_.system.card(0).aicpu_programs().statistics().rounds_skipped;
    for (unsigned i = 0; i < machine_.system.card(0).aicore_programs().cores(); ++i) {
      passed_over_ += machine_.system.card(0).aicore_programs().statistics(i).polls_passed_over;
    }
  }

  const std::vector<std::string>& lines() const { return lines_; }
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  // What a poll that is passed over would have looked at.
  static bool is_of_polls(platform::Activity activity) {
    return activity == platform::Activity::kTranslation ||
           activity == platform::Activity::kL2Read || activity == platform::Activity::kL2Write;
  }
  void on_event(const platform::TraceEvent& event) override {
    if (is_of_polls(event.activity)) return;
    const auto& names = machine_.system.simulation().recorder.track_names();
    lines_.push_back(fmt::format("{:015} {:015} {} {} {} {} {}", event.end.since_power_up().count(),
                                 event.begin.since_power_up().count(), names[event.track],
                                 platform::to_string(event.activity), event.cause, event.bytes,
                                 event.detail));
  }

  Machine machine_;
  std::vector<std::string> lines_;
  std::uint64_t skipped_ = 0, passed_over_ = 0;
};

// In a process of its own, because SystemC elaborates once in one.
inline std::vector<std::string> run_in_a_process(const PollPlan& plan, const PollWay& way) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const Recorded run(plan, way);
    FILE* const out = fdopen(ends[1], "w");
    for (const auto& line : run.lines()) fmt::print(out, "{}\n", line);
    fflush(out);
    const bool as_planned = way.naive ? run.skipped() + run.passed_over() == 0
                                      : run.skipped() > 100 && run.passed_over() > 100;
    _exit(as_planned && !testing::Test::HasFailure() ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char piece[65536];
  for (ssize_t got = 0; (got = read(ends[0], piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

inline void expect_same_lines(const std::vector<std::string>& some,
                              const std::vector<std::string>& others) {
  ASSERT_GT(others.size(), 100U);
  const auto [one, other] = std::mismatch(some.begin(), some.end(), others.begin(), others.end());
  EXPECT_TRUE(one == some.end() && other == others.end())
      << "of " << some.size() << " and " << others.size() << " lines the first that differ are\n"
      << (one == some.end() ? "-" : *one) << "\n"
      << (other == others.end() ? "-" : *other);
}

inline std::vector<PollPlan> poll_plans() {
  std::vector<PollPlan> all;
  for (const char* config : {"910b.yaml", "910b2.yaml"}) {
    for (const std::string kind : {"register", "memory"}) {
      const std::string handshake = "handshake=" + kind;
      const auto graph = [&](const char* name, const char* file, const char* parameters) {
        const std::string path = source_dir() + "/workloads/graphs/";
        all.push_back({name,
                       config,
                       "graph",
                       kind,
                       {"graph=" + path + file, std::string("parameters=") + parameters, handshake,
                        "aicpu_thread_num=3"}});
      };
      graph("chain", "chain.yaml", "length=20");
      graph("paged_attention", "paged_attention.yaml", "batch=3,blocks=4,pages=5");
      graph("independent_mix", "independent_mix.yaml", "aic=30,aiv=60");
      all.push_back({"matmul", config, "matmul", kind, {"m=256", "n=256", "k=256", handshake}});
    }
  }
  return all;
}

}  // namespace npu::test
