// SPDX-License-Identifier: Apache-2.0
// The table of docs/accuracy.md with signals between AI Cores and AICPUs: measured here on the
// models of an A3 die, without driver and firmware, beside what was measured on silicon.

#include <algorithm>
#include <numeric>

#include "tests/system/accuracy/line.hpp"
#include "tests/system/accuracy/page.hpp"
#include "tests/system/signals/signal_card.hpp"

namespace npu::test {
namespace {

constexpr SimTime kApart = 40'000 * kNs;  // trials
constexpr SimTime kWarm = 10'000 * kNs;   // until an AICPU's program has begun
constexpr SimTime kLoadRest = 50 * kNs;   // of a register's load, from its sample on
constexpr unsigned kTrials = 50;
constexpr SimTime kStep = 1'237;  // ps by which a trial begins later than the one before

using Times = std::vector<SimTime>;

class SignalTable : public testing::Test {
 protected:
  SignalTable() : card_("910c.yaml") {}

  // A store to a core's register until the core, which polls it, has it.
  Times register_stores() {
    Times seen;
    for (unsigned i = 0; i < kTrials; ++i) {
      const SimTime begin = next();
      card_.core(begin, 0, [&, i](AicorePort& port) {
        while (port.data_main_base() != i + 1) port.poll_again(kNoDeadline);
        seen.push_back(model::sim_now() - sent_);
        return 0;
      });
      card_.aicpu(begin + kWarm + i * kStep, 0, [&, i](AicpuPort& port) {
        port.store_register(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
        sent_ = now(port);
        port.store_register(0, abi::DataMainBase::kOffset, i + 1);
        return 0;
      });
    }
    card_.run();
    return seen;
  }
  // COND written until the AICPU, which polls this core alone, has it.
  Times cond() {
    Times seen;
    for (unsigned i = 0; i < kTrials; ++i) {
      const SimTime begin = next();
      card_.core(begin + kWarm, 0, [&, i](AicorePort& port) {
        port.data_main_base();
        sent_ = model::sim_now();
        port.set_cond(i + 1);
        return 0;
      });
      card_.aicpu(begin + i * kStep, 0, [&, i](AicpuPort& port) {
        port.store_register(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
        while (port.load_register(0, abi::Cond::kOffset) != i + 1) port.poll_again(kNoDeadline);
        seen.push_back(model::sim_now() + kLoadRest - sent_);
        return 0;
      });
    }
    card_.run();
    return seen;
  }
  // A line written and published until the AICPU, which polls it, has it; `own` gets what the core
  // itself was busy with. The core holds the line or has to fetch it, in turn.
  Times lines(Times& own) {
    Times seen;
    for (unsigned i = 0; i < kTrials; ++i) {
      const SimTime begin = next();
      card_.core(begin + kWarm, 0, [&, i](AicorePort& port) {
        port.clean_invalidate(kDataAt);
        if (i % 2 == 0) port.load(kDataAt, 4);
        port.data_main_base();
        sent_ = model::sim_now();
        port.store(kDataAt, 4, i + 1);
        port.clean_invalidate(kDataAt);
        port.memory_barrier();
        own.push_back(model::sim_now() - sent_);
        return 0;
      });
      card_.aicpu(begin + i * kStep, 0, [&, i](AicpuPort& port) {
        while (port.load(kDataAt, 4) != i + 1) port.poll_again(kNoDeadline);
        seen.push_back(model::sim_now() - sent_);
        return 0;
      });
    }
    card_.run();
    return seen;
  }
  // A sweep of `looks` by one thread, the second of two.
  SimTime sweep(unsigned looks, const std::function<void(AicpuPort&, unsigned)>& look) {
    SimTime took = 0;
    card_.aicpu(next(), 0, [&](AicpuPort& port) {
      for (const bool second : {false, true}) {
        const SimTime begin = now(port);
        for (unsigned i = 0; i < looks; ++i) look(port, i);
        if (second) took = now(port) - 2 * kLoadRest - begin;
      }
      return 0;
    });
    card_.run();
    return took;
  }
  SimTime line_sweep(unsigned lines, unsigned looks) {
    return sweep(looks, [lines](AicpuPort& port, unsigned i) {
      port.load(kDataAt + std::uint64_t{i % lines} * 64, 4);
    });
  }
  SimTime cond_sweep(unsigned cores) {
    return sweep(cores,
                 [](AicpuPort& port, unsigned i) { port.load_register(i, abi::Cond::kOffset); });
  }

 private:
  SimTime next() { return ++trials_ * kApart; }
  // The program's time: at the end of a load of a register.
  static SimTime now(AicpuPort& port) {
    port.load_register(0, abi::Cond::kOffset);
    return model::sim_now() + kLoadRest;
  }

  SignalCard card_;
  unsigned trials_ = 0;
  SimTime sent_ = 0;
};

double mean(const Times& times) {
  return static_cast<double>(std::accumulate(times.begin(), times.end(), SimTime{0})) /
         static_cast<double>(times.size());
}
double least(const Times& times) {
  return static_cast<double>(*std::min_element(times.begin(), times.end()));
}

TEST_F(SignalTable, SaysWhatTheModelsDo) {
  std::vector<accuracy::Line> table;
  const auto add = [&](const char* id, const char* what, const char* published, double ps,
                       const char* use) {
    table.push_back(
        {id, what, "", published, "ns", accuracy::number_text(ps / 1000, published), use});
  };
  const auto take = [](SimTime time) { return static_cast<double>(time); };
  const auto stores = register_stores(), conds = cond();
  Times own;
  const auto seen = lines(own);
  ASSERT_EQ(stores.size() + conds.size() + seen.size() + own.size(), 4 * kTrials);
  add("A0537", "a register's store until the core sees it, mean", "140", mean(stores), "key");
  add("A0535", "one load of COND", "100", take(cond_sweep(24)) / 24, "key");
  add("A1", "sweep of 24 CONDs by one thread: 2300 to 2400", "2350", take(cond_sweep(24)), "key");
  add("A0538", "COND until the AICPU sees it, mean", "600", mean(conds), "check");
  add("A1", "COND until the AICPU sees it, least", "180", least(conds), "fit");
  add("A1", "load of a line that is held", "3", take(line_sweep(1, 1000)) / 1000, "key");
  add("A1", "loads of 9 lines in turn, each", "41", take(line_sweep(9, 900)) / 900, "key");
  add("A1", "sweep of 24 lines by one thread", "1000", take(line_sweep(24, 24)), "key");
  add("A1", "core: write and dcci of a line: 150 to 300, mean", "225", mean(own), "check");
  add("A0539", "that until the AICPU sees it, mean", "1040", mean(seen), "fit");
  add("A0539", "that until the AICPU sees it, least", "980", least(seen), "fit");
  accuracy::expect_on_page("signals-910c", accuracy::table_text(table));
}

}  // namespace
}  // namespace npu::test
