// SPDX-License-Identifier: Apache-2.0
// Tokens to the cards of their experts (abi/expert_exchange.hpp). The scalar units count and keep
// the books, so that they are right where cores move no numbers.
#pragma once

#include "kernels/device/collectives/expert_groups.hpp"
#include "kernels/device/collectives/expert_rows.hpp"
#include "kernels/device/collectives/windows.hpp"
#include "kernels/device/common/numbers.hpp"

namespace npu::kernels::collectives {

// A rank's choices: how many of each expert there are in all, and before a block's first one.
class ChoiceCounts {
 public:
  ChoiceCounts(AicorePort& port, const abi::ExpertExchange& work) : port_(port), work_(work) {}

  // False: there is no such expert.
  bool count() {
    Numbers numbers(port_);
    const auto& call = port_.call();
    begin_ = work_.choices() * call.block / call.blocks;
    end_ = work_.choices() * (call.block + 1) / call.blocks;
    for (std::uint32_t i = 0; i < work_.choices(); ++i) {
      if (i == begin_) std::copy_n(counts_, work_.experts, next_);
      const std::uint32_t expert = numbers.read(work_.tensors[1] + 4 * i);
      if (expert >= work_.experts) return false;
      if (is_kept(i / work_.chosen)) kept_[kept_count_++] = {expert, counts_[expert]};
      if (i >= begin_ && i < end_) chosen_[i - begin_] = expert;
      ++counts_[expert];
    }
    std::uint32_t base = 0;
    for (std::uint32_t i = 0; i < work_.experts; ++i) bases_[i] = base, base += counts_[i];
    return true;
  }

  std::uint32_t begin() const { return begin_; }
  std::uint32_t end() const { return end_; }
  std::uint32_t count_of(std::uint32_t expert) const { return counts_[expert]; }
  std::uint32_t base_of(std::uint32_t expert) const { return bases_[expert]; }
  // The expert of one of the block's choices, which come one after the other, and the place of its
  // row among those for this expert.
  std::pair<std::uint32_t, std::uint32_t> take(std::uint32_t choice) {
    const std::uint32_t expert = chosen_[choice - begin_];
    return {expert, next_[expert]++};
  }

  // The places of some tokens' rows: each token has lines of its own.
  void store_places() const {
    const std::uint32_t pitch = abi::expert_place_pitch(work_.chosen);
    std::uint32_t kept = 0;
    for (std::uint32_t token = port_.call().block; token < work_.tokens;
         token += port_.call().blocks) {
      const std::uint64_t to = work_.tensors[6] + std::uint64_t{token} * pitch * 4;
      for (std::uint32_t i = 0; i < work_.chosen; ++i) {
        const Kept& row = kept_[kept++];
        port_.store(to + 4 * i, 4, bases_[row.expert] + row.place);
      }
      for (std::uint32_t at = 0; at < pitch * 4; at += abi::kCacheLine) {
        port_.clean_invalidate(to + at);
      }
    }
  }

 private:
  struct Kept {
    std::uint32_t expert, place;
  };
  static constexpr std::uint32_t kMost = abi::ExpertExchange::kMostExperts;
  static constexpr std::uint32_t kMostChoices =
      abi::ExpertExchange::kMostTokens * abi::ExpertExchange::kMostChosen;

  bool is_kept(std::uint32_t token) const {
    return token % port_.call().blocks == port_.call().block;
  }

  AicorePort& port_;
  const abi::ExpertExchange& work_;
  std::uint32_t begin_ = 0, end_ = 0, kept_count_ = 0;
  std::uint32_t counts_[kMost] = {}, bases_[kMost] = {}, next_[kMost] = {};
  std::uint32_t chosen_[kMostChoices];
  Kept kept_[kMostChoices];
};

class Dispatch {
 public:
  Dispatch(AicorePort& port, const abi::ExpertExchange& work, const Windows& windows)
      : port_(port), work_(work), windows_(windows), counts_(port, work) {}

  int run() {
    if (!counts_.count()) return aicore::kBadArguments;
    const bool sent = work_.quantised ? send<QuantisedRows>() : send<PlainRows>();
    if (!sent) return aicore::kBadArguments;
    gather_blocks(port_);
    tell();
    counts_.store_places();
    hear();
    store_books();
    bring();
    return 0;
  }

 private:
  static constexpr std::uint32_t kOfLine = abi::ExpertCounts::kOfLine;

  std::uint32_t lines() const { return aicore::divide_up(work_.own(), kOfLine); }
  // Where the n-th row for a group lies in a window.
  std::uint64_t row_at(unsigned rank, std::uint64_t group, std::uint64_t n) const {
    return windows_.data(rank) + (group * work_.most_tokens + n) * work_.pitch();
  }

