// SPDX-License-Identifier: Apache-2.0
// Tiles through UB. Stages: two sets of buffers in turn, so that MTE2 loads the next tile while the
// vector unit computes and MTE3 stores the one before. Turns: one set, computed in place. Passing:
// two sets that are stored as they were loaded.
#pragma once

#include "kernels/device/common/rows.hpp"

namespace npu::kernels {

using aicore::Flag;
using platform::Pipe;

inline constexpr unsigned kSets = 2;  // of buffers

// Inputs and results separately. For each tile: begin_load, loads, loaded, computing, ... and for
// each result: begin_result, computing, computed, stores, stored.
template <unsigned kInputSets, unsigned kResultSets>
class StagesOf {
  static_assert(kInputSets <= kSets && kResultSets <= kSets);

 public:
  explicit StagesOf(AicorePort& port) : port_(port) {
    for (unsigned i = 0; i < kSets; ++i) {
      if (i < kInputSets) inputs_free(i).set();
      if (i < kResultSets) result_free(i).set();
    }
  }
  ~StagesOf() {
    for (unsigned i = 0; i < kSets; ++i) {
      if (i < kInputSets) inputs_free(i).wait();
      if (i < kResultSets) result_free(i).wait();
    }
  }
  StagesOf(const StagesOf&) = delete;
  StagesOf& operator=(const StagesOf&) = delete;

  // The set to load to.
  unsigned begin_load() {
    const unsigned i = loads_++ % kInputSets;
    inputs_free(i).wait();
    return i;
  }
  void loaded(unsigned i) const {
    filled(i);
    take(i);
  }
  // The same in two steps, for who loads a tile before it computes the one before.
  void filled(unsigned i) const { full(i).set(); }
  void take(unsigned i) const { full(i).wait(); }
  // The vector unit is done with the inputs.
  void consumed(unsigned i) const { inputs_free(i).set(); }
  unsigned begin_result() {
    const unsigned i = results_++ % kResultSets;
    result_free(i).wait();
    return i;
  }
  void computed(unsigned i) const {
    result_full(i).set();
    result_full(i).wait();
  }
  void stored(unsigned i) const { result_free(i).set(); }

 private:
  Flag<Pipe::kVector, Pipe::kMte2> inputs_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kMte2, Pipe::kVector> full(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kMte3, Pipe::kVector> result_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kVector, Pipe::kMte3> result_full(unsigned i) const { return {port_, i}; }

  AicorePort& port_;
  unsigned loads_ = 0, results_ = 0;
};

using Stages = StagesOf<kSets, kSets>;

// For each tile: begin, loads, loaded, computing, computed, stores, stored.
class Turns {
 public:
  // `id`: of the flags between the pipes.
  explicit Turns(AicorePort& port, unsigned id = 0) : port_(port), id_(id) { stored(); }
  ~Turns() { begin(); }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  void begin() const { Flag<Pipe::kMte3, Pipe::kMte2>(port_, id_).wait(); }
  void loaded() const {
    const Flag<Pipe::kMte2, Pipe::kVector> full(port_, id_);
    full.set();
    full.wait();
  }
  // The same in two steps, as in Stages.
  void filled() const { Flag<Pipe::kMte2, Pipe::kVector>(port_, id_).set(); }
  void take() const { Flag<Pipe::kMte2, Pipe::kVector>(port_, id_).wait(); }
  void computed() const {
    const Flag<Pipe::kVector, Pipe::kMte3> full(port_, id_);
    full.set();
    full.wait();
  }
  void stored() const { Flag<Pipe::kMte3, Pipe::kMte2>(port_, id_).set(); }

 private:
  AicorePort& port_;
  const unsigned id_;
};

// For each tile: begin, loads, loaded, stores, stored.
class Passing {
 public:
  explicit Passing(AicorePort& port) : port_(port) {
    for (unsigned i = 0; i < kSets; ++i) stored(i);
  }
  ~Passing() {
    for (unsigned i = 0; i < kSets; ++i) free(i).wait();
  }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

  // The set to load to.
  unsigned begin() {
    const unsigned i = loads_++ % kSets;
    free(i).wait();
    return i;
  }
  void loaded(unsigned i) const {
    const Flag<Pipe::kMte2, Pipe::kMte3> full(port_, i);
    full.set();
    full.wait();
  }
  void stored(unsigned i) const { free(i).set(); }

 private:
  Flag<Pipe::kMte3, Pipe::kMte2> free(unsigned i) const { return {port_, i}; }

  AicorePort& port_;
  unsigned loads_ = 0;
};

}  // namespace npu::kernels
