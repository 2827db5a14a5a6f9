// SPDX-License-Identifier: Apache-2.0
// Tokens to the cards of their experts and back (npu/driver/expert_exchange.hpp): every rank's
// results against a plain reference, what is refused, and faults.
#include <cmath>
#include <random>

#include "npu/abi/expert_exchange.hpp"
#include "tests/system/collectives/collective_bench.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::test {
namespace {

using driver::CombineTensors;
using driver::DispatchTensors;
using driver::ExpertShape;
using platform::DataType;
using workloads::load_element;
using workloads::store_element;

DataType data_type(CollectiveType type) {
  if (type == CollectiveType::kFp32) return DataType::kFp32;
  return type == CollectiveType::kFp16 ? DataType::kFp16 : DataType::kBf16;
}

// What a rank has, and what it gets.
struct Tokens {
  ExpertShape shape;
  std::vector<double> values;  // of tokens x hidden
  std::vector<std::int32_t> choices;
  std::vector<float> weights;
  DispatchTensors sent;
  CombineTensors back;
};

class Exchange {
 public:
  Exchange(CollectiveBench& bench, CollectiveType type, std::uint64_t seed)
      : bench_(bench), type_(data_type(type)), call_type_(type), random_(seed) {}

  // `tokens`: of each rank.
  void prepare(ExpertShape shape, const std::vector<std::uint32_t>& tokens) {
    ranks_.clear();
    for (unsigned rank = 0; rank < bench_.ranks.size(); ++rank) {
      auto& own = ranks_.emplace_back();
      own.shape = shape;
      own.shape.tokens = tokens[rank];
      draw(own);
      place(own, rank);
    }
  }
  void dispatch() {
    try_dispatch();
    expect_ended();
  }
  void combine() {
    try_combine();
    expect_ended();
  }
  void try_dispatch() {
    bench_.try_all(
        [this](unsigned rank, const CollectiveCall& call) {
          return bench_.all->moe_dispatch(rank, call, ranks_[rank].shape, ranks_[rank].sent);
        },
        call_type_);
  }
  void try_combine() {
    bench_.try_all(
        [this](unsigned rank, const CollectiveCall& call) {
          return bench_.all->moe_combine(rank, call, ranks_[rank].shape, ranks_[rank].back);
        },
        call_type_);
  }

  // Rows in the order of experts, ranks and tokens.
  void expect_rows() {
    for (unsigned to = 0; to < ranks_.size(); ++to) {
      const auto& own = ranks_[to];
      const std::uint32_t experts = own.shape.experts / size();
      std::vector<std::int64_t> ends;
      std::vector<std::uint32_t> counts;
      std::vector<double> expected;
      for (std::uint32_t expert = to * experts; expert < (to + 1) * experts; ++expert) {
        for (unsigned from = 0; from < ranks_.size(); ++from) {
          counts.push_back(append_rows(from, expert, expected));
        }
        ends.push_back(static_cast<std::int64_t>(expected.size() / own.shape.hidden));
      }
      EXPECT_EQ(bench_.read<std::int64_t>(own.sent.ends, to, experts), ends) << to;
      const auto groups = bench_.read<std::uint32_t>(own.sent.groups, to, 2 * experts * size());
      for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(groups[2 * i], counts[i]) << i;
      expect_values(own, to, expected);
    }
  }
  // The experts give back what came, as if each had been identity.
  void give_back() {
    for (unsigned rank = 0; rank < ranks_.size(); ++rank)
      ranks_[rank].back.rows = ranks_[rank].sent.rows;
  }
  void expect_sums() {
    for (unsigned rank = 0; rank < ranks_.size(); ++rank) {
      const auto& own = ranks_[rank];
      const std::uint64_t count = std::uint64_t{own.shape.tokens} * own.shape.hidden;
      const auto found = bench_.read<std::byte>(own.back.result, rank, count * element());
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t token = i / own.shape.hidden;
        double sum = own.back.addend.value == 0 ? 0 : own.values[i];
        for (std::uint32_t k = 0; k < own.shape.chosen; ++k) {
          sum += double{own.weights[token * own.shape.chosen + k]} * own.values[i];
        }
        ASSERT_EQ(load_element(type_, found.data(), i), workloads::rounded_to(type_, sum))
            << "rank " << rank << " element " << i;
      }
    }
  }
  std::vector<Tokens>& ranks() { return ranks_; }

