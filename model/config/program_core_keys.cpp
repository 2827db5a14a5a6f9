// SPDX-License-Identifier: Apache-2.0
// The keys of the section `core`: AI Cores as they run programs.
#include "model/config/key_table.hpp"
#include "model/config/program_core_config.hpp"

namespace npu::model {
namespace {

using keys::choice;
using keys::number;
using keys::section;

const Table& path_table() {
  using P = CopyPathConfig;
  static const Table kTable{
      "",
      "a way between global memory and a core",
      {
          number("per_clock_bytes", &P::per_clock, 1, 4096, "sustained"),
          number("issue_clocks", &P::issue_clocks, 0, 10'000,
                 "of an instruction, before its first request"),
          number("latency_clocks", &P::latency_clocks, 0, 10'000,
                 "last data until the instruction has ended, beside the memory's"),
          number("block_clocks", &P::block_clocks, 0, 10'000,
                 "each row of a copy whose rows do not follow one another and are off 32 B"),
          number("half_row_percent", &P::half_row_percent, 1, 100,
                 "of the rate, rows or copies of 256 B; again for each further halving"),
          number("unaligned_percent", &P::unaligned_percent, 1, 100,
                 "of the rate, rows or copies that do not begin at 512 B"),
      }};
  return kTable;
}

const Table& local_path_table() {
  using P = LocalPathConfig;
  static const Table kTable{
      "",
      "a way from one local buffer to another",
      {
          number("per_clock_bytes", &P::per_clock, 0, 4096, "sustained; 0: there is none"),
          number("issue_clocks", &P::issue_clocks, 0, 10'000, "of an instruction"),
      }};
  return kTable;
}

const Table& set_up_table() {
  using S = SetUpConfig;
  static const Table kTable{
      "",
      "what a kernel makes ready before it works (AicorePort::set_up), beside its own instructions "
      "and loads",
      {
          number("arguments_ns", &S::arguments, 0, 100'000, "sizes of tiles from arguments alone"),
          number("constant_ns", &S::constant, 0, 100'000, "sizes compiled in"),
          number("run_time_ns", &S::run_time, 0, 100'000,
                 "sizes from a structure made for the launch"),
          number("vector_pipe_ns", &S::vector_pipe, 0, 100'000,
                 "more, with queues and buffers as objects, on a vector core"),
          number("cube_pipe_ns", &S::cube_pipe, 0, 100'000, "the same on a cube or coupled core"),
          number("mixed_ns", &S::mixed, 0, 100'000, "more, of a kernel of cube and vector cores"),
          number(
              "pipe_reads", &S::pipe_reads, 0, 1000,
              "of queues and buffers as objects: reads of lines one behind the other, from the L2 "
              "or the HBM"),
          number(
              "turn_ns", &S::turn, 0, 100'000,
              "more, for each core that reads such a structure, or is beside it in a mixed block"),
      }};
  return kTable;
}

const Table& cube_table() {
  using C = CubeConfig;
  static const Table kTable{
      "",
      "the cube unit",
      {
          number("fp16_macs", &C::fp16_macs, 256, 65'536, "per clock; bf16 alike")
              .in_powers_of_two(),
          number("int8_macs", &C::int8_macs, 256, 65'536, "per clock").in_powers_of_two(),
          number("fp32_macs", &C::fp32_macs, 256, 65'536, "per clock").in_powers_of_two(),
          number("fill_clocks", &C::fill_clocks, 0, 1000, "of an mmad into an empty pipe"),
      }};
  return kTable;
}

const Table& cost_table() {
  using V = VectorCost;
  static const Table kTable{
      "",
      "cost of a vector instruction",
      {
          number("percent", &V::percent, 1, 100'000, "of a clock per repeat"),
          number("clocks", &V::clocks, 0, 10'000, "beside the repeats, into an empty pipe"),
      }};
  return kTable;
}

const Table& function_table() {
  using F = VectorFunctionConfig;
  static const Table kTable{
      "",
      "functions of a vector unit that computes in registers; there percent of an operation is of "
      "a "
      "clock of one port per register, and clocks its latency",
      {
          number("ports", &F::ports, 0, 16, "for execution; 0: the unit has no functions"),
          number("load_ports", &F::load_ports, 1, 16, "registers loaded in a clock at most"),
          number("store_ports", &F::store_ports, 1, 16, "registers stored in a clock at most"),
          number("accesses_percent", &F::accesses_percent, 1, 1600,
                 "of a register's bytes in a clock, loaded and stored, by the banks of UB"),
          number("mask_percent", &F::mask_percent, 0, 1000,
                 "of a clock of one port, in each iteration, for its mask"),
          number("load_clocks", &F::load_clocks, 0, 1000, "latency of a load"),
          number("start_clocks", &F::start_clocks, 0, 1000, "before a function's first operation"),
          number("drain_clocks", &F::drain_clocks, 0, 1000, "behind its last one"),
      }};
  return kTable;
}

std::vector<Key> cost_keys() {
  using V = VectorConfig;
  return {
      section("add", &V::add, cost_table()),
      section("mul", &V::mul, cost_table()),
      section("max", &V::max, cost_table()),
      section("div", &V::div, cost_table()),
      section("exp", &V::exp, cost_table()),
      section("exp_precise", &V::exp_precise, cost_table()),
      section("ln", &V::ln, cost_table()),
      section("sqrt", &V::sqrt, cost_table()),
      section("rsqrt", &V::rsqrt, cost_table()),
      section("scalar", &V::scalar, cost_table()),
      section("unary", &V::unary, cost_table()),
      section("reciprocal", &V::reciprocal, cost_table()),
      section("duplicate", &V::duplicate, cost_table()),
      section("copy", &V::copy, cost_table()),
      section("cast", &V::cast, cost_table()),
      section("cast_integer", &V::cast_integer, cost_table()),
      section("reduce", &V::reduce, cost_table()),
      section("bitwise", &V::bitwise, cost_table()),
      section("compare", &V::compare, cost_table()),
      section("select", &V::select, cost_table()),
      section("int64", &V::int64, cost_table()),
      section("transpose", &V::transpose, cost_table()),
  };
}

const Table& vector_table() {
  using V = VectorConfig;
  static const Table kTable = [] {
    Table table;
    table.doc = "the vector unit";
    table.keys = {
        number("repeat_bytes", &V::repeat, 32, 4096, "handled per repeat").in_powers_of_two(),
        number("exposed_clocks", &V::exposed_clocks, 0, 1000,
               "of an instruction right behind another, beside its repeats"),
        number("tail_clocks", &V::tail_clocks, 0, 1000,
               "a row's last repeat that is not a whole one"),
        number("row_clocks", &V::row_clocks, 0, 1000, "each row of a reduction"),
        number("transpose_ragged_percent", &V::transpose_ragged_percent, 100, 1000,
               "of the time of a transposition, rows that are no multiple of 32 B"),
        section("function", &V::function, function_table()),
    };
    for (auto& key : cost_keys()) table.keys.push_back(std::move(key));
    return table;
  }();
  return kTable;
}

std::vector<Key> buffer_keys() {
  using C = ProgramCoreConfig;
  return {
      number("l1_kib", &C::l1, 1, 16'384, "L1 buffer of cube and coupled cores"),
      number("l0a_kib", &C::l0a, 1, 4096, "L0A buffer"),
      number("l0b_kib", &C::l0b, 1, 4096, "L0B buffer"),
      number("l0c_kib", &C::l0c, 1, 4096, "L0C buffer"),
      number("ub_kib", &C::ub, 1, 4096, "unified buffer of vector and coupled cores"),
      number("instruction_cache_kib", &C::instruction_cache, 1, 65'536,
             "code of programs that a core keeps"),
      number("instruction_line_bytes", &C::instruction_line, 64, 4096,
             "line of the instruction cache")
          .in_powers_of_two(),
      number("instruction_fetch_lines", &C::instruction_fetch_lines, 1, 64,
             "read at a time, the one that is missed first"),
      number("instruction_ahead_lines", &C::instruction_ahead_lines, 0, 64,
             "asked for behind those that were read, while the program goes on; 0: none"),
      number("instruction_bytes", &C::instruction_bytes, 1, 64, "of an instruction"),
  };
}

std::vector<Key> pipe_keys() {
  using C = ProgramCoreConfig;
  return {
      number("queue_depth", &C::queue_depth, 2, 64, "instructions and flags that a pipe holds"),
      number("segment_bytes", &C::segment, 512, 65'536, "most of one request").in_powers_of_two(),
      number("outstanding_kib", &C::outstanding, 1, 4096, "requested and not answered, per pipe"),
      number("scalar_ipc_percent", &C::scalar_ipc_percent, 1, 1600,
             "instructions of its own that the scalar unit executes in 100 clocks"),
      number("issue_clocks", &C::issue_clocks, 0, 1000,
             "of the scalar unit, for what it hands to a pipe"),
      section("set_up", &C::set_up, set_up_table()),
      number("flag_clocks", &C::flag_clocks, 0, 1000, "from pipe to pipe"),
      number("scalar_flag_clocks", &C::scalar_flag_clocks, 0, 10'000,
             "between the scalar unit and a pipe"),
      number("cross_flag_ns", &C::cross_flag, 0, 100'000, "from core to core"),
      number("l0a_per_clock_bytes", &C::l0a_per_clock, 1, 4096, "L1 to L0A"),
      number("l0b_per_clock_bytes", &C::l0b_per_clock, 1, 4096, "L1 to L0B"),
      number("l0_fill_clocks", &C::l0_fill_clocks, 0, 1000, "of MTE1, into an empty pipe"),
      number("transposed_percent", &C::transposed_percent, 0, 100'000,
             "elements that MTE2 transposes in 100 clocks on their way to UB; 0: it does not"),
      section("gm_to_l1", &C::gm_to_l1, path_table()),
      section("gm_to_ub", &C::gm_to_ub, path_table()),
      section("ub_to_gm", &C::ub_to_gm, path_table()),
      section("l0c_to_gm", &C::l0c_to_gm, path_table()),
      section("l0c_to_l1", &C::l0c_to_l1, local_path_table()),
      section("l0c_to_ub", &C::l0c_to_ub, local_path_table()),
      section("ub_to_l1", &C::ub_to_l1, local_path_table()),
      keys::make("fixpipe_bf16", KeyType::kFlag, &C::fixpipe_bf16,
                 "FixPipe makes bf16 of int32 that it scales; fp16 it always does"),
      section("cube", &C::cube, cube_table()),
      section("vector", &C::vector, vector_table()),
  };
}

std::vector<Key> scalar_keys() {
  using C = ProgramCoreConfig;
  return {
      number("cache_lines", &C::cache_lines, 1, 65'536, "data cache, lines of 64 B")
          .in_powers_of_two(),
      number("cache_ways", &C::cache_ways, 1, 64, "associativity of the data cache")
          .in_powers_of_two(),
      number("cache_hit_clocks", &C::cache_hit_clocks, 1, 1000, "load or store that hits"),
      number("miss_clocks", &C::miss_clocks, 0, 10'000,
             "load that misses, before its request leaves the core"),
      number("write_back_clocks", &C::write_back_clocks, 0, 10'000,
             "a line on its way out, before its request leaves the core"),
      number("dcci_clocks", &C::dcci_clocks, 1, 1000, "clean and invalidate, beside the memory"),
      number("ub_clocks", &C::ub_clocks, 1, 1000, "load or store of an element of UB"),
      number("register_clocks", &C::register_clocks, 1, 1000,
             "read of DATA_MAIN_BASE or of the system counter"),
      number("set_cond_ns", &C::set_cond, 0, 100'000, "write of COND"),
      number("cond_visible_ns", &C::cond_visible, 0, 100'000,
             "until the register window shows a written COND"),
  };
}

}  // namespace

const Table& program_core_table() {
  using C = ProgramCoreConfig;
  static const Table kTable = [] {
    Table table;
    table.schema = "npusim.core/1";
    table.doc = "AI Cores as they run programs, a file in configs/core";
    table.keys = {
        choice("type", &C::type, {"coupled", "split"},
               "cube and vector unit in one core, or ai_cores clusters of one AIC and two AIVs"),
        keys::make("functional", KeyType::kFlag, &C::functional,
                   "false: time passes, but nothing is computed or copied"),
        choice("hazards", &C::hazards, {"off", "report", "fail"},
               "accesses of programs to local buffers and global memory that no flag orders: not "
               "looked for, reported, or the run fails, too"),
        number("counter_mhz", &C::counter_hz, 1, 10'000, "system counter"),
    };
    for (auto* const more : {&buffer_keys, &pipe_keys, &scalar_keys}) {
      for (auto& key : more()) table.keys.push_back(std::move(key));
    }
    return table;
  }();
  return kTable;
}

}  // namespace npu::model
