// SPDX-License-Identifier: Apache-2.0
// What the cores of an attention are told, and what a task is. A task has rows: queries of one
// head, or all queries of all heads that share keys and values where these are few. Its keys come
// in chunks; a step is a chunk of a task.
#pragma once

#include <algorithm>

#include "kernels/device/vector/types.hpp"
#include "npu/aicore/kernel.hpp"

#ifndef NPU_JIT_CAUSAL
#define NPU_JIT_CAUSAL 0
#endif
#ifndef NPU_JIT_MASK
#define NPU_JIT_MASK 0
#endif

namespace npu::kernels::attention {

using aicore::AicorePort;
using aicore::LocalBuffer;
using aicore::Pipe;
using vector::kTypeA;
using vector::kTypeC;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "attention is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");
static_assert(NPU_JIT_CAUSAL == 0 || NPU_JIT_CAUSAL == 1, "NPU_JIT_CAUSAL must be 0 or 1");
inline constexpr bool kCausal = NPU_JIT_CAUSAL == 1;
static_assert(NPU_JIT_MASK == 0 || NPU_JIT_MASK == 1, "NPU_JIT_MASK must be 0 or 1");
inline constexpr bool kMasked = NPU_JIT_MASK == 1;
inline constexpr std::uint32_t kBytes = static_cast<std::uint32_t>(platform::bytes_of(kTypeA));

enum class Phase : std::uint64_t { kTasks, kSplits, kZeros };

// Elements from one batch, head and row to the next.
struct Pitches {
  std::uint64_t batch = 0, head = 0, row = 0;
};

struct Task {
  std::uint32_t batch = 0, head = 0, kv_head = 0;  // the first head of those that it has
  std::uint32_t query = 0;                         // of the first row
  std::uint32_t rows = 0;
  std::uint32_t first_key = 0, end_key = 0;
  std::uint64_t number = 0;
};

struct Step {
  Task task;
  std::uint32_t first_key = 0, keys = 0;
  bool first = false, last = false;  // of the task
  std::uint32_t count = 0;           // of the block's steps
  std::uint32_t tasks = 0;           // of the block, before this one
};

struct Work {
  // A library's kernel with a structure of tilings, of cores that find each other.
  static constexpr platform::SetUp kSetUp{platform::Tiling::kRunTime, true, true};
  std::uint64_t q = 0, k = 0, v = 0, to = 0;
  Pitches query_pitch, key_pitch;  // the result's are those of the queries
  // Of paged keys and values: block numbers, i32, `pages` for each batch.
  std::uint64_t table = 0;
  // In the workspace: what a block's cores hand to each other; of tasks that are split, the output
  // of each part, and its largest scores and sums (fp32).
  std::uint64_t ring = 0, ring_bytes = 0, parts = 0, numbers = 0;
  std::uint32_t batch = 0, heads = 0, kv_heads = 0;
  std::uint32_t queries = 0, keys = 0, head = 0;
  std::uint32_t rows = 0;             // most of a task
  std::uint32_t chunk = 0;            // keys of a step
  std::uint32_t piece = 0;            // keys in L1 at a time
  std::uint32_t page = 0, pages = 0;  // keys of a page; pages of a batch
  std::uint32_t splits = 1;           // parts of the keys
  std::uint32_t split = 0;            // keys of a part
  std::uint32_t grouped = 0;          // 1: a task is of all heads that share keys
  std::uint32_t local = 0;            // 1: scores and weights go from buffer to buffer
  std::uint32_t places = 1;           // then, for products: 1 or 2
  std::uint32_t skips = 0;            // 1: a task ends with the last key that a query of it sees
  std::uint32_t wave = 0;  // heads whose longest tasks come first, together; 0: any order
  float scale = 1;
#if NPU_JIT_MASK
  // Of type A: a number for each key, which is added to its scores; elements from batch to batch.
  std::uint64_t mask = 0, mask_pitch = 0;
#endif

