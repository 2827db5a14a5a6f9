// SPDX-License-Identifier: Apache-2.0
// acl_memory SEED CALLS [THREADS] [signals]: random copies, fills, functions, frees and waits of
// all kinds of memory, with a model of what every byte must be. Whatever is submitted is ordered
// behind what used the same memory before: by its stream, an event, or a wait of the host.
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "tests/fuzz/acl_world.hpp"

namespace npu::fuzz {
namespace {

// Runs functions of the streams until it is told to end.
class Server {
 public:
  explicit Server(aclrtContext context) : thread_([this, context] { serve(context); }) {}
  ~Server() {
    stop_ = true;
    thread_.join();
  }
  std::uint64_t number() { return static_cast<std::uint64_t>(thread_.native_handle()); }

 private:
  void serve(aclrtContext context) {
    ACL(aclrtSetCurrentContext(context));
    while (!stop_) {
      const int status = aclrtProcessReport(1);
      if (status != ACL_SUCCESS && status != ACL_ERROR_RT_WAIT_TIMEOUT) give_up("report", status);
    }
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// What interrupts every call that can be: without SA_RESTART.
void send_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);
  ::sigaction(SIGPROF, &action, nullptr);
  const itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  ::setitimer(ITIMER_PROF, &every, nullptr);
}

Machine open_machine() {
  Machine machine;
  std::uint32_t count = 0;
  ACL(aclInit(nullptr));
  ACL(aclrtGetDeviceCount(&count));
  for (std::uint32_t device = 0; device < std::min(count, 2U); ++device) {
    aclrtContext context = nullptr;
    ACL(aclrtSetDevice(static_cast<int>(device)));
    ACL(aclrtGetCurrentContext(&context));
    machine.contexts.push_back(context);
  }
  aclrtBinHandle binary = nullptr;
  ACL(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
  ACL(aclrtBinaryGetFunction(binary, "spin", &machine.spin));
  return machine;
}

int run(std::uint32_t seed, int calls, int threads, bool signals) {
  if (signals) send_signals();
  auto machine = open_machine();
  {
    Server server(machine.contexts[0]);
    machine.server = server.number();
    Streams streams(machine);
    std::vector<std::thread> others;
    const auto work = [&](int number) {
      World world(machine, streams, seed * 97 + static_cast<std::uint32_t>(number), threads == 1);
      for (int i = 0; i < calls; ++i) world.step();
      world.check_all();
    };
    for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
    for (auto& other : others) other.join();
  }
  ACL(aclFinalize());
  std::printf("right\n");
  return 0;
}

}  // namespace
}  // namespace npu::fuzz

int main(int count, char** words) {
  const auto number = [&](int at, int usual) { return count > at ? std::atoi(words[at]) : usual; };
  const bool signals = count > 4 && std::string(words[4]) == "signals";
  return npu::fuzz::run(static_cast<std::uint32_t>(number(1, 1)), number(2, 300), number(3, 1),
                        signals);
}
