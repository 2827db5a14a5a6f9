// SPDX-License-Identifier: Apache-2.0
// --share and --sharing of npusim exec: how programs share cards.
#pragma once

#include <string>
#include <vector>

#include "apps/exec/acl/client_sharing.hpp"
#include "tools/cli/failure.hpp"

namespace npu::cli {

// Of `programs` programs and, last, of those that they start; empty: there is nothing of it.
tl::expected<std::vector<exec::acl::ClientSharing>, Failure> read_sharing(
    const std::vector<std::string>& shares, const std::vector<std::string>& sharing,
    std::size_t programs);

}  // namespace npu::cli
