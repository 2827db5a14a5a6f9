// SPDX-License-Identifier: Apache-2.0
// The parameter sets of the reference measurements (shared data, README: clocks of 1 ns), typed in
// here independently of configs/hbm.
#pragma once

#include "model/config/chip_config.hpp"

namespace npu::model::test {

inline HbmTimings ramulator_timings() {
  HbmTimings t{};
  t.name = "HBM2 (Ramulator)";
  t.clock_hz = 1'000'000'000;
  t.pseudo_channels = 2;
  t.stacks = 1;
  t.bank_groups = t.banks_per_group = 4;
  t.burst = 32;
  t.burst_clocks = 2;
  t.row = 1024;
  t.trcd_rd = 14, t.trcd_wr = 12, t.trp = 14, t.tras = 34, t.trc = 48, t.cl = 14, t.cwl = 5;
  t.tdqsck = 0;
  t.tccd_s = 2, t.tccd_l = 4, t.tccd_r = 0;
  t.trrd_s = 4, t.trrd_l = 4, t.tfaw = 15, t.twr = 16, t.twtr_s = 6, t.twtr_l = 8, t.trtp = 5;
  t.trtw = 13;
  t.trfc = 350, t.trefi = 3900;
  t.trfc_pb = t.trefi_pb = t.trrefd = 0;
  t.act_clocks = 2;
  return t;
}

inline HbmTimings dramsys_timings() {
  HbmTimings t = ramulator_timings();
  t.name = "HBM2 (DRAMSys)";
  t.stacks = 2;
  t.trcd_rd = 12, t.trcd_wr = 6, t.tras = 28, t.trc = 42, t.cl = 17, t.cwl = 7, t.tdqsck = 1;
  t.tccd_l = 3, t.tccd_r = 2;
  t.trrd_l = 6, t.tfaw = 16, t.twr = 14, t.twtr_s = 4, t.twtr_l = 9, t.trtw = 18;
  t.trfc = 220;
  return t;
}

inline HbmTimings dramsim3_timings() {
  HbmTimings t = ramulator_timings();
  t.name = "HBM2 (DRAMsim3)";
  t.pseudo_channels = 1;
  t.burst = 64;
  t.row = 2048;
  t.trcd_wr = 14, t.cwl = 4, t.tccd_l = 2, t.trrd_l = 6, t.tfaw = 30;
  t.trtw = 14;  // CL + BL/2 + 2 - CWL
  t.trfc = 260;
  t.act_clocks = 1;
  return t;
}

// With per-bank refresh.
inline HbmTimings with_bank_refresh(HbmTimings t) {
  t.trfc_pb = 160, t.trefi_pb = 122, t.trrefd = 8;
  return t;
}

// 2.4 Gb/s pins, as configs/hbm/hbm2e_2400.yaml.
inline HbmTimings hbm2e_2400_timings() {
  HbmTimings t = ramulator_timings();
  t.name = "HBM2E 2.4 Gb/s";
  t.clock_hz = 1'200'000'000;
  t.stacks = 2;
  t.trcd_rd = 17, t.trcd_wr = 12, t.trp = 17, t.tras = 40, t.trc = 57, t.cl = 17, t.cwl = 7;
  t.tccd_r = 3;
  t.trrd_s = 4, t.trrd_l = 5, t.tfaw = 18, t.twr = 19, t.twtr_s = 4, t.twtr_l = 9, t.trtp = 5;
  t.trtw = 14;
  t.trfc = 420, t.trefi = 4680;
  t.trfc_pb = 192, t.trefi_pb = 146, t.trrefd = 10;
  return t;
}

// The source documents' card: 32 channels, 1.2288 TB/s.
inline HbmConfig card_config() {
  HbmConfig config{};
  config.usable = Bytes{56} << 30;
  config.installed = Bytes{64} << 30;
  config.channels = 32;
  config.timings = hbm2e_2400_timings();
  config.policy = HbmPolicy::kSplitQueues;
  config.read_queue = config.write_queue = 128;
  config.write_high_percent = 80;
  config.write_low_percent = 0;
  config.xor_hash = true;
  config.frontend = Picoseconds(20'000);
  config.backend = Picoseconds(20'000);
  return config;
}

// Eight channels, 64 entries for reads and 64 for writes.
inline HbmConfig split_config(const HbmTimings& timings) {
  HbmConfig config{};
  config.usable = config.installed = Bytes{4} << 30;
  config.channels = 8;
  config.timings = timings;
  config.policy = HbmPolicy::kSplitQueues;
  config.read_queue = config.write_queue = 64;
  config.write_high_percent = 80;
  config.write_low_percent = 20;
  config.xor_hash = false;
  return config;
}

// Eight channels, 64 entries for both kinds.
inline HbmConfig shared_config(const HbmTimings& timings) {
  HbmConfig config = split_config(timings);
  config.policy = HbmPolicy::kSharedQueue;
  config.write_queue = config.write_high_percent = config.write_low_percent = 0;
  return config;
}

}  // namespace npu::model::test
