// SPDX-License-Identifier: Apache-2.0
// S = Q x K^T on a cube core. Q stays in L0A; K goes through L1 and, transposed, through L0B in
// pieces of as many keys as L0B and L0C hold. Block i of n takes pieces i, i + n, ...
#include <algorithm>

#include "kernels/device/shipped/attention.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::attention {
namespace {

using aicore::AicorePort;
using aicore::Flag;
using platform::LocalBuffer;
using platform::Pipe;

constexpr std::uint32_t kFractal = 16;  // rows and columns of L0 come in these

class ScoreTiles {
 public:
  ScoreTiles(AicorePort& port, const Scores& work) : port_(port), work_(work) {
    query_bytes_ = small_enough() ? work.rows * aicore::row_bytes(work.head, work.type) : 0;
    free().set();
  }
  ~ScoreTiles() { free().wait(); }
  ScoreTiles(const ScoreTiles&) = delete;
  ScoreTiles& operator=(const ScoreTiles&) = delete;

  // Keys of a piece; 0: not even one fractal fits.
  std::uint32_t piece() const {
    const auto room = [this](LocalBuffer buffer) {
      return static_cast<std::uint32_t>(port_.buffer_size(buffer));
    };
    const std::uint32_t element = static_cast<std::uint32_t>(platform::bytes_of(work_.type));
    const std::uint32_t rows = aicore::round_up(work_.rows, kFractal);
    const std::uint32_t depth = aicore::round_up(work_.head, 32 / element);
    if (!small_enough() || work_.rows == 0 || work_.head == 0) return 0;
    if (std::uint64_t{rows} * depth * element > room(LocalBuffer::kL0a)) return 0;
    if (query_bytes_ >= room(LocalBuffer::kL1)) return 0;
    const std::uint32_t fits =
        std::min({room(LocalBuffer::kL0b) / (depth * element), room(LocalBuffer::kL0c) / (rows * 4),
                  (room(LocalBuffer::kL1) - query_bytes_) / (depth * element)});
    return fits / 32 * 32;
  }

  // As far as L1 goes; sizes are within 32 bits then.
  bool small_enough() const {
    const auto l1 = port_.buffer_size(LocalBuffer::kL1);
    return work_.rows <= l1 && work_.head <= l1 &&
           std::uint64_t{work_.rows} * work_.head * platform::bytes_of(work_.type) <= l1;
  }

  void load_queries() {
    load(0, work_.queries, work_.rows);
    loaded().set();
    loaded().wait();
    to_l0({LocalBuffer::kL0a, 0}, 0, work_.rows, false);
  }

  void run(std::uint32_t first, std::uint32_t keys) {
    const std::uint64_t element = platform::bytes_of(work_.type);
    free().wait();
    load(query_bytes_, work_.keys + std::uint64_t{first} * work_.head * element, keys);
    loaded().set();
    loaded().wait();
    to_l0({LocalBuffer::kL0b, 0}, query_bytes_, keys, true);
    ready().set();
    ready().wait();
    platform::Mmad mmad;
    mmad.m = work_.rows;
    mmad.k = work_.head;
    mmad.n = keys;
    mmad.type = work_.type;
    port_.issue(mmad);
    product().set();
    product().wait();
    platform::Fixpipe store;
    store.to = work_.scores + std::uint64_t{first} * 4;
    store.m = work_.rows;
    store.n = keys;
    store.to_pitch = std::uint64_t{work_.count} * 4;
    store.to_type = platform::DataType::kFp32;
    port_.issue(store);
    free().set();
  }

 private:
  Flag<Pipe::kFixpipe, Pipe::kMte2> free() { return {port_, 0}; }
  Flag<Pipe::kMte2, Pipe::kMte1> loaded() { return {port_, 0}; }
  Flag<Pipe::kMte1, Pipe::kCube> ready() { return {port_, 0}; }
  Flag<Pipe::kCube, Pipe::kFixpipe> product() { return {port_, 0}; }

  void load(std::uint32_t to, std::uint64_t from, std::uint32_t rows) {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kL1, to};
    copy.from = from;
    copy.rows = rows;
    copy.row_bytes = work_.head * static_cast<std::uint32_t>(platform::bytes_of(work_.type));
    copy.from_pitch = copy.row_bytes;
    copy.to_pitch = aicore::row_bytes(work_.head, work_.type);
    port_.issue(copy);
  }
  void to_l0(platform::Local to, std::uint32_t from, std::uint32_t rows, bool transpose) {
    platform::LoadL0 load;
    load.to = to;
    load.from = from;
    load.rows = rows;
    load.columns = work_.head;
    load.from_pitch = aicore::row_bytes(work_.head, work_.type);
    load.type = work_.type;
    load.transpose = transpose;
    port_.issue(load);
  }

  AicorePort& port_;
  const Scores work_;
  std::uint32_t query_bytes_ = 0;  // in L1, before the keys
};

int scores(AicorePort& port) {
  const auto work = Scores::from(aicore::Arguments(port, Scores::kWords));
  if (!work.valid()) return aicore::kBadArguments;
  {
    ScoreTiles tiles(port, work);
    const std::uint32_t piece = tiles.piece();
    if (piece == 0) return kTooLarge;
    tiles.load_queries();
    const auto& call = port.call();
    for (std::uint64_t first = std::uint64_t{call.block} * piece; first < work.count;
         first += std::uint64_t{call.blocks} * piece) {
      const auto at = static_cast<std::uint32_t>(first);
      tiles.run(at, std::min(piece, work.count - at));
    }
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::attention

NPU_KERNEL(npu::kernels::attention::scores, npu::kernels::attention::Scores::kWords)
