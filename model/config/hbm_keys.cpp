// SPDX-License-Identifier: Apache-2.0
// The keys of a chip's memory and of a DRAM timing file (configs/hbm).
#include "model/config/key_table.hpp"

#include <fmt/format.h>

#include "model/config/link_rate.hpp"

namespace npu::model {
namespace {

using keys::number;

std::vector<Key> organisation_keys() {
  using T = HbmTimings;
  return {
      keys::make("name", KeyType::kName, &T::name, "DRAM standard and speed"),
      number("clock_mhz", &T::clock_hz, 1, 10'000, "command clock"),
      number("pseudo_channels", &T::pseudo_channels, 1, 2, "per channel"),
      number("stacks", &T::stacks, 1, 16, "stack ids per pseudo channel").in_powers_of_two(),
      number("bank_groups", &T::bank_groups, 1, 16, "per stack id").in_powers_of_two(),
      number("banks_per_group", &T::banks_per_group, 1, 8, "banks").in_powers_of_two(),
      number("burst_bytes", &T::burst, 8, 256, "data of one RD or WR").in_powers_of_two(),
      number("burst_clocks", &T::burst_clocks, 1, 16, "a burst on its data bus, BL/2"),
      number("row_bytes", &T::row, 256, 16'384, "page per pseudo channel").in_powers_of_two(),
  };
}

}  // namespace

const Table& timings_table() {
  static const Table kTable = [] {
    Table table;
    table.schema = "npusim.hbm/1";
    table.doc = "organisation and timings of the DRAM, a file in configs/hbm";
    table.keys = organisation_keys();
    for (const auto& row : kHbmTimings) {
      table.keys.push_back(number(row.key, row.clocks, row.least, row.most, row.doc));
    }
    return table;
  }();
  return kTable;
}

const Table& hbm_table() {
  using H = HbmConfig;
  static const Table kTable{
      "",
      "device memory and its controllers",
      {
          number("usable_mib", &H::usable, 2, 1 << 24, "register HBM_SIZE; a multiple of 2 MiB"),
          number("installed_mib", &H::installed, 2, 1 << 24,
                 "usable plus what is reserved for the card"),
          number("channels", &H::channels, 1, 256, "over all stacks").in_powers_of_two(),
          keys::choice("fidelity", &H::fidelity, {"exact", "run"},
                       "every command of the DRAM, or every burst in closed form: quicker, times "
                       "within the errors of docs/accuracy/fidelity.csv"),
          keys::choice("policy", &H::policy, {"split_queues", "shared_queue"},
                       "reads and writes in queues of their own, or in one"),
          number("read_queue", &H::read_queue, 1, 128, "entries per channel"),
          number("write_queue", &H::write_queue, 1, 128, "entries per channel, split queues only"),
          number("write_high_percent", &H::write_high_percent, 1, 100,
                 "fill of write_queue at which writes are drained"),
          number("write_low_percent", &H::write_low_percent, 0, 99,
                 "fill of write_queue at which reads go on"),
          number("interleave_bytes", &H::interleave, 8, 1 << 20,
                 "consecutive bytes of one pseudo channel: a burst or more")
              .in_powers_of_two(),
          number("interleave_groups", &H::interleave_groups, 1, 8,
                 "bank groups that the bursts of one interleave take in turn, a row in each")
              .in_powers_of_two(),
          keys::make("xor_hash", KeyType::kFlag, &H::xor_hash,
                     "fold row bits into channel, pseudo channel and bank bits"),
          number("frontend_ns", &H::frontend, 0, 10'000, "port to controller queue, each request"),
          number("backend_ns", &H::backend, 0, 10'000, "data bus to port, each read"),
          keys::section("timings", &H::timings, timings_table(), KeyType::kFile),
      },
      [](const void* hbm) {
        const auto rate = hbm_bytes_per_second(*static_cast<const HbmConfig*>(hbm));
        return fmt::format("peak {}.{} GB/s, shared by reads and writes", rate / 1'000'000'000,
                           rate / 100'000'000 % 10);
      }};
  return kTable;
}

}  // namespace npu::model
