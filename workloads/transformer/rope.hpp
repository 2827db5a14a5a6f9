// SPDX-License-Identifier: Apache-2.0
// How rotary embedding is scaled for contexts that are longer than those of the training.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::workloads::transformer {

// As rope_type of a config.json says. kLinear: all pairs of elements turn slower by `factor`.
// kLlama3 (Llama 3.1): those whose turn takes long do. kYarn (arXiv 2309.00071, with the ramp over
// pairs of its authors' code): those do, too, and cosines and sines have another size.
enum class RopeKind : std::uint8_t { kPlain, kLinear, kLlama3, kYarn };

struct RopeScaling {
  RopeKind kind = RopeKind::kPlain;
  double factor = 1;            // at least 1
  std::uint64_t positions = 0;  // of the training
  // In how many turns over these positions a pair is as it was (`fast` or more), and all of
  // `factor` slower (`slow` or fewer). Pairs between them are in between.
  double slow = 1, fast = 1;
  // Of kYarn. Sizes of cosines and sines, and of the scores of latent attention; 0: 1.
  double size = 1, score_size = 0;
  double given_size = 0;  // in place of what follows from these two; 0: none
  bool truncated = true;  // the pairs where the ramp begins and ends are whole ones
};

// Radians that each pair of a row of `turned` elements turns by from token to token.
std::vector<double> turns_by_token(const RopeScaling& scaling, double theta, std::uint64_t turned);
// What cosines and sines are multiplied by.
double amplitude(const RopeScaling& scaling);
// What the scores of latent attention are multiplied by.
double score_factor(const RopeScaling& scaling);

}  // namespace npu::workloads::transformer
