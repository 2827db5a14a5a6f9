// SPDX-License-Identifier: Apache-2.0
// The inverse of I + A for each chunk and head, A strictly lower triangular. NPU_JIT_ELEMENT_A and
// NPU_JIT_ELEMENT_C, the same: half or bfloat16; TensorParams. On cubes: with N = -A the inverse is
// (I + N)(I + N^2)(I + N^4)..., which ends since N^chunk is 0. The product so far stays in L0C;
// what is multiplied next goes through L1. Vector cores write I and -I first.
#include "kernels/device/chunks/work.hpp"
#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels {
namespace {

enum class Phase : std::uint64_t { kConstants, kInverses };
using aicore::Flag;
using chunks::kElement;
using chunks::Work;

constexpr std::uint32_t kLargest = 128;

// Block 0 writes I, block 1 -I.
void constants(AicorePort& port, const Work& work) {
  const auto count = static_cast<std::uint32_t>(work.square());
  constexpr std::uint32_t kOne = chunks::kTypeA == DataType::kFp16 ? 0x3C00 : 0x3F80;
  constexpr std::uint32_t kSign = 0x8000;
  for (std::uint32_t which = port.call().block; which < 2; which += port.call().blocks) {
    Vector zero = row_vector(VectorOp::kDuplicate, chunks::kTypeA, 0, 0, 1, count);
    port.issue(zero);
    const Flag<Pipe::kVector, Pipe::kScalar> cleared(port, 0);
    cleared.set();
    cleared.wait();
    const std::uint32_t one = kOne | (which == 1 ? kSign : 0);
    for (std::uint32_t i = 0; i < work.chunk; ++i) {
      const std::uint32_t at = (i * work.chunk + i) * static_cast<std::uint32_t>(kElement);
      port.store_ub(at / 4 * 4, at % 4 == 0 ? one : one << 16);
    }
    const Flag<Pipe::kScalar, Pipe::kMte3> made(port, 0);
    made.set();
    made.wait();
    vector::store_tile(port, {work.spare[0], count, std::uint64_t{which} * count},
                       {0, 1, count, count}, 0, chunks::kTypeA);
    const Flag<Pipe::kMte3, Pipe::kVector> stored(port, 0);
    stored.set();
    stored.wait();
  }
}

class Inverses {
 public:
  Inverses(AicorePort& port, const Work& work)
      : port_(port), work_(work), size_(static_cast<std::uint32_t>(work.square() * kElement)) {}

  void run() {
    load(kIdentity, work_.spare[0], work_.chunk);
    load(kNegative, work_.spare[0] + size_, work_.chunk);
    for (unsigned i = 0; i < kSets; ++i) {
      free(i).set();
      l0_free(i).set();
    }
    c_free(0).set();
    c_free(1).set();
    const std::uint64_t blocks = port_.call().blocks;
    const std::uint64_t first = port_.call().block;
    if (first < work_.pieces()) fetch(first, 0);
    unsigned set = 0;
    for (std::uint64_t i = first; i < work_.pieces(); i += blocks, set ^= 1) {
      if (i + blocks < work_.pieces()) fetch(i + blocks, set ^ 1);
      loaded(set).wait();
      one(i, set);
    }
    for (unsigned i = 0; i < kSets; ++i) {
      free(i).wait();
      l0_free(i).wait();
    }
    c_free(0).wait();
    c_free(1).wait();
  }

 private:
  // Places in L1.
  static constexpr unsigned kIdentity = kSets, kNegative = kSets + 1, kX = kSets + 2,
                            kY = kSets + 3;
  std::uint32_t l1(unsigned place) const { return place * size_; }
  std::uint32_t c(unsigned which) const { return which * 2 * size_; }  // fp32
  Flag<Pipe::kMte1, Pipe::kMte2> free(unsigned set) const { return {port_, set}; }
  Flag<Pipe::kMte2, Pipe::kMte1> loaded(unsigned set) const { return {port_, set}; }
  Flag<Pipe::kCube, Pipe::kMte1> l0_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kMte1, Pipe::kCube> l0_full(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kFixpipe, Pipe::kCube> c_free(unsigned which) const { return {port_, which}; }
  Flag<Pipe::kCube, Pipe::kFixpipe> c_full(unsigned which) const { return {port_, which}; }
  Flag<Pipe::kFixpipe, Pipe::kMte1> moved(unsigned which) const { return {port_, which}; }

  void load(unsigned place, std::uint64_t from, std::uint64_t pitch) {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kL1, l1(place)};
    copy.from = from;
    copy.rows = work_.chunk;
    copy.row_bytes = copy.to_pitch = work_.chunk * static_cast<std::uint32_t>(kElement);
    copy.from_pitch = pitch * kElement;
    port_.issue(copy);
  }
  std::uint64_t place_of(std::uint64_t tensor, std::uint64_t index) const {
    const auto at = chunks::piece(index, work_.heads);
    return chunks::rows_at(tensor, work_, at.chunk, at.head, work_.heads, work_.chunk);
  }
  std::uint64_t pitch() const { return std::uint64_t{work_.heads} * work_.chunk; }
  void fetch(std::uint64_t index, unsigned set) {
    free(set).wait();
    load(set, place_of(work_.in[0], index), pitch());
    loaded(set).set();
  }

