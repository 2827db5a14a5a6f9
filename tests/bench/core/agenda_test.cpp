// SPDX-License-Identifier: Apache-2.0
// What handlers and processes see of the time must not depend on whether handlers run ahead.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "model/core/agenda.hpp"

namespace npu::model {
namespace {

using testing::ElementsAre;

// Handlers leave their argument and time in a log, as do processes with a letter.
struct Log {
  explicit Log(bool run_ahead) { agenda.run_ahead(run_ahead); }

  void add(const std::string& who) { lines.push_back(who + "@" + std::to_string(sim_now())); }
  void note(std::uint64_t number) { add(std::to_string(number)); }
  void wake(std::uint64_t number) {
    note(number);
    agenda.notify(event);
  }
  void note_later(std::uint64_t delay) {
    note(0);
    agenda.at<&Log::note>(sim_now() + delay, *this, delay);
  }
  void wait(std::uint64_t picoseconds) { sc_core::wait(sc_core::sc_time::from_value(picoseconds)); }

  Agenda agenda{"agenda"};
  sc_core::sc_event event;
  std::vector<std::string> lines;
};

class AgendaRun : public testing::TestWithParam<bool> {};

TEST_P(AgendaRun, ServesHandlersByTimeAndThenInTheOrderScheduled) {
  Log log(GetParam());
  log.agenda.at<&Log::note>(20, log, 2);
  log.agenda.at<&Log::note>(10, log, 1);
  log.agenda.at<&Log::note>(20, log, 3);
  log.agenda.at<&Log::note_later>(15, log, 5);

  sc_core::sc_start();

  EXPECT_THAT(log.lines, ElementsAre("1@10", "0@15", "2@20", "3@20", "5@20"));
  EXPECT_EQ(sc_core::sc_time_stamp().value(), 20U);
}

TEST_P(AgendaRun, WakesAProcessBehindTheHandlersOfThatTimeAndBeforeLaterOnes) {
  Log log(GetParam());
  sc_core::sc_spawn([&] {
    sc_core::wait(log.event);
    log.add("process, kernel " + std::to_string(sc_core::sc_time_stamp().value()));
    log.agenda.at<&Log::note>(sim_now() + 5, log, 4);
  });
  log.agenda.at<&Log::note>(10, log, 1);
  log.agenda.at<&Log::wake>(20, log, 2);
  log.agenda.at<&Log::note>(20, log, 3);
  log.agenda.at<&Log::note>(30, log, 5);

  sc_core::sc_start();

  EXPECT_THAT(log.lines,
              ElementsAre("1@10", "2@20", "3@20", "process, kernel 20@20", "4@25", "5@30"));
}

TEST_P(AgendaRun, LetsAProcessThatWaitsForATimeComeInBetween) {
  Log log(GetParam());
  sc_core::sc_spawn([&] {
    for (int i = 0; i < 2; ++i) {
      log.wait(15);
      log.add("process");
    }
  });
  for (const std::uint64_t when : {10, 15, 20, 30, 40}) {
    log.agenda.at<&Log::note>(when, log, when);
  }

  sc_core::sc_start();

  EXPECT_THAT(log.lines,
              ElementsAre("10@10", "15@15", "process@15", "20@20", "30@30", "process@30", "40@40"));
}

TEST_P(AgendaRun, LetsAProcessThatWaitsForATimeThroughTheAgendaComeBehindTheHandlers) {
  Log log(GetParam());
  sc_core::sc_spawn([&] {
    for (int i = 0; i < 3; ++i) {
      log.agenda.wait_until(sim_now() + 15);
      log.add("process");
      log.agenda.at<&Log::note>(sim_now() + 4, log, 4);
    }
    log.agenda.catch_up();
    log.add("kernel " + std::to_string(sc_core::sc_time_stamp().value()));
  });
  for (const std::uint64_t when : {10, 15, 20, 40}) {
    log.agenda.at<&Log::note>(when, log, when);
  }

  sc_core::sc_start();

  EXPECT_THAT(log.lines, ElementsAre("10@10", "15@15", "process@15", "4@19", "20@20", "process@30",
                                     "4@34", "40@40", "process@45", "kernel 45@45", "4@49"));
}

TEST_P(AgendaRun, WakesAProcessThatWaitsAloneAtTheEventOrAtItsLimit) {
  Log log(GetParam());
  sc_core::sc_spawn([&] {
    log.agenda.wait(log.event);
    log.add("woken");
    log.agenda.wait(log.event, 35);
    log.add("limit");
    log.agenda.wait_until(50);
    log.add("end");
  });
  log.agenda.at<&Log::note>(10, log, 1);
  log.agenda.at<&Log::wake>(20, log, 2);
  log.agenda.at<&Log::note>(30, log, 3);
  log.agenda.at<&Log::wake>(40, log, 4);

  sc_core::sc_start();

  EXPECT_THAT(log.lines,
              ElementsAre("1@10", "2@20", "woken@20", "3@30", "limit@35", "4@40", "end@50"));
}

// A timeout that may have become void.
struct Guard : Timeout {
  bool is_void() override { return voided; }
  void ring(std::uint64_t) {}
  bool voided = false;
};

TEST_P(AgendaRun, SaysWhenSomethingWillHappenByItself) {
  Log log(GetParam());
  Guard guard;
  log.agenda.add(guard);
  std::vector<SimTime> next;
  const auto look = [&] { next.push_back(log.agenda.next_activity()); };
  sc_core::sc_spawn([&] { log.wait(500); });
  sc_core::sc_spawn([&] {
    log.agenda.wait_until(10);
    look();  // a handler
    log.agenda.wait_until(150);
    look();  // the other process
    log.agenda.wait_until(600);
    look();  // a timeout that counts
    guard.voided = true;
    look();  // and one that does not
  });
  log.agenda.at<&Log::note>(100, log, 1);
  log.agenda.at<&Guard::ring>(900, guard);

  sc_core::sc_start();

  EXPECT_THAT(next, ElementsAre(100, 500, 900, UINT64_MAX));
}

// Neither may see what the other does at a time the other has not reached.
TEST_P(AgendaRun, InterleavesTwoProcessesByTime) {
  Log log(GetParam());
  for (const std::uint64_t step : {20, 30}) {
    sc_core::sc_spawn([&log, step] {
      for (int i = 0; i < 3; ++i) {
        log.agenda.wait_until(sim_now() + step);
        log.note(step);
      }
    });
  }
  sc_core::sc_spawn([&] {
    log.agenda.wait_with_others(log.event);
    log.add("woken");
  });
  log.agenda.at<&Log::wake>(45, log, 1);

  sc_core::sc_start();

  EXPECT_THAT(log.lines, ElementsAre("20@20", "30@30", "20@40", "1@45", "woken@45",
                                     testing::AnyOf("20@60", "30@60"),
                                     testing::AnyOf("20@60", "30@60"), "30@90"));
}

TEST_P(AgendaRun, OrdersThousandsOfHandlers) {
  Log log(GetParam());
  std::uint64_t when = 1;
  for (int i = 0; i < 5000; ++i) {
    when = when * 6364136223846793005U + 1442695040888963407U;
    log.agenda.at<&Log::note>(1 + when % 1000, log, 1 + when % 1000);
  }

  sc_core::sc_start();

  ASSERT_EQ(log.lines.size(), 5000U);
  std::uint64_t last = 0;
  for (const auto& line : log.lines) {
    const auto number = std::stoull(line);
    EXPECT_EQ(line, std::to_string(number) + "@" + std::to_string(number));
    EXPECT_GE(number, last);
    last = number;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernel, AgendaRun, testing::Bool(), [](const auto& run) {
  return std::string(run.param ? "ahead" : "in_step");
});

}  // namespace
}  // namespace npu::model
