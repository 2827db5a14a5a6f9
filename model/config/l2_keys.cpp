// SPDX-License-Identifier: Apache-2.0
#include "model/config/key_table.hpp"

#include <fmt/format.h>

#include "model/config/l2_config.hpp"

namespace npu::model {

using keys::number;

const Table& l2_table() {
  using L = L2Config;
  static const Table kTable{
      "",
      "cache that the programs of all cores share",
      {
          number("size_mib", &L::size, 0, 4096, "over all slices; 0: no L2"),
          number("line_bytes", &L::line, 64, 4096, "line").in_powers_of_two(),
          number("ways", &L::ways, 1, 64, "associativity"),
          number("slices", &L::slices, 1, 256, "chosen by a hash of the line's address")
              .in_powers_of_two(),
          number("clock_mhz", &L::clock_hz, 1, 10'000, "of the slices"),
          number("slice_per_clock_bytes", &L::slice_per_clock, 0, 4096,
                 "of a slice, reads and writes together; 0: they take no time of it"),
          number("noc_ns", &L::noc, 0, 10'000, "core to slice; slice to core as much"),
          number("hit_ns", &L::hit, 0, 10'000, "a read in its slice, beside its bytes' clocks"),
          number("write_ns", &L::write, 0, 10'000,
                 "a write in its slice, beside its bytes' clocks"),
          number("fill_ns", &L::fill, 0, 10'000,
                 "slice to HBM port and back, beside the HBM's own time"),
          number("miss_buffers", &L::miss_buffers, 1, 1024, "lines on their way, per slice"),
          number("write_buffers", &L::write_buffers, 1, 1024,
                 "dirty lines on their way to the HBM, per slice"),
      },
      [](const void* object) {
        const auto& l2 = *static_cast<const L*>(object);
        if (l2.slice_per_clock == 0) return std::string("slices move bytes in no time");
        const auto rate = l2.slices * l2.slice_per_clock * l2.clock_hz;
        return fmt::format("peak {}.{} GB/s over all slices", rate / 1'000'000'000,
                           rate / 100'000'000 % 10);
      }};
  return kTable;
}

}  // namespace npu::model
