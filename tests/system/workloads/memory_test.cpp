// SPDX-License-Identifier: Apache-2.0
// Virtual device memory on the simulated card: compaction, TLB reach, address spaces.
#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using MemoryPrograms = WorkloadOnSimulator;

const std::vector<std::string> kSmallCard = {"hbm.usable_mib=1024", "hbm.installed_mib=2048"};

TEST_F(MemoryPrograms, ChurnAtHighOccupancyKeepsContentsThroughCompactions) {
  run("compaction", {"case=random", "rounds=300", "max_size=64MiB"}, kSmallCard);
  EXPECT_GT(digits("compaction.random.runs"), 5);
  EXPECT_EQ(digits("compaction.random.failures"), 0);
  EXPECT_EQ(digits("compaction.random.refused"), 0);
  EXPECT_GT(digits("compaction.random.peak_used_bytes"), 900'000'000);
}

TEST_F(MemoryPrograms, TheTlbReachesItsEntriesTimesThePage) {
  // 512 entries of 2 MiB: 256 MiB fit; of 2 GiB, in order, nothing is there when it is asked again.
  run("tlb_sweep",
      {"pages=huge", "footprints=256MiB,2GiB", "strides=2MiB", "accesses=512", "warm_up=1024"});
  EXPECT_EQ(value("tlb_sweep.huge.256MiB.stride2MiB.misses_per_access"), 0);
  EXPECT_EQ(value("tlb_sweep.huge.2GiB.stride2MiB.misses_per_access"), 1);
  // The walk of a miss reads one entry at least: a row hit takes more than CL, 14 ns.
  EXPECT_GT(value("tlb_sweep.huge.2GiB.stride2MiB.data_ns"),
            value("tlb_sweep.huge.256MiB.stride2MiB.data_ns") + 14);
}

TEST_F(MemoryPrograms, GiantPagesReachFurther) {
  run("tlb_sweep",
      {"footprints=4GiB", "strides=2MiB", "accesses=512", "warm_up=2048", "pages=huge,giant"});
  EXPECT_EQ(value("tlb_sweep.giant.4GiB.stride2MiB.misses_per_access"), 0);
  EXPECT_EQ(value("tlb_sweep.huge.4GiB.stride2MiB.misses_per_access"), 1);
}

TEST_F(MemoryPrograms, MappingsCostByTheNumberOfEntries) {
  run("vmm_map", {"sizes=2MiB,512MiB,1GiB"});
  // 256 entries of 8 bytes against one; 1 GiB is one giant page.
  EXPECT_GT(value("vmm_map.512MiB.map_us"), 4 * value("vmm_map.1GiB.map_us"));
  EXPECT_EQ(digits("vmm_map.spaces"), 4);
  EXPECT_EQ(digits("vmm_map.faults_named"), 2);
}

}  // namespace
}  // namespace npu::workloads
