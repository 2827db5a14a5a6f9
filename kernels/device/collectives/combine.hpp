// SPDX-License-Identifier: Apache-2.0
// Rows that experts have made back to the cards of their tokens, and each token's sum
// (abi/expert_exchange.hpp).
#pragma once

#include "kernels/device/collectives/expert_groups.hpp"
#include "kernels/device/collectives/slices.hpp"
#include "kernels/device/collectives/types.hpp"
#include "kernels/device/collectives/windows.hpp"
#include "kernels/device/common/numbers.hpp"
#include "kernels/device/vector/weighted_sum.hpp"

namespace npu::kernels::collectives {

class Combine {
 public:
  Combine(AicorePort& port, const abi::ExpertExchange& work, const Windows& windows)
      : port_(port), work_(work), windows_(windows), numbers_(port) {}

  int run() {
    if (!read_groups()) return aicore::kBadArguments;
    send();
    gather_blocks(port_);
    tell();
    hear();
    return add_up() ? 0 : aicore::kBadArguments;
  }

 private:
  std::uint64_t row_bytes() const {
    return std::uint64_t{work_.hidden} * abi::element_size(work_.type);
  }

  // False: there are more rows of a rank than it can have sent.
  bool read_groups() {
    for (std::uint32_t i = 0; i < work_.experts; ++i) {
      const std::uint64_t at = work_.tensors[1] + std::uint64_t{i} * 8;
      groups_.of[i] = {numbers_.read(at), numbers_.read(at + 4)};
      const std::uint64_t end = std::uint64_t{groups_.of[i].base} + groups_.of[i].count;
      if (end > std::uint64_t{work_.most_tokens} * work_.chosen) return false;
    }
    return true;
  }

  void send() {
    Passage passage(port_);
    groups_.for_rows(
        port_.call(), work_.experts, [&](std::uint32_t group, std::uint64_t n, std::uint64_t row) {
          const std::uint64_t to =
              windows_.data(group % work_.ranks) + (groups_.of[group].base + n) * work_.pitch();
          passage.copy(work_.tensors[0] + row * row_bytes(), to, row_bytes());
        });
  }

  void tell() const {
    for (std::uint32_t rank = port_.call().block; rank < work_.ranks; rank += port_.call().blocks) {
      const std::uint64_t line = windows_.line(rank, work_.rank);
      port_.store(line, 8, work_.number);
      publish(port_, line);
    }
  }
  void hear() const {
    const Patience patience(port_, work_.number, work_.timeout);
    for (std::uint32_t step = 1; step <= work_.ranks; ++step) {
      patience.await(windows_.line(work_.rank, (work_.rank + step) % work_.ranks));
    }
  }

  // False: a place is beyond the rank's rows.
  bool add_up() {
    if (work_.tokens == 0) return true;
    const DataType type = vector_type(work_.type);
    const auto size = static_cast<std::uint32_t>(platform::bytes_of(type));
    const std::uint32_t wide = vector::columns_of_sums(
        port_.buffer_size(LocalBuffer::kUb), vector::WeightedSum::bytes_of_element(type, type),
        port_.call().blocks, work_.tokens, work_.hidden);
    vector::WeightedSum sum(port_,
                            {{windows_.data(work_.rank), work_.pitch() / size},
                             {work_.tensors[4], work_.hidden},
                             {work_.tensors[5], work_.hidden},
                             type,
                             type},
                            wide);
    const std::uint32_t pitch = abi::expert_place_pitch(work_.chosen);
    Numbers weights(port_);
    bool good = true;
    for_area(port_.call(), work_.tokens, work_.hidden, {0, 0, 1, wide}, [&](const AreaTile& tile) {
      sum.begin(tile);
      for (std::uint32_t i = 0; good && i < work_.chosen; ++i) {
        const std::uint32_t place = numbers_.read(work_.tensors[2] + (tile.row * pitch + i) * 4);
        const float weight =
            weights.read_float(work_.tensors[3] + (tile.row * work_.chosen + i) * 4);
        good = place < work_.choices();
        if (good) sum.add(tile, place, weight);
      }
      if (good) sum.end(tile);
    });
    return good;
  }

  AicorePort& port_;
  const abi::ExpertExchange& work_;
  const Windows& windows_;
  Numbers numbers_;
  ExpertGroups groups_;
};

}  // namespace npu::kernels::collectives
