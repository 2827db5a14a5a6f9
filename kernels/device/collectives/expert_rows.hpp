// SPDX-License-Identifier: Apache-2.0
// Rows of tokens on their way into a peer's window: as they are, or as int8 with a scale behind the
// row.
#pragma once

#include "kernels/device/collectives/types.hpp"
#include "kernels/device/vector/quantise.hpp"
#include "npu/abi/expert_exchange.hpp"

namespace npu::kernels::collectives {

// Each is loaded anew for each peer, as the library's kernel does it.
class PlainRows {
 public:
  PlainRows(AicorePort& port, const abi::ExpertExchange& work)
      : port_(port), bytes_(work.hidden * abi::element_size(work.type)), sets_(port) {}

  static bool fits(AicorePort& port, const abi::ExpertExchange& work) {
    return kSets * std::uint64_t{work.hidden} * abi::element_size(work.type) <=
           port.buffer_size(LocalBuffer::kUb);
  }
  void send(std::uint64_t from, std::uint64_t to) {
    const unsigned set = sets_.begin();
    const platform::Local local{LocalBuffer::kUb, set * bytes_};
    port_.issue(platform::CopyIn{local, from, 1, bytes_, 0, bytes_});
    sets_.loaded(set);
    port_.issue(platform::CopyOut{to, local, 1, bytes_, 0, bytes_});
    sets_.stored(set);
  }

 private:
  AicorePort& port_;
  const std::uint32_t bytes_;
  Passing sets_;
};

class QuantisedRows {
 public:
  QuantisedRows(AicorePort& port, const abi::ExpertExchange& work)
      : port_(port), hidden_(work.hidden), type_(vector_type(work.type)), stages_(port) {
    aicore::UbParts ub;
    for (auto& in : in_) in = ub.take(hidden_ * vector::size_of(type_));
    for (auto* at : {&x_, &y_}) *at = ub.take(hidden_ * vector::size_of(DataType::kFp32));
    for (auto& out : out_) out = ub.take(hidden_ + kScale);
    for (auto* at : {&largest_, &factor_, &constant_}) *at = ub.take(kScale);
    vector::Flat(port, 1).scalar(VectorOp::kDuplicate, constant_, 0, vector::kMostInt8);
  }

  static bool fits(AicorePort& port, const abi::ExpertExchange& work) {
    const std::uint64_t element =
        kSets * abi::element_size(work.type) + 2 * vector::size_of(DataType::kFp32) + kSets;
    return work.hidden * element + (kSets + 3) * kScale <= port.buffer_size(LocalBuffer::kUb);
  }
  void send(std::uint64_t from, std::uint64_t to) {
    const vector::RowTile tile{0, 1, hidden_, hidden_};
    const vector::Flat all(port_, hidden_), one(port_, 1);
    const unsigned in = stages_.begin_load();
    const vector::Columns row{from, hidden_};
    vector::load_tile(port_, in_[in], row, tile, type_);
    stages_.loaded(in);
    all.cast(x_, DataType::kFp32, in_[in], type_);
    stages_.consumed(in);
    vector::quantise_tile(port_, {x_, y_, largest_, factor_, constant_}, tile);
    const unsigned out = stages_.begin_result();
    one.scalar(VectorOp::kMuls, out_[out] + hidden_, largest_, 1 / vector::kMostInt8);
    vector::to_int8(all, out_[out], y_);
    stages_.computed(out);
    const std::uint32_t bytes = hidden_ + vector::size_of(DataType::kFp32);
    const platform::Local local{LocalBuffer::kUb, out_[out]};
    port_.issue(platform::CopyOut{to, local, 1, bytes, 0, bytes});
    stages_.stored(out);
  }

 private:
  static constexpr std::uint32_t kScale = abi::ExpertExchange::kScale;
  AicorePort& port_;
  const std::uint32_t hidden_;
  const DataType type_;
  Stages stages_;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {};
  std::uint32_t x_ = 0, y_ = 0, largest_ = 0, factor_ = 0, constant_ = 0;
};

}  // namespace npu::kernels::collectives
