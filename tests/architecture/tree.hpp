// SPDX-License-Identifier: Apache-2.0
// The checkout on disk.
#pragma once

#include <string_view>
#include <vector>

#include "tests/architecture/rules.hpp"

namespace npu::architecture {

// The paths of all files below `root`; hidden folders and build output are left out.
Tree list_tree(std::string_view root);

// The files whose names end in one of `endings`, with their text.
std::vector<SourceFile> load(std::string_view root, const Tree& tree,
                             const std::vector<std::string_view>& endings);

}  // namespace npu::architecture