 private:
  void expect_ended() const {
    for (const auto& rank : bench_.ranks) EXPECT_TRUE(rank.ended) << rank.ended.error().message();
  }
  unsigned size() const { return static_cast<unsigned>(ranks_.size()); }
  std::uint64_t element() const { return platform::bytes_of(type_); }

  void draw(Tokens& own) {
    const auto& shape = own.shape;
    std::vector<std::int32_t> experts(shape.experts);
    for (std::uint32_t i = 0; i < shape.experts; ++i) experts[i] = static_cast<std::int32_t>(i);
    // Small whole numbers, of which every type holds the sums.
    for (std::uint64_t i = 0; i < std::uint64_t{shape.tokens} * shape.hidden; ++i) {
      own.values.push_back(static_cast<double>(random_() % 15) - 7);
    }
    for (std::uint32_t token = 0; token < shape.tokens; ++token) {
      std::shuffle(experts.begin(), experts.end(), random_);
      for (std::uint32_t k = 0; k < shape.chosen; ++k) {
        own.choices.push_back(experts[k]);
        own.weights.push_back(std::ldexp(1.0F, -static_cast<int>(random_() % 3)));
      }
    }
  }
  DeviceAddress take(unsigned rank, Bytes bytes) {
    return must(bench_.ranks[rank].process->space().allocate(std::max<Bytes>(bytes, 64))).address;
  }
  void place(Tokens& own, unsigned rank) {
    const auto& shape = own.shape;
    const std::uint64_t rows = shape.most_rows(static_cast<unsigned>(bench_.ranks.size()));
    const std::uint64_t row = shape.hidden * element();
    std::vector<std::byte> bytes(own.values.size() * element());
    for (std::uint64_t i = 0; i < own.values.size(); ++i) {
      store_element(type_, bytes.data(), i, own.values[i]);
    }
    auto& sent = own.sent;
    sent.tokens = take(rank, bytes.size()), bench_.write(sent.tokens, rank, bytes);
    sent.choices = take(rank, own.choices.size() * 4);
    bench_.write(sent.choices, rank, own.choices);
    sent.rows = take(rank, rows * row), sent.scales = take(rank, rows * 4);
    sent.ends = take(rank, shape.experts * 8), sent.groups = take(rank, shape.experts * 8);
    sent.places = take(rank, std::uint64_t{shape.tokens} * shape.place_pitch() * 4);
    auto& back = own.back;
    back.groups = sent.groups, back.places = sent.places;
    back.weights = take(rank, own.weights.size() * 4);
    bench_.write(back.weights, rank, own.weights);
    back.addend = sent.tokens;
    back.result = take(rank, bytes.size());
  }
  std::uint32_t append_rows(unsigned from, std::uint32_t expert, std::vector<double>& to) const {
    const auto& sender = ranks_[from];
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < sender.choices.size(); ++i) {
      if (sender.choices[i] != static_cast<std::int32_t>(expert)) continue;
      const auto begin = sender.values.begin() +
                         static_cast<std::ptrdiff_t>(i / sender.shape.chosen * sender.shape.hidden);
      to.insert(to.end(), begin, begin + sender.shape.hidden);
      ++count;
    }
    return count;
  }
  void expect_values(const Tokens& own, unsigned rank, const std::vector<double>& expected) {
    const std::uint64_t hidden = own.shape.hidden, rows = expected.size() / hidden;
    const std::uint64_t size = own.shape.quantised ? 1 : element();
    const auto found = bench_.read<std::byte>(own.sent.rows, rank, expected.size() * size);
    if (!own.shape.quantised) {
      for (std::uint64_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(load_element(type_, found.data(), i), expected[i]) << rank << " " << i;
      }
      return;
    }
    const auto scales = bench_.read<float>(own.sent.scales, rank, rows);
    for (std::uint64_t row = 0; row < rows; ++row) {
      double largest = 0;
      for (std::uint64_t i = 0; i < hidden; ++i) {
        largest = std::max(largest, std::abs(expected[row * hidden + i]));
      }
      ASSERT_FLOAT_EQ(scales[row], static_cast<float>(largest / 127)) << rank << " " << row;
      for (std::uint64_t i = 0; i < hidden; ++i) {
        const double value = load_element(DataType::kInt8, found.data(), row * hidden + i);
        ASSERT_NEAR(value * scales[row], expected[row * hidden + i], 0.51 * scales[row]);
      }
    }
  }

  CollectiveBench& bench_;
  const DataType type_;
  const CollectiveType call_type_;
  std::mt19937_64 random_;
  std::vector<Tokens> ranks_;
};

