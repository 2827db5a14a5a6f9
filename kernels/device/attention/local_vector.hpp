// SPDX-License-Identifier: Apache-2.0
// A vector core's part of a step, between buffers: FixPipe brings its rows of the scores and of the
// products to UB, MTE3 takes the weights to L1 of the cube core.
#pragma once

#include "kernels/device/attention/cube_buffers.hpp"
#include "kernels/device/attention/local_buffers.hpp"
#include "kernels/device/attention/register_softmax.hpp"
#include "kernels/device/attention/results.hpp"

namespace npu::kernels::attention {

class LocalVector {
 public:
  // `role`: 1 or 2 of a cluster's two.
  LocalVector(AicorePort& port, const Work& w, unsigned role)
      : port_(port),
        w_(w),
        role_(role),
        l1_(w),
        ub_(w),
        softmax_(port, w, ub_.space()),
        registers_(port, w, ub_.space(), softmax_),
        mask_(port, w, ub_.space()),
        results_(port, w) {
    output_free().set();
  }
  ~LocalVector() { output_free().wait(); }
  LocalVector(const LocalVector&) = delete;
  LocalVector& operator=(const LocalVector&) = delete;

  // Weights.
  void begin(const Step& step) {
    const CoreRows mine(step.task.rows, role_, true);
    Handed<Pipe::kFixpipe, Pipe::kVector>(port_, Signal::kScores).wait();
    if (mine.count != 0) weigh(step, mine);
    hand_to_mte3(step.count % 2);
    if (mine.count != 0) hand_on(step, mine);
    Handed<Pipe::kMte3, Pipe::kMte1>(port_, Signal::kWeights).raise();
  }

  // The output so far.
  void end(const Step& step) {
    const CoreRows mine(step.task.rows, role_, true);
    Handed<Pipe::kFixpipe, Pipe::kVector>(port_, Signal::kProducts).wait();
    if (mine.count != 0) add(step, mine);
    if (w_.places == 1) Handed<Pipe::kVector, Pipe::kFixpipe>(port_, Signal::kTaken).raise();
    if (mine.count == 0 || !step.last) return;
    if (w_.splits == 1)
      results_.divide(softmax_.sums(step), ub_.output(), ub_.output(), mine.count);
    hand_to_mte3(2);
    if (w_.splits == 1) {
      results_.store(step.task, mine.first, mine.count, ub_.output());
    } else {
      results_.store_part(step.task, mine.first, mine.count, ub_.output(), softmax_.largest(step),
                          softmax_.sums(step));
    }
    output_free().set();
  }

 private:
  aicore::Flag<Pipe::kMte3, Pipe::kVector> output_free() const { return {port_, 0}; }
  // `id`: a flag is set again when the wait for it is over: weights have two in turn.
  void hand_to_mte3(unsigned id) const {
    const aicore::Flag<Pipe::kVector, Pipe::kMte3> full(port_, id);
    full.set();
    full.wait();
  }

  void weigh(const Step& step, const CoreRows& mine) const {
    const std::uint32_t scores = ub_.scores(step), pitch = ub_.score_row();
    if (port_.has_vector_functions()) {
      return registers_.weigh(step, scores, pitch, mine.count, mask_, mine.first);
    }
    const RowSoftmax::Tile tile{scores, pitch, mine.count, 0};
    softmax_.shift<DataType::kFp32>(step, tile, mask_, mine.first);
    softmax_.weigh<DataType::kFp32>(step, tile, scores);
    if (kTypeA == DataType::kFp32) return;
    Vector cast =
        row_vector(VectorOp::kCast, DataType::kFp32, scores, scores, mine.count, step.keys);
    cast.to_type = kTypeA;
    cast.a_pitch = cast.to_pitch = pitch;
    port_.issue(cast);
  }
  void hand_on(const Step& step, const CoreRows& mine) const {
    const std::uint32_t pitch = aicore::row_bytes(step.keys, kTypeA);
    platform::CopyOut copy;
    copy.target = platform::CopyOutTarget::kL1;
    copy.to = l1_.weights(step.count % CubeBuffers::kPair) + mine.first * pitch;
    copy.from = {LocalBuffer::kUb, ub_.scores(step)};
    copy.rows = mine.count;
    copy.row_bytes = pitch;
    copy.to_pitch = pitch;
    copy.from_pitch = ub_.score_row();
    port_.issue(copy);
  }
  void add(const Step& step, const CoreRows& mine) const {
    const AreaTile tile{0, 0, mine.count, w_.head};
    if (step.first) output_free().wait();
    if (port_.has_vector_functions()) {
      return registers_.add(step, ub_.output(), ub_.products(step), ub_.output_row(), mine.count);
    }
    if (step.first) {
      return element_op(port_, VectorOp::kMuls, ub_.output(), ub_.products(step), tile, 1);
    }
    row_op(port_, VectorOp::kBroadcastMul, ub_.output(), ub_.output(), softmax_.factors(step),
           tile);
    tile_op(port_, VectorOp::kAdd, ub_.output(), ub_.output(), ub_.products(step), tile);
  }

  AicorePort& port_;
  const Work& w_;
  const unsigned role_;
  const CubeBuffers l1_;
  const LocalBuffers ub_;
  const RowSoftmax softmax_;
  const RegisterSoftmax registers_;
  const Mask mask_;
  const Results results_;
};

}  // namespace npu::kernels::attention
