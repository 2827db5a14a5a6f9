// SPDX-License-Identifier: Apache-2.0
// A machine with one card whose physical function's driver divides it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "model/config/load.hpp"
#include "model/system.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/virtual_functions.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {

template <class T>
T must_have(Result<T> result) {
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().message();
  std::abort();
}

inline model::SystemConfig machine_of(const std::string& chip) {
  auto system = model::load_system(source_dir() + "/configs/" + chip + ".yaml", {}, {});
  if (!system) std::abort();
  return *system;
}

// The physical function's side.
struct Owner {
  Owner(platform::Platform& machine, model::System& system)
      : host(machine),
        bdf(platform::Bdf::unpack(system.fabric().endpoint(0).requester())),
        device(must_have(driver::Device::open(machine, bdf))),
        functions(must_have(driver::VirtualFunctions::open(*device))) {}

  driver::VirtualDevice create(const std::string& name) {
    driver::VirtualDeviceOptions options;
    options.name = name;
    return must_have(functions->create(options));
  }

  platform::Platform& host;
  const platform::Bdf bdf;
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::VirtualFunctions> functions;
};

struct DividedCard {
  explicit DividedCard(const std::string& chip = "910b2") : system(machine_of(chip)) {}

  template <class F>
  void run(F body) {
    bool ended = false;
    const Status status = system.run([&](platform::Platform& host) {
      Owner owner(host, system);
      body(owner);
      ended = true;
    });
    EXPECT_TRUE(status) << status.error().message();
    EXPECT_TRUE(ended);
  }

  model::System system;
};

// A process on a function.
struct Tenant {
  static constexpr Bytes kBytes = 256_KiB;

  Tenant(platform::Platform& machine, platform::Bdf bdf)
      : host(machine),
        device(must_have(driver::Device::open(machine, bdf))),
        process(must_have(driver::ProcessContext::open(*device))),
        queue(must_have(process->create_queue())),
        memory(must_have(process->space().allocate(kBytes)).address),
        buffer(must_have(process->allocate_host(kBytes))) {}

  Status execute(const abi::QueueEntry& entry) {
    const auto deadline = host.clock().now() + 1_s;
    const auto ticket = queue->submit(entry, deadline);
    if (!ticket) return forward_error(ticket);
    return queue->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline);
  }
  Status fill(std::uint32_t pattern) {
    return execute(driver::entries::fill(memory, kBytes, pattern));
  }
  // Whether all its memory has this word.
  bool holds(std::uint32_t pattern) {
    EXPECT_TRUE(execute(driver::entries::copy_to_host(memory, buffer->bus(), kBytes)));
    for (Bytes at = 0; at < kBytes; at += 4) {
      if (buffer->load<std::uint32_t>(at) != pattern) return false;
    }
    return true;
  }

  platform::Platform& host;
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::ProcessContext> process;
  std::unique_ptr<driver::Queue> queue;
  driver::DeviceAddress memory;
  std::unique_ptr<platform::DmaMemory> buffer;
};

}  // namespace npu::test
