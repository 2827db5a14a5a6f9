// SPDX-License-Identifier: Apache-2.0
#include "model/config/key_table.hpp"

namespace npu::model {

using keys::number;

const Table& aicpu_program_table() {
  using A = AicpuProgramConfig;
  static const Table kTable{
      "",
      "programs on the AICPU cores",
      {
          number("counter_mhz", &A::counter_hz, 1, 10'000,
                 "system counter, shared with the AI Cores"),
          number("ipc_percent", &A::ipc_percent, 1, 1600, "instructions per clock"),
          number("l1_kib", &A::l1, 1, 4096, "data cache of each core, lines of 64 bytes")
              .in_powers_of_two(),
          number("l1_ways", &A::l1_ways, 1, 64, "associativity").in_powers_of_two(),
          number("l1_hit_ns", &A::l1_hit, 0, 1000, "a load that hits the line of the last load"),
          number("l1_other_line_ns", &A::l1_other_line, 0, 1000,
                 "a load that hits another line; not less than l1_hit_ns"),
          number("invalidate_ns", &A::invalidate, 0, 10'000, "a line dropped by the program"),
          keys::make("snoops_dma", KeyType::kFlag, &A::snoops_dma,
                     "DMA writes drop cached lines, as AI Cores' writes do"),
          number("snoop_ns", &A::snoop, 0, 100'000,
                 "an AI Core's write in memory until caches have dropped the line"),
          number("store_ns", &A::store, 0, 10'000, "a store, for the core"),
          number("store_done_ns", &A::store_done, 0, 100'000,
                 "a store until it is in memory: others see it, and a barrier ends"),
          number("store_buffer", &A::store_buffer, 1, 1024, "stores that are not in memory yet"),
          number("atomic_ns", &A::atomic, 0, 100'000, "a read-modify-write"),
          number("register_store_ns", &A::register_store, 0, 10'000,
                 "a store to an AI Core's register, for the core"),
          number("register_store_done_ns", &A::register_store_done, 0, 100'000,
                 "until the store is off the core's list"),
          number("register_stores", &A::register_stores, 1, 1024, "entries of that list"),
          number("register_visible_ns", &A::register_visible, 0, 100'000,
                 "until the AI Core sees the store"),
          number("register_load_ns", &A::register_load, 0, 100'000,
                 "a load of an AI Core's register, there and back"),
          number("fetch_bytes", &A::fetch, 64, 65'536, "a read of a program's image")
              .in_powers_of_two(),
      }};
  return kTable;
}

}  // namespace npu::model
