// SPDX-License-Identifier: Apache-2.0
// The cube core's part of a step: the scores of its queries with a chunk of keys, and later their
// weights times the values. Keys, values and weights come through L1 in pieces.
#pragma once

#include <algorithm>

#include "kernels/device/attention/cube_buffers.hpp"
#include "kernels/device/attention/keys.hpp"
#include "kernels/device/attention/local_buffers.hpp"
#include "kernels/device/attention/ring.hpp"

namespace npu::kernels::attention {

using aicore::Flag;

class Cube {
 public:
  static constexpr std::uint32_t kHalves = 2;  // of L0A, L0B, L0C
  static constexpr std::uint32_t kFractal = 16;

  Cube(AicorePort& port, const Work& w)
      : port_(port),
        w_(w),
        l1_(w),
        ub_(w),
        ring_(w, port.call().block),
        keys_(port, w, w.k),
        values_(port, w, w.v),
        l0_half_(half(LocalBuffer::kL0a)),
        l0b_half_(half(LocalBuffer::kL0b)),
        l0c_half_(half(LocalBuffer::kL0c)) {
    for (unsigned i = 0; i < CubeBuffers::pieces(w_); ++i) piece_free(i).set();
    for (unsigned i = 0; i < kHalves; ++i) {
      query_free(i).set();
      weights_free(i).set();
      l0_free(i).set();
      c_free(i).set();
    }
  }
  ~Cube() {
    for (unsigned i = 0; i < CubeBuffers::pieces(w_); ++i) piece_free(i).wait();
    for (unsigned i = 0; i < kHalves; ++i) {
      query_free(i).wait();
      weights_free(i).wait();
      l0_free(i).wait();
      c_free(i).wait();
    }
  }
  Cube(const Cube&) = delete;
  Cube& operator=(const Cube&) = delete;

  // Scores.
  void begin(const Step& step) {
    const unsigned q = step.tasks % kHalves;
    if (step.first) load_queries(step.task, q);
    for (std::uint32_t done = 0; done < step.keys; done += w_.piece) {
      const std::uint32_t keys = std::min(w_.piece, step.keys - done);
      const unsigned slot = load_piece(keys_, step, done, keys);
      if (step.first && done == 0) query_full(q).wait();
      piece_full(slot).wait();
      const unsigned c = c_count_++ % kHalves;
      c_free(c).wait();
      score_piece(step.task.rows, keys, q, slot, c);
      piece_free(slot).set();
      c_full(c).set();
      c_full(c).wait();
      store_scores(step, done, keys, c);
      c_free(c).set();
    }
    if (step.last) query_free(q).set();
    raise(Signal::kScores);
  }

  // Weights times values.
  void end(const Step& step) {
    const std::uint32_t row = aicore::round_up(w_.head, kFractal) * 4;
    const bool both = aicore::round_up(step.task.rows, kFractal) * row > l0c_half_;
    const unsigned c = both ? 0 : c_count_++ % kHalves;
    c_free(c).wait();
    if (both) c_free(1).wait();
    const std::uint32_t group = CubeBuffers::weight_keys(w_);
    for (std::uint32_t first = 0; first < step.keys; first += group) {
      const std::uint32_t all = std::min(group, step.keys - first);
      unsigned weights = 0;
      for (std::uint32_t done = 0; done < all; done += w_.piece) {
        const std::uint32_t keys = std::min(w_.piece, all - done);
        const unsigned slot = load_piece(values_, step, first + done, keys);
        if (done == 0) weights = take_weights(step, first, all);
        piece_full(slot).wait();
        const Weights from{l1_.weights(weights) + done * kBytes, aicore::row_bytes(all, kTypeA)};
        value_piece(step.task.rows, keys, from, slot, c, first + done != 0);
        piece_free(slot).set();
      }
      if (w_.local == 0) weights_free(weights).set();
    }
    c_full(c).set();
    c_full(c).wait();
    store_products(step, c);
    c_free(c).set();
    if (both) c_free(1).set();
    raise(Signal::kProducts);
  }

