// SPDX-License-Identifier: Apache-2.0
// Programs that would hang or crash the simulator end it with a line that names them.
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "model/core/program_guard.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using model::ProgramGuard;

// In a child of its own.
void run_block(const Body& body) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch(1, body, 1, 3, 8); });
  bench.run();
}

const testing::ExitedWithCode kExits(ProgramGuard::kExitCode);
const char* const kWho = "npusim: AI Core 1, block 3 of 8.*: ";

TEST(ProgramGuard, EndsAProgramThatLoopsWithoutACall) {
  ProgramGuard::set_timeout(2);
  const Body body = [](AicorePort& port) {
    port.scalar(1);
    for (volatile bool forever = true; forever;) continue;
    return 0;
  };
  EXPECT_EXIT(run_block(body), kExits, std::string(kWho) + "no call of its port for . s, it hangs");
}

TEST(ProgramGuard, LetsAProgramThatCallsItsPortTakeItsTime) {
  ProgramGuard::set_timeout(2);
  AicoreBench bench;
  const auto end = bench.run_one([](AicorePort& port) {
    volatile std::uint64_t sum = 0;
    const auto until = std::clock() + 3 * CLOCKS_PER_SEC;
    while (std::clock() < until) {
      for (int i = 0; i < 1'000'000; ++i) sum = sum + 1;
      port.scalar(1);
    }
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

TEST(ProgramGuard, NamesTheAddressOfAPointerThatIsNone) {
  const Body body = [](AicorePort& port) {
    return *reinterpret_cast<volatile int*>(port.call().arguments * 0 + 0x1230);
  };
  EXPECT_EXIT(run_block(body), kExits, std::string(kWho) + "it followed a pointer to 0x1230");
}

TEST(ProgramGuard, TellsAStackThatIsFull) {
  const std::function<int(int)> deeper = [&](int depth) {
    volatile char room[4096] = {};
    room[depth % 4096] = 1;
    return deeper(depth + 1) + room[0];
  };
  const Body body = [&](AicorePort&) { return deeper(0); };
  EXPECT_EXIT(run_block(body), kExits, std::string(kWho) + "its stack is too small");
}

TEST(ProgramGuard, NamesWhoDividesByZeroOrGivesUp) {
  const Body divides = [](AicorePort&) { return raise(SIGFPE); };
  const Body aborts = [](AicorePort&) -> int { std::abort(); };
  EXPECT_EXIT(run_block(divides), kExits, std::string(kWho) + "an arithmetic exception");
  EXPECT_EXIT(run_block(aborts), kExits, std::string(kWho) + "it gave up by abort");
}

TEST(ProgramGuard, LeavesTheModelsOwnCrashesAlone) {
  const auto crash = [] {
    AicoreBench bench;
    bench.run_one([](AicorePort&) { return 0; });
    std::abort();
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace npu::test
