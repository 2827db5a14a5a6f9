// SPDX-License-Identifier: Apache-2.0
// Three tasks of the kernel beside this file, on the simulator: y = 2 x + y and z = 3 x + z side by
// side, then y = -1 z + y.
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "npu/driver/device_context.hpp"
#include "npu/sim/simulator.hpp"

namespace {

using namespace npu::driver;
using npu::Result;
using npu::Status;

constexpr KernelId kSaxpy{0};
constexpr std::size_t kCount = 100'000;

// The firmware and the kernel are shared objects for the card's cores; to the host they are bytes.
std::vector<std::byte> read_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) std::cerr << path << " cannot be read\n";
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> program(bytes.size());
  if (!bytes.empty()) std::memcpy(program.data(), bytes.data(), bytes.size());
  return program;
}

npu::ConstByteSpan span(const std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

Result<DeviceAddress> make_tensor(DeviceContext& context, float value) {
  const std::vector<float> values(kCount, value);
  auto tensor = context.allocate(kCount * sizeof(float));
  if (!tensor) return tensor;
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  if (auto ok = context.copy_to_device(*tensor, {bytes, kCount * sizeof(float)}); !ok) {
    return npu::forward_error(ok);
  }
  return tensor;
}

Status add_saxpy(TaskGraph& graph, DeviceAddress y, float a, DeviceAddress x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &a, sizeof bits);
  constexpr npu::Bytes kSize = kCount * sizeof(float);
  TaskOptions options;
  options.blocks = 8;
  auto task = graph.add(kSaxpy, TaskShape::kAiv,
                        {in_out(y, kSize), input(x, kSize), scalar(kCount), scalar(bits)}, options);
  if (!task) return npu::forward_error(task);
  return {};
}

// The first element of a copy that the card has made.
float first_of(const TensorCopy& copy) {
  float value = 0;
  if (copy.taken) std::memcpy(&value, copy.bytes.data(), sizeof value);
  return value;
}

void print(const RunReport& report) {
  for (const auto& copy : report.tensors) {
    const bool before = copy.stage == npu::abi::DumpStage::kBeforeDispatch;
    std::cout << "task " << copy.task.value << ", argument " << copy.argument
              << (before ? ", before: " : ", after: ") << first_of(copy) << "\n";
  }
  std::cout << report.result.completed << " tasks, " << (report.ended - report.launched).us()
            << " us from launch to end\n";
}

Status run(npu::platform::Platform& platform, const std::string& programs, bool& right) {
  auto context = DeviceContext::create(platform);
  if (!context) return npu::forward_error(context);
  auto& card = **context;
  if (auto ok = card.set_device(0); !ok) return ok;
  const auto scheduler = read_program(programs + "/scheduler.npu");
  const auto executor = read_program(programs + "/executor.npu");
  if (auto ok = card.set_firmware(span(scheduler), span(executor)); !ok) return ok;
  if (auto ok = card.register_kernel(kSaxpy, span(read_program("saxpy.npu"))); !ok) return ok;

  const auto x = make_tensor(card, 1), y = make_tensor(card, 10), z = make_tensor(card, 4);
  for (const auto* tensor : {&x, &y, &z}) {
    if (!*tensor) return npu::forward_error(*tensor);
  }
  TaskGraph graph;
  if (auto ok = add_saxpy(graph, *y, 2, *x); !ok) return ok;
  if (auto ok = add_saxpy(graph, *z, 3, *x); !ok) return ok;
  if (auto ok = add_saxpy(graph, *y, -1, *z); !ok) return ok;  // waits for both

  RunOptions options;
  options.dump_tensors = true;
  auto report = card.run(graph, options);
  if (!report) return npu::forward_error(report);
  print(*report);

  std::vector<float> result(kCount);
  auto* bytes = reinterpret_cast<std::byte*>(result.data());
  if (auto ok = card.copy_from_device({bytes, kCount * sizeof(float)}, *y); !ok) return ok;
  right = graph.edges() == 2 && result == std::vector<float>(kCount, (2 + 10) - (3 + 4));
  return card.finalize();
}

}  // namespace

// saxpy CONFIG PROGRAMS: a card's configuration, and the folder with the firmware.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto simulator = npu::sim::Simulator::create(argv[1]);
  Status status = simulator ? Status{} : Status(npu::forward_error(simulator));
  bool right = false;
  if (status) {
    const auto ran = (*simulator)->run([&](npu::platform::Platform& platform) {
      status = run(platform, argv[2], right);
    });
    if (!ran) status = ran;
  }
  if (!status) std::cout << status.error().message() << "\n";
  std::cout << (status && right ? "right\n" : "wrong\n");
  return status && right ? 0 : 1;
}
