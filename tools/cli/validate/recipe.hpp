// SPDX-License-Identifier: Apache-2.0
// A recipe makes the run of a measured operator, or says why there is none. Recipes of one subject
// are in one file.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/validate/operation.hpp"

namespace npu::validate {

using Made = tl::expected<Operation, std::string>;

Made elementwise(const Measurement& row);  // elements.cpp
Made on_last_axis(const Measurement& row);
Made on_rows(const Measurement& row);
Made gemma_rms_norm(const Measurement& row);
Made dequant_swiglu_quant(const Measurement& row);

Made broadcast(const Measurement& row);  // axes.cpp
Made softmax(const Measurement& row);
Made transpose(const Measurement& row);
Made group_norm(const Measurement& row);
Made apply_adam_w(const Measurement& row);

Made matmul(const Measurement& row);  // products.cpp
Made quant_matmul(const Measurement& row);
Made grouped_matmul(const Measurement& row);
Made transpose_batch_matmul(const Measurement& row);

Made attention(const Measurement& row);  // attention.cpp

Made hadamard(const Measurement& row);  // tensors.cpp
Made copy_on_card(const Measurement& row);
Made causal_conv1d(const Measurement& row);
Made remote_get(const Measurement& row);
Made hyper_connection(const Measurement& row);

Made gdn_cumsum(const Measurement& row);  // chunks.cpp
Made gdn_kkt(const Measurement& row);
Made gdn_solve_tril(const Measurement& row);
Made gdn_wy_fast(const Measurement& row);
Made gdn_chunk_o(const Measurement& row);
Made triangular_inverse(const Measurement& row);

// What recipes share.
tl::unexpected<std::string> refuse(std::string why);
// "910b2" of "910B2" or "910B (some board)"; nothing: no configuration of this part.
std::optional<std::string> part_here(const std::string& sku);
// "fp16" of "float16" and so on; nothing: no type of the workloads.
std::optional<std::string> type_here(std::string_view published);
std::string type_of(const Measurement& row);  // of the first tensor
bool is_on(const Measurement& row, const char* attribute);
// "2" if the operands of a launch are in the L2, else "1".
std::string launches_of(const Measurement& row);
// The axis that the row names, from the outermost one; else the last one. The tensor is there.
tl::expected<std::size_t, std::string> axis_of(const Measurement& row);
// The first of the named sides that the row has.
std::uint64_t side_of(const Measurement& row, std::initializer_list<const char*> names,
                      std::uint64_t none = 0);
// An operator compiled on demand; a second call finds its operands in the L2.
Operation compiled(const Measurement& row, const char* name, const std::string& shape);

}  // namespace npu::validate