  std::uint32_t shared() const {
    return heads / kv_heads;
  }
  std::uint32_t blocks_of_queries() const {
    return grouped != 0 ? 1 : aicore::divide_up(queries, rows);
  }
  std::uint64_t tasks() const {
    const std::uint64_t of_heads = std::uint64_t{batch} * (grouped != 0 ? kv_heads : heads);
    return of_heads * blocks_of_queries() * splits;
  }
  Task task(std::uint64_t number) const {
    Task t;
    t.number = number;
    const auto part = static_cast<std::uint32_t>(number % splits);
    std::uint64_t left = number / splits;
    const std::uint32_t of_batch = grouped != 0 ? kv_heads : heads;
    const std::uint64_t blocks = blocks_of_queries();
    std::uint64_t head_of_all = left / blocks, block = left % blocks;
    if (wave != 0) {
      const std::uint64_t first = head_of_all / wave * wave;
      const std::uint64_t count = std::min<std::uint64_t>(wave, batch * of_batch - first);
      left -= first * blocks;
      head_of_all = first + left % count;
      block = blocks - 1 - left / count;
    }
    t.batch = static_cast<std::uint32_t>(head_of_all / of_batch);
    const auto index = static_cast<std::uint32_t>(head_of_all % of_batch);
    t.head = grouped != 0 ? index * shared() : index;
    t.kv_head = grouped != 0 ? index : index / shared();
    t.query = static_cast<std::uint32_t>(block) * rows;
    t.rows = grouped != 0 ? rows : std::min(rows, queries - t.query);
    t.first_key = part * split;
    t.end_key = std::min(keys, t.first_key + split);
    if (kCausal && skips != 0) {
      const std::uint32_t last = grouped != 0 ? queries - 1 : t.query + t.rows - 1;
      t.end_key = std::max(std::min(t.end_key, seen_by(last)), t.first_key + 1);
    }
    return t;
  }
  // Of a causal attention the last query sees all keys, each one before it one key less; sides are
  // below 2^31.
  std::uint32_t seen_by(std::uint32_t query) const {
    return kCausal ? std::max(query + 1 + keys, queries) - queries : keys;
  }
  // Some query sees no key.
  bool some_blind() const {
    return kCausal && queries > keys;
  }

  // Calls run(first row, rows, offset in elements, pitch, query of the first) for rows [begin, end)
  // of a task whose places in the queries and in the result are evenly spaced. `rise`: each row's
  // query is the one behind that of the row before.
  template <class Run>
  void for_runs(const Task& t, std::uint32_t begin, std::uint32_t end, Run run) const {
    const std::uint64_t base = t.batch * query_pitch.batch + t.head * query_pitch.head;
    if (grouped == 0) {
      const std::uint64_t at = base + std::uint64_t{t.query + begin} * query_pitch.row;
      return run(begin, end - begin, at, query_pitch.row, t.query + begin);
    }
    if (queries == 1)
      return run(begin, end - begin, base + begin * query_pitch.head, query_pitch.head, 0U);
    for (std::uint32_t row = begin; row < end;) {
      const std::uint32_t query = row % queries;
      const std::uint32_t count = std::min(end - row, queries - query);
      run(row, count, base + row / queries * query_pitch.head + query * query_pitch.row,
          query_pitch.row, query);
      row += count;
    }
  }

  // Calls begin(step) for the block's steps, and end(step) when the next one has begun. Of
  // grouped tasks through memory, whose cores have little to do meanwhile, at each task's end.
  template <class Side>
  void for_steps(std::uint32_t block, std::uint32_t blocks, Side& side) const {
    Step step, before;
    bool open = false;
    // There and back, since tasks of a causal attention may be of more keys than those behind them.
    for (std::uint64_t round = 0; round * blocks < tasks(); ++round) {
      const std::uint64_t number = round * blocks + (round % 2 == 0 ? block : blocks - 1 - block);
      if (number >= tasks()) continue;
      step.task = task(number);
      for (std::uint32_t key = step.task.first_key; key < step.task.end_key; key += chunk) {
        step.first_key = key;
        step.keys = std::min(chunk, step.task.end_key - key);
        step.first = key == step.task.first_key;
        step.last = key + step.keys == step.task.end_key;
        side.begin(step);
        if (open) side.end(before);
        before = step;
        open = true;
        ++step.count;
      }
      ++step.tasks;
      if (grouped == 0 || local != 0) continue;
      if (open) side.end(before);
      open = false;
    }
    if (open) side.end(before);
  }
};

// Rows of a task that the first vector core of a cluster has; the second one has the others.
// FixPipe divides a matrix between fractals, which are of 16 rows.
constexpr std::uint32_t first_half(std::uint32_t rows, bool local) {
  const std::uint32_t half = (rows + 1) / 2;
  return local ? std::min(rows, aicore::round_up(half, 16U)) : half;
}

}  // namespace npu::kernels::attention
