// SPDX-License-Identifier: Apache-2.0
// What a driver test of another project looks like: the installed driver on the installed
// simulator, and on VFIO, where the lack of a device must be a clear error.
#include <cstdint>
#include <iostream>
#include <string>

#include "npu/driver/device.hpp"
#include "npu/driver/vfio.hpp"
#include "npu/sim/simulator.hpp"

namespace {

bool vfio_says_what_is_missing() {
  npu::driver::VfioOptions options;
  options.vfio_path = "/nonexistent/vfio";
  const auto platform = npu::driver::open_vfio(options);
  if (platform) return false;
  std::cout << platform.error().message() << "\n";
  return platform.error().code == npu::ErrorCode::kUnsupported &&
         platform.error().context.find("/nonexistent/vfio") != std::string::npos;
}

// A word to the card and back.
npu::Status round_trip(npu::platform::Platform& platform, std::uint32_t& came_back) {
  using namespace npu::literals;
  auto device = npu::driver::Device::open_index(platform, 0);
  if (!device) return npu::forward_error(device);
  const auto memory = (*device)->allocate(2_MiB);
  if (!memory) return npu::forward_error(memory);
  const auto stream = (*device)->create_stream();
  if (!stream) return npu::forward_error(stream);
  const auto host = (*device)->allocate_host(4_KiB);
  if (!host) return npu::forward_error(host);
  (*host)->store<std::uint32_t>(0, 0x600DCAFE);
  const auto copy = [&](const npu::driver::DmaCommand& command) {
    return (*device)->copy(*stream, command, npu::driver::WaitPolicy::kInterrupt,
                           platform.clock().now() + 1_s);
  };
  using npu::driver::DmaCommand;
  auto there = copy(DmaCommand::host_to_device((*host)->bus(), memory->address, 64));
  if (!there) return there;
  auto back = copy(DmaCommand::device_to_host(memory->address, (*host)->bus() + 64, 64));
  if (!back) return back;
  came_back = (*host)->load<std::uint32_t>(64);
  return (*device)->shutdown();
}

}  // namespace

int main() {
  if (!vfio_says_what_is_missing()) return 1;
  auto simulator = npu::sim::Simulator::create("910b");
  if (!simulator) {
    std::cout << simulator.error().message() << "\n";
    return 1;
  }
  std::uint32_t came_back = 0;
  npu::Status result;
  const auto ran = (*simulator)->run([&](npu::platform::Platform& platform) {
    result = round_trip(platform, came_back);
  });
  if (!ran || !result) {
    std::cout << (ran ? result : ran).error().message() << "\n";
    return 1;
  }
  std::cout << "0x" << std::hex << came_back << std::dec << " came back after "
            << (*simulator)->now().us() << " us of simulated time\n";
  return came_back == 0x600DCAFE ? 0 : 1;
}