driver::CommunicatorOptions options(Bytes half, std::uint32_t blocks) {
  auto options = CollectiveBench::options();
  options.vector.half = half;
  options.vector.expert_blocks = blocks;
  return options;
}

ExpertShape shape_of(std::uint32_t most_tokens, std::uint32_t hidden, std::uint32_t experts,
                     std::uint32_t chosen) {
  ExpertShape shape;
  shape.most_tokens = most_tokens;
  shape.hidden = hidden;
  shape.experts = experts;
  shape.chosen = chosen;
  return shape;
}

TEST(ExpertExchange, EachRankGetsTheRowsOfItsExpertsAndItsTokensSums) {
  Machine({"hbm.fidelity=run"}, kEightCards).run([](platform::Platform& host) {
    CollectiveBench bench(host, 4, options(4_MiB, 7));
    for (const auto type : {CollectiveType::kFp16, CollectiveType::kBf16, CollectiveType::kFp32}) {
      Exchange exchange(bench, type, 3);
      exchange.prepare(shape_of(13, 96, 60, 3), {13, 0, 5, 1});
      exchange.dispatch();
      exchange.expect_rows();
      exchange.give_back();
      exchange.combine();
      exchange.expect_sums();
    }
  });
}

TEST(ExpertExchange, RowsAreQuantisedOnTheWay) {
  Machine({"hbm.fidelity=run"}, kPair).run([](platform::Platform& host) {
    CollectiveBench bench(host, 2, options(4_MiB, 5));
    for (const auto type : {CollectiveType::kFp16, CollectiveType::kBf16, CollectiveType::kFp32}) {
      Exchange exchange(bench, type, 5);
      auto shape = shape_of(9, 160, 8, 4);
      shape.quantised = true;
      exchange.prepare(shape, {9, 7});
      exchange.dispatch();
      exchange.expect_rows();
    }
  });
}

