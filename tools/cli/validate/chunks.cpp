// SPDX-License-Identifier: Apache-2.0
// Recipes of steps of a gated delta rule over chunks of tokens.
#include <fmt/format.h>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {
namespace {

struct Sides {
  std::uint64_t tokens = 0, kv_heads = 0, heads = 0, head = 0, chunk = 0;
};

// "N=16 L=16384 H=16 D=128 C=128", "B16 L=16384 H=16 DK=DV=128 C=128", "H=Hg=16 n_seq=2 L=8192
// ...", where heads share no keys; "B32 H4 T=2048 chunk=64".
tl::expected<Sides, std::string> sides_of(const Measurement& row) {
  Sides sides;
  const auto sequences = side_of(row, {"n_seq", "N", "B"}, 1), length = side_of(row, {"L", "T"});
  sides.tokens = sequences * length;
  sides.heads = side_of(row, {"H"});
  sides.kv_heads = side_of(row, {"Hg"}, sides.heads);
  sides.head = side_of(row, {"D", "DK"});
  sides.chunk = side_of(row, {"C", "chunk"});
  if (sides.tokens == 0 || sides.heads == 0 || sides.chunk == 0) {
    return refuse("the shape has no length, heads and chunk");
  }
  return sides;
}

Made chunked(const Measurement& row, const char* name) {
  const auto sides = sides_of(row);
  if (!sides) return refuse(sides.error());
  if (sides->head == 0) return refuse("the shape has no size of a head");
  return compiled(row, name,
                  fmt::format("{},{},{},{},{}", sides->tokens, sides->kv_heads, sides->heads,
                              sides->head, sides->chunk));
}

}  // namespace

// The gates are fp32, whatever the type of the rest.
Made gdn_cumsum(const Measurement& row) {
  const auto sides = sides_of(row);
  if (!sides) return refuse(sides.error());
  Measurement typed = row;
  typed.types = {"float32"};
  return compiled(typed, "chunk_cumsum",
                  fmt::format("{},{},{}", sides->tokens, sides->heads, sides->chunk));
}

Made gdn_kkt(const Measurement& row) {
  return chunked(row, "scaled_dot_kkt");
}

Made gdn_solve_tril(const Measurement& row) {
  const auto sides = sides_of(row);
  if (!sides) return refuse(sides.error());
  return compiled(row, "solve_tril",
                  fmt::format("{},{},{}", sides->tokens, sides->heads, sides->chunk));
}

Made gdn_wy_fast(const Measurement& row) {
  return chunked(row, "wy_fast");
}

Made gdn_chunk_o(const Measurement& row) {
  return chunked(row, "chunk_o");
}

Made triangular_inverse(const Measurement& row) {
  auto made = gdn_solve_tril(row);
  if (made) made->left_out = "metadata of sequences";
  return made;
}

}  // namespace npu::validate
