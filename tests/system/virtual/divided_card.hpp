// SPDX-License-Identifier: Apache-2.0
// A machine with one card whose physical function's driver divides it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "npu/driver/process.hpp"
#include "npu/driver/virtual_functions.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {

// The physical function's side.
struct Owner {
  Owner(platform::Platform& machine, platform::Bdf card)
      : host(machine),
        bdf(card),
        device(must(driver::Device::open(machine, bdf))),
        functions(must(driver::VirtualFunctions::open(*device))) {}

  driver::VirtualDevice create(const std::string& name) {
    driver::VirtualDeviceOptions options;
    options.name = name;
    return must(functions->create(options));
  }

  platform::Platform& host;
  const platform::Bdf bdf;
  std::unique_ptr<driver::Device> device;
  std::unique_ptr<driver::VirtualFunctions> functions;
};

class DividedCard : public Machine {
 public:
  explicit DividedCard(const std::string& chip = "910b2") : Machine({}, chip + ".yaml") {}

  template <class F>
  void run(F body) {
    Machine::run([&](platform::Platform& host) {
      Owner owner(host, card(0));
      body(owner);
    });
  }
};

// A process on a function.
struct Tenant {
  static constexpr Bytes kBytes = 256_KiB;

  Tenant(platform::Platform& machine, platform::Bdf bdf)
      : host(machine),
        device(must(driver::Device::open(machine, bdf))),
        process(must(driver::ProcessContext::open(*device))),
        queue(must(process->create_queue())),
        memory(must(process->space().allocate(kBytes)).address),
        buffer(must(process->allocate_host(kBytes))) {}

  Status execute(const abi::QueueEntry& entry) {
    const auto ticket = queue->submit(entry, host.clock().now() + 1_s);
    if (!ticket) return forward_error(ticket);
    return wait(*ticket);
  }
  driver::QueueTicket submit_fill(std::uint32_t pattern) {
    const auto entry = driver::entries::fill(memory, kBytes, pattern);
    return must(queue->submit(entry, host.clock().now() + 1_s));
  }
  Status wait(const driver::QueueTicket& ticket) {
    return queue->wait(ticket, driver::WaitPolicy::kInterrupt, host.clock().now() + 1_s);
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
