// SPDX-License-Identifier: Apache-2.0
// Configuration of the AI Cores as they run programs (platform/aicore_port.hpp). Their clock and
// the costs of a launched block are those of the section `aicore` (command_config.hpp).
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

enum class ProgramCoreKind {
  kCoupled,  // cube and vector unit in one core
  kSplit,    // clusters of one cube core (AIC) and two vector cores (AIV)
};

// One way of data between global memory and a core, as one pipe's instructions use it.
struct CopyPathConfig {
  Bytes per_clock;          // sustained
  unsigned issue_clocks;    // of an instruction, before its first request
  unsigned latency_clocks;  // last data until the instruction has ended, beside the memory's
  unsigned block_clocks;    // each discontiguous row of an instruction, off 32 B
  // Of the rate, with rows of 256 B, or a copy of as few in all; once more for each further
  // halving.
  unsigned half_row_percent;
  unsigned unaligned_percent;  // of the rate, with rows that do not begin at 512 B
};

// What a vector instruction costs: part of a clock per repeat, and clocks beside it into an empty
// pipe.
struct VectorCost {
  unsigned percent;
  unsigned clocks;
};

// A vector unit that computes in registers: functions of several operations. Of its operations
// VectorCost::percent is of a clock of one execution port per register, `clocks` the latency.
struct VectorFunctionConfig {
  unsigned ports;             // execution ports; 0: the unit has no functions
  unsigned load_ports;        // registers loaded in a clock at most
  unsigned store_ports;       // registers stored in a clock at most
  unsigned accesses_percent;  // of a register's bytes in a clock, loaded and stored, by UB's banks
  unsigned mask_percent;      // of a clock of one port, in each iteration, for its mask
  unsigned load_clocks;       // latency
  unsigned start_clocks;      // of a function, before its first operation
  unsigned drain_clocks;      // behind its last one
};

struct VectorConfig {
  Bytes repeat;             // bytes handled per repeat; of a register
  unsigned exposed_clocks;  // in place of `clocks` when the pipe has not run empty
  unsigned tail_clocks;     // a row's last repeat that is not a whole one
  unsigned row_clocks;      // each row of a reduction
  VectorCost add, mul, max, div, exp, exp_precise, ln, sqrt, rsqrt, scalar, unary, reciprocal,
      duplicate, copy, cast, cast_integer, reduce, bitwise, compare, select, int64;
  VectorFunctionConfig function;
  VectorCost transpose;               // per block of 32 B in place of a repeat
  unsigned transpose_ragged_percent;  // of its time, with rows that are no multiple of 32 B
};

// From L0C or UB to another local buffer; per_clock 0: the core has no such way.
struct LocalPathConfig {
  Bytes per_clock;
  unsigned issue_clocks;  // of an instruction, beside its bytes
};

struct CubeConfig {
  unsigned fp16_macs;  // per clock; bf16 alike
  unsigned int8_macs;
  unsigned fp32_macs;    // 0: not native
  unsigned fill_clocks;  // into an empty pipe
};

// What platform::SetUp costs beside instructions and loads of the kernel's own.
struct SetUpConfig {
  Picoseconds arguments, constant, run_time;  // by platform::Tiling
  Picoseconds vector_pipe, cube_pipe;         // of a core of that kind; a coupled one is a cube's
  Picoseconds mixed;
  unsigned pipe_reads;  // of a pipe, one behind the other: lines that the core does not hold
  Picoseconds turn;  // of each core that reads the same lines at one time: they have them in turns
};

// Whether programs are watched for accesses that nothing orders (aicore/hazards).
enum class HazardMode : std::uint8_t {
  kOff,
  kReport,  // found ones are in the report
  kFail,    // and the run fails
};

struct ProgramCoreConfig {
  ProgramCoreKind type;
  bool functional;  // bytes of local buffers exist and are computed with
  HazardMode hazards;
  std::uint64_t counter_hz;  // system counter, shared with the AICPUs
  Bytes l1, l0a, l0b, l0c, ub;
  Bytes instruction_cache;           // least recently used lines out
  Bytes instruction_line;            // of it
  unsigned instruction_fetch_lines;  // read at a time, the one that is missed first
  unsigned instruction_ahead_lines;  // asked for behind them, while the program goes on
  Bytes instruction_bytes;           // of an instruction
  unsigned queue_depth;              // instructions and flags that a pipe holds
  Bytes segment;                     // most of one request
  Bytes outstanding;                 // of one pipe: bytes requested and not answered
  unsigned
      scalar_ipc_percent;  // instructions of its own that the scalar unit executes in 100 clocks
  unsigned issue_clocks;   // scalar unit: instruction, flag or barrier handed to a pipe
  SetUpConfig set_up;
  unsigned flag_clocks;         // from pipe to pipe
  unsigned scalar_flag_clocks;  // between the scalar unit and a pipe
  Picoseconds cross_flag;       // from core to core
  Bytes l0a_per_clock, l0b_per_clock;
  unsigned l0_fill_clocks;      // of MTE1, into an empty pipe
  unsigned transposed_percent;  // elements that MTE2 transposes in 100 clocks; 0: it does not
  CopyPathConfig gm_to_l1, gm_to_ub, ub_to_gm, l0c_to_gm;
  LocalPathConfig l0c_to_l1, l0c_to_ub, ub_to_l1;
  bool fixpipe_bf16;  // FixPipe makes bf16 of scaled int32
  CubeConfig cube;
  VectorConfig vector;
  unsigned cache_lines;  // data cache of the scalar unit
  unsigned cache_ways;
  unsigned cache_hit_clocks;
  unsigned miss_clocks;        // of a miss, the core's own part; the memory's comes on top
  unsigned write_back_clocks;  // of a line that leaves, the core's own part
  unsigned dcci_clocks;
  unsigned ub_clocks;        // load or store of an element of UB
  unsigned register_clocks;  // read of DATA_MAIN_BASE or the system counter
  Picoseconds set_cond;      // the instruction
  Picoseconds cond_visible;  // after it, until the register window shows the value
};

}  // namespace npu::model
