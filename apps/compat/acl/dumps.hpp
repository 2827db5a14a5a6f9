// SPDX-License-Identifier: Apache-2.0
// Tensors of operators in files (acl/acl_dump.h).
#pragma once

#include <acl/acl_rt.h>

#include <cstddef>
#include <string>
#include <vector>

namespace npu::compat {

// By a configuration's text. ACL_ERROR_INVALID_FILE: it is no JSON object.
aclError configure_dumps(const std::string& config);

struct DumpedTensor {
  const void* data = nullptr;
  std::size_t bytes = 0;
};
// The number of an operator that is dumped; -1: nothing is.
long dump_number();
// Behind what the stream has. `side`: input, output.
aclError dump(const char* name, long number, const char* side,
              const std::vector<DumpedTensor>& tensors, aclrtStream stream);

}  // namespace npu::compat
