// SPDX-License-Identifier: Apache-2.0
#include "model/config/key_table.hpp"

#include "model/config/command_config.hpp"

namespace npu::model {

using keys::number;

const Table& command_table() {
  using C = CommandConfig;
  static const Table kTable{
      "",
      "command processor: compute queues",
      {
          number("slots", &C::slots, 0, 256,
                 "queues that are loaded at one time; 0: no command processor"),
          number("doorbell_pages", &C::doorbell_pages, 1, 1024, "processes that may have one"),
          number("fetch_depth", &C::fetch_depth, 1, 64, "most entries of one fetch"),
          number("window", &C::window, 1, 256, "entries of a queue in flight at one time"),
          number("quantum_us", &C::quantum, 1, 10'000'000,
                 "time in a slot while others of equal priority wait, if the queue sets none"),
          number("doorbell_decode_ns", &C::doorbell_decode, 0, 100'000,
                 "doorbell until slot or scheduler looks at it"),
          number("decode_ns", &C::decode, 0, 100'000, "of an entry, one after another in a slot"),
          number("completion_processing_ns", &C::completion_processing, 0, 100'000,
                 "work done to completion entry and MSI-X sent"),
          number("management_ns", &C::management, 0, 1'000'000, "decoding of a management command"),
          number("drain_timeout_us", &C::drain_timeout, 1, 10'000'000,
                 "longest wait of a management command for what runs of a queue"),
      }};
  return kTable;
}

const Table& core_table() {
  using C = CoreConfig;
  static const Table kTable{
      "",
      "cores of one kind, all alike",
      {
          number("clock_mhz", &C::clock_hz, 1, 10'000, "core clock"),
          number("dispatch_ns", &C::dispatch, 0, 100'000, "command processor to core, per block"),
          number("init_ns", &C::init, 0, 100'000, "of the core's hardware, per block"),
          number("software_init_ns", &C::software_init, 0, 1'000'000,
                 "of the program before it begins, per block; the read of its begin is part of it"),
          number("report_ns", &C::report, 0, 100'000,
                 "last access of a block until the command processor knows"),
      }};
  return kTable;
}

}  // namespace npu::model
