// SPDX-License-Identifier: Apache-2.0
// Cores whose times are round, so that sums can be told apart.
#pragma once

#include "model/config/chip_config.hpp"

namespace npu::test {

inline void give_data_cache(model::ProgramCoreConfig& core) {
  core.cache_lines = 16;
  core.cache_ways = 2;
  core.cache_hit_clocks = 2;
  core.miss_clocks = 0;
  core.write_back_clocks = 0;
  core.dcci_clocks = 3;
}

inline model::ProgramCoreConfig core_config(model::ProgramCoreKind kind) {
  model::ProgramCoreConfig core{};
  core.type = kind;
  core.functional = true;
  core.counter_hz = 1'000'000'000;
  core.l1 = 512_KiB;
  core.l0a = core.l0b = 64_KiB;
  core.l0c = 128_KiB;
  core.ub = 192_KiB;
  core.instruction_cache = 1_MiB;
  core.instruction_line = 4096;
  core.instruction_fetch_lines = 1;
  core.instruction_ahead_lines = 0;
  core.instruction_bytes = 1;  // what a test calls is in the first line, which a launch reads
  core.set_up = {100_ns, 300_ns, 400_ns, 500_ns, 700_ns, 1000_ns, 0, 10_ns};
  core.queue_depth = 4;
  core.segment = 4096;
  core.outstanding = 64_KiB;
  core.issue_clocks = 1;
  core.flag_clocks = 0;
  core.scalar_flag_clocks = 90;
  core.cross_flag = 50_ns;
  core.l0a_per_clock = 256;
  core.l0b_per_clock = 128;
  core.gm_to_l1 = {128, 10, 0, 0, 50, 100};
  core.gm_to_ub = {64, 10, 0, 30, 50, 100};
  core.ub_to_gm = {128, 10, 0, 30, 50, 100};
  core.l0c_to_gm = {32, 10, 0, 0, 50, 100};
  core.cube = {4096, 8192, 1024, 6};
  core.vector.repeat = 256;
  core.vector.exposed_clocks = 16;
  core.vector.tail_clocks = 16;
  core.vector.row_clocks = 10;
  model::VectorConfig& v = core.vector;
  for (auto* const cost : {&v.add, &v.sqrt, &v.unary, &v.duplicate, &v.copy, &v.cast, &v.reduce,
                           &v.reciprocal, &v.scalar, &v.rsqrt, &v.ln}) {
    *cost = {100, 20};
  }
  v.add = {211, 24};
  v.mul = {230, 25};
  v.max = {201, 23};
  v.div = {403, 31};
  v.exp = {200, 31};
  v.exp_precise = {1600, 31};
  v.cast_integer = {220, 24};
  v.bitwise = {203, 20};
  v.compare = v.select = {201, 23};
  v.int64 = {12'050, 24};
  v.transpose = {570, 24};
  v.transpose_ragged_percent = 150;
  core.l0c_to_l1 = {74, 12};
  core.l0c_to_ub = {128, 12};
  core.ub_to_l1 = {64, 14};
  core.fixpipe_bf16 = kind == model::ProgramCoreKind::kSplit;
  give_data_cache(core);
  core.ub_clocks = 4;
  core.register_clocks = 5;
  core.set_cond = 7_ns;
  core.cond_visible = 130_ns;
  return core;
}

// A vector unit that computes in registers, with the figures of the 950 (950.md N3, N5, N8).
inline void give_functions(model::ProgramCoreConfig& core) {
  model::VectorConfig& v = core.vector;
  v.function = {2, 2, 1, 162, 100, 9, 23, 12};
  v.row_clocks = 4;
  core.transposed_percent = 145;
  for (auto* const cost : {&v.add, &v.unary, &v.duplicate, &v.copy, &v.cast, &v.cast_integer,
                           &v.bitwise, &v.compare, &v.select}) {
    *cost = {100, 7};
  }
  for (auto* const cost : {&v.div, &v.exp, &v.exp_precise, &v.ln, &v.sqrt, &v.reciprocal}) {
    *cost = {400, 19};
  }
  v.mul = v.scalar = {100, 8};
  v.max = {100, 6};
  v.rsqrt = {800, 38};
  v.reduce = {100, 22};
  v.int64 = {350, 30};
}

}  // namespace npu::test