 private:
  using ToL1 = Flag<Pipe::kMte1, Pipe::kMte2>;
  using FromL1 = Flag<Pipe::kMte2, Pipe::kMte1>;
  static constexpr unsigned kQueries = CubeBuffers::kPieces, kWeights = kQueries + kHalves;
  ToL1 piece_free(unsigned i) const { return {port_, i}; }
  FromL1 piece_full(unsigned i) const { return {port_, i}; }
  ToL1 query_free(unsigned i) const { return {port_, kQueries + i}; }
  FromL1 query_full(unsigned i) const { return {port_, kQueries + i}; }
  ToL1 weights_free(unsigned i) const { return {port_, kWeights + i}; }
  FromL1 weights_full(unsigned i) const { return {port_, kWeights + i}; }
  Flag<Pipe::kCube, Pipe::kMte1> l0_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kMte1, Pipe::kCube> l0_full(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kFixpipe, Pipe::kCube> c_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kCube, Pipe::kFixpipe> c_full(unsigned i) const { return {port_, i}; }

  std::uint32_t half(LocalBuffer buffer) const {
    const auto bytes = static_cast<std::uint32_t>(port_.buffer_size(buffer) / kHalves);
    return bytes / aicore::kLocalAlignment * aicore::kLocalAlignment;
  }

  void load_queries(const Task& task, unsigned q) {
    const std::uint32_t pitch = aicore::row_bytes(w_.head, kTypeA);
    query_free(q).wait();
    w_.for_runs(task, 0, task.rows,
                [&](std::uint32_t row, std::uint32_t rows, std::uint64_t at,
                    std::uint64_t from_pitch, std::uint32_t) {
                  platform::CopyIn copy;
                  copy.to = {LocalBuffer::kL1, l1_.queries(q) + row * pitch};
                  copy.from = w_.q + at * kBytes;
                  copy.rows = rows;
                  copy.row_bytes = w_.head * kBytes;
                  copy.from_pitch = rows == 1 ? 0 : from_pitch * kBytes;
                  copy.to_pitch = pitch;
                  port_.issue(copy);
                });
    query_full(q).set();
  }
  unsigned load_piece(const Keys& from, const Step& step, std::uint32_t done, std::uint32_t keys) {
    const unsigned slot = pieces_++ % CubeBuffers::pieces(w_);
    piece_free(slot).wait();
    from.load(l1_.piece(slot), step.task, step.first_key + done, keys);
    piece_full(slot).set();
    return slot;
  }
  // Where they are in L1: a vector core has brought them, or the ring has them.
  unsigned take_weights(const Step& step, std::uint32_t done, std::uint32_t keys) {
    if (w_.local != 0) {
      if (done == 0) Handed<Pipe::kMte3, Pipe::kMte1>(port_, Signal::kWeights).wait();
      return step.count % CubeBuffers::kPair;
    }
    if (done == 0) Handed<Pipe::kMte3, Pipe::kMte2>(port_, Signal::kWeights).wait();
    const unsigned slot = weights_++ % CubeBuffers::kPair;
    weights_free(slot).wait();
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kL1, l1_.weights(slot)};
    copy.from = ring_.weights(step) + std::uint64_t{done} * kBytes;
    copy.rows = step.task.rows;
    copy.row_bytes = keys * kBytes;
    copy.from_pitch = std::uint64_t{w_.chunk} * kBytes;
    copy.to_pitch = aicore::row_bytes(keys, kTypeA);
    port_.issue(copy);
    weights_full(slot).set();
    weights_full(slot).wait();
    return slot;
  }

  std::uint32_t padded_rows() const { return aicore::round_up(w_.rows, kFractal) * kBytes; }
  // So many elements of the products' depth fit into halves of L0A and L0B.
  static std::uint32_t depth(std::uint32_t space, std::uint32_t bytes_each) {
    return std::max(space / bytes_each / kFractal * kFractal, kFractal);
  }