  // False: a row does not fit, or a token has chosen an expert twice.
  template <class Rows>
  bool send() {
    if (!Rows::fits(port_, work_)) return false;
    const std::uint64_t bytes = std::uint64_t{work_.hidden} * abi::element_size(work_.type);
    {
      Rows rows(port_, work_);
      for (std::uint32_t i = counts_.begin(); i < counts_.end(); ++i) {
        const auto [expert, place] = counts_.take(i);
        if (place >= work_.most_tokens) return false;
        const std::uint64_t group = std::uint64_t{expert % work_.own()} * work_.ranks + work_.rank;
        rows.send(work_.tensors[0] + i / work_.chosen * bytes,
                  row_at(expert / work_.own(), group, place));
      }
    }
    port_.pipe_barrier(Pipe::kAll);
    return true;
  }

  // Each rank how many rows there are for each of its experts; a line after the other by another
  // block.
  void tell() const {
    for (std::uint32_t i = port_.call().block; i < work_.ranks * lines();
         i += port_.call().blocks) {
      const std::uint32_t rank = i / lines(), first = i % lines() * kOfLine;
      const std::uint64_t line = windows_.line(rank, work_.rank * lines() + i % lines());
      port_.store(line, 8, work_.number);
      port_.store(line + 8, 4, counts_.base_of(rank * work_.own() + first));
      for (std::uint32_t n = 0; n < kOfLine && first + n < work_.own(); ++n) {
        port_.store(line + 12 + 4 * n, 4, counts_.count_of(rank * work_.own() + first + n));
      }
      publish(port_, line);
    }
  }

  void hear() {
    const Patience patience(port_, work_.number, work_.timeout);
    for (std::uint32_t step = 1; step <= work_.ranks; ++step) {
      const std::uint32_t rank = (work_.rank + step) % work_.ranks;
      for (std::uint32_t i = 0; i < lines(); ++i) {
        const std::uint64_t line = windows_.line(work_.rank, rank * lines() + i);
        patience.await(line);
        auto base = static_cast<std::uint32_t>(port_.load(line + 8, 4));
        for (std::uint32_t n = 0; n < kOfLine && i * kOfLine + n < work_.own(); ++n) {
          auto& group = groups_.of[(i * kOfLine + n) * work_.ranks + rank];
          group.count = static_cast<std::uint32_t>(port_.load(line + 12 + 4 * n, 4));
          group.base = base;
          base += group.count;
        }
      }
    }
  }

  // Groups and ends, a line of 8 numbers after the other by another block.
  void store_books() const {
    const std::uint32_t blocks = port_.call().blocks, block = port_.call().block;
    const std::uint32_t groups = work_.own() * work_.ranks;
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < groups; ++i) {
      end += groups_.of[i].count;
      if (i / 8 % blocks == block) {
        const std::uint64_t to = work_.tensors[5] + std::uint64_t{i} * 8;
        port_.store(to, 8, groups_.of[i].count | std::uint64_t{groups_.of[i].base} << 32);
        if (i % 8 == 7 || i + 1 == groups) port_.clean_invalidate(to);
      }
      const std::uint32_t expert = i / work_.ranks;
      if (i % work_.ranks + 1 != work_.ranks || expert / 8 % blocks != blocks - 1 - block) continue;
      const std::uint64_t to = work_.tensors[4] + std::uint64_t{expert} * 8;
      port_.store(to, 8, end);
      if (expert % 8 == 7 || expert + 1 == work_.own()) port_.clean_invalidate(to);
    }
    port_.memory_barrier();
  }

  // What has come into the order of experts.
  void bring() const {
    Passing sets(port_);
    groups_.for_rows(port_.call(), work_.experts,
                     [&](std::uint32_t group, std::uint64_t n, std::uint64_t row) {
                       bring(sets, row_at(work_.rank, group, n), row);
                     });
  }
  void bring(Passing& sets, std::uint64_t from, std::uint64_t row) const {
    constexpr std::uint32_t kFloat = 4;
    const std::uint32_t bytes =
        work_.quantised ? work_.hidden : work_.hidden * abi::element_size(work_.type);
    const std::uint32_t loaded = bytes + (work_.quantised ? kFloat : 0);
    const unsigned set = sets.begin();
    const std::uint32_t at = set * aicore::round_up(loaded, aicore::kLocalAlignment);
    port_.issue(platform::CopyIn{{LocalBuffer::kUb, at}, from, 1, loaded, 0, loaded});
    sets.loaded(set);
    port_.issue(platform::CopyOut{
        work_.tensors[2] + row * bytes, {LocalBuffer::kUb, at}, 1, bytes, 0, bytes});
    if (work_.quantised) {
      port_.issue(platform::CopyOut{
          work_.tensors[3] + row * kFloat, {LocalBuffer::kUb, at + bytes}, 1, kFloat, 0, kFloat});
    }
    sets.stored(set);
  }

  AicorePort& port_;
  const abi::ExpertExchange& work_;
  const Windows& windows_;
  ChoiceCounts counts_;
  ExpertGroups groups_;
};

}  // namespace npu::kernels::collectives
