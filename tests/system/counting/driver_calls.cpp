// SPDX-License-Identifier: Apache-2.0
// driver_calls CALL N: a driver on a simulated card, whose CALL (submit, wait or allocate) is
// called N times. Prints the instructions that libnpudrv has counted in these calls, 0 if it counts
// none; callgrind sees them in npu_measured_call().
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "npu/driver/device.hpp"
#include "npu/testing/machine.hpp"

extern "C" __attribute__((weak)) const std::uint64_t* npu_instruction_counter();
extern "C" __attribute__((noinline, visibility("default"))) void npu_measured_call(
    const std::function<void()>& call) {
  call();
}

namespace {

using namespace npu;  // NOLINT(google-build-using-namespace): a program of one file

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "driver_calls: %s\n", error.message().c_str());
  std::exit(1);
}

template <class T>
T take(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(*result);
}

std::uint64_t counted() {
  return npu_instruction_counter == nullptr ? 0 : *npu_instruction_counter();
}

class Calls {
 public:
  Calls(driver::Device& device, platform::Platform& platform)
      : device_(device),
        platform_(platform),
        stream_(take(device.create_stream())),
        memory_(take(device.allocate(2_MiB))) {}

  // The instructions of `call` alone.
  std::uint64_t run(const std::string& call, unsigned times) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < times; ++i) {
      if (call == "allocate") {
        sum += measured([this] { allocated_ = take(device_.allocate(64_KiB)); });
        continue;
      }
      sum += measured_if(call == "submit", [this] { submit(); });
      sum += measured_if(call == "wait", [this] { wait(); });
    }
    return sum;
  }

 private:
  std::uint64_t measured(const std::function<void()>& call) {
    const std::uint64_t before = counted();
    npu_measured_call(call);
    return counted() - before;
  }
  std::uint64_t measured_if(bool measured_one, const std::function<void()>& call) {
    if (measured_one) return measured(call);
    call();
    return 0;
  }
  void submit() {
    driver::SubmitOptions options;
    options.interrupt = false;
    const auto address = memory_.address;
    const auto copy = driver::DmaCommand::device_to_device(address, address + 1_MiB, 64);
    ticket_ = take(device_.submit(stream_, copy, options));
  }
  void wait() {
    const auto end = platform_.clock().now() + 1_s;
    if (auto ok = device_.wait(ticket_, driver::WaitPolicy::kPolling, end); !ok) fail(ok.error());
  }

  driver::Device& device_;
  platform::Platform& platform_;
  driver::StreamId stream_;
  driver::DeviceMemory memory_, allocated_;
  driver::Ticket ticket_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string call = argv[1];
  const auto times = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  auto machine = take(testkit::Machine::create("910b2", {"host.instructions=free"},
                                               [](const Error& error) { fail(error); }));
  std::uint64_t sum = 0;
  {
    auto device = take(driver::Device::open_index(machine->platform(), 0));
    Calls calls(*device, machine->platform());
    sum = calls.run(call, times);
    if (auto ok = device->shutdown(); !ok) fail(ok.error());
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
  return 0;
}
