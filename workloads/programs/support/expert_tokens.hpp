// SPDX-License-Identifier: Apache-2.0
// Tokens of all ranks and the experts that each has chosen, by the seed; what dispatch and combine
// make of them, by plain arithmetic.
#pragma once

#include <vector>

#include "npu/abi/expert_exchange.hpp"
#include "workloads/programs/support/collective_ranks.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

class ExpertTokens {
 public:
  // All must outlive it. Every rank has the tokens of `shape`.
  ExpertTokens(Context& context, CollectiveRanks& ranks, const driver::ExpertShape& shape,
               driver::CollectiveType type);

  // Memory and inputs of all ranks.
  Status prepare();
  Result<driver::StreamMark> dispatch(unsigned rank);
  Result<driver::StreamMark> combine(unsigned rank);
  // The experts give back each row as it was sent.
  Status give_back();
  // kWrongData: the first element that is not what it should be. Cores that compute nothing are
  // not compared.
  Status compare_rows();
  Status compare_sums();

  // That a rank sends to experts, and that come back.
  Bytes dispatched_bytes() const;
  Bytes combined_bytes() const;
  std::uint64_t compared() const { return compared_; }

 private:
  struct Rank {
    std::vector<std::byte> values;       // tokens x hidden
    std::vector<std::uint32_t> choices;  // tokens x chosen
    std::vector<float> weights;
    driver::DispatchTensors sent;
    driver::CombineTensors back;
  };
  struct Origin {
    unsigned rank = 0;
    std::uint32_t token = 0;
  };
  Status prepare(unsigned number);
  void draw(Rank& rank, unsigned number) const;
  // Those of the rows that come to a rank, in their order.
  std::vector<Origin> origins(unsigned number) const;
  Status compare_rows(unsigned number);
  Status compare_row(unsigned number, std::uint64_t row, const Origin& origin,
                     const std::byte* found, float scale);
  const std::byte* row_of(const Origin& origin) const;
  std::uint64_t row_bytes() const { return shape_.hidden * platform::bytes_of(type_); }

  Context& context_;
  CollectiveRanks& ranks_;
  const driver::ExpertShape shape_;
  const driver::CollectiveType call_type_;
  const DataType type_;
  std::vector<Rank> data_;
  std::uint64_t compared_ = 0;
};

}  // namespace npu::workloads