  // c = left x right, or c += it.
  void multiply(unsigned to, unsigned left, unsigned right, bool adds) {
    const unsigned i = products_++ % kSets;
    l0_free(i).wait();
    for (const auto& [buffer, place] :
         {std::pair{LocalBuffer::kL0a, left}, {LocalBuffer::kL0b, right}}) {
      platform::LoadL0 load;
      load.to = {buffer, static_cast<std::uint32_t>(port_.buffer_size(buffer) / kSets) * i};
      load.from = l1(place);
      load.rows = load.columns = work_.chunk;
      load.from_pitch = work_.chunk * static_cast<std::uint32_t>(kElement);
      load.type = chunks::kTypeA;
      port_.issue(load);
    }
    l0_full(i).set();
    l0_full(i).wait();
    if (!adds) c_free(to).wait();
    platform::Mmad mmad;
    mmad.c = c(to);
    mmad.a = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kL0a) / kSets) * i;
    mmad.b = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kL0b) / kSets) * i;
    mmad.m = mmad.n = mmad.k = work_.chunk;
    mmad.type = chunks::kTypeA;
    mmad.accumulate = adds;
    port_.issue(mmad);
    l0_free(i).set();
  }
  // L0C to L1, or to global memory.
  void move(unsigned from, std::uint64_t to, std::uint64_t pitch, platform::FixpipeTarget target) {
    c_full(from).set();
    c_full(from).wait();
    platform::Fixpipe fixpipe;
    fixpipe.to = to;
    fixpipe.from = c(from);
    fixpipe.m = fixpipe.n = work_.chunk;
    fixpipe.to_pitch = pitch * kElement;
    fixpipe.to_type = chunks::kTypeC;
    fixpipe.target = target;
    port_.issue(fixpipe);
  }
  void to_l1(unsigned from, unsigned place, bool last_use) {
    move(from, l1(place), work_.chunk, platform::FixpipeTarget::kL1);
    if (last_use) c_free(from).set();
    moved(from).set();
    moved(from).wait();
  }

  void one(std::uint64_t index, unsigned set) {
    multiply(0, kIdentity, kIdentity, false);
    multiply(0, set, kNegative, true);
    multiply(1, set, set, false);
    free(set).set();
    to_l1(0, kX, false);
    to_l1(1, kY, true);
    for (std::uint32_t power = 2; power < work_.chunk; power *= 2) {
      multiply(0, kX, kY, true);
      if (power * 2 >= work_.chunk) break;
      multiply(1, kY, kY, false);
      to_l1(0, kX, false);
      to_l1(1, kY, true);
    }
    move(0, place_of(work_.to[0], index), pitch(), platform::FixpipeTarget::kGlobal);
    c_free(0).set();
  }

  AicorePort& port_;
  const Work& work_;
  const std::uint32_t size_;  // bytes of a matrix
  unsigned products_ = 0;
};

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  if (static_cast<Phase>(arguments.word(0)) == Phase::kConstants) {
    constants(port, work);
  } else {
    Inverses(port, work).run();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  TensorParams p = params;  // tokens, heads, chunk
  p.sides[4] = params.sides[2], p.sides[2] = p.sides[1] = params.sides[1], p.sides[3] = 16;
  if (chunks::is_empty(p)) return;
  Work work;
  if (const char* const reason = chunks::to_work(p, work, 1, 1)) return stream.refuse(reason);
  const CoreLimits limits = stream.limits();
  if (!limits.fixpipe_to_l1) {
    return stream.refuse("matrices go from L0C to L1, which these cores cannot");
  }
  const std::uint64_t size = work.square() * kElement;
  if (work.chunk > kLargest || kSets * size > limits.l0a || kSets * size > limits.l0b ||
      kSets * 2 * size > limits.l0c || (kSets + 4) * size > limits.l1 || size > limits.ub) {
    return stream.refuse(
        "a chunk must be 64 or 128 tokens, and its matrices must fit into the "
        "cores' buffers");
  }
  work.spare[0] = stream.workspace(2 * size);
  if (work.spare[0] == 0) return;
  Launches launches(stream, CoreKind::kCube, block_num);
  launches.launch(CoreKind::kVector, Phase::kConstants, work, 2);
  launches.launch(CoreKind::kCube, Phase::kInverses, work, work.pieces());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::chunks::Work, npu::kernels::host,
             npu::operators::TensorParams)