  void score_piece(std::uint32_t rows, std::uint32_t keys, unsigned q, unsigned slot, unsigned c) {
    const std::uint32_t pitch = aicore::row_bytes(w_.head, kTypeA);
    const std::uint32_t most =
        std::min(depth(l0_half_, padded_rows()), depth(l0b_half_, aicore::row_bytes(keys, kTypeA)));
    for (std::uint32_t done = 0; done < w_.head; done += most) {
      const std::uint32_t k = std::min(most, w_.head - done);
      const unsigned i = l0_count_++ % kHalves;
      l0_free(i).wait();
      feed({LocalBuffer::kL0a, i * l0_half_}, l1_.queries(q) + done * kBytes, rows, k, pitch,
           false);
      feed({LocalBuffer::kL0b, i * l0b_half_}, l1_.piece(slot) + done * kBytes, keys, k, pitch,
           true);
      multiply(i, c, rows, k, keys, done != 0);
    }
  }
  struct Weights {
    std::uint32_t at, pitch;  // in L1
  };
  void value_piece(std::uint32_t rows, std::uint32_t keys, const Weights& weights, unsigned slot,
                   unsigned c, bool more) {
    const std::uint32_t pitch = aicore::row_bytes(w_.head, kTypeA);
    const std::uint32_t most = std::min(depth(l0_half_, padded_rows()), depth(l0b_half_, pitch));
    for (std::uint32_t done = 0; done < keys; done += most) {
      const std::uint32_t k = std::min(most, keys - done);
      const unsigned i = l0_count_++ % kHalves;
      l0_free(i).wait();
      feed({LocalBuffer::kL0a, i * l0_half_}, weights.at + done * kBytes, rows, k, weights.pitch,
           false);
      feed({LocalBuffer::kL0b, i * l0b_half_}, l1_.piece(slot) + done * pitch, k, w_.head, pitch,
           false);
      multiply(i, c, rows, k, w_.head, more || done != 0);
    }
  }
  // `rows` x `columns` as they lie in L1.
  void feed(platform::Local to, std::uint32_t from, std::uint32_t rows, std::uint32_t columns,
            std::uint32_t pitch, bool transpose) const {
    platform::LoadL0 load;
    load.to = to;
    load.from = from;
    load.rows = rows;
    load.columns = columns;
    load.from_pitch = pitch;
    load.type = kTypeA;
    load.transpose = transpose;
    port_.issue(load);
  }
  void multiply(unsigned i, unsigned c, std::uint32_t m, std::uint32_t k, std::uint32_t n,
                bool accumulate) const {
    l0_full(i).set();
    l0_full(i).wait();
    platform::Mmad mmad;
    mmad.c = c * l0c_half_;
    mmad.a = i * l0_half_;
    mmad.b = i * l0b_half_;
    mmad.m = m;
    mmad.k = k;
    mmad.n = n;
    mmad.type = kTypeA;
    mmad.accumulate = accumulate;
    port_.issue(mmad);
    l0_free(i).set();
  }

  void raise(Signal signal) const {
    if (w_.local != 0) return Handed<Pipe::kFixpipe, Pipe::kVector>(port_, signal).raise();
    Handed<Pipe::kFixpipe, Pipe::kMte2>(port_, signal).raise();
  }
  void store_scores(const Step& step, std::uint32_t done, std::uint32_t keys, unsigned c) const {
    if (w_.local != 0) {
      return to_vector_cores(step.task.rows, keys, c, ub_.scores(step) + done * 4, ub_.score_row());
    }
    constexpr DataType kType = score_type(false);
    const std::uint64_t bytes = platform::bytes_of(kType);
    to_memory(ring_.scores(step) + done * bytes, c, step.task.rows, keys, w_.chunk * bytes, kType);
  }
  void store_products(const Step& step, unsigned c) const {
    if (w_.local == 0) {
      return to_memory(ring_.products(step), c, step.task.rows, w_.head, std::uint64_t{w_.head} * 4,
                       DataType::kFp32);
    }
    // They have taken those of the step before.
    if (w_.places == 1 && step.count > 0) {
      Handed<Pipe::kVector, Pipe::kFixpipe>(port_, Signal::kTaken).wait();
    }
    to_vector_cores(step.task.rows, w_.head, c, ub_.products(step), ub_.output_row());
  }
  void to_memory(std::uint64_t to, unsigned c, std::uint32_t m, std::uint32_t n,
                 std::uint64_t pitch, DataType type) const {
    platform::Fixpipe fixpipe;
    fixpipe.to = to;
    fixpipe.from = c * l0c_half_;
    fixpipe.m = m;
    fixpipe.n = n;
    fixpipe.to_pitch = pitch;
    fixpipe.type = DataType::kFp32;
    fixpipe.to_type = type;
    port_.issue(fixpipe);
  }
  void to_vector_cores(std::uint32_t m, std::uint32_t n, unsigned c, std::uint32_t to,
                       std::uint32_t pitch) const {
    for (std::uint8_t core = 0; core < 2; ++core) {
      const CoreRows rows(m, core + 1U, true);
      if (rows.count == 0) continue;
      platform::Fixpipe fixpipe;
      fixpipe.to = to;
      fixpipe.from = c * l0c_half_ + rows.first * aicore::round_up(n, kFractal) * 4;
      fixpipe.m = rows.count;
      fixpipe.n = n;
      fixpipe.to_pitch = pitch;
      fixpipe.type = fixpipe.to_type = DataType::kFp32;
      fixpipe.target = platform::FixpipeTarget::kUb;
      fixpipe.vector_core = core;
      port_.issue(fixpipe);
    }
  }

  AicorePort& port_;
  const Work& w_;
  const CubeBuffers l1_;
  const LocalBuffers ub_;  // of the vector cores
  const Ring ring_;
  const Keys keys_, values_;
  const std::uint32_t l0_half_, l0b_half_, l0c_half_;
  unsigned pieces_ = 0, weights_ = 0, l0_count_ = 0, c_count_ = 0;
};

}  // namespace npu::kernels::attention