// Nobody writes to what a peer still reads, whatever is done between.
TEST(ExpertExchange, OperationsFollowEachOther) {
  Machine({"hbm.fidelity=run"}, kEightCards).run([](platform::Platform& host) {
    CollectiveBench bench(host, 3, options(1_MiB, 4));
    std::mt19937 random(1);
    Exchange exchange(bench, CollectiveType::kFp16, 7);
    for (unsigned turn = 0; turn < 6; ++turn) {
      const auto tokens = [&] { return static_cast<std::uint32_t>(random() % 9); };
      exchange.prepare(shape_of(8, 64, 6 + 3 * turn, 1 + turn), {tokens(), tokens(), tokens()});
      exchange.dispatch();
      exchange.give_back();
      if (turn % 2 == 0) {
        bench.run_all(
            [&](unsigned rank, const CollectiveCall& call) {
              return bench.all->all_reduce(rank, call, bench.ranks[rank].from, bench.ranks[rank].to,
                                           20'000, Reduction::kSum);
            },
            CollectiveType::kFp32, CollectiveAlgorithm::kAiv);
      }
      exchange.combine();
      exchange.expect_rows();
      exchange.expect_sums();
      for (auto& rank : exchange.ranks()) rank.back.addend = {};
      exchange.combine();
      exchange.expect_sums();
    }
  });
}

TEST(ExpertExchange, WhatCannotBeIsRefused) {
  Machine({}, kPair).run([](platform::Platform& host) {
    CollectiveBench bench(host, 2, options(64_KiB, 0));
    const CollectiveCall call{bench.ranks[0].stream.get(), CollectiveType::kFp16};
    const DispatchTensors none;
    const auto refused = [&](const ExpertShape& shape, const DispatchTensors& tensors,
                             ErrorCode code = ErrorCode::kInvalidArgument) {
      const auto mark = bench.all->moe_dispatch(0, call, shape, tensors);
      ASSERT_FALSE(mark);
      EXPECT_EQ(mark.error().code, code) << mark.error().context;
    };
    const auto good = shape_of(4, 64, 4, 2);
    for (const auto& shape :
         {shape_of(0, 64, 4, 2), shape_of(513, 64, 4, 2), shape_of(4, 0, 4, 2),
          shape_of(4, 48, 4, 2), shape_of(4, 8224, 4, 2), shape_of(4, 64, 0, 2),
          shape_of(4, 64, 5, 2), shape_of(4, 64, 1026, 2), shape_of(4, 64, 4, 0),
          shape_of(4, 64, 4, 5), shape_of(4, 64, 64, 17), shape_of(128, 512, 64, 8)}) {
      refused(shape, none);
    }
    auto many = good;
    many.tokens = 5;
    refused(many, none);
    DispatchTensors odd;
    odd.tokens = {1};
    refused(good, odd);
    odd.tokens = {}, odd.ends = {32};
    refused(good, odd);
    auto other = call;
    other.type = CollectiveType::kInt32;
    EXPECT_EQ(bench.all->moe_combine(0, other, good, {}).error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(bench.all->moe_combine(2, call, good, {}).error().code, ErrorCode::kInvalidArgument);
  });
}

// A rank whose tokens choose an expert that is none, or one twice, has a fault. The others wait for
// it no longer than the timeout.
void expect_fault_of_choices(const std::vector<std::int32_t>& choices) {
  Machine({"hbm.fidelity=run"}, kEightCards).run([&](platform::Platform& host) {
    CollectiveBench bench(host, 3, options(1_MiB, 4));
    Exchange exchange(bench, CollectiveType::kFp16, 7);
    exchange.prepare(shape_of(1, 64, 6, 2), {1, 1, 1});
    bench.write(exchange.ranks()[1].sent.choices, 1, choices);
    const auto begin = host.clock().now();
    exchange.try_dispatch();
    for (unsigned rank = 0; rank < 3; ++rank) EXPECT_FALSE(bench.ranks[rank].ended) << rank;
    EXPECT_LT(host.clock().now() - begin, Picoseconds(4_ms));
  });
}
TEST(ExpertExchangeFault, AnExpertThatIsNoneIsAnErrorOnEveryRank) {
  expect_fault_of_choices({1, 6});
}
TEST(ExpertExchangeFault, AnExpertThatIsChosenTwiceIsAnErrorOnEveryRank) {
  expect_fault_of_choices({1, 1});
}

void expect_fault_of_link(bool combines) {
  Machine machine({"hbm.fidelity=run"}, kEightCards);
  machine.run([&](platform::Platform& host) {
    CollectiveBench bench(host, 3, options(1_MiB, 4));
    Exchange exchange(bench, CollectiveType::kFp16, 7);
    exchange.prepare(shape_of(8, 64, 6, 6), {8, 8, 8});
    exchange.dispatch();
    exchange.give_back();
    machine.system.hccs().set_up(0, false);  // of cards 0 and 1
    combines ? exchange.try_combine() : exchange.try_dispatch();
    for (unsigned rank = 0; rank < 2; ++rank) EXPECT_FALSE(bench.ranks[rank].ended) << rank;
    // The third one has all that it needs, and no more than that.
    exchange.try_dispatch();
    for (unsigned rank = 0; rank < 3; ++rank) EXPECT_FALSE(bench.ranks[rank].ended) << rank;
  });
}
TEST(ExpertExchangeFault, ALinkThatIsDownForADispatchIsAnErrorOnEveryRank) {
  expect_fault_of_link(false);
}
TEST(ExpertExchangeFault, ALinkThatIsDownForACombineIsAnErrorOnEveryRank) {
  expect_fault_of_link(true);
}

}  // namespace
}  // namespace npu::test
